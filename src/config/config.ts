import { BOUNDS, type Bounds } from "./bounds.js";
import {
  baseUrl,
  contact,
  containerHost,
  databaseUrl,
  imagePatterns,
  type IssuerSettings,
  issuers,
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
    "Kind of deployment; single is one process with embedded stores, except for files in " +
      "S3 or the graph in a SPARQL endpoint where these are set; cluster is any number of " +
      "nodes over PostgreSQL, Redis, S3 and a SPARQL endpoint.",
  ),
  ROLE: setting(
    oneOf("all", "api", "worker"),
    "all",
    "Role of this node of a cluster: api answers requests, worker runs background jobs, " +
      "all does both; arkgraph serve --role sets it too.",
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
    "Most connections of this process to the database, four of them for writes.",
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
    "Longest time to connect to the database, or to wait for a free connection.",
  ),
  BASE_URL: setting<string | null>(
    url,
    null,
    "Public address of the registry, used in links; by default the address it listens on.",
  ),
  REGISTRY_NAME: setting(
    matching(/^(?!\s)[^\p{Cc}]{1,200}$/u, "a name of at most 200 characters"),
    "Arkgraph",
    "Name of the registry: the publisher of records that state none, and its name in catalogues.",
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
    "Authorities whose identifiers crates may contain.",
  ),
  JWT_SECRET: {
    ...setting<string | null>(
      secret,
      null,
      "Key that signs tokens; by default one is generated at the first start and stored " +
        "in DATA_DIR.",
    ),
    secret: true,
  },
  TOKEN_LIFETIME: setting(duration, 86_400_000, "How long a token is valid."),
  SESSION_LIFETIME: setting(
    durationFrom(60_000, "1m"),
    14 * 86_400_000,
    "Longest time for which a browser stays signed in.",
  ),
  SESSION_IDLE_TIME: setting(
    durationFrom(60_000, "1m"),
    2 * 86_400_000,
    "A browser is signed out after this time without a request.",
  ),
  ACCESS_TOKEN_LIFETIME: setting(
    durationFrom(60_000, "1m"),
    366 * 86_400_000,
    "Longest time for which an access token that a user names may be valid.",
  ),
  REFRESH_LIFETIME: setting(
    durationFrom(60_000, "1m"),
    30 * 86_400_000,
    "A login of the command line ends after this time without use.",
  ),
  OIDC_ISSUERS: {
    ...setting<readonly IssuerSettings[] | null>(
      issuers,
      null,
      "Issuers of OpenID Connect with which people sign in, as a JSON list; docs/sign-in.md shows it.",
    ),
    secret: true,
  },
  PASSWORD_SIGN_IN: setting(
    oneOf("on", "off"),
    "on",
    "Whether people sign in with a password; off needs OIDC_ISSUERS.",
  ),
  PASSWORD_MIN_LENGTH: setting(
    whole(8, 256),
    8,
    "Minimum number of characters of a new password; the 10,000 most used passwords are " +
      "refused whatever their length.",
  ),
  REGISTRATION: setting(
    oneOf("open", "admin"),
    "open",
    "Who may create accounts: anyone, or administrators only.",
  ),
  DEFAULT_VISIBILITY: setting<"open" | "private" | null>(
    oneOf("open", "private"),
    null,
    "Who sees new records until they are published, where a request does not say: open is " +
      "everybody, private is those who may change them; by default records of the APIs are open, " +
      "and uploads by the pages private.",
  ),
  TRUSTED_PROXIES: setting<string | null>(
    networks,
    null,
    "Addresses and networks (10.0.0.0/8) of trusted proxies, with commas: their " +
      "X-Forwarded-For is used; by default none is trusted.",
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
  CONTACT_EMAIL: setting<string | null>(
    matching(/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]+$/, "an e-mail address"),
    null,
    "Address for questions about the registry's metadata; OAI-PMH and the catalogue name it.",
  ),
  LOGIN_RATE: setting(
    rate,
    20,
    "Login attempts per minute per address and account; off for no limit.",
  ),
  SIGNUP_RATE: setting(
    rate,
    20,
    "New accounts per minute per address, of clients without a token; off for no limit.",
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
  KEEP_ALIVE_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    65_000,
    "How long a connection stays open without a request; must be longer than the same " +
      "time-out of a proxy in front.",
  ),
  BODY_TIMEOUT: setting(
    durationFrom(100, "100ms"),
    60_000,
    "Period in which BODY_MIN_RATE must arrive on average, or the body must end; smaller " +
      "bodies therefore have this time in all.",
  ),
  LOG_LEVEL: setting(
    oneOf("fatal", "error", "warn", "info", "debug", "silent"),
    "info",
    "Minimum severity that is logged.",
  ),
  MAX_BODY_BYTES: setting(
    size,
    2 * 2 ** 20,
    "Largest JSON body of a request; crate metadata has MAX_METADATA_BYTES instead.",
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
    "Largest inflated/compressed ratio of one member, checked after the first 16 MiB of output.",
  ),
  MAX_METADATA_BYTES: setting(size, 256 * 2 ** 20, "Largest crate metadata file."),
  MAX_CRATE_ENTITIES: setting(
    whole(1, 10_000_000),
    100_000,
    "Most entities of a crate, sub-crates included.",
  ),
  MAX_ENTITY_BYTES: setting(size, 16 * 2 ** 20, "Largest entity in the metadata of a crate."),
  INTAKE_TIMEOUT: setting(duration, 3_600_000, "Time limit of one attempt to ingest a crate."),
  INTAKE_MEMORY: setting(size, 2 * 2 ** 30, "Heap of the thread that ingests a crate."),
  COMMIT_LIMIT: setting(
    duration,
    30_000,
    "Longest time that the commit of one crate, or of the results of one computation, " +
      "may delay other writes, a quarter of it for the disk; larger commits are refused.",
  ),
  UPLOAD_WAIT: setting(duration, 600_000, "How long a synchronous upload waits for its result."),
  MAX_ATTEMPTS: setting(
    whole(1, 100),
    3,
    "How often a background job is started before it fails; for a crate, all stops of " +
      "the service together count once.",
  ),
  JOB_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "Concurrency limit, on each node, of jobs that ingest crates, build evidence graphs " +
      "or recompute scores.",
  ),
  JOB_SLOW_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "Concurrency limit, on each node and in addition to JOB_CONCURRENCY, of jobs that " +
      "take longer than JOB_SLOW_AFTER.",
  ),
  JOB_BACKOFF: setting(
    durationFrom(10, "10ms"),
    1_000,
    "Pause after the first failed attempt of a background job; doubled with each further one.",
  ),
  JOB_BACKOFF_MAX: setting(
    durationFrom(10, "10ms"),
    30_000,
    "Longest pause between two attempts of a background job.",
  ),
  OUTAGE_PATIENCE: setting(
    durationFrom(0, "0"),
    24 * 3_600_000,
    "Retry window of a background job, counted from its submission, for an unavailable " +
      "store, container engine, embeddings server or DOI service; within it, attempts that " +
      "such an outage ends do not count against MAX_ATTEMPTS.",
  ),
  REDIS_URL: {
    ...setting<string | null>(
      redisUrl,
      null,
      "Redis through which several nodes share jobs and limits; by default the registry " +
        "is one node.",
    ),
    secret: true,
  },
  REDIS_SENTINELS: setting<readonly { host: string; port: number }[] | null>(
    sentinelList,
    null,
    "Redis Sentinels, as host:port with commas, which know the address of the master; " +
      "the host in REDIS_URL is then the name of the master.",
  ),
  REDIS_PREFIX: setting(
    matching(/^[A-Za-z0-9_.-]{1,64}$/, "letters, digits, dots, dashes and underscores"),
    "arkgraph",
    "Prefix of the names of keys in Redis; one for each registry.",
  ),
  STALLED_INTERVAL: setting(
    durationFrom(100, "100ms"),
    500,
    "How often workers look for jobs of failed workers: those that have not renewed the lock " +
      "of a job for five times as long; the same on all nodes.",
  ),
  RECONCILE_INTERVAL: setting(
    durationFrom(100, "100ms"),
    5_000,
    "How often submissions that Redis lost are queued again, and cancellations that it " +
      "did not deliver are applied.",
  ),
  INTENT_LIFETIME: setting(
    duration,
    86_400_000,
    "How long uploaded bytes are stored before a record refers to them; then they are removed.",
  ),
  SWEEP_INTERVAL: setting(duration, 3_600_000, "How often unreferenced objects are removed."),
  SCRUB_RATE: setting(
    sizeOrOff,
    5 * 2 ** 20,
    "Bytes of stored objects that are read and hashed per second in the background, by one " +
      "node at a time, to find damaged ones; off for none.",
  ),
  VERIFY_DOWNLOADS: setting(
    oneOf("yes", "no"),
    "yes",
    "Whether a whole file is hashed while it is downloaded, so that the transfer of a " +
      "damaged one is aborted; downloads by addresses of S3_PRESIGNED are not hashed.",
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
    "Longest time of a query to /sparql; one that takes longer is ended with its process.",
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
    "Most resident memory of one process that answers /sparql, up to 4GiB; a graph that does " +
      "not fit needs GRAPH_ENGINE=oxigraph.",
  ),
  SPARQL_THREADS: setting(
    whole(1, 16),
    1,
    "Most processes that answer /sparql; each holds the whole graph, and a further one starts " +
      "only when all are busy.",
  ),
  SPARQL_PENALTY: setting(
    duration,
    60_000,
    "How long a caller waits whose queries ran into a limit twice in ten minutes; doubled " +
      "each further time.",
  ),
  GRAPH_ENGINE: setting(
    oneOf("embedded", "oxigraph"),
    "embedded",
    "What holds the graph index where SPARQL_QUERY_URL names no endpoint: embedded keeps it in " +
      "the memory of this process, oxigraph starts the Oxigraph server, which stores it in " +
      "DATA_DIR.",
  ),
  OXIGRAPH_PROGRAM: setting(
    matching(/^[^\p{Cc}]+$/u, "the name or the path of a program"),
    "oxigraph",
    "The Oxigraph server that GRAPH_ENGINE=oxigraph starts: a name on PATH, or a path.",
  ),
  OXIGRAPH_MEMORY: setting(
    sizeFrom(256 * 2 ** 20, "256M"),
    4 * 2 ** 30,
    "Most memory of that server; it is started again when a query needs more. Not on Windows.",
  ),
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
  TABLE_TIMEOUT: setting(
    duration,
    300_000,
    "Longest time that the check of a table may take, time in the queue included.",
  ),
  GRAPHQL_MAX_COST: setting(
    whole(100, 10_000_000),
    50_000,
    "Most records a GraphQL document may ask for; page sizes multiply, as far as there are records.",
  ),
  GRAPHQL_ANONYMOUS_TIME: setting(
    duration,
    10_000,
    "A GraphQL operation without a token that reads longer than this ends with QUERY_TIMEOUT.",
  ),
  GRAPHQL_MAX_BYTES: setting(
    sizeFrom(2 ** 16, "64K"),
    4 * 2 ** 20,
    "Most bytes of stored documents that the answer to one GraphQL operation is made of, and of " +
      "its text; a list over REST has no such limit.",
  ),
  GRAPHQL_TRUSTED_DOCUMENTS: setting<string | null>(
    matching(/^\P{Cc}+$/u, "a file"),
    null,
    "JSON file with the only GraphQL documents that are answered: an object of documents by their " +
      "SHA-256, or Apollo's manifest of persisted queries. Default: every document is answered.",
  ),
  METRICS_PORT: setting<number | null>(
    portOrOff,
    null,
    "Port of its own that answers /metrics for Prometheus; off by default, 0 picks a free one.",
  ),
  METRICS_HOST: setting(
    host,
    "127.0.0.1",
    "Address that METRICS_PORT listens on; only the scraper should be able to reach it.",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting<string | null>(
    url,
    null,
    "Collector that receives the traces of requests and background jobs, by OTLP in JSON " +
      "over HTTP, at /v1/traces below this address; by default none are recorded.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: {
    ...setting<Readonly<Record<string, string>> | null>(
      headerList,
      null,
      "Headers for the collector, as name=value with commas.",
    ),
    secret: true,
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: setting(
    milliseconds,
    10_000,
    "Time limit of one export of traces, in milliseconds.",
  ),
  OTEL_SERVICE_NAME: setting(
    matching(/^[\w.-]{1,64}$/, "letters, digits, dots, dashes and underscores"),
    "arkgraph",
    "Name of this registry in traces.",
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    share,
    1,
    "Share of the requests that are traced, 0 to 1, where the caller's traceparent does " +
      "not decide.",
  ),
  S3_ENDPOINT: setting<string | null>(
    origin,
    null,
    "Address of an S3 server that stores the objects; by default they are files in DATA_DIR.",
  ),
  S3_ACCESS_KEY: {
    ...setting<string | null>(
      matching(/^\S{1,256}$/, "a key without spaces"),
      null,
      "Access key of the registry at the S3 server.",
    ),
    secret: true,
  },
  S3_SECRET_KEY: {
    ...setting<string | null>(
      matching(/^\S{1,256}$/, "a key without spaces"),
      null,
      "Secret key that belongs to S3_ACCESS_KEY.",
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
    "Prefix of the keys of all objects, so that a bucket may be shared.",
  ),
  S3_CREATE_BUCKET: setting(
    oneOf("no", "yes"),
    "no",
    "Whether a missing bucket is created at the start.",
  ),
  S3_TIMEOUT: setting(duration, 30_000, "Longest time without data from the S3 server."),
  S3_RETRIES: setting(
    whole(0, 20),
    4,
    "How often a failed call to S3 is retried, with a growing pause.",
  ),
  S3_PRESIGNED: setting(
    lifetime(604_800_000, "7d"),
    0,
    "How long an address at the S3 server is valid to which a download is redirected; " +
      "off to send the bytes through the registry.",
  ),
  EMBEDDINGS_URL: setting<string | null>(
    baseUrl,
    null,
    "Embeddings server for semantic search, as http://127.0.0.1:8000/v1: it implements " +
      "OpenAI's API at /embeddings below this address; the same on all nodes. By default " +
      "searches use words only.",
  ),
  EMBEDDINGS_MODEL: setting<string | null>(
    matching(/^[^\s\p{Cc}#]{1,200}$/u, "a name without spaces and #"),
    null,
    "Model that is requested from this server; after a change, all vectors are computed again.",
  ),
  EMBEDDINGS_QUERY_MODEL: setting<string | null>(
    matching(/^[^\s\p{Cc}#]{1,200}$/u, "a name without spaces and #"),
    null,
    "Model that is requested for the vectors of queries, where the server has another " +
      "name for it; by default the same.",
  ),
  EMBEDDINGS_QUERY_PREFIX: {
    ...setting(
      matching(
        /^(?:\P{Cc}|\n){1,1000}$/u,
        "text without control characters, of 1000 characters at the most",
      ),
      "",
      "Text that precedes a query for the model; spaces at its end are preserved.",
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
      "Text that precedes the text of a record for the model; spaces at its end are " +
        "preserved. After a change, all vectors are computed again.",
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
  EMBEDDINGS_MAX_TEXT: setting(
    whole(16, 1_000_000),
    2_000,
    "Most characters that are sent of one text; the rest is cut off. After a change, all " +
      "vectors are computed again.",
  ),
  DATACITE_URL: setting<string | null>(
    baseUrl,
    null,
    "REST API of DataCite for DOIs, as https://api.datacite.org or https://api.test.datacite.org; " +
      "the same on all nodes, and by default no DOIs are registered.",
  ),
  DATACITE_REPOSITORY: setting<string | null>(
    matching(/^[^\s:\p{Cc}]{1,200}$/u, "the identifier of a repository, such as ABC.DEF"),
    null,
    "Account of the repository at DataCite.",
  ),
  DATACITE_PASSWORD: {
    ...setting<string | null>(
      matching(/^\P{Cc}{1,1000}$/u, "text without control characters"),
      null,
      "Password of that account.",
    ),
    secret: true,
    whole: true,
  },
  DATACITE_PREFIX: setting<string | null>(
    matching(/^10\.[0-9]{4,9}(?:\.[0-9]+)*$/, "a prefix, such as 10.5072"),
    null,
    "Prefix of the DOIs that the registry assigns; a DOI that was reserved keeps the one it has.",
  ),
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
    "Folder with ca.pem, cert.pem and key.pem, with which the registry and an engine on " +
      "another host authenticate each other.",
  ),
  CONTAINER_IMAGES: setting(
    imagePatterns,
    "*",
    "Images that computations may run, with commas and * for any text; each must be " +
      "present on the engine.",
  ),
  EXECUTION_CONCURRENCY: setting(
    whole(1, 64),
    1,
    "How many computations run at a time, on each node that runs jobs.",
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
  EXECUTION_TMP_BYTES: setting(
    size,
    256 * 2 ** 20,
    "Most bytes that a computation may store in /tmp, which is in memory.",
  ),
  EXECUTION_USER: setting(
    matching(/^[1-9]\d{0,8}:[1-9]\d{0,8}$/, "numbers as 65534:65534, neither of them 0"),
    "65534:65534",
    "User and group that computations run as.",
  ),
  EXECUTION_INPUT_FILES: setting(whole(1, 1_000_000), 10_000, "Most input files of a computation."),
  EXECUTION_INPUT_BYTES: setting(
    size,
    50 * 2 ** 30,
    "Most bytes of all input files of a computation together.",
  ),
  EXECUTION_OUTPUT_FILES: setting(whole(1, 10_000), 1000, "Most output files of a computation."),
  EXECUTION_OUTPUT_BYTES: setting(
    size,
    5 * 2 ** 30,
    "Most bytes of all output files of a computation together, and of one file while it runs.",
  ),
  SHUTDOWN_GRACE: setting(
    duration,
    8_000,
    "How long a stop waits for requests and jobs in progress.",
  ),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;
export type Config = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
} & Bounds;

export class ConfigError extends Error {}

/**
 * Reads every setting from the environment.
 * @throws ConfigError one line that names the wrong setting and its valid values; the value of a
 * secret is not shown
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const config: Record<string, unknown> = {};
  for (const [name, { value }] of Object.entries(BOUNDS)) config[name] = value;
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
      throw new ConfigError(`${name}${shown} is not valid: expected ${(cause as Error).message}`);
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
        "https://host:2376, or unset CONTAINER_CERTS",
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
