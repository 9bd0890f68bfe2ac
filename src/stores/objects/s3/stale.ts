import type { S3Calls } from "./calls.js";
import type { Keys } from "./keys.js";

/**
 * Removes what a process that died left: staged bytes, and uploads in parts that nobody goes on with. Time is the
 * server's, so that a clock that is wrong here removes nothing too early.
 * @param age in ms
 * @returns how many were removed
 */
export async function removeStale(calls: S3Calls, keys: Keys, age: number): Promise<number> {
  let removed = 0;
  const marked = new Set<string>();
  for await (const { key, changed } of calls.list(keys.staging)) {
    const staged = keys.read(key);
    if (staged.kind === "upload") marked.add(staged.uploadId);
    // Written less than `age` ago means that somebody is still at it.
    if (changed > calls.now() - age) continue;
    if (staged.kind === "upload") await calls.abort(staged.target, staged.uploadId);
    await calls.remove(key);
    removed++;
  }
  // A process may die before it can mark its upload; servers that list uploads by prefix show that one too.
  for (const prefix of [keys.staging, keys.objects]) {
    for (const { key, uploadId, begun } of await calls.uploads(prefix)) {
      if (marked.has(uploadId) || !(begun <= calls.now() - age)) continue;
      await calls.abort(key, uploadId);
      removed++;
    }
  }
  return removed;
}
