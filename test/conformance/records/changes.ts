import { describe, expect, test } from "vitest";
import { create, remove, replace, type Setting, write } from "./fixtures.js";

const WHOLE = Number.MAX_SAFE_INTEGER;
const behind = (sequence: number) => ({ sequence, record: WHOLE });

export function changesConform({ store, reopen }: Setting): void {
  describe("the change log", () => {
    test("lists each change of each commit, with the record as it is now", async () => {
      await write(store(), create("ark:99999/a"), create("ark:99999/b", { kind: "software" }));
      await write(store(), replace("ark:99999/a", 1, { name: "two" }));
      await write(store(), remove("ark:99999/b", 1, { reason: "wrong", successor: "ark:99999/a" }));
      const page = await store().changes(behind(0), 10);
      expect(page).toMatchObject({ complete: 3, more: false });
      expect(page.changes.map(({ sequence, ark, revision }) => [sequence, ark, revision])).toEqual([
        [1, "ark:99999/a", 2],
        [1, "ark:99999/b", 2],
        [2, "ark:99999/a", 2],
        [3, "ark:99999/b", 2],
      ]);
      expect(page.changes.at(-1)).toMatchObject({
        kind: "software",
        publicationStatus: "DRAFT",
        withdrawn: false,
        tombstone: { reason: "wrong", successor: "ark:99999/a" },
      });
      expect((await store().changes(behind(2), 10)).changes).toHaveLength(1);
    });

    test("is cut anywhere, and says which commits are complete", async () => {
      await write(store(), ...Array.from({ length: 5 }, (_, i) => create(`ark:99999/d${i}`)));
      await write(store(), create("ark:99999/e"));
      const first = await store().changes(behind(0), 3);
      expect(first).toMatchObject({ complete: 0, more: true });
      const second = await store().changes(first.position, 2);
      expect(second).toMatchObject({ complete: 1, more: true });
      const third = await store().changes(second.position, 2);
      expect(third).toMatchObject({ complete: 2, more: false });
      expect(
        [first, second, third].flatMap(({ changes }) => changes.map(({ ark }) => ark)),
      ).toEqual([0, 1, 2, 3, 4].map((i) => `ark:99999/d${i}`).concat("ark:99999/e"));
      expect(await store().changes(third.position, 2)).toEqual({
        changes: [],
        position: third.position,
        complete: 2,
        more: false,
      });
    });

    test("tells a draft from one that was published before, and outlives a restart", async () => {
      await write(store(), create("ark:99999/a"), create("ark:99999/b"));
      const publish = (ark: string, status: "PUBLISHED" | "DRAFT") =>
        ({ op: "publish", ark, status, embargoedUntil: null }) as const;
      await write(store(), publish("ark:99999/a", "PUBLISHED"));
      const stateOfA = async () =>
        (await store().changes(behind(1), 10)).changes.map(({ publicationStatus, withdrawn }) => [
          publicationStatus,
          withdrawn,
        ]);
      expect(await stateOfA()).toEqual([["PUBLISHED", false]]);
      await write(store(), publish("ark:99999/a", "DRAFT"));
      expect(await stateOfA()).toEqual([
        ["DRAFT", true],
        ["DRAFT", true],
      ]);
      await reopen();
      expect((await store().changes(behind(0), 10)).changes).toHaveLength(4);
    });
  });
}
