import type { Submission, SubmissionType } from "../storage/records/port/submissions.js";
import type { JobStore } from "./attempt.js";
import type { JobHandler, JobQueue, Progress } from "./port.js";

/** Jobs of some types, with a queue of their own. */
export interface Lane {
  takes(type: SubmissionType): boolean;
  queue: JobQueue;
}

/** The record store as seen by a queue that runs jobs of some types only. */
export function storeOfLane(store: JobStore, takes: Lane["takes"]): JobStore {
  return {
    submission: (id) => store.submission(id),
    unfinished: async () => (await store.unfinished()).filter(({ type }) => takes(type)),
    beginAttempt: (id, at) => store.beginAttempt(id, at),
    yieldAttempt: (id, attempt, counts) => store.yieldAttempt(id, attempt, counts),
    setStage: (id, attempt, stage) => store.setStage(id, attempt, stage),
    closeSubmission: (close, at) => store.closeSubmission(close, at),
    cancelSubmission: (id, at) => store.cancelSubmission(id, at),
  };
}

/** Several queues as one: a job that may take hours never blocks jobs of other types. */
export class LanedJobQueue implements JobQueue {
  readonly #store: { submission(id: string): Promise<Submission | undefined> };
  readonly #lanes: readonly [Lane, ...Lane[]];

  /** @param lanes each type of job belongs to exactly one of them */
  constructor(
    store: { submission(id: string): Promise<Submission | undefined> },
    lanes: readonly [Lane, ...Lane[]],
  ) {
    this.#store = store;
    this.#lanes = lanes;
  }

  async start(handler: JobHandler): Promise<void> {
    for (const { queue } of this.#lanes) await queue.start(handler);
  }

  async enqueue(id: string): Promise<boolean> {
    return (await this.#laneOf(id)).enqueue(id);
  }

  async cancel(id: string): Promise<void> {
    await (await this.#laneOf(id)).cancel(id);
  }

  async progress(id: string): Promise<Progress | null> {
    return (await this.#laneOf(id)).progress(id);
  }

  /** Not a generator: ending it must not wait for the next change. */
  watch(id: string): AsyncIterable<void> {
    const changes = this.#laneOf(id).then((queue) => queue.watch(id)[Symbol.asyncIterator]());
    changes.catch(() => {});
    const iterator: AsyncIterator<void> = {
      next: async () => (await changes).next(),
      return: async () => {
        await (await changes).return?.();
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  async close(grace: number): Promise<void> {
    await Promise.all(this.#lanes.map(({ queue }) => queue.close(grace)));
  }

  async health(): Promise<void> {
    for (const { queue } of this.#lanes) await queue.health();
  }

  async #laneOf(id: string): Promise<JobQueue> {
    const type = (await this.#store.submission(id))?.type;
    return (this.#lanes.find(({ takes }) => type !== undefined && takes(type)) ?? this.#lanes[0])
      .queue;
  }
}

/** Settings of jobs that may be set aside. */
export interface SlowOptions {
  /** Bound JOB_SLOW_AFTER, ms. */
  after: number;
  /** Setting JOB_SLOW_CONCURRENCY. */
  concurrency: number;
}

/**
 * Places for slow jobs: a job begins in the quick lane, and moves here so that its place is free
 * for others.
 */
export class SlowLane {
  readonly #ids = new Set<string>();

  constructor(readonly options: SlowOptions) {}

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  get size(): number {
    return this.#ids.size;
  }

  get isFull(): boolean {
    return this.#ids.size >= this.options.concurrency;
  }

  /** False when there is no place. */
  enter(id: string): boolean {
    if (this.isFull) return false;
    this.#ids.add(id);
    return true;
  }

  leave(id: string): void {
    this.#ids.delete(id);
  }
}

/**
 * How long to wait after an attempt that failed, ms: doubled each time from `least` up to `most`,
 * and up to a half less by chance, so that jobs that failed together are not retried together.
 */
export function backOff({
  least,
  most,
}: {
  least: number;
  most: number;
}): (attempt: number) => number {
  return (attempt) =>
    Math.round(Math.min(least * 2 ** Math.min(attempt - 1, 30), most) * (1 - Math.random() / 2));
}
