import { channel } from "node:diagnostics_channel";
import type { Submission } from "../storage/records/submissions-port.js";

export interface Progress {
  stage: string;
  done: number;
  total: number | null;
  unit: string;
}

/** What a handler is given for one attempt at one submission. */
export interface Job {
  submission: Submission;
  /** Aborted when the submission is cancelled or the service stops. */
  signal: AbortSignal;
  /**
   * An attempt before this one ended without a word: the work is to be done where its end harms
   * nothing else, and says whose fault it is.
   */
  apart: boolean;
  /** Tells how far the work is; a change of stage is stored, the rest is kept in memory only. */
  report(progress: Progress): void;
  /**
   * Whether an attempt that ends with this fault is the last one: then the queue ends the
   * submission, unless the handler does and can say more.
   */
  isLastWith(fault: unknown): boolean;
}
/** Does the work and ends the submission itself (by commit or close); throwing means: try again. */
export type JobHandler = (job: Job) => Promise<void>;

/**
 * Runs submissions. The submissions table is the truth; a queue only says which are next. A
 * submission is tried at most MAX_ATTEMPTS times, then fails with `CRASHED_REPEATEDLY`.
 */
export interface JobQueue {
  /** Begins to work, first on what an earlier process left unfinished. */
  start(handler: JobHandler): Promise<void>;
  /**
   * Says that a submission which the truth holds is to be worked on; again has no effect while it
   * waits or runs. False when the queue cannot be reached: the submission is then begun once it can
   * be.
   */
  enqueue(submission: string): Promise<boolean>;
  cancel(submission: string): Promise<void>;
  /** How far the attempt that runs now is, on whichever node; null when that is not known. */
  progress(submission: string): Promise<Progress | null>;
  /** Every change of progress or state of a submission until it has ended. */
  watch(submission: string): AsyncIterable<void>;
  /** Takes no new work, waits up to `grace` ms for what runs, then leaves it for the next start. */
  close(grace: number): Promise<void>;
  health(): Promise<void>;
}

/** What is published on the channel `arkgraph.submission`. */
interface Moment {
  /** What has just been done, or the stage that the work is in. */
  moment: string;
  /** How far the stage is. */
  done?: number;
  submission: string;
}

const submissions = channel("arkgraph.submission");

/**
 * Tells tracers in this process (node:diagnostics_channel) how far a submission is; at once, before
 * anything else is done. Costs nothing while nobody listens.
 */
export function reached(moment: Moment): void {
  if (submissions.hasSubscribers) submissions.publish(moment);
}
