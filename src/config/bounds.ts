/**
 * Bounds that no operator has a reason to change: sizes in bytes, times in ms. Settings are in
 * `config.ts`. A test may lower a bound, as it may set a setting.
 */
export const BOUNDS = {
  /** How often this process polls the database for commits of other processes. */
  DATABASE_POLL: 100,
  /** Heap of the thread that reads and expands large JSON documents. */
  DOCUMENT_MEMORY: 512 * 2 ** 20,
  /** How many large JSON documents wait for that thread; further ones are refused. */
  DOCUMENT_QUEUE: 64,
  /** Arrows in the picture of an evidence graph; the rest are counted. */
  EVIDENCE_PICTURE_EDGES: 6000,
  /** Nodes in the picture of an evidence graph; in larger graphs like siblings become groups. */
  EVIDENCE_PICTURE_NODES: 600,
  /** Largest message over a WebSocket, and largest operations or map field of a multipart request. */
  GRAPHQL_MAX_MESSAGE_BYTES: 256 * 2 ** 10,
  /** Bytes of a text or table that its preview reads, from the beginning. */
  PREVIEW_BYTES: 256 * 2 ** 10,
  /** Columns of a table in a preview. */
  PREVIEW_COLUMNS: 100,
  /** Heap of the thread of a preview. */
  PREVIEW_MEMORY: 256 * 2 ** 20,
  /** Rows of a table, and cells of a notebook, in a preview. */
  PREVIEW_ROWS: 100,
  /** Longest time that a preview may take, in its own thread. */
  PREVIEW_TIMEOUT: 5_000,
  /** Largest file of a format that a preview reads as a whole: Parquet, notebooks, JSON; and largest image that is shown. */
  PREVIEW_WHOLE_BYTES: 16 * 2 ** 20,
  /** About the largest update that is sent to the SPARQL endpoint. */
  PROJECTION_BATCH: 2 ** 20,
  /** How long after its last heartbeat a node still has the right to update the SPARQL endpoint. */
  PROJECTION_LEASE: 10_000,
  /** How often the SPARQL endpoint and the change log are polled when no change is announced. */
  PROJECTION_POLL: 250,
  /** How long an update of the SPARQL endpoint may take before the registry checks whether it was applied. */
  PROJECTION_TIMEOUT: 120_000,
  /** How many AI-readiness scores are computed at a time, by each node; others are queued. */
  SCORES_AT_ONCE: 1,
  /** Most tables that one recomputation of a score checks against their schemas. */
  SCORE_MAX_TABLES: 1000,
  /** Most bytes of tables that one recomputation of a score checks against their schemas; tables beyond that are not checked. */
  SCORE_TABLE_BYTES: 256 * 2 ** 20,
  /** Longest time that a request waits for an AI-readiness score; a computation in the background may take longer. */
  SCORE_TIMEOUT: 60_000,
  /** Longest query of a search. */
  SEARCH_MAX_QUERY_BYTES: 8192,
  /** How long an idle process of /sparql runs; the next query starts a new one. */
  SPARQL_IDLE: 600_000,
  /** Most operators and function calls in a SPARQL query. */
  SPARQL_MAX_OPERATORS: 500,
  /** Most columns of a table. */
  TABLE_MAX_COLUMNS: 250_000,
  /** Longest row of a table. */
  TABLE_MAX_ROW: 32 * 2 ** 20,
  /** Heap of the thread that checks a table. */
  TABLE_MEMORY: 512 * 2 ** 20,
  /** Heap of the thread that checks by shapes. */
  VALIDATE_MEMORY: 512 * 2 ** 20,
  /** Longest time of one check by shapes. */
  VALIDATE_TIMEOUT: 60_000,
  /** How many checks by shapes run at a time. */
  VALIDATIONS_AT_ONCE: 2,
  /** How many dry runs of crates run at a time; others are queued. */
  PLAN_CONCURRENCY: 1,
};

export type Bounds = Record<keyof typeof BOUNDS, number>;
