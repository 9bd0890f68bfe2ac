/**
 * Most characters of each text that {@link VectorStore.changedTexts} answers; no embedding model
 * reads more of one.
 */
export const MAX_EMBEDDED_CHARACTERS = 32_768;

/** Most numbers of one stored vector: no vector of pgvector has more. */
export const MAX_STORED_DIMENSIONS = 16_000;

/** The searchable text of a record that changed. */
export interface ChangedText {
  /** Stored form. */
  ark: string;
  /** Current version, each text cut to {@link MAX_EMBEDDED_CHARACTERS}; null when the record is deleted. */
  text: { name: string; keywords: string; description: string } | null;
  /** Digest of the text from which the stored vector of the model was made; null without a vector. */
  digest: Uint8Array | null;
}

export interface StoredVector {
  /**
   * Stored form; a record that is not stored is passed over. Of several for one record the last
   * counts.
   */
  ark: string;
  digest: Uint8Array;
  /** Of length 1; null: the record is deleted, or has no text: its vector is removed. */
  vector: Float32Array | null;
}

/**
 * A part of the change log, and the vectors of those of its records whose text differs from the
 * text of their stored vector. Both ends are places in the log: opaque text, "" is its beginning,
 * and they only rise.
 */
export interface VectorStep {
  after: string;
  /** Behind `after`. */
  to: string;
  vectors: readonly StoredVector[];
}

/**
 * Vectors of the searchable text of live records, which all nodes share. They are derived data, not
 * part of the source of truth: a missing vector is made again, so vectors are not migrated. Vectors
 * belong to a model, by its name; those of different models are never compared.
 *
 * @throws {import("../../../errors.js").ServiceError} `BAD_REQUEST` for a place that was not returned
 * here; `STORE_UNAVAILABLE`
 */
export interface VectorStore {
  /** How far vectors of a model reach in the change log: "" when there are none. */
  vectorsReach(model: string): Promise<string>;
  /**
   * Records in the order of the change log behind a place, with their current text; at most
   * `limit`, and a commit may be cut. A record comes again for each of its changes. `to` is the
   * place of the last one, `undefined` when nothing is behind `after`.
   */
  changedTexts(
    model: string,
    after: string,
    limit: number,
  ): Promise<{ texts: ChangedText[]; to: string | undefined }>;
  /**
   * Stores vectors and how far they reach now, in one transaction, if they reached to `after`
   * before; otherwise stores nothing and returns false: another node was quicker.
   * @throws Error for a vector that is not of length 1, or of more than {@link MAX_STORED_DIMENSIONS}
   * numbers
   */
  storeVectors(model: string, step: VectorStep): Promise<boolean>;
  /**
   * Removes up to `limit` vectors and reaches of other models; answers how many they were, 0 once
   * none is left.
   */
  forgetVectors(exceptModel: string, limit: number): Promise<number>;
}
