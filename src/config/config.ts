import {
  baseUrl,
  contact,
  containerHost,
  databaseUrl,
  imagePatterns,
  duration,
  durationFrom,
  headerList,
  host,
  lifetime,
  matching,
  milliseconds,
  networks,
  oneOf,
  origin,
  origins,
  portOrOff,
  rate,
  redisUrl,
  secret,
  sentinelList,
  share,
  size,
  sizeBetween,
  sizeFrom,
  url,
  whole,
  type Reader,
  sizeOrOff,
} from "./setting-values.js";

interface Setting<T> {
  read: Reader<T>;
  default: T;
  about: string;
  secret?: true;
  /** Spaces before and behind are part of it. */ whole?: true;
}

const setting = <T>(read: Reader<T>, fallback: T, about: string): Setting<T> => ({
  read,
  default: fallback,
  about,
});

/** Every setting once: its name in the environment, its parser, its default and one sentence. */
export const SETTINGS = {
  PROFILE: setting(
    oneOf("single", "cluster"),
    "single",
    "What the registry runs on; single is one process that holds everything, but for files " +
      "in S3 or the graph in a SPARQL endpoint where these are set, cluster as many nodes as " +
      "wanted over PostgreSQL, Redis, S3 and a SPARQL endpoint.",
  ),
  ROLE: setting(
    oneOf("all", "api", "worker"),
    "all",
    "What this node of a cluster does: api answers requests, worker works in the " +
      "background, all does both; arkgraph serve --role sets it too.",
  ),
  PORT: setting(whole(0, 65535), 8080, "Port to listen on; 0 picks a free one and prints it."),
  HOST: setting(host, "127.0.0.1", "Address to listen on; 0.0.0.0 for all."),
  DATA_DIR: setting(
    matching(/^[^\0]+$/, "a folder"),
    "./data",
    "Folder that holds everything the registry stores.",
  ),
  DATABASE_URL: {
    ...setting<string | null>(
      databaseUrl,
      null,
      "PostgreSQL database that holds the records, as " +
        "postgres://user:password@host:5432/database?sslmode=verify-full; its tables are in " +
        "the first schema of the search_path.",
    ),
    secret: true,
  },
  DATABASE_POOL: setting(
    whole(5, 1000),
    10,
    "Most connections of this process to the database, four of them for writes; two more " +
      "serve the graph index, and one search by vectors.",
  ),
  DATABASE_TIMEOUT: setting(
    duration,
    60_000,
    "Longest time of one statement in the database; longer than COMMIT_LIMIT, for which one " +
      "commit may wait for another.",
  ),
  DATABASE_CONNECT_TIMEOUT: setting(
    duration,
    5_000,
    "Longest time to connect to the database, or to wait for a connection that is free.",
  ),
  DATABASE_POLL: setting(
    duration,
    100,
    "How often this process looks for commits of others in the database.",
  ),
  BASE_URL: setting<string | null>(
    url,
    null,
    "Public address of the registry, used in links; by default the address it listens on.",
  ),
  ARK_NAAN: setting(
    matching(/^[0-9]{5,16}$/, "five digits or more"),
    "99999",
    "Name Assigning Authority Number for new identifiers; 99999 is reserved for tests.",
  ),
  GLOBAL_RESOLVER: setting(
    url,
    "https://n2t.net",
    "Where identifiers of other authorities are redirected to.",
  ),
  ACCEPTED_NAANS: setting(
    matching(/^(\*|[0-9]{5,16}(,[0-9]{5,16})*)$/, "* or a list of NAANs with commas"),
    "*",
    "Authorities whose identifiers crates may bring along.",
  ),
  JWT_SECRET: {
    ...setting<string | null>(
      secret,
      null,
      "Key that signs tokens; by default one is made at the first start and kept in DATA_DIR.",
    ),
    secret: true,
  },
  TOKEN_LIFETIME: setting(duration, 86_400_000, "How long a token is valid."),
  PASSWORD_MIN_LENGTH: setting(
    whole(8, 256),
    8,
    "Least characters of a new password; one of the 10,000 most used is refused whatever " +
      "its length.",
  ),
  REGISTRATION: setting(
    oneOf("open", "admin"),
    "open",
    "Who may create accounts: anyone, or administrators only.",
  ),
  TRUSTED_PROXIES: setting<string | null>(
    networks,
    null,
    "Addresses and networks (10.0.0.0/8) of the proxies in front, with commas: what they " +
      "write in X-Forwarded-For is believed; by default nobody is.",
  ),
  CORS_ORIGINS: setting<"*" | readonly string[] | null>(
    origins,
    "*",
    "Sites whose pages may call the service from a browser, as https://app.example.org with " +
      "commas; * for any, off for none. Credentials of the browser are never accepted across " +
      "origins.",
  ),
  SECURITY_CONTACT: setting<string | null>(
    contact,
    null,
    "Where security reports go, as mailto:security@example.org or an https URL; " +
      "/.well-known/security.txt names it.",
  ),
  LOGIN_RATE: setting(
    rate,
    20,
    "Login attempts per minute per address and account; off for no limit.",
  ),
  WRITE_RATE: setting(rate, 0, "Writes per minute per account; off for no limit."),
  MAX_CONNECTIONS: setting(
    whole(10, 1_000_000),
    10_000,
    "Most connections that are open at a time; further ones get a 503.",
  ),
  MAX_CONNECTIONS_PER_ADDRESS: setting(
    whole(1, 1_000_000),
    512,
    "Most connections of one client address, or of one IPv6 network of 64 bits; proxies " +
      "that TRUSTED_PROXIES names are exempt.",
  ),
  HEADERS_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    15_000,
    "Longest time in which the headers of a request must arrive, or the first byte on a new " +
      "connection.",
  ),
  KEEP_ALIVE_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    65_000,
    "How long a connection stays open without a request; longer than the same time-out of a " +
      "proxy in front.",
  ),
  BODY_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    60_000,
    "Period in which BODY_MIN_RATE must arrive on average, or the body must end; smaller " +
      "bodies therefore have this time in all.",
  ),
  BODY_MIN_RATE: setting(
    size,
    16 * 2 ** 10,
    "Slowest rate, in bytes a second, at which the body of a request may arrive.",
  ),
  LOG_LEVEL: setting(
    oneOf("fatal", "error", "warn", "info", "debug", "silent"),
    "info",
    "Least severity that is logged.",
  ),
  MAX_BODY_BYTES: setting(
    size,
    2 * 2 ** 20,
    "Largest JSON body of a request; crate metadata has MAX_METADATA_BYTES instead.",
  ),
  MAX_JSON_DEPTH: setting(
    whole(10, 10_000),
    200,
    "Deepest nesting of a JSON body or of crate metadata.",
  ),
  MAX_JSON_VALUES: setting(
    whole(100, 10_000_000),
    20_000,
    "Most keys and values, counted together, of a JSON body; crate metadata has " +
      "MAX_METADATA_BYTES and MAX_CRATE_ENTITIES instead.",
  ),
  MAX_PAGE_BYTES: setting(
    sizeFrom(2 ** 16, "64K"),
    2 * 2 ** 20,
    "About the most bytes of documents in one page of a list: it ends early, with a cursor " +
      "to go on, rather than hold more.",
  ),
  MAX_FORM_FIELDS: setting(
    whole(10, 10_000),
    1000,
    "Most fields of a form body, and most parameters of a query string.",
  ),
  MAX_LOGIN_BYTES: setting(
    sizeFrom(2 ** 10, "1K"),
    16 * 2 ** 10,
    "Largest body of a request that carries a password and needs no token: /token, /login " +
      "and POST /user.",
  ),
  DOCUMENT_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    10_000,
    "Longest time that reading and expanding one large JSON document may take, in its own thread.",
  ),
  DOCUMENT_MEMORY: setting(
    sizeFrom(2 ** 26, "64MiB"),
    512 * 2 ** 20,
    "Heap of the thread that reads and expands large JSON documents.",
  ),
  DOCUMENT_QUEUE: setting(
    whole(1, 10_000),
    64,
    "How many large JSON documents wait for that thread; further ones are refused.",
  ),
  MAX_UPLOAD_BYTES: setting(size, 5 * 2 ** 30, "Largest file or archive of an upload."),
  MAX_CRATE_ENTRIES: setting(whole(1, 10_000_000), 200_000, "Most members of a crate's archive."),
  MAX_CRATE_INFLATED_BYTES: setting(
    size,
    50 * 2 ** 30,
    "Most bytes of all members of an archive together.",
  ),
  MAX_CRATE_RATIO: setting(
    whole(1, 100_000),
    200,
    "Largest inflated/compressed ratio of one member, once 16 MiB of it are out.",
  ),
  MAX_MEMBER_NAME_BYTES: setting(whole(1, 65_535), 1024, "Longest name of a member of an archive."),
  MAX_METADATA_BYTES: setting(size, 256 * 2 ** 20, "Largest crate metadata file."),
  MAX_CRATE_ENTITIES: setting(
    whole(1, 10_000_000),
    100_000,
    "Most entities of a crate, sub-crates included.",
  ),
  MAX_ENTITY_BYTES: setting(size, 16 * 2 ** 20, "Largest entity in the metadata of a crate."),
  MAX_CRATE_CONTEXTS: setting(
    whole(1, 100_000),
    100,
    "Most contexts that the metadata of a crate may apply; one counts again wherever it " +
      "meets other terms.",
  ),
  MAX_CRATE_TERMS: setting(
    whole(1, 1_000_000),
    10_000,
    "Most terms that the contexts of an entity of a crate may define together; those of " +
      "RO-Crate have about 2,000.",
  ),
  MAX_CRATE_REFERENCES: setting(
    whole(1, 10_000_000),
    100_000,
    "Most values of one property of an entity of a crate, such as hasPart.",
  ),
  MAX_CRATE_NESTING: setting(
    whole(1, 10_000),
    20,
    "Most levels of entities that stand inside one another in the metadata of a crate; each " +
      "repeats what is inside it.",
  ),
  MAX_CRATE_RECORD_BYTES: setting(
    size,
    2 ** 30,
    "Most bytes of the records that a crate becomes, documents and statements together.",
  ),
  INTAKE_TIMEOUT: setting(duration, 3_600_000, "Longest time one attempt at a crate may take."),
  INTAKE_MEMORY: setting(size, 2 * 2 ** 30, "Heap of the thread that takes in a crate."),
  COMMIT_LIMIT: setting(
    duration,
    30_000,
    "Longest time that the commit of one crate, or of the results of one computation, may " +
      "keep other writes waiting, a quarter of it for the disk; what needs more is refused.",
  ),
  UPLOAD_WAIT: setting(duration, 600_000, "How long a synchronous upload waits for its result."),
  PLAN_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "How many crates are validated without being taken in at a time; others wait for their turn.",
  ),
  PLAN_LIST_LIMIT: setting(
    whole(1, 100_000),
    1000,
    "Most entries in each list of identifiers that a validation answers.",
  ),
  MAX_ATTEMPTS: setting(
    whole(1, 100),
    3,
    "How often background work is begun before it fails; of a crate, ends of the service " +
      "count once.",
  ),
  MAX_RESTARTS: setting(
    whole(0, 10_000),
    100,
    "How often more than MAX_ATTEMPTS a crate is begun whose work ran when the service " +
      "ended without a word, and is not what ended it.",
  ),
  JOB_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "How many crates are taken in, evidence graphs built and scores worked out anew at a " +
      "time, by each node.",
  ),
  JOB_SLOW_AFTER: setting(
    durationFrom(100, "100ms"),
    10_000,
    "How long a crate, an evidence graph or a score may keep others waiting for its place; " +
      "then it goes on beside them, or is stopped and begins again when JOB_SLOW_CONCURRENCY " +
      "allows.",
  ),
  JOB_SLOW_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "How many of those that take longer than JOB_SLOW_AFTER run at a time, besides " +
      "JOB_CONCURRENCY, on each node.",
  ),
  JOB_BACKOFF: setting(
    durationFrom(10, "10ms"),
    1_000,
    "Pause after the first attempt at background work that failed; doubled with each further one.",
  ),
  JOB_BACKOFF_MAX: setting(
    durationFrom(10, "10ms"),
    30_000,
    "Longest pause between two attempts at background work.",
  ),
  OUTAGE_PATIENCE: setting(
    durationFrom(0, "0"),
    24 * 3_600_000,
    "How long after it came in background work waits for a store, a container engine or an " +
      "embeddings server that is away; attempts that such an outage ends do not count against " +
      "MAX_ATTEMPTS until then.",
  ),
  REDIS_URL: {
    ...setting<string | null>(
      redisUrl,
      null,
      "Redis through which several nodes share work and limits; by default the registry is " +
        "one node.",
    ),
    secret: true,
  },
  REDIS_SENTINELS: setting<readonly { host: string; port: number }[] | null>(
    sentinelList,
    null,
    "Redis Sentinels, as host:port with commas, which are asked where the master is; the " +
      "host in REDIS_URL is then the name that they know it by.",
  ),
  REDIS_PREFIX: setting(
    matching(/^[A-Za-z0-9_.-]{1,64}$/, "letters, digits, dots, dashes and underscores"),
    "arkgraph",
    "What the names of keys in Redis begin with; one for each registry.",
  ),
  REDIS_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    2_000,
    "How long a request waits for Redis before it goes on without.",
  ),
  STALLED_INTERVAL: setting(
    durationFrom(100, "100ms"),
    1_000,
    "How often work is looked for whose node is gone, once it gave no sign for five times " +
      "as long; the same on all nodes.",
  ),
  RECONCILE_INTERVAL: setting(
    durationFrom(100, "100ms"),
    5_000,
    "How often submissions that Redis lost are queued again, and cancellations that it did " +
      "not hand on are found.",
  ),
  INTENT_LIFETIME: setting(
    duration,
    86_400_000,
    "How long bytes wait for the record that was announced for them.",
  ),
  SWEEP_INTERVAL: setting(
    duration,
    3_600_000,
    "How often objects that nothing refers to are removed.",
  ),
  SCRUB_RATE: setting(
    sizeOrOff,
    5 * 2 ** 20,
    "Bytes of stored objects that are read and hashed per second in the background, by one " +
      "node at a time, to find damaged ones; off for none.",
  ),
  SCRUB_INTERVAL: setting(
    duration,
    7 * 86_400_000,
    "Least time from the beginning of one round over all stored objects to the beginning of " +
      "the next.",
  ),
  VERIFY_DOWNLOADS: setting(
    oneOf("yes", "no"),
    "yes",
    "Whether a whole file is hashed while it is downloaded, so that the transfer of a " +
      "damaged one is cut before its end; addresses of S3_PRESIGNED lead past it.",
  ),
  INDEX_WAIT: setting(
    duration,
    2_000,
    "How long an answer from the graph waits for the latest commit.",
  ),
  QUERY_TIMEOUT: setting(
    duration,
    30_000,
    "Longest time of one of the service's own graph queries.",
  ),
  SPARQL_TIMEOUT: setting(
    duration,
    30_000,
    "Longest time of a query to /sparql; one that takes longer is ended with its thread.",
  ),
  SPARQL_SLICE: setting(
    durationFrom(100, "100ms"),
    5_000,
    "How long a query to /sparql may run while queries of other callers wait and no thread " +
      "or connection is free; one that ran longer is then ended.",
  ),
  SPARQL_MAX_ROWS: setting(
    whole(1, 100_000_000),
    100_000,
    "Most rows, or statements, of an answer of /sparql; the rest is cut, and the answer says so.",
  ),
  SPARQL_MAX_BYTES: setting(
    size,
    64 * 2 ** 20,
    "Largest answer of /sparql; rows beyond are cut, a longer graph is refused.",
  ),
  SPARQL_MEMORY: setting(
    sizeFrom(2 ** 29, "512MiB"),
    2 * 2 ** 30,
    "Most memory of one thread that answers /sparql, up to 4GiB; a registry that does not " +
      "fit needs a SPARQL endpoint of its own.",
  ),
  SPARQL_THREADS: setting(
    whole(1, 16),
    1,
    "Most threads that answer /sparql; each holds the whole graph, and a further one starts " +
      "only when all are busy.",
  ),
  SPARQL_IDLE: setting(
    duration,
    600_000,
    "How long a thread of /sparql is kept without a query; the next query starts one.",
  ),
  SPARQL_QUEUE: setting(whole(1, 10_000), 32, "Most queries that wait for a thread of /sparql."),
  SPARQL_CALLER_QUEUE: setting(whole(1, 10_000), 8, "Most queries of one caller among them."),
  SPARQL_QUEUE_WAIT: setting(
    duration,
    40_000,
    "How long a query to /sparql waits for its turn, loading included.",
  ),
  SPARQL_PENALTY: setting(
    duration,
    60_000,
    "How long a caller waits whose queries ran into a limit twice in ten minutes; doubled " +
      "each further time.",
  ),
  SPARQL_MAX_QUERY_BYTES: setting(size, 64 * 2 ** 10, "Longest SPARQL query, in UTF-8."),
  SPARQL_QUERY_URL: setting<string | null>(
    url,
    null,
    "Where a SPARQL 1.1 endpoint answers queries, with its query parameters; it then holds " +
      "the graph index. Its dataset must be this registry's alone, and its default graph the " +
      "union of its named graphs.",
  ),
  SPARQL_UPDATE_URL: setting<string | null>(
    url,
    null,
    "Where the same endpoint takes updates; both URLs or none.",
  ),
  SPARQL_USER: setting<string | null>(
    matching(/^[^:\p{Cc}]+$/u, "a name without a colon or control characters"),
    null,
    "User name for the SPARQL endpoint, by HTTP Basic authentication.",
  ),
  SPARQL_PASSWORD: {
    ...setting<string | null>(
      matching(/^\P{Cc}+$/u, "a password without control characters"),
      null,
      "Password for the SPARQL endpoint.",
    ),
    secret: true,
  },
  SPARQL_POOL: setting(
    whole(2, 256),
    8,
    "Most connections to the SPARQL endpoint; half of them are for queries of /sparql.",
  ),
  PROJECTION_BATCH: setting(
    sizeFrom(2 ** 10, "1K"),
    2 ** 20,
    "About the largest update that is sent to the SPARQL endpoint.",
  ),
  PROJECTION_LEASE: setting(
    duration,
    10_000,
    "How long after it was last heard of a node keeps the work of updating the SPARQL endpoint.",
  ),
  PROJECTION_POLL: setting(
    duration,
    250,
    "How often the SPARQL endpoint and the change log are looked at when nothing is announced.",
  ),
  PROJECTION_TIMEOUT: setting(
    duration,
    120_000,
    "How long an update of the SPARQL endpoint may take before it is looked what became of it.",
  ),
  SPARQL_PARSE_TIMEOUT: setting(
    duration,
    5_000,
    "Longest time for reading a SPARQL query before it is run.",
  ),
  SPARQL_MAX_DEPTH: setting(
    whole(5, 100),
    40,
    "Deepest nesting of brackets, of any kind, in a SPARQL query.",
  ),
  SPARQL_MAX_PATTERNS: setting(
    whole(5, 200),
    100,
    "Most triples, path steps, UNION arms, sub-queries and further parts of patterns in a " +
      "SPARQL query.",
  ),
  SPARQL_MAX_OPERATORS: setting(
    whole(5, 1_000),
    500,
    "Most operators and function calls in a SPARQL query.",
  ),
  SPARQL_MAX_VALUES: setting(
    whole(5, 100_000),
    2_000,
    "Most terms in the VALUES blocks and IN lists of a SPARQL query.",
  ),
  SPARQL_MAX_CLOSURES: setting(whole(1, 10), 2, "Deepest nesting of * and + in one property path."),
  VALIDATIONS_AT_ONCE: setting(whole(1, 64), 2, "How many checks by shapes run at a time."),
  VALIDATE_TIMEOUT: setting(duration, 60_000, "Longest time of one check by shapes."),
  VALIDATE_MEMORY: setting(size, 512 * 2 ** 20, "Heap of the thread that checks by shapes."),
  VALIDATE_MAX_RESULTS: setting(
    whole(1, 1_000_000),
    10_000,
    "Most results in one answer of a check by shapes.",
  ),
  BACKLINK_LIMIT: setting(whole(1, 100_000), 1000, "Most derived entries in one list of a record."),
  EVIDENCE_LIMIT: setting(
    whole(1, 100_000),
    10_000,
    "Nodes in one evidence graph answer when no limit is asked for.",
  ),
  MAX_TABLE_BYTES: setting(
    size,
    2 ** 30,
    "Largest table that is checked against a schema, as it is sent.",
  ),
  TABLE_MAX_TEXT: setting(size, 8 * 2 ** 30, "Longest text of a table, once it is unpacked."),
  TABLE_MAX_ROW: setting(size, 32 * 2 ** 20, "Longest row of a table."),
  TABLE_MAX_CELL: setting(size, 16 * 2 ** 20, "Longest cell of a table."),
  TABLE_MAX_COLUMNS: setting(whole(1, 10_000_000), 250_000, "Most columns of a table."),
  TABLE_MAX_ERRORS: setting(
    whole(1, 1_000_000),
    1000,
    "Most errors in one answer; the check of a table ends with the last of them.",
  ),
  TABLE_TIMEOUT: setting(
    duration,
    300_000,
    "Longest time that the check of a table may take, waiting for its turn included.",
  ),
  TABLE_MEMORY: setting(size, 512 * 2 ** 20, "Heap of the thread that checks a table."),
  TABLE_CONCURRENCY: setting(
    whole(1, 64),
    4,
    "How many tables are checked at a time; others wait.",
  ),
  SEARCH_TIMEOUT: setting(duration, 10_000, "Longest time that a search may take."),
  EMBEDDINGS_QUERY_TIMEOUT: setting(
    durationFrom(50, "50ms"),
    2_000,
    "How long a semantic search waits for the vector of its query before it goes by words alone.",
  ),
  VECTORS_INTERVAL: setting(
    durationFrom(100, "100ms"),
    2_000,
    "How often it is looked whether records wait for their vectors.",
  ),
  SEARCH_MAX_QUERY_BYTES: setting(size, 8192, "Longest query of a search."),
  VECTORS_MEMORY: setting(
    size,
    2 ** 30,
    "Most memory for the vectors that semantic search looks at, of each process; a million " +
      "of 384 numbers need 1.5GiB. Where they need more, search goes by words alone.",
  ),
  GRAPHQL_MAX_DEPTH: setting(whole(3, 100), 15, "Deepest nesting of a GraphQL document."),
  GRAPHQL_MAX_COST: setting(
    whole(100, 10_000_000),
    50_000,
    "Most records a GraphQL document may ask for; page sizes multiply.",
  ),
  GRAPHQL_MAX_BYTES: setting(
    sizeFrom(2 ** 16, "64K"),
    4 * 2 ** 20,
    "Most bytes of stored documents that the answer to one GraphQL operation is made of; a " +
      "list over REST has no such limit.",
  ),
  GRAPHQL_MAX_TOKENS: setting(
    whole(100, 100_000),
    2_000,
    "Most lexical tokens of a GraphQL document; values sent as variables are none.",
  ),
  GRAPHQL_MAX_DOCUMENT_BYTES: setting(
    sizeFrom(2 ** 10, "1K"),
    64 * 2 ** 10,
    "Longest GraphQL document, in UTF-8; its variables are bounded by MAX_BODY_BYTES and " +
      "MAX_JSON_VALUES.",
  ),
  GRAPHQL_MAX_MESSAGE_BYTES: setting(
    sizeFrom(2 ** 10, "1K"),
    256 * 2 ** 10,
    "Largest message over a WebSocket, and largest operations or map field of a multipart request.",
  ),
  GRAPHQL_MAX_SUBSCRIPTIONS: setting(
    whole(1, 10_000),
    20,
    "Most operations open at a time on one WebSocket.",
  ),
  MAX_EVENT_STREAMS: setting(
    whole(1, 100_000),
    1000,
    "Most streams of server-sent events over REST that are open at a time.",
  ),
  EVENT_HEARTBEAT: setting(
    duration,
    15_000,
    "How often a silent stream of server-sent events gets a sign of life.",
  ),
  METRICS_PORT: setting<number | null>(
    portOrOff,
    null,
    "Port of its own that answers /metrics for Prometheus; off by default, 0 picks a free one.",
  ),
  METRICS_HOST: setting(
    host,
    "127.0.0.1",
    "Address that METRICS_PORT listens on; keep it where only the scraper gets.",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting<string | null>(
    url,
    null,
    "Collector that is sent the traces of requests and background work, by OTLP in JSON " +
      "over HTTP, to /v1/traces below this address; by default none are made.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: {
    ...setting<Readonly<Record<string, string>> | null>(
      headerList,
      null,
      "Headers that the collector wants, as name=value with commas.",
    ),
    secret: true,
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: setting(
    milliseconds,
    10_000,
    "How long one sending of traces may take, in milliseconds.",
  ),
  OTEL_SERVICE_NAME: setting(
    matching(/^[\w.-]{1,64}$/, "letters, digits, dots, dashes and underscores"),
    "arkgraph",
    "What this registry is called in traces.",
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    share,
    1,
    "Part of the requests that are traced, 0 to 1, where the caller's traceparent does not decide.",
  ),
  OTEL_BSP_SCHEDULE_DELAY: setting(
    milliseconds,
    5_000,
    "Time between two sendings of traces, in milliseconds.",
  ),
  OTEL_BSP_MAX_QUEUE_SIZE: setting(
    whole(1, 1_000_000),
    2_048,
    "Most spans that wait to be sent; those beyond are dropped.",
  ),
  HEALTH_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    3_000,
    "How long /healthz, /readyz and /metrics wait for a part of the service before it " +
      "counts as failed.",
  ),
  S3_ENDPOINT: setting<string | null>(
    origin,
    null,
    "Address of an S3 server that keeps the objects; by default they are files in DATA_DIR.",
  ),
  S3_ACCESS_KEY: {
    ...setting<string | null>(
      matching(/^\S{1,256}$/, "a key without spaces"),
      null,
      "Who the registry is to the S3 server.",
    ),
    secret: true,
  },
  S3_SECRET_KEY: {
    ...setting<string | null>(
      matching(/^\S{1,256}$/, "a key without spaces"),
      null,
      "The secret that goes with S3_ACCESS_KEY.",
    ),
    secret: true,
  },
  S3_BUCKET: setting<string | null>(
    matching(
      /^(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      "a bucket's name: 3 to 63 small letters, digits, dots and hyphens",
    ),
    null,
    "Bucket that holds the objects.",
  ),
  S3_REGION: setting(
    matching(/^[a-z0-9-]{1,64}$/, "the name of a region"),
    "us-east-1",
    "Region of the bucket, which requests are signed for.",
  ),
  S3_PREFIX: setting(
    matching(
      /^(?:[\w-][\w.-]{0,99}\/){1,5}$/,
      "a prefix such as registry/, of letters, digits, dots and hyphens, with a slash at its end",
    ),
    "arkgraph/",
    "Before the keys of all objects, so that a bucket may be shared.",
  ),
  S3_CREATE_BUCKET: setting(
    oneOf("no", "yes"),
    "no",
    "Whether a bucket that is missing is made at the start.",
  ),
  S3_PART_SIZE: setting(
    sizeBetween(5 * 2 ** 20, 5 * 2 ** 30, "5MiB to 5GiB"),
    16 * 2 ** 20,
    "One part of an upload to S3; an upload holds two in memory, and has 10,000 at the most.",
  ),
  S3_TIMEOUT: setting(duration, 30_000, "How long the S3 server may be silent."),
  S3_RETRIES: setting(
    whole(0, 20),
    4,
    "How often a call to S3 is tried again, a little later each time.",
  ),
  S3_PRESIGNED: setting(
    lifetime(604_800_000, "7d"),
    0,
    "How long an address at the S3 server is good that a download is redirected to; off to " +
      "send the bytes through the registry.",
  ),
  SCORE_MAX_RECORDS: setting(
    whole(1, 10_000_000),
    500_000,
    "Most records and references by URL that one AI-readiness score looks at: those of the " +
      "crate and its sub-crates, and those that they refer to.",
  ),
  SCORES_AT_ONCE: setting(
    whole(1, 64),
    1,
    "How many AI-readiness scores are worked out at a time, by each node; others wait for " +
      "their turn.",
  ),
  SCORE_TIMEOUT: setting(
    duration,
    60_000,
    "Longest time that a request waits for an AI-readiness score; working one out in the " +
      "background may take longer.",
  ),
  SCORE_TABLE_BYTES: setting(
    size,
    256 * 2 ** 20,
    "Most bytes of tables that one recomputation of a score checks against their schemas; " +
      "tables beyond that are not looked at.",
  ),
  SCORE_MAX_TABLES: setting(
    whole(0, 1_000_000),
    1000,
    "Most tables that one recomputation of a score checks against their schemas.",
  ),
  EMBEDDINGS_URL: setting<string | null>(
    baseUrl,
    null,
    "Server that makes vectors of texts for semantic search, as http://127.0.0.1:8000/v1: " +
      "/embeddings below it is asked as OpenAI's API has it; the same on all nodes, and by " +
      "default searches go by words alone.",
  ),
  EMBEDDINGS_MODEL: setting<string | null>(
    matching(/^[^\s\p{Cc}#]{1,200}$/u, "a name without spaces and #"),
    null,
    "Model that this server is asked for; with another one, all vectors are made anew.",
  ),
  EMBEDDINGS_QUERY_MODEL: setting<string | null>(
    matching(/^[^\s\p{Cc}#]{1,200}$/u, "a name without spaces and #"),
    null,
    "Name by which it is asked for the vectors of queries, where a server tells them from " +
      "those of records by the name; by default the same.",
  ),
  EMBEDDINGS_QUERY_PREFIX: {
    ...setting(
      matching(
        /^(?:\P{Cc}|\n){1,1000}$/u,
        "text without control characters, of 1000 characters at the most",
      ),
      "",
      "What is put before a query for the model; spaces at its end are kept.",
    ),
    whole: true,
  },
  EMBEDDINGS_PASSAGE_PREFIX: {
    ...setting(
      matching(
        /^(?:\P{Cc}|\n){1,1000}$/u,
        "text without control characters, of 1000 characters at the most",
      ),
      "",
      "What is put before the text of a record for the model; spaces at its end are kept, " +
        "and with another one all vectors are made anew.",
    ),
    whole: true,
  },
  EMBEDDINGS_KEY: {
    ...setting<string | null>(
      matching(/^[!-~]{1,4096}$/, "a key of ASCII characters without spaces"),
      null,
      "Key for that server, sent as a bearer token.",
    ),
    secret: true,
  },
  EMBEDDINGS_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    60_000,
    "Longest time of one call to the embeddings server.",
  ),
  EMBEDDINGS_BATCH: setting(
    whole(1, 256),
    32,
    "Most texts in one call to the embeddings server; where that is slow, fewer are sent.",
  ),
  EMBEDDINGS_MAX_TEXT: setting(
    whole(16, 1_000_000),
    2_000,
    "Most characters that are sent of one text; the rest is cut off, and with another value " +
      "all vectors are made anew.",
  ),
  EMBEDDINGS_POOL: setting(whole(1, 256), 4, "Most connections to the embeddings server."),
  CONTAINER_HOST: setting<string | null>(
    containerHost,
    null,
    "Docker-compatible engine that runs computations, as unix:///run/podman/podman.sock, " +
      "tcp://host:2375 or https://host:2376; the same on all nodes, and by default none are " +
      "run.",
  ),
  CONTAINER_CERTS: setting<string | null>(
    matching(/^\P{Cc}+$/u, "a folder"),
    null,
    "Folder with ca.pem, cert.pem and key.pem, by which the registry and an engine on " +
      "another host know each other.",
  ),
  CONTAINER_TIMEOUT: setting(
    durationFrom(1000, "1s"),
    60_000,
    "How long the container engine may be silent during a call.",
  ),
  CONTAINER_IMAGES: setting(
    imagePatterns,
    "*",
    "Images that computations may run, with commas and * for any text; whichever they are, " +
      "they must be present on the engine.",
  ),
  EXECUTION_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "How many computations are run at a time, by each node that works.",
  ),
  EXECUTION_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    3_600_000,
    "Longest time that a computation may run.",
  ),
  EXECUTION_MEMORY: setting(
    sizeFrom(2 ** 24, "16MiB"),
    2 * 2 ** 30,
    "Memory of a computation, its files in /tmp included.",
  ),
  EXECUTION_CPUS: setting(whole(1, 1024), 1, "Processors that a computation may use."),
  EXECUTION_PIDS: setting(whole(1, 16_384), 256, "Most processes and threads of a computation."),
  EXECUTION_OPEN_FILES: setting(
    whole(16, 1_000_000),
    1024,
    "Most files that one process of a computation may have open.",
  ),
  EXECUTION_TMP_BYTES: setting(
    size,
    256 * 2 ** 20,
    "Most bytes that a computation may keep in /tmp, which is in memory.",
  ),
  EXECUTION_USER: setting(
    matching(/^[1-9]\d{0,8}:[1-9]\d{0,8}$/, "numbers as 65534:65534, neither of them 0"),
    "65534:65534",
    "User and group that computations run as.",
  ),
  EXECUTION_INPUT_FILES: setting(
    whole(1, 1_000_000),
    10_000,
    "Most files that a computation is given.",
  ),
  EXECUTION_INPUT_BYTES: setting(
    size,
    50 * 2 ** 30,
    "Most bytes of all files together that a computation is given.",
  ),
  EXECUTION_OUTPUT_FILES: setting(
    whole(1, 10_000),
    1000,
    "Most files that a computation may leave.",
  ),
  EXECUTION_OUTPUT_BYTES: setting(
    size,
    5 * 2 ** 30,
    "Most bytes that a computation may leave, and that one file may have while it runs.",
  ),
  EXECUTION_OUTPUT_CHECK: setting(
    durationFrom(100, "100ms"),
    10_000,
    "How often it is looked how much a computation that runs has left so far.",
  ),
  EXECUTION_LOG_BYTES: setting(
    sizeFrom(256, "256"),
    8 * 2 ** 10,
    "How much of the end of what a computation printed is told when it fails.",
  ),
  SHUTDOWN_GRACE: setting(
    duration,
    8_000,
    "How long a stop waits for requests and work in progress.",
  ),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;
export type Config = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
};

export class ConfigError extends Error {}

/**
 * Reads every setting from the environment.
 * @throws ConfigError one line that names the wrong setting and its valid values; the value of a
 * secret is not shown
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const config: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    const given = env[name];
    const raw = spec.whole ? given : given?.trim();
    if (raw === undefined || raw.trim() === "") {
      config[name] = spec.default;
      continue;
    }
    try {
      config[name] = spec.read(raw);
    } catch (cause) {
      // A password in an address is not shown either.
      const shown = spec.secret ? "" : ` "${raw.replace(/\/\/[^/]*@/, "//…@").slice(0, 80)}"`;
      throw new ConfigError(`${name}${shown} is not valid: it takes ${(cause as Error).message}`);
    }
  }
  assertTogether(config);
  return config as Config;
}

/** Settings that have no effect without each other. */
const TOGETHER: readonly SettingName[][] = [
  ["S3_ENDPOINT", "S3_ACCESS_KEY", "S3_SECRET_KEY", "S3_BUCKET"],
];

function assertTogether(config: Readonly<Record<string, unknown>>): void {
  if (config["CONTAINER_CERTS"] !== null && !/^(tcp|https):/.test(String(config["CONTAINER_HOST"])))
    throw new ConfigError(
      "CONTAINER_CERTS is for an engine on another host: set CONTAINER_HOST to " +
        "https://host:2376, or take CONTAINER_CERTS away",
    );
  if (config["REDIS_SENTINELS"] !== null && config["REDIS_URL"] === null)
    throw new ConfigError(
      "REDIS_URL is missing: with REDIS_SENTINELS it names the master, as " +
        "redis://:password@mymaster",
    );
  for (const names of TOGETHER) {
    const missing = names.filter((name) => config[name] === null);
    if (missing.length === 0 || missing.length === names.length) continue;
    throw new ConfigError(
      `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing: ` +
        `${names.join(", ")} are set together, or none of them`,
    );
  }
}
