import { describe, expect, test } from "vitest";
import type { PublicationStatus } from "../../../src/model/kind.js";
import type { RecordFilter } from "../../../src/storage/records/port/selection.js";
import { commitOf, create, remove, replace, type Setting, write } from "./fixtures.js";

const T0 = Date.UTC(2026, 4, 1);
const ark = (name: string): string => `ark:99999/${name}`;
const published = { publicationStatus: "PUBLISHED" } as const;
const publish = (name: string, status: PublicationStatus) =>
  ({ op: "publish", ark: ark(name), status, embargoedUntil: null }) as const;

/** What feeds of public records read. */
export function disclosedConform({ store }: Setting): void {
  const found = async (filter: RecordFilter): Promise<string[]> => {
    const order = { by: "modified", descending: false } as const;
    const { items } = await store().select({ filter, order, limit: 100 });
    return items.map((record) => record.ark.slice("ark:99999/".length));
  };

  describe("disclosed records", () => {
    test("are those that are no drafts, or were none at some time; deleted ones too", async () => {
      await write(
        store(),
        create(ark("draft")),
        create(ark("deleted-draft")),
        ...["published", "embargoed", "archived", "withdrawn", "gone", "withdrawn-gone"].map(
          (name) => create(ark(name)),
        ),
        create(ark("born-public"), {}, published),
      );
      for (const name of ["published", "withdrawn", "gone", "withdrawn-gone"])
        await write(store(), publish(name, "PUBLISHED"));
      await write(store(), publish("embargoed", "EMBARGOED"), publish("archived", "ARCHIVED"));
      await write(store(), publish("withdrawn", "DRAFT"), publish("withdrawn-gone", "DRAFT"));
      for (const [name, revision] of [
        ["gone", 2],
        ["withdrawn-gone", 3],
        ["deleted-draft", 1],
      ] as const)
        await write(store(), remove(ark(name), revision));
      expect(await found({ disclosed: true })).toEqual([
        "born-public",
        "published",
        "archived",
        "embargoed",
        "withdrawn",
      ]);
      expect(await found({ disclosed: true, statuses: ["DRAFT"] })).toEqual(["withdrawn"]);
      expect(await found({ not: { disclosed: true } })).toEqual(["draft"]);
      expect(await found({ deleted: {}, disclosed: true })).toEqual(["gone", "withdrawn-gone"]);
    });

    test("are found by a text in their last document", async () => {
      const names = (extra: object) => ({ extra: { ...extra } });
      await write(
        store(),
        create(ark("a"), names({ sourceProject: "ark:99999/project-ä" }), published),
        create(ark("b"), names({ sourceProject: "ark:99999/project-b" }), published),
        create(ark("c"), names({ sourceProject: "ark:99999/project-ä" }), published),
      );
      await write(store(), replace(ark("c"), 1, names({ other: true })));
      const mentions = "ark:99999/project-ä";
      expect(await found({ mentions })).toEqual(["a"]);
      await write(store(), remove(ark("a"), 1), remove(ark("b"), 1));
      expect(await found({ mentions })).toEqual([]);
      expect(await found({ deleted: {}, mentions })).toEqual(["a"]);
      expect(await found({ deleted: {}, mentions: "\0" })).toEqual([]);
    });

    test("of deleted ones are read in pages by the time of deletion", async () => {
      const all = Array.from({ length: 7 }, (_, i) => `r${i}`);
      await write(store(), ...all.map((name) => create(ark(name), {}, published)));
      // Two are deleted together, in the other order than they were created.
      for (const [at, names] of [["r6", "r2"], ["r1"], ["r5"], ["r0", "r3"]].entries())
        await store().commit(
          commitOf(
            names.map((name) => remove(ark(name), 1)),
            { at: T0 + at * 1000 },
          ),
        );
      const order = { by: "modified", descending: false } as const;
      const filter = { deleted: {}, disclosed: true } as const;
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store().select({
          filter,
          order,
          limit: 2,
          ...(after === undefined ? {} : { after }),
        });
        seen.push(...page.items.map((record) => record.ark.slice("ark:99999/".length)));
        after = page.more ? page.positions.at(-1) : undefined;
      } while (after !== undefined);
      expect(seen).toEqual(["r2", "r6", "r1", "r5", "r0", "r3"]);
    });
  });

  describe("addresses", () => {
    test("are of live records that are no drafts, in ranges that never shift", async () => {
      const names = Array.from({ length: 10 }, (_, i) => `n${i}`);
      for (const [i, name] of names.entries())
        await store().commit(
          commitOf([create(ark(name), { kind: i === 9 ? "user" : "dataset" }, published)], {
            at: T0 + i * 1000,
          }),
        );
      await store().commit(commitOf([publish("n0", "DRAFT")], { at: T0 + 20_000 }));
      await store().commit(commitOf([publish("n1", "ARCHIVED")], { at: T0 + 30_000 }));
      await store().commit(
        commitOf([remove(ark("n4"), 1), remove(ark("n6"), 1), remove(ark("n7"), 1)], {
          at: T0 + 40_000,
        }),
      );
      const without = ["user"] as const;
      expect(await store().addressRanges({ size: 3, without })).toEqual([
        { range: 0, records: 2, modifiedAt: T0 + 30_000 },
        { range: 1, records: 2, modifiedAt: T0 + 5000 },
        { range: 2, records: 1, modifiedAt: T0 + 8000 },
      ]);
      expect(await store().addressRanges({ size: 3, without: [] })).toHaveLength(4);
      const range = { after: 0, upTo: 3, without };
      expect(await store().addresses({ ...range, limit: 10 })).toEqual({
        items: [
          { ark: ark("n1"), modifiedAt: T0 + 30_000 },
          { ark: ark("n2"), modifiedAt: T0 + 2000 },
        ],
      });
      const first = await store().addresses({ after: 0, upTo: 100, without, limit: 2 });
      expect(first.next).toBe(3);
      const rest = await store().addresses({ after: first.next!, upTo: 100, without, limit: 9 });
      expect(rest.items.map((one) => one.ark)).toEqual([ark("n3"), ark("n5"), ark("n8")]);
      expect(rest.next).toBeUndefined();
      expect(await store().addresses({ after: 100, upTo: 200, without, limit: 9 })).toEqual({
        items: [],
      });
    });

    test("of an empty store are none", async () => {
      expect(await store().addressRanges({ size: 10, without: [] })).toEqual([]);
      expect(await store().addresses({ after: 0, upTo: 10, without: [], limit: 1 })).toEqual({
        items: [],
      });
    });
  });
}
