/** A score of a crate, as it was worked out once. */
export interface StoredScore {
  /** ARK of the crate. */
  crate: string;
  /**
   * Text that differs after every change of the data that the score depends on; see
   * `services/scoring/freshness.ts`.
   */
  state: string;
  /**
   * Whether the slow checks were included: such a score is not replaced by a lesser one of the same
   * state.
   */
  whole: boolean;
  /** As `percentOf` makes it, for lists; null or absent where no criterion applies. */
  percent?: number | null;
  /** The data that show whether the score still holds, and the score itself. */
  body: Uint8Array;
}

/**
 * Scores that all nodes share. They are derived data, not part of the source of truth: a missing
 * score is computed again, so scores are not migrated, and no caller waits for the disk to have
 * one. The score of a deleted crate is deleted with it.
 */
export interface ScoreStore {
  storedScore(crate: string): Promise<StoredScore | undefined>;
  /** Replaces the one before, if any. */
  storeScore(score: StoredScore): Promise<void>;
}
