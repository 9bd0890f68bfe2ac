import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oneSpelling } from "../../src/rdf/terms.js";
import { startServer, type TestServer } from "../support/server.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";
import { sharedData } from "../support/shared-data.js";

// The competency questions of Workflow Run RO-Crate: queries that others wrote in RO-Crate's own
// namespace, and the numbers of distinct rows that rdflib finds for them in the crates themselves.
const FOLDER = sharedData("judges/workflow-run-queries");

/** By script, the queries in it in their order: how many rows rdflib finds. */
const ROWS: Readonly<Record<string, readonly number[]>> = {
  cq2: [2],
  cq3: [1],
  cq4: [1, 2],
  cq5: [7],
  cq6: [3],
  cq7: [7],
  cq8: [12, 7],
  cq9: [15],
  cq10: [2],
};

const DCT = "PREFIX dct: <http://purl.org/dc/terms/>";
const textOf = (script: string): string => readFileSync(join(FOLDER!, `${script}.py`), "utf8");
/** The queries of a script; one of them uses a prefix that it does not declare. */
const queriesOf = (script: string): string[] =>
  [...textOf(script).matchAll(/QUERY\d*\s*=\s*"""\\\n([\s\S]*?)"""/g)].map((match) => {
    const query = match[1]!;
    return query.includes("dct:") && !query.includes("PREFIX dct:") ? `${DCT}\n${query}` : query;
  });
const metadataOf = (crate: string): string => join(FOLDER!, crate, "ro-crate-metadata.json");

type Row = Record<string, { type: string; value: string }>;
async function rowsOf(server: TestServer, query: string): Promise<Row[]> {
  const headers = { "Content-Type": "application/sparql-query" };
  const answer = await server.request<{ results: { bindings: Row[] } }>("POST", "/sparql", {
    body: query,
    headers,
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results.bindings;
}
/** A registry with crates of the folder. */
async function registryWith(crates: readonly string[]): Promise<TestServer> {
  const server = await startServer();
  const { token } = await server.person("ada");
  for (const crate of crates) {
    const json: unknown = JSON.parse(readFileSync(metadataOf(crate), "utf8"));
    const made = await server.request("POST", "/rocrate/metadata", { token, json });
    expect(made.status, made.text).toBe(200);
  }
  return server;
}
/** Distinct rows. rdflib leaves out a row without any binding. */
function distinct(rows: readonly Row[]): Row[] {
  const found = new Map(rows.map((row) => [JSON.stringify(Object.entries(row).toSorted()), row]));
  return [...found.values()].filter((row) => Object.keys(row).length > 0);
}

describe.skipIf(!FOLDER)("the competency questions for a registry with the four crates", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await registryWith([
      "crate",
      "process_run_crate",
      "provenance_run_crate",
      "workflow_run_crate",
    ]);
  });
  afterAll(() => server.stop());

  it.each(
    Object.entries(ROWS).flatMap(([name, rows]) =>
      rows.map((expected, index) => [name, index, expected] as const),
    ),
  )("%s, query %i: %i rows", async (name, index, expected) => {
    expect(distinct(await rowsOf(server, queriesOf(name)[index]!))).toHaveLength(expected);
  });
});

/** The crate that a script asks. */
const crateOf = (script: string): string => /CRATE = Path\("([^"]+)"\)/.exec(textOf(script))![1]!;
const SCRIPTS = Array.from({ length: 11 }, (_, index) => `cq${index + 1}`);
/**
 * A row as the registry and rdflib have it alike: they name the entities of a crate differently.
 * Those with an IRI of another scheme than http(s), such as `docker://`, are entities too.
 */
const alike = (row: Row): string[] =>
  Object.entries(row)
    .toSorted()
    .map(([variable, { type, value }]) => {
      const isEntity =
        type === "bnode" || !/^https?:/.test(value) || value.startsWith("https://crate.example/");
      return (
        `${variable} ` +
        (type === "literal" ? value : isEntity ? "an entity of the crate" : oneSpelling(value))
      );
    });
const alikeRows = (rows: readonly Row[]): string[] =>
  distinct(rows)
    .map((row) => alike(row).join(", "))
    .toSorted();

describe.skipIf(!FOLDER || (maySkip && toolsMissing()))(
  "the competency questions for a registry with one crate each",
  () => {
    let rows: Record<string, Row[]>;
    const servers = new Map<string, TestServer>();
    beforeAll(async () => {
      for (const crate of new Set(SCRIPTS.map(crateOf)))
        servers.set(crate, await registryWith([crate]));
      const asked = SCRIPTS.flatMap((script) => {
        const crate = metadataOf(crateOf(script));
        return queriesOf(script).map((query, index) => [`${script} ${index}`, { crate, query }]);
      });
      rows = await askTools<typeof rows>("ask-queries.py", { asked: Object.fromEntries(asked) });
    }, 600_000);
    afterAll(async () => {
      for (const server of servers.values()) await server.stop();
    });

    it.each(SCRIPTS)("%s has the rows that rdflib finds", async (script) => {
      for (const [index, query] of queriesOf(script).entries()) {
        const expected = rows[`${script} ${index}`]!;
        expect(expected).not.toEqual([]);
        expect(alikeRows(await rowsOf(servers.get(crateOf(script))!, query))).toEqual(
          alikeRows(expected),
        );
      }
    });
  },
);
