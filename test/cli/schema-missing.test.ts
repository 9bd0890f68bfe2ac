import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const { run, write } = folder;
const columns = { id: "string", n: "integer", m: "number" } as const;
const properties = (types: Record<string, unknown>): Record<string, object> =>
  Object.fromEntries(
    Object.entries(types).map(([name, type], index) => [name, { description: "d", index, type }]),
  );
const TABLE = "id,n,m\na,1,NA\nb,,2.5\nc,3,1\n";
const validate = async (schema: object, table = TABLE) => {
  await write("data.csv", table);
  await write("schema.json", schema);
  return run("schema validate --data data.csv --schema schema.json --format ndjson");
};
const found = (stdout: string): unknown[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { row, failed_keyword: keyword, message } = JSON.parse(line);
      return [row, keyword, message];
    });

describe("missing values that a schema states", () => {
  it("are no error in a column that is not required", async () => {
    const ended = await validate(
      schemaOf(properties(columns), {
        header: true,
        required: ["id"],
        missingValues: ["", "NA"],
      }),
    );
    expect(ended).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it("break required in a column that is", async () => {
    const { status, stdout } = await validate(
      schemaOf(properties(columns), { header: true, missingValues: ["", "NA"] }),
    );
    expect(status).toBe(1);
    expect(found(stdout)).toEqual([
      [0, "required", "'m' is a required property"],
      [1, "required", "'n' is a required property"],
    ]);
  });

  it("are null where the type says so, required or not", async () => {
    const { status, stdout } = await validate(
      schemaOf(properties({ id: "string", n: ["integer", "null"], m: ["null", "number"] }), {
        header: true,
      }),
    );
    expect(status).toBe(1);
    // An empty cell is null; NA is only where it is named.
    expect(found(stdout)).toEqual([[0, null, "ValueError: Failed to Parse Attribute m for Row 0"]]);
  });

  it("may be named by one property, and its rules apply to the other cells", async () => {
    const { stdout } = await validate(
      schemaOf(
        {
          ...properties({ id: "string", n: ["integer", "null"] }),
          m: {
            description: "d",
            index: 2,
            type: ["number", "null"],
            missingValues: ["NA"],
            maximum: 2,
          },
        },
        { header: true },
      ),
    );
    expect(found(stdout)).toEqual([[1, "maximum", "2.5 is greater than the maximum of 2.0"]]);
  });

  it("are null among the elements of an array whose items say so", async () => {
    const vector = (type: unknown, rest: object = {}): object =>
      schemaOf({
        v: { description: "d", index: "0::", type: "array", items: { type, minimum: 0 }, ...rest },
      });
    expect((await validate(vector(["number", "null"]), "1,,2\n")).status).toBe(0);
    expect((await validate(vector("number"), "1,,2\n")).status).toBe(1);
    const { stdout } = await validate(
      vector(["number", "null"], { missingValues: ["NA"], uniqueItems: true }),
      "1,NA,1\n-1,NA,2\n",
    );
    expect(found(stdout)).toEqual([
      [0, "uniqueItems", "[1.0, None, 1.0] has non-unique elements"],
      [1, "minimum", "-1.0 is less than the minimum of 0.0 (element 0)"],
    ]);
  });

  it("stay errors where nothing is stated", async () => {
    const { stdout } = await validate(
      schemaOf(properties(columns), { header: true, required: [] }),
    );
    expect(found(stdout)).toHaveLength(2);
  });

  it("must be a list of texts", async () => {
    const { status, stderr } = await validate(
      schemaOf(properties(columns), { missingValues: "NA" }),
    );
    expect([status, stderr]).toEqual([
      1,
      "arkgraph: schema.json: the schema's missingValues must be an array of texts\n",
    ]);
  });
});

describe("schema add-property", () => {
  const add = (options: string): ReturnType<typeof run> =>
    run(["schema", "add-property", ...options.split(" "), "--description", "d", "made.json"]);

  it("writes missing values and a type that allows null", async () => {
    await run("schema create-tabular --name T --description d --separator , made.json");
    await add("integer --name a --index 0 --nullable");
    await add("number --name b --index 1 --missing NA --nullable --minimum 0");
    await add("boolean --name c --index 2 --missing NA --missing -");
    await add("array --name v --index 3:: --items-datatype number --nullable");
    const made = JSON.parse(await readFile(join(folder.path(), "made.json"), "utf8"));
    expect(made.properties).toMatchObject({
      a: { type: ["integer", "null"] },
      b: { type: ["number", "null"], missingValues: ["", "NA"], minimum: 0 },
      c: { type: ["boolean", "null"], missingValues: ["NA", "-"] },
      v: { type: "array", items: { type: ["number", "null"] } },
    });
    expect(made.properties.a).not.toHaveProperty("missingValues");
    await write("made.csv", ",NA,-,1,,2\n1,,true\n");
    expect(await run("schema validate --data made.csv --schema made.json")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: "",
    });
    expect((await run("schema check made.json")).stdout).toBe("Schema is valid\n");
  });
});

describe("schema infer", () => {
  it("describes a column with gaps as its type, and names the texts that are missing", async () => {
    await write("gaps.csv", TABLE);
    const { stdout, stderr } = await run("schema infer gaps.csv");
    const schema = JSON.parse(stdout);
    expect(schema).toMatchObject({
      properties: { id: { type: "string" }, n: { type: "integer" }, m: { type: "number" } },
      required: ["id"],
      missingValues: ["", "NA"],
    });
    expect(stderr).toBe(
      'arkgraph: gaps.csv: detected: separator ",", a header, 3 rows\n' +
        "arkgraph: gaps.csv: column 1 (n) is described as integer; 1 of its cells has no value " +
        '("")\n' +
        "arkgraph: gaps.csv: column 2 (m) is described as number; 1 of its cells has no value " +
        '("NA")\n',
    );
    await write("gaps.json", stdout);
    expect((await run("schema validate --data gaps.csv --schema gaps.json")).status).toBe(0);
    await write("other.csv", `${TABLE}d,x,1\n`);
    expect((await run("schema validate --data other.csv --schema gaps.json")).status).toBe(1);
  });

  it("keeps columns of text conforming when other columns have missing values", async () => {
    await write("text.csv", "id,note,n\na,,1\nNA,x,\n");
    const { stdout } = await run("schema infer text.csv");
    expect(JSON.parse(stdout)).toMatchObject({ required: ["id"], missingValues: [""] });
    await write("text.json", stdout);
    expect((await run("schema validate --data text.csv --schema text.json")).status).toBe(0);
  });
});

describe("missing values in other formats", () => {
  it.each(["csvw", "frictionless"])("survive an export to %s and an import", async (format) => {
    const described = {
      id: { description: "d", index: 0, valueURL: null, type: "string", missingValues: [""] },
      n: { description: "d", index: 1, valueURL: null, type: ["integer", "null"] },
      m: {
        description: "d",
        index: 2,
        valueURL: null,
        type: ["number", "null"],
        missingValues: ["", "NA"],
        minimum: 0,
      },
      t: { description: "d", index: 3, valueURL: null, type: "string" },
      v: {
        description: "d",
        index: "4:6",
        valueURL: null,
        type: "array",
        missingValues: ["-"],
        minItems: 2,
        items: { type: ["number", "null"] },
      },
    };
    await write("out.json", schemaOf(described, { header: true }));
    const exported = await run(`schema export out.json --to ${format} --output ${format}.json`);
    expect(exported.stderr.replace(/.*minItems.*\n/, "")).toBe("");
    const { stdout, stderr } = await run(`schema import ${format}.json --from ${format} --strict`);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).properties).toEqual(described);
  });
});
