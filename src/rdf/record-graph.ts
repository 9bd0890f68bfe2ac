import type { Link } from "../model/link.js";
import type { KindName } from "../model/kind.js";
import type { JsonObject } from "../model/field.js";

/** What of a record goes into the graph. */
export interface GraphInput {
  ark: string;
  kind: KindName;
  /** The document as answered to clients; its ids of records are ARKs in any spelling. */
  document: JsonObject;
  /** IRI that the statements are about, when it is not the ARK: a crate entity known by its URL. The ARK then names it by `schema:sameAs`. */
  subject?: string;
  /** The document comes from a crate: its own context alone says what its terms mean. Else declared fields mean what the model says. */
  fromCrate?: boolean;
}
export interface RecordGraph {
  /** Canonical N-Quads (sorted lines): the record's graph, and its inferred graph. */
  quads: string;
  links: Link[];
  /** Terms that no context explains; kept under the fallback vocabulary. */
  lostTerms: string[];
}
