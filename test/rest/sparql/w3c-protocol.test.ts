import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.js";
import type { Deps } from "../../../src/services/deps.js";
import { QueryGuard } from "../../../src/services/sparql/answer.js";
import { spellGraphs } from "../../../src/app/spell-graphs.js";
import {
  BOOKKEEPING,
  OpenEndpoint,
  openEndpointEngine,
} from "../../../src/storage/graph/endpoint/index.js";
import { OpenEngine } from "../../../src/storage/graph/oxigraph/index.js";
import { MemoryFeed } from "../../support/memory-feed.js";
import { MemoryLeases } from "../../support/memory-leases.js";
import { sharedData } from "../../support/shared-data.js";
import { startServer, type TestServer } from "../../support/server.js";
import { sparqlServer } from "../../support/servers/installed.js";
import { OXIGRAPH } from "../../support/servers/oxigraph.js";

/** The suite of w3c/rdf-tests as facts; it lies beside a checkout and is no part of the product. */
const SUITE = sharedData("sparql11-protocol");

interface Sent {
  method: string;
  path: string;
  headers: [string, string][];
  body?: string;
  body_charset?: string;
  expect: { expectedStatus: string[]; expectedBoolean?: string[]; expectedFormat?: string[] };
}
interface Case {
  id: string;
  preload: { graph: string; file: string }[];
  requests: Sent[];
}
const cases = SUITE ? (JSON.parse(readFileSync(join(SUITE, "tests.json"), "utf8")) as Case[]) : [];
const updates = cases.filter(({ id }) => id.startsWith("update_"));
const queries = cases.filter((test) => !updates.includes(test));

/**
 * What the suite calls data0: it expects the endpoint to know a graph that it does not describe.
 */
const DATA0 = "http://kasei.us/2009/09/sparql/data/data0.rdf";

const LIMITS = {
  timeout: 10_000,
  maxRows: 1000,
  maxBytes: 2 ** 20,
  idle: 60_000,
  queue: 9,
  slice: 60_000,
  queueWait: 10_000,
  indexWait: 5_000,
};
const oxigraph = sparqlServer(OXIGRAPH);
/** Opens what answers them. */
const inProcess = async (feed: MemoryFeed): Promise<Partial<Deps>> => ({
  openQueries: new OpenEngine({ ...LIMITS, openFeed: feed.open, memory: 2 ** 29, threads: 1 }),
});
const onEndpoint = async (feed: MemoryFeed, { cpu }: Deps): Promise<Partial<Deps>> => {
  const { queryUrl, updateUrl } = await oxigraph.start();
  const queries = await openEndpointEngine({
    openFeed: feed.open,
    leases: new MemoryLeases(),
    source: async () => "w3c",
    queryUrl,
    updateUrl,
  });
  const openQueries = new OpenEndpoint(
    queries,
    { queryUrl, updateUrl },
    { ...LIMITS, atOnce: 2, spell: spellGraphs(cpu, 2 ** 30) },
  );
  const close = async (): Promise<void> =>
    void (await Promise.all([openQueries.close(), queries.close()]));
  return {
    openQueries: {
      ask: (...asked) => openQueries.ask(...asked),
      advance() {},
      state: () => openQueries.state(),
      close,
    },
    guard: new QueryGuard(readConfig({}), cpu, BOOKKEEPING),
  };
};

describe.skipIf(!SUITE).each([
  ["in the process", inProcess, true],
  ["on a SPARQL endpoint", onEndpoint, oxigraph.installed],
] as const)("the W3C tests of the SPARQL 1.1 Protocol, %s", (_place, open, installed) => {
  if (!installed) return it.skip("the W3C tests are not installed");
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    const feed = new MemoryFeed();
    const files = new Map(
      cases
        .flatMap(({ preload }) => preload)
        .map(({ graph, file }) => [graph, readFileSync(join(SUITE!, file), "utf8")]),
    );
    files.set(
      DATA0,
      `<${DATA0}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ` +
        `<http://xmlns.com/foaf/0.1/Document> .\n`,
    );
    feed.commit(
      Object.fromEntries(
        [...files].map(([graph, text]) => [graph, text.replaceAll(/\.$/gm, `<${graph}> .`)]),
      ),
    );
    const { openQueries, guard } = server.deps;
    Object.assign(server.deps, await open(feed, server.deps));
    await openQueries.close();
    if (server.deps.guard !== guard) guard.close();
  });
  afterAll(async () => {
    await server?.deps.openQueries.close();
    server?.deps.guard.close();
    await server?.stop();
  });

  const send = ({ method, path, headers, body, body_charset: charset }: Sent) =>
    server.request(method, path.replace(/^\/sparql\//, "/sparql"), {
      headers: Object.fromEntries(headers),
      ...(body === undefined
        ? {}
        : {
            body: new Uint8Array(
              charset === "UTF-16" ? Buffer.from(`\ufeff${body}`, "utf16le") : Buffer.from(body),
            ),
          }),
    });

  it("are all present", () => expect([queries.length, updates.length]).toEqual([27, 7]));

  it.each(queries.map((test) => [test.id, test] as const))("%s", async (_id, { requests }) => {
    for (const request of requests) {
      const { status, text, headers } = await send(request);
      const { expectedStatus, expectedBoolean, expectedFormat } = request.expect;
      expect(expectedStatus, text).toContain(`StatusCode${Math.floor(status / 100)}xx`);
      if (expectedBoolean) expect(text).toContain(`"boolean":${expectedBoolean[0]!}`);
      if (expectedFormat)
        expect(headers.get("content-type")).toMatch(
          expectedFormat[0] === "RDF" ? /^text\/turtle/ : /^application\/sparql-results\+json/,
        );
    }
  });

  it.each(updates.map((test) => [test.id, test] as const))(
    "%s is refused: nothing is written here",
    async (_id, { requests }) => {
      const { status, body } = await send(requests[0]!);
      expect([
        [415, "UNSUPPORTED_MEDIA_TYPE"],
        [400, "UPDATE_REFUSED"],
      ]).toContainEqual([status, body["code"]]);
    },
  );
});
