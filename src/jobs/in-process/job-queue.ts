import { ServiceError } from "../../errors.js";
import type { Submission } from "../../stores/records/submissions-port.js";
import { attempt, endFailed, type AttemptHost, type JobStore } from "../attempt.js";
import { cancelled, hasEnded } from "../endings.js";
import type { JobHandler, JobQueue, Progress } from "../port.js";
import { Running } from "../running.js";
import { Watchers } from "../watchers.js";

export interface InProcessQueueOptions {
  store: JobStore;
  /** Setting MAX_ATTEMPTS. */
  maxAttempts: number;
  /** Setting OUTAGE_PATIENCE, ms; without it an outage counts as an attempt. */
  outagePatience?: number;
  /** Setting JOB_CONCURRENCY. */
  concurrency: number;
  /** Milliseconds to wait before the attempt after this one. */
  backOff?: (attempt: number) => number;
  now?: () => number;
  /** Told of every fault that is not the submission's own; its text goes to the log only. */
  onFault?: AttemptHost["onFault"];
}

/** Runs submissions in this process, in the order they came. */
export class InProcessJobQueue implements JobQueue {
  private handler: JobHandler | undefined;
  private closing = false;
  private readonly waiting: string[] = [];
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly running = new Running();
  private readonly progresses = new Map<string, Progress>();
  private readonly watchers = new Watchers();
  private readonly backOff: (attempt: number) => number;
  private readonly host: AttemptHost;

  constructor(private readonly options: InProcessQueueOptions) {
    const { store, maxAttempts, outagePatience = 0, now = Date.now, onFault } = options;
    this.backOff = options.backOff ?? ((attempt) => Math.min(1000 * 2 ** (attempt - 1), 30_000));
    this.host = {
      store, maxAttempts, outagePatience, now, ...(onFault && { onFault }),
      progressed: (id, progress) => {
        this.progresses.set(id, progress);
        this.watchers.notify(id);
      },
      changed: (id, submission) => this.changed(id, submission),
    };
  }

  async start(handler: JobHandler): Promise<void> {
    const unfinished = await this.options.store.unfinished();
    // What came in before the start waits behind what an earlier process left.
    const early = this.waiting.splice(0);
    this.handler = handler;
    for (const id of [...unfinished.map((submission) => submission.id), ...early]) await this.enqueue(id);
  }

  async enqueue(id: string): Promise<boolean> {
    if (this.waiting.includes(id) || this.running.has(id) || this.timers.has(id)) return true;
    this.waiting.push(id);
    this.pump();
    return true;
  }

  async cancel(id: string): Promise<void> {
    const submission = await this.options.store.cancelSubmission(id, this.host.now());
    if (!this.running.abort(id, "cancelled") && submission?.status === "running") {
      // Between two attempts: nothing runs that could end it.
      clearTimeout(this.timers.get(id));
      this.timers.delete(id);
      await endFailed(this.host, submission, cancelled);
    }
    this.changed(id, submission);
  }

  async progress(id: string): Promise<Progress | null> {
    return this.progresses.get(id) ?? null;
  }

  watch(id: string): AsyncIterable<void> {
    return this.watchers.watch(id, async () => hasEnded(await this.options.store.submission(id)));
  }

  async close(grace: number): Promise<void> {
    this.closing = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    this.waiting.length = 0;
    await this.running.end(grace);
    this.watchers.endAll();
  }

  async health(): Promise<void> {
    if (!this.handler || this.closing) throw new ServiceError("SHUTTING_DOWN", "The job queue takes no work: it is not started, or stopping.");
  }

  private pump(): void {
    while (this.handler && !this.closing && this.running.size < this.options.concurrency) {
      const id = this.waiting.shift();
      if (id === undefined) return;
      void this.run(id, this.handler);
    }
  }

  private async run(id: string, handler: JobHandler): Promise<void> {
    const outcome = await this.running.track(id, (abort) => attempt(this.host, id, handler, abort));
    if (outcome.end === "again" && !this.closing) {
      const timer = setTimeout(() => {
        this.timers.delete(id);
        void this.enqueue(id);
      }, this.backOff(outcome.attempt));
      this.timers.set(id, timer);
    }
    this.pump();
  }

  private changed(id: string, submission: Submission | undefined): void {
    if (hasEnded(submission)) this.progresses.delete(id);
    this.watchers.notify(id);
    if (hasEnded(submission)) this.watchers.end(id);
  }
}
