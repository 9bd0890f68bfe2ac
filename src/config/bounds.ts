interface Bound {
  unit: "bytes" | "ms" | "count";
  value: number;
  about: string;
}

const of =
  (unit: Bound["unit"]) =>
  (value: number, about: string): Bound => ({ unit, value, about });
const [bytes, ms, count] = [of("bytes"), of("ms"), of("count")];

/**
 * Bounds that no operator has a reason to change; messages name them. Settings are in `config.ts`.
 * A test may lower a bound, as it may set a setting.
 */
export const BOUNDS = {
  BACKLINK_LIMIT: count(1000, "Most derived entries in one list of a record."),
  BODY_MIN_RATE: bytes(
    16 * 2 ** 10,
    "Slowest rate, a second, at which the body of a request may arrive.",
  ),
  CATALOG_PAGE_SIZE: count(100, "Most datasets on one page of /catalog."),
  CONTAINER_TIMEOUT: ms(
    60_000,
    "Longest time without data from the container engine during a call.",
  ),
  DATABASE_POLL: ms(
    100,
    "How often this process polls the database for commits of other processes.",
  ),
  DATACITE_TIMEOUT: ms(30_000, "Longest time of one call to DataCite."),
  DOCUMENT_MEMORY: bytes(
    512 * 2 ** 20,
    "Heap of the thread that reads and expands large JSON documents.",
  ),
  DOCUMENT_QUEUE: count(
    64,
    "How many large JSON documents wait for that thread; further ones are refused.",
  ),
  DOCUMENT_TIMEOUT: ms(
    10_000,
    "Longest time that reading and expanding one large JSON document may take, in its own thread.",
  ),
  DOI_INTERVAL: ms(2_000, "How often the registry checks for changes of records that have a DOI."),
  EMBEDDINGS_BATCH: count(
    32,
    "Most texts in one call to the embeddings server; where that is slow, fewer are sent.",
  ),
  EMBEDDINGS_POOL: count(4, "Most connections to the embeddings server."),
  EMBEDDINGS_QUERY_TIMEOUT: ms(
    2_000,
    "How long a semantic search waits for the vector of its query before it uses words only.",
  ),
  EMBEDDINGS_TIMEOUT: ms(60_000, "Longest time of one call to the embeddings server."),
  EVENT_HEARTBEAT: ms(15_000, "Interval of the heartbeat on an idle stream of server-sent events."),
  EVIDENCE_CACHE: bytes(
    16 * 2 ** 20,
    "Bytes of evidence graphs cached until the next commit; one answer may take a sixteenth; " +
      "0 caches none.",
  ),
  EVIDENCE_PICTURE_EDGES: count(
    6000,
    "Arrows in the picture of an evidence graph; the rest are counted.",
  ),
  EVIDENCE_PICTURE_NODES: count(
    600,
    "Nodes in the picture of an evidence graph; in larger graphs like siblings become groups.",
  ),
  EXECUTION_LOG_BYTES: bytes(
    8 * 2 ** 10,
    "How many bytes from the end of a computation's printed output its failure reports.",
  ),
  EXECUTION_OPEN_FILES: count(1024, "Most files that one process of a computation may have open."),
  EXECUTION_OUTPUT_CHECK: ms(
    1_000,
    "How often the size of the output of a running computation is checked.",
  ),
  GRAPHQL_MAX_DEPTH: count(
    15,
    "Deepest nesting of a GraphQL document; a connection and its nodes are one level.",
  ),
  GRAPHQL_MAX_DOCUMENT_BYTES: bytes(
    64 * 2 ** 10,
    "Longest GraphQL document, in UTF-8; its variables are bounded by MAX_BODY_BYTES and " +
      "MAX_JSON_VALUES.",
  ),
  GRAPHQL_MAX_MESSAGE_BYTES: bytes(
    256 * 2 ** 10,
    "Largest message over a WebSocket, and largest operations or map field of a multipart request.",
  ),
  GRAPHQL_MAX_RESERVATIONS: count(
    1000,
    "Most reserved streams of server-sent events of a node; one client may have a tenth.",
  ),
  GRAPHQL_MAX_SUBSCRIPTIONS: count(
    20,
    "Most operations open at a time on one WebSocket or one reserved stream.",
  ),
  GRAPHQL_MAX_TOKENS: count(
    2_000,
    "Most lexical tokens of a GraphQL document; values sent as variables do not count.",
  ),
  GRAPHQL_RESERVATION_TIME: ms(
    30_000,
    "A reserved stream that is not opened within this time ends; while it is open, the token or " +
      "session that reserved it is verified as often.",
  ),
  GRAPHQL_SEND_TIMEOUT: ms(
    30_000,
    "A client of a subscription that accepts nothing for this time is disconnected.",
  ),
  HEADERS_TIMEOUT: ms(
    15_000,
    "Longest time in which the headers of a request must arrive, or the first byte on a new " +
      "connection.",
  ),
  HEALTH_TIMEOUT: ms(
    3_000,
    "How long /healthz, /readyz and /metrics wait for a part of the service before it counts " +
      "as failed.",
  ),
  JOB_SLOW_AFTER: ms(
    10_000,
    "How long a job may delay queued jobs of JOB_CONCURRENCY; then it continues under " +
      "JOB_SLOW_CONCURRENCY, or is stopped and starts again when that limit allows.",
  ),
  MAX_ACCESS_TOKENS: count(50, "Most access tokens of one account."),
  MAX_BULK_RECORDS: count(200, "Most records that one request publishes, deletes or hands over."),
  MAX_CHANGE_FEEDS: count(
    200,
    "Most subscriptions to recordChanges that are open at a time on one node; one client, an " +
      "account or an address, may hold a quarter of them.",
  ),
  MAX_CRATE_CONTEXTS: count(
    100,
    "Most contexts that the metadata of a crate may apply; one counts again each time it is " +
      "combined with other terms.",
  ),
  MAX_CRATE_NESTING: count(
    20,
    "Deepest nesting of entities in the metadata of a crate; each level repeats what it contains.",
  ),
  MAX_CRATE_RECORD_BYTES: bytes(
    2 ** 30,
    "Most bytes of the records made from one crate, documents and statements together.",
  ),
  MAX_CRATE_REFERENCES: count(
    100_000,
    "Most values of one property of an entity of a crate, such as hasPart.",
  ),
  MAX_CRATE_TERMS: count(
    10_000,
    "Most terms that the contexts of an entity of a crate may define together; those of " +
      "RO-Crate have about 2,000.",
  ),
  MAX_EVENT_STREAMS: count(
    1000,
    "Most streams of server-sent events over REST that are open at a time.",
  ),
  MAX_FORM_FIELDS: count(
    1000,
    "Most fields of a form body, and most parameters of a query string.",
  ),
  MAX_JSON_DEPTH: count(200, "Deepest nesting of a JSON body or of crate metadata."),
  MAX_JSON_VALUES: count(
    20_000,
    "Most keys and values, counted together, of a JSON body; crate metadata has " +
      "MAX_METADATA_BYTES and MAX_CRATE_ENTITIES instead.",
  ),
  MAX_LINEAGE_RECORDS: count(
    1_000,
    "Most records that one request of OpenLineage events may be about.",
  ),
  MAX_LOGIN_BYTES: bytes(
    16 * 2 ** 10,
    "Largest body of a request that carries a password and needs no token: /token, /login " +
      "and POST /user.",
  ),
  MAX_MEMBER_NAME_BYTES: bytes(1024, "Longest name of a member of an archive."),
  MAX_PAGE_BYTES: bytes(
    2 * 2 ** 20,
    "Approximate maximum of bytes of documents in one page of a list: a larger page ends " +
      "early, with a cursor.",
  ),
  MAX_RESTARTS: count(
    100,
    "How many more attempts than MAX_ATTEMPTS a crate has whose job was running when the " +
      "service crashed, and did not cause the crash.",
  ),
  MAX_REVIEW_LINKS: count(20, "Review links of a record."),
  MAX_SESSIONS: count(
    20,
    "Most browsers in which one account is signed in; a further one signs the oldest out.",
  ),
  OAI_PAGE_SIZE: count(
    200,
    "Most records in one answer of OAI-PMH; a resumption token leads to the next ones.",
  ),
  PLAN_CONCURRENCY: count(1, "How many dry runs of crates run at a time; others are queued."),
  PLAN_DIFFERENCES: count(
    100,
    "Most records of which a dry run of an update returns the properties that change.",
  ),
  PLAN_LIST_LIMIT: count(1000, "Most entries in each list of identifiers that a dry run returns."),
  PREVIEW_BYTES: bytes(
    256 * 2 ** 10,
    "Bytes of a text or table that its preview reads, from the beginning.",
  ),
  PREVIEW_COLUMNS: count(100, "Columns of a table in a preview."),
  PREVIEW_MEMORY: bytes(256 * 2 ** 20, "Heap of the thread of a preview."),
  PREVIEW_ROWS: count(100, "Rows of a table, and cells of a notebook, in a preview."),
  PREVIEW_TABLE_ROWS: count(
    50_000,
    "Rows of a table that the page of its preview counts, sorts and searches.",
  ),
  PREVIEW_TIMEOUT: ms(5_000, "Longest time that a preview may take, in its own thread."),
  PREVIEW_WHOLE_BYTES: bytes(
    16 * 2 ** 20,
    "Largest file of a format that a preview reads as a whole: Parquet, notebooks, JSON; and " +
      "largest image that is shown.",
  ),
  PROJECTION_BATCH: bytes(2 ** 20, "About the largest update that is sent to the SPARQL endpoint."),
  PROJECTION_LEASE: ms(
    10_000,
    "How long after its last heartbeat a node still has the right to update the SPARQL endpoint.",
  ),
  PROJECTION_POLL: ms(
    250,
    "How often the SPARQL endpoint and the change log are polled when no change is announced.",
  ),
  PROJECTION_TIMEOUT: ms(
    120_000,
    "How long an update of the SPARQL endpoint may take before the registry checks whether " +
      "it was applied.",
  ),
  REDIS_TIMEOUT: ms(2_000, "How long a request waits for Redis before it continues without it."),
  RESET_LIFETIME: ms(
    86_400_000,
    "How long a user may set a new password with the token that an administrator made.",
  ),
  S3_PART_SIZE: bytes(
    16 * 2 ** 20,
    "Size of one part of an upload to S3; an upload has up to two parts in memory, and at " +
      "most 10,000 parts.",
  ),
  REVIEW_LINK_LIFETIME: ms(366 * 86_400_000, "How long a review link is valid at most."),
  SCORES_AT_ONCE: count(
    1,
    "How many AI-readiness scores are computed at a time, by each node; others are queued.",
  ),
  SCORE_MAX_RECORDS: count(
    500_000,
    "Most records and references by URL that one AI-readiness score evaluates: those of the " +
      "crate and its sub-crates, and those that they refer to.",
  ),
  SCORE_MAX_TABLES: count(
    1000,
    "Most tables that one recomputation of a score checks against their schemas.",
  ),
  SCORE_TABLE_BYTES: bytes(
    256 * 2 ** 20,
    "Most bytes of tables that one recomputation of a score checks against their schemas; " +
      "tables beyond that are not checked.",
  ),
  SCORE_TIMEOUT: ms(
    60_000,
    "Longest time that a request waits for an AI-readiness score; a computation in the " +
      "background may take longer.",
  ),
  SCRUB_INTERVAL: ms(
    7 * 86_400_000,
    "Minimum time between the starts of two rounds over all stored objects.",
  ),
  SEARCH_MAX_QUERY_BYTES: bytes(8192, "Longest query of a search."),
  SEARCH_TIMEOUT: ms(10_000, "Longest time that a search may take."),
  SPARQL_IDLE: ms(
    600_000,
    "How long an idle process of /sparql runs; the next query starts a new one.",
  ),
  SPARQL_MAX_CLOSURES: count(2, "Deepest nesting of * and + in one property path."),
  SPARQL_MAX_DEPTH: count(40, "Deepest nesting of brackets, of any kind, in a SPARQL query."),
  SPARQL_MAX_OPERATORS: count(500, "Most operators and function calls in a SPARQL query."),
  SPARQL_MAX_PATTERNS: count(
    100,
    "Most triples, path steps, UNION arms, sub-queries and further parts of patterns in a " +
      "SPARQL query.",
  ),
  SPARQL_MAX_QUERY_BYTES: bytes(64 * 2 ** 10, "Longest SPARQL query, in UTF-8."),
  SPARQL_MAX_VALUES: count(
    2_000,
    "Most terms in the VALUES blocks and IN lists of a SPARQL query.",
  ),
  SPARQL_PARSE_TIMEOUT: ms(5_000, "Longest time for reading a SPARQL query before it is run."),
  SPARQL_POOL: count(
    8,
    "Most connections to the SPARQL endpoint; half of them are for queries of /sparql.",
  ),
  SPARQL_QUEUE: count(512, "Most queries that wait for a process of /sparql."),
  SPARQL_QUEUE_WAIT: ms(40_000, "How long a query to /sparql may be queued, loading included."),
  SPARQL_SLICE: ms(
    5_000,
    "How long a query to /sparql may run while queries of other callers wait and no process " +
      "or connection is free; one that ran longer is then ended.",
  ),
  TABLE_CONCURRENCY: count(4, "How many tables are checked at a time; others wait."),
  TABLE_MAX_CELL: bytes(16 * 2 ** 20, "Longest cell of a table."),
  TABLE_MAX_COLUMNS: count(250_000, "Most columns of a table."),
  TABLE_MAX_ERRORS: count(
    1000,
    "Most errors in one answer; the check of a table ends with the last of them.",
  ),
  TABLE_MAX_ROW: bytes(32 * 2 ** 20, "Longest row of a table."),
  TABLE_MAX_TEXT: bytes(8 * 2 ** 30, "Longest text of a table, once it is unpacked."),
  TABLE_MEMORY: bytes(512 * 2 ** 20, "Heap of the thread that checks a table."),
  VALIDATE_MAX_RESULTS: count(10_000, "Most results in one answer of a check by shapes."),
  VALIDATE_MEMORY: bytes(512 * 2 ** 20, "Heap of the thread that checks by shapes."),
  VALIDATE_TIMEOUT: ms(60_000, "Longest time of one check by shapes."),
  VALIDATIONS_AT_ONCE: count(2, "How many checks by shapes run at a time."),
  VECTORS_INTERVAL: ms(2_000, "How often the registry checks for records without vectors."),
};

type BoundName = keyof typeof BOUNDS;
export type Bounds = Readonly<Record<BoundName, number>>;
