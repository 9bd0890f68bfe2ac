import { expandCurie } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { compactType } from "./context.js";
import type { Description } from "./descriptions.js";
import type { Edge } from "./net.js";
import { inOrder as inOrderOfEdges, statedEdges, type Said } from "./said.js";
import type { EvidenceNode, Reference } from "./types.js";

export const reference = (iri: string): Reference => ({ "@id": iri });

/** Of a record whose statements are all about the URL it stands for. */
export function ofRecord(record: StoredRecord): Description {
  return { types: [compactType(expandCurie(KINDS[record.kind].rdfClass))], records: [], ...(record.name !== null && { name: record.name }) };
}

/**
 * Nodes in the order asked for; those that nothing describes are left out.
 * @param aliases URLs that a crate knows the asked-for record by
 * @param said whose word each edge is, in their order
 */
export function nodesOf(order: readonly string[], described: ReadonlyMap<string, Description>, edges: readonly Edge[], { root, aliases }: { root: string; aliases: readonly string[] }, said: readonly Said[]): EvidenceNode[] {
  const nodes = new Map<string, EvidenceNode>();
  for (const iri of order) {
    const known = described.get(iri);
    if (!known) continue;
    const node: EvidenceNode = { "@id": iri, "@type": known.types.length === 1 ? known.types : known.types.toSorted() };
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
  for (let index = 0; index < edges.length; index++) {
    const { subject, name, object } = edges[index]!;
    // Edges come node by node.
    if (subject !== latest) [latest, node] = [subject, nodes.get(subject)];
    if (!node) continue;
    for (const edge of statedEdges(edges[index]!, said[index]!)) (node.statements ??= []).push(edge);
    const objects = node[name];
    if (!objects) node[name] = [reference(object)];
    else {
      objects.push(reference(object));
      several.add(node);
    }
  }
  for (const node of several) for (const name of Object.keys(PROVENANCE) as ProvenanceName[]) if (node[name]) node[name] = inOrder(node[name]);
  for (const node of nodes.values()) if (node.statements) node.statements = inOrderOfEdges(node.statements);
  return [...nodes.values()];
}

/** Sorted, each once. */
const inOrder = (references: readonly Reference[]): Reference[] =>
  references.toSorted((a, b) => (a["@id"] < b["@id"] ? -1 : Number(a["@id"] > b["@id"]))).filter((each, index, all) => each["@id"] !== all[index - 1]?.["@id"]);
