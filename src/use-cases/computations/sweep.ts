import type { ContainerEngine } from "../../containers/port.js";
import type { Submission } from "../../stores/records/submissions-port.js";
import type { Deps } from "../deps.js";

/** Removes what earlier attempts at a submission left, whose process may be gone or only slow. */
export async function removeEarlier({ log }: Pick<Deps, "log">, containers: ContainerEngine, { id, attempt }: Pick<Submission, "id" | "attempt">): Promise<void> {
  for (const owner of await containers.owners()) {
    if (owner.submission !== id || owner.attempt >= attempt) continue;
    await containers.remove(owner);
    log.info({ submission: id, attempt: owner.attempt }, "removed what an earlier run left on the container engine");
  }
}

/**
 * Removes what runs left whose submission has ended or goes on with another attempt: their process was killed. Those of attempts that
 * run now, on whichever node, stay.
 * @returns how many
 */
export async function sweepRuns({ records, log }: Pick<Deps, "records" | "log">, containers: ContainerEngine): Promise<number> {
  let removed = 0;
  for (const owner of await containers.owners()) {
    const submission = await records.submission(owner.submission);
    if (submission?.status === "running" && submission.attempt === owner.attempt && !submission.cancelled) continue;
    await containers.remove(owner);
    removed++;
  }
  if (removed > 0) log.info({ removed }, "removed what runs left on the container engine");
  return removed;
}
