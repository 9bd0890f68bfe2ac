import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const { run, write } = folder;
const json = async (file: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(folder.path(), file), "utf8")) as Record<string, unknown>;

describe("schema infer", () => {
  it("finds separator, header and types, and the data conform to its schema", async () => {
    await write(
      "genes.tsv",
      "symbol\tscore\treads\tbait\tnote\nBRCA1\t0.5\t12\ttrue\t\nTP53\t1\t7\tFALSE\tx\n",
    );
    const ended = await run(
      "schema infer genes.tsv --output genes.json --guid ark:59853/schema-genes",
    );
    expect(ended).toEqual({
      status: 0,
      stdout: "Wrote Schema: genes.json\n",
      stderr: 'arkgraph: genes.tsv: detected: separator "\\t", a header, 2 rows\n',
    });
    const schema = await json("genes.json");
    expect(schema).toMatchObject({
      "@id": "ark:59853/schema-genes",
      name: "genes",
      seperator: "\t",
      header: true,
      required: ["symbol", "score", "reads", "bait", "note"],
    });
    expect(
      Object.values(schema["properties"] as Record<string, { type: string }>).map(
        ({ type }) => type,
      ),
    ).toEqual(["string", "number", "integer", "boolean", "string"]);
    expect((await run("schema validate --data genes.tsv --schema genes.json")).stdout).toBe(
      "Validation Success\n",
    );
    expect((await run("schema infer genes.tsv --output genes.json")).stderr).toBe(
      'arkgraph: genes.tsv: detected: separator "\\t", a header, 2 rows\n' +
        "arkgraph: genes.json exists already: choose another name, or add --force to overwrite it\n",
    );
  });

  it("reads numbers to the end of the row as one array, and reads standard input", async () => {
    const { stdout } = await run("schema infer - --name vectors", "A 1,0.5,2,3\nB 2,0.25,1\n");
    const { properties, header, seperator, name } = JSON.parse(stdout);
    expect({ header, seperator, name }).toEqual({ header: false, seperator: ",", name: "vectors" });
    expect(properties).toMatchObject({
      column_0: { type: "string", index: 0 },
      values: { type: "array", index: "1::", minItems: 2, items: { type: "number" } },
    });
  });
});

describe("schema check", () => {
  it("says that a schema is valid, the packaged ones included", async () => {
    await write("sound.json", schemaOf({ a: { description: "d", index: 0, type: "string" } }));
    expect(await run("schema check sound.json")).toEqual({
      status: 0,
      stdout: "Schema is valid\n",
      stderr: "",
    });
    expect(
      (await run("schema check ark:59852/schema-cm4ai-imageloader-samplescopy")).stdout,
    ).toContain("Schema is valid\n");
  });

  it("names all errors at once", async () => {
    await write("data.csv", "1,2,3\n");
    await write(
      "unsound.json",
      schemaOf(
        {
          a: { description: "d", index: 0, type: "string", pattern: "[" },
          b: { description: "d", index: "1:3", type: "array", items: { type: "number" } },
          c: { description: "d", index: 2, type: "integer", minimum: 3, maximum: 2 },
          d: { description: "d", index: 2, type: "integer", minLength: 2, mimimum: 4 },
          e: { description: "", index: 9, type: "string", format: "colour" },
        },
        { required: ["a", "z"] },
      ),
    );
    const { status, stdout } = await run("schema check unsound.json --data data.csv");
    expect(status).toBe(1);
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^error: property a: its pattern \[ is not a regular expression: /),
      "error: property c: its minimum 3 is above its maximum 2",
      "warning: property d: minLength has no effect in a column of type integer",
      "warning: property d: mimimum is not a keyword: it has no effect",
      "warning: property e: the format colour is not known: it has no effect",
      "warning: property e: its description is empty",
      "error: required names z, which is not a property: no row can conform",
      "error: properties b and d both describe column 2",
      "error: property e: column 9 is out of range: the first row of the data has 3 " +
        "columns, 0 to 2",
    ]);
  });
});

describe("schema export and schema import", () => {
  const table = schemaOf(
    {
      symbol: {
        description: "Gene symbol",
        index: 0,
        valueURL: "http://edamontology.org/data_1026",
        type: "string",
        pattern: "^[A-Z]+$",
        maxLength: 9,
      },
      "score %": {
        description: "Score",
        index: 2,
        valueURL: null,
        type: "number",
        minimum: 0,
        maximum: 100,
      },
      vector: {
        description: "Vector",
        index: "3::",
        valueURL: null,
        type: "array",
        minItems: 2,
        items: { type: "integer", minimum: 0 },
      },
      bait: { description: "Bait", index: 1, valueURL: null, type: "boolean" },
    },
    { header: true },
  );

  it.each(["csvw", "frictionless"])(
    "convert to %s and back without losing columns, types and bounds",
    async (format) => {
      await write("own.json", table);
      const exported = await run(
        `schema export own.json --to ${format} --columns 6 --output ${format}.json --force`,
      );
      expect(exported.status).toBe(0);
      expect(exported.stderr).toContain(
        "minItems of property vector has no counterpart and is left out",
      );
      expect(
        (await run(`schema import ${format}.json --from ${format} --output back-${format}.json`))
          .status,
      ).toBe(0);
      const back = await json(`back-${format}.json`);
      expect(back).toMatchObject({
        name: "Test",
        description: "For a test",
        seperator: ",",
        header: true,
      });
      expect(back["properties"]).toEqual({
        symbol: {
          description: "Gene symbol",
          index: 0,
          valueURL: "http://edamontology.org/data_1026",
          type: "string",
          pattern: "^(?:[A-Z]+)$",
          maxLength: 9,
        },
        bait: { description: "Bait", index: 1, valueURL: null, type: "boolean" },
        "score %": {
          description: "Score",
          index: 2,
          valueURL: null,
          type: "number",
          minimum: 0,
          maximum: 100,
        },
        vector: {
          description: "Vector",
          index: "3:6",
          valueURL: null,
          type: "array",
          minItems: 3,
          items: { type: "integer", minimum: 0 },
        },
      });
    },
  );

  it("need the number of columns for an array of open length", async () => {
    await write("own.json", table);
    expect(await run("schema export own.json --to csvw")).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "arkgraph: own.json: property vector runs to the end of the row, which has no " +
        "counterpart: give the number of columns of the data with --columns\n",
    });
  });

  it.each([
    ["csvw", "it is not CSVW metadata: it has no tableSchema with columns"],
    ["frictionless", "it is not a Frictionless Table Schema: it has no fields"],
  ])("refuse input that is no %s", async (format, message) => {
    await write("other.json", {});
    expect(await run(`schema import other.json --from ${format}`)).toEqual({
      status: 1,
      stdout: "",
      stderr: `arkgraph: other.json: ${message}\n`,
    });
  });
});

describe("schema infer with two files", () => {
  it("writes the schema to the second one, which must be new, and is named once", async () => {
    await write("two.csv", "a,b\n1,x\n");
    expect((await run("schema infer two.csv two.json")).status).toBe(0);
    expect(Object.keys((await json("two.json"))["properties"] as object)).toEqual(["a", "b"]);
    const again = await run("schema infer two.csv two.json");
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("two.json exists already");
    const twice = await run("schema infer two.csv other.json --output third.json");
    expect(twice.status).toBe(1);
    expect(twice.stderr).toContain("both name the schema's file");
  });
});

describe("schema infer finds the header", () => {
  const inferred = async (text: string): Promise<{ header: boolean; names: string[] }> => {
    await write("table.csv", text);
    const { stdout, stderr } = await run("schema infer table.csv");
    expect(stdout, stderr).not.toBe("");
    const { header, properties } = JSON.parse(stdout) as {
      header: boolean;
      properties: Record<string, { index: number }>;
    };
    const names = Object.keys(properties).sort(
      (a, b) => properties[a]!.index - properties[b]!.index,
    );
    return { header, names };
  };

  it.each([
    ["whose names occur twice", "id,name,id\n1101,Ann,0\n1102,Bo,0\n", ["id", "name", "id_2"]],
    [
      "with a comma in a name",
      'Office,"Place (lon, lat)"\nDorp,"1.5, 2.5"\n',
      ["Office", "Place (lon, lat)"],
    ],
    ["with a name that begins with a digit", "name,639-1\nAfar,aa\nAkan,ak\n", ["name", "639-1"]],
    ["that ends in empty columns", "h1,h2,,\na,b,,\n", ["h1", "h2", "column_2", "column_3"]],
    ["without any row below", "id,name\n", ["id", "name"]],
    ["of years", "country,2001,2002\nNL,1.5,2\n", ["country", "2001", "2002"]],
  ])("%s", async (_what, text, names) => {
    expect(await inferred(text)).toEqual({ header: true, names });
  });

  it.each([
    ["numbers over numbers", "1,2\n3,4\n"],
    ["years over years", "a,2001,2002\nb,2001,2002\n"],
    ["codes over codes", "1a,2b\n1c,2d\n"],
  ])("and none in %s", async (_what, text) => {
    expect((await inferred(text)).header).toBe(false);
  });

  it("and refuses a JSON document, names a comment line", async () => {
    await write("rows.json", '[\n{"a":1,"b":"x"},\n{"a":2,"b":"y"}]\n');
    expect(await run("schema infer rows.json")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("it is JSON, not a table") as string,
    });
    await write("comments.csv", "# made by x\nid,n\na,1\n");
    expect((await run("schema infer comments.csv")).stderr).toContain("begin with #");
  });
});
