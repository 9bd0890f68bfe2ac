import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const about = (index: number | string, type: string, rest: object = {}): object => ({
  description: "d",
  index,
  type,
  ...rest,
});

/** Value and expectation of the first error, from each output for programs. */
async function fieldsOf(table: string, schema: object, options = ""): Promise<unknown> {
  await write("d.csv", table);
  await write("s.json", schema);
  const validate = async (format: string): Promise<string> =>
    (await run(`schema validate --data d.csv --schema s.json --format ${format} ${options}`.trim()))
      .stdout;
  const [first] = (await validate("ndjson")).split("\n");
  const { value, expected } = JSON.parse(first!);
  const json = JSON.parse(await validate("json"));
  expect(json.files[0].errors[0]).toMatchObject({ value, expected });
  const sarif = JSON.parse(await validate("sarif"));
  expect(sarif.runs[0].results[0].properties).toMatchObject({ value, expected });
  return [value, expected];
}

describe("an error has fields for its value and for what was expected", () => {
  it.each([
    ["a datatype", { a: about(0, "integer") }, "x y\n", "x y", "integer"],
    [
      "an array",
      { a: about("0::", "array", { items: { type: "number" } }) },
      "1,x\n",
      "x",
      "array of number",
    ],
    ["a missing column", { a: about(1, "number") }, "1\n", null, "number"],
    [
      "a pattern",
      { a: about(0, "string", { pattern: "^[a-z]+$" }) },
      '"A\tb\n"""\n',
      'A\tb\n"',
      "^[a-z]+$",
    ],
    ["a bound", { a: about(0, "number", { minimum: 1 }) }, " 0.50\n", " 0.50", "1"],
    ["an enumeration", { a: about(0, "string", { enum: ["a", "b"] }) }, "c\n", "c", '["a","b"]'],
    [
      "a format",
      { a: about(0, "string", { formatPattern: "dd.MM.yyyy" }) },
      "x\n",
      "x",
      "dd.MM.yyyy",
    ],
    [
      "an element",
      { a: about("0::", "array", { items: { type: "integer", maximum: 3 } }) },
      "1,4\n",
      "4",
      "3",
    ],
    [
      "elements together",
      { a: about("0::", "array", { items: { type: "integer" }, maxItems: 1 }) },
      "1,4\n",
      "[1,4]",
      "1",
    ],
    [
      "a unique column",
      { a: about(0, "string", { unique: true }) },
      "a\na\n",
      "a",
      "no value twice",
    ],
  ])("%s", async (_title, properties, table, value, expected) => {
    expect(await fieldsOf(table, schemaOf(properties))).toEqual([value, expected]);
  });

  it("a missing value, and a row of another length", async () => {
    const schema = schemaOf({ a: about(0, "string", { missingValues: ["NA"] }) });
    expect(await fieldsOf("NA\n", schema)).toEqual(["NA", "a value"]);
    expect(await fieldsOf("a\na,b\n", schema, "--strict-columns")).toEqual([
      null,
      "the number of columns of the first row",
    ]);
  });

  it("both are cut when they are long, between characters", async () => {
    const words = Array.from({ length: 100 }, (_, index) => `word${index}`);
    const schema = schemaOf({ a: about(0, "string", { enum: words }) });
    const [value, expected] = (await fieldsOf(`${"😀".repeat(500)}\n`, schema)) as string[];
    expect(value).toBe(`${"😀".repeat(99)}…`);
    expect(expected).toMatch(/^\["word0",.{180,}…$/);
    expect(expected).toHaveLength(200);
  });
});
