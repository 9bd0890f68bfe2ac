/**
 * The embeddings server has read what it was asked and refuses it, or answers what is no vectors:
 * asked again it would do so again. The message is one line that holds what the server said, cut
 * short, and never the key.
 */
export class EmbeddingsRefused extends Error {
  override readonly name = "EmbeddingsRefused";
}

/**
 * Makes vectors of texts: what is alike in meaning is near. Every call throws `Outage` (errors.ts)
 * while the server is away, overloaded, slow, or answers 408, 425, 429 or 5xx, and
 * {@link EmbeddingsRefused} for what would be refused again, which a text without anything but
 * spaces is as well; an abort throws the signal's reason.
 */
export interface Embedder {
  /**
   * What its vectors are called: those of different names are never compared. The operator's name
   * of the model, `#`, and a digest of what else changes vectors.
   */
  readonly model: string;
  /**
   * A vector of length 1 for each text, in their order, all of one dimension; of a long text only
   * the beginning counts. No texts, no question.
   */
  passages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** The vector of what somebody looks for, to be compared with those of {@link passages}. */
  query(text: string, signal?: AbortSignal): Promise<Float32Array>;
  /** Whether it can be used; cheap, and not asked of the server each time. */
  health(): Promise<void>;
  /** Ends what is under way, as an `Outage`. */
  close(): Promise<void>;
}
