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
