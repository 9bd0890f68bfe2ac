import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const text = (index: number, rest: object = {}): object => ({
  description: "d",
  index,
  type: "string",
  ...rest,
});
const AB = schemaOf({ a: text(0), b: text(1) }, { header: true });
const STRAY = 'a,b\n1,x\n2,"y\n3,z\n4,w" more\n5,v\n';
const HEADER =
  "the header differs from the schema: column 0 is b, the schema has a; column 1 is a, the schema has b";
const QUOTE =
  "row 1 (line 3), column 1: text follows a closing quote, so rows may be read as one cell: " +
  "double the quotes inside a cell";
const validate = async (table: string, schema: object | string, options = "") => {
  await write("d.csv", table);
  await write("s.json", schema);
  return run(`schema validate --data d.csv --schema s.json ${options}`.trim());
};

describe("schema validate reports what is no error of a row", () => {
  it.each([
    ["HEADER_DIFFERS", "b,a\n1,2\n", HEADER, 1],
    ["HEADER_MISSING", "", "it is empty: the header that the schema states is missing", 1],
    ["STRAY_QUOTE", STRAY, QUOTE, 3],
  ])("%s with its code in every form", async (code, table, message, line) => {
    expect(await validate(table, AB)).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: `arkgraph: d.csv: ${message} (${code})\n`,
    });
    const finding = { file: "d.csv", code, level: "warning", message, line };
    const json = JSON.parse((await validate(table, AB, "--format json")).stdout);
    expect(json).toMatchObject({ findings: [finding], valid: true });
    const ndjson = await validate(table, AB, "--format ndjson");
    expect(JSON.parse(ndjson.stdout)).toEqual(finding);
    const sarif = JSON.parse((await validate(table, AB, "--format sarif")).stdout);
    expect(sarif.runs[0].results).toMatchObject([
      {
        ruleId: code,
        level: "warning",
        locations: [{ physicalLocation: { region: { startLine: line } } }],
      },
    ]);
    const github = await validate(table, AB, "--format github");
    expect(github.stdout).toBe(`::warning file=d.csv,line=${line},title=${code}::${message}\n`);
  });

  it("and with --strict a finding decides the status", async () => {
    for (const [table, code] of [
      ["b,a\n1,2\n", "HEADER_DIFFERS"],
      ["", "HEADER_MISSING"],
      [STRAY, "STRAY_QUOTE"],
    ] as const) {
      const plain = await validate(table, AB, "--strict");
      expect([plain.status, plain.stdout]).toEqual([1, ""]);
      expect(plain.stderr).toContain(`(${code})`);
      const json = await validate(table, AB, "--strict --format json");
      expect([json.status, JSON.parse(json.stdout)]).toMatchObject([
        1,
        { findings: [{ code, level: "error" }], valid: false },
      ]);
      expect(await validate(table, AB, "--strict --quiet")).toEqual({
        status: 1,
        stdout: "",
        stderr: "",
      });
    }
    expect((await validate("a,b\n1,2\n", AB, "--strict")).status).toBe(0);
  });

  it("keywords and formats of the schema without effect", async () => {
    const schema = schemaOf({
      a: text(0, { pattrn: "^y$", not: { const: "x" }, format: "colour", minimum: 1 }),
      b: text(0),
    });
    const { status, stdout } = await validate("x\n", schema, "--format json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout).findings).toMatchObject([
      { file: "s.json", code: "KEYWORD_UNKNOWN" },
      { file: "s.json", code: "KEYWORD_UNKNOWN" },
      { file: "s.json", code: "KEYWORD_WITHOUT_EFFECT" },
      { file: "s.json", code: "FORMAT_UNKNOWN" },
      { file: "s.json", code: "COLUMNS_OVERLAP" },
    ]);
    expect(await validate("x\n", schema, "--strict")).toMatchObject({ status: 1, stdout: "" });
  });

  it("two separators, and keys of the schema that occur twice, as schema check does", async () => {
    const document = JSON.stringify(
      schemaOf({ a: text(0) }, { seperator: ",", separator: ";" }),
    ).replace('"properties":{', '"properties":{"a":{"type":"integer","index":0},');
    const { stdout } = await validate("x\n", document, "--format json");
    expect(JSON.parse(stdout).findings).toMatchObject([
      { code: "SEPARATORS_DIFFER" },
      { code: "KEY_DUPLICATE" },
    ]);
    const checked = await run("schema check s.json");
    expect(checked.status).toBe(1);
    expect(checked.stdout).toContain("error: the key /properties/a occurs twice (line 1)");
  });

  it("a file that cannot be read, in every form for programs", async () => {
    for (const format of ["json", "ndjson", "sarif", "github", "junit", "html"]) {
      const ended = await validate("a,b\n", AB, `none.csv --format ${format}`);
      expect(ended.status).toBe(1);
      expect(ended.stdout).toContain("none.csv");
      expect(ended.stdout).toContain("there is no such file or folder");
    }
  });
});

describe("schema infer", () => {
  it("reports stray quotes", async () => {
    await write("stray.csv", STRAY);
    expect((await run("schema infer stray.csv")).stderr).toBe(
      `arkgraph: stray.csv: detected: separator ",", a header, 3 rows\narkgraph: stray.csv: ${QUOTE}\n`,
    );
  });
});

describe("a pattern of Python", () => {
  it.each([
    ["^a\\Z", "Z here: write $"],
    ["\\Aa$", "A here: write ^"],
  ])("%s is a finding", async (pattern, message) => {
    const schema = schemaOf({ a: text(0, { pattern }) });
    const { stderr } = await validate("a\n", schema);
    expect(stderr).toContain(message);
    expect(stderr).toContain("(PATTERN_OF_PYTHON)");
    await write("s.json", schema);
    expect((await run("schema check s.json")).stdout).toContain(message);
  });

  it("is none where the backslash is a character of the text", async () => {
    const schema = schemaOf({ a: text(0, { pattern: "^a\\\\Z" }) });
    expect((await validate("a\\Z\n", schema)).stderr).toBe("");
  });
});
