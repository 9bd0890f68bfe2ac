import { type ErrorCode, ServiceError } from "../../errors.js";
import { withArticle } from "../../model/kind.js";
import type { Submission, SubmissionClose } from "./port/submissions.js";

/** The refusals of a commit, the same in every record store. */

/** Of a private record it says no more than that there is one: not everybody may see it. */
export function duplicate(
  ark: string,
  holder: { ark: string; kind: string; deleted: boolean; private: boolean },
): ServiceError {
  const { kind, deleted } = holder;
  if (holder.private)
    return new ServiceError(
      "DUPLICATE",
      `${ark} is taken; choose another identifier, or leave it out to have one minted.`,
      { ark },
    );
  const who =
    holder.ark === ark
      ? ark
      : `${holder.ark}, which differs from ${ark} in hyphens or encoding only,`;
  return deleted
    ? new ServiceError(
        "DUPLICATE",
        `${who} was ${withArticle(kind)} that was deleted; its identifier is not used ` +
          "again. Choose another, or leave it out to have one minted.",
        { ark: holder.ark, kind, deleted: true },
      )
    : new ServiceError(
        "DUPLICATE",
        `${who} is taken by ${withArticle(kind)}; choose another identifier, or leave it ` +
          "out to have one minted.",
        { ark: holder.ark, kind },
      );
}

export const notStored = (ark: string): ServiceError =>
  new ServiceError("NOT_FOUND", `Nothing is stored under ${ark}.`);
export const gone = (ark: string): ServiceError =>
  new ServiceError("GONE", `${ark} was deleted.`, { ark });
export const hasChanged = (ark: string, revision: number, expected: number): ServiceError =>
  new ServiceError(
    "REVISION_MISMATCH",
    `${ark} has changed: its revision is ${revision}, not ${expected}. Read it again and ` +
      "repeat the change.",
    { ark, revision },
  );
export const heldMeanwhile = (ark: string): ServiceError =>
  new ServiceError(
    "CHANGED_MEANWHILE",
    `${ark} was registered meanwhile, and the identifiers below it belong to it. Repeat the ` +
      "request.",
    { ark },
  );
/** A record whose owner was deleted after the right to it was checked would belong to nobody. */
export const ownerIsGone = (owner: string): ServiceError =>
  new ServiceError("FORBIDDEN", `The owner ${owner} was deleted: choose another one.`);
export const ownsRecords = (ark: string, count: number): ServiceError =>
  new ServiceError(
    "OWNS_RECORDS",
    `${ark} owns ${count === 1 ? "1 record" : `${count} records`}, which nobody else could change ` +
      "without it. Hand them over to another owner first: with POST /records/transfer, " +
      "transferRecords of GraphQL, or Hand over on the page My records.",
    { ark, records: count },
  );
export const takesTooLong = (): ServiceError =>
  new ServiceError(
    "TOO_LARGE",
    "Committing all of it at once would delay other writes for too long.",
    { setting: "COMMIT_LIMIT" },
  );

export const isSpent = (setting: string): ServiceError =>
  new ServiceError("FORBIDDEN", `The value sent for ${setting} has been used.`);
export const noAccount = (user: string): ServiceError =>
  new ServiceError("NOT_FOUND", `${user} has no account.`);
export const hasAccount = (user: string): ServiceError =>
  new ServiceError("DUPLICATE", `${user} has an account already.`, { ark: user, kind: "user" });
export const emailTaken = (): ServiceError =>
  new ServiceError(
    "EMAIL_TAKEN",
    "An account with this e-mail address exists; log in, or use another address.",
  );

export const identityTaken = (): ServiceError =>
  new ServiceError(
    "IDENTITY_TAKEN",
    "This account at the issuer is linked with another account here: unlink it there first.",
  );

export const unavailable = (reason: string): ServiceError =>
  new ServiceError(
    "STORE_UNAVAILABLE",
    `The record store cannot be used: ${reason}. Nothing was changed; try again later.`,
  );

/** Unlike an outage it does not pass: trying again is of no use. */
export const damaged = (reason: string): ServiceError =>
  new ServiceError(
    "STORE_DAMAGED",
    `The stored records that this needs are damaged: ${reason}. Nothing was changed; the ` +
      "operator of the registry has to restore a backup.",
  );

/** Stored bytes that differ from those written: their coding, JSON or compression is broken. */
export class Undecodable extends Error {}

/** @throws Undecodable when `text` is no JSON */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what was stored
export function storedJson<T>(text: string, what: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Undecodable(`${what} is not JSON`, { cause });
  }
}

/** The finding of a submission that was cancelled while it was queued. */
export const CANCELLED_EARLY = {
  file: null,
  pointer: null,
  message: "The submission was cancelled before work on it began.",
  code: "CANCELLED",
};

/**
 * A commit came from an attempt that is not the current one: its submission has ended, was
 * cancelled, or runs in a later attempt. Nothing was changed. It is no refusal of a client's
 * request, so it is no {@link import("../../errors.js").ServiceError}: the handler that gets it
 * stops quietly.
 */
export class FenceLost extends Error {
  constructor(
    readonly submission: string,
    readonly attempt: number,
    reason: string,
  ) {
    super(`Attempt ${attempt} at submission ${submission} may not commit: ${reason}.`);
    this.name = "FenceLost";
  }
}

/**
 * The fence of a commit.
 * @throws FenceLost unless this attempt is running and was not cancelled
 */
export function checkFence(
  now: Pick<Submission, "status" | "attempt" | "cancelled"> | undefined,
  { id, attempt }: SubmissionClose,
): void {
  const reason = !now
    ? "there is no such submission"
    : now.status !== "running"
      ? `it is ${now.status}`
      : now.attempt !== attempt
        ? `attempt ${now.attempt} is running`
        : now.cancelled
          ? "it was cancelled"
          : undefined;
  if (reason) throw new FenceLost(id, attempt, reason);
}

/** An error on its way between threads, where classes are lost. */
export type SentError =
  | {
      type: "service";
      code: ErrorCode;
      message: string;
      extra: Record<string, unknown>;
      headers: Record<string, string>;
    }
  | { type: "fence"; submission: string; attempt: number; message: string }
  | { type: "fault"; message: string; stack: string | undefined };

/** @param asStoreError converts a failure of the store into the error for its caller */
export function asSent(cause: unknown, asStoreError: (error: unknown) => unknown): SentError {
  const error = asStoreError(cause);
  if (error instanceof ServiceError)
    return {
      type: "service",
      code: error.code,
      message: error.message,
      extra: { ...error.extra },
      headers: { ...error.headers },
    };
  if (error instanceof FenceLost)
    return {
      type: "fence",
      submission: error.submission,
      attempt: error.attempt,
      message: error.message,
    };
  return {
    type: "fault",
    message: (error as Error)?.message ?? String(error),
    stack: (error as Error)?.stack,
  };
}

export function receiveError(sent: SentError): Error {
  if (sent.type === "service")
    return new ServiceError(sent.code, sent.message, sent.extra, sent.headers);
  if (sent.type === "fence") {
    const lost = new FenceLost(sent.submission, sent.attempt, "");
    lost.message = sent.message;
    return lost;
  }
  const fault = new Error(sent.message);
  if (sent.stack !== undefined) fault.stack = sent.stack;
  return fault;
}
