import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

const LONGEST = 120;
/** Files with lines that hold one pattern, one query or one line of test data, which cannot be broken. */
const WITH_LONG_DATA: readonly string[] = [
  "bench/baselines/pgbench.ts",
  "bench/support/hostile-requests.ts",
  "bench/support/tables.ts",
  "bench/support/wrk.ts",
  "test/cli/client-records.test.ts",
  "test/cli/client-tls.test.ts",
  "test/cli/client-upload.slow.test.ts",
  "test/docs/provenance.test.ts",
  "test/e2e/crate-limits.slow.test.ts",
  "test/graphql/documents.test.ts",
  "test/judges/json-ld-to-rdf.slow.test.ts",
  "test/lint/spreads.test.ts",
  "test/model/dates.test.ts",
  "test/model/vocabulary/ontology.test.ts",
  "test/rest/schema/validate.test.ts",
  "test/services/evidence/assertions.test.ts",
  "test/services/evidence/formats.test.ts",
  "test/storage/records/sqlite/writing-process.mjs",
  "test/support/servers/redis.ts",
];

const sources = execFileSync("git", ["ls-files", "src", "cli", "test", "bench", "scripts"], {
  cwd: packageRoot,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => /\.(tsx?|mjs)$/.test(path));
const linesOf = (path: string) => readFileSync(join(packageRoot, path), "utf8").split("\n");

it("has no line of more than 120 characters, except in the named files", () => {
  const long = sources.filter((path) => linesOf(path).some((line) => line.length > LONGEST));
  expect(long).toEqual(WITH_LONG_DATA);
});

it("has no private member other than #private, except constructors", () => {
  const found = sources.flatMap((path) =>
    linesOf(path)
      .filter((line) => /^\s*private (?!constructor\b)\w/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

/** Figurative words that the names of the code once had. */
const FIGURATIVE = /\b\w*(?:[a-z]Doors?|Truth|[a-z]Turns|FairTurns|SignsOfLife|Yardstick)\b/;
it("has no figurative word in the names of src and cli", () => {
  const found = sources
    .filter((path) => /^(src|cli)\//.test(path))
    .flatMap((path) =>
      linesOf(path)
        .filter((line) => FIGURATIVE.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
