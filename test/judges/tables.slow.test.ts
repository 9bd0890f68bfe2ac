import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parquetMetadata } from "hyparquet";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { DEFAULT_LIMITS, TabularError } from "../../src/tabular/limits.js";
import { type ParquetFile, parquetTable } from "../../src/tabular/parquet-feed.js";
import { separatedBy } from "../../src/tabular/reader/dialect.js";
import { textFeed } from "../../src/tabular/reader/text-feed.js";
import { parseExactJson } from "../../src/tabular/schema/exact-json.js";
import { readSchema } from "../../src/tabular/schema/table-schema.js";
import { propertiesOf } from "../../src/tabular/sources/cell-table.js";
import { validateCells } from "../../src/tabular/validate.js";
import { arkgraph, useFolder } from "../cli/terminal.js";
import { askTools, folderOf, maySkip, toolsMissing } from "../support/servers/judges.js";
import { findProgram } from "../support/servers/programs.js";
import { check, parts, rowsOf, schemaWith } from "../tabular/tables.js";

// Suites of others that packages bring; .ci/run takes them out of the packages.
const SUITES = join(process.env["TEST_SERVERS"] ?? "", "table-suites");
const isMissing = !existsSync(join(SUITES, "complete"));
if (isMissing)
  process.stderr.write(
    "\n!! SKIPPED: the suites for tables are not installed (install_table_suites of .ci/run, with " +
      "TEST_SERVERS=FOLDER).\n\n",
  );

/** The row of a suite in the table of docs/cli.md. */
function listed(suite: string): string | undefined {
  const page = readFileSync(join(packageRoot, "docs", "cli.md"), "utf8");
  return page.split("\n").find((line) => line.startsWith(`| ${suite}`));
}
/** What its last cells are: how many tests passed, of those that apply. */
const counts = (passed: number, applicable: number) =>
  expect.stringContaining(` | ${passed} | ${applicable} |`) as string;

describe.skipIf(isMissing && maySkip)("JSON-Schema-Test-Suite", () => {
  const FOLDER = join(SUITES, "json-schema", "tests", "draft2020-12");
  /** Keywords that validate cells; the suite has a file for each. */
  const KEYWORDS = (
    "pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf " +
    "minItems maxItems uniqueItems enum const"
  ).split(" ");
  const KNOWN = new Set(["$schema", "format", ...KEYWORDS]);

  interface Group {
    description: string;
    schema: Record<string, unknown>;
    tests: { description: string; data: unknown; valid: boolean }[];
  }

  function typeOf(value: unknown): string | undefined {
    if (typeof value === "bigint") return "integer";
    if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
    return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
  }

  /** A value as the cells of a row, and the property that has its type; nothing for other values. */
  function rowOf(data: unknown): { text: string; property: object } | undefined {
    const values: unknown[] = Array.isArray(data) ? data : [data];
    const types = new Set(values.map(typeOf));
    if (types.size === 2 && types.has("integer") && types.has("number")) types.delete("integer");
    const [type] = types;
    if (types.size !== 1 || type === undefined) return undefined;
    const cell = (value: unknown) =>
      typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : String(value);
    return {
      text: `${values.map(cell).join(",")}\n`,
      property: Array.isArray(data)
        ? { type: "array", index: "0::", items: { type } }
        : { type, index: 0 },
    };
  }

  /** How many tests of a file apply, and which of them have another result here. */
  async function resultsOf(file: string): Promise<{ applicable: number; other: string[] }> {
    const other: string[] = [];
    let applicable = 0;
    const groups = parseExactJson(readFileSync(join(FOLDER, file), "utf8")) as Group[];
    for (const { description, schema, tests } of groups) {
      // A keyword that is null counts as absent.
      const applies = Object.entries(schema).every(
        ([key, value]) => KNOWN.has(key) && value !== null,
      );
      for (const { data, valid, description: about } of applies ? tests : []) {
        const row = rowOf(data);
        // A table with the character 0 is refused as a whole.
        if (!row || row.text.includes("\0")) continue;
        applicable++;
        const { errors } = await check(row.text, schemaWith({ v: { ...schema, ...row.property } }));
        if ((errors.length === 0) !== valid) other.push(`${file}: ${description}: ${about}`);
      }
    }
    return { applicable, other };
  }

  async function total(files: readonly string[]) {
    const results = await Promise.all(files.map(resultsOf));
    const other = results.flatMap((result) => result.other);
    const applicable = results.reduce((sum, result) => sum + result.applicable, 0);
    return { other, applicable, passed: applicable - other.length };
  }

  it("has the same result for every keyword of cells", async () => {
    const optional = ["bignum", "float-overflow", "ecmascript-regex", "non-bmp-regex"];
    const { other, passed, applicable } = await total([
      ...KEYWORDS.map((keyword) => `${keyword}.json`),
      ...optional.map((name) => `optional/${name}.json`),
    ]);
    expect(other).toEqual([]);
    expect(listed("JSON-Schema-Test-Suite, keywords")).toEqual(counts(passed, applicable));
  });

  /** Mailboxes in quotes or at an address, and `\\a` as a regular expression, are as in Ajv. */
  const OTHER =
    /email\.json.*(?:quoted string|address-literal)|ecmascript-regex\.json|invalid IRI based on IPv6/;

  it("has the same result for all formats but those listed", async () => {
    const { other, passed, applicable } = await total(
      readdirSync(join(FOLDER, "optional", "format")).map((name) => `optional/format/${name}`),
    );
    expect(other.filter((test) => !OTHER.test(test))).toEqual([]);
    expect(passed / applicable).toBeGreaterThan(500 / 520);
    expect(listed("JSON-Schema-Test-Suite, formats")).toEqual(counts(passed, applicable));
  });
});

describe.skipIf(isMissing && maySkip)("csv-spectrum", () => {
  const FOLDER = join(SUITES, "csv-spectrum");
  const names = isMissing ? [] : readdirSync(join(FOLDER, "csvs"));
  /** Its JSON has another number than its CSV. */
  const WRONG = "location_coordinates.csv";

  it.each(names.filter((name) => name !== WRONG))("is read as its JSON says: %s", async (name) => {
    const bytes = readFileSync(join(FOLDER, "csvs", name));
    const rows = await rowsOf(textFeed(parts(bytes), separatedBy(","), DEFAULT_LIMITS));
    const [[, header], ...others] = rows as [[number, string[]], ...[number, string[]][]];
    const records = others.map(([, cells]) =>
      Object.fromEntries(header.map((key, column) => [key, cells[column]])),
    );
    const stated = readFileSync(join(FOLDER, "json", name.replace(/csv$/, "json")), "utf8");
    expect(records).toEqual(JSON.parse(stated));
  });

  it("is in docs/cli.md", () => {
    expect(listed("csv-spectrum")).toEqual(counts(names.length - 1, names.length));
  });
});

describe.skipIf(isMissing && maySkip)("the Parquet files of parquet-go", () => {
  const FOLDER = join(SUITES, "parquet");
  const names = isMissing
    ? []
    : (readdirSync(FOLDER, { recursive: true }) as string[]).filter((name) =>
        name.endsWith(".parquet"),
      );
  /** Lists and structures: the file alone does not say which properties they are. */
  const nested: string[] = [];

  it.each(names)("are read whole, or refused in one sentence: %s", async (name) => {
    const bytes = readFileSync(join(FOLDER, name));
    const file: ParquetFile = {
      byteLength: bytes.length,
      slice: (start, end) => Uint8Array.from(bytes.subarray(start, end)).buffer,
    };
    const table = parquetTable(file);
    const columns = (await table.columns?.()) ?? [];
    if (columns.some(({ type }) => type === undefined)) return void nested.push(name);
    const schema = readSchema({ properties: propertiesOf(columns), required: [] });
    const run = validateCells(table, schema);
    const result = run.summary().catch((error: unknown) => error);
    if (name.startsWith("malformed")) {
      expect(await result).toBeInstanceOf(TabularError);
      return;
    }
    const stated = Number(parquetMetadata(await file.slice(0)).num_rows);
    expect(await result).toMatchObject({ errors: 0, rows: stated });
  });

  it("are in docs/cli.md", () => {
    const flat = names.length - nested.length;
    expect(listed("Parquet files")).toEqual(counts(flat, flat));
  });
});

describe.skipIf((isMissing || toolsMissing("table-judges")) && maySkip)(
  "Frictionless' own packages",
  () => {
    const FOLDER = join(SUITES, "frictionless");

    interface Package {
      resources?: { path?: unknown; schema?: unknown }[];
    }
    /** All of their tables are separated text beside them, with a schema. */
    function applies(name: string): boolean {
      try {
        const { resources } = JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Package;
        return (
          Array.isArray(resources) &&
          resources.length > 0 &&
          resources.every(
            ({ path, schema }) =>
              typeof path === "string" &&
              /^[^:]+\.[ct]sv$/.test(path) &&
              typeof schema === "object",
          )
        );
      } catch {
        return false;
      }
    }

    it("have the verdict of Frictionless", async () => {
      const files = (readdirSync(FOLDER, { recursive: true }) as string[])
        .filter((name) => name.endsWith(".json") && applies(name))
        .toSorted();
      const verdicts = await askTools<Record<string, string[]>>(
        "frictionless-verdicts.py",
        { folder: FOLDER, files },
        "table-judges",
      );
      const other: string[] = [];
      for (const name of files) {
        const ended = await arkgraph(["schema", "validate", "--schema", name], { cwd: FOLDER });
        if ((ended.status === 0) !== (verdicts[name]!.length === 0))
          other.push(`${name}: ${ended.stdout} ${ended.stderr} ${verdicts[name]!.join("; ")}`);
      }
      // The key missingValues of a package is not of the standard; here it has no effect.
      expect(other).toEqual([expect.stringMatching(/^package-with-missingvalues-993\.json: /)]);
      expect(listed("Frictionless")).toEqual(counts(files.length - other.length, files.length));
    });
  },
);

describe.skipIf(toolsMissing("table-judges") && maySkip)(
  "fairscape-cli",
  { timeout: 300_000 },
  () => {
    const { path, run, write } = useFolder();
    const python = findProgram("python3") ?? "";
    const theirs = async (...args: string[]) => {
      const program = join(folderOf("table-judges"), "bin", "fairscape-cli");
      const env = { ...process.env, PYTHONPATH: folderOf("table-judges"), HOME: path() };
      return promisify(execFile)(python, [program, ...args], { cwd: path(), env }).then(
        () => 0,
        (error: { code: number }) => error.code,
      );
    };
    const ours = async (...args: string[]) => (await run(args)).status;
    type Tool = typeof ours;
    let passed = 0;

    // Without blanks, so that a line can be split into words.
    const create = (file: string) =>
      `schema create-tabular --name Cells --description Measurements --separator ; --header ${file}`.split(
        " ",
      );
    const add = (type: string, index: string, file: string, options = "") =>
      `schema add-property ${type} --name c${index[0]} --index ${index} --description Measured ${options} ${file}`
        .split(" ")
        .filter((word) => word !== "");
    const validate = (data: string, file: string) =>
      `schema validate --data ${data} --schema ${file}`.split(" ");

    it.each<[string, Tool, Tool]>([
      ["a schema of arkgraph is read by fairscape-cli", ours, theirs],
      ["a schema of fairscape-cli is read by arkgraph", theirs, ours],
    ])("%s", async (_title, writes, reads) => {
      const file = "schema.json";
      await rm(join(path(), file), { force: true });
      expect(await writes(...create(file))).toBe(0);
      expect(await writes(...add("string", "0", file, "--pattern ^[a-z]$"))).toBe(0);
      expect(await writes(...add("integer", "1", file))).toBe(0);
      // The other program adds to the file, too.
      expect(await reads(...add("boolean", "2", file))).toBe(0);
      const items = "--items-datatype number --min-items 2 --max-items 2";
      expect(await writes(...add("array", "3::", file, items))).toBe(0);
      for (const [row, status] of [
        ["a;1;true;1;2", 0],
        ["A;1;true;1;2", 1],
        ["a;x;true;1;2", 1],
      ] as const) {
        // fairscape-cli wants the elements of an array numbered in the header.
        await write("data.csv", `c0;c1;c2;c3_0;c3_1\n${row}\n`);
        for (const tool of [writes, reads]) {
          expect([row, await tool(...validate("data.csv", file))]).toEqual([row, status]);
          passed++;
        }
      }
    });

    it("infers a schema that the other reads", async () => {
      await write("t.csv", "id,score,ok\na,1.5,true\nb,2,false\n");
      expect(await ours("schema", "infer", "t.csv", "ours.json")).toBe(0);
      expect(await theirs(...validate("t.csv", "ours.json"))).toBe(0);
      const names = ["--name", "Table", "--description", "An inferred table"];
      expect(await theirs("schema", "infer", ...names, "t.csv", "theirs.json")).toBe(0);
      expect(await ours(...validate("t.csv", "theirs.json"))).toBe(0);
      passed += 2;
      expect(listed("fairscape-cli")).toEqual(counts(passed, passed));
    });
  },
);
