import { beforeAll, describe, expect, it } from "vitest";
import { parquetFile, type ParquetOptions } from "../tabular/parquet-file.js";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const numbers = Array.from({ length: 1000 }, (_, row) => row);

beforeAll(async () => {
  await write(
    "schema.json",
    schemaOf(
      {
        id: { description: "d", index: 0, type: "integer", minimum: 0 },
        score: { description: "d", index: 1, type: "number", maximum: 499 },
        symbol: { description: "d", index: 2, type: "string", pattern: "^gène [0-9]+$" },
        bait: { description: "d", index: 4, type: "boolean" },
        pair: {
          description: "d",
          index: "0:2",
          type: "array",
          items: { type: "number" },
          minItems: 2,
        },
      },
      { header: true },
    ),
  );
});

const table = (options?: ParquetOptions) =>
  parquetFile(
    [
      { name: "id", type: "INT64", values: numbers.map((row) => BigInt(row === 7 ? -7 : row)) },
      {
        name: "score",
        type: "DOUBLE",
        values: numbers.map((row) => (row === 998 ? Number.NaN : row / 2)),
      },
      {
        name: "symbol",
        type: "UTF8",
        values: numbers.map((row) => (row === 3 ? "gene" : `gène ${row}`)),
      },
      { name: "not described", type: "UTF8", values: numbers.map(() => "x") },
      { name: "bait", type: "BOOLEAN", values: numbers.map((row) => row % 3 === 0) },
    ],
    options,
  );

describe("schema validate of Parquet", () => {
  it.each([
    ["in one row group", {}],
    ["in many", { groupRows: 64 }],
    ["packed with gzip", { codec: "GZIP", groupRows: 300 }],
    ["packed with Zstandard", { codec: "ZSTD", groupRows: 300 }],
    ["packed with LZ4", { codec: "LZ4_RAW", groupRows: 300 }],
  ] satisfies [string, ParquetOptions][])(
    "checks every row of a file, %s",
    async (_what, options) => {
      await write("table.parquet", table(options));
      const { status, stdout, stderr } = await run(
        "schema validate --data table.parquet --schema schema.json --format ndjson --summary",
      );
      expect(status).toBe(1);
      expect(
        stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line))
          .map(({ row, message }) => [row, message]),
      ).toEqual([
        [3, "'gene' does not match '^gène [0-9]+$'"],
        [7, "-7 is less than the minimum of 0"],
        [998, "ValueError: Failed to Parse Attribute score for Row 998"],
        [998, "ValueError: Failed to Parse Attribute pair for Row 998"],
        [999, "499.5 is greater than the maximum of 499.0"],
      ]);
      expect(stderr).toContain("1000 rows, 5 errors in 4 rows");
    },
  );

  it("says in one line what cannot be read", async () => {
    await write("damaged.parquet", table().subarray(500));
    const damaged = await run("schema validate --data damaged.parquet --schema schema.json");
    expect(damaged.status).toBe(1);
    expect(damaged.stderr).toMatch(
      /^arkgraph: damaged\.parquet: its Parquet data cannot be read: [^\n]+\n$/,
    );
    await write("text.parquet", "a,b\n");
    expect((await run("schema validate --data text.parquet --schema schema.json")).stderr).toMatch(
      /^arkgraph: text\.parquet: its Parquet data cannot be read: [^\n]+\n$/,
    );
    const piped = await run("schema validate --data - --schema schema.json", table());
    expect(piped.stderr).toBe(
      "arkgraph: standard input: it is Parquet, which cannot be read as a stream: the schema " +
        "commands read it from a file\n",
    );
  });
});

describe("a Parquet file", () => {
  const columns = () =>
    parquetFile([
      { name: "id", type: "INT64", values: [1n, 2n] },
      { name: "score", type: "DOUBLE", values: [0.5, 1] },
      { name: "name", type: "UTF8", values: ["a", "b"] },
      { name: "day", type: "DATE", values: [0, 1] },
      { name: "good", type: "BOOLEAN", values: [true, false] },
    ]);

  it("describes itself to schema infer, and conforms to that schema", async () => {
    await write("plain.parquet", columns());
    expect(await run("schema infer plain.parquet --output plain.json")).toMatchObject({
      status: 0,
    });
    const { properties, ...schema } = JSON.parse(
      (await run("schema infer plain.parquet")).stdout,
    ) as { properties: Record<string, { type: unknown }> };
    expect(Object.entries(properties).map(([name, { type }]) => [name, type])).toEqual([
      ["id", "integer"],
      ["score", "number"],
      ["name", "string"],
      ["day", "string"],
      ["good", "boolean"],
    ]);
    expect(schema).not.toHaveProperty("separator");
    for (const command of [
      "schema validate --data plain.parquet --schema plain.json --strict",
      "schema check plain.json --data plain.parquet",
    ])
      expect(await run(command)).toMatchObject({ status: 0, stderr: "" });
  });

  it("is known by its first bytes too", async () => {
    await write("plain.pq", columns());
    expect(await run("schema infer plain.pq --output pq.json")).toMatchObject({ status: 0 });
    expect((await run("schema validate --data plain.pq --schema pq.json")).status).toBe(0);
  });

  it("with other names than the schema is reported", async () => {
    await write("swapped.parquet", parquetFile([{ name: "b", type: "INT64", values: [1n] }]));
    await write("a.json", schemaOf({ a: { index: 0, type: "integer" } }));
    const command = "schema validate --data swapped.parquet --schema a.json";
    expect((await run(command)).stderr).toContain("column 0 is b, the schema has a");
    expect((await run(`${command} --strict`)).status).toBe(1);
  });

  it("with a list is not inferred, and the column is named", async () => {
    await write("list.parquet", parquetFile([{ name: "a.b", type: "INT64", values: [1n] }]));
    expect(await run("schema infer list.parquet")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("column 0 (a) holds lists or structures") as string,
    });
  });
});
