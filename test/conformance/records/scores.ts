import { describe, expect, test } from "vitest";
import { commitOf, create, remove, type Setting } from "./fixtures.js";

const A = "ark:99999/rocrate-a";
const body = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

export function scoresConform({ store }: Setting): void {
  describe("a stored score", () => {
    test("is returned as stored, and replaced by that of another state", async () => {
      expect(await store().storedScore(A)).toBeUndefined();
      await store().storeScore({ crate: A, state: "1", whole: true, body: body('{"é":1}') });
      expect(await store().storedScore(A)).toMatchObject({ crate: A, state: "1", whole: true });
      expect(text((await store().storedScore(A))?.body)).toBe('{"é":1}');
      await store().storeScore({ crate: A, state: "2", whole: false, body: body("{}") });
      expect(await store().storedScore(A)).toMatchObject({ state: "2", whole: false });
    });

    test("is deleted with its crate, and with no other", async () => {
      const B = "ark:99999/rocrate-b";
      await store().commit(
        commitOf([create(A, { kind: "rocrate" }), create(B, { kind: "rocrate" })]),
      );
      for (const crate of [A, B])
        await store().storeScore({ crate, state: "1", whole: true, body: body(crate) });
      await store().commit(commitOf([remove(A, 1)]));
      expect(await store().storedScore(A)).toBeUndefined();
      expect(text((await store().storedScore(B))?.body)).toBe(B);
    });

    test("is replaced by one of the same state, except by one that examined less", async () => {
      await store().storeScore({ crate: A, state: "1", whole: false, body: body("first") });
      await store().storeScore({ crate: A, state: "1", whole: true, body: body("whole") });
      await store().storeScore({ crate: A, state: "1", whole: false, body: body("less") });
      expect(text((await store().storedScore(A))?.body)).toBe("whole");
      await store().storeScore({ crate: A, state: "1", whole: true, body: body("again") });
      expect(text((await store().storedScore(A))?.body)).toBe("again");
    });
  });
}
