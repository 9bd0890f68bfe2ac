import { channel } from "node:diagnostics_channel";
import type { Submission } from "../storage/records/port/submissions.js";

export interface Progress {
  stage: string;
  done: number;
  total: number | null;
  unit: string;
}

/** The input of a handler for one attempt at one submission. */
export interface Job {
  submission: Submission;
  /** Aborted when the submission is cancelled or the service stops. */
  signal: AbortSignal;
  /**
   * An earlier attempt ended without a report: the job must run where its end harms nothing else
   * and shows the cause.
   */
  apart: boolean;
  /** Reports how far the job is; a change of stage is stored, the rest is held in memory only. */
  report(progress: Progress): void;
  /**
   * Whether an attempt that ends with this fault is the last one: then the queue ends the
   * submission, unless the handler does and can say more.
   */
  isLastWith(fault: unknown): boolean;
}
/** Does the job and ends the submission itself (by commit or close); throwing means: try again. */
export type JobHandler = (job: Job) => Promise<void>;

/**
 * Runs submissions. The submissions table is the source of truth; a queue only says which are next.
 * A submission is tried at most MAX_ATTEMPTS times, then fails with `CRASHED_REPEATEDLY`.
 */
export interface JobQueue {
  /** Begins to run jobs, first those that an earlier process left unfinished. */
  start(handler: JobHandler): Promise<void>;
  /**
   * Queues a submission of the record store; a second call has no effect while it waits or runs.
   * False when the queue cannot be reached: the submission then begins once the queue can be
   * reached.
   */
  enqueue(submission: string): Promise<boolean>;
  cancel(submission: string): Promise<void>;
  /** How far the attempt that runs now is, on whichever node; null when that is not known. */
  progress(submission: string): Promise<Progress | null>;
  /** Every change of progress or state of a submission until it has ended. */
  watch(submission: string): AsyncIterable<void>;
  /**
   * Accepts no new job, waits up to `grace` ms for running ones, then leaves them for the next
   * start.
   */
  close(grace: number): Promise<void>;
  health(): Promise<void>;
}

/** The message on the channel `arkgraph.submission`. */
interface JobEvent {
  /** The step that has just been done, or the stage that the job is in. */
  event: string;
  /** How far the stage is. */
  done?: number;
  submission: string;
}

const submissions = channel("arkgraph.submission");

/**
 * Reports to tracers in this process (node:diagnostics_channel) how far a submission is; at once,
 * before anything else is done. Costs nothing without a listener.
 */
export function reached(event: JobEvent): void {
  if (submissions.hasSubscribers) submissions.publish(event);
}
