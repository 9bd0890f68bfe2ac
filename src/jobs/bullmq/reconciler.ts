import { randomUUID } from "node:crypto";
import type { RedisLink } from "../../redis/link.js";
import type { JobStore } from "../attempt.js";
import type { SignsOfLife } from "./signs-of-life.js";

/** Submissions that are looked up in one exchange with Redis. */
const BATCH = 500;

export interface ReconcilerOptions {
  store: Pick<JobStore, "unfinished">;
  link: RedisLink;
  signs: SignsOfLife;
  /** Key in Redis of a submission's job. */
  jobKey: (submission: string) => string;
  enqueue: (submission: string) => Promise<unknown>;
  /** Setting RECONCILE_INTERVAL, ms. */
  interval: number;
  /** How long workers have to show signs of life in a Redis that was emptied, ms. */
  settling: number;
}

/**
 * Gives a job to every unfinished submission that has none: Redis lost it, or a process died between the commit
 * and the queue. What has a job is BullMQ's matter: it finds jobs whose worker is gone.
 *
 * A `running` submission without a job has a live worker exactly when there is a sign of its life. When Redis was
 * found emptied, those who work get the time to show theirs; should one be slower, its work is done a second
 * time, and the attempt in the truth lets only the later one store anything.
 */
export class Reconciler {
  #era: string | undefined;
  #emptiedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ReconcilerOptions) {}

  /**
   * One round; on one node per interval unless `always`. Answers how many submissions got a job.
   * @throws when the truth or Redis is away
   */
  async run({ always = false } = {}): Promise<number> {
    const { link, interval, store, enqueue, signs } = this.options;
    const settling = await this.#emptiedWithin(this.options.settling);
    if (!always && (await link.commands.set(link.key("reconciling"), "1", "PX", Math.ceil(interval * 0.9), "NX")) === null) return 0;
    const unfinished = await store.unfinished();
    let count = 0;
    for (let from = 0; from < unfinished.length; from += BATCH) {
      const batch = unfinished.slice(from, from + BATCH);
      const known = await Promise.all(batch.map(({ id }) => link.commands.exists(this.options.jobKey(id))));
      for (const [n, { id, status }] of batch.entries()) {
        if (known[n] === 1 || (status === "running" && (settling || (await signs.seen(id))))) continue;
        await enqueue(id);
        count++;
      }
    }
    return count;
  }

  /** Whether this process has seen Redis with its memory, and then without, so short a time ago. */
  async #emptiedWithin(ms: number): Promise<boolean> {
    const { commands } = this.options.link;
    const key = this.options.link.key("era");
    await commands.set(key, randomUUID(), "NX");
    const era = (await commands.get(key)) ?? undefined;
    if (this.#era !== undefined && era !== this.#era) this.#emptiedAt = Date.now();
    this.#era = era;
    return Date.now() - this.#emptiedAt < ms;
  }
}
