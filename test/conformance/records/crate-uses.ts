import { describe, expect, test } from "vitest";
import { AS_CREATED } from "../../../src/services/records/pages.js";
import { commitOf, create, linkTo, remove, replace, type Setting, write } from "./fixtures.js";

const [ONE, TWO] = ["ark:99999/crate-1", "ark:99999/crate-2"] as const;
const SHARED = "ark:99999/person";

export function crateUsesConform({ store, reopen }: Setting): void {
  const crates = () =>
    write(
      store(),
      create(ONE, { kind: "rocrate" }),
      create(TWO, { kind: "rocrate" }),
      create(SHARED, {}, { crate: ONE }),
      create(`${ONE}/a`, {}, { crate: ONE }),
      create("ark:99999/alone"),
    );
  const use = (crate: string, arks: string[], released?: string[]) =>
    store().commit(commitOf([], { uses: { crate, arks, ...(released ? { released } : {}) } }));
  const crateOf = async (ark: string) => (await store().findMany([ark]))[0]!.crate;

  describe("the records that a crate uses", () => {
    test("are those of its last commit, without missing or deleted ones", async () => {
      await crates();
      await use(TWO, ["ark:99999/alone", SHARED, "ark:99999/unknown"]);
      expect(await store().usesOf(TWO)).toEqual(["ark:99999/alone", SHARED].toSorted());
      expect(await store().usedElsewhere([SHARED, `${ONE}/a`], ONE)).toEqual([SHARED]);
      expect(await store().usedElsewhere([SHARED], TWO)).toEqual([]);
      await write(store(), remove("ark:99999/alone", 1));
      expect(await (await reopen()).usesOf(TWO)).toEqual([SHARED]);
      await use(TWO, []);
      expect(await store().usesOf(TWO)).toEqual([]);
    });

    test("are counted and listed without identifiers that have a given ending", async () => {
      await crates();
      const without = { filter: { crates: [ONE] }, notEndingWith: "/a" };
      expect([
        await store().countSelected({ filter: { crates: [ONE] } }),
        await store().countSelected(without),
        await store().countSelected({
          ...without,
          filter: { crates: [ONE], kinds: ["dataset"] },
        }),
      ]).toEqual([2, 1, 1]);
      const { items } = await store().select({ ...without, order: AS_CREATED, limit: 10 });
      expect(items.map(({ ark }) => ark)).toEqual([SHARED]);
      const { groups } = await store().statistics({ ...without, by: ["kind"], limit: 10 });
      expect(groups.map(({ records }) => records)).toEqual([1]);
      expect(await store().countSelected({ filter: { crates: [ONE] }, notEndingWith: "/%" })).toBe(
        2,
      );
    });

    test(
      "are handed over to it when the crate that they were minted for is deleted or " +
        "releases them",
      async () => {
        await crates();
        await use(TWO, [SHARED]);
        await write(store(), remove(ONE, 1), remove(`${ONE}/a`, 1));
        expect(await crateOf(SHARED)).toBe(TWO);
        expect(await store().usesOf(TWO)).toEqual([]);
        expect(await store().countSelected({ filter: { crates: [TWO] } })).toBe(1);
        await write(store(), create("ark:99999/crate-3", { kind: "rocrate" }));
        await use("ark:99999/crate-3", [SHARED]);
        await use(TWO, [], [SHARED, TWO]);
        expect(await crateOf(SHARED)).toBe("ark:99999/crate-3");
      },
    );

    test("end with the crate, and are unchanged by a failed commit", async () => {
      await crates();
      await use(TWO, [SHARED]);
      await expect(
        store().commit(commitOf([remove(ONE, 9)], { uses: { crate: TWO, arks: [] } })),
      ).rejects.toMatchObject({ code: "REVISION_MISMATCH" });
      expect(await store().usesOf(TWO)).toEqual([SHARED]);
      await write(store(), remove(TWO, 1));
      expect(await store().usedElsewhere([SHARED], ONE)).toEqual([]);
    });

    test("count in the state of the crate, as do the crate and the records minted for it", async () => {
      await crates();
      const states = [await store().stateOfCrate(ONE)];
      const after = async (
        ...writes: Parameters<typeof write> extends [unknown, ...infer W] ? W : never
      ) => {
        await write(store(), ...writes);
        states.push(await store().stateOfCrate(ONE));
      };
      await after(replace(`${ONE}/a`, 1, { name: "new" }));
      await after(replace(ONE, 1, { kind: "rocrate", name: "new" }));
      await after(create(`${ONE}/b`, {}, { crate: ONE }));
      await after(remove(`${ONE}/a`, 2));
      await use(ONE, ["ark:99999/alone"]);
      await after(replace("ark:99999/alone", 1, { name: "new" }));
      expect(new Set(states).size).toBe(6);
      await after(replace(TWO, 1, { kind: "rocrate", name: "not mine" }));
      expect(new Set(states).size).toBe(6);
    });

    test("state links that lead to no live record: listed with the crate's own, in pages", async () => {
      await write(
        store(),
        create(ONE, { kind: "rocrate", links: [linkTo(`${ONE}/a`), linkTo(`${ONE}/lost`)] }),
        create(TWO, { kind: "rocrate" }),
        create(SHARED),
        create(`${ONE}/gone`, {}, { crate: ONE }),
        create("ark:99999/alone", { links: [linkTo("ark:99999/nobody")] }),
      );
      await write(
        store(),
        create(`${ONE}/a`, { links: [linkTo(`${ONE}/gone`), linkTo(SHARED)] }, { crate: ONE }),
        create(`${ONE}/b`, { links: [linkTo("ark:12345/x-1", "evi:used")] }, { crate: ONE }),
        create(`${ONE}/c`, {}, { crate: ONE }),
      );
      await write(store(), remove(`${ONE}/gone`, 1));
      await use(ONE, ["ark:99999/alone"]);
      const all = async (crate: string, limit: number) => {
        const found: string[] = [];
        for (let after: string | undefined, page = 0; page < 50; page++) {
          const { items, next } = await store().danglingLinks(crate, {
            limit,
            ...(after === undefined ? {} : { after }),
          });
          for (const { source, predicate, target, deleted } of items)
            found.push(`${source} ${predicate} ${target}${deleted ? " deleted" : ""}`);
          if ((after = next) === undefined) return found;
        }
        throw new Error("the pages do not end");
      };
      const links = [
        `ark:99999/alone evi:usedDataset ark:99999/nobody`,
        `${ONE} evi:usedDataset ${ONE}/lost`,
        `${ONE}/a evi:usedDataset ${ONE}/gone deleted`,
        `${ONE}/b evi:used ark:12345/x-1`,
      ];
      for (const limit of [1, 2, 3, 100]) expect(await all(ONE, limit)).toEqual(links);
      expect(await all(TWO, 10)).toEqual([]);
      expect(await all("ark:99999/none", 10)).toEqual([]);
      // Each page goes on behind any of its links.
      const { items } = await store().danglingLinks(ONE, { limit: 100 });
      const rest = await store().danglingLinks(ONE, { limit: 100, after: items[1]!.position });
      expect(rest.items.map(({ target }) => target)).toEqual([`${ONE}/gone`, "ark:12345/x-1"]);
      // More records, and more links of one, than are read at once.
      const lost = (count: number, of: string) =>
        Array.from({ length: count }, (_, at) => linkTo(`ark:99999/lost-${of}-${at}`));
      await write(
        store(),
        ...Array.from({ length: 450 }, (_, at) =>
          create(
            `${TWO}/m${at}`,
            { links: at % 100 === 0 ? lost(1, `m${at}`) : [] },
            { crate: TWO },
          ),
        ),
        create(`${TWO}/hub`, { links: lost(30, "hub") }, { crate: TWO }),
      );
      for (const limit of [7, 1000]) {
        const found = await all(TWO, limit);
        expect([found.length, new Set(found).size]).toEqual([35, 35]);
      }
      // What is registered or restored later is found.
      await write(store(), create(`${ONE}/lost`), create("ark:12345/x1"));
      await write(store(), replace(`${ONE}/gone`, 2, {}, { revive: true }));
      expect(await all(ONE, 100)).toEqual(links.slice(0, 1));
      await expect(store().danglingLinks(ONE, { limit: 1, after: "x" })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    });

    test("include a revived record that belonged to another crate before", async () => {
      await crates();
      await write(store(), remove(SHARED, 1));
      await write(store(), replace(SHARED, 2, {}, { revive: true, crate: TWO }));
      expect(await crateOf(SHARED)).toBe(TWO);
      await write(store(), replace(SHARED, 3, { name: "again" }));
      expect(await crateOf(SHARED)).toBe(TWO);
    });
  });
}
