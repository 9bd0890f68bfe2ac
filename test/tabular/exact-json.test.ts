import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactJsonText, parseExactJson } from "../../src/tabular/schema/exact-json.js";
import { parseSchemaText } from "../../src/tabular/schema/table-schema.js";
import { judge } from "./tables.js";

describe("JSON with whole numbers beyond a double", () => {
  it("is read and written with every digit", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
        fc.string(),
        (whole, text) => {
          const source = `{"n":[${whole},1.5,{"t":${JSON.stringify(text)}}]}`;
          const read = parseExactJson(source) as { n: [number | bigint, number, { t: string }] };
          expect(BigInt(read.n[0])).toBe(whole);
          expect([read.n[1], read.n[2].t]).toEqual([1.5, text]);
          const written = parseExactJson(exactJsonText(read, 2));
          expect(written).toEqual(read);
        },
      ),
    );
  });

  it("is the same as JSON.parse for other documents, and for what is none", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        // A double beyond 2^53 is written with digits that are not its own.
        const asDoubles = (_key: string, member: unknown) =>
          typeof member === "bigint" ? Number(member) : member;
        expect(JSON.parse(JSON.stringify(parseExactJson(text), asDoubles))).toEqual(
          JSON.parse(text),
        );
      }),
    );
    for (const text of ["", "[1", "{'a':9007199254740993}", "[09007199254740993]"])
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it("does not take text for a number, whatever it says", () => {
    const text = String.raw`{"a":"#9007199254740993","b":"\u0023\u00235","n":9007199254740993}`;
    expect(parseExactJson(text)).toEqual({
      a: "#9007199254740993",
      b: "##5",
      n: 9007199254740993n,
    });
  });
});

describe("bounds beyond a double", () => {
  it("are compared with every digit of a whole number", async () => {
    const bounds = { type: "integer", minimum: 9007199254740993n, maximum: 9007199254740995n };
    expect(
      await judge(
        bounds,
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "9007199254740996",
      ),
    ).toEqual([
      "9007199254740992 is less than the minimum of 9007199254740993",
      "9007199254740996 is greater than the maximum of 9007199254740995",
    ]);
    expect(
      await judge(
        { type: "integer", enum: [9007199254740993n, 5] },
        "9007199254740993",
        "5",
        "9007199254740992",
      ),
    ).toEqual(["9007199254740992 is not one of [9007199254740993, 5]"]);
    expect(
      await judge(
        { type: "integer", multipleOf: 9007199254740993n },
        "18014398509481986",
        "18014398509481984",
      ),
    ).toEqual(["18014398509481984 is not a multiple of 9007199254740993"]);
  });

  it("are doubles for a column of any numbers, as its cells are", async () => {
    const bounds = { type: "number", minimum: 9007199254740993n, const: 9007199254740993n };
    expect(await judge(bounds, "9007199254740993")).toEqual([]);
  });

  it("are named in full when they cannot be", () => {
    const schema = (property: object) =>
      exactJsonText({ properties: { a: { index: 0, ...property } }, separator: "," });
    expect(() => parseSchemaText(schema({ type: "string", maxLength: 9007199254740993n }))).toThrow(
      "its maxLength must be a whole number from 0, not 9007199254740993",
    );
    expect(() =>
      parseSchemaText(
        schema({ type: "integer", minimum: 9007199254740995n, maximum: 9007199254740993n }),
      ),
    ).toThrow("its minimum 9007199254740995 is above its maximum 9007199254740993");
  });
});
