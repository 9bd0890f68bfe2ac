import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inferTable } from "../../src/tabular/infer.js";
import { isCode, isNumber } from "../../src/tabular/rules/notation.js";
import { judge, parts } from "./tables.js";

const inferred = async (...cells: string[]) => {
  const { properties, notes } = await inferTable(parts(Buffer.from(`v\n${cells.join("\n")}\n`)), {
    table: { header: true },
  });
  return { type: properties["v"]!.type, notes };
};

describe("the inferred datatype of a column", () => {
  it.each([
    ["a leading zero", ["1", "004"]],
    ["two zeros", ["00"]],
    ["more digits than 64 bits hold", ["12345678901234567890"]],
    ["the same below zero", ["-9223372036854775809"]],
    ["a telephone number", ["+4930123456"]],
    ["a leading zero behind a sign", ["-01"]],
    ["a leading zero before decimals", ["1.5", "00.5"]],
    ["an identifier with an E", ["1E5", "2310009E13"]],
    ["blanks around a leading zero", [" 007 "]],
  ])("is string for numerals with %s, and a note says why", async (_, cells) => {
    expect(await inferred(...cells)).toEqual({
      type: "string",
      notes: [
        "column 0 (v) holds numerals with leading zeros, or others of which a number would lose a " +
          "part: it is described as string",
      ],
    });
  });

  it.each([
    ["integer", ["0", "-0", "10", "+5", "9223372036854775807", "-9223372036854775808"]],
    ["number", ["0.5", "-0.25", ".5", "0", "1e-05", "2.5E7", "1E+16"]],
    ["string", ["007", "x"]],
    ["boolean", ["true"]],
  ])("is %s for others, without a note", async (type, cells) => {
    expect(await inferred(...cells)).toEqual({ type, notes: [] });
  });

  it("is a number only for numerals that keep their digits as one", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[+-]?[0-9]{1,25}$/), (text) => {
        const bytes = Buffer.from(text);
        expect(isNumber(bytes, 0, bytes.length)).toBe(true);
        if (isCode(bytes, 0, bytes.length)) return;
        const plain = text.replace("+", "");
        // Zero has no sign.
        expect(String(BigInt(plain)).replace("-", "")).toBe(plain.replace("-", ""));
        expect(BigInt.asIntN(64, BigInt(plain))).toBe(BigInt(plain));
      }),
    );
  });

  it("does not change what a stated integer may be", async () => {
    expect(
      await judge({ type: "integer" }, "004", "-01", "12345678901234567890", "+4930123456"),
    ).toEqual([]);
  });
});
