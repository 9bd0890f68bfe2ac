import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Deps } from "../services/deps.js";
import { within } from "../services/health.js";
import { vectorsAreBehind } from "../services/vectors/handler.js";
import type { PoolLoads } from "../storage/connections.js";

/** Notified of every request that has been answered, or whose client has gone. */
export interface RequestObserver {
  /**
   * @param operation the contract's operationId, `graphql`, `graphql_stream`, or `other`
   * @param status of the answer, or `gone`
   * @param seconds until the last byte; absent for streams of events, which last as long as a
   * client listens
   */
  answered(operation: string, status: string, seconds?: number): void;
}

/** Upper bounds, seconds: from a cached read to a crate that is waited for. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * The counters and measurements of a node, for Prometheus. Labels come from fixed lists only: no
 * identifier, address or text of a user ever becomes one. Gauges are measured on request.
 */
class Metrics implements RequestObserver {
  readonly #registry = new Registry();
  readonly #requests: Counter<"operation" | "status">;
  readonly #durations: Histogram<"operation">;
  #pools: PoolLoads = {};

  readonly #deps: Pick<
    Deps,
    | "config"
    | "damage"
    | "embedder"
    | "records"
    | "queries"
    | "openQueries"
    | "planLimit"
    | "shapeLimit"
    | "tableLimit"
  >;

  constructor(
    deps: Pick<
      Deps,
      | "config"
      | "damage"
      | "embedder"
      | "records"
      | "queries"
      | "openQueries"
      | "planLimit"
      | "shapeLimit"
      | "tableLimit"
    >,
  ) {
    this.#deps = deps;

    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Counter({
      name: "arkgraph_requests_total",
      help: "Requests by operation and status.",
      labelNames: ["operation", "status"],
      registers,
    });
    this.#durations = new Histogram({
      name: "arkgraph_request_duration_seconds",
      help: "Time until the last byte of an answer.",
      labelNames: ["operation"],
      buckets: BUCKETS,
      registers,
    });
    const gauge = <L extends string>(
      name: string,
      help: string,
      labelNames: L[],
      look: (set: (labels: Record<L, string>, value: number) => void) => void | Promise<void>,
    ) => {
      this.#registry.registerMetric(
        new Gauge<L>({
          name,
          help,
          labelNames,
          registers: [],
          async collect() {
            // Without labels a reset would leave a zero, which would be a false value.
            if (labelNames.length === 0) this.remove();
            else this.reset();
            // A store that is unavailable, or whose connections are all in use, leaves its gauge
            // out; the other gauges are still reported.
            let late = false;
            const looked = Promise.resolve(
              look((labels, value) => {
                if (!late) this.set(labels as never, value);
              }),
            );
            await within(deps.config.HEALTH_TIMEOUT, looked).catch(() => {
              late = true;
            });
          },
        }),
      );
    };
    gauge(
      "arkgraph_submissions",
      "Submissions of the whole installation that have not ended.",
      ["status"],
      async (set) => {
        const counts = { queued: 0, running: 0 };
        for (const { status } of await deps.records.unfinished())
          counts[status as keyof typeof counts]++;
        for (const [status, count] of Object.entries(counts)) set({ status }, count);
      },
    );
    gauge("arkgraph_commits", "Number of the last commit that changed records.", [], async (set) =>
      set({}, await deps.records.sequence()),
    );
    gauge(
      "arkgraph_index_lag_commits",
      "Commits that the graph index has yet to apply.",
      [],
      async (set) =>
        set({}, Math.max(0, (await deps.records.sequence()) - deps.queries.state().sequence)),
    );
    gauge("arkgraph_index_ready", "1 when the graph index is loaded.", [], (set) =>
      set({}, deps.queries.state().state === "ready" ? 1 : 0),
    );
    const counted = (name: string, help: string, look: () => number) =>
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(look());
        },
      });
    counted(
      "arkgraph_objects_scrubbed_total",
      "Stored objects that the scrub of this node has read and hashed.",
      () => deps.damage.scrubbed.objects,
    );
    counted(
      "arkgraph_objects_scrubbed_bytes_total",
      "Their bytes.",
      () => deps.damage.scrubbed.bytes,
    );
    gauge(
      "arkgraph_objects_damaged",
      "Damaged stored objects of the installation that have not been repaired.",
      [],
      (set) => set({}, deps.damage.count),
    );
    const { embedder } = deps;
    if (embedder)
      gauge("arkgraph_vectors_behind", "1 while records wait for their vectors.", [], async (set) =>
        set({}, Number(await vectorsAreBehind(deps, embedder))),
      );
    gauge(
      "arkgraph_turns",
      "Bounded work of this node: what runs, and what is queued.",
      ["work", "state"],
      (set) => {
        for (const [work, limit] of [
          ["plans", deps.planLimit],
          ["shapes", deps.shapeLimit],
          ["tables", deps.tableLimit],
        ] as const)
          for (const [state, count] of Object.entries(limit.load())) set({ work, state }, count);
      },
    );
    gauge(
      "arkgraph_pool_connections",
      "Connections of this node to the database and to the SPARQL endpoint: all open " +
        "ones, and the idle ones among them.",
      ["pool", "state"],
      (set) => {
        for (const [pool, { total, idle }] of Object.entries(this.#pools)) {
          set({ pool, state: "total" }, total);
          set({ pool, state: "idle" }, idle);
        }
      },
    );
    gauge(
      "arkgraph_pool_waiting",
      "Requests of this node that wait for a connection.",
      ["pool"],
      (set) => {
        for (const [pool, { waiting }] of Object.entries(this.#pools)) set({ pool }, waiting);
      },
    );
  }

  answered(operation: string, status: string, seconds?: number): void {
    this.#requests.inc({ operation, status });
    if (seconds !== undefined) this.#durations.observe({ operation }, seconds);
  }

  /** In the text format of Prometheus, version 0.0.4. */
  async text(): Promise<{ type: string; text: string }> {
    const { records, queries, openQueries } = this.#deps;
    // Before other gauges ask the stores: a measurement must not count itself.
    this.#pools = { ...records.pools?.(), ...queries.pools?.(), ...openQueries.pools?.() };
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

export interface MetricsListener {
  metrics: Metrics;
  /** Address without a slash at the end. */ url: string;
  close(): Promise<void>;
}

/**
 * Answers `GET /metrics` on a port of its own, which no proxy in front of the API leads to: the
 * metrics are for operators, and there is no token that a scraper could hold.
 * @throws the error of listening
 */
export async function listenForScrapes(
  deps: Deps,
  port: number,
  host: string,
): Promise<MetricsListener> {
  const metrics = new Metrics(deps);
  const server: Server = createServer((req, res) => {
    if (req.url !== "/metrics" || (req.method !== "GET" && req.method !== "HEAD"))
      return void res.writeHead(404).end();
    metrics.text().then(
      ({ type, text }) =>
        res
          .writeHead(200, { "Content-Type": type, "Cache-Control": "no-store" })
          .end(req.method === "HEAD" ? undefined : text),
      (err: unknown) => {
        deps.log.error({ err }, "metrics could not be collected");
        res.writeHead(500).end();
      },
    );
  });
  await new Promise<void>((resolve, reject) =>
    server.once("error", reject).listen(port, host, resolve),
  );
  const { port: got, family } = server.address() as AddressInfo;
  return {
    metrics,
    url: `http://${family === "IPv6" ? `[${host}]` : host}:${got}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
