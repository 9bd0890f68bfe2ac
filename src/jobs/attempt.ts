/**
 * A job while it runs: attempts and their ends, the heartbeat of its progress, cancelling, and who
 * watches it.
 */
import { isOutage } from "../errors.js";
import type { Finding } from "../model/findings.js";
import type { Submission, SubmissionStore } from "../storage/records/submissions-port.js";
import { type JobHandler, type Progress, reached } from "./port.js";

/** Why the signal of a job was aborted. */
class JobAborted extends Error {
  constructor(readonly reason: "cancelled" | "stopping" | "superseded" | "deferred") {
    super(`The job was ended: ${reason}.`);
    this.name = "JobAborted";
  }
}

export const cancelled: Finding = {
  file: null,
  pointer: null,
  code: "CANCELLED",
  message: "The submission was cancelled; nothing of it was stored.",
};
const crashed = (attempts: number): Finding => ({
  file: null,
  pointer: null,
  code: "CRASHED_REPEATEDLY",
  message:
    `The job was started ${attempts} times (MAX_ATTEMPTS) and never finished; the ` +
    "service's log says why. Submit it again once the cause is fixed.",
});

/** True once a submission has reached its final state; also of one that never existed. */
export const hasEnded = (submission: Submission | undefined): boolean =>
  submission === undefined || submission.status === "finished" || submission.status === "failed";

/** Attempts that count against MAX_ATTEMPTS. */
const countedAttempts = (submission: Submission): number =>
  submission.attempt - submission.interrupted;

/** The calls that a queue makes to the record store. */
export type JobStore = Pick<
  SubmissionStore,
  | "submission"
  | "unfinished"
  | "beginAttempt"
  | "yieldAttempt"
  | "setStage"
  | "closeSubmission"
  | "cancelSubmission"
>;

/** The queue that an attempt is made for. */
export interface AttemptHost {
  store: JobStore;
  /** Setting MAX_ATTEMPTS. */
  maxAttempts: number;
  /** Setting MAX_RESTARTS; without it a process that is gone counts as an attempt. */
  maxRestarts?: number;
  /** Setting OUTAGE_PATIENCE, ms. */
  outagePatience: number;
  now: () => number;
  /** The attempt was counted in the record store; the handler is called next. */
  begun?(submission: Submission): void;
  progressed(id: string, progress: Progress): void;
  /** Its state has changed, or it is gone. */
  changed(id: string, submission: Submission | undefined): void;
  /**
   * Called with every fault that the submission did not cause; its text goes to the log only. `of`
   * is absent when it could not be read.
   */
  onFault?: (submission: string, error: unknown, of?: Submission) => void;
}

/**
 * `deferred`: the job takes long, and begins again where it delays no other job. `over`: nothing is
 * left to do here. `again`: it is to be tried later. `left`: the service stops, another process
 * continues the job.
 */
export type Outcome =
  | { end: "over" | "left" | "deferred" }
  | { end: "again"; /** That of the attempt that failed. */ attempt: number };

/** Makes one attempt at a submission: the same for every queue. Never rejects. */
export async function attempt(
  host: AttemptHost,
  id: string,
  handler: JobHandler,
  abort: AbortController,
): Promise<Outcome> {
  let submission: Submission | undefined;
  try {
    await excuseLost(host, id);
    submission = await host.store.beginAttempt(id, host.now());
    if (!submission) {
      // Ended, or cancelled while an earlier process ran it: then no other process will end it.
      const left = await host.store.submission(id);
      if (left?.status === "running") await endFailed(host, left, cancelled);
      else host.changed(id, left);
      return { end: "over" };
    }
    if (countedAttempts(submission) > host.maxAttempts) {
      await endFailed(host, submission, crashed(host.maxAttempts));
      return { end: "over" };
    }
    const begun = submission;
    host.begun?.(begun);
    reached({ submission: id, event: "attempt started" });
    host.changed(id, submission);
    await handler({
      submission,
      signal: abort.signal,
      apart: isApart(submission),
      report: reporter(host, submission, abort),
      isLastWith: (fault) => isLast(host, begun, fault),
    });
    const after = await host.store.submission(id);
    if (after?.status === "running" && after.attempt === submission.attempt)
      throw new Error("the handler returned and left its submission running");
    host.changed(id, after);
    return { end: "over" };
  } catch (error) {
    return afterFault(host, id, submission, abort.signal, error);
  }
}

/**
 * A submission that is running before its attempt begins was left by a process that is gone. The
 * first time the job itself may have ended the process, so it counts. From then on the job runs
 * apart ({@link isApart}): then the job did not end the service, up to MAX_RESTARTS times.
 */
async function excuseLost(
  { store, maxAttempts, maxRestarts = 0 }: AttemptHost,
  id: string,
): Promise<void> {
  const left = await store.submission(id);
  if (left?.status === "running" && isApart(left) && left.attempt < maxAttempts + maxRestarts)
    await store.yieldAttempt(id, left.attempt);
}

/**
 * An attempt that counts came before this one: a crate is then ingested in a process of its own.
 * Other work cannot be.
 */
const isApart = (submission: Submission): boolean =>
  submission.type === "crate" && countedAttempts(submission) > 1;

/** Ends a submission as failed unless another attempt is running. */
export async function endFailed(
  { store, now, changed }: AttemptHost,
  submission: Submission,
  finding: Finding,
): Promise<void> {
  await store.closeSubmission(
    { id: submission.id, attempt: submission.attempt, status: "failed", error: [finding] },
    now(),
  );
  changed(submission.id, await store.submission(submission.id));
}

async function afterFault(
  host: AttemptHost,
  id: string,
  submission: Submission | undefined,
  signal: AbortSignal,
  error: unknown,
): Promise<Outcome> {
  const reason =
    signal.aborted && signal.reason instanceof JobAborted ? signal.reason.reason : undefined;
  if (!reason) host.onFault?.(id, error, submission);
  try {
    // A stop is not the submission's fault: the next start begins again as if this attempt had not
    // been.
    if (reason === "stopping" && submission) await host.store.yieldAttempt(id, submission.attempt);
    if (reason === "stopping") return { end: "left" };
    if (reason === "superseded") return { end: "over" };
    if (reason === "deferred" && submission) {
      if (!(await host.store.yieldAttempt(id, submission.attempt)))
        await endFailed(host, submission, cancelled);
      else host.changed(id, await host.store.submission(id));
      return { end: "deferred" };
    }
    if (submission && !reason && isWaitedFor(host, submission, error)) {
      if (!(await host.store.yieldAttempt(id, submission.attempt))) {
        // Cancelled, and word of that not here yet; of another attempt it ends nothing.
        await endFailed(host, submission, cancelled);
        return { end: "over" };
      }
      host.changed(id, await host.store.submission(id));
      return { end: "again", attempt: submission.attempt };
    }
    const finding = !submission
      ? undefined
      : reason === "cancelled"
        ? cancelled
        : isLast(host, submission, error)
          ? crashed(host.maxAttempts)
          : undefined;
    if (submission && finding) {
      await endFailed(host, submission, finding);
      return { end: "over" };
    }
    if (submission && !(await host.store.yieldAttempt(id, submission.attempt, true))) {
      await endFailed(host, submission, cancelled);
      return { end: "over" };
    }
    if (submission) host.changed(id, await host.store.submission(id));
  } catch (fault) {
    // The store is unavailable: begin again later, which ends it then.
    host.onFault?.(id, fault, submission);
    if (reason === "stopping") return { end: "left" };
  }
  return { end: "again", attempt: submission?.attempt ?? 1 };
}

/**
 * An outage is not the submission's fault either: an accepted job waits for the end of the outage,
 * within the retry window.
 */
const isWaitedFor = (
  { now, outagePatience }: AttemptHost,
  { timeCreated }: Submission,
  fault: unknown,
): boolean => isOutage(fault) && now() - timeCreated < outagePatience;
const isLast = (host: AttemptHost, submission: Submission, fault: unknown): boolean =>
  !isWaitedFor(host, submission, fault) && countedAttempts(submission) >= host.maxAttempts;

function reporter(
  host: AttemptHost,
  submission: Submission,
  abort: AbortController,
): (progress: Progress) => void {
  let stage = submission.attempt > 1 ? null : submission.stage;
  let stored: Promise<unknown> = Promise.resolve();
  return (progress) => {
    host.progressed(submission.id, progress);
    reached({ submission: submission.id, event: progress.stage, done: progress.done });
    if (progress.stage === stage) return;
    const next = (stage = progress.stage);
    stored = stored
      .then(() => host.store.setStage(submission.id, submission.attempt, next))
      .then((mine) => {
        if (!mine) abort.abort(new JobAborted("superseded"));
      })
      .catch((error: unknown) => host.onFault?.(submission.id, error, submission));
  };
}

/** How long a handler has to stop after it was asked to, ms. */
const LAST_WORDS = 2000;

/** The submissions that this process runs now. */
export class Running {
  readonly #jobs = new Map<string, { abort: AbortController; done: Promise<unknown> }>();

  get size(): number {
    return this.#jobs.size;
  }

  has(id: string): boolean {
    return this.#jobs.has(id);
  }

  /** The result of {@link track} for a job that is not done yet. */
  done<T>(id: string): Promise<T> | undefined {
    return this.#jobs.get(id)?.done as Promise<T> | undefined;
  }

  ids(): string[] {
    return [...this.#jobs.keys()];
  }

  /** Runs `work`, which must not reject, and tracks it until it is done. */
  track<T>(id: string, work: (abort: AbortController) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const done = work(abort).finally(() => {
      if (this.#jobs.get(id)?.abort === abort) this.#jobs.delete(id);
    });
    this.#jobs.set(id, { abort, done });
    return done;
  }

  /** False when it does not run here. */
  abort(id: string, reason: JobAborted["reason"]): boolean {
    const job = this.#jobs.get(id);
    job?.abort.abort(new JobAborted(reason));
    return job !== undefined;
  }

  /**
   * Waits up to `grace` ms for running jobs, then asks the rest to stop; returns the jobs that did
   * not stop.
   */
  async end(grace: number): Promise<string[]> {
    await this.#settledWithin(grace);
    for (const id of this.ids()) this.abort(id, "stopping");
    // A handler that obeys its signal ends at once; one that does not must not delay the stop.
    await this.#settledWithin(LAST_WORDS);
    return this.ids();
  }

  async #settledWithin(ms: number): Promise<void> {
    if (this.#jobs.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all([...this.#jobs.values()].map(({ done }) => done)),
      new Promise((resolve) => (timer = setTimeout(resolve, ms))),
    ]);
    clearTimeout(timer);
  }
}

/** Notified of the first and the last watcher of a submission. */
interface Listening {
  join(id: string): Promise<void>;
  leave(id: string): void;
}

/**
 * The callers that wait for changes of a submission. Changes that come faster than they are read
 * become one.
 */
export class Watchers {
  readonly #byId = new Map<string, Set<Watcher>>();

  readonly #listening: Listening | undefined;

  constructor(listening?: Listening) {
    this.#listening = listening;
  }

  /** How many callers wait now. */
  get size(): number {
    return [...this.#byId.values()].reduce((sum, watchers) => sum + watchers.size, 0);
  }

  /** The submissions that are watched now. */
  ids(): string[] {
    return [...this.#byId.keys()];
  }

  /**
   * Yields once at the start, after every change, and a last time at the end. `return` ends the
   * wait at once.
   */
  watch(id: string, hasEnded: () => Promise<boolean>): AsyncIterable<void> {
    return {
      [Symbol.asyncIterator]: () => {
        const watcher = new Watcher();
        const changes = this.#changes(id, watcher, hasEnded);
        return {
          next: () => changes.next(),
          // A generator answers `return` only after the pending `next`, which may be as far off as
          // the next change.
          return: () => {
            watcher.end();
            return changes.return(undefined);
          },
        };
      },
    };
  }

  async *#changes(
    id: string,
    watcher: Watcher,
    hasEnded: () => Promise<boolean>,
  ): AsyncGenerator<void> {
    const set = this.#byId.get(id) ?? new Set();
    this.#byId.set(id, set.add(watcher));
    try {
      await this.#listening?.join(id);
      // Asked after joining, so that an end in between is not missed.
      if (await hasEnded()) watcher.end();
      yield;
      while (await watcher.next()) yield;
    } finally {
      set.delete(watcher);
      if (set.size === 0 && this.#byId.get(id) === set) {
        this.#byId.delete(id);
        this.#listening?.leave(id);
      }
    }
  }

  notify(id: string): void {
    for (const watcher of this.#byId.get(id) ?? []) watcher.notify();
  }

  end(id: string): void {
    for (const watcher of this.#byId.get(id) ?? []) watcher.end();
  }

  endAll(): void {
    for (const id of this.#byId.keys()) this.end(id);
  }
}

class Watcher {
  #changed = false;
  #ended = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#changed = true;
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** False when it has ended and the last change was reported. */
  async next(): Promise<boolean> {
    if (!this.#changed && !this.#ended)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    const report = this.#changed;
    this.#changed = false;
    return report;
  }
}
