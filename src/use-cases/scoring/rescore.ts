import { randomUUID } from "node:crypto";
import { ServiceError, type ErrorCode } from "../../errors.js";
import type { JobHandler } from "../../jobs/port.js";
import type { Submission } from "../../stores/records/submissions-port.js";
import { authenticated, type Caller } from "../access/caller.js";
import { assertMayChange } from "../access/rules.js";
import { queued } from "../crates/submissions.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { workOut } from "./work-out.js";

/** Input of a submission of type `score`. */
interface ScoreInput { crate: string; request?: string; trace?: string }

/**
 * Queues a score to be worked out anew, with the tables of the crate checked against their schemas.
 * @throws ServiceError `NOT_AUTHENTICATED`, `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `FORBIDDEN`
 */
export async function requestScore(deps: Deps, caller: Caller | null, id: string, names: { request?: string; trace?: string } = {}): Promise<Submission> {
  const who = authenticated(caller);
  const root = await findLive(deps, id, "rocrate");
  await assertMayChange(deps.records, who, root);
  const { submission } = await deps.records.submit({ id: randomUUID(), type: "score", user: who.user, sha256: null, input: { crate: root.ark, ...names } satisfies ScoreInput, at: Date.now() });
  return queued(deps, submission);
}

/** Faults of the crate, not of the service: trying again would find the same. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["NOT_FOUND", "AMBIGUOUS", "GONE", "TOO_LARGE"]);

/** The handler of submissions of type `score`. */
export function scoreHandler(deps: Deps): JobHandler {
  return async ({ submission: { id, attempt, input }, signal, report }) => {
    const { crate } = input as unknown as ScoreInput;
    try {
      await workOut(deps, await findLive(deps, crate, "rocrate"), signal, { whole: true, report });
      await deps.records.closeSubmission({ id, attempt, status: "finished", rocrateIdentifier: crate }, Date.now());
    } catch (error) {
      if (!(error instanceof ServiceError) || !FINAL.has(error.code)) throw error;
      await deps.records.closeSubmission({ id, attempt, status: "failed", error: [{ file: null, pointer: null, message: error.message, code: error.code }] }, Date.now());
    }
  };
}
