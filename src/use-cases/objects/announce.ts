import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.js";
import type { ObjectBookkeeping } from "../../stores/records/objects-port.js";

/** A sweep removes bytes in milliseconds; past this it is not coming to an end. */
const PATIENCE = 10_000;
const PAUSE = 20;

/**
 * Records an intent for each object before it is put, and waits where a sweep is just removing the same bytes.
 * @throws ServiceError `STORE_UNAVAILABLE` when a sweep does not end
 */
export async function announce(deps: { records: Pick<ObjectBookkeeping, "intend"> }, holder: { kind: "submission" | "upload"; id: string; attempt: number }, sha256s: readonly string[]): Promise<void> {
  let waiting = sha256s;
  for (const begun = Date.now(); ; await sleep(PAUSE)) {
    ({ removing: waiting } = await deps.records.intend(holder, waiting, Date.now()));
    if (waiting.length === 0) return;
    if (Date.now() - begun > PATIENCE) throw new ServiceError("STORE_UNAVAILABLE", "Stored content is being removed and does not come free: try again.");
  }
}
