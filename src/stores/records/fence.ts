import type { Submission, SubmissionClose } from "./submissions-port.js";

/**
 * A commit came from an attempt that is no longer the one: its submission has ended, was cancelled, or is
 * worked on by a later attempt. Nothing was changed. It is no refusal of a client's request, so it is no
 * {@link import("../../errors.js").ServiceError}: the handler that gets it stops quietly.
 */
export class FenceLost extends Error {
  constructor(readonly submission: string, readonly attempt: number, reason: string) {
    super(`Attempt ${attempt} at submission ${submission} may not commit: ${reason}.`);
    this.name = "FenceLost";
  }
}

/** The fence of a commit. @throws FenceLost unless this attempt is running and nobody cancelled it */
export function checkFence(now: Pick<Submission, "status" | "attempt" | "cancelled"> | undefined, { id, attempt }: SubmissionClose): void {
  const reason = !now ? "there is no such submission" : now.status !== "running" ? `it is ${now.status}`
    : now.attempt !== attempt ? `attempt ${now.attempt} is at work` : now.cancelled ? "it was cancelled" : undefined;
  if (reason) throw new FenceLost(id, attempt, reason);
}
