import { describe, expect, it } from "vitest";
import { fromCsvw, toCsvw } from "../../src/tabular/interchange/csvw.js";
import { fromFrictionless, toFrictionless } from "../../src/tabular/interchange/frictionless.js";
import { readSchema } from "../../src/tabular/schema/table-schema.js";
import { readKeyValues } from "../../src/tabular/validate.js";
import { check, judge, lines, parts, schemaWith } from "./tables.js";

/** How many of the cells conform, one by one. */
const conforming = async (property: object, ...cells: string[]): Promise<string[]> => {
  const found: string[] = [];
  for (const cell of cells)
    if (
      (await judge(property, cell, "end of file\n").catch(() => ["?"])).every(
        (m) => !m.includes("Row 0") && !m.includes(`'${cell}'`),
      )
    )
      found.push(cell);
  return found;
};

describe("numbers", () => {
  it.each<[object, string[], string[]]>([
    [
      { type: "number", decimalChar: ",", groupChar: "." },
      ["1,5", "1.234,5", "-7"],
      ["1.5e", "1..2", ".5.", "1,2,3"],
    ],
    [{ type: "integer", groupChar: " " }, ["1 234", "12"], ["1  2", "1.5"]],
    [
      { type: "number", formatPattern: "#,##0.00" },
      ["1,234.50", "0.10"],
      ["1234.50", "12.5", "1.234"],
    ],
    [{ type: "integer", formatPattern: "000" }, ["001", "1234"], ["1"]],
    [{ type: "number", formatPattern: "0.0%" }, ["1.5%"], ["1.55%"]],
    [{ type: "number", specialValues: ["NaN", "INF"] }, ["NaN", "INF", "2"], ["-INF", "nan"]],
  ])("are written as %j says", async (property, good, bad) => {
    expect(await conforming(property, ...good, ...bad)).toEqual(good);
  });

  it("are compared as numbers, whatever they are written with", async () => {
    const property = { type: "number", decimalChar: ",", groupChar: ".", maximum: 1000 };
    expect(await judge(property, "999,5", "1.000,5")).toEqual([
      "1000.5 is greater than the maximum of 1000.0",
    ]);
    expect(await judge({ type: "number", specialValues: ["INF"], maximum: 1 }, "INF")).toHaveLength(
      1,
    );
  });

  it("are the elements of an array, too", async () => {
    const property = { index: "0::", type: "array", items: { type: "number", decimalChar: "," } };
    const schema = schemaWith({ v: property }, { seperator: ";" });
    expect(lines((await check("1,5;2\n1.5;2\n", schema)).errors)).toHaveLength(1);
  });
});

describe("booleans", () => {
  it("are the words that are stated", async () => {
    const property = { type: "boolean", trueValues: ["yes", "ja"], falseValues: ["no"] };
    expect(await judge(property, "yes", "ja", "no", "true", "Yes")).toHaveLength(2);
  });
});

describe("dates and times", () => {
  it.each([
    ["dd.MM.yyyy", ["31.12.2024", "29.02.2024"], ["1.2.2024", "29.02.2023", "31-12-2024"]],
    ["d/M/yy", ["1/2/24", "31/12/99"], ["32/1/24"]],
    [
      "yyyy-MM-ddTHH:mm:ss.SSSX",
      ["2024-01-01T23:59:59.5Z", "2024-01-01T00:00:00.123+01"],
      ["2024-01-01T24:00:00.0Z"],
    ],
    ["HH:mm", ["23:59"], ["24:00", "1:00"]],
  ])("are written as %s says", async (formatPattern, good, bad) => {
    const property = { type: "string", format: "xsd:dateTime", formatPattern };
    expect(await judge(property, ...good)).toEqual([]);
    expect(await judge(property, ...bad)).toEqual(
      bad.map((text) => `'${text}' is not a '${formatPattern}'`),
    );
  });

  it("have the forms of XML Schema", async () => {
    for (const [format, good, bad] of [
      ["xsd:date", ["2024-02-29", "2024-02-29Z", "-0044-03-15"], ["2023-02-29", "2024-2-1"]],
      ["xsd:duration", ["P1Y", "-P1DT2H", "PT1.5S"], ["P", "PT", "1D"]],
      ["xsd:gMonthDay", ["--02-29"], ["--02-30"]],
    ] as const) {
      expect(await judge({ type: "string", format }, ...good)).toEqual([]);
      expect(await judge({ type: "string", format }, ...bad)).toHaveLength(bad.length);
    }
  });

  it("have bounds, in the order of time", async () => {
    const property = {
      type: "string",
      formatPattern: "dd.MM.yyyy",
      formatMinimum: "01.02.2024",
      formatExclusiveMaximum: "01.03.2024",
    };
    expect(await judge(property, "01.02.2024", "29.02.2024", "31.01.2024", "01.03.2024")).toEqual([
      "'31.01.2024' is before the minimum of '01.02.2024'",
      "'01.03.2024' is not before '01.03.2024'",
    ]);
  });
});

describe("keys", () => {
  const text = { index: 0, type: "string" };
  const other = { index: 1, type: "string" };

  it("name a value that occurs twice, and the row it was in", async () => {
    const schema = schemaWith({ a: { ...text, unique: true } }, { missingValues: [""] });
    const { errors } = await check("x\ny\n\nx\n\nz\n", schema);
    expect(lines(errors)).toEqual(["3 unique 'x' is in row 0 too"]);
  });

  it("of several columns are compared as a whole", async () => {
    const schema = schemaWith(
      { a: text, b: other },
      { primaryKey: ["a", "b"], missingValues: [""] },
    );
    const { errors } = await check("x,1\nx,2\nx,1\n,1\n", schema);
    expect(lines(errors)).toEqual([
      `2 primaryKey '["x","1"]' is in row 0 too`,
      "3 primaryKey a cell of the primary key has no value",
    ]);
  });

  it("of another table hold the values of a foreign key", async () => {
    const schema = schemaWith(
      { a: text, b: other },
      {
        foreignKeys: [{ fields: "b", reference: { resource: "", fields: "a" } }],
        missingValues: [""],
      },
    );
    const table = "x,\ny,x\nz,w\n";
    const known = await readKeyValues(parts(Buffer.from(table)), schema, ["a"]);
    const references = new Map([[schema.foreignKeys[0]!, known]]);
    const { errors } = await check(table, schema, { references });
    expect(lines(errors)).toEqual(["2 foreignKeys 'w' is not in a of the table"]);
  });

  it("are remembered up to a limit that is named", async () => {
    const schema = schemaWith({ a: { ...text, unique: true } });
    await expect(check("x\ny\nz\n", schema, { limits: { maxKeys: 2 } })).rejects.toMatchObject({
      code: "LIMIT",
      message: expect.stringContaining("--max-keys") as string,
    });
  });

  it.each([
    [{ primaryKey: ["c"] }, "primaryKey names c, which is no property"],
    [{ primaryKey: 1 }, "primaryKey must be names of properties"],
    [{ foreignKeys: [{ fields: "a" }] }, "needs fields and a reference"],
    [{ uniqueKeys: "a" }, "uniqueKeys must be an array"],
  ])("that are not sound are refused: %j", (keys, message) => {
    expect(() => schemaWith({ a: text }, keys)).toThrow(message);
  });

  it.each([
    [{ type: "string", formatPattern: "jj" }, "is not of dates or times"],
    [{ type: "number", formatPattern: "abc" }, "is not of numbers"],
    [{ type: "number", decimalChar: "ab" }, "must be one character"],
    [{ type: "boolean", trueValues: "x" }, "must be an array of texts"],
  ])("and so are forms of cells: %j", (property, message) => {
    expect(() => schemaWith({ a: { index: 0, ...property } })).toThrow(message);
  });
});

describe("a contract", () => {
  const contract = {
    id: { index: 0, type: "integer", groupChar: "." },
    price: { index: 1, type: "number", decimalChar: ",", minimum: 0 },
    day: {
      index: 2,
      type: "string",
      format: "xsd:date",
      formatPattern: "d.M.yyyy",
      formatMinimum: "1.1.2020",
    },
    paid: { index: 3, type: "boolean", trueValues: ["J"], falseValues: ["N"] },
    kind: { index: 4, type: "string", pattern: "^(?:a|b)$" },
  };
  const properties = Object.fromEntries(
    Object.entries(contract).map(([name, property]) => [
      name,
      { description: "", valueURL: null, ...property },
    ]),
  );
  const keys = {
    primaryKey: ["id"],
    foreignKeys: [{ fields: ["kind"], reference: { resource: "kinds.csv", fields: ["kind"] } }],
  };

  it.each([
    [
      "CSVW",
      (schema: object, note: () => void) =>
        fromCsvw(toCsvw(readSchema(schema), undefined, "a.csv", note), note),
    ],
    [
      "Table Schema",
      (schema: object, note: () => void) =>
        fromFrictionless(toFrictionless(readSchema(schema), undefined, note), note),
    ],
  ])("goes to %s and back without loss", (_format, there) => {
    const lost: unknown[] = [];
    const schema = { properties, ...keys, required: Object.keys(properties), separator: ";" };
    const found = there(schema, (...sentence: unknown[]) => void lost.push(sentence));
    expect(lost).toEqual([]);
    expect(found.keys).toEqual(keys);
    expect(found.properties).toEqual(properties);
  });
});
