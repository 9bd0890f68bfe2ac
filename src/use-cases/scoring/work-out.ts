import type { StoredRecord } from "../../stores/records/port.js";
import type { Progress } from "../../jobs/port.js";
import type { Deps } from "../deps.js";
import { gather } from "./facts/gather.js";
import { keptScore } from "./freshness.js";
import { scoreOf, type AiReadyScore } from "./score.js";
import { checkTables } from "./tables.js";

/**
 * Looks through a crate, judges it, and keeps the score for all nodes.
 * @param options.whole checks tables against their schemas too
 * @throws ServiceError `TOO_LARGE`, `STORE_UNAVAILABLE`; the signal's reason
 */
export async function workOut(deps: Deps, root: StoredRecord, signal: AbortSignal, { whole = false, report = () => {} }: { whole?: boolean; report?: (progress: Progress) => void } = {}): Promise<AiReadyScore> {
  const { facts, grounds, tables } = await gather(deps, root, signal, (done) => report({ stage: "reading", done, total: null, unit: "records" }));
  if (whole) facts.checked = await checkTables(deps, tables, signal, (done, total) => report({ stage: "checking", done, total, unit: "tables" }));
  const answer = scoreOf(root, facts, Date.now());
  const kept = keptScore(deps, answer, grounds, whole);
  // Whoever waits for the answer has it also where it cannot be kept; what was asked for to be kept is tried again.
  if (kept) await deps.records.keepScore(kept).catch((err: unknown) => {
    if (whole) throw err;
    deps.log.warn({ err, crate: root.ark }, "a score could not be kept");
  });
  return answer;
}
