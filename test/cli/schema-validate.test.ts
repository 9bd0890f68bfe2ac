import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const validate = (data: string, schema: string, ...more: string[]) =>
  run(["schema", "validate", "--data", data, "--schema", schema, ...more]);

beforeAll(async () => {
  await write(
    "example.json",
    schemaOf({
      experiment: {
        description: "d",
        index: 0,
        valueURL: null,
        type: "string",
        pattern: "^APMS_[0-9]*$",
      },
      gene: {
        description: "d",
        index: 1,
        valueURL: null,
        type: "string",
        pattern: "^[A-Za-z0-9\\-]*$",
      },
      embed: {
        description: "d",
        index: "2::",
        valueURL: null,
        type: "array",
        items: { type: "number" },
      },
    }),
  );
  await write(
    "example.csv",
    "APMS_x,RRS1,1,2,3\nAPMS_2,A B,1,2,3\n3,SNRNP70,1,2,3\nAPMS_4,RPL18A,1,,3\n" +
      "APMS_5,JMJD6,1,two,3,4\n",
  );
  await write("fine.csv", "APMS_1,RRS1,1,2.5,-3e4\nAPMS_2,SNRNP70,1\n");
});

const EXAMPLE =
  `+-----+-----------------+----------------+-------------------------------------------------------+
| row |    error_type   | failed_keyword |                        message                       ` +
  ` |
+-----+-----------------+----------------+-------------------------------------------------------+
|  3  |   ParsingError  |      None      | ValueError: Failed to Parse Attribute embed for Row ` +
  `3 |
|  4  |   ParsingError  |      None      | ValueError: Failed to Parse Attribute embed for Row ` +
  `4 |
|  0  | ValidationError |    pattern     |        'APMS_x' does not match '^APMS_[0-9]*$'       ` +
  ` |
|  1  | ValidationError |    pattern     |        'A B' does not match '^[A-Za-z0-9\\\\-]*$'    ` +
  `   |
|  2  | ValidationError |    pattern     |           '3' does not match '^APMS_[0-9]*$'         ` +
  ` |
+-----+-----------------+----------------+-------------------------------------------------------+
`;

describe("schema validate", () => {
  it("prints the worked example exactly, with status 1", async () => {
    expect(await validate("example.csv", "example.json")).toEqual({
      status: 1,
      stdout: EXAMPLE,
      stderr: "",
    });
  });

  it("prints that the data conform, with status 0", async () => {
    expect(await validate("fine.csv", "example.json")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: "",
    });
  });

  it("reads standard input and gzip like the file itself", async () => {
    const text =
      "APMS_x,RRS1,1,2,3\nAPMS_2,A B,1,2,3\n3,SNRNP70,1,2,3\nAPMS_4,RPL18A,1,,3\n" +
      "APMS_5,JMJD6,1,two,3,4\n";
    await write("example.csv.gz", gzipSync(text));
    expect((await validate("example.csv.gz", "example.json")).stdout).toBe(EXAMPLE);
    expect(
      (await run(["schema", "validate", "--data", "-", "--schema", "example.json"], text)).stdout,
    ).toBe(EXAMPLE);
    expect(
      (await run(["schema", "validate", "--data", "-", "--schema", "example.json"], gzipSync(text)))
        .stdout,
    ).toBe(EXAMPLE);
  });

  it("checks several files, continues after an unreadable one, and names each", async () => {
    const ended = await run(
      "schema validate --data fine.csv --data gone.csv example.csv --schema example.json",
    );
    expect(ended).toEqual({
      status: 1,
      stdout: `fine.csv: Validation Success\nexample.csv:\n${EXAMPLE}`,
      stderr: "arkgraph: gone.csv: there is no such file or folder\n",
    });
  });

  it("prints nothing with --quiet, and sets the status", async () => {
    expect(await validate("example.csv", "example.json", "--quiet")).toEqual({
      status: 1,
      stdout: "",
      stderr: "",
    });
    expect(await validate("fine.csv", "example.json", "--quiet")).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("stops after --max-errors and says so", async () => {
    const { status, stdout, stderr } = await validate(
      "example.csv",
      "example.json",
      "--max-errors",
      "2",
    );
    expect(status).toBe(1);
    expect(stdout.match(/ValidationError/g)).toHaveLength(2);
    expect(stdout).not.toContain("ParsingError");
    expect(stderr).toBe("arkgraph: example.csv: stopped after 2 errors (--max-errors)\n");
  });

  it("counts by property and keyword with --summary", async () => {
    const { stdout } = await validate("example.csv", "example.json", "--summary");
    expect(stdout.slice(EXAMPLE.length)).toBe(`5 rows, 5 errors in 5 rows
+------------+---------+--------+
|  property  | keyword | errors |
+------------+---------+--------+
| experiment | pattern |   2    |
|   embed    |   None  |   2    |
|    gene    | pattern |   1    |
+------------+---------+--------+
`);
  });

  it("reports rows of another width with --strict-columns", async () => {
    const { stdout } = await validate("fine.csv", "example.json", "--strict-columns");
    expect(stdout).toContain(
      "|  1  | ParsingError |      None      | ValueError: Row 1 has 3 columns, the first " +
        "row has 5 |",
    );
  });

  it("prints no colours and no progress where it is not a terminal", async () => {
    const { stdout, stderr } = await validate("example.csv", "example.json");
    expect(stdout + stderr).not.toContain("\u001b");
  });
});

describe("the formats of schema validate", () => {
  it("json contains every error with its place, and the summary", async () => {
    const { status, stdout } = await validate("example.csv", "example.json", "--format", "json");
    const document = JSON.parse(stdout);
    expect(status).toBe(1);
    expect(document).toMatchObject({
      valid: false,
      files: [
        {
          file: "example.csv",
          summary: { rows: 5, errors: 5, parsingErrors: 2, validationErrors: 3 },
        },
      ],
    });
    expect(document.files[0].errors[0]).toEqual({
      row: 3,
      error_type: "ParsingError",
      failed_keyword: null,
      message: "ValueError: Failed to Parse Attribute embed for Row 3",
      property: "embed",
      column: 2,
      line: 4,
      value: "",
      expected: "array of number",
    });
    expect(
      JSON.parse((await validate("fine.csv", "example.json", "--format", "json")).stdout),
    ).toMatchObject({ valid: true, files: [{ errors: [] }] });
  });

  it("ndjson is one object a line in the order of rows", async () => {
    const { stdout } = await validate("example.csv", "example.json", "--format", "ndjson");
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).row),
    ).toEqual([0, 1, 2, 3, 4]);
  });

  it("sarif points at lines", async () => {
    const {
      runs: [{ results }],
      version,
    } = JSON.parse((await validate("example.csv", "example.json", "--format", "sarif")).stdout);
    expect(version).toBe("2.1.0");
    expect(
      results.map(
        ({
          ruleId,
          locations: [{ physicalLocation }],
        }: {
          ruleId: string;
          locations: [{ physicalLocation: { region: { startLine: number } } }];
        }) => [ruleId, physicalLocation.region.startLine],
      ),
    ).toEqual([
      ["ParsingError", 4],
      ["ParsingError", 5],
      ["pattern", 1],
      ["pattern", 2],
      ["pattern", 3],
    ]);
    expect(
      JSON.parse((await validate("fine.csv", "example.json", "--format", "sarif")).stdout).runs[0]
        .results,
    ).toEqual([]);
  });

  it("github is one annotation an error", async () => {
    const { stdout } = await validate("example.csv", "example.json", "--format", "github");
    expect(stdout.split("\n")[2]).toBe(
      "::error file=example.csv,line=1,title=ValidationError pattern::row 0: 'APMS_x' does " +
        "not match '^APMS_[0-9]*$'",
    );
  });
});

describe("input that schema validate cannot use", () => {
  it.each([
    [
      "a missing data file",
      ["gone.csv", "example.json"],
      "gone.csv: there is no such file or folder",
    ],
    ["a folder as data", [".", "example.json"], ".: it is a folder, not a file"],
    ["a missing schema", ["fine.csv", "gone.json"], "gone.json: there is no such file or folder"],
    ["a folder as schema", ["fine.csv", "."], ".: it is a folder, not a file"],
    [
      "an unknown ARK",
      ["fine.csv", "ark:59852/schema-no-such"],
      "ark:59852/schema-no-such: no packaged schema has this identifier; arkgraph schema " +
        "list shows all packaged schemas",
    ],
    [
      "a packaged schema without separator",
      ["fine.csv", "ark:59852/schema-cm4ai-hierarchy-cx"],
      "ark:59852/schema-cm4ai-hierarchy-cx: the schema gives no separator, so no table can " +
        "be checked against it",
    ],
  ])("%s: one line and status 1", async (_what, [data, schema], message) => {
    expect(await validate(data!, schema!)).toEqual({
      status: 1,
      stdout: "",
      stderr: `arkgraph: ${message}\n`,
    });
  });

  it.each([
    ["malformed JSON", "{", /the schema is not JSON: .+/],
    [
      "a bad regular expression",
      schemaOf({ a: { type: "string", index: 0, pattern: "(" } }),
      /property a: its pattern \( is not a regular expression: .+/,
    ],
    [
      "a slice that makes no sense",
      schemaOf({ a: { type: "array", index: "2:", items: { type: "number" } } }),
      /property a: its index 2: is not a slice: .+/,
    ],
    [
      "a negative index",
      schemaOf({ a: { type: "string", index: -1 } }),
      /property a: its index -1 is not a column: .+/,
    ],
    [
      "an unknown type",
      schemaOf({ a: { type: "date", index: 0 } }),
      /property a: its type must be .+/,
    ],
    [
      "an array without items",
      schemaOf({ a: { type: "array", index: "0::" } }),
      /property a: an array needs items .+/,
    ],
    [
      "a bound that is text",
      schemaOf({ a: { type: "number", index: 0, minimum: "0" } }),
      /property a: its minimum must be a number, not "0"/,
    ],
  ])("a schema with %s: one line naming the place", async (_what, schema, message) => {
    await write("bad.json", schema);
    const ended = await validate("fine.csv", "bad.json");
    expect(ended.status).toBe(1);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toMatch(new RegExp(`^arkgraph: bad\\.json: ${message.source}\\n$`));
  });

  it.each([
    [
      "UTF-16",
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a,b\n", "utf16le")]),
      "it is UTF-16 text: convert it to UTF-8 first, e.g. iconv -f UTF-16 -t UTF-8",
    ],
    [
      "UTF-16 without a mark",
      Buffer.from("APMS_1,RRS1,1,2\n", "utf16le"),
      "it is UTF-16 text: convert it to UTF-8 first, e.g. iconv -f UTF-16 -t UTF-8",
    ],
    [
      "binary",
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]),
      "it is binary, not a text table",
    ],
    [
      "a workbook",
      Buffer.from("PK\u0003\u0004xxxxxxxxxx"),
      "its zip archive cannot be read: End of central directory record signature not found. " +
        "Either not a zip file, or file is truncated.",
    ],
    [
      "gzip that is cut short",
      gzipSync("APMS_1,RRS1,1\n".repeat(9)).subarray(0, 30),
      "its gzip data is damaged or cut short (unexpected end of file)",
    ],
    [
      "a quoted cell that never closes",
      'APMS_1,RRS1,1\nAPMS_2,"RRS1,1\nAPMS_3,RRS1,1\n',
      "a quoted cell in row 1 (line 2) is never closed",
    ],
    [
      "a NUL far into the file",
      `${"APMS_1,RRS1,1\n".repeat(40_000)}A\0\n`,
      "it holds a NUL byte after row 37449: it is not a text table",
    ],
  ])("data that are %s: one line and status 1", async (_what, content, message) => {
    await write("bad.csv", content);
    const ended = await validate("bad.csv", "example.json");
    expect({ ...ended, stderr: ended.stderr.replace(/row 3\d{4}/, "row 37449") }).toEqual({
      status: 1,
      stdout: "",
      stderr: `arkgraph: bad.csv: ${message}\n`,
    });
  });

  it("bounds rows of a million columns and cells of 100 MB by options that it names", async () => {
    await write("columns.csv", `A,B${",1".repeat(1_000_000)}\n`);
    expect(await validate("columns.csv", "example.json")).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "arkgraph: columns.csv: row 0 (line 1) has more than 250000 columns: raise " +
        "--max-columns if it should\n",
    });
    expect(
      (await validate("columns.csv", "example.json", "--max-columns", "2000000")).stdout,
    ).toContain("'A' does not match");
    await write("cell.csv", Buffer.alloc(20 << 20, "x"));
    expect((await validate("cell.csv", "example.json")).stderr).toBe(
      "arkgraph: cell.csv: column 0 of row 0 (line 1) is longer than 16 MiB: raise " +
        "--max-cell if it should be\n",
    );
    await write("cell.csv", Buffer.alloc(100 << 20, "x"));
    expect((await validate("cell.csv", "example.json")).stderr).toBe(
      "arkgraph: cell.csv: row 0 (line 1) is longer than 32 MiB: raise --max-row if it should be\n",
    );
    await write("cell.csv", `A,"${"x".repeat(40 << 20)}`);
    expect((await validate("cell.csv", "example.json")).stderr).toBe(
      "arkgraph: cell.csv: a quoted cell in row 0 (line 1) is not closed within 32 MiB: " +
        "close it, or raise --max-row if the row is that long\n",
    );
  });

  it("ends a pattern that backtracks exponentially", async () => {
    await write("slow.json", schemaOf({ a: { type: "string", index: 0, pattern: "^(a+)+$" } }));
    await write("slow.csv", `${"a".repeat(60)}!\n`);
    expect(await validate("slow.csv", "slow.json", "--pattern-seconds", "1")).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "arkgraph: slow.csv: the pattern of property a takes too long: make it simpler, or " +
        "raise --pattern-seconds (now 1)\n",
    });
  });

  it("ends with 2 for what the option parser refuses", async () => {
    for (const command of [
      "schema validate --schema example.json",
      "schema validate --data fine.csv",
      "schema validate --data fine.csv --schema example.json --format xml",
      "schema validate --data fine.csv --schema example.json --max-errors 0",
      "schema nothing",
    ]) {
      const ended = await run(command);
      expect([command, ended.status]).toEqual([command, 2]);
    }
  });
});
