import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBoundedJson } from "../../../src/model/json/read.js";
import { countValues, measureJson } from "../../../src/model/json/scan.js";

/** Keys and values of a parsed text, each counted once. */
function held(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const inner: number = Object.values(value).reduce<number>((sum, member) => sum + held(member), 0);
  return 1 + inner + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

describe("counting the values of a JSON text", () => {
  it(
    "returns the number of its keys and values, whatever its strings contain and however " +
      "it is spaced",
    () => {
      const text = fc.oneof(
        fc.string(),
        fc.stringMatching(/^[\\\\"[\]{},: ]{0,80}$/),
        fc.string({ minLength: 30, maxLength: 120 }),
      );
      const { value } = fc.letrec((tie) => ({
        value: fc.oneof(
          { depthSize: "small" },
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          text,
          fc.array(tie("value")),
          fc.dictionary(text, tie("value")),
        ),
      }));
      fc.assert(
        fc.property(value, fc.constantFrom(undefined, 2, "\t"), (json, space) => {
          const written = JSON.stringify(json, null, space);
          expect(countValues(Buffer.from(written), Infinity)).toBe(held(JSON.parse(written)));
        }),
        { numRuns: 2_000 },
      );
    },
  );
  it("stops at the limit, also in a text that is no JSON", () => {
    for (const text of [
      `[${"1,".repeat(1_000)}1]`,
      ",".repeat(1_000),
      "[".repeat(1_000),
      `{${'"a":1,'.repeat(600)}`,
    ])
      expect(countValues(Buffer.from(text), 100), text.slice(0, 10)).toBe(101);
    expect(countValues(Buffer.from(`"${"[,".repeat(1_000)}"`), 100)).toBe(1);
    expect(countValues(Buffer.from('"never ends'), 100)).toBe(1);
  });
});

describe("text that nests too deep", () => {
  it("is cut at the first bracket beyond the limit, whatever follows", () => {
    const deep = Buffer.from(`{"a":${"[".repeat(5)}${"1,".repeat(10_000)}`);
    expect(measureJson(deep, 20, 3)).toEqual({ values: 5, tooDeep: 7 });
    expect(measureJson(Buffer.from('[[1],[{"a":"]]]"}]]'), 100, 3).tooDeep).toBeUndefined();
    const { problems, tooMany } = parseBoundedJson(Buffer.from(`{"a":${"[".repeat(100_000)}`), {
      maxDepth: 200,
      maxValues: 20_000,
    });
    expect([tooMany, problems.map(({ code }) => code)]).toEqual([false, ["too_deep"]]);
  });
});
