import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LiveRegistry } from "../support/live-registry.js";
import { scrape, seriesValue } from "../support/metrics.js";
import { EmbeddingsServer, embeddingsMissing } from "../support/servers/embeddings.js";
import { sparqlServer } from "../support/servers/installed.js";
import { OXIGRAPH } from "../support/servers/oxigraph.js";
import { hasPostgres, PostgresServer } from "../support/servers/postgres.js";

let registry: LiveRegistry;
beforeAll(async () => {
  registry = await LiveRegistry.start({ METRICS_PORT: "0" });
});
afterAll(() => registry?.stop());

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
      seriesValue(await scrape(node), "arkgraph_vectors_behind");
    try {
      await server.kill();
      await node.user("Ada");
      expect(await behind()).toBe(1);
      await server.restart();
      await expect.poll(behind, { timeout: 20_000 }).toBe(0);
      expect(seriesValue(await scrape(registry), "arkgraph_vectors_behind")).toBeNaN();
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
      const reads = 'pool="database_reads"';
      // The registry reads by itself too, so the connection is idle in a moment only.
      await expect
        .poll(
          async () => {
            const now = await scrape(node);
            return [
              seriesValue(now, `arkgraph_pool_connections{${reads},state="total"}`),
              seriesValue(now, `arkgraph_pool_connections{${reads},state="idle"}`),
              seriesValue(now, `arkgraph_pool_waiting{${reads}}`),
            ];
          },
          { timeout: 20_000 },
        )
        .toEqual([1, 1, 0]);
      const quiet = await scrape(node);
      for (const pool of ["database_writes", "sparql_polls"])
        expect(
          seriesValue(quiet, `arkgraph_pool_connections{pool="${pool}",state="total"}`),
          pool,
        ).toBeGreaterThan(0);
      expect(seriesValue(quiet, 'arkgraph_pool_waiting{pool="sparql_open"}')).toBe(0);
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
          async () =>
            seriesValue(await scrape(node), 'arkgraph_pool_waiting{pool="database_reads"}'),
          { timeout: 8_000 },
        )
        .toBeGreaterThan(1);
      await held;
      expect((await answers).map(({ status }) => status)).toEqual([200, 200, 200]);
    });

    it("reports no pools where there are none", async () => {
      expect(await scrape(registry)).not.toMatch(/^arkgraph_pool_\w+\{/m);
    });
  },
);
