import type { ProvenanceName } from "../../model/provenance.js";

export type Direction = "upstream" | "downstream" | "both";

export interface EvidenceRequest {
  /** Any spelling of the record's ARK. */
  ark: string;
  /** `upstream`: what the record rests on; `downstream`: what rests on it. */
  direction: Direction;
  /** Steps from the record, 1–100000; absent: no limit. */
  depth?: number;
  /** Nodes in one answer, 1–100000. */
  limit: number;
  /** From the answer before. */
  cursor?: string;
}

export interface Reference { "@id": string }

/** A record, or an object inside one. Its provenance edges stand under canonical names, all values, sorted. */
export type EvidenceNode = {
  "@id": string;
  /** Compact with the prefixes of the context; the class of the record's kind is among them. */
  "@type": string[];
  name?: string;
  /** Cut at {@link DESCRIPTION_LENGTH} characters. */
  description?: string;
  sameAs?: Reference[];
} & { [Name in ProvenanceName]?: Reference[] };

/**
 * `external`: a URL that no record here describes. `deleted`: a record that left a tombstone. `unknown`: no
 * record has this identifier (yet).
 */
export interface Dangling extends Reference { reason: "external" | "deleted" | "unknown" }

/** Why something reachable is not among the nodes of the answer. */
export interface Hidden {
  /** Nodes one step beyond the asked-for depth. */
  depth?: number;
  /** Nodes on pages still to come. */
  limit?: number;
  /** References to deleted records (they stand in `dangling`). */
  deleted?: number;
}

/** JSON-LD: the named graph of the evidence for one record. */
export interface EvidenceGraph {
  "@context": Readonly<Record<string, unknown>>;
  /** Stored form of the asked-for record's ARK. */
  "@id": string;
  direction: Direction;
  /** The asked-for record first, then by distance from it, then by identifier. */
  "@graph": EvidenceNode[];
  /** Nodes of this answer that support no other node found: the results that the rest leads to. */
  outputs: Reference[];
  dangling: Dangling[];
  hidden: Hidden;
  truncated: boolean;
  /** Asks for the next nodes; present when `truncated` is true. */
  cursor?: string;
  /** Commit that the graph is as of. */
  asOf: number;
}

/** Characters of a description that a node shows. */
export const DESCRIPTION_LENGTH = 300;
