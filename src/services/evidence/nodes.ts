/** The nodes of an answer, made of edges and of who states them. */
import { looksLikeArk } from "../../identifiers/ark.js";
import { expandCurie } from "../../model/field.js";
import { KINDS } from "../../model/kinds.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import type { Description } from "./descriptions.js";
import { compareNames, type Edge } from "./edges.js";
import {
  type Assertion,
  compactType,
  type Dangling,
  type EvidenceNode,
  type Reference,
  type StatedEdge,
} from "./types.js";

/**
 * Who states an edge; `record` is null where the members of a group have different records.
 * `fields`: the fields that state the edge. `derived`: they state the inverse.
 */
export interface Claim extends Omit<Assertion, "record"> {
  record: string | null;
  fields?: readonly (string | null)[];
  derived?: true;
}

/** An edge, and who states it. */
export interface ClaimedEdge {
  edge: Edge;
  claim: Claim;
}

/** The rows of a node for one edge: a row for each field where fields were requested. */
function statedEdges(
  { name, object }: Edge,
  { record, owner, ownsSource, ownsTarget, thirdParty, fields, derived }: Claim,
): StatedEdge[] {
  const row = (field?: { field: string | null }): StatedEdge => ({
    property: name,
    object,
    record,
    ...field,
    owner,
    ownsSource,
    ownsTarget,
    ...(thirdParty && { thirdParty }),
    ...(derived && { derived }),
  });
  return fields ? fields.map((field) => row({ field })) : [row()];
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * Statements of actions about their results, as if the results stated them: programs follow
 * `generatedBy` from node to node, and many crates state `result` of the action only. Statements
 * that a result has itself are left out.
 * @param claimed `generated`
 * @param stated edges of the results
 */
export function inverted(
  claimed: readonly ClaimedEdge[],
  stated: readonly ClaimedEdge[],
): ClaimedEdge[] {
  const known = new Set(
    stated.flatMap(({ edge: { subject, name, object } }) =>
      name === "generatedBy" ? [`${subject} ${object}`] : [],
    ),
  );
  return claimed
    .filter(
      ({ edge: { subject, object } }) => subject !== object && !known.has(`${object} ${subject}`),
    )
    .map(({ edge: { subject, object, graph }, claim }) => ({
      edge: { subject: object, name: "generatedBy", object: subject, graph },
      claim: {
        ...claim,
        ownsSource: claim.ownsTarget,
        ownsTarget: claim.ownsSource,
        derived: true,
      },
    }));
}

/** An order that does not depend on how the graph was read, each row once. */
function edgesInOrder(rows: StatedEdge[]): StatedEdge[] {
  if (rows.length < 2) return rows;
  const sorted = rows.toSorted(
    (a, b) =>
      compareNames(a.property, b.property) ||
      compare(a.object, b.object) ||
      compare(a.record ?? "", b.record ?? "") ||
      compare(a.owner ?? "", b.owner ?? "") ||
      compare(a.field ?? "", b.field ?? ""),
  );
  return sorted.filter((each, index) => !isSame(each, sorted[index - 1]));
}

const isSame = (a: StatedEdge, b: StatedEdge | undefined): boolean =>
  a.object === b?.object &&
  a.property === b.property &&
  a.record === b.record &&
  a.owner === b.owner &&
  a.derived === b.derived &&
  a.field === b.field &&
  a.thirdParty === b.thirdParty;

export const reference = (iri: string): Reference => ({ "@id": iri });

/** For a record whose statements are all about the URL it stands for. */
export function ofRecord(record: StoredRecord): Description {
  return {
    types: [compactType(expandCurie(KINDS[record.kind].rdfClass))],
    records: [],
    ...(record.name !== null && { name: record.name }),
  };
}

/**
 * Nodes in the requested order; nodes without a description are left out.
 * @param aliases URLs that a crate uses for the requested record
 */
export function nodesOf(
  order: readonly string[],
  described: ReadonlyMap<string, Description>,
  claimed: readonly ClaimedEdge[],
  { root, aliases }: { root: string; aliases: readonly string[] },
): EvidenceNode[] {
  const nodes = new Map<string, EvidenceNode>();
  for (const iri of order) {
    const known = described.get(iri);
    if (!known) continue;
    const node: EvidenceNode = {
      "@id": iri,
      "@type": known.types.length === 1 ? known.types : known.types.toSorted(),
    };
    if (known.name !== undefined) node.name = known.name;
    if (known.description !== undefined) node.description = known.description;
    if (known.group) Object.assign(node, { count: known.group.count, group: known.group.group });
    const sameAs = iri === root ? aliases : known.records;
    if (sameAs.length > 0) node.sameAs = sameAs.toSorted().map(reference);
    nodes.set(iri, node);
  }
  const several = new Set<EvidenceNode>();
  let latest: string | undefined;
  let node: EvidenceNode | undefined;
  for (const { edge, claim } of claimed) {
    const { subject, name, object } = edge;
    // Edges are in the order of their nodes.
    if (subject !== latest) [latest, node] = [subject, nodes.get(subject)];
    if (!node) continue;
    for (const stated of statedEdges(edge, claim)) (node.statements ??= []).push(stated);
    const objects = node[name];
    if (!objects) node[name] = [reference(object)];
    else {
      objects.push(reference(object));
      several.add(node);
    }
  }
  for (const node of several)
    for (const name of Object.keys(PROVENANCE) as ProvenanceName[])
      if (node[name]) node[name] = inOrder(node[name]);
  for (const node of nodes.values())
    if (node.statements) node.statements = edgesInOrder(node.statements);
  return [...nodes.values()];
}

/** Sorted, each once. */
const inOrder = (references: readonly Reference[]): Reference[] =>
  references
    .toSorted((a, b) => (a["@id"] < b["@id"] ? -1 : Number(a["@id"] > b["@id"])))
    .filter((each, index, all) => each["@id"] !== all[index - 1]?.["@id"]);

/** Determines for each of these references why no stored record matches it. */
export async function dangling(
  iris: readonly string[],
  records: Pick<RecordStore, "findMany">,
): Promise<Dangling[]> {
  const arks = iris.filter(looksLikeArk);
  const stored = arks.length === 0 ? [] : await records.findMany(arks);
  const deleted = new Set(arks.filter((_, i) => stored[i]?.tombstone));
  return iris.map((iri) => ({
    "@id": iri,
    reason: deleted.has(iri) ? "deleted" : looksLikeArk(iri) ? "unknown" : "external",
  }));
}
