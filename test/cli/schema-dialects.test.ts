import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sharedData } from "../support/shared-data.js";
import { schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const { run, write } = folder;
const CASES = sharedData("cases/tables");

const inferred = async (text: string | Buffer, ...options: string[]) => {
  await write("t.csv", text);
  const { stdout, stderr } = await run(["schema", "infer", "t.csv", ...options]);
  await write("t.json", stdout);
  const { status } = await run("schema validate --data t.csv --schema t.json --strict");
  const { properties, header, separator, ...rest } = JSON.parse(stdout);
  const { commentPrefix, skipRows } = rest as { commentPrefix?: string; skipRows?: number };
  const names = Object.keys(properties as object);
  return { stderr, status, found: { names, header, separator, commentPrefix, skipRows } };
};

describe("schema infer", () => {
  it.skipIf(!CASES)("finds the comment lines of the case, and says so", async () => {
    const text = readFileSync(join(CASES!, "infer-header", "comments.csv"));
    const { stderr, status, found } = await inferred(text);
    expect(found).toMatchObject({ names: ["id", "n"], header: true, commentPrefix: "#" });
    expect(status).toBe(0);
    expect(stderr).toBe(
      'arkgraph: t.csv: detected: separator ",", a header, comment lines that begin with #, 2 rows\n',
    );
  });

  it("finds lines above the header", async () => {
    const text = 'Report of May, 2024\n\n"made by\nx"\nid;n\na;1\nb;2\n';
    const { stderr, status, found } = await inferred(text);
    expect(found).toMatchObject({ names: ["id", "n"], separator: ";", skipRows: 4 });
    expect(status).toBe(0);
    expect(stderr).toContain("4 lines above the table");
  });

  it.each([
    [
      "## source=x\n## date=y\n#CHROM\tPOS\n1\t10\n2\t20\n",
      { commentPrefix: "##", names: ["#CHROM", "POS"] },
    ],
    ["# made by x, y, z\n#id,n\na,1\nb,2\n", { skipRows: 1, names: ["#id", "n"] }],
    ["# a, b, c\nid,n\na,1\n", { commentPrefix: "#", names: ["id", "n"] }],
    ["#id,n\na,1\nb,2\n", { names: ["#id", "n"] }],
    // Not titles: a header without a name for the row names, and ragged rows.
    ["n\na,1\nb,2\n", { names: ["n", "column_1"], skipRows: undefined }],
    ["x\na,b,c\na,b\na,b,c,d\n", { skipRows: undefined }],
  ])("finds what is above the table in %j", async (text, expected) => {
    expect((await inferred(text)).found).toMatchObject(expected);
  });

  it("takes what is given", async () => {
    const text = "% made by x\nTitle\nid,'n,m'\n% no row\na,1\n";
    const options = ["--comment-prefix", "%", "--skip-rows", "2", "--quote-char", "'"];
    const { found, status } = await inferred(text, ...options);
    expect(found).toMatchObject({ commentPrefix: "%", skipRows: 2, names: ["id", "n,m"] });
    expect(status).toBe(0);
  });
});

describe("how a table is written", () => {
  const text = "Title, a, b, c\n% no row\nid|n\n'a|b' |1\n";
  const options =
    "--comment-prefix % --skip-rows 1 --quote-char ' --escape-char \\ --trim both".split(" ");
  const properties = {
    id: { description: "", index: 0, type: "string", pattern: "^a.b$" },
    n: { description: "", index: 1, type: "integer" },
  };

  it("can be said by a schema and on the command line", async () => {
    await write("t.txt", text);
    await write("plain.json", schemaOf(properties, { seperator: "|", header: true }));
    const validate = ["schema", "validate", "--data", "t.txt", "--schema"];
    expect((await run([...validate, "plain.json"])).status).toBe(1);
    expect(await run([...validate, "plain.json", "--strict", ...options])).toMatchObject({
      status: 0,
      stderr: "",
    });
    const create = [
      "schema",
      "create-tabular",
      "--name",
      "T",
      "--description",
      "Letters",
      "--separator",
    ];
    expect(await run([...create, "|", "--header", ...options, "s.json"])).toMatchObject({
      status: 0,
    });
    for (const [name, index, type] of [
      ["id", "0", "string"],
      ["n", "1", "integer"],
    ])
      await run([
        "schema",
        "add-property",
        type!,
        "--name",
        name!,
        "--index",
        index!,
        "--description",
        "Letter",
        "s.json",
      ]);
    expect((await run([...validate, "s.json", "--strict"])).status).toBe(0);
  });

  it("goes to other formats and back", async () => {
    const written = {
      commentPrefix: "%",
      skipRows: 1,
      quoteChar: "'",
      escapeChar: "\\",
      trim: "start",
    };
    await write("s.json", schemaOf(properties, { seperator: "|", header: true, ...written }));
    for (const format of ["csvw", "frictionless"]) {
      const made = await run([
        "schema",
        "export",
        "s.json",
        "--to",
        format,
        "--output",
        "o.json",
        "--force",
      ]);
      expect([made.status, made.stderr]).toEqual([0, ""]);
      const { stdout, stderr } = await run([
        "schema",
        "import",
        "o.json",
        "--from",
        format,
        "--strict",
      ]);
      expect([stderr, JSON.parse(stdout)]).toMatchObject(["", { separator: "|", ...written }]);
    }
  });

  it("is refused where it cannot be", async () => {
    await write("t.txt", text);
    for (const [key, value, message] of [
      ["quoteChar", "ab", 'its quoteChar "ab" must be one ASCII character'],
      ["skipRows", -1, "skipRows must be a whole number from 0"],
      ["trim", "yes", "trim must be one of none, start, end, both"],
      ["quoteChar", "|", 'its separator "|" holds the quote character'],
    ] as const) {
      await write("s.json", schemaOf(properties, { seperator: "|", [key]: value }));
      const { status, stderr } = await run("schema validate --data t.txt --schema s.json");
      expect([status, stderr]).toEqual([1, expect.stringContaining(message) as string]);
    }
  });
});
