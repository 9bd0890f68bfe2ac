/** A score of a crate, as it was worked out once. */
export interface KeptScore {
  /** ARK of the crate. */
  crate: string;
  /** Text that differs after every change of what the score rests on; see `use-cases/scoring/freshness.ts`. */
  state: string;
  /** Whether also what takes long was looked at: such a score is not replaced by a lesser one of the same state. */
  whole: boolean;
  /** What is needed to tell whether it still holds, and the score itself. */
  body: Uint8Array;
}

/**
 * Scores that all nodes share. Nothing here is part of the truth: whatever is missing is worked out again, so it is not
 * migrated, and nobody waits for the disk to have it. That of a crate that is deleted goes with it.
 */
export interface ScoreStore {
  keptScore(crate: string): Promise<KeptScore | undefined>;
  /** In place of the one before, if any. */
  keepScore(score: KeptScore): Promise<void>;
}
