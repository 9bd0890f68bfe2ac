import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { startServer, type TestServer } from "../support/server.js";

// The competency questions of Workflow Run RO-Crate: queries that others wrote in RO-Crate's own namespace, and the
// numbers of distinct rows that rdflib finds for them in the crates themselves.
const FOLDER = join(packageRoot, "..", "shared", "data", "judges", "workflow-run-queries");
const there = existsSync(FOLDER);
if (!there) process.stderr.write("\n!! SKIPPED: the queries of Workflow Run RO-Crate need ../shared/data/judges.\n\n");

/** By script, the queries in it in their order: how many rows rdflib finds. */
const ROWS: Readonly<Record<string, readonly number[]>> = {
  cq2: [2], cq3: [1], cq4: [1, 2], cq5: [7], cq6: [3], cq7: [7], cq8: [12, 7], cq9: [15], cq10: [2],
};

/**
 * Queries that take one run of all there are, so that the others must not be there: the crate that each is
 * about, and its rows.
 */
const ALONE = [["cq1", "workflow_run_crate", 1], ["cq11", "crate", 97]] as const;

const queriesOf = (script: string): string[] => [...script.matchAll(/QUERY\d*\s*=\s*"""\\\n([\s\S]*?)"""/g)].map((match) => match[1]!.includes("dct:") && !match[1]!.includes("PREFIX dct:") ? `PREFIX dct: <http://purl.org/dc/terms/>\n${match[1]!}` : match[1]!);

const metadataOf = (crate: string): unknown => JSON.parse(readFileSync(join(FOLDER, crate, "ro-crate-metadata.json"), "utf8"));

async function rowsOf(server: TestServer, query: string): Promise<number> {
  const answer = await server.request<{ results: { bindings: object[] } }>("POST", "/sparql", { body: query, headers: { "Content-Type": "application/sparql-query" } });
  expect(answer.status, answer.text).toBe(200);
  // rdflib leaves out a row without any binding.
  return new Set(answer.body.results.bindings.filter((row) => Object.keys(row).length > 0).map((row) => JSON.stringify(row))).size;
}

describe.skipIf(!there && process.env["CI"] === undefined)("the competency questions asked of a registry with the four crates", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    const { token } = await server.person("ada");
    for (const crate of ["crate", "process_run_crate", "provenance_run_crate", "workflow_run_crate"]) {
      const made = await server.request("POST", "/rocrate/metadata", { token, json: metadataOf(crate) });
      expect(made.status, made.text).toBe(200);
    }
  });
  afterAll(() => server.stop());

  it.each(Object.entries(ROWS).flatMap(([name, rows]) => rows.map((expected, index) => [name, index, expected] as const)))("%s, query %i: %i rows", async (name, index, expected) => {
    const queries = queriesOf(readFileSync(join(FOLDER, `${name}.py`), "utf8"));
    expect(await rowsOf(server, queries[index]!)).toBe(expected);
  });
});

describe.skipIf(!there && process.env["CI"] === undefined)("the competency questions that go by what the metadata descriptor conforms to", () => {
  it.each(ALONE)("%s, asked of a registry with %s: %i rows", async (name, crate, expected) => {
    const server = await startServer();
    try {
      const { token } = await server.person("ada");
      const made = await server.request("POST", "/rocrate/metadata", { token, json: metadataOf(crate) });
      expect(made.status, made.text).toBe(200);
      const [query] = queriesOf(readFileSync(join(FOLDER, `${name}.py`), "utf8"));
      expect(await rowsOf(server, query!)).toBe(expected);
    } finally {
      await server.stop();
    }
  });
});
