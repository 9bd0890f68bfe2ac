import type { PoolLoads } from "../pool-load.js";

/** Results of SELECT and ASK, and graphs of CONSTRUCT and DESCRIBE. */
export type ResultFormat = "json" | "xml" | "csv" | "tsv";
export type GraphFormat = "nt" | "ttl" | "jsonld" | "rdfxml";

/** A query of a stranger, checked. */
export interface OpenQuestion {
  query: string;
  format: ResultFormat | GraphFormat;
  /** True for CONSTRUCT and DESCRIBE. */
  graph: boolean;
  /** IRI that relative ones are resolved against. */
  base: string;
  /** The dataset asked for; without it the default graph is the union of all. */
  dataset?: { default: readonly string[]; named: readonly string[] };
  /** Commit that the answer must not be older than. */
  sequence: number;
}

/** The side of who asks. */
export interface Asker {
  /** Whose query it is: who was served last is served again after others. */
  caller?: string;
  /** Others may ask under the same name: it is that of a proxy, say. */
  shared?: boolean;
  /** Asked when it is the query's turn; what it throws is the answer then. */
  admit?(): void;
  /** Drops the query while it waits; one that runs goes on to its end or its time-out. */
  signal?: AbortSignal;
}

export interface OpenAnswer {
  bytes: Uint8Array;
  /** The setting that cut the answer. */
  truncated: "SPARQL_MAX_ROWS" | "SPARQL_MAX_BYTES" | null;
  /** Commit that it is as of. */
  sequence: number;
}

/**
 * Answers queries of strangers, apart from the {@link import("./port.js").QueryEngine} that the service itself asks:
 * nothing a query does to it is felt there.
 */
export interface OpenQueries {
  /**
   * @throws {import("../../errors.js").ServiceError} `QUERY_SYNTAX`, `QUERY_REFUSED`, `QUERY_TIMEOUT`, `QUERY_MEMORY`, `QUERY_FAILED`, `SPARQL_BUSY`,
   * `INDEX_LOADING`, `INDEX_BEHIND`, `SPARQL_NEEDS_ENDPOINT`, `SHUTTING_DOWN`
   */
  ask(question: OpenQuestion, asker?: Asker): Promise<OpenAnswer>;
  /** Tells that the truth has reached this sequence; cheap, returns at once. */
  advance(sequence: number): void;
  /** Threads that are up, and queries that wait. */
  state(): { threads: number; waiting: number };
  /** How its connections are used; absent where it has none. */
  pools?(): PoolLoads;
  close(): Promise<void>;
}
