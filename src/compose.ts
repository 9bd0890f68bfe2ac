import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { endpointAddress, graphIndex } from "./compose-index.js";
import type { Config } from "./config.js";
import { InProcessJobQueue } from "./jobs/in-process/job-queue.js";
import { signingKey } from "./secret.js";
import { openObjects } from "./stores/objects/location.js";
import { openSqliteRecordStore } from "./stores/records/sqlite/index.js";
import { intakeHandler } from "./use-cases/crates/intake.js";
import { buildHandler } from "./use-cases/evidence/stored/build.js";
import { Turns } from "./use-cases/turns.js";
import type { Deps, Log } from "./use-cases/deps.js";
import { sweepObjects } from "./use-cases/objects/sweep.js";
import { Penalties } from "./use-cases/sparql/index.js";

/** A registry without doors: its stores, open, and what runs in the background. */
export interface Registry {
  deps: Deps;
  /** Begins background work: the graph index, unfinished submissions first, and the sweep. */
  start(): Promise<void>;
  /** Ends it all; work in progress has `grace` ms. Safe to call once. */
  close(grace: number): Promise<void>;
}

/** Chooses the adapters and puts them together; the only place that does. */
export async function compose(config: Config, log: Log, baseUrl: () => string): Promise<Registry> {
  // What is missing is told before anything is opened.
  endpointAddress(config);
  await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
  const objectsLocation = { files: join(config.DATA_DIR, "objects") };
  const [jwtSecret, objects, records] = await Promise.all([
    signingKey(config.DATA_DIR, config.JWT_SECRET),
    openObjects(objectsLocation),
    openSqliteRecordStore({ file: join(config.DATA_DIR, "records.db"), log: (message) => log.error({}, message) }),
  ]);
  const { queries, openQueries, guard } = graphIndex(config, records, log);
  records.onCommit((sequence) => {
    queries.advance(sequence);
    openQueries.advance(sequence);
  });
  const jobs = new InProcessJobQueue({
    store: records, maxAttempts: config.MAX_ATTEMPTS, concurrency: config.JOB_CONCURRENCY,
    onFault: (submission, err) => log.error({ err, submission }, "an attempt at a submission failed"),
  });
  const planTurns = new Turns(config.PLAN_CONCURRENCY);
  const shapeTurns = new Turns(config.VALIDATIONS_AT_ONCE, 8 * config.VALIDATIONS_AT_ONCE);
  const tableTurns = new Turns(config.TABLE_CONCURRENCY);
  const penalties = new Penalties(config.SPARQL_PENALTY);
  const deps: Deps = { config, records, queries, openQueries, guard, penalties, objects, objectsLocation, jobs, planTurns, shapeTurns, tableTurns, log, baseUrl, jwtSecret };

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
      await jobs.start((job) => handlers[job.submission.type](job));
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
