import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuery, plainText, withoutAddress } from "../../src/model/search-query.js";

const term = (words: string, more: object = {}) => ({
  words: words.split(" "),
  prefix: false,
  ...more,
});
const read = (text: string, expected: Partial<ReturnType<typeof parseQuery>>) =>
  expect(parseQuery(text), text).toEqual({ words: [], terms: [], excluded: [], ...expected });

describe("a query", () => {
  it("is words, each once and in lower case", () => {
    read("Cell counts, CELL of (yeast)", { words: ["cell", "counts", "of", "yeast"] });
    read("SARS-CoV-2 C++ x_y 3'UTR", {
      words: ["sars", "cov", "2", "c", "x", "y", "3", "utr"],
    });
    read("", {});
    read(" \t\n", {});
  });

  it("has phrases, prefixes, exclusions and fields", () => {
    read('"Cell counts" a', { terms: [term("cell counts")], words: ["a"] });
    read("„Zelle groß“", { terms: [term("zelle groß")] });
    read("gen* a", { terms: [term("gen", { prefix: true })], words: ["a"] });
    read('-a -"b c" -d* x', {
      excluded: [term("a"), term("b c"), term("d")],
      words: ["x"],
    });
    read("-de* x", { excluded: [term("de", { prefix: true })], words: ["x"] });
    read('name:a -Keyword:b keywords:"c d" DESCRIPTION:ef*', {
      terms: [
        term("a", { field: "name" }),
        term("c d", { field: "keywords" }),
        term("ef", { field: "description", prefix: true }),
      ],
      excluded: [term("b", { field: "keywords" })],
    });
    read("(-a b)", { excluded: [term("a")], words: ["b"] });
    read("-T-cell", { excluded: [term("t cell")] });
    read("name:T-cell", { terms: [term("t", { field: "name" }), term("cell", { field: "name" })] });
  });

  it("reads what can be no operator as words", () => {
    read('"cell counts', { words: ["cell", "counts"] });
    read('5" plate and 3" pipe', { words: ["5", "plate", "and", "3", "pipe"] });
    read('"a b" "c d', { terms: [term("a b")], words: ["c", "d"] });
    read('-"a b', { excluded: [term("a")], words: ["b"] });
    read("- a -- b --c a-b", { words: ["a", "b", "c"] });
    read("* a* ** ab** a*b", { words: ["a", "ab", "b"] });
    read("name: a foo:bar name:", { words: ["name", "a", "foo", "bar"] });
    read('name:"a b', { terms: [term("a", { field: "name" })], words: ["b"] });
    read("a AND b OR NOT c", { words: ["a", "and", "b", "or", "not", "c"] });
    read('""', {});
    read('"one"', { words: ["one"] });
  });

  it("keeps words of any script whole", () => {
    read("الخلايا 细胞 कोशिका cafe\u0301 \u202Eabc\u202C -תאים", {
      words: ["الخلايا", "细胞", "कोशिका", "cafe\u0301", "abc"],
      excluded: [term("תאים")],
    });
    read("细* ab*", {
      terms: [term("细", { prefix: true }), term("ab", { prefix: true })],
    });
  });

  it("has a bounded number of parts, each of bounded length", () => {
    const { terms, excluded, words } = parseQuery(
      Array.from({ length: 500 }, (_, i) => `"a${i} b" -x${i} gen${i}* name:c${i}`).join(" "),
    );
    expect(terms).toHaveLength(64);
    expect(excluded).toHaveLength(64);
    expect(words.length).toBeGreaterThan(400);
    expect(terms.filter(({ prefix }) => prefix)).toHaveLength(8);
    expect(parseQuery(`"${"a b ".repeat(500)}"`).terms[0]!.words).toHaveLength(32);
    expect(parseQuery("x".repeat(500)).words[0]).toHaveLength(100);
    const phrases = Array.from({ length: 20 }, (_, i) => `"p${i} ${"a b ".repeat(15)}"`).join(" ");
    expect(parseQuery(phrases).terms.map(({ words: [first] }) => first)).toEqual([
      "p0",
      "p1",
      "p2",
      "p3",
    ]);
  });

  it("is read whatever it is, in time that grows with its length alone", () => {
    const parts = ['"', "-", "*", "(", "“", "name:", " ", "a", "ab*", "\u202E", "é", "\uD800"];
    const any = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.constantFrom(...parts), { maxLength: 60 }).map((some) => some.join("")),
    );
    fc.assert(
      fc.property(any, (text) => {
        const { words, terms, excluded } = parseQuery(text);
        for (const word of [...words, ...[...terms, ...excluded].flatMap((one) => one.words)])
          expect(word).toMatch(/^[\p{L}\p{N}\p{Co}\p{M}\uFFFD]+$/u);
        for (const one of [...terms, ...excluded]) expect(one.words.length).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
    for (const part of [...parts, '-"', 'name:"', '"a ', "-name:", 'a" ', '"-']) {
      const began = process.cpuUsage().user;
      parseQuery(part.repeat(100_000 / part.length));
      expect((process.cpuUsage().user - began) / 1_000, part).toBeLessThan(1000);
    }
  });

  it("is for a model the text as typed, or the words that are sought", () => {
    const plain = (text: string): string => plainText(text, parseQuery(text));
    expect(plain("Which cells, of yeast?")).toBe("Which cells, of yeast?");
    expect(plain('"cell lines" yeast -mouse name:gen*')).toBe("cell lines gen yeast");
  });

  it("that is a DOI or an ORCID iD, in any spelling, is the phrase that its addresses share", () => {
    for (const doi of [
      "https://doi.org/10.1234/ab.c-1",
      "http://dx.doi.org/10.1234/ab.c-1",
      "doi:10.1234/ab.c-1",
      "DOI 10.1234/ab.c-1.",
      "doi.org/10.1234%2Fab.c-1",
      " 10.1234/ab.c-1 ",
    ])
      expect(withoutAddress(doi)).toBe('"10.1234/ab.c-1"');
    for (const orcid of [
      "https://orcid.org/0000-0002-1825-0097",
      "orcid.org/0000-0002-1825-0097/",
      "ORCID: 0000-0002-1825-0097",
      "0000000218250097",
    ])
      expect(withoutAddress(orcid)).toBe('"0000-0002-1825-0097"');
    for (const other of ["10.5 mM", "0000-0002", "see 10.1234/abc in cells", "https://doi.org/"])
      expect(withoutAddress(other)).toBe(other);
  });
});
