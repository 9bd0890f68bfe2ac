import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const { run, write } = folder;
const latin = (text: string): Buffer => Buffer.from(text, "latin1");

describe("schema infer", () => {
  it("reports ragged rows: how many columns they have, and where the first one is", async () => {
    await write("ragged.csv", "gene,score,reads\nA,1,2\nB,1\nC,1,2,3\n");
    const { status, stdout, stderr } = await run("schema infer ragged.csv");
    expect(status).toBe(0);
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(["gene", "score"]);
    expect(stderr).toBe(
      'arkgraph: ragged.csv: detected: separator ",", a header, 3 rows\n' +
        "arkgraph: ragged.csv: rows have 2 to 4 columns, the header has 3: the first other " +
        "one is row 1 (line 3); columns from 2 on are not described\n",
    );
  });

  it("does not read named columns as one array because a row is ragged", async () => {
    await write("named.csv", "a,b,c\n1,2,3\n1,2\n");
    const { stdout, stderr } = await run("schema infer named.csv");
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(["a", "b"]);
    expect(stderr).toContain(
      "rows have 2 to 3 columns, the header has 3: the first other one is row 1 (line 3)",
    );
  });

  it("reports a header with another number of columns than all rows", async () => {
    await write("rownames.csv", "gene,score\n1,A,0.5\n2,B,0.7\n");
    expect((await run("schema infer rownames.csv --header true")).stderr).toBe(
      'arkgraph: rownames.csv: detected: separator ",", a header, 2 rows\n' +
        "arkgraph: rownames.csv: rows have 3 columns, the header has 2\n",
    );
  });

  it("reports ragged vectors, which an array describes", async () => {
    const { stdout, stderr } = await run("schema infer -", "A 1,0.5,2,3\nB 2,0.25,1\nC,1,2,4\n");
    expect(JSON.parse(stdout).properties.values).toMatchObject({ type: "array", index: "1::" });
    expect(stderr).toBe(
      'arkgraph: standard input: detected: separator ",", no header, 3 rows\n' +
        "arkgraph: standard input: rows have 3 to 4 columns, most have 4: the first other one " +
        "is row 1 (line 2)\n",
    );
  });

  it("reports nothing about rows of equal length", async () => {
    await write("alike.csv", "a,b\n1,x\n2,y\n");
    expect((await run("schema infer alike.csv")).stderr).toBe(
      'arkgraph: alike.csv: detected: separator ",", a header, 2 rows\n',
    );
  });
});

describe("schema validate", () => {
  it("warns when the header differs from the names in the schema, and still validates the rows", async () => {
    const schema = schemaOf(
      {
        gene: { description: "d", index: 0, type: "string" },
        score: { description: "d", index: 1, type: "number" },
        reads: { description: "d", index: 3, type: "integer" },
      },
      { header: true },
    );
    await write("schema.json", schema);
    await write("other.csv", "gene,points,note,count\nA,1,x,2\n");
    expect(await run("schema validate --data other.csv --schema schema.json")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr:
        "arkgraph: other.csv: the header differs from the schema: column 1 is points, the " +
        "schema has score; column 3 is count, the schema has reads (HEADER_DIFFERS)\n",
    });
    expect(
      (await run("schema validate --data other.csv --schema schema.json --quiet")).stderr,
    ).toBe("");
    await write("same.csv", "gene, score ,note,reads\nA,1,x,2\n");
    expect((await run("schema validate --data same.csv --schema schema.json")).stderr).toBe("");
  });

  it("does not warn about the data that a schema was inferred from", async () => {
    await write("twice.csv", "a,a,,b\n1,2,3,x\n");
    await run("schema infer twice.csv --output twice.json --header true");
    expect(await run("schema validate --data twice.csv --schema twice.json")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: "",
    });
  });

  it("names at most ten of the columns that differ", async () => {
    const names = Array.from({ length: 30 }, (_, at) => `c${at}`);
    await write(
      "many.json",
      schemaOf(
        Object.fromEntries(
          names.map((name, index) => [name, { description: "d", index, type: "string" }]),
        ),
        { header: true },
      ),
    );
    await write(
      "many.csv",
      `${names.map((name) => name.toUpperCase()).join(",")}\n${names.join(",")}\n`,
    );
    const { stderr } = await run("schema validate --data many.csv --schema many.json");
    expect(stderr.match(/the schema has/g)).toHaveLength(10);
    expect(stderr).toMatch(/; and 20 more \(HEADER_DIFFERS\)\n$/);
  });
});

describe("text that is not UTF-8", () => {
  const schema = schemaOf(
    { name: { description: "d", index: 0, type: "string", pattern: "^[A-Za-zéü]+$" } },
    { header: true },
  );
  const table = "name\nAnna\nJosé\nMüller\n";

  it("is refused with the place and the fix", async () => {
    await write("latin.json", schema);
    await write("latin.csv", latin(table));
    const validated = await run("schema validate --data latin.csv --schema latin.json");
    const said =
      "arkgraph: latin.csv: row 1 (line 3), column 0 (name): byte 0xE9 is not UTF-8: if it is " +
      "Latin-1 (“José”), give --encoding latin1\n";
    expect([validated.status, validated.stderr]).toEqual([1, said]);
    const inferred = await run("schema infer latin.csv --header true");
    expect([inferred.status, inferred.stderr]).toEqual([1, said]);
  });

  it.each([
    ["latin1", latin(table)],
    ["latin-1", latin(table)],
    ["windows-1252", latin(table)],
    ["utf-16le", Buffer.from(table, "utf16le")],
    ["utf-8", Buffer.from(table)],
    ["latin1", gzipSync(latin(table))],
  ])("is read by --encoding %s", async (encoding, bytes) => {
    await write("encoded.csv", bytes);
    expect(
      await run(`schema validate --data encoded.csv --schema latin.json --encoding ${encoding}`),
    ).toEqual({ status: 0, stdout: "Validation Success\n", stderr: "" });
    const { stdout, stderr } = await run([
      "schema",
      "infer",
      "encoded.csv",
      "--encoding",
      encoding,
      "--header",
      "true",
    ]);
    expect([Object.keys(JSON.parse(stdout).properties), stderr]).toEqual([
      ["name"],
      'arkgraph: encoded.csv: detected: separator ",", a header, 3 rows\n',
    ]);
  });

  it("is distinguished from UTF-8 whose characters are split between two chunks of the file", async () => {
    await write(
      "long.csv",
      `name\n${"é".repeat(40)}\n`.padEnd(5, "x") + `${"aé".repeat(400_000)}\n`,
    );
    expect((await run("schema validate --data long.csv --schema latin.json")).stderr).toBe("");
    await write(
      "late.csv",
      Buffer.concat([Buffer.from(`name\n${"é\n".repeat(300_000)}`), latin("ü\n")]),
    );
    expect((await run("schema validate --data late.csv --schema latin.json")).stderr).toContain(
      "late.csv: row 300000 (line 300002), column 0 (name): byte 0xFC is not UTF-8",
    );
  });

  it("an unknown encoding is refused by the option parser", async () => {
    expect(
      (await run("schema validate --data latin.csv --schema latin.json --encoding klingon")).status,
    ).toBe(2);
  });
});

describe("schema import --from csvw", () => {
  const csvw = {
    "@context": "http://www.w3.org/ns/csvw",
    tables: [
      {
        url: "a.csv",
        "dc:title": "Genes",
        notes: [{ a: 1 }],
        dialect: {
          delimiter: ";",
          header: true,
          commentPrefix: "#",
          quoteChar: "'",
          skipRows: 2,
          encoding: "latin1",
        },
        tableSchema: {
          primaryKey: "id",
          foreignKeys: [{ columnReference: "id" }],
          aboutUrl: "http://x/{id}",
          columns: [
            { name: "id", titles: ["Id", "Key"], datatype: "integer", required: true },
            { name: "day", titles: "Day", datatype: { base: "date", format: "dd.MM.yyyy" } },
            { name: "tags", titles: "Tags", separator: "|", default: "none", null: ["NA"] },
            { name: "score", titles: "Score", datatype: { base: "number", format: "#,##0.00" } },
            { name: "type", virtual: true, propertyUrl: "rdf:type" },
          ],
        },
      },
      { url: "b.csv", tableSchema: { columns: [] } },
    ],
  };
  const logged = [
    "1 more table of the group",
    "notes",
    "foreignKeys without a reference",
    "aboutUrl",
    "dialect.encoding",
    "Id: its other titles",
    "Tags: separator",
    "Tags: default",
    "type: a virtual column",
  ];

  it("reports each property without a counterpart in one line, and writes the rest", async () => {
    await write("csvw.json", csvw);
    const { status, stdout, stderr } = await run("schema import csvw.json --from csvw");
    expect(status).toBe(0);
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(["Id", "Day", "Tags", "Score"]);
    for (const sentence of logged) expect(stderr).toContain(`arkgraph: csvw.json: ${sentence}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(logged.length);
  });

  it("is refused by --strict, with nothing written", async () => {
    const { status, stdout, stderr } = await run(
      "schema import csvw.json --from csvw --strict --output strict.json",
    );
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      `arkgraph: csvw.json: ${logged.length} things have no counterpart here and would be ` +
        "lost; leave --strict out to import the rest",
    );
    await expect(readFile(join(folder.path(), "strict.json"))).rejects.toThrow(/ENOENT/);
  });

  it("reports nothing about the output of schema export", async () => {
    await write(
      "own.json",
      schemaOf(
        {
          a: { description: "d", index: 0, type: "string", pattern: "^x+$", minLength: 1 },
          b: { description: "d", index: 1, type: "number", minimum: 0, exclusiveMaximum: 9 },
          c: { description: "d", index: 3, type: "boolean" },
          v: {
            description: "d",
            index: "4:7",
            type: "array",
            items: { type: "integer", maximum: 5 },
          },
        },
        { header: true },
      ),
    );
    for (const format of ["csvw", "frictionless"]) {
      await run(["schema", "export", "own.json", "--to", format, "--output", `own-${format}.json`]);
      expect(
        await run([
          "schema",
          "import",
          `own-${format}.json`,
          "--from",
          format,
          "--strict",
          "--output",
          `back-${format}.json`,
        ]),
      ).toMatchObject({ status: 0, stderr: "" });
    }
  });

  it("takes the delimiter where Frictionless 5 writes it", async () => {
    await write("resource.json", {
      name: "semi",
      dialect: { csv: { delimiter: ";" } },
      schema: {
        fields: [
          { name: "id", type: "integer" },
          { name: "name", type: "string" },
        ],
      },
    });
    const command = "schema import resource.json --from frictionless --strict --output semi.json";
    expect(await run(command)).toMatchObject({ status: 0, stderr: "" });
    await write("semi.csv", "id;name\n1;a\n");
    expect((await run("schema validate --data semi.csv --schema semi.json")).status).toBe(0);
  });

  it("reports the same about a Frictionless Table Schema", async () => {
    await write("fric.json", {
      fields: [
        { name: "id", type: "integer", constraints: { jsonSchema: {} } },
        { name: "when", type: "date", format: "any" },
        { name: "where", type: "geopoint" },
      ],
      foreignKeys: [{ fields: "id" }],
      missingValues: ["", "NA"],
    });
    const { stderr } = await run("schema import fric.json --from frictionless");
    for (const sentence of [
      "foreignKeys without a reference",
      "id: constraints.jsonSchema",
      "when: format",
      "where: the datatype geopoint",
    ])
      expect(stderr).toContain(`arkgraph: fric.json: ${sentence}`);
    expect((await run("schema import fric.json --from frictionless --strict")).status).toBe(1);
  });
});
