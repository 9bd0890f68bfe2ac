import type { Config } from "../config.js";
import { backOff } from "../jobs/back-off.js";
import { InProcessJobQueue } from "../jobs/in-process/job-queue.js";
import { LanedJobQueue, storeOfLane, type Lane } from "../jobs/lanes.js";
import type { JobStore } from "../jobs/attempt.js";
import type { SlowOptions } from "../jobs/slow-lane.js";
import type { JobHandler, JobQueue } from "../jobs/port.js";
import type { RecordStore } from "../stores/records/port.js";
import type { Submission } from "../stores/records/submissions-port.js";
import { LocalMemory } from "../stores/shared/local.js";
import type { SharedMemory } from "../stores/shared/port.js";
import { reportDamage } from "../use-cases/damage.js";
import type { Log } from "../use-cases/deps.js";

/** How log lines name an attempt: with the request that asked for the work, on whichever node that was. */
const workFields = ({ id, type, attempt, input }: Submission) => ({ submission: id, type, attempt, ...(typeof input["request"] === "string" ? { request: input["request"] } : {}) });

/** Tells of the begin and end of all work. */
export const told = (handler: JobHandler, log: Log): JobHandler => async (job) => {
  const began = performance.now();
  log.info(workFields(job.submission), "work on a submission begins");
  await handler(job);
  log.info({ ...workFields(job.submission), ms: Math.round(performance.now() - began) }, "work on a submission ended");
};

/** A kind of work that has turns of its own where it is done at all: it may take hours, and nothing else is to wait for it. */
interface OwnLane { type: Submission["type"]; concurrency: number; name: string }

function ownLanes(config: Config): OwnLane[] {
  return [
    ...(config.CONTAINER_HOST === null ? [] : [{ type: "computation" as const, concurrency: config.EXECUTION_CONCURRENCY, name: "runs" }]),
    ...(config.EMBEDDINGS_URL === null ? [] : [{ type: "vectors" as const, concurrency: 1, name: "vectors" }]),
  ];
}

/** The queue of background work, and what limits go by: both of this process alone, or of all nodes over Redis. */
export async function queueOf(config: Config, records: RecordStore, log: Log): Promise<{ jobs: JobQueue; shared: SharedMemory }> {
  const own = ownLanes(config);
  const slow = { after: config.JOB_SLOW_AFTER, concurrency: config.JOB_SLOW_CONCURRENCY };
  if (own.length === 0) return oneQueue(config, records, log, slow);
  const lane = async (takes: Lane["takes"], settings: Partial<Config>, set?: SlowOptions) => ({ takes, ...(await oneQueue({ ...config, ...settings }, storeOfLane(records, takes), log, set)) });
  const [work, ...others] = await Promise.all([
    lane((type) => own.every((each) => each.type !== type), {}, slow),
    ...own.map(({ type, concurrency, name }) => lane((asked) => asked === type, { JOB_CONCURRENCY: concurrency, REDIS_PREFIX: `${config.REDIS_PREFIX}:${name}` })),
  ]);
  return { jobs: new LanedJobQueue(records, [work!, ...others].map(({ takes, jobs }) => ({ takes, queue: jobs })) as [Lane, ...Lane[]]), shared: work!.shared };
}

async function oneQueue(config: Config, store: JobStore, log: Log, slow?: SlowOptions): Promise<{ jobs: JobQueue; shared: SharedMemory }> {
  const options = {
    store, maxAttempts: config.MAX_ATTEMPTS, maxRestarts: config.MAX_RESTARTS, outagePatience: config.OUTAGE_PATIENCE, concurrency: config.JOB_CONCURRENCY, ...(slow && { slow }), backOff: backOff({ least: config.JOB_BACKOFF, most: config.JOB_BACKOFF_MAX }),
    onFault: (submission: string, err: unknown, of?: Submission) => {
      reportDamage(log, err);
      log.error({ err, submission, ...(of && workFields(of)) }, "an attempt at a submission failed");
    },
  };
  if (config.REDIS_URL === null) return { jobs: new InProcessJobQueue(options), shared: new LocalMemory() };
  // Loaded only where it is wanted: it would be a tenth of the start.
  const { openOnRedis } = await import("../jobs/bullmq/open.js");
  return openOnRedis(config, config.REDIS_URL, options, log);
}
