import { ServiceError } from "../../errors.js";
import { expandCurie } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import type { ProvenanceName } from "../../model/provenance.js";
import type { QueryEngine } from "../../stores/queries/port.js";
import type { RecordStore, StoredRecord } from "../../stores/records/port.js";
import { Asking } from "./asking.js";
import { compactType, EVIDENCE_CONTEXT } from "./context.js";
import { dangling } from "./dangling.js";
import { describe, type Description } from "./descriptions.js";
import { statedEdges, type Edge } from "./edges.js";
import { checkRange, pageOf } from "./page.js";
import { seedsOf } from "./seeds.js";
import type { EvidenceGraph, EvidenceNode, EvidenceRequest, Reference } from "./types.js";
import { walk, type Walk } from "./walk.js";

export interface EvidenceDeps {
  records: Pick<RecordStore, "find" | "findMany" | "list" | "sequence">;
  /** The trusted engine. */
  queries: QueryEngine;
  /** ms to wait for the commit at which the request came in (INDEX_WAIT). */
  wait?: number;
  /** ms for one query (QUERY_TIMEOUT). */
  timeout?: number;
}

const INDEX_WAIT = 2_000;
/** Times a graph is read again because a commit came between its queries. */
const READINGS = 3;

/**
 * The evidence graph of one record, never older than the request. A graph that commits kept moving under three
 * readings is answered all the same, `asOf` the oldest commit that went into it.
 *
 * @throws {ServiceError} `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `VALIDATION`, `INDEX_LOADING`, `INDEX_BEHIND`, `QUERY_TIMEOUT`
 */
export async function evidenceGraph(request: EvidenceRequest, deps: EvidenceDeps): Promise<EvidenceGraph> {
  checkRange("limit", request.limit);
  if (request.depth !== undefined) checkRange("depth", request.depth);
  const sequence = await deps.records.sequence();
  const record = await asked(request.ark, deps.records);
  await deps.queries.reach(sequence, deps.wait ?? INDEX_WAIT);
  for (let reading = 1; ; reading++) {
    const ask = new Asking(deps.queries, deps.timeout === undefined ? {} : { timeout: deps.timeout });
    const graph = await read(ask, record, request, deps);
    if (ask.consistent || reading === READINGS) return graph;
  }
}

async function asked(ark: string, records: EvidenceDeps["records"]): Promise<StoredRecord> {
  const found = await records.find(ark);
  if (!found) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${ark}; check the identifier.`);
  if ("ambiguous" in found) throw new ServiceError("AMBIGUOUS", `Several identifiers differ from ${ark} in hyphens only; ask for one of the candidates.`, { candidates: found.ambiguous });
  if (found.record.tombstone) throw new ServiceError("GONE", `The record ${found.record.ark} was deleted.`, { ...found.record.tombstone });
  return found.record;
}

async function read(ask: Asking, record: StoredRecord, request: EvidenceRequest, deps: EvidenceDeps): Promise<EvidenceGraph> {
  const seeds = await seedsOf(ask, record, deps.records);
  const walked = await walk(ask, seeds, request.direction, request.depth ?? Number.POSITIVE_INFINITY);
  const page = pageOf(seeds.root, walked.near, request.limit, request.cursor);
  const edges = await statedEdges(ask, walked.supports, new Set(page.nodes));
  const described = await describe(ask, page.nodes);
  if (!described.has(seeds.root)) described.set(seeds.root, ofRecord(record));
  const missing = await dangling(page.nodes.filter((node) => !described.has(node)), deps.records);
  const deleted = missing.filter(({ reason }) => reason === "deleted").length;
  return {
    "@context": EVIDENCE_CONTEXT, "@id": seeds.root, direction: request.direction,
    "@graph": nodesOf(page.nodes, described, edges, seeds.self.slice(1)),
    outputs: outputsOf(page.nodes, walked, seeds.root, record.kind === "rocrate"),
    dangling: missing,
    hidden: { ...(walked.beyond > 0 && { depth: walked.beyond }), ...(page.later > 0 && { limit: page.later }), ...(deleted > 0 && { deleted }) },
    truncated: page.cursor !== undefined, ...(page.cursor !== undefined && { cursor: page.cursor }),
    asOf: ask.oldest,
  };
}

/** Of a record whose statements are all about the URL it stands for. */
function ofRecord(record: StoredRecord): Description {
  return { types: new Set([compactType(expandCurie(KINDS[record.kind].rdfClass))]), records: new Set(), ...(record.name !== null && { name: record.name }) };
}

function nodesOf(order: readonly string[], described: ReadonlyMap<string, Description>, edges: readonly Edge[], aliases: readonly string[]): EvidenceNode[] {
  const nodes = new Map<string, EvidenceNode>();
  for (const iri of order) {
    const known = described.get(iri);
    if (!known) continue;
    const sameAs = iri === order[0] ? aliases : [...known.records].toSorted();
    nodes.set(iri, {
      "@id": iri, "@type": [...known.types].toSorted(),
      ...(known.name !== undefined && { name: known.name }), ...(known.description !== undefined && { description: known.description }),
      ...(sameAs.length > 0 && { sameAs: sameAs.map(reference) }),
    });
  }
  const stated = new Map<EvidenceNode, Map<ProvenanceName, Set<string>>>();
  for (const { subject, name, object } of edges) {
    const node = nodes.get(subject);
    if (!node) continue;
    const properties = stated.get(node) ?? stated.set(node, new Map()).get(node)!;
    (properties.get(name) ?? properties.set(name, new Set()).get(name)!).add(object);
  }
  for (const [node, properties] of stated) for (const [name, objects] of properties) node[name] = [...objects].toSorted().map(reference);
  return [...nodes.values()];
}

/** What supports nothing else that was found; in a cycle without end, the asked-for record. */
function outputsOf(nodes: readonly string[], { supports }: Walk, root: string, isCrate: boolean): Reference[] {
  const supporting = new Set(supports.filter(([a, b]) => a !== b).map(([, b]) => b));
  const ends = nodes.filter((node) => !supporting.has(node) && !(isCrate && node === root && nodes.length > 1));
  return (ends.length > 0 ? ends : [root]).map(reference);
}

const reference = (iri: string): Reference => ({ "@id": iri });
