import { describe, expect, test } from "vitest";
import type { ObjectReference } from "../../../src/stores/records/objects-port.js";
import { create, remove, replace, type Setting, write } from "./fixtures.js";

const A = "ark:99999/download-1";
const hash = (letter: string): string => letter.repeat(64);
const object = (letter: string, role: ObjectReference["role"] = "content"): ObjectReference => ({ sha256: hash(letter), size: 3, mediaType: "text/csv", name: `${letter}.csv`, role });
const DAY = 86_400_000;

export function objectsConform({ store, reopen }: Setting): void {
  const claim = (...letters: string[]): Promise<string[]> => store().claimUnreferenced(letters.map(hash), { now: 10 * DAY, intentLifetime: DAY });

  describe("objects", () => {
    test("are those of the revision asked for; a record that says nothing of them keeps them", async () => {
      await write(store(), create(A, {}, { objects: [object("a"), object("b", "metadata")] }));
      await write(store(), replace(A, 1, { name: "two" }));
      await write(store(), replace(A, 2, { name: "three" }, { objects: [object("b", "metadata"), object("c")] }));
      expect(await store().objectsOf(A)).toEqual([object("b", "metadata"), object("c")]);
      expect(await store().objectsOf(A, { role: "content" })).toEqual([object("c")]);
      expect(await store().objectsOf(A, { role: "content", revision: 2 })).toEqual([object("a")]);
      expect(await claim("a", "b", "c", "d")).toEqual([hash("d")]);
    });

    test("that are dropped are free, and the record says its content was deleted", async () => {
      await write(store(), create(A, {}, { objects: [object("a")] }));
      expect(await store().contentWasDeleted(A)).toBe(false);
      await write(store(), replace(A, 1, {}, { objects: [], dropObjects: true }));
      expect(await store().contentWasDeleted(A)).toBe(true);
      expect(await store().objectsOf(A, { revision: 1 })).toEqual([]);
      expect(await claim("a")).toEqual([hash("a")]);
      await store().removed([hash("a")]);
      await write(store(), replace(A, 2, {}, { objects: [object("b")] }));
      expect(await store().contentWasDeleted(A)).toBe(false);
      expect(await store().contentWasDeleted("ark:99999/none")).toBe(false);
    });

    test("of a deleted record stay for its earlier revisions unless they are dropped, and while another record has them", async () => {
      await write(store(), create(A, {}, { objects: [object("a"), object("b")] }), create("ark:99999/kept", {}, { objects: [object("c")] }));
      await write(store(), create("ark:99999/other", {}, { objects: [object("a")] }));
      await write(store(), remove(A, 1, { dropObjects: true }), remove("ark:99999/kept", 1));
      expect(await claim("a", "b", "c")).toEqual([hash("b")]);
      expect(await store().objectsOf("ark:99999/kept", { revision: 1 })).toEqual([object("c")]);
    });

    test("that were announced are not swept until the intent is old or released", async () => {
      const holder = { kind: "upload", id: "u1", attempt: 1 } as const;
      expect(await store().intend(holder, [hash("a"), hash("b")], 9.5 * DAY)).toEqual({ removing: [] });
      await store().intend({ ...holder, id: "u2" }, [hash("c")], 8 * DAY);
      expect(await claim("a", "b", "c")).toEqual([hash("c")]);
      expect(await store().intend(holder, [hash("c"), hash("d")], 10 * DAY)).toEqual({ removing: [hash("c")] });
      await store().removed([hash("c")]);
      expect(await store().intend(holder, [hash("c")], 10 * DAY)).toEqual({ removing: [] });
      await store().release(holder);
      expect(await claim("a", "b")).toEqual([hash("a"), hash("b")]);
      expect(await (await reopen()).intend(holder, [hash("a")], 10 * DAY)).toEqual({ removing: [] });
    });

    test("of an unfinished submission's archive are not swept", async () => {
      await store().submit({ id: "s1", type: "crate", user: "ark:99999/u", sha256: hash("e"), input: {}, at: 1 });
      expect(await claim("e")).toEqual([]);
      await store().cancelSubmission("s1", 2);
      expect(await claim("e")).toEqual([hash("e")]);
    });

    test("that are needed are listed by hash, each once", async () => {
      await write(store(), create(A, {}, { objects: [object("c"), object("a")] }), create("ark:99999/o", {}, { objects: [object("a")] }));
      await store().submit({ id: "s1", type: "crate", user: "ark:99999/u", sha256: hash("b"), input: {}, at: 1 });
      const first = await store().referenced({ limit: 2 });
      expect(first).toEqual({ items: [hash("a"), hash("b")], next: hash("b") });
      expect(await store().referenced({ limit: 2, after: first.next! })).toEqual({ items: [hash("c")] });
    });
  });
}
