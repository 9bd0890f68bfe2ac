import { setTimeout as pause } from "node:timers/promises";
import type { GraphDigest, QueryEngine, TruthDigester } from "../../stores/queries/port.js";

/** How often the two sides are brought to one commit while others go on writing. */
const MEETINGS = 8;
/** ms between looks at an index that is loading, and for it to reach a commit. */
const LOOK = 100;
const REACH = 60_000;

export interface CheckedIndex {
  /** null: the two could not be compared at one commit, because writes did not pause long enough; check again. */
  agree: boolean | null;
  /** `leftOut`: lines of records that the index cannot hold; they stay in the records and are found by no query. */
  truth: GraphDigest & { leftOut: number };
  index: GraphDigest;
}

/**
 * Compares the index with the truth, quad by quad through digests, as of one commit. Behind `arkgraph check`.
 * A loading index is waited for.
 *
 * @throws {import("../../errors.js").ServiceError} `STORE_UNAVAILABLE`, `INDEX_BEHIND`, `SHUTTING_DOWN`
 */
export async function checkIndex(deps: { openTruth: () => TruthDigester; queries: QueryEngine }): Promise<CheckedIndex> {
  const { queries } = deps;
  const digester = deps.openTruth();
  try {
    while (queries.state().state === "loading") {
      // One that is away, or refuses what it is to hold, would be waited for in vain.
      await queries.health();
      await pause(LOOK);
    }
    for (let meeting = 1, seen = 0; ; meeting++) {
      const truth = await digester.digest(seen);
      await queries.reach(truth.sequence, REACH);
      const index = await queries.digest();
      const same = truth.digest === index.digest && truth.quads === index.quads;
      if (same || truth.sequence === index.sequence) return { agree: same, truth, index };
      if (meeting === MEETINGS) return { agree: null, truth, index };
      seen = index.sequence;
    }
  } finally {
    await digester.close();
  }
}
