import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parquetHead } from "../../src/tabular/parquet-feed.js";
import { sharedData } from "../support/shared-data.js";
import { useFolder } from "./terminal.js";

const { run, write } = useFolder();
const CASES = sharedData("cases/public");
const read = (folder: string, name: string): Buffer => readFileSync(join(CASES!, folder, name));

describe.skipIf(!CASES)("a table with the mark of UTF-8 and one byte of another encoding", () => {
  const file = (name: string): Buffer => read("24-utf-8-mark-and-a-later-single-byte", name);
  const PLACE = "data.csv: row 1200 (line 1202), column 1 (place): byte 0xA0 is not UTF-8";
  const validate = async (...options: string[]) => {
    await write("data.csv", file("data.csv"));
    await write("schema.json", file("schema.json"));
    return run(["schema", "validate", "--data", "data.csv", "--schema", "schema.json", ...options]);
  };

  it("does not conform, and one line names the place and the option", async () => {
    const { status, stdout, stderr } = await validate();
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^arkgraph: data\.csv: [^\n]*give --encoding latin1\n$/);
    expect(stderr).toContain(PLACE);
    expect(await validate("--quiet")).toEqual({ status, stdout, stderr });
    const inferred = await run("schema infer data.csv");
    expect([inferred.status, inferred.stdout]).toEqual([1, ""]);
    expect(inferred.stderr).toContain(PLACE);
  });

  it("is named in every format of a report", async () => {
    const said = expect.stringContaining(PLACE) as string;
    const json = await validate("--format", "json");
    expect([json.status, JSON.parse(json.stdout)]).toEqual([
      1,
      { files: [{ file: "data.csv", failure: said }], valid: false },
    ]);
    const ndjson = await validate("--format", "ndjson");
    expect(JSON.parse(ndjson.stdout)).toEqual({ file: "data.csv", failure: said });
    const sarif = await validate("--format", "sarif");
    expect(JSON.parse(sarif.stdout)).toMatchObject({
      runs: [
        {
          invocations: [
            {
              executionSuccessful: false,
              toolExecutionNotifications: [{ level: "error", message: { text: said } }],
            },
          ],
        },
      ],
    });
    const github = await validate("--format", "github");
    expect(github.stdout).toContain(`::error file=data.csv::${PLACE}`);
  });

  it("is read with --encoding, without the mark in the first name", async () => {
    expect(await validate("--encoding", "windows-1252")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: "",
    });
    const { stdout } = await run("schema infer data.csv --encoding windows-1252");
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(["id", "place", "value"]);
  });
});

describe.skipIf(!CASES)("codes with leading zeros", () => {
  it.each([
    ["codes.csv", { code: "string", plate: "string", count: "integer" }],
    ["postal.csv", { postcode: "string", n: "integer" }],
    ["zero.csv", { well: "string", value: "number" }],
  ])(
    "are text in the schema inferred from %s, and the table conforms to it",
    async (name, types) => {
      await write(name, read("26-codes-with-leading-zeros", name));
      const { stdout } = await run(["schema", "infer", name]);
      const { properties } = JSON.parse(stdout) as { properties: Record<string, { type: string }> };
      expect(
        Object.fromEntries(Object.entries(properties).map(([key, { type }]) => [key, type])),
      ).toEqual(types);
      await write("inferred.json", stdout);
      expect((await run(`schema validate --data ${name} --schema inferred.json`)).status).toBe(0);
      for (const format of ["csvw", "frictionless"])
        expect(
          (await run(`schema export inferred.json --to ${format}`)).stdout.match(/"integer"/g) ??
            [],
        ).toHaveLength(Object.values(types).filter((type) => type === "integer").length);
    },
  );
});

describe.skipIf(!CASES)("Parquet with numbers beyond a double", () => {
  const folder = "35-parquet-delta-numbers-beyond-a-double";
  const validate = async (schema: string, ...options: string[]) => {
    await write("delta.parquet", read(folder, "delta.parquet"));
    await write(schema, read(folder, schema));
    return run(["schema", "validate", "--data", "delta.parquet", "--schema", schema, ...options]);
  };

  it("conforms to bounds that only its exact numbers keep", async () => {
    expect(await validate("exact.json")).toMatchObject({
      status: 0,
      stdout: "Validation Success\n",
    });
    const { status, stdout } = await validate("too-tight.json", "--format", "json");
    const { files } = JSON.parse(stdout) as {
      files: { errors: { row: number; message: string }[] }[];
    };
    expect([status, files[0]!.errors.map(({ row, message }) => [row, message])]).toEqual([
      1,
      [[0, expect.stringContaining("9007199254740993 ") as string]],
    ]);
  });

  it("shows its numbers, and times with microseconds", async () => {
    const bytes = read(folder, "delta.parquet");
    const { rows } = await parquetHead(Uint8Array.from(bytes).buffer, { rows: 1_000, columns: 9 });
    const said = [
      `first id ${rows[0]![0]}`,
      `last id ${rows.at(-1)![0]}`,
      `first at ${rows[0]![1]}`,
      `last at ${rows.at(-1)![1]}`,
    ];
    expect(read(folder, "expected.txt").toString()).toContain(said.join("\n"));
    expect(new Set(rows.map(([id]) => id)).size).toBe(rows.length);
  });
});
