import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { respell } from "../../src/rdf/terms.js";

const line = (s: string, o: string): string => `${s} <https://schema.org/about> ${o} <ark:1/s> .`;
const text = (...lines: string[]): string => [...new Set(lines)].toSorted().join("\n") + "\n";
const spelling = new Map([["ark:1/ab", "ark:1/a-b"]]);

describe("respelling quads", () => {
  test("changes subjects and objects and leaves lines sorted", () => {
    expect(
      respell(text(line("<ark:1/ab>", "<ark:1/s>"), line("<ark:1/s>", "<ark:1/ab>")), spelling),
    ).toBe(text(line("<ark:1/a-b>", "<ark:1/s>"), line("<ark:1/s>", "<ark:1/a-b>")));
  });

  test("merges two lines that become equal", () => {
    expect(
      respell(text(line("<ark:1/s>", "<ark:1/ab>"), line("<ark:1/s>", "<ark:1/a-b>")), spelling),
    ).toBe(text(line("<ark:1/s>", "<ark:1/a-b>")));
  });

  test("leaves literals, longer IRIs, blank nodes and graph names alone", () => {
    const quads = text(
      line("<ark:1/s>", '"<ark:1/ab> said \\" <ark:1/ab> ."'),
      line("<ark:1/s>", '"x"^^<ark:1/ab>'),
      line("<ark:1/s>", "<ark:1/ab/c>"),
      line("_:b", "_:b"),
      "<ark:1/s> <ark:1/ab> _:c <ark:1/ab> .",
    );
    expect(respell(quads, spelling)).toBe(quads);
  });

  test("does nothing without a spelling, and changes nothing the second time", () => {
    const iri = fc.constantFrom("<ark:1/ab>", "<ark:1/a-b>", "<ark:1/s>", "<ark:1/abc>");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(iri, fc.oneof(iri, fc.constant('"<ark:1/ab> <ark:1/ab>"')))),
        (pairs) => {
          const quads = pairs.length === 0 ? "" : text(...pairs.map(([s, o]) => line(s, o)));
          expect(respell(quads, new Map())).toBe(quads);
          const once = respell(quads, spelling);
          expect(respell(once, spelling)).toBe(once);
          expect(once).toBe(once === "" ? "" : text(...once.trimEnd().split("\n")));
        },
      ),
    );
  });
});
