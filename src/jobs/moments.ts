import { channel } from "node:diagnostics_channel";

/** What is published on the channel `arkgraph.submission`. */
export interface Moment {
  /** What has just been done, or the stage that the work is in. */
  moment: string;
  /** How far the stage is. */
  done?: number;
  submission: string;
}

const submissions = channel("arkgraph.submission");

/**
 * Tells tracers in this process (node:diagnostics_channel) how far a submission is; at once, before anything
 * else is done. Costs nothing while nobody listens.
 */
export function reached(moment: Moment): void {
  if (submissions.hasSubscribers) submissions.publish(moment);
}
