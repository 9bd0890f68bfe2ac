import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  arkKey,
  looksLikeArk,
  lookupArk,
  normalizeArk,
  parseArk,
  referencedArk,
  sameArk,
} from "../../src/identifiers/ark.js";
import { sharedData } from "../support/shared-data.js";

/** Spelling → form in which identifiers are compared. */
const COMPARED: [string, string][] = [
  ["ark:/12148/btv1b8449691v", "ark:12148/btv1b8449691v"],
  ["ark:12148/b-t-v-1", "ark:12148/btv1"],
  ["https://resolver.example.org/ark:12148/btv--1", "ark:12148/btv1"],
  ["https://resolver.example.org/deep/er/ark:/12148/btv1", "ark:12148/btv1"],
  ["ARK:/12148/BTV", "ark:12148/BTV"],
  ["ark:1214B/btv", "ark:1214b/btv"],
  ["ark:12148/a%c3%a9", "ark:12148/a%C3%A9"],
  ["ark:12148/btv1?info", "ark:12148/btv1"],
  ["ark:12148/btv1/", "ark:12148/btv1"],
  ["ark:12148/btv1.", "ark:12148/btv1"],
  ["ark:12148/btv1//f2", "ark:12148/btv1/f2"],
  ["ark:12148/btv1./f2", "ark:12148/btv1.f2"],
  ["ark:12148/btv\u20131", "ark:12148/btv1"],
];
const REFUSED = [
  "ark:12148",
  "ark:12148/",
  "ark:/12148/",
  "ark:vowel/x",
  "ark:1214l/x",
  "ark:1234/x",
  "12148/x",
  "ark:12148/a b",
  "ark:12148/a%2",
  "ark:12148/a%zz",
  "ark:12148/a\0",
  "ark:12148/a\ud800",
  "ark:12148/<a>",
  'ark:12148/a"b',
  "ark:12148/a|b",
  "ark:12148/a#b",
  "ark:12148/a?b",
  "ark:12148/\u2028",
  "ark:12148/\u{5fffe}",
  "ark:12148/...",
  "ark:12148/ /",
  "urn:ark:12148/x",
  "",
];

/** The stored form that is read from any accepted spelling. */
const storedArk = (text: string): string | undefined => parseArk(text)?.stored;
const lookedUp = (text: string): string | undefined => lookupArk(text)?.stored;

const naans = fc.stringMatching(/^[0-9bcdfghjkmnpqrstvwxz]{5,16}$/);
const names = fc.string({ unit: "binary", minLength: 1, maxLength: 30 });
const spellings = fc
  .tuple(
    fc.constantFrom("ark:", "ark:/", "ARK:/", "https://n2t.net/ark:/", "http://x.example/a/b/ark:"),
    naans,
    fc.constantFrom("/", "//", "/-"),
    names,
  )
  .map((parts) => parts.join(""));

describe("an ARK", () => {
  it.each(COMPARED)("%j is compared as %j", (text, compared) =>
    expect(normalizeArk(text)).toBe(compared),
  );
  it.each(REFUSED)("is not read from %j", (text) => expect(parseArk(text)).toBeUndefined());
  it.each([
    ["ark:12148/btv", "ark:12148/BTV"],
    ["ark:12148/b_t", "ark:12148/bt"],
    ["ark:12148/b.2", "ark:12148/b/2"],
  ])("%s is not %s", (one, other) => expect(normalizeArk(one)).not.toBe(normalizeArk(other)));

  it("preserves hyphens, the case of its name and its percent-encoding when it is stored", () => {
    expect(storedArk("https://n2t.net/ark:/12148/A-b%c3%a9/c.")).toBe("ark:12148/A-b%C3%A9/c");
  });
  it("may have sixteen characters of authority and 255 of name", () => {
    const long = `ark:${"1".repeat(16)}/${"x".repeat(255)}`;
    expect(storedArk(long)).toBe(long);
  });
  it("has one key, whatever its hyphens, doubled delimiters and encoding", () => {
    expect(
      new Set(
        [
          "ark:12148/a-b%20c",
          "ark:12148/ab%20c",
          "ark:12148/a--b%20c",
          "ark:12148/ab c",
          "ark:12148//ab c/",
        ].map(arkKey),
      ).size,
    ).toBe(1);
    expect(arkKey("ark:12148/ab")).not.toBe(arkKey("ark:12148/aB"));
  });
  it("is found also when its path was decoded before", () => {
    expect(lookedUp("ark:/12148/a b/")).toBe("ark:12148/a b");
    expect(lookupArk("ark:12148/a b")!.key).toBe(arkKey("ark:12148/a%20b"));
    expect(
      ["ark:12148/", "ark:1/x", "ark:12148/\0", "ark:12148/\ud800", "x"].map(lookupArk),
    ).toEqual(Array(5).fill(undefined));
  });
  it("is read without the colon that the contract's pattern leaves out", () => {
    for (const read of [storedArk, lookedUp]) {
      expect(read("ark12345/a-b")).toBe("ark:12345/a-b");
      expect(
        [
          "ark1234/x",
          "ark/12345/x",
          "arkbcdfg/x",
          "https://n2t.net/ark12345/x",
          "ark12345/",
          "park12345/x",
        ].map(read),
      ).toEqual(Array(6).fill(undefined));
    }
    expect(normalizeArk("ARK12345/a-b?info")).toBe("ark:12345/ab");
    // It may be a path as well.
    expect(looksLikeArk("ark12345/a.csv")).toBe(false);
  });
  it("is found where the contract's pattern finds it", () => {
    expect(
      [
        "ark12345/x",
        "ark/12345/x",
        "see ark:/12345/x",
        "https://n2t.net/ark:12345/x",
        "ark:12345/x",
      ].map((text) => referencedArk(text)?.stored),
    ).toEqual(Array(5).fill("ark:12345/x"));
    expect(["ark:1234/x", "bark", "", "ark12345", "ark12345/ x"].map(referencedArk)).toEqual(
      Array(5).fill(undefined),
    );
  });
});

describe("any text", () => {
  const texts = fc.oneof(spellings, fc.string({ unit: "binary" }), fc.string());
  it("is read, looked up and compared without throwing", () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const read of [parseArk, referencedArk, normalizeArk, lookupArk, looksLikeArk, arkKey])
          expect(() => read(text)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
  it("that is an ARK has one stored form, and that form has one key", () => {
    let read = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const ark = parseArk(text);
        if (!ark) return;
        const { stored } = ark;
        read++;
        expect(storedArk(stored)).toBe(stored);
        expect(lookedUp(stored)).toBe(stored);
        expect(referencedArk(stored)?.stored).toBe(stored);
        expect(ark.key).toBe(arkKey(stored));
        expect(sameArk(stored, stored.replaceAll("-", ""))).toBe(true);
        expect(arkKey(`${stored}/`)).toBe(arkKey(stored));
        expect(arkKey(stored.replaceAll("-", ""))).toBe(arkKey(stored));
      }),
      { numRuns: 1000 },
    );
    expect(read).toBeGreaterThan(50);
  });
});

const VECTORS = sharedData("ark-vectors.json");
describe.skipIf(!VECTORS)("the vectors of the standard's draft", () => {
  const known = VECTORS
    ? (JSON.parse(readFileSync(VECTORS, "utf8")) as {
        normalize: { in: string; out: string }[];
        not_equal: [string, string][];
        invalid: string[];
      })
    : { normalize: [], not_equal: [], invalid: [] };
  it.each(known.normalize)("$in is compared as $out", ({ in: text, out }) =>
    expect(normalizeArk(text)).toBe(out),
  );
  it.each(known.normalize)("$in has the key of $out", ({ in: text, out }) => {
    const stored = storedArk(text.replace(/[?#].*/, "").replace(/[\u2010-\u2015]/g, "-"));
    expect(stored === undefined ? undefined : arkKey(stored)).toBe(arkKey(out));
  });
  it.each(known.not_equal)("%s is not %s", (one, other) =>
    expect(normalizeArk(one)).not.toBe(normalizeArk(other)),
  );
  it.each(known.invalid.map((line) => line.replace(/ \(.*$/, "")))("%s is refused", (text) =>
    expect(parseArk(text)).toBeUndefined(),
  );
});
