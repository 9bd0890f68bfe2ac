import type { Finding } from "../model/finding.js";
import type { Submission } from "../stores/records/submissions-port.js";

/** Why the signal of a job was aborted. */
export class JobAborted extends Error {
  constructor(readonly reason: "cancelled" | "stopping" | "superseded" | "deferred") {
    super(`The job was ended: ${reason}.`);
    this.name = "JobAborted";
  }
}

export const cancelled: Finding = { file: null, pointer: null, code: "CANCELLED", message: "The submission was cancelled; nothing of it was stored." };
export const crashed = (attempts: number): Finding => ({
  file: null, pointer: null, code: "CRASHED_REPEATEDLY",
  message: `The work was begun ${attempts} times (MAX_ATTEMPTS) and never came to an end; the service's log says why. Send it again once that is fixed.`,
});

/** True once nothing more will happen to a submission; also of one that was never there. */
export const hasEnded = (submission: Submission | undefined): boolean => submission === undefined || submission.status === "finished" || submission.status === "failed";

/** Attempts that count against MAX_ATTEMPTS. */
export const countedAttempts = (submission: Submission): number => submission.attempt - submission.interrupted;
