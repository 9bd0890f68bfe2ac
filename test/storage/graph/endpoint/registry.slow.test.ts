import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endpointAddress } from "../../../../src/app/open-stores.js";
import { readConfig } from "../../../../src/config/config.js";
import { checkIndex } from "../../../../src/services/check.js";
import { openRecordsDigester } from "../../../../src/storage/graph/oxigraph/index.js";
import { bodyOf } from "../../../support/bodies.js";
import { type Person, startServer, type TestServer } from "../../../support/server.js";
import { sparqlServer } from "../../../support/servers/installed.js";
import { OXIGRAPH } from "../../../support/servers/oxigraph.js";
import type { Make } from "../../../support/servers/sparql-server.js";

/** Started as one does who has not read how. */
const PLAIN: Make = {
  ...OXIGRAPH,
  name: "Oxigraph-plain",
  command: (port, folder) =>
    OXIGRAPH.command(port, folder)?.filter((word) => word !== "--union-default-graph"),
};
const endpoint = sparqlServer(OXIGRAPH);
const plain = sparqlServer(PLAIN);

describe.skipIf(!endpoint.installed)("a registry whose index is a SPARQL endpoint", () => {
  let server: TestServer;
  let ada: Person;
  const dataset = (name: string) =>
    server.request("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, { "@id": `ark:99999/${name}` }),
    });
  const sparql = (query: string) =>
    server.request("POST", "/sparql", {
      body: query,
      headers: { "Content-Type": "application/sparql-query", Accept: "text/csv" },
    });
  const count = async () =>
    (await sparql("SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s a <https://w3id.org/EVI#Dataset> }")).text
      .trim()
      .split(/\s+/)[1];
  const health = async () =>
    (await server.request<{ status: string; checks: { index: string } }>("GET", "/healthz")).body;
  beforeAll(async () => {
    await endpoint.start();
    server = await startServer({
      SPARQL_QUERY_URL: endpoint.queryUrl,
      SPARQL_UPDATE_URL: endpoint.updateUrl,
      INDEX_WAIT: "3s",
      QUERY_TIMEOUT: "3s",
      SPARQL_TIMEOUT: "3s",
    });
    ada = await server.person("Ada");
  }, 60_000);
  afterAll(() => server?.stop());

  it("answers everything as one with an embedded index, and hides its bookkeeping", async () => {
    for (const name of ["a", "b"]) expect(await dataset(name)).toMatchObject({ status: 200 });
    expect(await count()).toBe("2");
    expect((await sparql("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }")).text).not.toContain(
      "urn:",
    );
    expect(
      (await sparql('SELECT ?s ?p ?o { ?s ?p ?o FILTER(STRSTARTS(STR(?p), "urn:")) }')).text.trim(),
    ).toBe("s,p,o");
    expect((await server.request("GET", "/evidencegraph/query/ark:99999/a")).status).toBe(200);
    const { records, queries } = server.deps;
    expect(
      await checkIndex({
        openDigester: () => openRecordsDigester(() => records.openFeed()),
        queries,
      }),
    ).toMatchObject({ agree: true });
  });

  it(
    "accepts records and returns lists while the endpoint is unavailable, answers 503 " +
      "for the graph, and recovers",
    async () => {
      await endpoint.kill();
      expect(await dataset("c")).toMatchObject({ status: 200 });
      expect(await server.request("GET", "/dataset/ark:99999/c")).toMatchObject({ status: 200 });
      expect(await server.request("GET", "/dataset")).toMatchObject({ status: 200 });
      expect(await sparql("SELECT ?s { ?s a ?t }")).toMatchObject({
        status: 503,
        body: { code: "STORE_UNAVAILABLE" },
      });
      const { status, body, headers } = await server.request(
        "GET",
        "/evidencegraph/query/ark:99999/a",
      );
      expect({ status, body, again: headers.get("retry-after") }).toMatchObject({
        status: 503,
        body: { code: "STORE_UNAVAILABLE" },
        again: "5",
      });
      expect(JSON.stringify(body)).not.toContain("127.0.0.1");
      expect(await health()).toMatchObject({ status: "unhealthy", checks: { index: "failed" } });
      await endpoint.start();
      for (let tries = 0; (await count()) !== "3" && tries < 50; tries++) await pause(100);
      expect(await count()).toBe("3");
      expect((await health()).status).toBe("healthy");
    },
  );

  it("stops waiting for an endpoint that accepts connections and does not answer", async () => {
    endpoint.pause();
    try {
      expect(await dataset("d")).toMatchObject({ status: 200 });
      expect((await sparql("SELECT * { ?s a ?t }")).status).toBe(503);
    } finally {
      endpoint.resume();
    }
    for (let tries = 0; (await count()) !== "4" && tries < 50; tries++) await pause(100);
    expect(await count()).toBe("4");
  });
});

describe.skipIf(!plain.installed)("an endpoint whose default graph is no union", () => {
  const open: TestServer[] = [];
  afterEach(() => Promise.all(open.splice(0).map((server) => server.stop())));
  const start = async (settings: Record<string, string>): Promise<TestServer> => {
    const server = await startServer({ SPARQL_UPDATE_URL: plain.updateUrl, ...settings });
    open.push(server);
    return server;
  };
  beforeAll(async () => {
    await plain.start();
  });

  it("is reported in one line that names the fix, which works", async () => {
    const server = await start({ SPARQL_QUERY_URL: plain.queryUrl });
    for (let tries = 0; server.faults.length === 0 && tries < 100; tries++) await pause(50);
    await pause(300);
    expect(server.faults).toHaveLength(1);
    expect((server.faults[0]!.fields as { reason: string }).reason).toContain(
      "union-default-graph",
    );
    expect(await server.request("GET", "/healthz")).toMatchObject({
      body: { checks: { index: "failed" } },
    });
    await server.deps.queries.close();
    const other = await start({ SPARQL_QUERY_URL: `${plain.queryUrl}?union-default-graph` });
    // It holds what the first registry put there, which is not the second's.
    for (let tries = 0; other.faults.length === 0 && tries < 100; tries++) await pause(50);
    expect(JSON.stringify(other.faults)).toContain("another registry");
  });
});

describe("settings of an endpoint", () => {
  it.each<Record<string, string>>([
    { SPARQL_QUERY_URL: "http://x/query" },
    { SPARQL_UPDATE_URL: "http://x/update" },
  ])("are refused before anything is opened when they are incomplete: %j", async (settings) => {
    expect(() => endpointAddress(readConfig(settings))).toThrow(
      /SPARQL_\w+_URL is missing: .*both/,
    );
    await expect(startServer(settings)).rejects.toThrow(/is missing/);
  });
  it("preserve the parameters of the URLs", () => {
    expect(
      endpointAddress(
        readConfig({
          SPARQL_QUERY_URL: "http://x/query?union-default-graph",
          SPARQL_UPDATE_URL: "http://x/update?a=b",
          SPARQL_USER: "u",
          SPARQL_PASSWORD: "p",
        }),
      ),
    ).toEqual({
      queryUrl: "http://x/query?union-default-graph",
      updateUrl: "http://x/update?a=b",
      user: "u",
      password: "p",
    });
  });
});
