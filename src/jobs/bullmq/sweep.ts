import type { RedisLink } from "../../storage/redis.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import type { JobStore } from "../attempt.js";

/** Jobs whose state is asked for at the same time. */
const JOBS_PER_BATCH = 500;

/** The states of a job that no worker will come upon. A finished one is left over. */
const LOST = new Set(["unknown", "completed", "failed"]);

interface SweepOptions {
  store: Pick<JobStore, "unfinished">;
  link: RedisLink;
  /** Setting RECONCILE_INTERVAL, ms. */
  interval: number;
  /** The state of the job of a submission; `unknown` when it is in no list of BullMQ's. */
  state: (submission: string) => Promise<string>;
  /** Whether a worker runs the submission. */
  isAlive: (submission: string) => Promise<boolean>;
  /** Does nothing when a key with the identifier of the job exists. */
  add: (submission: Submission) => Promise<unknown>;
  /** Does nothing when a worker has locked the job. */
  remove: (submission: string) => Promise<unknown>;
}

/**
 * Queues again what the submissions table has open and Redis has lost, or never got because a
 * process died between the commit and the queue. BullMQ itself finds jobs whose worker is gone. But
 * it does nothing for a job that is in none of its lists, and adding that job does nothing either:
 * one that is lost in two rounds of a node is removed and added again.
 */
export class Sweep {
  readonly #options: SweepOptions;
  /** Submissions whose job was lost in the last round of this node. */
  #lost = new Set<string>();

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /**
   * One round; on one node per interval unless `always`. Returns how many submissions had no job.
   * @throws when the record store or Redis is unavailable
   */
  async run({ always = false } = {}): Promise<number> {
    const { link, interval, store, state, isAlive, add, remove } = this.#options;
    const isMine = await link.commands.set(
      link.key("reconciling"),
      "1",
      "PX",
      Math.ceil(interval * 0.9),
      "NX",
    );
    if (isMine === null && !always) return 0;
    const unfinished = await store.unfinished();
    const lost = new Set<string>();
    for (let from = 0; from < unfinished.length; from += JOBS_PER_BATCH) {
      const batch = unfinished.slice(from, from + JOBS_PER_BATCH);
      const states = await Promise.all(batch.map(({ id }) => state(id)));
      for (const [n, submission] of batch.entries()) {
        const { id, status } = submission;
        if (!LOST.has(states[n]!) || (status === "running" && (await isAlive(id)))) continue;
        if (this.#lost.has(id)) await remove(id);
        await add(submission);
        lost.add(id);
      }
    }
    this.#lost = lost;
    return lost.size;
  }
}
