import * as fc from "fast-check";
import { expect, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import { create, linkTo, quadsOf, remove, replace, type Setting, write } from "./fixtures.js";
import { arkFrom } from "../../support/arks.js";

/** Spellings of four identities, and of one that is never stored. */
const SPELLINGS = [
  "ark:99999/a-b",
  "ark:99999/ab",
  "ark:99999/c-d",
  "ark:99999/cd",
  "ark:99999/e",
  "ark:99999/f-g",
  "ark:99999/f--g",
  "ark:99999/never",
];
interface Known {
  ark: string;
  revision: number;
  deleted: boolean;
  targets: string[];
  name: string;
}
type Act = { act: "create" | "replace" | "delete"; ark: string; targets: string[] };

const act: fc.Arbitrary<Act> = fc.record({
  act: fc.constantFrom("create", "create", "replace", "replace", "delete" as const),
  ark: fc.constantFrom(...SPELLINGS.slice(0, -1)),
  targets: fc.array(fc.constantFrom(...SPELLINGS), { maxLength: 4 }),
});

export function modelConforms({ store, reopen }: Setting): void {
  const compare = async (known: ReadonlyMap<string, Known>): Promise<void> => {
    const owned = (target: string): string => known.get(arkKey(target))?.ark ?? target;
    for (const [key, { ark, revision, deleted, targets, name }] of known) {
      expect(await store().find(arkFrom(ark))).toMatchObject({
        record: { revision, tombstone: deleted ? {} : null },
      });
      expect(await store().quads(ark)).toBe(
        deleted
          ? undefined
          : quadsOf(
              ark,
              name,
              targets.map((target) => linkTo(owned(target))),
            ),
      );
      const [from] = await store().linksFrom([ark], { limit: 50 });
      expect(from!.items.map(({ target }) => target)).toEqual(targets);
      const [to] = await store().linksTo([key], { limit: 50 });
      const expected = [...known.values()].flatMap((source) =>
        source.targets
          .filter((target) => arkKey(target) === key)
          .map((target) => `${source.ark} ${target}`),
      );
      expect(to!.items.map(({ source, target }) => `${source} ${target}`).toSorted()).toEqual(
        expected.toSorted(),
      );
    }
  };

  test("after any series of writes, links and graphs equal those of a simple model", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 15 }), async (acts) => {
        // Each run has its own identities in the one store.
        round++;
        const mine = (ark: string): string => ark.replace("/", `/r${round}/`);
        const known = new Map<string, Known>();
        for (const { act: what, ark: plain, targets: plainTargets } of acts) {
          const [ark, targets] = [mine(plain), plainTargets.map(mine)];
          const [key, before] = [arkKey(ark), known.get(arkKey(ark))];
          const sketch = {
            name: `n${before?.revision ?? 0}`,
            links: targets.map((target) => linkTo(target)),
          };
          if (what === "create") {
            if (before)
              await expect(write(store(), create(ark, sketch))).rejects.toMatchObject({
                code: "DUPLICATE",
              });
            else {
              await write(store(), create(ark, sketch));
              known.set(key, { ark, revision: 1, deleted: false, targets, name: sketch.name });
            }
          } else if (!before || before.ark !== ark || before.deleted) {
            await expect(write(store(), remove(ark, 1))).rejects.toMatchObject({
              code: before?.ark === ark ? "GONE" : "NOT_FOUND",
            });
          } else if (what === "replace") {
            await write(store(), replace(ark, before.revision, sketch));
            known.set(key, {
              ...before,
              revision: before.revision + 1,
              targets,
              name: sketch.name,
            });
          } else {
            await write(store(), remove(ark, before.revision));
            known.set(key, {
              ...before,
              revision: before.revision + 1,
              deleted: true,
              targets: [],
            });
          }
        }
        await compare(known);
      }),
      { numRuns: 40 },
    );
    await (await reopen()).health();
  });
}
