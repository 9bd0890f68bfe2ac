import { expect, test } from "vitest";
import type { ReviewLink } from "../../../src/storage/records/port.js";
import { create, OWNER, remove, type Setting, write } from "./fixtures.js";

const [ONE, OTHER] = ["ark:99999/one", "ark:99999/another"] as const;
const link = (more: Partial<ReviewLink> = {}): ReviewLink => ({
  hash: "a".repeat(64),
  id: "first",
  record: ONE,
  createdBy: OWNER,
  createdAt: 1_000,
  expiresAt: 9_000,
  anonymous: false,
  uses: 0,
  usedAt: null,
  ...more,
});

export function reviewLinksConform({ store, reopen }: Setting): void {
  const idsOf = async (record: string) => (await store().reviewLinksOf(record)).map(({ id }) => id);

  test("a review link is read by its hash, and counts its uses", async () => {
    await write(store(), create(ONE), create(OTHER));
    expect(await store().storeReviewLink(link({ anonymous: true }), 2)).toBe(true);
    expect(await store().reviewLink(link().hash)).toEqual(link({ anonymous: true }));
    for (const hash of ["b".repeat(64), "", "\0"])
      expect(await store().reviewLink(hash)).toBeUndefined();
    await store().useReviewLink(link().hash, 2_000);
    await store().useReviewLink(link().hash, 3_000);
    await reopen();
    expect(await store().reviewLinksOf(ONE)).toEqual([
      link({ anonymous: true, uses: 2, usedAt: 3_000 }),
    ]);
    expect(await store().reviewLinksOf(OTHER)).toEqual([]);
  });

  test("review links of a record have a limit, are revoked, and are listed newest first", async () => {
    await write(store(), create(ONE), create(OTHER));
    const second = link({ hash: "b".repeat(64), id: "second", createdAt: 2_000 });
    const third = link({ hash: "c".repeat(64), id: "third", createdAt: 3_000, expiresAt: 9_999 });
    expect(await store().storeReviewLink(link(), 2)).toBe(true);
    expect(await store().storeReviewLink(second, 2)).toBe(true);
    expect(await store().storeReviewLink(third, 2)).toBe(false);
    expect(await idsOf(ONE)).toEqual(["second", "first"]);
    expect(await store().removeReviewLink(OTHER, "first")).toBe(false);
    expect(await store().removeReviewLink(ONE, "first")).toBe(true);
    expect(await store().removeReviewLink(ONE, "first")).toBe(false);
    expect(await store().reviewLink(link().hash)).toBeUndefined();
    // What has expired makes place.
    expect(await store().storeReviewLink({ ...third, createdAt: 9_000 }, 1)).toBe(true);
    expect(await idsOf(ONE)).toEqual(["third"]);
  });

  test("a review link ends with its record", async () => {
    await write(store(), create(ONE));
    await store().storeReviewLink(link(), 2);
    await write(store(), remove(ONE, 1));
    expect(await store().reviewLink(link().hash)).toBeUndefined();
    expect(await idsOf(ONE)).toEqual([]);
  });
}
