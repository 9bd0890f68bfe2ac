import { expandCurie, PREFIXES } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import type { QueryEngine } from "../../storage/graph/port.js";
import type { RecordStore } from "../../storage/records/port.js";

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
  /**
   * Shows nodes of these kinds only, and what is not stored here; the walk passes through the
   * others.
   */
  kinds?: readonly KindName[];
  /**
   * So many like siblings or more become one node that says how many; 2–100000. Absent: none do.
   */
  collapse?: number;
  /** Groups left open, by their `group`. */
  expand?: readonly string[];
  /** Says of each edge which field of the record stated it. */
  statements?: boolean;
  /**
   * `owner`: the walk leaves out edges of third parties, and what only they lead to. Absent:
   * `anyone`.
   */
  assertedBy?: AssertedBy;
}

/** Whose edges count: those of who has a right over the end that a walk comes from, or all. */
export type AssertedBy = "owner" | "anyone";

export interface Reference {
  "@id": string;
}

/** Whose word an edge is. */
export interface Assertion {
  /** The record whose document states it. */
  record: string;
  /** Owner of that record; null where there is none. */
  owner: string | null;
  /** Whether that owner has a right over the record at either end: owns it, or may change it. */
  ownsSource: boolean;
  ownsTarget: boolean;
  /** That owner has no right over the end that the walk comes from. */
  thirdParty: boolean;
}

/**
 * Who said an edge: a field of a record's document; `null` where the document says it no longer in
 * so many words.
 */
export interface Statement {
  record: string;
  field: string | null;
}
/**
 * An edge of the node that it stands in, with who said it. `field` is there where statements were
 * asked for, and `thirdParty` and `derived` where they are true. Of a group whose members have each
 * their own record `record` is null.
 */
export interface StatedEdge extends Omit<Assertion, "record" | "thirdParty"> {
  property: ProvenanceName;
  object: string;
  record: string | null;
  field?: string | null;
  thirdParty?: true;
  /** The record states the inverse: of `generatedBy` that it generated the node. */
  derived?: true;
}

/** Stands in for like siblings: how many, and the name that `expand` opens them by. */
export interface GroupMarks {
  count: number;
  group: string;
}

/**
 * A record, or an object inside one. Its provenance edges stand under canonical names, all values,
 * sorted.
 */
export type EvidenceNode = {
  "@id": string;
  /** Compact with the prefixes of the context; the class of the record's kind is among them. */
  "@type": string[];
  name?: string;
  /** Cut at {@link DESCRIPTION_LENGTH} characters. */
  description?: string;
  sameAs?: Reference[];
  statements?: StatedEdge[];
} & Partial<GroupMarks> & { [Name in ProvenanceName]?: Reference[] };

/**
 * `external`: a URL that no record here describes. `deleted`: a record that left a tombstone.
 * `unknown`: no record has this identifier (yet).
 */
export interface Dangling extends Reference, Partial<GroupMarks> {
  reason: "external" | "deleted" | "unknown";
}

/** Why something reachable is not among the nodes of the answer. */
export interface Hidden {
  /** Nodes one step beyond the asked-for depth. */
  depth?: number;
  /** Nodes on pages still to come. */
  limit?: number;
  /** References to deleted records (they stand in `dangling`). */
  deleted?: number;
  /** Nodes of kinds that were not asked for. */
  kind?: number;
  /** Nodes that groups stand in for. */
  collapsed?: number;
  /** Edges of third parties at nodes that the walk came to, with `assertedBy=owner`. */
  thirdParty?: number;
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

/** What of an answer is known before its nodes are read, and what after. */
export type EvidenceHead = Pick<EvidenceGraph, "@context" | "@id" | "direction">;
export type EvidenceTail = Omit<EvidenceGraph, keyof EvidenceHead | "@graph">;

/**
 * An answer whose nodes are read as they are taken, so that the largest needs no room for all of
 * them.
 */
export interface EvidenceAnswer {
  head: EvidenceHead;
  /** Once. */
  nodes(): AsyncIterable<EvidenceNode[]>;
  /** After the last node. */
  tail(): EvidenceTail;
}

export interface EvidenceDeps {
  records: Pick<RecordStore, "find" | "findMany" | "holders" | "list" | "sequence" | "quads">;
  /** The trusted engine. */
  queries: QueryEngine;
  /** ms to wait for the commit at which the request came in (INDEX_WAIT). */
  wait?: number;
  /** ms for one query (QUERY_TIMEOUT). */
  timeout?: number;
}

const link = (curie: string): Record<string, string> => ({ "@id": curie, "@type": "@id" });

/**
 * Explains every key of an evidence graph; what is about the answer and not about the records means
 * nothing in RDF.
 */
export const EVIDENCE_CONTEXT: Readonly<Record<string, unknown>> = {
  "@vocab": PREFIXES.schema,
  evi: PREFIXES.evi,
  prov: PREFIXES.prov,
  rdfs: PREFIXES.rdfs,
  ...Object.fromEntries(Object.entries(PROVENANCE).map(([name, { evi }]) => [name, link(evi)])),
  sameAs: link("sameAs"),
  outputs: link("evi:outputs"),
  direction: null,
  statements: null,
  count: null,
  group: null,
  dangling: null,
  hidden: null,
  truncated: null,
  cursor: null,
  asOf: null,
};

const COMPACT = [
  ["evi:", PREFIXES.evi],
  ["prov:", PREFIXES.prov],
  ["", PREFIXES.schema],
] as const;

/** Shortest form of a class under {@link EVIDENCE_CONTEXT}: `evi:Dataset`, `Person`, or the IRI. */
export function compactType(iri: string): string {
  for (const [prefix, namespace] of COMPACT) {
    // A colon in a bare word would make it another prefix.
    if (
      iri.startsWith(namespace) &&
      iri.length > namespace.length &&
      !iri.slice(namespace.length).includes(":")
    )
      return prefix + iri.slice(namespace.length);
  }
  return iri;
}

export const IRIS = {
  type: expandCurie("rdf:type"),
  name: expandCurie("schema:name"),
  description: expandCurie("schema:description"),
  sameAs: expandCurie("schema:sameAs"),
  hasPart: expandCurie("schema:hasPart"),
} as const;
