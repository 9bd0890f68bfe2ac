import { describe, expect, it } from "vitest";
import { importedDocument } from "../../cli/commands/schema/exchange.js";
import { fromOdcs, parseOdcs, toOdcs } from "../../src/tabular/interchange/odcs.js";
import { yamlText } from "../../src/services/formats/yaml.js";
import { readSchema } from "../../src/tabular/schema/table-schema.js";

const property = (index: number | string, type: unknown, more: object = {}) => ({
  description: `column ${index}`,
  index,
  valueURL: null,
  type,
  ...more,
});

const SCHEMA = {
  "@id": "ark:99999/schema-orders-x",
  name: "orders",
  description: "Orders of a shop",
  separator: ";",
  commentPrefix: "#",
  skipRows: 2,
  header: true,
  missingValues: ["NA"],
  primaryKey: ["day", "id"],
  uniqueKeys: [["id", "code"]],
  foreignKeys: [
    { fields: ["code"], reference: { resource: "codes", fields: ["id"] } },
    { fields: ["id", "code"], reference: { resource: "", fields: ["id", "code"] } },
  ],
  properties: {
    id: property(0, "integer", {
      minimum: 1,
      maximum: 9007199254740993n,
      valueURL: "http://schema.org/id",
    }),
    code: property(1, "string", { pattern: "^[A-Z]+$", minLength: 1, maxLength: 9, unique: true }),
    mail: property(2, "string", { format: "email" }),
    day: property(3, "string", { format: "xsd:date", formatMinimum: "2020-01-01" }),
    when: property(4, "string", { formatPattern: "dd.MM.yyyy HH:mm" }),
    clock: property(5, "string", { format: "xsd:time" }),
    other: property(6, "string", { format: "date-time" }),
    price: property(8, ["number", "null"], {
      missingValues: ["", "-"],
      decimalChar: ",",
      groupChar: ".",
      exclusiveMinimum: 0,
      multipleOf: 0.01,
      specialValues: ["NaN"],
    }),
    state: property(9, "string", { enum: ["open", "no"] }),
    good: property(10, "boolean", { trueValues: ["yes"], falseValues: ["no"] }),
    vector: property("11::", "array", {
      minItems: 2,
      uniqueItems: true,
      items: { type: "number", minimum: 0 },
    }),
  },
  required: [
    "id",
    "code",
    "mail",
    "day",
    "when",
    "clock",
    "other",
    "price",
    "state",
    "good",
    "vector",
  ],
};

const imported = (text: string): { notes: string[]; document: unknown } => {
  const notes: string[] = [];
  const [table] = fromOdcs(parseOdcs(text), (note) => notes.push(note));
  return { notes, document: importedDocument(table!.table, {}, "t") };
};

const contract = (properties: object[], more: object = {}): string =>
  JSON.stringify({
    apiVersion: "v3.1.0",
    kind: "DataContract",
    id: "c",
    version: "1.0.0",
    status: "active",
    schema: [{ name: "t", properties, ...more }],
  });

describe("a data contract", () => {
  it("carries a schema without loss", () => {
    const notes: string[] = [];
    const text = yamlText(toOdcs(readSchema(SCHEMA), "orders.csv", (note) => notes.push(note)));
    expect(notes).toEqual([]);
    expect(text).toContain("physicalName: orders.csv");
    expect(imported(text)).toMatchObject({ notes: [], document: SCHEMA });
  });

  it("says what its quality rules, types and options mean here", () => {
    const { notes, document } = imported(
      contract([
        { name: "a", logicalType: "integer", primaryKey: true },
        {
          name: "b",
          logicalType: "number",
          quality: [
            { metric: "nullValues", mustBe: 0 },
            { metric: "duplicateValues", mustBe: 0 },
          ],
        },
        {
          name: "c",
          logicalType: "string",
          quality: [
            { metric: "missingValues", mustBe: 0, arguments: { missingValues: ["", "n/a"] } },
          ],
        },
        { name: "d", logicalType: "object" },
        { name: "e" },
        { name: "f", logicalType: "date" },
        {
          name: "g",
          logicalType: "array",
          logicalTypeOptions: { minItems: 3, maxItems: 3 },
          items: { logicalType: "integer", required: true },
        },
        { name: "h", logicalType: "boolean", required: true, relationships: [{ to: "o.id" }] },
      ]),
    );
    expect(notes).toEqual(["d: a column of the type object has no counterpart and is left out"]);
    expect(document).toMatchObject({
      primaryKey: ["a"],
      foreignKeys: [{ fields: ["h"], reference: { resource: "o", fields: ["id"] } }],
      separator: ",",
      header: true,
      properties: {
        a: { index: 0, type: "integer" },
        b: { index: 1, type: "number", unique: true },
        c: { index: 2, type: "string", missingValues: ["", "n/a"] },
        e: { index: 4, type: "string" },
        f: { index: 5, type: ["string", "null"], format: "xsd:date" },
        g: { index: "6:9", type: "array", minItems: 3, maxItems: 3, items: { type: "integer" } },
        h: { index: 9, type: "boolean" },
      },
    });
  });

  it("may have formats, lists of objects and keys that are not known here", () => {
    const { notes, document } = imported(
      contract([
        { name: "a", logicalType: "timestamp", logicalTypeOptions: { format: "yyyy QQ" } },
        { name: "b", logicalType: "array", items: { logicalType: "object" } },
        { name: "c", logicalType: "object", primaryKey: true },
      ]),
    );
    expect(notes).toEqual([
      "a: the format yyyy QQ has no counterpart: its cells are text",
      "b: a column of the type array has no counterpart and is left out",
      "c: a column of the type object has no counterpart and is left out",
      "the key of c is left out: not all are columns here",
    ]);
    expect(document).toMatchObject({ properties: { a: { type: "string" } } });
  });

  it("names what has no counterpart", () => {
    const { notes } = imported(
      contract(
        [
          {
            name: "a",
            logicalType: "integer",
            tags: ["x"],
            logicalTypeOptions: { format: "i32" },
            quality: [{ metric: "nullValues", mustBeLessThan: 5, unit: "percent" }],
          },
        ],
        { quality: [{ metric: "rowCount", mustBe: 3 }], tags: ["y"] },
      ),
    );
    expect(notes.map((note) => note.replace(/ (has|is|are) .*/, ""))).toEqual([
      "tags",
      "a: tags",
      "a: the rule of quality nullValues",
      "a: logicalTypeOptions.format",
      "the rule of quality rowCount",
    ]);
  });

  it.each([
    ["kind: Other\n", "it is no data contract"],
    ["kind: DataContract\napiVersion: v2.2.2\n", "its apiVersion is v2.2.2"],
    ["kind: DataContract\napiVersion: v3.1.0\n", "its schema has no tables"],
    ["a: [", "it is not YAML"],
    [
      "a: &a [1]\nb: &b [*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
      "it is not YAML",
    ],
  ])("%j is refused", (text, message) => {
    expect(() => fromOdcs(parseOdcs(text), () => {})).toThrow(message);
  });
});
