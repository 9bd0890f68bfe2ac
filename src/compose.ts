import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "./config.js";
import { backOff } from "./jobs/back-off.js";
import { InProcessJobQueue } from "./jobs/in-process/job-queue.js";
import { signingKey } from "./secret.js";
import { openObjects } from "./stores/objects/location.js";
import { OpenEngine, OxigraphEngine } from "./stores/queries/oxigraph/index.js";
import { openSqliteRecordStore } from "./stores/records/sqlite/index.js";
import type { Submission } from "./stores/records/submissions-port.js";
import { LocalMemory } from "./stores/shared/local.js";
import { intakeHandler } from "./use-cases/crates/intake.js";
import { buildHandler } from "./use-cases/evidence/stored/build.js";
import { Turns } from "./use-cases/turns.js";
import type { Deps, Log } from "./use-cases/deps.js";
import { sweepObjects } from "./use-cases/objects/sweep.js";
import { Penalties, QueryGuard } from "./use-cases/sparql/index.js";

/** A registry without doors: its stores, open, and what runs in the background. */
export interface Registry {
  deps: Deps;
  /** Begins background work: the graph index, unfinished submissions first, and the sweep. */
  start(): Promise<void>;
  /** Ends it all; work in progress has `grace` ms. Safe to call once. */
  close(grace: number): Promise<void>;
}

/** How log lines name an attempt: with the request that asked for the work, on whichever node that was. */
const workFields = ({ id, type, attempt, input }: Submission) => ({ submission: id, type, attempt, ...(typeof input["request"] === "string" ? { request: input["request"] } : {}) });

/** Chooses the adapters and puts them together; the only place that does. */
export async function compose(config: Config, log: Log, baseUrl: () => string): Promise<Registry> {
  await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
  const objectsLocation = { files: join(config.DATA_DIR, "objects") };
  const [jwtSecret, objects, records] = await Promise.all([
    signingKey(config.DATA_DIR, config.JWT_SECRET),
    openObjects(objectsLocation),
    openSqliteRecordStore({ file: join(config.DATA_DIR, "records.db"), log: (message) => log.error({}, message) }),
  ]);
  const queries = new OxigraphEngine({ openFeed: () => records.openFeed(), indexWait: config.INDEX_WAIT, queryTimeout: config.QUERY_TIMEOUT, log });
  const openQueries = new OpenEngine({
    openFeed: () => records.openFeed(), indexWait: config.INDEX_WAIT, timeout: config.SPARQL_TIMEOUT, maxRows: config.SPARQL_MAX_ROWS, maxBytes: config.SPARQL_MAX_BYTES,
    memory: config.SPARQL_MEMORY, threads: config.SPARQL_THREADS, idle: config.SPARQL_IDLE, queue: config.SPARQL_QUEUE, queueWait: config.SPARQL_QUEUE_WAIT, log,
  });
  const guard = new QueryGuard(config);
  records.onCommit((sequence) => {
    queries.advance(sequence);
    openQueries.advance(sequence);
  });
  const jobOptions = {
    store: records, maxAttempts: config.MAX_ATTEMPTS, concurrency: config.JOB_CONCURRENCY, backOff: backOff({ least: config.JOB_BACKOFF, most: config.JOB_BACKOFF_MAX }),
    onFault: (submission: string, err: unknown, of?: Submission) => log.error({ err, submission, ...(of && workFields(of)) }, "an attempt at a submission failed"),
  };
  // Loaded only where it is wanted: it would be a tenth of the start.
  const onRedis = config.REDIS_URL === null ? undefined : await import("./jobs/bullmq/open.js");
  const { jobs, shared } = (await onRedis?.openOnRedis(config, config.REDIS_URL!, jobOptions, log)) ?? { jobs: new InProcessJobQueue(jobOptions), shared: new LocalMemory() };
  const planTurns = new Turns(config.PLAN_CONCURRENCY);
  const shapeTurns = new Turns(config.VALIDATIONS_AT_ONCE, 8 * config.VALIDATIONS_AT_ONCE);
  const tableTurns = new Turns(config.TABLE_CONCURRENCY);
  const penalties = new Penalties(config.SPARQL_PENALTY, shared);
  const deps: Deps = { config, records, queries, openQueries, guard, penalties, objects, objectsLocation, jobs, shared, planTurns, shapeTurns, tableTurns, log, baseUrl, jwtSecret };

  const stopping = new AbortController();
  const sweep = async () => {
    const { removed, stale } = await sweepObjects({ objects, records, intentLifetime: config.INTENT_LIFETIME, signal: stopping.signal });
    if (removed + stale > 0) log.info({ removed, stale }, "removed objects that nothing refers to");
  };
  let sweeping: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    deps,
    async start() {
      // Not before the doors are open: its threads would take the cores that the start needs.
      queries.start();
      const handlers = { crate: intakeHandler(deps, objectsLocation), evidence: buildHandler(deps) };
      await jobs.start(async (job) => {
        const began = performance.now();
        log.info(workFields(job.submission), "work on a submission begins");
        await handlers[job.submission.type](job);
        log.info({ ...workFields(job.submission), ms: Math.round(performance.now() - began) }, "work on a submission ended");
      });
      timer = setInterval(() => {
        sweeping = sweep().catch((err: unknown) => log.error({ err }, "the sweep failed"));
      }, config.SWEEP_INTERVAL).unref();
    },
    async close(grace) {
      stopping.abort();
      clearInterval(timer);
      planTurns.close();
      shapeTurns.close();
      tableTurns.close();
      await jobs.close(grace);
      await sweeping;
      await guard.close();
      await openQueries.close();
      await queries.close();
      await records.close();
    },
  };
}
