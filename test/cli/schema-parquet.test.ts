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
    await write("renamed.csv", table());
    expect((await run("schema validate --data renamed.csv --schema schema.json")).stderr).toBe(
      "arkgraph: renamed.csv: it is Parquet, which cannot be read as a stream: arkgraph " +
        "schema validate reads it from a file whose name ends in .parquet\n",
    );
  });
});
