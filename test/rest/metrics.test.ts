import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LiveRegistry } from "../support/live-registry.js";
import { crate } from "../support/crates.js";
import { EmbeddingsServer, embeddingsMissing } from "../support/servers/embeddings.js";
import { sparqlServer } from "../support/servers/installed.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";
import { hasPostgres, PostgresServer } from "../support/servers/postgres.js";
import type { User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({ METRICS_PORT: "0" });
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

const scrape = async ({ running } = registry): Promise<string> =>
  (await fetch(`${running.metricsUrl}/metrics`)).text();
const value = (text: string, series: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.split(" ")[1],
  );

describe("GET /metrics, on its own port", () => {
  it("counts requests by operation and status, over all interfaces", async () => {
    await registry.ask("/healthz");
    await registry.ask("/ark:99999/nothing-is-here");
    await registry.ask("/no/such/path");
    await registry.graphql("{ __typename }");
    await expect
      .poll(async () =>
        value(await scrape(), 'arkgraph_requests_total{operation="graphql",status="200"}'),
      )
      .toBe(1);
    const text = await scrape();
    expect(value(text, 'arkgraph_requests_total{operation="health",status="200"}')).toBe(1);
    expect(value(text, 'arkgraph_requests_total{operation="resolve_ark",status="404"}')).toBe(1);
    expect(value(text, 'arkgraph_requests_total{operation="other",status="404"}')).toBe(1);
    expect(value(text, 'arkgraph_request_duration_seconds_count{operation="health"}')).toBe(1);
  });

  it("reports submissions, the index, the concurrency limits and the process", async () => {
    expect(await registry.take(await crate([]), ada.token)).toMatchObject({ status: "finished" });
    await expect.poll(async () => value(await scrape(), "arkgraph_index_lag_commits")).toBe(0);
    const text = await scrape();
    expect(value(text, 'arkgraph_submissions{status="queued"}')).toBe(0);
    expect(value(text, "arkgraph_commits")).toBeGreaterThan(0);
    expect(value(text, "arkgraph_index_ready")).toBe(1);
    expect(value(text, "arkgraph_objects_damaged")).toBe(0);
    expect(value(text, "arkgraph_objects_scrubbed_total")).toBe(0);
    expect(value(text, "arkgraph_objects_scrubbed_bytes_total")).toBe(0);
    expect(value(text, 'arkgraph_turns{work="plans",state="running"}')).toBe(0);
    expect(value(text, "process_resident_memory_bytes")).toBeGreaterThan(0);
  });

  it("contains no identifier, address or text of a user", async () => {
    await registry.ask(`/${ada.ark}?secret=hunter2`, { token: ada.token });
    await registry.ask("/dataset/hunter2/../../hunter2");
    const text = await scrape();
    for (const hidden of [ada.ark, ada.email, ada.token, "hunter2", "127.0.0.1"])
      expect(text).not.toContain(hidden);
  });

  it("omits the figures of an unavailable store, and reports the rest", async () => {
    const { sequence } = registry.deps.records;
    registry.deps.records.sequence = () => Promise.reject(new Error("away"));
    const text = await scrape().finally(() => {
      registry.deps.records.sequence = sequence;
    });
    expect(value(text, "arkgraph_commits")).toBeNaN();
    expect(value(text, "arkgraph_index_ready")).toBe(1);
    expect(value(text, "arkgraph_objects_damaged")).toBe(0);
    expect(value(text, "arkgraph_objects_scrubbed_total")).toBe(0);
    expect(value(text, "arkgraph_objects_scrubbed_bytes_total")).toBe(0);
  });

  it("serves nothing else, and is not served at the port of the API", async () => {
    expect((await fetch(`${registry.running.metricsUrl}/healthz`)).status).toBe(404);
    expect((await fetch(`${registry.running.metricsUrl}/metrics`, { method: "POST" })).status).toBe(
      404,
    );
    expect((await registry.ask("/metrics")).status).toBe(404);
    const quiet = await LiveRegistry.start();
    expect(quiet.running.metricsUrl).toBeUndefined();
    await quiet.stop();
  });
});

describe.skipIf(embeddingsMissing())("metrics of a registry with an embeddings server", () => {
  it("report whether records wait for their vectors", async () => {
    const server = await EmbeddingsServer.start();
    const node = await LiveRegistry.start({
      ...server.settings,
      METRICS_PORT: "0",
      VECTORS_INTERVAL: "100ms",
      JOB_BACKOFF: "50ms",
      JOB_BACKOFF_MAX: "100ms",
    });
    const behind = async (): Promise<number> =>
      value(await scrape(node), "arkgraph_vectors_behind");
    try {
      await server.kill();
      await node.user("Ada");
      expect(await behind()).toBe(1);
      await server.restart();
      await expect.poll(behind, { timeout: 20_000 }).toBe(0);
      expect(value(await scrape(), "arkgraph_vectors_behind")).toBeNaN();
    } finally {
      await node.stop();
      await server.stop();
    }
  }, 60_000);
});

const endpoint = sparqlServer(OXIGRAPH);
describe.skipIf(!hasPostgres || !endpoint.installed)(
  "GET /metrics of a node with external stores",
  () => {
    let postgres: PostgresServer;
    let node: LiveRegistry;
    beforeAll(async () => {
      [postgres] = await Promise.all([PostgresServer.start(["fsync=off"]), endpoint.start()]);
      // The least pool there is: one connection for reads.
      node = await LiveRegistry.start({
        METRICS_PORT: "0",
        DATABASE_URL: await postgres.database(),
        DATABASE_POOL: "5",
        HEALTH_TIMEOUT: "300ms",
        DATABASE_CONNECT_TIMEOUT: "20s",
        SPARQL_QUERY_URL: endpoint.queryUrl,
        SPARQL_UPDATE_URL: endpoint.updateUrl,
      });
    });
    afterAll(async () => {
      await node?.stop();
      await postgres?.stop();
    });

    it("reports the use of connection pools, and how many callers wait", async () => {
      expect((await node.ask("/dataset")).status).toBe(200);
      const quiet = await scrape(node);
      expect(value(quiet, 'arkgraph_pool_connections{pool="database_reads",state="total"}')).toBe(
        1,
      );
      expect(value(quiet, 'arkgraph_pool_connections{pool="database_reads",state="idle"}')).toBe(1);
      expect(value(quiet, 'arkgraph_pool_waiting{pool="database_reads"}')).toBe(0);
      for (const pool of ["database_writes", "sparql_polls"])
        expect(
          value(quiet, `arkgraph_pool_connections{pool="${pool}",state="total"}`),
          pool,
        ).toBeGreaterThan(0);
      expect(value(quiet, 'arkgraph_pool_waiting{pool="sparql_open"}')).toBe(0);
      const held = postgres.sql(
        "BEGIN; LOCK TABLE record; SELECT pg_sleep(8); COMMIT",
        postgres.url("test_1"),
      );
      await expect
        .poll(() =>
          postgres.sql(
            "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted",
          ),
        )
        .not.toBe("0");
      const answers = Promise.all([1, 2, 3].map(() => node.ask("/dataset")));
      await expect
        .poll(
          async () => value(await scrape(node), 'arkgraph_pool_waiting{pool="database_reads"}'),
          { timeout: 8_000 },
        )
        .toBeGreaterThan(1);
      await held;
      expect((await answers).map(({ status }) => status)).toEqual([200, 200, 200]);
    });

    it("reports no pools where there are none", async () => {
      expect(await scrape()).not.toMatch(/^arkgraph_pool_\w+\{/m);
    });
  },
);
