import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { rowsOfFile } from "../cli/table-rows.js";
import { arkgraph, schemaOf } from "../cli/terminal.js";
import { folderOf, maySkip, toolsMissing } from "../support/servers/judges.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-tables-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ROWS = [
  [
    "1",
    "0",
    "0.5",
    "a",
    "2024-02-29",
    "1970-01-01T00:00:00.000000001Z",
    "00:00:00.000000000",
    "1.10",
    "true",
  ],
  [
    "",
    "1",
    "1.5",
    "é",
    "2024-02-29",
    "1970-01-01T00:00:00.000000002Z",
    "00:00:00.000000001",
    "-12345678901234567890.12",
    "false",
  ],
  [
    "9007199254740993",
    "18446744073709551615",
    "",
    "text that is longer than a view",
    "2024-02-29",
    "2023-11-14T22:13:20.123456789Z",
    "23:59:59.999999000",
    "",
    "",
  ],
];
const WORDS = ["x", "y", "x"];

describe.skipIf(maySkip && toolsMissing("table-writers"))("tables that others wrote", () => {
  beforeAll(async () => {
    await promisify(execFile)(
      "python3",
      [join(packageRoot, "test/judges/write-tables.py"), folder],
      {
        env: { ...process.env, PYTHONPATH: folderOf("table-writers") },
      },
    );
  });
  beforeAll(async () => {
    await writeFile(
      join(folder, "s.json"),
      JSON.stringify(schemaOf({ a: { description: "d", index: 0, type: "string" } })),
    );
  });
  const rows = async (name: string): Promise<string[][]> =>
    (await rowsOfFile(join(folder, name))).map(([, ...cells]) => cells);

  it.each(["pyarrow-snappy", "pyarrow-gzip", "pyarrow-brotli", "pyarrow-zstd", "pyarrow-lz4"])(
    "%s.parquet has every digit",
    async (name) => expect(await rows(`${name}.parquet`)).toEqual(ROWS),
  );

  it.each(["polars-snappy", "polars-zstd", "polars-lz4"])(
    "%s.parquet has every digit",
    async (name) => expect(await rows(`${name}.parquet`)).toEqual(ROWS),
  );

  it("Parquet in the form of Spark has every digit", async () => {
    expect(await rows("spark.parquet")).toEqual(
      ROWS.map(([i, , , s, , ts, , dec]) => [i, s, ts, dec]),
    );
  });

  it.each(["polars-uncompressed", "polars-lz4", "polars-zstd"])(
    "%s.arrow has every digit",
    async (name) => expect(await rows(`${name}.arrow`)).toEqual(ROWS),
  );

  it.each(["pyarrow-uncompressed.feather", "pyarrow-lz4.feather", "pyarrow-zstd.feather"])(
    "%s, in several batches, has every digit",
    async (name) => {
      const all = await rows(name);
      expect(all.length).toBe(60_000);
      expect(all.slice(-3)).toEqual(ROWS.map((row, at) => [...row, WORDS[at]]));
    },
  );

  it("a stream of Arrow has every digit", async () => {
    expect(await rows("pyarrow.arrows")).toEqual(ROWS.map((row, at) => [...row, WORDS[at]]));
  });

  it("sheets have their values", async () => {
    expect(await rows("openpyxl.xlsx")).toEqual([
      ["symbol", "score", "day", "when", "good", "clock", "note"],
      ["TP53", "0.1", "2024-02-29", "2024-02-29T12:30:15", "true", "08:05:00", "a\nb <&> é"],
    ]);
    expect(await rows("xlsxwriter.xlsx")).toEqual([
      ["symbol", "score", "day"],
      ["TP53", "1e-7", "2024-02-29"],
    ]);
    expect(await rows("odfpy.ods")).toEqual([
      ["symbol", "score"],
      ["TP53", "0.1"],
    ]);
    expect(await rows("empty-rows.xlsx")).toEqual([["a"], ["1"]]);
  });

  it.each([
    ["letters.gz", "--max-row"],
    ["letters.bz2", "--max-row"],
    ["letters.xz", "--max-row"],
    ["letters.zst", "--max-row"],
    ["letters.zip", "--max-row"],
    ["texts.xlsx", "--max-part"],
    ["footer.parquet", "its Parquet data cannot be read"],
    ["cut.feather", "its Arrow data cannot be read"],
  ])("%s is refused with less than 400 MB", async (name, message) => {
    const { status, stderr } = await arkgraph(
      ["schema", "validate", "--data", name, "--schema", "s.json"],
      {
        cwd: folder,
        env: { NODE_OPTIONS: `--import=${join(packageRoot, "test/support/peak.mjs")}` },
      },
    );
    expect([status, stderr]).toEqual([1, expect.stringContaining(message) as string]);
    expect(Number(stderr.trimEnd().split("\n").at(-1))).toBeLessThan(400_000);
  });

  it.each(["gz", "bz2", "xz", "zst"])(
    "20 million empty lines, packed as %s, are no rows",
    async (ending) => {
      const { status, stdout } = await arkgraph(
        ["schema", "validate", "--data", `lines.${ending}`, "--schema", "s.json"],
        { cwd: folder },
      );
      expect([status, stdout]).toEqual([0, "Validation Success\n"]);
    },
  );
});
