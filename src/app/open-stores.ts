import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Config, ConfigError } from "../config/config.js";
import type { EndpointAddress, EndpointOptions } from "../storage/graph/endpoint/index.js";
import type { EngineLog } from "../storage/graph/port.js";
import type { ObjectsLocation } from "../storage/objects/location.js";
import type { RecordStore } from "../storage/records/port.js";
import { openSqliteRecordStore } from "../storage/records/sqlite/index.js";
import { openSqliteTransfer } from "../storage/records/sqlite/transfer.js";
import type { RecordsTransfer } from "../storage/records/transfer-port.js";
import { storedOnce } from "../services/stored-once.js";

/**
 * Opens the record store that the settings name: a file in the data folder, or a PostgreSQL
 * database.
 */
export async function openRecords(
  config: Config,
  log: (message: string) => void,
  warn: (message: string) => void = log,
): Promise<RecordStore> {
  if (config.DATABASE_URL === null)
    return openSqliteRecordStore({
      file: join(config.DATA_DIR, "records.db"),
      log,
      warn,
    });
  // Loaded only if needed, like every adapter of a cluster.
  const { openPostgresRecordStore } = await import("../storage/records/postgres/index.js");
  return openPostgresRecordStore({
    url: config.DATABASE_URL,
    pool: config.DATABASE_POOL,
    timeout: config.DATABASE_TIMEOUT,
    connectTimeout: config.DATABASE_CONNECT_TIMEOUT,
    poll: config.DATABASE_POLL,
    log,
  });
}

/** The location of objects: S3 if it is configured, also for a single node. */
export function objectsOf(config: Config): ObjectsLocation {
  const {
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY: accessKey,
    S3_SECRET_KEY: secretKey,
    S3_BUCKET: bucket,
  } = config;
  if (endpoint === null || accessKey === null || secretKey === null || bucket === null)
    return { files: join(config.DATA_DIR, "objects") };
  return {
    s3: {
      endpoint,
      accessKey,
      secretKey,
      bucket,
      region: config.S3_REGION,
      prefix: config.S3_PREFIX,
      staging: join(config.DATA_DIR, "staging"),
      partSize: config.S3_PART_SIZE,
      timeout: config.S3_TIMEOUT,
      retries: config.S3_RETRIES,
      presigned: config.S3_PRESIGNED,
    },
  };
}

/**
 * Opens the record store that the settings name as the source of a migration, or with `make` as its
 * target.
 * @throws as the adapters do
 */
export async function openTransfer(
  config: Config,
  { make, log }: { make: boolean; log: (message: string) => void },
): Promise<RecordsTransfer> {
  if (config.DATABASE_URL === null) {
    if (make) await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
    return openSqliteTransfer({ file: join(config.DATA_DIR, "records.db"), make, log });
  }
  const { openPostgresTransfer } = await import("../storage/records/postgres/transfer.js");
  return openPostgresTransfer({
    url: config.DATABASE_URL,
    timeout: config.DATABASE_TIMEOUT,
    connectTimeout: config.DATABASE_CONNECT_TIMEOUT,
    make,
    log,
  });
}

/** The name of this record store. It is created once and stored in it. */
const SOURCE_ID = "projection-truth";

/**
 * The endpoint that the settings name; `undefined` without one.
 * @throws ConfigError when only some of its settings are set, or the settings name two engines
 */
export function endpointAddress(config: Config): EndpointAddress | undefined {
  const {
    SPARQL_QUERY_URL: queryUrl,
    SPARQL_UPDATE_URL: updateUrl,
    SPARQL_USER: user,
    SPARQL_PASSWORD: password,
  } = config;
  if (queryUrl === null && updateUrl === null) return undefined;
  if (queryUrl === null || updateUrl === null)
    throw new ConfigError(
      `${queryUrl === null ? "SPARQL_QUERY_URL" : "SPARQL_UPDATE_URL"} is missing: a SPARQL ` +
        "endpoint needs both SPARQL_QUERY_URL and SPARQL_UPDATE_URL",
    );
  if (config.GRAPH_ENGINE !== "embedded")
    throw new ConfigError(
      `GRAPH_ENGINE=${config.GRAPH_ENGINE} starts a SPARQL server of this process, and ` +
        "SPARQL_QUERY_URL names another one: unset one of the two",
    );
  return {
    queryUrl,
    updateUrl,
    ...(user !== null && { user }),
    ...(password !== null && { password }),
  };
}

/** A SPARQL endpoint that holds the graph index. */
interface OpenedEndpoint {
  /** The options that open the engine on it. */
  options: EndpointOptions;
  /** Ends the server that was started for it, if one was. Call it after the engine was closed. */
  close(): Promise<void>;
}

/**
 * The endpoint that the settings name, or the one of a server that is started; `undefined` for the
 * index in this process.
 * @param options.patience ms after which the server may still read its log; absent: it is awaited
 * @throws as {@link endpointAddress}; ServiceError `STORE_UNAVAILABLE` when the server does not
 * start
 */
export async function openEndpoint(
  config: Config,
  records: RecordStore,
  { log, patience }: { log?: EngineLog; patience?: number } = {},
): Promise<OpenedEndpoint | undefined> {
  const named = endpointAddress(config);
  const server =
    config.GRAPH_ENGINE === "oxigraph"
      ? await (
          await import("../storage/graph/endpoint/index.js")
        ).OwnServer.start({
          program: config.OXIGRAPH_PROGRAM,
          folder: join(config.DATA_DIR, "graph"),
          memory: config.OXIGRAPH_MEMORY,
          ...(patience !== undefined && { patience }),
          ...(log && { log }),
        })
      : undefined;
  const address = server?.address ?? named;
  if (!address) return undefined;
  return {
    options: {
      ...address,
      openFeed: () => records.openFeed(),
      leases: records,
      source: () => storedOnce(records, SOURCE_ID, randomUUID()),
      batch: config.PROJECTION_BATCH,
      lease: config.PROJECTION_LEASE,
      poll: config.PROJECTION_POLL,
      timeout: config.PROJECTION_TIMEOUT,
      pool: config.SPARQL_POOL,
      indexWait: config.INDEX_WAIT,
      queryTimeout: config.QUERY_TIMEOUT,
      ...(log && { log }),
    },
    close: async () => server?.close(),
  };
}
