import { inflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { packQuads, repacked, unpackQuads } from "../../../src/storage/records/codecs.js";
import { linkTo, quadsOf } from "../../conformance/records/fixtures.js";

const ARK = "ark:99999/dataset-temperatures-4m2x";
const ORDINARY = quadsOf(
  ARK,
  "Temperatures of the cellar",
  ["ark:99999/software-1", "ark:99999/dataset-2", "ark:99999/dataset-3", "ark:99999/dataset-4"].map(
    (target) => linkTo(target),
  ),
);

/** Terms that are near those which are written short, and others. */
const iri = fc
  .oneof(
    fc.constantFrom(
      "",
      "ark:99999/",
      ARK,
      `${ARK}#inferred`,
      `${ARK}#genid-0`,
      `${ARK}s`,
      "ark:99999/other",
      "ark:",
      "https://schema.org/name",
      "https://schema.org/",
      "https://schema.org/unheard",
      "https://w3id.org/EVI#",
      "https://w3id.org/EVI#x/y",
      "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
      "urn:x",
    ),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
  )
  .map((text) => `<${text}>`);
const literal = fc
  .tuple(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("", "@en", "^^<http://www.w3.org/2001/XMLSchema#integer>"),
  )
  .map(([text, suffix]) => JSON.stringify(text).replaceAll("\u007f", "\\u007F") + suffix);
const graph = fc.oneof(fc.constantFrom(`<${ARK}>`, `<${ARK}#inferred>`), iri);
const line = fc
  .tuple(
    fc.oneof(fc.constant(`<${ARK}>`), iri, fc.constant("_:b0")),
    iri,
    fc.oneof(iri, literal),
    graph,
  )
  .map((terms) => `${terms.join(" ")} .\n`);

describe("quads are unpacked as they were packed", () => {
  test("for any text of a line, of any length", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(3000), (text, times) => {
        const quads = `<${text.repeat(times)}`;
        expect(unpackQuads(packQuads(quads))).toBe(quads);
      }),
      { numRuns: 60 },
    );
  });

  test("for any terms", () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
        const quads = lines.join("");
        expect(unpackQuads(packQuads(quads))).toBe(quads);
      }),
      { numRuns: 2000 },
    );
  });
});

test("quads of an ordinary record are stored as their text, and those of a long one by zlib", () => {
  expect(Buffer.from(packQuads(ORDINARY)).toString()).toBe(ORDINARY);
  const long = quadsOf(
    ARK,
    "All of them",
    Array.from({ length: 200 }, (_, part) => linkTo(`ark:99999/dataset-${part}`)),
  );
  expect(inflateSync(packQuads(long)).toString()).toBe(long);
  expect(packQuads(long).length).toBeLessThan(long.length / 8);
});

// If one of these fails, a list or dictionary was changed, and every graph that is stored so is
// lost.
test.each([
  [1, "AcMiZIjXH44KJYlJOakoFsEMM8RhCbKJhNIlxHmwprwuSCumq8EWAQA="],
  [2, "AmFyazo5OTk5OS9kYXRhc2V0LTEBAgUiIkEgdGFibGUiAQIFUwhzb2Z0d2FyZS0xAQ=="],
])("quads that earlier versions stored can be read: coding %i", (coding, packed) => {
  const bytes = Buffer.from(packed, "base64");
  expect(bytes[0]).toBe(coding);
  const quads = unpackQuads(bytes);
  expect(Buffer.from(repacked(bytes)!).toString()).toBe(quads);
  expect(repacked(packQuads(quads))).toBeUndefined();
  expect(quads).toBe(
    quadsOf("ark:99999/dataset-1", "A table", [linkTo("ark:99999/software-1", "evi:usedSoftware")]),
  );
});

test("an unknown coding and damaged data are reported", () => {
  expect(() => unpackQuads(new Uint8Array([9, 1, 2]))).toThrow(/byte 9/);
  const packed = packQuads(ORDINARY.repeat(50));
  expect(() => unpackQuads(packed.subarray(0, -3))).toThrow(/cannot be decoded/);
  expect(() => unpackQuads(Buffer.from("<\xff", "latin1"))).toThrow(/cannot be decoded/);
  expect(() => unpackQuads(Buffer.from("\u0002ark:99999/x\u0001?\u0005~", "latin1"))).toThrow(
    /damaged/,
  );
});
