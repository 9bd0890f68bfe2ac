/** Evidence as clients see it: what they may ask, and the parts of an answer. */
import { invalid, ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, parseArk } from "../../identifiers/ark.js";
import { expandCurie, PREFIXES } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import {
  type AssertedBy,
  type Direction,
  PROVENANCE,
  type ProvenanceName,
} from "../../model/provenance.js";
import type { QueryEngine } from "../../storage/graph/port.js";
import type { Deps } from "../deps.js";
import type { RecordStore } from "../../storage/records/port.js";
import { checkOneOf, listOf, type QueryStrings, wholeNumber } from "../query-parameters.js";

export interface EvidenceRequest {
  ark: Ark;
  /** `upstream`: nodes that support the record; `downstream`: nodes that depend on it. */
  direction: Direction;
  /** Steps from the record, 1–100000; absent: no limit. */
  depth?: number;
  /** Nodes in one answer, 1–100000. */
  limit: number;
  /** From the previous answer. */
  cursor?: string;
  /**
   * Shows nodes of these kinds only, and nodes that are not stored here; the walk passes through
   * the others.
   */
  kinds?: readonly KindName[];
  /**
   * So many similar siblings or more become one node with their number; 2–100000. Absent: no
   * grouping.
   */
  collapse?: number;
  /**
   * Groups are made only where the answer would have more nodes than `above`, and at most `upTo`:
   * all of them are read for it.
   */
  collapseBetween?: { above: number; upTo: number };
  /**
   * Groups to expand, by their `group`; and records from which one step more than the depth is
   * shown, by their identifier: names of groups have no colon. At most 50 records.
   */
  expand?: readonly string[];
  /** Adds to the answer which nodes lead further than the depth. */
  further?: boolean;
  /** Adds to each edge the field of the record that stated it. */
  statements?: boolean;
  /**
   * `owner`: the walk omits edges of third parties, and the nodes that only these edges lead to.
   * Absent: `anyone`.
   */
  assertedBy?: AssertedBy;
}

export interface Reference {
  "@id": string;
}

/** Who states an edge. */
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
 * Source of an edge: a field of a record's document; `null` where the document no longer states the
 * edge literally.
 */
export interface Statement {
  record: string;
  field: string | null;
}
/**
 * An edge of the node that holds it, with its source. `field` is present where statements were
 * requested, and `thirdParty` and `derived` where they are true. For a group whose members have
 * different records `record` is null.
 */
export interface StatedEdge extends Omit<Assertion, "record" | "thirdParty"> {
  property: ProvenanceName;
  object: string;
  record: string | null;
  field?: string | null;
  thirdParty?: true;
  /** The record states the inverse: instead of `generatedBy` that it generated the node. */
  derived?: true;
}

/** Represents similar siblings: their number, and the name for `expand`. */
export interface GroupMarks {
  count: number;
  group: string;
}

/**
 * A record, or an object inside one. Its provenance edges have canonical names, all values, sorted.
 */
export type EvidenceNode = {
  "@id": string;
  /** Compact with the prefixes of the context; includes the class of the record's kind. */
  "@type": string[];
  name?: string;
  /** Cut at {@link DESCRIPTION_LENGTH} characters. */
  description?: string;
  sameAs?: Reference[];
  statements?: StatedEdge[];
} & Partial<GroupMarks> & { [Name in ProvenanceName]?: Reference[] };

/**
 * `external`: a URL that nobody whose statements led to it describes. `deleted`: a record that left a tombstone.
 * `unknown`: no record has this identifier (yet).
 */
export interface Dangling extends Reference, Partial<GroupMarks> {
  reason: "external" | "deleted" | "unknown";
}

/** Number of reachable nodes or edges that are not in the answer, by reason. */
export interface Hidden {
  /** Nodes one step beyond the requested depth. */
  depth?: number;
  /** Nodes on later pages. */
  limit?: number;
  /** References to deleted records (listed in `dangling`). */
  deleted?: number;
  /**
   * References to identifiers that nobody has, or to records that the reader may not see (listed in
   * `dangling`): counted alike, so that the number does not betray a private record.
   */
  unknown?: number;
  /** Nodes of kinds that were not requested. */
  kind?: number;
  /** Nodes that groups represent. */
  collapsed?: number;
  /** Edges of third parties at nodes that the walk reached, with `assertedBy=owner`. */
  thirdParty?: number;
}

/** JSON-LD: the named graph of the evidence for one record. */
export interface EvidenceGraph {
  "@context": Readonly<Record<string, unknown>>;
  /** Stored form of the requested record's ARK. */
  "@id": string;
  direction: Direction;
  /** The requested record first, then by distance from it, then by identifier. */
  "@graph": EvidenceNode[];
  /** Nodes of this answer that support no other node found: the results of the others. */
  outputs: Reference[];
  dangling: Dangling[];
  hidden: Hidden;
  truncated: boolean;
  /** Requests the next nodes; present when `truncated` is true. */
  cursor?: string;
  /** Commit that the graph is as of. */
  asOf: number;
  /** By node what it leads to beyond the depth; only where it was requested. */
  further?: ReadonlyMap<string, FurtherNodes>;
}

/** The number of nodes beyond the depth to which one node leads. */
export interface FurtherNodes {
  /** Those that support it. */
  support: number;
  /** Those that it supports. */
  use: number;
}

/** Characters of a description that a node shows. */
export const DESCRIPTION_LENGTH = 300;

/** Parts of an answer that are known before its nodes are read, and after. */
type EvidenceHead = Pick<EvidenceGraph, "@context" | "@id" | "direction">;
type EvidenceTail = Omit<EvidenceGraph, keyof EvidenceHead | "@graph">;

/**
 * An answer whose nodes are read as the caller consumes them, so that the largest answer is never
 * in memory as a whole.
 */
export interface EvidenceAnswer {
  head: EvidenceHead;
  /** May be called once. */
  nodes(): AsyncIterable<EvidenceNode[]>;
  /** After the last node. */
  tail(): EvidenceTail;
}

export interface EvidenceDeps {
  records: Pick<
    RecordStore,
    "find" | "findMany" | "holders" | "select" | "sequence" | "quads" | "countSelected" | "linksTo"
  >;
  /** The trusted engine. */
  queries: QueryEngine;
  /** ms to wait for the commit at which the request arrived (INDEX_WAIT). */
  wait?: number;
  /** ms for one query (QUERY_TIMEOUT). */
  timeout?: number;
}

export const evidenceDeps = ({
  records,
  queries,
  config,
}: Pick<Deps, "records" | "queries" | "config">): EvidenceDeps => ({
  records,
  queries,
  wait: config.INDEX_WAIT,
  timeout: config.QUERY_TIMEOUT,
});

const link = (curie: string): Record<string, string> => ({ "@id": curie, "@type": "@id" });

/**
 * Defines every key of an evidence graph; keys about the answer rather than the records have no
 * meaning in RDF.
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

type EvidenceParameters = Omit<EvidenceRequest, "ark" | "limit"> & { limit?: number };

/** Size from which similar siblings become one node when `collapse=true` states no number. */
const COLLAPSE = 5;
const DIRECTIONS = ["upstream", "downstream", "both"];

/**
 * The parameters of an evidence graph in a query string. @throws ValidationError with all errors
 */
export function evidenceParameters(query: QueryStrings): EvidenceParameters {
  const problems: ValidationItem[] = [];
  const oneOf = (name: string, value: string, allowed: readonly string[]): void =>
    checkOneOf(problems, name, value, allowed);
  const { direction = "upstream", cursor, collapse, statements = "false" } = query;
  const assertedBy = assertedByOf(query, problems);
  oneOf("direction", direction, DIRECTIONS);
  if (!/^(?:true|false|1|0)$/.test(statements))
    problems.push({
      loc: ["query", "statements"],
      msg: "Input should be a valid boolean, unable to interpret input",
      type: "bool_parsing",
    });
  const kinds = listOf(query["kind"]);
  for (const kind of kinds ?? []) oneOf("kind", kind, Object.keys(KINDS));
  const numbers: { depth?: number; limit?: number; collapse?: number } =
    collapse === "true" ? { collapse: COLLAPSE } : {};
  for (const name of ["depth", "limit", "collapse"] as const) {
    const raw = query[name];
    if (raw === undefined || (name === "collapse" && (raw === "true" || raw === "false"))) continue;
    const value = wholeNumber(problems, name, raw);
    if (value !== undefined) numbers[name] = value;
  }
  if (problems.length > 0) throw new ValidationError(problems);
  const expand = listOf(query["expand"]);
  return {
    direction: direction as Direction,
    ...numbers,
    ...(cursor === undefined ? {} : { cursor }),
    ...(kinds ? { kinds: kinds as KindName[] } : {}),
    ...(assertedBy === "owner" ? { assertedBy } : {}),
    ...(expand ? { expand } : {}),
    ...(/^(?:true|1)$/.test(statements) ? { statements: true } : {}),
  };
}

function assertedByOf(query: QueryStrings, problems: ValidationItem[]): AssertedBy {
  const { assertedBy = "anyone" } = query;
  checkOneOf(problems, "assertedBy", assertedBy, ["owner", "anyone"]);
  return assertedBy as AssertedBy;
}

/**
 * `assertedBy` alone, where no other parameter of an evidence graph is supported.
 * @throws ValidationError
 */
export function assertedByParameter(query: QueryStrings): AssertedBy {
  const problems: ValidationItem[] = [];
  const value = assertedByOf(query, problems);
  if (problems.length > 0) throw new ValidationError(problems);
  return value;
}

/** Where a page ended: distance and identifier of its last node. Opaque to clients. */
interface Position {
  distance: number;
  iri: string;
}

function writeCursor({ distance, iri }: Position): string {
  return Buffer.from(JSON.stringify([distance, iri])).toString("base64url");
}

/**
 * @throws {import("../../errors.js").ValidationError} at `query.cursor` for a text that
 * {@link writeCursor} did not write
 */
function readCursor(cursor: string): Position {
  try {
    const [distance, iri, ...rest] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as unknown[];
    if (Number.isSafeInteger(distance) && typeof iri === "string" && rest.length === 0)
      return { distance: distance as number, iri };
  } catch {
    // Reported below.
  }
  throw invalid(
    ["query", "cursor"],
    "Value error, this is not a cursor of an evidence graph; take it from the previous answer",
  );
}

/** True when a node comes after the position in the order of pages. */
function isAfter({ distance, iri }: Position, position: Position): boolean {
  return distance > position.distance || (distance === position.distance && iri > position.iri);
}

export interface NodePage {
  nodes: string[];
  later: number;
  cursor?: string;
}

/**
 * The nodes of one answer. The requested record is on every page and counts; a page of one node
 * still advances.
 * @param near steps of all nodes but the requested record
 */
export function pageOf(
  root: string,
  near: ReadonlyMap<string, number>,
  limit: number,
  cursor: string | undefined,
): NodePage {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const order = inOrder(near);
  const rest = after ? order.filter((node) => isAfter(node, after)) : order;
  const here = rest.slice(0, after ? Math.max(1, limit - 1) : limit - 1);
  const nodes = [root, ...here.map(({ iri }) => iri)];
  const later = rest.length - here.length;
  if (later === 0) return { nodes, later };
  return { nodes, later, cursor: writeCursor(here.at(-1) ?? { distance: -1, iri: "" }) };
}

/** Nearest first, then by identifier: an order that is stable across pages. */
function inOrder(near: ReadonlyMap<string, number>): Position[] {
  const atStep: string[][] = [];
  for (const [node, steps] of near) (atStep[steps] ??= []).push(node);
  return atStep.flatMap((nodes, distance) => nodes.sort().map((iri) => ({ distance, iri })));
}

const MAX_NODES = 100_000;

/** Most records in one `expand`: each may take a query. */
export const MAX_EXPANDED = 50;

/**
 * The two kinds of values in `expand`.
 * @throws {import("../../errors.js").ValidationError} for more than {@link MAX_EXPANDED} records
 */
export function expandedIn(expand: readonly string[] = []): {
  groups: ReadonlySet<string>;
  records: ReadonlySet<string>;
} {
  const isRecord = (value: string): boolean => value.includes(":");
  const records = new Set(expand.filter(isRecord).map((value) => parseArk(value)?.stored ?? value));
  if (records.size > MAX_EXPANDED)
    throw invalid(
      ["query", "expand"],
      `Value error, at most ${MAX_EXPANDED} records can be expanded; ask for a larger depth`,
    );
  return { groups: new Set(expand.filter((value) => !isRecord(value))), records };
}

/**
 * @throws {import("../../errors.js").ValidationError} unless the value is a whole number from
 * `least` to 100000
 */
export function checkRange(name: "limit" | "depth" | "collapse", value: number, least = 1): void {
  const loc = ["query", name];
  if (!Number.isInteger(value)) throw invalid(loc, "Input should be a valid integer", "int_type");
  if (value < least)
    throw invalid(loc, `Input should be greater than or equal to ${least}`, "greater_than_equal", {
      ge: least,
    });
  if (value > MAX_NODES)
    throw invalid(loc, `Input should be less than or equal to ${MAX_NODES}`, "less_than_equal", {
      le: MAX_NODES,
    });
}
