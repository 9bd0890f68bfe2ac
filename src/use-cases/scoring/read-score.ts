import { ServiceError } from "../../errors.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { heldScore } from "./freshness.js";
import type { AiReadyScore } from "./score.js";
import { workOut } from "./work-out.js";

/** A score that is being worked out, and the last commit before that began. */
interface Work { sequence: number; answer: Promise<AiReadyScore> }
const going = new WeakMap<Deps["records"], Map<string, Work>>();

/**
 * The AI-readiness score of a crate as it is now: the one that was kept, as long as nothing that it rests on has
 * changed, else one that is worked out now.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `TOO_LARGE`, `BUSY`, `QUERY_TIMEOUT`
 */
export async function readScore(deps: Deps, id: string): Promise<AiReadyScore> {
  const root = await findLive(deps, id, "rocrate");
  const { SCORE_TIMEOUT: most } = deps.config;
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(new ServiceError("QUERY_TIMEOUT", `The score took longer than ${most} ms (SCORE_TIMEOUT): have it worked out in the background, with POST …/rescore.`)), most);
  try {
    const sequence = await deps.records.sequence();
    return (await heldScore(deps, root, await deps.records.keptScore(root.ark), ended.signal)) ?? (await workedOut(deps, root, sequence, ended.signal));
  } finally {
    clearTimeout(timer);
  }
}

/** The score that was kept, where it still holds; nothing is worked out. */
export async function knownScore(deps: Pick<Deps, "config" | "records">, root: StoredRecord): Promise<AiReadyScore | undefined> {
  return heldScore(deps, root, await deps.records.keptScore(root.ark), AbortSignal.timeout(deps.config.SCORE_TIMEOUT));
}

/** Once for all who ask for it between two commits; whoever asks after the next one must not get what was read before. */
function workedOut(deps: Deps, root: StoredRecord, sequence: number, signal: AbortSignal): Promise<AiReadyScore> {
  let works = going.get(deps.records);
  if (!works) going.set(deps.records, (works = new Map()));
  const same = works.get(root.ark);
  if (same?.sequence === sequence) return same.answer;
  const answer = deps.scoreTurns.run(signal, (either) => workOut(deps, root, either));
  const work = { sequence, answer };
  works.set(root.ark, work);
  const forget = (): void => void (works.get(root.ark) === work && works.delete(root.ark));
  answer.then(forget, forget);
  return answer;
}
