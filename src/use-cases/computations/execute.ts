import { createHash, randomUUID } from "node:crypto";
import { ServiceError } from "../../errors.js";
import type { Submission } from "../../stores/records/submissions-port.js";
import { authenticated, type Caller } from "../access/caller.js";
import { assertMayChange } from "../access/rules.js";
import { queued } from "../crates/submissions.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { gatherInputs } from "./inputs.js";
import { RunError } from "./findings.js";

/** Input of a submission of type `computation`. */
export interface RunSubmissionInput {
  /** Stored form of the computation's ARK. */
  ark: string;
  /** Name of the request that asked, for logs. */
  request?: string;
  /** The span of that request, as W3C Trace Context writes it. */
  trace?: string;
}

/**
 * Queues a run of a computation's container. While the caller's last one waits or runs, that is answered.
 * What the computation says of itself is looked at by the run, and ends that as failed.
 * @throws ServiceError `NOT_AUTHENTICATED`, `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `FORBIDDEN` (also for content that it used), `NO_CONTAINER_ENGINE`
 */
export async function executeComputation(deps: Deps, id: string, caller: Caller | null, origin: { request?: string; trace?: string } = {}): Promise<Submission> {
  const who = authenticated(caller);
  const record = await findLive(deps, id, "computation");
  await assertMayChange(deps.records, who, record);
  if (!deps.containers) throw new ServiceError("NO_CONTAINER_ENGINE", `${record.ark} cannot be run: this registry has no container engine (CONTAINER_HOST); nothing was changed.`, {}, { "Retry-After": "3600" });
  // Who may not read what it used is told now; limits are for the run to tell.
  await gatherInputs(deps, record, who).catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
  });
  const { ark } = record;
  // The hash of its ARK makes two requests for the same run one, also at one moment; a run that ended does not count.
  const sha256 = createHash("sha256").update(ark).digest("hex");
  const { submission, existing } = await deps.records.submit({ id: randomUUID(), type: "computation", user: who.user, sha256, input: { ark, ...origin } satisfies RunSubmissionInput, update: true, at: Date.now() });
  return existing ? submission : queued(deps, submission);
}
