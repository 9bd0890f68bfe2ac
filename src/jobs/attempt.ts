/** One attempt at a submission, the same for every queue. */
import { isOutage } from "../errors.js";
import type { Finding } from "../model/findings.js";
import type { Submission, SubmissionStore } from "../storage/records/port/submissions.js";
import { type JobHandler, type Progress, reached } from "./port.js";
import { JobAborted } from "./running.js";

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

/** Options of a queue that its attempts need. */
export interface AttemptOptions {
  store: JobStore;
  /** Setting MAX_ATTEMPTS. */
  maxAttempts: number;
  /** Bound MAX_RESTARTS; without it the end of a process always counts as an attempt. */
  maxRestarts?: number;
  /** Setting OUTAGE_PATIENCE, ms; without it an outage counts as an attempt. */
  outagePatience?: number;
  now?: () => number;
  /**
   * Called with every fault that the submission did not cause; its text goes to the log only. `of`
   * is absent when it could not be read.
   */
  onFault?: (submission: string, error: unknown, of?: Submission) => void;
}

/** The queue that an attempt is made for. */
export interface AttemptHost extends AttemptOptions {
  /** The record store has counted the attempt; the handler is called next. */
  begun?(submission: Submission): void;
  progressed(id: string, progress: Progress): void;
  /** The state of the submission has changed, or it is gone. */
  changed(id: string, submission: Submission | undefined): void;
}

/** Milliseconds since 1970. */
export const timeOf = ({ now = Date.now }: Pick<AttemptOptions, "now">): number => now();

/**
 * - `over`: the submission has ended, or another attempt has taken its place.
 * - `again`: try it later; `counts` says whether this attempt counts against MAX_ATTEMPTS.
 * - `deferred`: the job takes long; start it again in the slow lane.
 * - `left`: the service stops; another process continues the job.
 */
export type Outcome =
  { end: "over" | "left" | "deferred" } | { end: "again"; attempt: number; counts: boolean };

/** Makes one attempt at a submission. Never rejects. */
export async function attempt(
  host: AttemptHost,
  id: string,
  handler: JobHandler,
  abort: AbortController,
): Promise<Outcome> {
  let submission: Submission | undefined;
  try {
    await excuseLost(host, id);
    submission = await host.store.beginAttempt(id, timeOf(host));
    if (!submission) {
      // It has ended. Or it was cancelled while a process ran it that is gone: end it here.
      const left = await host.store.submission(id);
      if (left?.status === "running") await endFailed(host, left, cancelled);
      else host.changed(id, left);
      return { end: "over" };
    }
    if (countedAttempts(submission) > host.maxAttempts)
      return await fail(host, submission, crashed(host.maxAttempts));
    const begun = submission;
    host.begun?.(begun);
    reached({ submission: id, event: "attempt started" });
    host.changed(id, submission);
    await handler({
      submission,
      signal: abort.signal,
      apart: isApart(submission),
      report: reporter(host, submission, abort),
      isLastWith: (fault) => causeOf(host, begun, fault) === "exhausted",
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
 * first time the job itself may have ended the process, so it counts. From then on the job runs in
 * its own process ({@link isApart}) and did not end the service: up to MAX_RESTARTS ends do not
 * count.
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
 * After a first attempt that counts, a crate is ingested in a process of its own. Other jobs cannot
 * be.
 */
const isApart = (submission: Submission): boolean =>
  submission.type === "crate" && countedAttempts(submission) > 1;

/** Ends a submission as failed unless another attempt is running. */
export async function endFailed(
  host: AttemptHost,
  { id, attempt }: Submission,
  finding: Finding,
): Promise<void> {
  await host.store.closeSubmission(
    { id, attempt, status: "failed", error: [finding] },
    timeOf(host),
  );
  host.changed(id, await host.store.submission(id));
}

async function fail(host: AttemptHost, of: Submission, finding: Finding): Promise<Outcome> {
  await endFailed(host, of, finding);
  return { end: "over" };
}

async function afterFault(
  host: AttemptHost,
  id: string,
  submission: Submission | undefined,
  signal: AbortSignal,
  error: unknown,
): Promise<Outcome> {
  const aborted = signal.reason instanceof JobAborted ? signal.reason.reason : undefined;
  if (!aborted) host.onFault?.(id, error, submission);
  try {
    if (submission)
      return await settle(host, submission, aborted ?? causeOf(host, submission, error));
  } catch (fault) {
    // The record store is unavailable. The next attempt settles this one.
    host.onFault?.(id, fault, submission);
  }
  if (aborted === "stopping") return { end: "left" };
  return { end: "again", attempt: submission?.attempt ?? 1, counts: false };
}

/**
 * Why an attempt ended without ending its submission: its signal was aborted, or a fault.
 * - `outage`: a store or engine is unavailable, within the retry window.
 * - `exhausted`: the fault ended the last attempt that MAX_ATTEMPTS allows.
 */
type Cause = JobAborted["reason"] | "outage" | "exhausted" | "fault";

function causeOf(host: AttemptHost, submission: Submission, fault: unknown): Cause {
  const age = timeOf(host) - submission.timeCreated;
  if (isOutage(fault) && age < (host.outagePatience ?? 0)) return "outage";
  return countedAttempts(submission) >= host.maxAttempts ? "exhausted" : "fault";
}

/** What becomes of the submission of such an attempt. */
async function settle(host: AttemptHost, submission: Submission, cause: Cause): Promise<Outcome> {
  const { id, attempt } = submission;
  switch (cause) {
    case "superseded":
      return { end: "over" };
    case "cancelled":
      return fail(host, submission, cancelled);
    case "exhausted":
      return fail(host, submission, crashed(host.maxAttempts));
    case "stopping":
      // A stop is not the submission's fault: the attempt does not count.
      await host.store.yieldAttempt(id, attempt);
      return { end: "left" };
    case "deferred":
      return queueAgain(host, submission, false, { end: "deferred" });
    case "outage":
      return queueAgain(host, submission, false, { end: "again", attempt, counts: false });
    case "fault":
      return queueAgain(host, submission, true, { end: "again", attempt, counts: true });
  }
}

async function queueAgain(
  host: AttemptHost,
  submission: Submission,
  counts: boolean,
  outcome: Outcome,
): Promise<Outcome> {
  const { id, attempt } = submission;
  // Refused when it was cancelled and the signal has not arrived yet. If another attempt is running
  // instead, endFailed does nothing.
  if (!(await host.store.yieldAttempt(id, attempt, counts)))
    return fail(host, submission, cancelled);
  host.changed(id, await host.store.submission(id));
  return outcome;
}

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
