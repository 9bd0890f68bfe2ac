import { describe, expect, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import { arkFrom } from "../../support/arks.js";
import { AS_CREATED, pagesOf } from "../../../src/services/records/pages.js";
import type { RecordFilter, RecordOrder, RecordStore } from "../../../src/storage/records/port.js";
import { create, OWNER, remove, replace, type Setting, write } from "./fixtures.js";

const ark = (i: number): string => `ark:99999/d${String(i).padStart(2, "0")}`;

const ORDERS: readonly RecordOrder[] = [
  AS_CREATED,
  { by: "created", descending: true },
  { by: "name", descending: false },
];
const [, REVERSED, BY_NAME] = ORDERS as [RecordOrder, RecordOrder, RecordOrder];

/** All pages of a list, two at a time. */
async function names(
  store: RecordStore,
  filter: RecordFilter,
  order: RecordOrder = AS_CREATED,
): Promise<string[]> {
  const all: string[] = [];
  for await (const page of pagesOf(store, { filter }, { order, limit: 2 }))
    all.push(...page.map((record) => record.ark));
  return all;
}

export function listsConform({ store }: Setting): void {
  describe("a list", () => {
    test("is ordered by creation, then identifier; in reverse; or by name, in pages", async () => {
      await write(
        store(),
        create(ark(3), { name: "b" }),
        create(ark(1), { name: "C" }),
        create(ark(2), { name: "a" }),
      );
      await write(
        store(),
        create(ark(0), { name: "B" }),
        create("ark:99999/s", { kind: "software", name: "z" }),
      );
      expect(await names(store(), { kinds: ["dataset"] })).toEqual([
        ark(1),
        ark(2),
        ark(3),
        ark(0),
      ]);
      expect(await names(store(), { kinds: ["dataset"] }, REVERSED)).toEqual([
        ark(0),
        ark(3),
        ark(2),
        ark(1),
      ]);
      expect(await names(store(), { kinds: ["dataset"] }, BY_NAME)).toEqual([
        ark(2),
        ark(3),
        ark(0),
        ark(1),
      ]);
      expect(await names(store(), {}, BY_NAME)).toEqual([
        ark(2),
        ark(3),
        ark(0),
        ark(1),
        "ark:99999/s",
      ]);
      expect(await names(store(), {})).toHaveLength(5);
    });

    test("continues after any record of a page, in every order", async () => {
      await write(
        store(),
        create(ark(2), { name: "b" }),
        create(ark(1), { name: "C" }),
        create(ark(3), { name: "a" }),
      );
      for (const order of ORDERS) {
        const whole = await store().select({ filter: {}, order, limit: 10 });
        expect(whole.positions).toHaveLength(3);
        for (const [index, after] of whole.positions.entries()) {
          const rest = await store().select({ filter: {}, order, after, limit: 10 });
          expect(rest.items.map((record) => record.ark)).toEqual(
            whole.items.slice(index + 1).map((record) => record.ark),
          );
        }
      }
    });

    test("ends a page early at the byte limit, and continues after it, in every order", async () => {
      const sizes = [10, 3_000, 10, 10, 3_000, 3_000, 10];
      await write(
        store(),
        ...sizes.map((size, index) =>
          create(ark(index), { name: `n${index}`, extra: { pad: "x".repeat(size) } }),
        ),
      );
      for (const order of ORDERS) {
        const pages: string[][] = [];
        for (let after: string | undefined; ;) {
          const page = await store().select({
            filter: {},
            order,
            limit: 5,
            bytes: 2_000,
            ...(after === undefined ? {} : { after }),
          });
          pages.push(page.items.map((record) => record.ark));
          expect(page.positions).toHaveLength(page.items.length);
          if (!page.more) break;
          after = page.positions.at(-1);
        }
        // A large document has a page of its own.
        expect(pages.map(({ length }) => length)).toEqual(
          order === REVERSED ? [1, 1, 1, 2, 1, 1] : [1, 1, 2, 1, 1, 1],
        );
        const whole = await store().select({ filter: {}, order, limit: 10, bytes: 1e6 });
        expect(pages.flat()).toEqual(whole.items.map((record) => record.ark));
        expect(whole.more).toBe(false);
      }
    });

    test("that ends early does not hide what is written afterwards", async () => {
      await write(
        store(),
        ...Array.from({ length: 300 }, (_, index) => create(`ark:99999/early-${index}`)),
      );
      const { items, more } = await store().select({
        filter: {},
        order: AS_CREATED,
        limit: 250,
        bytes: 1,
      });
      expect(items).toHaveLength(1);
      expect(more).toBe(true);
      await write(store(), create(ark(0), { name: "later" }));
      expect(await store().find(arkFrom(ark(0)))).toMatchObject({ record: { name: "later" } });
      expect(await store().countSelected({ filter: { kinds: ["dataset"] } })).toBe(301);
    });

    test("is filtered by name, owner, keyword and crate, in every order and together", async () => {
      const other = "ark:99999/user-bob";
      await write(
        store(),
        create(
          ark(1),
          { name: "Ärger im Labor", keywords: ["Alpha", "beta"] },
          { crate: "ark:99999/c" },
        ),
        create(ark(2), { name: "labor 2", owner: other, keywords: ["ALPHA"] }),
        create(
          ark(3),
          { name: "100% LABOR_x", keywords: ["alpha", "alpha"] },
          { crate: "ark:99999/c" },
        ),
        create("ark:99999/s", { kind: "software", name: "labor", keywords: ["alpha"] }),
      );
      for (const order of ORDERS) {
        for (const kind of ["dataset", undefined] as const) {
          const extra = kind ? [] : ["ark:99999/s"];
          const list = async (filter: RecordFilter): Promise<string[]> =>
            (
              await names(store(), { ...(kind ? { kinds: [kind] } : {}), ...filter }, order)
            ).toSorted();
          expect(await list({ nameContains: "LABOR" })).toEqual([ark(1), ark(2), ark(3), ...extra]);
          expect(await list({ nameContains: "ärger" })).toEqual([ark(1)]);
          expect(await list({ nameContains: "%" })).toEqual([ark(3)]);
          expect(await list({ keywords: ["aLpHa"] })).toEqual([ark(1), ark(2), ark(3), ...extra]);
          expect(await list({ owners: ["ark:99999/userbob"] })).toEqual([ark(2)]);
          expect(await list({ crates: ["ark:99999/c"] })).toEqual([ark(1), ark(3)]);
          expect(
            await list({
              crates: ["ark:99999/c"],
              keywords: ["alpha"],
              owners: [arkKey(OWNER)],
              nameContains: "lab",
            }),
          ).toEqual([ark(1), ark(3)]);
          expect(await list({ keywords: ["nothing"] })).toEqual([]);
        }
      }
      for (const filter of [
        {},
        { kinds: ["dataset"] },
        { nameContains: "labor" },
        { nameContains: "labor", kinds: ["dataset"] },
        { keywords: ["alpha"] },
        { keywords: ["aLpHa"], kinds: ["dataset"] },
        { keywords: ["nothing"] },
        { crates: ["ark:99999/c"] },
        { owners: [arkKey(OWNER)] },
      ] satisfies RecordFilter[]) {
        const found = await names(store(), filter);
        expect(await store().countSelected({ filter })).toBe(found.length);
        expect(await store().countSelected({ filter, without: ["software"] })).toBe(
          found.filter((each) => each !== "ark:99999/s").length,
        );
      }
    });

    test("leaves deleted records out and follows changes", async () => {
      await write(
        store(),
        create(ark(1), { name: "one", keywords: ["k"] }),
        create(ark(2), { name: "two", keywords: ["k"] }),
      );
      await write(store(), remove(ark(1), 1));
      await write(
        store(),
        replace(ark(2), 1, { name: "deux", keywords: ["l"], owner: "ark:99999/user-bob" }),
      );
      expect(await names(store(), { kinds: ["dataset"] })).toEqual([ark(2)]);
      expect(await names(store(), { keywords: ["k"] })).toEqual([]);
      expect(
        await names(store(), {
          keywords: ["l"],
          nameContains: "DEUX",
          owners: [arkKey("ark:99999/user-bob")],
        }),
      ).toEqual([ark(2)]);
      expect([
        await store().countSelected({ filter: {} }),
        await store().countSelected({ filter: { kinds: ["dataset"] } }),
      ]).toEqual([1, 1]);
    });

    test("refuses an invalid cursor", async () => {
      for (const after of ["", "x", "1.2", "-1", "1e9", "9".repeat(40), "1'"]) {
        await expect(
          store().select({
            filter: { kinds: ["dataset"] },
            order: AS_CREATED,
            after,
            limit: 5,
          }),
        ).rejects.toMatchObject({ code: "BAD_REQUEST" });
        await expect(
          store().linksTo([ark(1)], { after: `${after}.`, limit: 5 }),
        ).rejects.toMatchObject({ code: "BAD_REQUEST" });
      }
      await expect(
        store().select({ filter: {}, order: BY_NAME, after: "x.y.z", limit: 5 }),
      ).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });
  });
}
