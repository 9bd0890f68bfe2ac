import { expect, it } from "vitest";
import { sweepObjects } from "../../../src/services/objects/damage.js";

function setUp(stored: string[], referenced: string[]) {
  const present = new Set(stored);
  const marked = new Set<string>();
  return {
    present,
    marked,
    objects: {
      async *list() {
        yield* stored;
      },
      remove: async (sha256: string) => {
        if (sha256 === "bad") throw new Error("disk");
        expect(marked).toContain(sha256);
        present.delete(sha256);
      },
      removeStale: async () => 2,
    },
    records: {
      claimUnreferenced: async (sha256s: readonly string[]) => {
        const free = sha256s.filter((sha256) => !referenced.includes(sha256));
        for (const sha256 of free) marked.add(sha256);
        return free;
      },
      removed: async (sha256s: readonly string[]) => {
        for (const sha256 of sha256s) marked.delete(sha256);
      },
    },
    intentLifetime: 1000,
  };
}

it("removes unreferenced objects, and leaves the rest", async () => {
  const stored = Array.from({ length: 1201 }, (_, n) => `object${n}`);
  const sweep = setUp(stored, ["object3", "object1200"]);
  expect(await sweepObjects(sweep)).toEqual({ removed: 1199, stale: 2 });
  expect([...sweep.present]).toEqual(["object3", "object1200"]);
  expect(sweep.marked.size).toBe(0);
});

it("leaves no object marked as being removed when the disk fails", async () => {
  const sweep = setUp(["a", "bad", "c"], []);
  await expect(sweepObjects(sweep)).rejects.toThrow("disk");
  expect(sweep.marked.size).toBe(0);
  expect([...sweep.present]).toEqual(["bad", "c"]);
});
