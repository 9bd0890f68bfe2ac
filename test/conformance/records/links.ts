import { describe, expect, test } from "vitest";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { commitOf, create, linkTo, remove, replace, type Setting, write } from "./fixtures.js";
import { arkFrom } from "../../support/arks.js";

const [A, B, C] = ["ark:99999/a-1", "ark:99999/b-1", "ark:99999/c-1"] as const;
const newest = async ({ store }: Setting, ark: string): Promise<number> =>
  ((await store().find(arkFrom(ark))) as { record: { newestBacklink: number } }).record
    .newestBacklink;

export function linksConform(setting: Setting): void {
  const { store } = setting;
  describe("links", () => {
    test("are listed by source in the stated order, by predicate and in pages", async () => {
      const links = [
        linkTo(B),
        linkTo("ark:99999/none", "evi:generatedBy"),
        linkTo(C),
        linkTo("ark:99999/b1"),
      ];
      await write(store(), create(A, { links }), create(B, { links: [linkTo(A)] }), create(C));
      const [a, none, b] = await store().linksFrom([A, "ark:99999/nobody", B], { limit: 10 });
      expect(a!.items.map(({ target }) => target)).toEqual(links.map(({ target }) => target));
      expect(a!.items[0]).toMatchObject({
        source: A,
        sourceKind: "dataset",
        predicate: "evi:usedDataset",
        target: B,
        targetKey: "ark:99999/b1",
      });
      expect(none).toEqual({ items: [] });
      expect(b!.items).toHaveLength(1);
      const [first] = await store().linksFrom([A], { predicates: ["evi:usedDataset"], limit: 2 });
      expect(first!.items.map(({ target }) => target)).toEqual([B, C]);
      const [rest] = await store().linksFrom([A], {
        predicates: ["evi:usedDataset"],
        limit: 2,
        after: first!.next!,
      });
      expect(rest).toMatchObject({ items: [{ target: "ark:99999/b1" }] });
      expect(rest!.next).toBeUndefined();
    });

    test(
      "between two records count once where distinct ones are requested: first of a " +
        "source, oldest to a target",
      async () => {
        await write(store(), create(A));
        await write(
          store(),
          create(B, {
            links: [
              linkTo(A, "evi:used"),
              linkTo(C),
              linkTo(A),
              linkTo("ark:99999/a1", "evi:usedSample"),
            ],
          }),
        );
        await write(store(), create(C, { links: [linkTo(A, "evi:usedSample")] }));
        await write(store(), replace(C, 1, { links: [linkTo(A), linkTo(A, "evi:usedSample")] }));
        const predicates = ["evi:used", "evi:usedDataset", "evi:usedSample"];
        const [from] = await store().linksFrom([B], { predicates, distinct: true, limit: 10 });
        expect(from!.items.map(({ predicate, target }) => [predicate, target])).toEqual([
          ["evi:used", A],
          ["evi:usedDataset", C],
        ]);
        const sources: string[][] = [];
        for (let after: string | undefined; ;) {
          const [page] = await store().linksTo(["ark:99999/a1"], {
            predicates,
            distinct: true,
            limit: 1,
            ...(after === undefined ? {} : { after }),
          });
          sources.push(...page!.items.map(({ source, predicate }) => [source, predicate]));
          if (page!.next === undefined) break;
          after = page!.next;
        }
        expect(sources).toEqual([
          [B, "evi:used"],
          [C, "evi:usedSample"],
        ]);
        const [narrow] = await store().linksTo(["ark:99999/a1"], {
          predicates: ["evi:usedDataset"],
          distinct: true,
          limit: 10,
        });
        expect(narrow!.items.map(({ source }) => source).sort()).toEqual([B, C]);
      },
    );

    test("from a source that the target links back to are left out on request", async () => {
      await write(
        store(),
        create(A, { links: [linkTo("ark:99999/b1", "evi:usedBy"), linkTo(C, "evi:derivedFrom")] }),
        create(B, { links: [linkTo(A)] }),
        create(C, { links: [linkTo(A)] }),
      );
      const of = async (unlessBack?: string[]) =>
        (
          await store().linksTo(["ark:99999/a1", "ark:99999/c1"], {
            limit: 10,
            ...(unlessBack ? { unlessBack } : {}),
          })
        ).map(({ items }) => items.map(({ source }) => source));
      expect(await of()).toEqual([[B, C], [A]]);
      expect(await of(["evi:usedBy"])).toEqual([[C], [A]]);
      expect(await of(["evi:usedBy", "evi:derivedFrom"])).toEqual([[], [A]]);
      expect(await of(["evi:usedDataset"])).toEqual([[B, C], []]);
    });

    test("to each target are listed oldest first, by predicate and kind of the source, in pages", async () => {
      await write(store(), create(A));
      const sources = Array.from({ length: 9 }, (_, i) => `ark:99999/s${i}`);
      for (const [i, ark] of sources.entries()) {
        await write(
          store(),
          create(ark, {
            kind: i % 3 === 0 ? "software" : "dataset",
            links: [
              linkTo(i % 2 ? A : "ark:99999/a1", i % 2 ? "evi:usedDataset" : "evi:derivedFrom"),
            ],
          }),
        );
      }
      const key = "ark:99999/a1";
      const pages: string[] = [];
      for (let after: string | undefined; ;) {
        const [page] = await store().linksTo([key], {
          limit: 4,
          ...(after === undefined ? {} : { after }),
        });
        pages.push(...page!.items.map(({ source }) => source));
        if (page!.next === undefined) break;
        after = page!.next;
      }
      expect(pages).toEqual(sources);
      const of = async (options: object): Promise<string[]> =>
        (await store().linksTo([key], { limit: 10, ...options }))[0]!.items.map(
          ({ source }) => source,
        );
      expect(await of({ kinds: ["software"] })).toEqual([sources[0], sources[3], sources[6]]);
      expect(await of({ predicates: ["evi:derivedFrom"], kinds: ["dataset", "software"] })).toEqual(
        [0, 2, 4, 6, 8].map((i) => sources[i]),
      );
      expect(await of({ predicates: [] })).toEqual([]);
      expect(
        (await store().linksTo(["ark:99999/none", key], { limit: 1 })).map(
          ({ items }) => items.length,
        ),
      ).toEqual([0, 1]);
    });

    test("come page by page from either end, and between two positions", async () => {
      const targets = Array.from({ length: 7 }, (_, i) => `ark:99999/t${i}`);
      const used = "evi:used";
      await write(
        store(),
        create(A, {
          links: targets.flatMap((target) => [linkTo(target, used), linkTo(target), linkTo(A)]),
        }),
      );
      for (const [i, ark] of targets.entries())
        await write(store(), create(ark, { links: [linkTo(A), linkTo(A, i % 2 ? used : "a:b")] }));
      const read = {
        from: (options: Parameters<RecordStore["linksFrom"]>[1]) =>
          store().linksFrom(["ark:99999/none", A], options),
        to: (options: Parameters<RecordStore["linksTo"]>[1]) =>
          store().linksTo(["ark:99999/none", "ark:99999/a1"], options),
      };
      for (const side of ["from", "to"] as const)
        for (const predicates of [undefined, [used, "evi:usedDataset"], [used]])
          for (const distinct of [false, true]) {
            const asked = { distinct, ...(predicates ? { predicates } : {}) };
            const [, whole] = await read[side]({ ...asked, limit: 100 });
            const [, reversed] = await read[side]({ ...asked, limit: 100, backward: true });
            expect(reversed).toEqual(whole);
            const items: unknown[] = [];
            for (let before: string | undefined; ;) {
              const [none, page] = await read[side]({
                ...asked,
                limit: 2,
                backward: true,
                ...(before === undefined ? {} : { before }),
              });
              expect(none).toEqual({ items: [] });
              items.unshift(...page!.items);
              if (page!.next === undefined) break;
              before = page!.next;
            }
            expect(items).toEqual(whole!.items);
            const ends = { after: whole!.items[0]!.position, before: whole!.items[2]!.position };
            for (const backward of [false, true])
              expect((await read[side]({ ...asked, ...ends, backward, limit: 9 }))[1]).toEqual({
                items: [whole!.items[1]],
              });
          }
      await expect(read.to({ before: "1", limit: 5 })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    });

    test("are counted in both directions as their pages list them, many records at once", async () => {
      await write(
        store(),
        create(A, {
          kind: "computation",
          links: [
            linkTo(B, "evi:used"),
            linkTo(C, "evi:usedSample"),
            linkTo("ark:99999/b1", "evi:usedSample"),
          ],
        }),
        create(B, { links: [linkTo(A, "evi:usedBy")] }),
        create(C, { links: [linkTo(A, "evi:usedBy"), linkTo("ark:99999/a1", "evi:sampleUsedBy")] }),
        create("ark:99999/d", {
          kind: "software",
          links: [
            linkTo(A, "evi:usedBy"),
            linkTo("ark:99999/a1", "evi:sampleUsedBy"),
            linkTo(A, "evi:other"),
          ],
        }),
        create("ark:99999/gone", { links: [linkTo(A, "evi:usedBy")] }),
      );
      await write(store(), remove("ark:99999/gone", 1));
      const arks = ["ark:99999/nobody", A, B, A];
      const variants = [
        { out: ["evi:used", "evi:usedSample"], back: ["evi:usedBy", "evi:sampleUsedBy"] },
        { out: ["evi:usedSample"], back: ["evi:usedBy"] },
        { out: ["evi:usedBy"], back: ["evi:used", "evi:usedSample"] },
        { out: ["evi:usedBy"], back: [] },
        { out: undefined, back: [] },
        { out: [], back: undefined },
      ];
      const found: number[][] = [];
      for (const { out, back } of variants)
        for (const distinct of [false, true])
          for (const options of [
            {},
            { kinds: ["software" as const] },
            ...(out ? [{ unlessBack: out }] : []),
          ]) {
            const from = { ...(out && { predicates: out }), distinct };
            const to = { ...(back && { predicates: back }), distinct, ...options };
            const counts = await store().countLinks({ arks, from, to });
            const stated = await store().linksFrom(arks, { ...from, limit: 100 });
            const about = await store().linksTo(
              arks.map((ark) => arkFrom(ark).key),
              { ...to, limit: 100 },
            );
            const listed = arks.map(
              (_, index) => stated[index]!.items.length + about[index]!.items.length,
            );
            expect(counts).toEqual(listed);
            found.push(counts);
          }
      // Of C, B and the software, each once; C and B link back.
      expect(found[5]).toEqual(
        [0, 3, 2, 3].map((count, index) => (index === 2 ? found[5]![2] : count)),
      );
      expect(found[0]).not.toEqual(found[3]);
      expect(
        await store().countLinks({ arks: [], from: { predicates: [] }, to: { predicates: [] } }),
      ).toEqual([]);
    });

    test(
      "follow their source: a change preserves the age of unchanged links, a deletion " +
        "removes them",
      async () => {
        await write(store(), create(B), create(C));
        await write(store(), create("ark:99999/x", { links: [linkTo(B)] }));
        await write(store(), create("ark:99999/y", { links: [linkTo(B)] }));
        await write(store(), replace("ark:99999/x", 1, { links: [linkTo(C), linkTo(B)] }));
        expect(
          (await store().linksTo(["ark:99999/b1"], { limit: 9 }))[0]!.items.map(
            ({ source }) => source,
          ),
        ).toEqual(["ark:99999/x", "ark:99999/y"]);
        await write(store(), remove("ark:99999/x", 2));
        expect(
          (await store().linksTo(["ark:99999/b1", "ark:99999/c1"], { limit: 9 })).map(
            ({ items }) => items.length,
          ),
        ).toEqual([1, 0]);
        expect(await store().linksFrom(["ark:99999/x"], { limit: 9 })).toEqual([{ items: [] }]);
      },
    );

    test("update the newest back-link of their target when they are added and removed", async () => {
      await write(store(), create(A));
      expect(await newest(setting, A)).toBe(0);
      await write(store(), create(B, { links: [linkTo(A)] }));
      expect(await newest(setting, A)).toBe(2);
      await write(store(), replace(B, 1, { name: "same links", links: [linkTo(A)] }));
      expect(await newest(setting, A)).toBe(2);
      await write(store(), replace(B, 2, { links: [] }));
      expect(await newest(setting, A)).toBe(4);
      await write(store(), replace(A, 1, { links: [linkTo(A)] }));
      expect(await newest(setting, A)).toBe(4);
    });

    test("count for a target that is created later, or in the same commit", async () => {
      await write(store(), create(B, { links: [linkTo(A)] }));
      expect((await store().commit(commitOf([create(A)]))).records).toEqual([
        { ark: A, revision: 1, newestBacklink: 1 },
      ]);
      expect(await newest(setting, A)).toBe(1);
      await write(
        store(),
        create(C, { links: [linkTo("ark:99999/d-1")] }),
        create("ark:99999/d-1"),
      );
      expect(await newest(setting, "ark:99999/d-1")).toBe(3);
    });
  });
}
