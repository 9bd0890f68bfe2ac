import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allOf,
  anyOf,
  distance,
  matchOf,
  oneLetterOff,
  partsOf,
  without,
  wordsOf,
} from "../../../src/storage/records/search.js";

const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });

/** The same by its definition, without a bound. */
function plain(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_unused, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      table[i]![j] = Math.min(
        table[i - 1]![j]! + 1,
        table[i]![j - 1]! + 1,
        table[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        table[i]![j] = Math.min(table[i]![j]!, table[i - 2]![j - 2]! + 1);
    }
  }
  return table[a.length]![b.length]!;
}

describe("the words one letter off", () => {
  it("have a letter less, more, another one, or two swapped", () => {
    const words = oneLetterOff("abca");
    for (const word of ["abc", "aabca", "abcad", "zbca", "baca", "abac"])
      expect(words, word).toContain(word);
    expect(words).not.toContain("abca");
    for (const word of words) expect(distance("abca", word, 2), word).toBe(1);
    expect(new Set(words).size).toBe(words.length);
  });
  it("are none for short words, and for words beyond the length limit", () => {
    expect(oneLetterOff("abc")).toEqual([]);
    expect(oneLetterOff("a".repeat(65))).toEqual([]);
  });
});

describe("the distance of two spellings", () => {
  it("equals its definition, up to the bound", () => {
    fc.assert(
      fc.property(word, word, fc.nat(3), (a, b, most) => {
        expect(distance(a, b, most)).toBe(Math.min(plain(a, b), most + 1));
        expect(distance(a, b, most)).toBe(distance(b, a, most));
      }),
    );
    expect([
      distance("microscope", "micorscope", 2),
      distance("cell", "cells", 1),
      distance("cell", "image", 2),
    ]).toEqual([1, 1, 3]);
  });
});

describe("the words of a query", () => {
  it("are those between other characters, each once, and in quotes", () => {
    expect(wordsOf('Cell-counts OR "cell" ark:99999/x_y Größe')).toEqual([
      "cell",
      "counts",
      "or",
      "ark",
      "99999",
      "x",
      "y",
      "größe",
    ]);
    const match = (...words: string[]): string => matchOf({ words, prefix: false });
    expect(allOf([[match("a")], [match("b"), match("c")], []])).toBe('("a") AND ("b" OR "c")');
    expect(match('a"b')).toBe('"a""b"');
    expect(match("a", "b")).toBe('"a" + "b"');
    expect(matchOf({ words: ["a", "b"], prefix: true, field: "name" }, ["bc"])).toBe(
      '{name} : ("a" + "b" * OR "a" + "bc")',
    );
    expect(without(anyOf([match("a"), match("b")]), [match("c"), match("d")])).toBe(
      '("a" OR "b") NOT ("c" OR "d")',
    );
  });

  it("never contain a quote or an operator, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const found of wordsOf(text))
          expect(found).toMatch(/^[\p{L}\p{N}\p{Co}\p{M}\uFFFD]+$/u);
      }),
    );
  });
});

describe("a marked text", () => {
  it("is cut at the marks, also when it contains marks of its own", () => {
    expect(partsOf("a \uFDD0b\uFDD1 c")).toEqual([
      { text: "a ", found: false },
      { text: "b", found: true },
      { text: " c", found: false },
    ]);
    expect(partsOf("nothing found")).toBeUndefined();
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("x", "\uFDD0", "\uFDD1", "<")).map((parts) => parts.join("")),
        (text) => {
          const parts = partsOf(text);
          if (parts)
            expect(parts.map((part) => part.text).join("")).toBe(
              text.replace(/[\uFDD0\uFDD1]/g, ""),
            );
        },
      ),
    );
  });
});
