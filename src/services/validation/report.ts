import type { KindName } from "../../model/kind.js";

/** One broken constraint: a `sh:ValidationResult` in plain words. */
export interface ShapeResult {
  /** Identifier of the record; for an entity of crate metadata its `@id` there. */
  node: string;
  kind: KindName;
  /** IRI of the property, or null when the constraint is about the record itself. */
  path: string | null;
  /**
   * The invalid value; null when a value is missing. Text longer than 200 characters is truncated.
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
  /** Number of validated records. */
  checked: number;
  /** There are more results than VALIDATE_MAX_RESULTS; the answer has the first. */
  truncated: boolean;
}

/** A document that a client sent for validation. */
export interface SentDocument {
  /** JSON text, UTF-8. */
  document: Uint8Array;
  /** The kind to validate a single record as; else its `@type` decides. */
  kind: string | undefined;
  /** Setting MAX_JSON_DEPTH. */
  maxDepth: number;
}

/** A record's statements, sent to the thread that validates them. */
export interface RecordToCheck {
  ark: string;
  kind: KindName;
  /** Canonical N-Quads of the record, inferred ones among them. */
  quads: string;
  /**
   * It was sent for validation as a request body; otherwise it is stored, or is part of a crate.
   */
  sent?: true;
  /** Its name in results, when that is not its identifier. */
  shownAs?: string;
}
