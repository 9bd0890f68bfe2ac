import type { ObjectStore } from "../../stores/objects/port.js";
import type { ObjectBookkeeping } from "../../stores/records/objects-port.js";

/** Hashes asked about in one transaction: few enough not to hold up writers. */
const BATCH = 500;

export interface Sweep {
  objects: Pick<ObjectStore, "list" | "remove" | "removeStale">;
  records: Pick<ObjectBookkeeping, "claimUnreferenced" | "removed">;
  /** Setting INTENT_LIFETIME in ms: announced bytes younger than this are waited for. */
  intentLifetime: number;
  now?: () => number;
  signal?: AbortSignal;
}

/**
 * Removes objects that nothing refers to, and temporary places that a dead process left.
 * Bytes go only while the truth holds them marked as being removed, so that an upload of the same bytes waits.
 * @returns how many of each were removed
 */
export async function sweepObjects({ objects, records, intentLifetime, now = Date.now, signal }: Sweep): Promise<{ removed: number; stale: number }> {
  let removed = 0;
  let batch: string[] = [];
  const sweepBatch = async () => {
    const claimed = batch.length === 0 ? [] : await records.claimUnreferenced(batch, { now: now(), intentLifetime });
    batch = [];
    try {
      for (const sha256 of claimed) {
        await objects.remove(sha256);
        removed++;
      }
    } finally {
      // Also after a failure: what could not be removed is an unreferenced object again, met by the next sweep.
      if (claimed.length > 0) await records.removed(claimed);
    }
  };
  for await (const sha256 of objects.list()) {
    if (signal?.aborted) break;
    if (batch.push(sha256) >= BATCH) await sweepBatch();
  }
  if (!signal?.aborted) await sweepBatch();
  const stale = await objects.removeStale(intentLifetime);
  return { removed, stale };
}
