import { ServiceError } from "../../errors.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import {
  type AttemptHost,
  type AttemptOptions,
  attempt,
  cancelled,
  endFailed,
  hasEnded,
  type Outcome,
  timeOf,
} from "../attempt.js";
import { SlowLane, type SlowOptions } from "../lanes.js";
import type { JobHandler, JobQueue, Progress } from "../port.js";
import { Running } from "../running.js";
import { Watchers } from "../watchers.js";

/**
 * The waiting jobs, in start-time fair queueing: a new job comes after its user's last, but no
 * earlier than the one that is next now. So each user has one job in each round, however many jobs
 * the user sent and however early. `bullmq/fair-priorities.ts` does the same in Redis.
 */
class FairOrder {
  readonly #rounds = new Map<number, string[]>();
  readonly #ids = new Set<string>();
  /** Of each user, the round of the last job. */
  readonly #last = new Map<string, number>();
  #now = 1;

  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string, user: string): void {
    const round = Math.max(this.#now, (this.#last.get(user) ?? 0) + 1);
    this.#last.set(user, round);
    this.#ids.add(id);
    const known = this.#rounds.get(round);
    if (known) known.push(id);
    else this.#rounds.set(round, [id]);
  }

  next(): string | undefined {
    if (this.#ids.size === 0) return undefined;
    let round = this.#rounds.get(this.#now);
    while (!round) round = this.#rounds.get(++this.#now);
    const id = round.shift()!;
    if (round.length === 0) this.#rounds.delete(this.#now);
    this.#ids.delete(id);
    // No user is ahead of another any more.
    if (this.#ids.size === 0) this.#last.clear();
    return id;
  }

  clear(): void {
    this.#rounds.clear();
    this.#ids.clear();
    this.#last.clear();
  }
}

interface InProcessQueueOptions extends AttemptOptions {
  /** Setting JOB_CONCURRENCY. */
  concurrency: number;
  /** Without it a job stays where it began, however long it takes. */
  slow?: SlowOptions;
  /** Milliseconds to wait before the attempt after this one. */
  backOff?: (attempt: number) => number;
}

/**
 * Runs submissions in this process, with fair scheduling among users. A job that takes longer than
 * `slow.after` leaves its place to others: it goes on in the slow lane, or, when the slow lane is
 * full and other jobs wait, it is stopped and begins again there later.
 */
export class InProcessJobQueue implements JobQueue {
  #handler: JobHandler | undefined;
  #closing = false;
  readonly #waiting = new FairOrder();
  /** Submissions that are being looked up before they join the order. */
  readonly #arriving = new Set<string>();
  readonly #slow: SlowLane | undefined;
  /** Jobs that have run longer than they may outside the slow lane. */
  readonly #overdue = new Set<string>();
  readonly #deferred: string[] = [];
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Running<Outcome>();
  readonly #progresses = new Map<string, Progress>();
  readonly watchers = new Watchers();
  readonly #backOff: (attempt: number) => number;
  readonly #host: AttemptHost;

  readonly #options: InProcessQueueOptions;

  constructor(options: InProcessQueueOptions) {
    this.#options = options;

    this.#slow = options.slow && new SlowLane(options.slow);
    this.#backOff = options.backOff ?? ((attempt) => Math.min(1000 * 2 ** (attempt - 1), 30_000));
    this.#host = {
      ...options,
      progressed: (id, progress) => {
        this.#progresses.set(id, progress);
        this.watchers.notify(id);
      },
      changed: (id, submission) => this.#changed(id, submission),
    };
  }

  async start(handler: JobHandler): Promise<void> {
    const unfinished = await this.#options.store.unfinished();
    // Submissions that came in before the start are among them.
    this.#waiting.clear();
    for (const { id, user } of unfinished) if (!this.#isKnown(id)) this.#waiting.add(id, user);
    this.#handler = handler;
    this.#pump();
  }

  async enqueue(id: string): Promise<boolean> {
    if (this.#isKnown(id)) return true;
    this.#arriving.add(id);
    // The attempt handles an unavailable store.
    const submission = await this.#options.store.submission(id).catch(() => undefined);
    this.#arriving.delete(id);
    if (this.#closing || this.#isKnown(id)) return true;
    this.#waiting.add(id, submission?.user ?? "");
    this.#pump();
    return true;
  }

  #isKnown(id: string): boolean {
    return (
      this.#waiting.has(id) ||
      this.#arriving.has(id) ||
      this.#running.has(id) ||
      this.#timers.has(id) ||
      this.#deferred.includes(id)
    );
  }

  async cancel(id: string): Promise<void> {
    const submission = await this.#options.store.cancelSubmission(id, timeOf(this.#options));
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    // Left by a process that is gone: no running attempt could end it.
    if (!this.#running.abort(id, "cancelled") && submission?.status === "running")
      await endFailed(this.#host, submission, cancelled);
    this.#changed(id, submission);
  }

  async progress(id: string): Promise<Progress | null> {
    return this.#progresses.get(id) ?? null;
  }

  watch(id: string): AsyncIterable<void> {
    return this.watchers.watch(id, async () => hasEnded(await this.#options.store.submission(id)));
  }

  async close(grace: number): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiting.clear();
    this.#deferred.length = 0;
    await this.#running.end(grace);
    this.watchers.endAll();
  }

  async health(): Promise<void> {
    if (!this.#handler || this.#closing)
      throw new ServiceError(
        "SHUTTING_DOWN",
        "The job queue accepts no jobs: it is not started, or stopping.",
      );
  }

  #pump(): void {
    if (!this.#handler || this.#closing) return;
    while (this.#slow && !this.#slow.isFull) {
      const id = this.#deferred.shift();
      if (id === undefined) break;
      this.#slow.enter(id);
      void this.#run(id, this.#handler);
    }
    while (this.#quick < this.#options.concurrency) {
      const id = this.#waiting.next();
      if (id === undefined) return;
      void this.#run(id, this.#handler);
    }
    // Other jobs wait: an overdue job goes on in the slow lane, or begins again there.
    if (this.#waiting.size > 0) for (const id of this.#overdue) this.#setAside(id);
  }

  /** How many run where others wait for a place. */
  get #quick(): number {
    return this.#running.size - (this.#slow?.size ?? 0);
  }

  #becomesOverdue(id: string): void {
    if (!this.#running.has(id) || this.#slow?.has(id)) return;
    this.#overdue.add(id);
    if (!this.#slow!.isFull || this.#waiting.size > 0) this.#setAside(id);
  }

  #setAside(id: string): void {
    this.#overdue.delete(id);
    if (this.#slow!.enter(id)) this.#pump();
    else this.#running.abort(id, "deferred");
  }

  async #run(id: string, handler: JobHandler): Promise<void> {
    const clock =
      this.#slow && !this.#slow.has(id)
        ? setTimeout(() => this.#becomesOverdue(id), this.#slow.options.after).unref()
        : undefined;
    const outcome = await this.#running.track(id, (abort) =>
      attempt(this.#host, id, handler, abort),
    );
    clearTimeout(clock);
    this.#overdue.delete(id);
    this.#slow?.leave(id);
    if (outcome.end === "deferred" && !this.#closing) this.#deferred.push(id);
    if (outcome.end === "again" && !this.#closing) {
      const timer = setTimeout(() => {
        this.#timers.delete(id);
        void this.enqueue(id);
      }, this.#backOff(outcome.attempt));
      this.#timers.set(id, timer);
    }
    this.#pump();
  }

  #changed(id: string, submission: Submission | undefined): void {
    if (hasEnded(submission)) this.#progresses.delete(id);
    this.watchers.notify(id);
    if (hasEnded(submission)) this.watchers.end(id);
  }
}
