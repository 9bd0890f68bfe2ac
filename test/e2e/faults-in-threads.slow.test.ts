import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import type { Answer, User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

// What a thread throws in a timer ends the thread: whoever waits for its answer must get another.

const FAULTS = pathToFileURL(join(packageRoot, "test/support/fault-in-threads.mjs")).href;
const folder = mkdtempSync(join(tmpdir(), "arkgraph-faults-"));
const file = join(folder, "next");
let registry: RegistryProcess;
let ada: User;
let crateId: string;
/** What a request asks for is new each time: answers may be cached. */
let count = 0;
let schema: string;
beforeAll(async () => {
  registry = await RegistryProcess.start({
    env: { NODE_OPTIONS: `--import ${FAULTS}`, FAULT_FILE: file, WRITE_RATE: "off" },
  });
  ada = await registry.user();
  const names = Array.from({ length: 9 }, (_, at) => `${at}.csv`);
  const { body } = await registry.upload(
    await crate(
      names.map((name) => ({ "@id": name, "@type": "File", name })),
      Object.fromEntries(names.map((name) => [name, `x\n${rowsOf(name)}`])),
    ),
    ada.token,
    { path: "/rocrate/upload" },
  );
  crateId = String(body["@id"]);
  const made = await registry.ask("/schema", {
    token: ada.token,
    body: {
      ...bodyOf("schema", ada.ark),
      properties: { x: { description: "X", index: 0, type: "integer" } },
      required: [],
    },
  });
  schema = String(made.body["@id"]);
});
afterAll(async () => {
  await registry.stop();
  rmSync(folder, { recursive: true });
});

const ask = (path: string, body?: unknown): Promise<Answer> =>
  registry.ask(path, { token: ada.token, ...(body !== undefined && { body }) });
/** More than is read in the serving thread. */
const rowsOf = (name: string): string =>
  Array.from({ length: 12_000 }, (_, row) => `${name} ${row}\n`).join("");
const form = (): FormData => {
  const body = new FormData();
  body.set("file", new Blob(["x\n1\n"]), "t.csv");
  return body;
};
const sparql = () =>
  ask(`/sparql?query=${encodeURIComponent(`SELECT ?s WHERE { ?s ?p ${++count} }`)}`);
/** By the module of the thread, and where it has several jobs the job. */
const REQUESTS: Readonly<Record<string, () => Promise<Answer>>> = {
  "piscina/dist/worker for a document": () =>
    ask("/dataset", { ...bodyOf("dataset", ada.ark), keywords: ["k".repeat(100_000)] }),
  "piscina/dist/worker for a query": sparql,
  "graph/oxigraph/thread": () => ask(`/evidencegraph/query/${crateId}?depth=${++count}`),
  "sqlite/read-thread for a search": () =>
    registry.graphql(`{ search(query: "a${++count}") { __typename } }`),
  "sqlite/read-thread for a selection": () => ask(`/records?order=modified&keyword=a${++count}`),
  "piscina/dist/worker for a preview": () =>
    registry.graphql(
      `{ preview(id: "${crateId}/${++count % 9}.csv") { __typename } }`,
      {},
      ada.token,
    ),
  "piscina/dist/worker for a table": () => ask(`/schema/${schema}/validate`, form()),
  "piscina/dist/worker for shapes": () => ask("/validate", bodyOf("dataset", ada.ark)),
  "crates/intake-thread": async () =>
    registry.upload(await crate([], {}, { name: `C${++count}` }), ada.token, {
      path: "/rocrate/upload",
    }),
};

describe("a thread that ends by an uncaught error", () => {
  it.each(Object.entries(REQUESTS))(
    "%s: leaves no request without an answer",
    async (name, run) => {
      const before = await run();
      expect(before.status, before.text).toBeLessThan(400);
      writeFileSync(file, name.split(" ")[0]!);
      const during = await run();
      expect(existsSync(file), "the fault was planted").toBe(false);
      expect([200, 400, 500, 503]).toContain(during.status);
      let after = await run();
      for (let tries = 0; after.status >= 400 && tries < 100; tries++) after = await run();
      expect(after.status, after.text).toBe(before.status);
      expect(registry.alive).toBe(true);
    },
  );

  it("that writes the records leaves no write without an answer", async () => {
    const write = () => ask("/dataset", bodyOf("dataset", ada.ark));
    expect((await write()).status).toBe(200);
    writeFileSync(file, "sqlite/writer-thread");
    expect((await write()).status).toBe(503);
    expect((await write()).status).toBe(503);
    expect((await ask(`/${crateId}`)).status).toBe(200);
    expect(registry.alive).toBe(true);
  });
});
