import * as fc from "fast-check";
import { expect, test } from "vitest";
import { packQuads, unpackQuads } from "../../../src/stores/records/quads-codec.js";
import { linkTo, quadsOf } from "../../conformance/records/fixtures.js";

test("quads come back as they were packed, whatever their length", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.nat(3000), (text, times) => {
    const quads = text.repeat(times);
    expect(unpackQuads(packQuads(quads))).toBe(quads);
  }), { numRuns: 60 });
});

test("quads of an ordinary record take a fifth of their text", () => {
  const ark = "ark:99999/dataset-temperatures-4m2x";
  const quads = quadsOf(ark, "Temperatures of the cellar", ["ark:99999/software-1", "ark:99999/dataset-2", "ark:99999/dataset-3", "ark:99999/dataset-4"].map((target) => linkTo(target)));
  expect(packQuads(quads).length).toBeLessThan(quads.length / 4);
});

test("quads that earlier versions stored can be read", () => {
  // Packed with the first dictionary; if this fails, the dictionary was changed and every stored graph is lost.
  expect(unpackQuads(Buffer.from(PACKED_BY_1, "base64"))).toBe(quadsOf("ark:99999/dataset-1", "A table", [linkTo("ark:99999/software-1", "evi:usedSoftware")]));
});
const PACKED_BY_1 = "AcMiZIjXH44KJYlJOakoFsEMM8RhCbKJhNIlxHmwprwuSCumq8EWAQA=";

test("a coding that is not known is named", () => {
  expect(() => unpackQuads(new Uint8Array([9, 1, 2]))).toThrow(/coding 9/);
});
