import type { QueryEngine } from "../../stores/queries/port.js";
import type { RecordStore } from "../../stores/records/port.js";

export interface EvidenceDeps {
  records: Pick<RecordStore, "find" | "findMany" | "holders" | "list" | "sequence" | "quads">;
  /** The trusted engine. */
  queries: QueryEngine;
  /** ms to wait for the commit at which the request came in (INDEX_WAIT). */
  wait?: number;
  /** ms for one query (QUERY_TIMEOUT). */
  timeout?: number;
}
