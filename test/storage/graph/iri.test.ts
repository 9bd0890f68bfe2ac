import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { iriTerm, isIri } from "../../../src/storage/graph/port.js";

describe("an identifier in a query", () => {
  it("is written between angle brackets unchanged", () => {
    expect(iriTerm("ark:99999/é#genid-1")).toBe("<ark:99999/é#genid-1>");
    expect(iriTerm("http://[::1]/x?y=%20")).toBe("<http://[::1]/x?y=%20>");
  });

  it("is refused when it could end the brackets or is no IRI", () => {
    for (const text of [
      "",
      "a",
      "ark:1/a b",
      "ark:1/a> } DROP ALL #",
      "ark:1/a\n",
      "ark:1/\\u003e",
      'ark:1/"',
      "ark:1/{",
      "ark:1/\ud800",
      "<ark:1/a",
      "ark:1/\0",
    ]) {
      expect(isIri(text), text).toBe(false);
      expect(() => iriTerm(text)).toThrow(expect.objectContaining({ status: 400 }) as Error);
    }
  });

  it("never contains a character with a meaning for the parser", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(isIri(`ark:99999/${text}`));
        expect(iriTerm(`ark:99999/${text}`).slice(1, -1)).not.toMatch(/[\0-\x20<>"{}|^`\\]/);
      }),
    );
  });
});
