import { ServiceError } from "../../errors.js";
import { withArticle } from "../../model/kind.js";

/** What every record store says when it refuses a commit. */

export function duplicate(ark: string, holder: { ark: string; kind: string; deleted: boolean }): ServiceError {
  const { kind, deleted } = holder;
  const who = holder.ark === ark ? ark : `${holder.ark}, which differs from ${ark} in hyphens or encoding only,`;
  return deleted
    ? new ServiceError("DUPLICATE", `${who} was ${withArticle(kind)} that was deleted; its identifier is not used again. Choose another, or leave it out to have one made.`, { ark: holder.ark, kind, deleted: true })
    : new ServiceError("DUPLICATE", `${who} is taken by ${withArticle(kind)}; choose another identifier, or leave it out to have one made.`, { ark: holder.ark, kind });
}

export const notStored = (ark: string): ServiceError => new ServiceError("NOT_FOUND", `Nothing is stored under ${ark}.`);
export const gone = (ark: string): ServiceError => new ServiceError("GONE", `${ark} was deleted.`, { ark });
export const hasChanged = (ark: string, revision: number, expected: number): ServiceError =>
  new ServiceError("REVISION_MISMATCH", `${ark} has changed: its revision is ${revision}, not ${expected}. Read it again and repeat the change.`, { ark, revision });
export const heldMeanwhile = (ark: string): ServiceError =>
  new ServiceError("CHANGED_MEANWHILE", `${ark} was registered meanwhile, and the identifiers below it belong to it. Repeat the request.`, { ark });
export const takesTooLong = (): ServiceError => new ServiceError("TOO_LARGE", "Writing all of it in one step would keep others waiting for too long.", { setting: "COMMIT_LIMIT" });

export const isSpent = (setting: string): ServiceError => new ServiceError("FORBIDDEN", `The value sent for ${setting} has been used.`);
export const noAccount = (user: string): ServiceError => new ServiceError("NOT_FOUND", `There is no account of ${user}.`);
export const hasAccount = (user: string): ServiceError => new ServiceError("DUPLICATE", `${user} has an account already.`, { ark: user, kind: "user" });
export const emailTaken = (): ServiceError => new ServiceError("EMAIL_TAKEN", "An account with this e-mail address exists; log in, or use another address.");
