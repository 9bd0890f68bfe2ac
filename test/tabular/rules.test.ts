import { describe, expect, it } from "vitest";
import { check, judge, lines, schemaWith } from "./tables.js";

const FAILED = "ValueError: Failed to Parse Attribute v for Row ";
/** Which of these cells convert. */
const converts = async (type: string, ...cells: string[]): Promise<string[]> => {
  const failed = new Set(
    (await judge({ type }, ...cells)).map((message) => Number(message.slice(FAILED.length))),
  );
  return cells.filter((_, row) => !failed.has(row));
};

describe("cells become values", () => {
  it("an integer is an optional sign and digits; surrounding spaces do not count", async () => {
    const good = ["0", "7", "-7", "+7", "007", " 7 ", "99999999999999999999"];
    expect(
      await converts(
        "integer",
        ...good,
        "",
        " ",
        "1.0",
        "1e3",
        "1_0",
        "0x1",
        "--1",
        "+",
        "1 2",
        "٣",
        '"1""0"',
      ),
    ).toEqual(good);
  });

  it("a number is a decimal with or without exponent and nothing else", async () => {
    const good = [
      "1",
      "-1.5",
      "+.5",
      "5.",
      "1e3",
      "1E-3",
      "-0",
      " 2.5 ",
      "123456789.123456789123456789",
      "1e308",
    ];
    expect(
      await converts(
        "number",
        ...good,
        "",
        ".",
        "e3",
        "1e",
        "1e+",
        "nan",
        "inf",
        "Infinity",
        "1_0",
        "0x1",
        "1,5",
        "1e999",
        `1${"0".repeat(400)}`,
      ),
    ).toEqual(good);
  });

  it("a boolean is true or false in any case", async () => {
    const good = ["true", "TRUE", "False", "fAlSe"];
    expect(
      await converts("boolean", ...good, "", "1", "0", "t", "yes", " true", "truE ", "TrUF"),
    ).toEqual(good);
  });

  it("a string is any cell, the empty one too", async () => {
    expect(await judge({ type: "string" }, "a", "", " ", "é")).toEqual([]);
  });

  it(
    "a column that the row does not have is an IndexError; columns without property are " +
      "ignored",
    async () => {
      const { errors } = await check(
        "1,x,y\n\n2\n",
        schemaWith({ a: { type: "string", index: 0 }, b: { type: "string", index: 1 } }),
      );
      expect(lines(errors)).toEqual([
        "1 ParsingError IndexError: Failed to Parse Attribute b for Row 1",
        "2 ParsingError IndexError: Failed to Parse Attribute b for Row 2",
      ]);
    },
  );

  it("an array takes the existing columns, and one element that does not convert fails it", async () => {
    const schema = schemaWith({
      open: { type: "array", index: "1::", items: { type: "integer" } },
      start: { type: "array", index: "::1", items: { type: "string" } },
      middle: { type: "array", index: "1:3", items: { type: "number" } },
    });
    expect(lines((await check("a,1,2,3\nb\nc,1,x,3\nd,1,2,x\n", schema)).errors)).toEqual([
      "2 ParsingError ValueError: Failed to Parse Attribute open for Row 2",
      "2 ParsingError ValueError: Failed to Parse Attribute middle for Row 2",
      "3 ParsingError ValueError: Failed to Parse Attribute open for Row 3",
    ]);
  });

  it("a column of type null is ignored", async () => {
    expect(
      (
        await check(
          "a\n",
          schemaWith({ a: { type: "null", index: 7 }, b: { type: "string", index: 0 } }),
        )
      ).errors,
    ).toEqual([]);
  });
});

describe("keywords", () => {
  it.each([
    [
      "pattern, found anywhere",
      { type: "string", pattern: "b+" },
      ["abbc", "ac"],
      ["'ac' does not match 'b+'"],
    ],
    [
      "maxLength, in code points",
      { type: "string", maxLength: 2 },
      ["🧬🧬", "abc", "🧬🧬🧬"],
      ["'abc' is too long", "'🧬🧬🧬' is too long"],
    ],
    [
      "minLength, in code points",
      { type: "string", minLength: 2 },
      ["ab", "🧬", "", "🧬🧬"],
      ["'🧬' is too short", "'' is too short"],
    ],
    ["format", { type: "string", format: "email" }, ["a@b.org", "a"], ["'a' is not a 'email'"]],
    [
      "hosts of any script",
      { type: "string", format: "idn-hostname" },
      ["bücher.example", "a·l.example", "-a.example", "a.".repeat(126) + "aé"],
      [
        "'a·l.example' is not a 'idn-hostname'",
        "'-a.example' is not a 'idn-hostname'",
        `'${"a.".repeat(126)}aé' is not a 'idn-hostname'`,
      ],
    ],
    [
      "mailboxes of any script",
      { type: "string", format: "idn-email" },
      ["jürgen@bücher.example", "jürgen", "a b@c.example", "a@-.example"],
      [
        "'jürgen' is not a 'idn-email'",
        "'a b@c.example' is not a 'idn-email'",
        "'a@-.example' is not a 'idn-email'",
      ],
    ],
    [
      "addresses of any script",
      { type: "string", format: "iri" },
      ["https://example.org/ä?q=ü", "/ä", "https://example.org/ä b"],
      ["'/ä' is not a 'iri'", "'https://example.org/ä b' is not a 'iri'"],
    ],
    [
      "relative addresses of any script",
      { type: "string", format: "iri-reference" },
      ["/ä", "#ä", "ä b"],
      ["'ä b' is not a 'iri-reference'"],
    ],
    ["a format that nobody knows judges nothing", { type: "string", format: "colour" }, ["a"], []],
    [
      "enum of text",
      { type: "string", enum: ["a", "b"] },
      ["a", "c"],
      ["'c' is not one of ['a', 'b']"],
    ],
    ["const of text", { type: "string", const: "a" }, ["a", "c"], ["'a' was expected"]],
    [
      "minimum and maximum of integers",
      { type: "integer", minimum: 2, maximum: 4 },
      ["2", "4", "1", "+5"],
      ["1 is less than the minimum of 2", "5 is greater than the maximum of 4"],
    ],
    [
      "minimum and maximum of numbers",
      { type: "number", minimum: 2, maximum: 4.5 },
      ["2", "4.50", "1", "5e0"],
      ["1.0 is less than the minimum of 2.0", "5.0 is greater than the maximum of 4.5"],
    ],
    [
      "bounds that exclude",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 2 },
      ["1", "0", "2"],
      [
        "0 is less than or equal to the minimum of 0",
        "2 is greater than or equal to the maximum of 2",
      ],
    ],
    [
      "integers beyond 2^53, digit by digit",
      { type: "integer", maximum: 9007199254740992 },
      ["9007199254740992", "9007199254740993"],
      ["9007199254740993 is greater than the maximum of 9007199254740992"],
    ],
    [
      "multipleOf, in decimals",
      { type: "number", multipleOf: 0.1 },
      ["0.3", "-1.1", "0.35", "1e3"],
      ["0.35 is not a multiple of 0.1"],
    ],
    [
      "enum of numbers",
      { type: "number", enum: [1, 2.5] },
      ["1.0", "2.50", "3"],
      ["3.0 is not one of [1.0, 2.5]"],
    ],
    [
      "const of truth values",
      { type: "boolean", const: true },
      ["TRUE", "false"],
      ["True was expected"],
    ],
    [
      "a keyword of another type judges nothing",
      { type: "integer", pattern: "x", minLength: 9 },
      ["1"],
      [],
    ],
    [
      "a keyword that is null counts as absent",
      { type: "string", pattern: null, maxLength: null, enum: null, const: null },
      ["a"],
      [],
    ],
  ])("%s", async (_what, property, cells, messages) => {
    expect(await judge(property, ...cells)).toEqual(messages);
  });

  it.each([
    ["minItems", { minItems: 1 }, ["a", "a,1"], ["[] should be non-empty"]],
    [
      "minItems of more",
      { minItems: 2 },
      ["a", "a,1", "a,1,2"],
      ["[] is too short", "[1.0] is too short"],
    ],
    ["maxItems", { maxItems: 1 }, ["a,1", "a,1,2"], ["[1.0, 2.0] is too long"]],
    [
      "uniqueItems, by value",
      { uniqueItems: true },
      ["a,1,2", "a,1,1.0"],
      ["[1.0, 1.0] has non-unique elements"],
    ],
    ["enum", { enum: [[1, 2]] }, ["a,1,2", "a,2"], ["[2.0] is not one of [[1.0, 2.0]]"]],
    [
      "items, by the first element",
      { items: { type: "number", maximum: 1 } },
      ["a,1", "a,0,2,3"],
      ["2.0 is greater than the maximum of 1.0 (element 1)"],
    ],
    [
      "patterns of items",
      { items: { type: "string", pattern: "^x", maxLength: 2 } },
      ["a,x", "a,x,y,xyz"],
      ["'y' does not match '^x' (element 1)", "'xyz' is too long (element 2)"],
    ],
  ])("of arrays: %s", async (_what, keywords, rows, messages) => {
    const { errors } = await check(
      `${rows.join("\n")}\n`,
      schemaWith({ v: { type: "array", index: "1::", items: { type: "number" }, ...keywords } }),
    );
    expect(errors.map(({ message }) => message)).toEqual(messages);
  });

  it("report by property name in code points, and within a property in the contract's order", async () => {
    const text = { type: "string", index: 0, pattern: "^x", maxLength: 1, format: "date" };
    const schema = schemaWith(
      {
        "\u{1F9EC}": text,
        b: { type: "integer", index: 1, minimum: 9, maximum: 9, multipleOf: 5 },
        B: text,
        "\uFF5A": text,
      },
      { required: ["B", "c"] },
    );
    const { errors } = await check("abc,3\n", schema);
    expect(errors.map(({ kind: { property, keyword } }) => `${property} ${keyword}`)).toEqual([
      "B pattern",
      "B maxLength",
      "B format",
      "b minimum",
      "b multipleOf",
      "c required",
      "\uFF5A pattern",
      "\uFF5A maxLength",
      "\uFF5A format",
      "\u{1F9EC} pattern",
      "\u{1F9EC} maxLength",
      "\u{1F9EC} format",
    ]);
    expect(errors[5]!.message).toBe("'c' is a required property");
  });

  it(
    "are not applied to a row that does not convert; every failing property is named, in " +
      "the schema's order",
    async () => {
      const schema = schemaWith({
        z: { type: "integer", index: 0 },
        a: { type: "integer", index: 1 },
        m: { type: "string", index: 2, pattern: "^x" },
      });
      expect(lines((await check("q,q,y\n1,2,y\n", schema)).errors)).toEqual([
        "0 ParsingError ValueError: Failed to Parse Attribute z for Row 0",
        "0 ParsingError ValueError: Failed to Parse Attribute a for Row 0",
        "1 pattern 'y' does not match '^x'",
      ]);
    },
  );
});
