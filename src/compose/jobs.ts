import type { Config } from "../config.js";
import { backOff } from "../jobs/back-off.js";
import { InProcessJobQueue } from "../jobs/in-process/job-queue.js";
import { LanedJobQueue, storeOfLane, type Lane } from "../jobs/lanes.js";
import type { JobStore } from "../jobs/attempt.js";
import type { JobHandler, JobQueue } from "../jobs/port.js";
import type { RecordStore } from "../stores/records/port.js";
import type { Submission } from "../stores/records/submissions-port.js";
import { LocalMemory } from "../stores/shared/local.js";
import type { SharedMemory } from "../stores/shared/port.js";
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

/** Computations may run for hours: where they are run at all, they have turns of their own. */
const LANES = { work: (type: Submission["type"]) => type !== "computation", runs: (type: Submission["type"]) => type === "computation" };

/** The queue of background work, and what limits go by: both of this process alone, or of all nodes over Redis. */
export async function queueOf(config: Config, records: RecordStore, log: Log): Promise<{ jobs: JobQueue; shared: SharedMemory }> {
  if (config.CONTAINER_HOST === null) return oneQueue(config, records, log);
  const lane = (takes: Lane["takes"], concurrency: number, prefix: string) => oneQueue({ ...config, JOB_CONCURRENCY: concurrency, REDIS_PREFIX: prefix }, storeOfLane(records, takes), log);
  const [work, runs] = await Promise.all([lane(LANES.work, config.JOB_CONCURRENCY, config.REDIS_PREFIX), lane(LANES.runs, config.EXECUTION_CONCURRENCY, `${config.REDIS_PREFIX}:runs`)]);
  return { jobs: new LanedJobQueue(records, [{ takes: LANES.work, queue: work.jobs }, { takes: LANES.runs, queue: runs.jobs }]), shared: work.shared };
}

async function oneQueue(config: Config, store: JobStore, log: Log): Promise<{ jobs: JobQueue; shared: SharedMemory }> {
  const options = {
    store, maxAttempts: config.MAX_ATTEMPTS, outagePatience: config.OUTAGE_PATIENCE, concurrency: config.JOB_CONCURRENCY, backOff: backOff({ least: config.JOB_BACKOFF, most: config.JOB_BACKOFF_MAX }),
    onFault: (submission: string, err: unknown, of?: Submission) => log.error({ err, submission, ...(of && workFields(of)) }, "an attempt at a submission failed"),
  };
  if (config.REDIS_URL === null) return { jobs: new InProcessJobQueue(options), shared: new LocalMemory() };
  // Loaded only where it is wanted: it would be a tenth of the start.
  const { openOnRedis } = await import("../jobs/bullmq/open.js");
  return openOnRedis(config, config.REDIS_URL, options, log);
}
