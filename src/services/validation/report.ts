import type { KindName } from "../../model/kind.js";

/** One broken constraint: a `sh:ValidationResult` in plain words. */
export interface ShapeResult {
  /** Identifier of the record; of an entity of crate metadata the `@id` it has there. */
  node: string;
  kind: KindName;
  /** IRI of the property, or null when the constraint is about the record itself. */
  path: string | null;
  /**
   * The value at fault; null when it is the lack of one. Text longer than 200 characters is cut.
   */
  value: string | null;
  message: string;
  severity: "Violation" | "Warning" | "Info";
  /** Local name of the SHACL constraint component, e.g. `MinCountConstraintComponent`. */
  constraint: string;
  /** IRI of the node shape, as `ontology/shapes.ttl` names it. */
  shape: string;
}

export interface ShapeReport {
  conforms: boolean;
  results: ShapeResult[];
  /** Records that were checked. */
  checked: number;
  /** There are more results than VALIDATE_MAX_RESULTS; those given are the first. */
  truncated: boolean;
}

/** A document that a client sent to be judged. */
export interface SentDocument {
  /** JSON text, UTF-8. */
  document: Uint8Array;
  /** The kind a single record is to be checked as; else its `@type` tells it. */
  kind: string | undefined;
  /** Setting MAX_JSON_DEPTH. */
  maxDepth: number;
}

/** A record's statements, on their way to the thread that judges them. */
export interface Judged {
  ark: string;
  kind: KindName;
  /** Canonical N-Quads of the record, inferred ones among them. */
  quads: string;
  /** It was sent to be checked as a request would be; else it is stored, or comes in a crate. */
  sent?: true;
  /** What results call it, when that is not its identifier. */
  shownAs?: string;
}
