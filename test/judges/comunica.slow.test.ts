/** Queries of Comunica, an engine that reads records and the SPARQL endpoint as any RDF source. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import { startServer, type TestServer } from "../support/server.js";
import { maySkip } from "../support/servers/judges.js";

const INSTALLED = process.env["TEST_SERVERS"] ?? "";
const COMUNICA = join(INSTALLED, "comunica");
/** It needs a newer version of Node.js than the registry does. */
const NODE = join(INSTALLED, "node-22.23.3", "bin", "node");
const missing = !existsSync(join(COMUNICA, "node_modules")) || !existsSync(NODE);
if (missing)
  process.stderr.write(
    "\n!! SKIPPED: queries of Comunica, which is not installed (install_comunica and " +
      "install_nodes in .ci/run).\n\n",
  );

const NAME = "https://schema.org/name";
const KEYWORD = "https://schema.org/keywords";
const DERIVED = "https://w3id.org/EVI#derivedFrom";
const DATASETS = 300;

let server: TestServer;
let folder: string;
beforeAll(async () => {
  if (missing) return;
  folder = await mkdtemp(join(tmpdir(), "arkgraph-comunica-"));
  server = await startServer();
  const ada = await server.person("ada");
  for (let index = 0; index < DATASETS; index++) {
    const { status, text } = await server.request("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, {
        "@id": `ark:99999/set-${index}`,
        name: `Set ${index}`,
        keywords: [index % 2 === 0 ? "even" : "odd"],
        ...(index === 0 ? {} : { derivedFrom: [{ "@id": `ark:99999/set-${index - 1}` }] }),
      }),
    });
    expect(status, text).toBe(200);
  }
}, 180_000);
afterAll(async () => {
  if (missing) return;
  expect(server.faults).toEqual([]);
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Question {
  form?: "bindings" | "quads" | "boolean";
  query: string;
  /** The endpoint where none is named. */
  sources?: (string | object)[];
  most?: number;
}
type Row = Record<string, string>;

const endpoint = (): object => ({ type: "sparql", value: `${server.url}/sparql` });
const record = (index: number): string => `${server.url}/ark:99999/set-${index}`;

async function ask(...questions: Question[]): Promise<unknown[]> {
  const file = join(folder, "questions.json");
  await writeFile(
    file,
    JSON.stringify(questions.map((each) => ({ sources: [endpoint()], ...each }))),
  );
  const script = join(packageRoot, "test/judges/ask-with-comunica.mjs");
  const { stdout } = await promisify(execFile)(NODE, [script, COMUNICA, file], {
    maxBuffer: 64 * 2 ** 20,
  });
  return JSON.parse(stdout) as unknown[];
}

describe.skipIf(missing && maySkip)("Comunica", { timeout: 120_000 }, () => {
  test("asks the endpoint, also where it has to find out that it is one", async () => {
    const query = `SELECT ?n WHERE { ?s <${KEYWORD}> "even"; <${NAME}> ?n }`;
    const [named, found] = await ask({ query }, { query, sources: [`${server.url}/sparql`] });
    expect(named).toHaveLength(DATASETS / 2);
    expect(found).toEqual(named);
  });

  test("reads a record by its address", async () => {
    const query = `SELECT ?s ?n WHERE { ?s <${NAME}> ?n }`;
    const [rows] = await ask({ query, sources: [record(3)] });
    expect(rows).toContainEqual({ s: "ark:99999/set-3", n: "Set 3" });
  });

  test("joins 300 bindings of the endpoint with itself and with a record", async () => {
    const query = `SELECT ?s ?n WHERE { ?s <${KEYWORD}> ?k . ?s <${NAME}> ?n }`;
    const [rows] = await ask({ query, sources: [endpoint(), record(1)] });
    expect(new Set((rows as Row[]).map(({ s }) => s))).toHaveLength(DATASETS);
  });

  test("joins what documents of records state with what the endpoint knows", async () => {
    const query = `SELECT ?before ?n WHERE {
      <ark:99999/set-1> <${DERIVED}> ?before . ?before <${NAME}> ?n }`;
    const [rows] = await ask({ query, sources: [record(1), record(2), endpoint()] });
    expect(rows).toContainEqual({ before: "ark:99999/set-0", n: "Set 0" });
  });

  test("gets the graphs of CONSTRUCT and DESCRIBE, and the answer of ASK", async () => {
    const [constructed, described, yes, no] = await ask(
      { form: "quads", query: `CONSTRUCT WHERE { ?s <${KEYWORD}> "odd" }` },
      { form: "quads", query: "DESCRIBE <ark:99999/set-7>" },
      { form: "boolean", query: `ASK { ?s <${NAME}> "Set 9" }` },
      { form: "boolean", query: `ASK { ?s <${NAME}> "None" }` },
    );
    expect(constructed).toHaveLength(DATASETS / 2);
    expect(described).toContainEqual(["ark:99999/set-7", NAME, "Set 7"]);
    expect([yes, no]).toEqual([true, false]);
  });

  test("evaluates OPTIONAL, UNION and property paths", async () => {
    const set = "<ark:99999/set-5>";
    const [optional, union, path] = await ask(
      { query: `SELECT * WHERE { ${set} <${NAME}> ?n OPTIONAL { ${set} <urn:none> ?x } }` },
      { query: `SELECT ?v WHERE { { ${set} <${NAME}> ?v } UNION { ${set} <${KEYWORD}> ?v } }` },
      { query: `SELECT ?before WHERE { ${set} <${DERIVED}>+ ?before }` },
    );
    expect(optional).toEqual([{ n: "Set 5" }]);
    expect((union as Row[]).map(({ v }) => v).sort()).toEqual(["Set 5", "odd"]);
    expect(path).toHaveLength(5);
  });

  test("may leave a query in the middle, and asks the next one", async () => {
    const [some, next] = await ask(
      { query: "SELECT * WHERE { ?s ?p ?o }", most: 1 },
      { query: `SELECT ?n WHERE { <ark:99999/set-1> <${NAME}> ?n }` },
    );
    expect(some).toHaveLength(1);
    expect(next).toEqual([{ n: "Set 1" }]);
  });
});
