import { PROVENANCE, type ProvenanceName } from "../../../model/provenance.js";
import type { EvidenceGraph, EvidenceNode, Reference, StatedEdge } from "../types.js";

/** An edge as it was stated. */
export interface ShownEdge {
  source: string;
  name: ProvenanceName;
  target: string;
  /** Only third parties state it. */
  thirdParty: boolean;
  statedBy: readonly StatedEdge[];
}

/** Every edge of an answer as it was stated, each once. */
export function edgesOf(nodes: readonly EvidenceNode[]): ShownEdge[] {
  return nodes.flatMap((node) => {
    const claims = new Map<string, StatedEdge[]>();
    const derived = new Set<string>();
    for (const statement of node.statements ?? []) {
      const key = `${statement.property} ${statement.object}`;
      if (statement.derived) {
        derived.add(key);
        continue;
      }
      const known = claims.get(key);
      if (known) known.push(statement);
      else claims.set(key, [statement]);
    }
    return Object.entries(node).flatMap(([name, values]) =>
      Object.hasOwn(PROVENANCE, name)
        ? (values as Reference[])
            .filter((value) => !derived.has(`${name} ${value["@id"]}`))
            .map((value): ShownEdge => {
              const statedBy = claims.get(`${name} ${value["@id"]}`) ?? [];
              const thirdParty =
                statedBy.length > 0 && statedBy.every((each) => each.thirdParty === true);
              return {
                source: node["@id"],
                name: name as ProvenanceName,
                target: value["@id"],
                thirdParty,
                statedBy,
              };
            })
        : [],
    );
  });
}

/** Label in a drawing for a target that is not a node of the answer. */
export function others(graph: EvidenceGraph, edges: readonly ShownEdge[]): Map<string, string> {
  const shown = new Set(graph["@graph"].map((node) => node["@id"]));
  const why = new Map(
    graph.dangling.map(({ "@id": id, reason, count }) => [
      id,
      count === undefined ? reason : `${count} alike, ${reason}`,
    ]),
  );
  const found = new Map<string, string>();
  for (const { source, target } of edges)
    for (const end of [source, target])
      if (!shown.has(end)) found.set(end, why.get(end) ?? "on another page");
  return found;
}

const REASONS = {
  depth: "beyond the depth",
  limit: "on later pages",
  kind: "of other kinds",
  collapsed: "in groups",
  thirdParty: "edges of third parties",
} as const;

/** One line about the omissions of an answer; empty when the answer is complete. */
export function leftOut({ hidden, truncated }: EvidenceGraph): string {
  // Deleted records are drawn like missing ones.
  const reasons = (Object.keys(REASONS) as (keyof typeof REASONS)[])
    .filter((reason) => hidden[reason] !== undefined)
    .map((reason) => `${hidden[reason]} ${REASONS[reason]}`);
  return reasons.length === 0 && !truncated ? "" : `Not shown: ${reasons.join(", ")}`;
}

/**
 * The class that describes a node's role best: that of the record's kind before a file's
 * MediaObject.
 */
export const leadingType = (node: EvidenceNode): string | undefined =>
  node["@type"].find((type) => type.startsWith("evi:")) ?? node["@type"][0];
