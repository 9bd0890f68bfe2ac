/** Chooses the adapters that the settings name, and puts the service together from them. */
import { randomBytes, randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, readFile, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerEngine } from "../adapters/containers/port.js";
import type { Issuer } from "../adapters/sign-in/port.js";
import type { DoiService } from "../adapters/doi/port.js";
import type { Embedder } from "../adapters/embeddings/port.js";
import { tracedDeps, tracingOf } from "./tracing.js";
import { type Config, ConfigError } from "../config/config.js";
import type { JobStore } from "../jobs/attempt.js";
import { InProcessJobQueue } from "../jobs/in-process/job-queue.js";
import { backOff, type Lane, LanedJobQueue, type SlowOptions, storeOfLane } from "../jobs/lanes.js";
import type { JobHandler, JobQueue } from "../jobs/port.js";
import { limitContexts } from "../rdf/contexts.js";
import { installation } from "../services/accounts/tokens.js";
import { executionHandler } from "../services/computations/run.js";
import { intakeHandler } from "../services/crates/intake.js";
import type { Deps } from "../services/deps.js";
import { CpuPool } from "../services/cpu-pool.js";
import { DocumentThread } from "../services/documents/run-documents.js";
import { doiHandler } from "../services/doi/doi.js";
import { buildHandler } from "../services/evidence/stored/build.js";
import { ConcurrencyLimit } from "../services/limits.js";
import { type Log, reportDamage } from "../log.js";
import { KnownDamage } from "../services/objects/damage.js";
import { scoreHandler } from "../services/scoring/score.js";
import { Penalties, QueryGuard } from "../services/sparql/answer.js";
import { spellGraphs } from "./spell-graphs.js";
import { vectorsHandler } from "../services/vectors/handler.js";
import { Nearness } from "../services/vectors/nearness.js";
import { OpenEngine, OxigraphEngine } from "../storage/graph/oxigraph/index.js";
import type { OpenQueries, QueryEngine } from "../storage/graph/port.js";
import { openObjects, prepareObjects } from "../storage/objects/location.js";
import type { RecordStore } from "../storage/records/port.js";
import { makePrivate } from "../storage/records/sqlite/connection.js";
import type { Submission } from "../storage/records/port/submissions.js";
import { LocalMemory, type SharedMemory } from "../storage/shared/port.js";
import { endpointAddress, objectsOf, openEndpoint, openRecords } from "./open-stores.js";
import {
  DoiKeeper,
  EmbargoKeeper,
  QuadsRewriter,
  Scrubber,
  Sweeper,
  VectorsKeeper,
} from "./upkeep.js";
import { storedOnce } from "../services/stored-once.js";

/**
 * The key that signs tokens: JWT_SECRET, or a key that is generated at the first start and stored
 * in the data folder with mode 0600. A start that failed on a full disk leaves an empty file: that
 * key signed nothing, and is replaced.
 * @param write writes the key into its file
 * @throws ConfigError when the stored key was cut short; the disk's error when it cannot be stored
 */
export async function signingKey(
  dataDir: string,
  given: string | null,
  write: (file: FileHandle, key: string) => Promise<void> = (file, key) => file.writeFile(key),
): Promise<string> {
  if (given !== null) return given;
  const file = join(dataDir, "jwt-secret");
  const before = await stored(file);
  if (before === undefined || before === "") await make(dataDir, file, before === "", write);
  // Another start may have been first: both use the key that is stored under the name.
  const key = (await stored(file)) ?? "";
  if (key.length < 32)
    throw new ConfigError(
      `The signing key in ${file} is damaged: remove the file (all tokens end) or set JWT_SECRET`,
    );
  return key;
}

async function stored(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The file appears durably with the whole key, or not at all. */
async function make(
  dataDir: string,
  file: string,
  replace: boolean,
  write: (file: FileHandle, key: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await write(handle, randomBytes(48).toString("base64url"));
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (replace) await rename(temporary, file);
    else await name(temporary, file);
  } finally {
    await unlink(temporary).catch(() => {});
  }
  // If a folder cannot be opened (Windows), the system makes its names durable.
  const folder = await open(dataDir, "r").catch(() => undefined);
  await folder
    ?.sync()
    .catch(() => {})
    .finally(() => folder.close());
}

/** Unlike a rename, a link never replaces the key of a start that was first. */
async function name(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS" && code !== "EOPNOTSUPP")
      throw error;
    await rename(temporary, file);
  }
}

/**
 * The name of this registry among all registries that use one engine. It is created once and stored
 * in the record store.
 */
const REGISTRY = "container-registry-name";

/**
 * Opens the container engine that runs computations; `undefined` if CONTAINER_HOST is not set. It
 * sends no request yet: an unavailable engine must not prevent the registry from starting.
 * @throws ConfigError when CONTAINER_CERTS cannot be read
 */
async function containersOf(
  { CONTAINER_HOST: host, CONTAINER_CERTS, CONTAINER_TIMEOUT: timeout, ROLE }: Config,
  records: RecordStore,
): Promise<ContainerEngine | undefined> {
  if (host === null) return undefined;
  const [{ engineAddress }, { DockerClient }, { DockerEngine }] = await Promise.all([
    import("../adapters/containers/docker-client.js"),
    import("../adapters/containers/docker-client.js"),
    import("../adapters/containers/docker-engine.js"),
  ]);
  // An api node only records that an engine is configured; workers call it.
  const certificates = ROLE === "api" ? null : CONTAINER_CERTS;
  const address = await engineAddress(host, certificates).catch((error: Error) => {
    throw new ConfigError(`CONTAINER_CERTS cannot be used: ${error.message}`);
  });
  const name = await storedOnce(records, REGISTRY, randomUUID());
  return new DockerEngine(new DockerClient(address, timeout), name);
}

/**
 * Opens the embedder, which computes vectors of texts; `undefined` if EMBEDDINGS_URL is not set. It
 * sends no request yet: an unavailable server must not prevent the registry from starting.
 * @throws ConfigError when only some of its settings are set
 */
export async function embedderOf(config: Config): Promise<Embedder | undefined> {
  const { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model, EMBEDDINGS_KEY: key } = config;
  if (url === null && model === null) return undefined;
  if (url === null || model === null)
    throw new ConfigError(
      `${url === null ? "EMBEDDINGS_URL" : "EMBEDDINGS_MODEL"} is missing: an embeddings ` +
        "server needs both EMBEDDINGS_URL and EMBEDDINGS_MODEL",
    );
  const { EndpointEmbedder } = await import("../adapters/embeddings/endpoint.js");
  return new EndpointEmbedder({
    url,
    model,
    queryModel: config.EMBEDDINGS_QUERY_MODEL ?? model,
    ...(key !== null && { key }),
    queryPrefix: config.EMBEDDINGS_QUERY_PREFIX,
    passagePrefix: config.EMBEDDINGS_PASSAGE_PREFIX,
    maxText: config.EMBEDDINGS_MAX_TEXT,
    batch: config.EMBEDDINGS_BATCH,
    pool: config.EMBEDDINGS_POOL,
    timeout: config.EMBEDDINGS_TIMEOUT,
    queryTimeout: config.EMBEDDINGS_QUERY_TIMEOUT,
    healthTimeout: config.HEALTH_TIMEOUT,
  });
}

/**
 * The DOI service, where all of its settings are set. It sends no request yet.
 * @throws ConfigError when only some of them are set
 */
async function doiServiceOf(config: Config): Promise<DoiService | undefined> {
  const {
    DATACITE_URL: url,
    DATACITE_REPOSITORY: repository,
    DATACITE_PASSWORD: password,
    DATACITE_PREFIX: prefix,
    DATACITE_TIMEOUT: timeout,
  } = config;
  if (url === null && repository === null && password === null && prefix === null) return undefined;
  if (url === null || repository === null || password === null || prefix === null)
    throw new ConfigError(
      "DOIs need DATACITE_URL, DATACITE_REPOSITORY, DATACITE_PASSWORD and DATACITE_PREFIX: set " +
        "all of them, or none",
    );
  const { DataCite } = await import("../adapters/doi/datacite.js");
  return new DataCite({ url, repository, password, prefix, timeout });
}

/** People sign in with them; the library is loaded only where there are some. */
async function issuersOf({ OIDC_ISSUERS, PASSWORD_SIGN_IN }: Config): Promise<Issuer[]> {
  if (OIDC_ISSUERS === null || OIDC_ISSUERS.length === 0) {
    if (PASSWORD_SIGN_IN === "off")
      throw new ConfigError("PASSWORD_SIGN_IN=off needs OIDC_ISSUERS: nobody could sign in");
    return [];
  }
  const { OidcIssuer } = await import("../adapters/sign-in/oidc.js");
  return OIDC_ISSUERS.map((settings) => new OidcIssuer(settings));
}

/** The engines that answer graph queries, and the guard that checks public queries first. */
interface GraphIndex {
  queries: QueryEngine & { start(): void };
  openQueries: OpenQueries;
  guard: QueryGuard;
  /** Ends the SPARQL server that was started for them, if one was. */
  closeServer(): Promise<void>;
}

/**
 * The graph index in this process, or on a SPARQL endpoint if one is set or started. It follows the
 * commits.
 * @throws as {@link openEndpoint}
 */
async function graphIndex(
  config: Config,
  records: RecordStore,
  cpu: CpuPool,
  log: Log,
): Promise<GraphIndex> {
  const index = await openIndex(config, records, cpu, log);
  records.onCommit((sequence) => {
    index.queries.advance(sequence);
    index.openQueries.advance(sequence);
  });
  return index;
}

/** ms that the start waits for a graph server: one with a large log to read answers later. */
const GRAPH_PATIENCE = 5_000;

async function openIndex(
  config: Config,
  records: RecordStore,
  cpu: CpuPool,
  log: Log,
): Promise<GraphIndex> {
  const openFeed = () => records.openFeed();
  const limits = {
    timeout: config.SPARQL_TIMEOUT,
    maxRows: config.SPARQL_MAX_ROWS,
    maxBytes: config.SPARQL_MAX_BYTES,
    indexWait: config.INDEX_WAIT,
    idle: config.SPARQL_IDLE,
    queue: config.SPARQL_QUEUE,
    queueWait: config.SPARQL_QUEUE_WAIT,
    slice: config.SPARQL_SLICE,
  };
  const endpoint = await openEndpoint(config, records, { log, patience: GRAPH_PATIENCE });
  if (endpoint) {
    const { BOOKKEEPING, EndpointEngine, OpenEndpoint } =
      await import("../storage/graph/endpoint/index.js");
    // Each engine has its own connections: public queries never block the service's own queries.
    const openConnections = Math.floor(config.SPARQL_POOL / 2);
    const { options } = endpoint;
    const queries = new EndpointEngine({ ...options, pool: config.SPARQL_POOL - openConnections });
    return {
      queries,
      openQueries: new OpenEndpoint(queries, options, {
        ...limits,
        atOnce: openConnections,
        spell: spellGraphs(cpu, config.SPARQL_MEMORY),
      }),
      guard: new QueryGuard(config, cpu, BOOKKEEPING),
      closeServer: () => endpoint.close(),
    };
  }
  // Earlier releases stored copies of the graph there, on nodes with the embedded record store.
  if (config.DATABASE_URL === null)
    await Promise.all(
      ["evidence.snapshot", "sparql.snapshot"].map((name) =>
        rm(join(config.DATA_DIR, name), { force: true }),
      ),
    );
  const queries = new OxigraphEngine({
    openFeed,
    indexWait: config.INDEX_WAIT,
    queryTimeout: config.QUERY_TIMEOUT,
    log,
  });
  return {
    queries,
    // The service's own index has read the same graph, so it knows how much memory a thread for
    // public queries needs.
    openQueries: new OpenEngine({
      ...limits,
      openFeed,
      memory: config.SPARQL_MEMORY,
      needs: () => queries.held(),
      threads: config.SPARQL_THREADS,
      log,
    }),
    guard: new QueryGuard(config, cpu),
    closeServer: async () => {},
  };
}

/**
 * The fields of log lines about an attempt. They include the id of the request that submitted the
 * job, even if another node received that request.
 */
const workFields = ({ id, type, attempt, input }: Submission) => ({
  submission: id,
  type,
  attempt,
  ...(typeof input["request"] === "string" ? { request: input["request"] } : {}),
});

/** Logs the start and the end of each job. */
export const reported =
  (handler: JobHandler, log: Log): JobHandler =>
  async (job) => {
    const began = performance.now();
    log.info(workFields(job.submission), "a job of a submission begins");
    await handler(job);
    log.info(
      { ...workFields(job.submission), ms: Math.round(performance.now() - began) },
      "a job of a submission ended",
    );
  };

/**
 * A job type with its own lane on nodes that run it: such a job may take hours, and no other job
 * must wait for it.
 */
interface OwnLane {
  type: Submission["type"];
  concurrency: number;
  name: string;
}

function ownLanes(config: Config): OwnLane[] {
  return [
    ...(config.CONTAINER_HOST === null
      ? []
      : [
          { type: "computation" as const, concurrency: config.EXECUTION_CONCURRENCY, name: "runs" },
        ]),
    ...(config.EMBEDDINGS_URL === null
      ? []
      : [{ type: "vectors" as const, concurrency: 1, name: "vectors" }]),
    ...(config.DATACITE_URL === null
      ? []
      : [{ type: "doi" as const, concurrency: 1, name: "dois" }]),
  ];
}

/**
 * The queue of background jobs, and the memory for rate limits: both local to this process, or
 * shared by all nodes over Redis.
 */
async function queueOf(
  config: Config,
  records: RecordStore,
  log: Log,
): Promise<{ jobs: JobQueue; shared: SharedMemory }> {
  const own = ownLanes(config);
  const slow = { after: config.JOB_SLOW_AFTER, concurrency: config.JOB_SLOW_CONCURRENCY };
  if (own.length === 0) return oneQueue(config, records, log, slow);
  const lane = async (takes: Lane["takes"], settings: Partial<Config>, set?: SlowOptions) => ({
    takes,
    ...(await oneQueue({ ...config, ...settings }, storeOfLane(records, takes), log, set)),
  });
  const [work, ...others] = await Promise.all([
    lane((type) => own.every((each) => each.type !== type), {}, slow),
    ...own.map(({ type, concurrency, name }) =>
      lane((asked) => asked === type, {
        JOB_CONCURRENCY: concurrency,
        REDIS_PREFIX: `${config.REDIS_PREFIX}:${name}`,
      }),
    ),
  ]);
  return {
    jobs: new LanedJobQueue(
      records,
      [work, ...others].map(({ takes, jobs }) => ({ takes, queue: jobs })) as [Lane, ...Lane[]],
    ),
    shared: work.shared,
  };
}

async function oneQueue(
  config: Config,
  store: JobStore,
  log: Log,
  slow?: SlowOptions,
): Promise<{ jobs: JobQueue; shared: SharedMemory }> {
  const options = {
    store,
    maxAttempts: config.MAX_ATTEMPTS,
    maxRestarts: config.MAX_RESTARTS,
    outagePatience: config.OUTAGE_PATIENCE,
    concurrency: config.JOB_CONCURRENCY,
    ...(slow && { slow }),
    backOff: backOff({ least: config.JOB_BACKOFF, most: config.JOB_BACKOFF_MAX }),
    onFault: (submission: string, err: unknown, of?: Submission) => {
      reportDamage(log, err);
      log.error(
        { err, submission, ...(of && workFields(of)) },
        "an attempt at a submission failed",
      );
    },
  };
  if (config.REDIS_URL === null)
    return { jobs: new InProcessJobQueue(options), shared: new LocalMemory() };
  // Loaded only if needed: it would take a tenth of the start.
  const { openOnRedis } = await import("../jobs/bullmq/job-queue.js");
  return openOnRedis(config, config.REDIS_URL, options, log);
}

/** A registry without its HTTP layer: the open stores and the background jobs. */
export interface Registry {
  deps: Deps;
  /**
   * Starts background jobs: the graph index and, except on api nodes, unfinished submissions and
   * the sweep.
   */
  start(): Promise<void>;
  /** Stops everything; running jobs have `grace` ms to end. Call it only once. */
  close(grace: number): Promise<void>;
}

/** Selects the adapters and connects them; only this folder does so. */
export async function compose(config: Config, log: Log, baseUrl: () => string): Promise<Registry> {
  limitContexts(config);
  // Report missing settings before anything is opened.
  endpointAddress(config);
  const objectsLocation = objectsOf(config);
  const tracing = await tracingOf(config, log);
  await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
  await makePrivate(config.DATA_DIR, (message) => log.warn({}, message));
  await prepareObjects(objectsLocation, { create: config.S3_CREATE_BUCKET === "yes" });
  const [jwtSecret, objects, records] = await Promise.all([
    signingKey(config.DATA_DIR, config.JWT_SECRET),
    openObjects(objectsLocation),
    openRecords(
      config,
      (message) => log.error({}, message),
      (message) => log.warn({}, message),
    ),
  ]);
  const issuer = await installation(records);
  const cpu = new CpuPool();
  const { queries, openQueries, guard, closeServer } = await graphIndex(config, records, cpu, log);
  const containers = await containersOf(config, records);
  const embedder = await embedderOf(config);
  const dois = await doiServiceOf(config);
  const issuers = await issuersOf(config);
  const nearness = embedder && new Nearness(embedder, log);
  const { jobs, shared } = await queueOf(config, records, log);
  const documents = new DocumentThread(cpu, config);
  const planLimit = new ConcurrencyLimit(config.PLAN_CONCURRENCY);
  const shapeLimit = new ConcurrencyLimit(
    config.VALIDATIONS_AT_ONCE,
    8 * config.VALIDATIONS_AT_ONCE,
  );
  const tableLimit = new ConcurrencyLimit(config.TABLE_CONCURRENCY);
  const scoreLimit = new ConcurrencyLimit(config.SCORES_AT_ONCE, 16 * config.SCORES_AT_ONCE);
  const penalties = new Penalties(config.SPARQL_PENALTY, shared);
  const untraced: Deps = {
    config,
    records,
    queries,
    openQueries,
    guard,
    penalties,
    objects,
    objectsLocation,
    damage: new KnownDamage({ records, objects, log }),
    jobs,
    ...(containers && { containers }),
    ...(embedder && nearness && { embedder, nearness }),
    ...(dois && { dois }),
    issuers,
    documents,
    shared,
    planLimit,
    shapeLimit,
    tableLimit,
    cpu,
    scoreLimit,
    log,
    baseUrl,
    installation: issuer,
    jwtSecret,
  };
  const deps: Deps = tracing ? { ...tracedDeps(untraced, tracing), tracing } : untraced;
  const sweeper = new Sweeper(deps);
  const scrubber = new Scrubber(deps);
  const vectors = embedder && new VectorsKeeper(deps, embedder);
  const doiKeeper = dois && new DoiKeeper(deps);
  const embargoes = new EmbargoKeeper(deps);
  const quads = new QuadsRewriter(deps);
  return {
    deps,
    async start() {
      // Not before the HTTP server listens: its threads would use the cores that the start needs.
      queries.start();
      await untraced.damage.refresh();
      scrubber.start();
      if (config.ROLE === "api") return;
      const handlers = {
        crate: intakeHandler(deps),
        evidence: buildHandler(deps),
        score: scoreHandler(deps),
        computation: executionHandler(deps),
        vectors: vectorsHandler(deps),
        doi: doiHandler(deps),
      };
      const handler: JobHandler = (job) => handlers[job.submission.type](job);
      await jobs.start(
        reported(
          tracing
            ? tracing.job(handler, async (id) => (await records.submission(id))?.status)
            : handler,
          log,
        ),
      );
      sweeper.start();
      quads.start();
      vectors?.start();
      doiKeeper?.start();
      embargoes.start();
    },
    async close(grace) {
      planLimit.close();
      shapeLimit.close();
      tableLimit.close();
      scoreLimit.close();
      await vectors?.close();
      await doiKeeper?.close();
      await embargoes.close();
      await quads.close();
      await jobs.close(grace);
      await scrubber.close();
      await sweeper.close();
      await embedder?.close();
      dois?.close();
      documents.close();
      guard.close();
      await cpu.close();
      await openQueries.close();
      await queries.close();
      await closeServer();
      await records.close();
      await tracing?.close();
    },
  };
}
