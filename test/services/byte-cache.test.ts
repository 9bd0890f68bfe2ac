import { describe, expect, it } from "vitest";
import { ByteCache } from "../../src/services/limits.js";

/** A value of so many bytes. */
const sized = (length: number): Buffer => Buffer.alloc(length);
const cacheOf = (bytes: number): ByteCache<Buffer> =>
  new ByteCache<Buffer>(bytes, { sizeOf: ({ length }) => length });
const stored = (cache: ByteCache<Buffer>, keys: string): string =>
  [...keys].filter((key) => cache.get(key) !== undefined).join("");

describe("a cache bounded by bytes", () => {
  it("stores values and their keys up to its bytes", () => {
    const cache = cacheOf(80);
    for (const key of "abcdefgh") cache.set(key, sized(9));
    expect(stored(cache, "abcdefgh")).toBe("abcdefgh");
    cache.set("i", sized(9));
    expect(stored(cache, "abcdefghi")).toBe("bcdefghi");
  });

  it("drops first what was not used for longest", () => {
    const cache = cacheOf(80);
    for (const key of "abcdefgh") cache.set(key, sized(9));
    cache.get("a");
    cache.set("i", sized(9));
    expect(stored(cache, "abcdefghi")).toBe("acdefghi");
  });

  it("stores no value larger than its share, and drops what it would replace", () => {
    const cache = cacheOf(80);
    expect(cache.largest).toBe(10);
    cache.set("a", sized(9));
    cache.set("b", sized(10));
    expect(stored(cache, "ab")).toBe("a");
    cache.set("a", sized(10));
    expect(stored(cache, "ab")).toBe("");
  });

  it("counts a value that is replaced once, and nothing after it is cleared", () => {
    const cache = cacheOf(80);
    for (let count = 0; count < 20; count++) cache.set("a", sized(9));
    for (const key of "bcdefgh") cache.set(key, sized(9));
    expect(stored(cache, "abcdefgh")).toBe("abcdefgh");
    cache.clear();
    expect(stored(cache, "abcdefgh")).toBe("");
  });

  it("stores nothing with 0 bytes", () => {
    const cache = cacheOf(0);
    cache.set("a", sized(0));
    expect(cache.get("a")).toBeUndefined();
  });

  it("takes the bytes as JSON where no other measure is given, another share where one is", () => {
    const cache = new ByteCache<{ text: string }>(64, { share: 2 });
    // {"text":"…"} and the key: 12 bytes more than the text, which has two for each letter.
    cache.set("a", { text: "ö".repeat(10) });
    cache.set("b", { text: "ö".repeat(11) });
    expect(cache.get("a")).toBeDefined();
    expect(cache.get("b")).toBeUndefined();
  });
});
