import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const { run, write } = folder;
const create = (file: string, ...more: string[]) =>
  run([
    "schema",
    "create-tabular",
    "--name",
    "Gene Table",
    "--description",
    "One gene a row",
    "--separator",
    ",",
    ...more,
    file,
  ]);
const read = async (file: string): Promise<string> => readFile(join(folder.path(), file), "utf8");
const json = async (file: string): Promise<Record<string, unknown>> =>
  JSON.parse(await read(file)) as Record<string, unknown>;

describe("schema create-tabular", () => {
  it("writes a schema with the contract's keys in their order, indented by two spaces", async () => {
    expect(await create("a.json", "--guid", "ark:59853/schema-mine", "--header", "True")).toEqual({
      status: 0,
      stdout: "Wrote Schema: a.json\n",
      stderr: "",
    });
    expect(await read("a.json")).toBe(`{
  "@context": {
    "@vocab": "https://schema.org/",
    "EVI": "https://w3id.org/EVI#"
  },
  "@id": "ark:59853/schema-mine",
  "@type": "EVI:Schema",
  "name": "Gene Table",
  "description": "One gene a row",
  "properties": {},
  "type": "object",
  "additionalProperties": true,
  "required": [],
  "seperator": ",",
  "separator": ",",
  "header": true,
  "examples": []
}
`);
  });

  it("mints an identifier from the name, and assumes no header by default", async () => {
    await create("b.json");
    const { "@id": id, header } = await json("b.json");
    expect(id).toMatch(/^ark:99999\/schema-gene-table-[0-9b-z]+$/);
    expect(header).toBe(false);
  });

  it("accepts \\t as two characters for a tab, and separators of several characters", async () => {
    await run([
      "schema",
      "create-tabular",
      "--name",
      "n",
      "--description",
      "d",
      "--separator",
      "\\t",
      "tab.json",
    ]);
    expect((await json("tab.json"))["seperator"]).toBe("\t");
    await run([
      "schema",
      "create-tabular",
      "--name",
      "n",
      "--description",
      "d",
      "--separator",
      ";;",
      "wide.json",
    ]);
    expect((await json("wide.json"))["seperator"]).toBe(";;");
  });

  it("does not overwrite a file unless forced", async () => {
    await write("there.json", "mine");
    expect(await create("there.json")).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "arkgraph: there.json exists already: choose another name, or add --force to " +
        "overwrite it\n",
    });
    expect(await read("there.json")).toBe("mine");
    expect((await create("there.json", "--force")).status).toBe(0);
    expect((await json("there.json"))["name"]).toBe("Gene Table");
  });

  it.each([
    ["an empty separator", ["--separator", ""], 1],
    ["an identifier that is no ARK", ["--guid", "doi:10/1"], 1],
    ["a header that is neither true nor false", ["--header", "maybe"], 2],
    ["an unknown option", ["--colour"], 2],
  ])("refuses %s", async (_what, more, status) => {
    const ended = await create("refused.json", ...more);
    expect(ended.status).toBe(status);
    expect(ended.stderr).not.toBe("");
    expect(ended.stderr).not.toContain("    at ");
    expect(await readdir(folder.path())).not.toContain("refused.json");
  });

  it("ends with 2 when a required option is missing", async () => {
    const ended = await run(["schema", "create-tabular", "--name", "n", "x.json"]);
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain("required option '--description <text>' not specified");
  });

  it("names a missing folder, and leaves nothing behind", async () => {
    await write("plain.txt", "a file");
    await create("made.json");
    for (const [file, logged] of [
      [
        "no/such/file.json",
        "no/such: there is no such folder; create it first (mkdir -p), or write to another path",
      ],
      [
        "plain.txt/deeper/file.json",
        "plain.txt: it is a file, not a folder; write to another path",
      ],
    ] as const) {
      const failed = { status: 1, stdout: "", stderr: `arkgraph: ${logged}\n` };
      expect(await create(file)).toEqual(failed);
      expect(
        await run(["schema", "export", "--to", "csvw", "--output", file, "made.json"]),
      ).toEqual(failed);
    }
  });
});

describe("schema add-property", () => {
  const add = (datatype: string, file: string, ...options: string[]) =>
    run(["schema", "add-property", datatype, "--description", "d", ...options, file]);

  it("adds each datatype with the given options, and no defaults except the value URL", async () => {
    await create("p.json");
    const string = await add(
      "string",
      "p.json",
      "--name",
      "symbol",
      "--index",
      "0",
      "--value-url",
      "http://edamontology.org/data_1026",
      "--pattern",
      "^[A-Z]+$",
      "--min-length",
      "1",
      "--max-length",
      "9",
    );
    expect(string).toEqual({
      status: 0,
      stdout: "Added Property\tname: symbol\ttype: string\n",
      stderr: "",
    });
    await add(
      "number",
      "p.json",
      "--name",
      "score",
      "--index",
      "1",
      "--minimum",
      "-1.5",
      "--maximum",
      "2",
    );
    await add(
      "integer",
      "p.json",
      "--name",
      "count",
      "--index",
      "2",
      "--minimum",
      "0",
      "--maximum",
      "0",
    );
    await add("boolean", "p.json", "--name", "bait", "--index", "3");
    await add(
      "array",
      "p.json",
      "--name",
      "vector",
      "--index",
      "4::",
      "--items-datatype",
      "number",
      "--min-items",
      "1",
      "--max-items",
      "3",
      "--unique-items",
      "yes",
    );
    const schema = await json("p.json");
    expect(schema["required"]).toEqual(["symbol", "score", "count", "bait", "vector"]);
    expect(JSON.stringify(schema["properties"])).toBe(
      JSON.stringify({
        symbol: {
          description: "d",
          index: 0,
          valueURL: "http://edamontology.org/data_1026",
          type: "string",
          pattern: "^[A-Z]+$",
          minLength: 1,
          maxLength: 9,
        },
        score: {
          description: "d",
          index: 1,
          valueURL: null,
          type: "number",
          minimum: -1.5,
          maximum: 2,
        },
        count: {
          description: "d",
          index: 2,
          valueURL: null,
          type: "integer",
          minimum: 0,
          maximum: 0,
        },
        bait: { description: "d", index: 3, valueURL: null, type: "boolean" },
        vector: {
          description: "d",
          index: "4::",
          valueURL: null,
          type: "array",
          minItems: 1,
          maxItems: 3,
          uniqueItems: true,
          items: { type: "number" },
        },
      }),
    );
  });

  it("changes nothing when it refuses a property", async () => {
    await create("same.json");
    await add("string", "same.json", "--name", "a", "--index", "0");
    const before = await read("same.json");
    for (const [datatype, ...options] of [
      ["string", "--name", "a", "--index", "1"],
      ["string", "--name", "b", "--index", "1", "--pattern", "["],
      ["string", "--name", "b", "--index", "-1"],
      ["string", "--name", "b", "--index", "1::"],
      ["number", "--name", "b", "--index", "1", "--minimum", "2", "--maximum", "1"],
      ["array", "--name", "b", "--index", "1:", "--items-datatype", "number"],
    ] as [string, ...string[]][]) {
      const ended = await add(datatype, "same.json", ...options);
      expect([options, ended.status, ended.stdout]).toEqual([options, 1, ""]);
      expect(ended.stderr).toMatch(
        /^arkgraph: same\.json: (the schema already has a )?property [ab][ :].+\n$/,
      );
    }
    expect(await read("same.json")).toBe(before);
    expect((await readdir(folder.path())).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("preserves other members of a schema", async () => {
    await write(
      "own.json",
      schemaOf({}, { separator: "\t", seperator: undefined, mine: { a: [1] } }),
    );
    await add("string", "own.json", "--name", "__proto__", "--index", "0");
    const schema = await json("own.json");
    expect(schema["mine"]).toEqual({ a: [1] });
    expect(schema["separator"]).toBe("\t");
    expect(Object.keys(schema["properties"] as object)).toEqual(["__proto__"]);
  });

  it.each([
    ["a datatype there is not", ["text", "--name", "a", "--index", "0"]],
    ["an option of another datatype", ["boolean", "--name", "a", "--index", "0", "--pattern", "a"]],
    ["an array of arrays", ["array", "--name", "a", "--index", "0::", "--items-datatype", "array"]],
    ["a bound that is no number", ["number", "--name", "a", "--index", "0", "--minimum", "low"]],
  ])("ends with 2 for %s", async (_what, [datatype, ...options]) => {
    await write("two.json", schemaOf({}));
    expect((await add(datatype!, "two.json", ...options)).status).toBe(2);
  });

  it.each([
    ["missing", undefined, "there is no such file or folder"],
    ["malformed", "{", "the schema is not JSON"],
    ["not an object", "[]", "the schema is not a JSON object"],
  ])("says in one line that the schema file is %s", async (name, content, message) => {
    const file = `${name.replaceAll(" ", "-")}.json`;
    if (content !== undefined) await write(file, content);
    const ended = await add("string", file, "--name", "a", "--index", "0");
    expect(ended.status).toBe(1);
    expect(ended.stderr).toMatch(new RegExp(`^arkgraph: ${file}: ${message}[^\\n]*\\n$`));
  });

  it("prints the options of a datatype with --help", async () => {
    const ended = await run("schema add-property array --help");
    expect(ended.status).toBe(0);
    for (const option of [
      "--name",
      "--index",
      "--description",
      "--value-url",
      "--items-datatype",
      "--min-items",
      "--max-items",
      "--unique-items",
    ])
      expect(ended.stdout).toContain(option);
  });
});
