import { ServiceError } from "../../errors.js";
import type { Finding } from "../../model/finding.js";
import type { Submission, SubmissionStore } from "../../stores/records/submissions-port.js";
import type { JobHandler, JobQueue, Progress } from "../port.js";
import { reached } from "../moments.js";
import { JobAborted, cancelled, crashed } from "./endings.js";
import { Watchers } from "./watchers.js";

export interface InProcessQueueOptions {
  store: Pick<SubmissionStore, "submission" | "unfinished" | "beginAttempt" | "yieldAttempt" | "setStage" | "closeSubmission" | "cancelSubmission">;
  /** Setting MAX_ATTEMPTS. */
  maxAttempts: number;
  /** Setting JOB_CONCURRENCY. */
  concurrency: number;
  /** Milliseconds to wait before the attempt after this one. */
  backOff?: (attempt: number) => number;
  now?: () => number;
  /** Told of every fault that is not the submission's own; its text goes to the log only. */
  onFault?: (submission: string, error: unknown) => void;
}

interface Active { abort: AbortController; done: Promise<void> }

/** Runs submissions in this process, in the order they came. */
export class InProcessJobQueue implements JobQueue {
  private handler: JobHandler | undefined;
  private closing = false;
  private readonly waiting: string[] = [];
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly active = new Map<string, Active>();
  private readonly progresses = new Map<string, Progress>();
  private readonly watchers = new Watchers();
  private readonly backOff: (attempt: number) => number;
  private readonly now: () => number;

  constructor(private readonly options: InProcessQueueOptions) {
    this.backOff = options.backOff ?? ((attempt) => Math.min(1000 * 2 ** (attempt - 1), 30_000));
    this.now = options.now ?? Date.now;
  }

  async start(handler: JobHandler): Promise<void> {
    const unfinished = await this.options.store.unfinished();
    // What came in before the start waits behind what an earlier process left.
    const early = this.waiting.splice(0);
    this.handler = handler;
    for (const id of [...unfinished.map((submission) => submission.id), ...early]) await this.enqueue(id);
  }

  async enqueue(id: string): Promise<void> {
    if (this.waiting.includes(id) || this.active.has(id) || this.timers.has(id)) return;
    this.waiting.push(id);
    this.pump();
  }

  async cancel(id: string): Promise<void> {
    const submission = await this.options.store.cancelSubmission(id, this.now());
    const active = this.active.get(id);
    if (active) active.abort.abort(new JobAborted("cancelled"));
    else if (submission?.status === "running") {
      // Between two attempts: nothing runs that could end it.
      clearTimeout(this.timers.get(id));
      this.timers.delete(id);
      await this.fail(submission, cancelled);
    }
    this.changed(id, submission);
  }

  progress(id: string): Progress | null {
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
    await settledWithin(this.active, grace);
    for (const { abort } of this.active.values()) abort.abort(new JobAborted("stopping"));
    // A handler that minds its signal is gone at once; one that does not must not hold up the stop.
    await settledWithin(this.active, 2000);
    this.watchers.endAll();
  }

  async health(): Promise<void> {
    if (!this.handler || this.closing) throw new ServiceError("SHUTTING_DOWN", "The job queue takes no work: it is not started, or stopping.");
  }

  private pump(): void {
    while (this.handler && !this.closing && this.active.size < this.options.concurrency) {
      const id = this.waiting.shift();
      if (id === undefined) return;
      const abort = new AbortController();
      const done = this.run(id, this.handler, abort).then(() => {
        this.active.delete(id);
        this.pump();
      });
      this.active.set(id, { abort, done });
    }
  }

  /** One attempt; never rejects. */
  private async run(id: string, handler: JobHandler, abort: AbortController): Promise<void> {
    let submission: Submission | undefined;
    try {
      submission = await this.options.store.beginAttempt(id, this.now());
      if (!submission) {
        // Ended, or cancelled while an earlier process ran it: then nobody else will end it.
        const left = await this.options.store.submission(id);
        if (left?.status === "running") await this.fail(left, cancelled);
        return this.changed(id, await this.options.store.submission(id));
      }
      if (countedAttempts(submission) > this.options.maxAttempts) return await this.fail(submission, crashed(this.options.maxAttempts));
      reached({ submission: id, moment: "attempt begun" });
      this.changed(id, submission);
      await handler({ submission, signal: abort.signal, report: this.reporter(submission, abort) });
      const after = await this.options.store.submission(id);
      if (after?.status === "running" && after.attempt === submission.attempt) throw new Error("the handler returned and left its submission running");
      this.changed(id, after);
    } catch (error) {
      await this.afterFault(id, submission, abort.signal, error);
    }
  }

  private async afterFault(id: string, submission: Submission | undefined, signal: AbortSignal, error: unknown): Promise<void> {
    const reason = signal.aborted && signal.reason instanceof JobAborted ? signal.reason.reason : undefined;
    if (!reason) this.options.onFault?.(id, error);
    try {
      // A stop is not the submission's fault: the next start begins again as if this attempt had not been.
      if (reason === "stopping" && submission) await this.options.store.yieldAttempt(id, submission.attempt);
      if (reason === "stopping" || reason === "superseded") return;
      if (submission && reason === "cancelled") return await this.fail(submission, cancelled);
      if (submission && countedAttempts(submission) >= this.options.maxAttempts) return await this.fail(submission, crashed(this.options.maxAttempts));
    } catch (fault) {
      // The store is away: begin again later, which ends it then.
      this.options.onFault?.(id, fault);
    }
    if (this.closing) return;
    const timer = setTimeout(() => {
      this.timers.delete(id);
      void this.enqueue(id);
    }, this.backOff(submission?.attempt ?? 1));
    this.timers.set(id, timer);
  }

  private reporter(submission: Submission, abort: AbortController): (progress: Progress) => void {
    let stage = submission.attempt > 1 ? null : submission.stage;
    let stored: Promise<unknown> = Promise.resolve();
    return (progress) => {
      this.progresses.set(submission.id, progress);
      reached({ submission: submission.id, moment: progress.stage, done: progress.done });
      this.watchers.notify(submission.id);
      if (progress.stage === stage) return;
      const next = (stage = progress.stage);
      stored = stored
        .then(() => this.options.store.setStage(submission.id, submission.attempt, next))
        .then((mine) => {
          if (!mine) abort.abort(new JobAborted("superseded"));
        })
        .catch((error: unknown) => this.options.onFault?.(submission.id, error));
    };
  }

  private async fail(submission: Submission, finding: Finding): Promise<void> {
    await this.options.store.closeSubmission({ id: submission.id, attempt: submission.attempt, status: "failed", error: [finding] }, this.now());
    this.changed(submission.id, await this.options.store.submission(submission.id));
  }

  private changed(id: string, submission: Submission | undefined): void {
    if (hasEnded(submission)) this.progresses.delete(id);
    this.watchers.notify(id);
    if (hasEnded(submission)) this.watchers.end(id);
  }
}

const countedAttempts = (submission: Submission): number => submission.attempt - submission.interrupted;
const hasEnded = (submission: Submission | undefined): boolean => submission === undefined || submission.status === "finished" || submission.status === "failed";

async function settledWithin(active: ReadonlyMap<string, Active>, ms: number): Promise<void> {
  if (active.size === 0) return;
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.all([...active.values()].map(({ done }) => done)),
    new Promise((resolve) => (timer = setTimeout(resolve, ms))),
  ]);
  clearTimeout(timer);
}
