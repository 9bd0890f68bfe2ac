/**
 * The embeddings server has read the request and refuses it, or its answer holds no vectors: a
 * retry would give the same result. The message is one line that holds the server's message, cut
 * short, and never the key.
 */
export class EmbeddingsRefused extends Error {
  override readonly name = "EmbeddingsRefused";
}

/**
 * Makes vectors of texts: texts alike in meaning are near each other. Every call throws `Outage`
 * (errors.ts) while the server is unavailable, overloaded, slow, or answers 408, 425, 429 or 5xx,
 * and {@link EmbeddingsRefused} for a request that would be refused again, such as a text of
 * nothing but spaces; an abort throws the signal's reason.
 */
export interface Embedder {
  /**
   * Name of its vectors: those of different names are never compared. The operator's name of the
   * model, `#`, and a digest of all other settings that change vectors.
   */
  readonly model: string;
  /**
   * A vector of length 1 for each text, in their order, all of one dimension; of a long text only
   * the beginning counts. No texts, no question.
   */
  passages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** The vector of a search text, to be compared with those of {@link passages}. */
  query(text: string, signal?: AbortSignal): Promise<Float32Array>;
  /** Whether it can be used; cheap, because the server is not asked each time. */
  health(): Promise<void>;
  /** Ends all running calls, as an `Outage`. */
  close(): Promise<void>;
}
