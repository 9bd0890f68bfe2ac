import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findBadString } from "../../src/model/strings.js";

describe("findBadString", () => {
  it.each<[unknown, unknown]>([
    ["a\0b", []],
    ["\ud800", []],
    [{ a: [1, { b: "x\udc00" }] }, ["a", 1, "b"]],
    [{ a: { "k\0": 1 } }, ["a", "k\0"]],
    [["ok", "\0"], [1]],
  ])("finds the place in %j", (value, loc) => {
    expect(findBadString(value)).toEqual(loc);
  });

  it.each([["𝄞"], [""], [{}], [[]], [null], [1], [undefined], [{ a: ["b", { c: "d" }] }]])(
    "finds nothing in %j",
    (value) => {
      expect(findBadString(value)).toBeUndefined();
    },
  );

  it("walks a value with a nesting depth of a hundred thousand", () => {
    let value: unknown = "\0";
    for (let depth = 0; depth < 100_000; depth++) value = depth % 2 ? [value] : { a: value };
    expect(findBadString(value)).toHaveLength(100_000);
  });

  it("agrees with a check of every string of the value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.boolean(), (value, spoil) => {
        const whole = spoil ? { value, last: "\0" } : value;
        const bad = (part: unknown): boolean =>
          typeof part === "string"
            ? part.includes("\0") || !part.isWellFormed()
            : typeof part === "object" &&
              part !== null &&
              Object.entries(part).some(([key, member]) => bad(key) || bad(member));
        expect(findBadString(whole) !== undefined).toBe(bad(whole));
      }),
    );
  });
});
