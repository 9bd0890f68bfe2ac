import { randomUUID } from "node:crypto";
import { ConfigError, type Config } from "./config.js";
import { BOOKKEEPING, EndpointEngine, OpenEndpoint, type EndpointAddress, type EndpointOptions } from "./stores/queries/endpoint/index.js";
import type { OpenQueries } from "./stores/queries/open-port.js";
import type { EngineLog } from "./stores/queries/oxigraph/log.js";
import { OpenEngine, OxigraphEngine } from "./stores/queries/oxigraph/index.js";
import type { QueryEngine } from "./stores/queries/port.js";
import type { RecordStore } from "./stores/records/port.js";
import type { Log } from "./use-cases/deps.js";
import { QueryGuard } from "./use-cases/sparql/index.js";

/** What answers questions about the graph, and what looks at those of strangers first. */
export interface GraphIndex { queries: QueryEngine & { start(): void }; openQueries: OpenQueries; guard: QueryGuard }

/** The graph index in this process, or on the SPARQL endpoint where one is set. @throws ConfigError as {@link endpointOptions} */
export function graphIndex(config: Config, records: RecordStore, log: Log): GraphIndex {
  const openFeed = () => records.openFeed();
  const open = {
    timeout: config.SPARQL_TIMEOUT, maxRows: config.SPARQL_MAX_ROWS, maxBytes: config.SPARQL_MAX_BYTES, indexWait: config.INDEX_WAIT,
    idle: config.SPARQL_IDLE, queue: config.SPARQL_QUEUE, queueWait: config.SPARQL_QUEUE_WAIT,
  };
  const endpoint = endpointOptions(config, records, log);
  if (endpoint) {
    // Each has connections of its own: strangers never keep the service itself from asking.
    const strangers = Math.floor(config.SPARQL_POOL / 2);
    const queries = new EndpointEngine({ ...endpoint, pool: config.SPARQL_POOL - strangers });
    return { queries, openQueries: new OpenEndpoint(queries, endpoint, { ...open, atOnce: strangers }), guard: new QueryGuard(config, BOOKKEEPING) };
  }
  return {
    queries: new OxigraphEngine({ openFeed, indexWait: config.INDEX_WAIT, queryTimeout: config.QUERY_TIMEOUT, log }),
    openQueries: new OpenEngine({ ...open, openFeed, memory: config.SPARQL_MEMORY, threads: config.SPARQL_THREADS, log }),
    guard: new QueryGuard(config),
  };
}

/** The name of this truth, made once and kept with it. */
const TRUTH = "projection-truth";

/**
 * The endpoint that the settings name; `undefined` without one.
 * @throws ConfigError when they name half of it
 */
export function endpointAddress(config: Config): EndpointAddress | undefined {
  const { SPARQL_QUERY_URL: queryUrl, SPARQL_UPDATE_URL: updateUrl, SPARQL_USER: user, SPARQL_PASSWORD: password } = config;
  if (queryUrl === null && updateUrl === null) return undefined;
  if (queryUrl === null || updateUrl === null) throw new ConfigError(`${queryUrl === null ? "SPARQL_QUERY_URL" : "SPARQL_UPDATE_URL"} is missing: a SPARQL endpoint needs both SPARQL_QUERY_URL and SPARQL_UPDATE_URL`);
  return { queryUrl, updateUrl, ...(user !== null && { user }), ...(password !== null && { password }) };
}

/** How the engine on that endpoint is opened. @throws as {@link endpointAddress} */
export function endpointOptions(config: Config, records: RecordStore, log?: EngineLog): EndpointOptions | undefined {
  const address = endpointAddress(config);
  return address && {
    ...address,
    openFeed: () => records.openFeed(), leases: records, truth: async () => (await records.setSetting(TRUTH, randomUUID(), { ifAbsent: true }))!,
    batch: config.PROJECTION_BATCH, lease: config.PROJECTION_LEASE, poll: config.PROJECTION_POLL, timeout: config.PROJECTION_TIMEOUT,
    pool: config.SPARQL_POOL, indexWait: config.INDEX_WAIT, queryTimeout: config.QUERY_TIMEOUT, ...(log && { log }),
  };
}
