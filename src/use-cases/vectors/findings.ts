import type { Finding } from "../../model/finding.js";

/** Every code of what can be said of vectors that are made; stable, documented in docs/semantic-search.md, never reused. */
export const VECTOR_CODES = {
  NO_EMBEDDINGS_SERVER: "The registry has no embeddings server any more.",
  EMBEDDINGS_REFUSED: "The embeddings server refuses whatever it is asked, or answers no vectors: its address, its model or its key may be wrong.",
  NOT_EMBEDDED: "The embeddings server refuses the text of one record, which is found by its words only (a warning).",
} as const;
export type VectorCode = keyof typeof VECTOR_CODES;

export const vectorFinding = (code: VectorCode, message: string): Finding => ({ file: null, pointer: null, message, code });
