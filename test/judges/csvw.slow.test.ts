import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Parser } from "n3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { importSchema } from "../../cli/commands/schema/exchange.js";
import { packageRoot } from "../../src/package-root.js";
import { parseSchemaText } from "../../src/tabular/schema/table-schema.js";
import { readKeyValues, validateTable } from "../../src/tabular/validate.js";
import { sharedData } from "../support/shared-data.js";

// The W3C's validation tests of CSV on the Web, by `schema import --from csvw` and the engine of
// `schema validate`.
const ARCHIVE = sharedData("judges/csvw-tests.tar.xz");

interface Test {
  id: string;
  /** Tests that expect a warning are of valid data. */
  valid: boolean;
  action: string;
  metadata: string | undefined;
}

/**
 * The tests, each with the metadata that a user would import: those named, else those beside the
 * data.
 */
function testsIn(folder: string): Test[] {
  const base = "http://csvw.example/tests/";
  const stated = new Map<string, Map<string, string[]>>();
  const text = readFileSync(join(folder, "manifest-validation.ttl"), "utf8");
  for (const { subject, predicate, object } of new Parser({
    baseIRI: `${base}manifest-validation`,
  }).parse(text)) {
    const names = stated.get(subject.value) ?? new Map<string, string[]>();
    stated.set(subject.value, names);
    const name = predicate.value.replace(/^.*[#/]/, "");
    names.set(name, [...(names.get(name) ?? []), object.value.replace(base, "")]);
  }
  return [...stated].flatMap(([iri, names]): Test[] => {
    const type = names.get("type")?.[0] ?? "";
    if (!type.endsWith("ValidationTest")) return [];
    const action = names.get("action")![0]!.replace(/\?.*$/, "");
    const beside = [`${action}-metadata.json`, join(dirname(action), "csv-metadata.json")];
    const implicit = (names.get("implicit") ?? []).map((path) => path.replace(/\?.*$/, ""));
    const found = beside.find((path) => implicit.includes(path) && existsSync(join(folder, path)));
    const [named] = stated.get(names.get("option")?.[0] ?? "")?.get("metadata") ?? [];
    const metadata = action.endsWith(".json") ? action : (named ?? found);
    return [
      { id: iri.replace(/^.*#test/, ""), valid: !type.includes("Negative"), action, metadata },
    ];
  });
}

/** By reason, the tests that a table of docs/csvw.md lists. */
function listed(heading: string): Map<string, string[]> {
  const page = readFileSync(join(packageRoot, "docs", "csvw.md"), "utf8");
  const table = page.slice(page.indexOf(heading)).split("\n\n")[1]!;
  const rows = [...table.matchAll(/^\| ([^|]+) \| ([0-9 ]+) \|$/gm)];
  return new Map(rows.map(([, reason, tests]) => [reason!, tests!.split(" ")]));
}

interface Metadata {
  url?: string;
  tables?: Metadata[];
}
/** The metadata as far as they are JSON: that they are not is for the import to find. */
function readMetadata(path: string): Metadata {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Metadata;
  } catch {
    return {};
  }
}

describe.skipIf(!ARCHIVE)("the W3C's validation tests of CSV on the Web", () => {
  const folder = mkdtempSync(join(tmpdir(), "arkgraph-csvw-"));
  const outOfScope: string[] = [];
  const same: string[] = [];
  const other = new Map<string, string>();

  /** Undefined when the data conform, else what is wrong with them or with the metadata. */
  async function problemOf({ action, metadata }: Test): Promise<string | undefined> {
    const path = join(folder, "tests", metadata!);
    const output = join(folder, "schema.json");
    const { url, tables } = readMetadata(path);
    const file =
      action === metadata ? join(dirname(action), String(tables?.[0]?.url ?? url)) : action;
    try {
      await importSchema(path, { from: "csvw", output, force: true });
      const schema = parseSchemaText(readFileSync(output, "utf8"));
      const open = () => createReadStream(join(folder, "tests", file));
      const references = new Map<object, ReadonlySet<string>>();
      for (const key of schema.foreignKeys)
        if (key.reference.resource === "")
          references.set(key, await readKeyValues(open(), schema, key.reference.fields));
      const check = validateTable(open(), schema, { references });
      let first: string | undefined;
      for await (const error of check) first ??= error.message;
      return first;
    } catch (error) {
      return (error as Error).message;
    }
  }

  beforeAll(async () => {
    const quiet = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    execFileSync("tar", ["-xJf", ARCHIVE!, "-C", folder]);
    for (const test of testsIn(join(folder, "tests"))) {
      const { metadata } = test;
      if (
        metadata === undefined ||
        (readMetadata(join(folder, "tests", metadata)).tables?.length ?? 1) > 1
      ) {
        outOfScope.push(test.id);
        continue;
      }
      const problem = await problemOf(test);
      if ((problem === undefined) === test.valid) same.push(test.id);
      else other.set(test.id, problem ?? "conforms");
    }
    quiet.mockRestore();
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are out of scope where docs/csvw.md says so", () => {
    expect(outOfScope.toSorted()).toEqual(
      [...listed("Out of scope, not run:").values()].flat().toSorted(),
    );
  });

  it("have another result where docs/csvw.md says so, and nowhere else", () => {
    const known = [...listed("Run, with another verdict:").values()].flat();
    expect([...other].filter(([test]) => !known.includes(test))).toEqual([]);
    expect(known.filter((test) => !other.has(test))).toEqual([]);
    expect(new Set(known).size).toBe(known.length);
  });

  it("are as many as docs/csvw.md says", () => {
    const run = same.length + other.size;
    const page = readFileSync(join(packageRoot, "docs", "csvw.md"), "utf8");
    const all = outOfScope.length + run;
    expect(page).toContain(
      `Of the ${all} validation tests of the W3C, ${outOfScope.length} are out of scope.`,
    );
    expect(page).toContain(
      `Of the ${run} that are run, ${same.length} have the verdict that the W3C expects`,
    );
    const table = readFileSync(join(packageRoot, "docs", "cli.md"), "utf8");
    expect(table).toContain(`validation | ${same.length} | ${run} |`);
  });
});
