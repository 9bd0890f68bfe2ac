import type { Config } from "../config.js";
import type { OpenQueries } from "../stores/queries/open-port.js";
import { OpenEngine, OxigraphEngine } from "../stores/queries/oxigraph/index.js";
import type { QueryEngine } from "../stores/queries/port.js";
import type { RecordStore } from "../stores/records/port.js";
import type { Log } from "../use-cases/deps.js";
import { QueryGuard } from "../use-cases/sparql/index.js";
import { endpointOptions } from "./endpoint.js";

/** What answers questions about the graph, and what looks at those of strangers first. */
export interface GraphIndex { queries: QueryEngine & { start(): void }; openQueries: OpenQueries; guard: QueryGuard }

/** The graph index in this process, or on the SPARQL endpoint where one is set; it follows the commits. @throws ConfigError as {@link endpointOptions} */
export async function graphIndex(config: Config, records: RecordStore, log: Log): Promise<GraphIndex> {
  const index = await open(config, records, log);
  records.onCommit((sequence) => {
    index.queries.advance(sequence);
    index.openQueries.advance(sequence);
  });
  return index;
}

async function open(config: Config, records: RecordStore, log: Log): Promise<GraphIndex> {
  const openFeed = () => records.openFeed();
  const limits = {
    timeout: config.SPARQL_TIMEOUT, maxRows: config.SPARQL_MAX_ROWS, maxBytes: config.SPARQL_MAX_BYTES, indexWait: config.INDEX_WAIT,
    idle: config.SPARQL_IDLE, queue: config.SPARQL_QUEUE, callerQueue: config.SPARQL_CALLER_QUEUE, queueWait: config.SPARQL_QUEUE_WAIT, slice: config.SPARQL_SLICE,
  };
  const endpoint = endpointOptions(config, records, log);
  if (endpoint) {
    const { BOOKKEEPING, EndpointEngine, OpenEndpoint } = await import("../stores/queries/endpoint/index.js");
    // Each has connections of its own: strangers never keep the service itself from asking.
    const strangers = Math.floor(config.SPARQL_POOL / 2);
    const queries = new EndpointEngine({ ...endpoint, pool: config.SPARQL_POOL - strangers });
    return { queries, openQueries: new OpenEndpoint(queries, endpoint, { ...limits, atOnce: strangers }), guard: new QueryGuard(config, BOOKKEEPING) };
  }
  const queries = new OxigraphEngine({ openFeed, indexWait: config.INDEX_WAIT, queryTimeout: config.QUERY_TIMEOUT, log });
  return {
    queries,
    // The engine of the service has the same graph: what it takes there it takes in a thread for strangers.
    openQueries: new OpenEngine({ ...limits, openFeed, memory: config.SPARQL_MEMORY, needs: () => queries.held(), threads: config.SPARQL_THREADS, log }),
    guard: new QueryGuard(config),
  };
}
