/** Most characters of each text that {@link VectorStore.changedTexts} answers; no embedding model reads more of one. */
export const MOST_CHARACTERS = 32_768;
/** Most numbers of one kept vector. */
export const MOST_DIMENSIONS = 16_384;

/** What search sees of a record that changed. */
export interface ChangedText {
  /** Stored form. */
  ark: string;
  /** As it is now, each text cut to {@link MOST_CHARACTERS}; null when the record is deleted. */
  text: { name: string; keywords: string; description: string } | null;
  /** Digest of the text that its kept vector of the model is of; null without a vector, or where the record was of another kind when it was kept. */
  digest: Uint8Array | null;
}

export interface KeptVector {
  /** Stored form; what is not stored is passed over. Of several for one record the last counts. */
  ark: string;
  digest: Uint8Array;
  /** Of length 1; null: the record is deleted, or has no text: its vector is removed. */
  vector: Float32Array | null;
}

/**
 * A part of the change log, and the vectors of those of its records whose text is not that of their kept vector. Both ends
 * are places in the log: opaque text, "" is its beginning, and they only rise.
 */
export interface VectorStep {
  after: string;
  /** Behind `after`. */
  to: string;
  vectors: readonly KeptVector[];
}

/**
 * Vectors of what search sees of live records, which all nodes share. Nothing here is part of the truth: whatever is missing is
 * made again, so it is not migrated. Vectors are of a model, by its name; those of different models are never compared.
 *
 * @throws {import("../../errors.js").ServiceError} `BAD_REQUEST` for a place that was not given here; `STORE_UNAVAILABLE`
 */
export interface VectorStore {
  /** How far vectors of a model reach in the change log: "" when there are none. */
  vectorsReach(model: string): Promise<string>;
  /**
   * Records in the order of the change log behind a place, with what they say now; at most `limit`, and a commit may be cut. A
   * record comes again for each of its changes. `to` is the place of the last one, `undefined` when nothing is behind `after`.
   */
  changedTexts(model: string, after: string, limit: number): Promise<{ texts: ChangedText[]; to: string | undefined }>;
  /**
   * Keeps vectors and how far they reach now, in one transaction, if they reached to `after` before; otherwise nothing is kept
   * and the answer is false: another node was quicker.
   * @throws Error for a vector that is not of length 1, or of more than {@link MOST_DIMENSIONS} numbers
   */
  keepVectors(model: string, step: VectorStep): Promise<boolean>;
  /** Removes up to `limit` vectors and reaches of other models; answers how many they were, 0 once none is left. */
  forgetVectors(exceptModel: string, limit: number): Promise<number>;
}
