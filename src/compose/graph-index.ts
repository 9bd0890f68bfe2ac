import type { Config } from "../config.js";
import { OpenEngine, OxigraphEngine } from "../stores/queries/oxigraph/index.js";
import type { OpenQueries } from "../stores/queries/open-port.js";
import type { QueryEngine } from "../stores/queries/port.js";
import type { RecordStore } from "../stores/records/port.js";
import type { Log } from "../use-cases/deps.js";
import { QueryGuard } from "../use-cases/sparql/index.js";

export interface GraphIndex { queries: QueryEngine & { start(): void }; openQueries: OpenQueries; guard: QueryGuard }

/** The engine of the service's own questions, and the one for strangers behind its guard; both follow the commits. */
export function graphIndex(config: Config, records: RecordStore, log: Log): GraphIndex {
  const openFeed = () => records.openFeed();
  const queries = new OxigraphEngine({ openFeed, indexWait: config.INDEX_WAIT, queryTimeout: config.QUERY_TIMEOUT, log });
  const openQueries = new OpenEngine({
    openFeed, indexWait: config.INDEX_WAIT, timeout: config.SPARQL_TIMEOUT, maxRows: config.SPARQL_MAX_ROWS, maxBytes: config.SPARQL_MAX_BYTES,
    memory: config.SPARQL_MEMORY, threads: config.SPARQL_THREADS, idle: config.SPARQL_IDLE, queue: config.SPARQL_QUEUE, queueWait: config.SPARQL_QUEUE_WAIT, log,
  });
  records.onCommit((sequence) => {
    queries.advance(sequence);
    openQueries.advance(sequence);
  });
  return { queries, openQueries, guard: new QueryGuard(config) };
}
