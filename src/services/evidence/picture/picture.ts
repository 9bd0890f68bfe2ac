import { PROVENANCE, type ProvenanceName } from "../../../model/provenance.js";
import type { Ark } from "../../../identifiers/ark.js";
import { findLive } from "../../records/find.js";
import { evidenceGraph } from "../evidence-graph.js";
import { edgesOf } from "../formats/edges.js";
import type { EvidenceDeps, EvidenceGraph, EvidenceNode, EvidenceRequest } from "../types.js";
import type { PictureLimits } from "./contents.js";
import { glyphOf } from "./glyphs.js";

/** Like siblings that become one node where a picture would have too many nodes. */
const ALIKE = 2;
/** Nodes in the picture of what is next to a record, on each side. */
const NEARBY = 24;

export interface PictureBounds extends PictureLimits {
  /** Groups are made in graphs with at most so many nodes (EVIDENCE_LIMIT). */
  read: number;
}

/**
 * The part of an evidence graph that a picture shows. A graph with too many nodes is shown with
 * like siblings as groups; if that is too much as well, its nearest nodes.
 *
 * @throws {ServiceError} as `evidenceGraph`
 */
export function graphToDraw(
  request: Omit<EvidenceRequest, "limit"> & { limit?: number },
  bounds: PictureBounds,
  deps: EvidenceDeps,
): Promise<EvidenceGraph> {
  const limit = Math.min(request.limit ?? bounds.nodes, bounds.nodes);
  return evidenceGraph(
    {
      ...request,
      limit,
      ...(request.collapse === undefined
        ? { collapse: ALIKE, collapseBetween: { above: limit, upTo: bounds.read } }
        : // Groups of a graph that is too large to be read as a whole would take seconds.
          { collapseBetween: { above: 0, upTo: bounds.read } }),
    },
    deps,
  );
}

/**
 * What is next to a record: what supports it, with the inputs of the activities that made it, and
 * what it supports directly; like siblings as groups. For a crate, what it is about.
 *
 * @throws {ServiceError} as `evidenceGraph`
 */
export async function nearbyGraph(
  ark: Ark,
  bounds: PictureBounds,
  deps: EvidenceDeps,
): Promise<EvidenceGraph> {
  const request = {
    ark,
    limit: Math.min(NEARBY, bounds.nodes),
    collapse: ALIKE,
    collapseBetween: { above: 0, upTo: bounds.read },
  };
  const { kind } = await findLive(deps, ark);
  if (kind === "rocrate") return evidenceGraph({ ...request, direction: "both" }, deps);
  const [support, uses] = await Promise.all([
    evidenceGraph({ ...request, direction: "upstream", depth: 2 }, deps),
    evidenceGraph({ ...request, direction: "downstream", depth: 1 }, deps),
  ]);
  return together(withoutSecondHand(support), uses);
}

/** Without what supports the record at two steps, unless an activity used it. */
function withoutSecondHand(graph: EvidenceGraph): EvidenceGraph {
  const root = graph["@id"];
  const activities = new Set(
    graph["@graph"]
      .filter((node) => glyphOf(node["@type"]) === "computation")
      .map((node) => node["@id"]),
  );
  const near = new Set([root]);
  const steps = edgesOf(graph["@graph"]).map(({ source, name, target }) =>
    PROVENANCE[name].support === "object" ? [source, target] : [target, source],
  ) as [supported: string, supporting: string][];
  for (const [supported, supporting] of steps) if (supported === root) near.add(supporting);
  const used = new Set(
    steps.flatMap(([supported, supporting]) =>
      near.has(supported) && (supported === root || activities.has(supported)) ? [supporting] : [],
    ),
  );
  const kept = (node: { "@id": string }): boolean => near.has(node["@id"]) || used.has(node["@id"]);
  // What is two steps away is no omission of a picture of what is near.
  const { depth: _, ...hidden } = graph.hidden;
  return {
    ...graph,
    "@graph": graph["@graph"].filter(kept).map((node) => withEdgesTo(node, kept)),
    dangling: graph.dangling.filter(kept),
    hidden,
  };
}

function withEdgesTo(node: EvidenceNode, kept: (end: { "@id": string }) => boolean): EvidenceNode {
  const shown: EvidenceNode = { ...node };
  for (const name of Object.keys(PROVENANCE) as ProvenanceName[])
    if (shown[name]) shown[name] = shown[name].filter(kept);
  return shown;
}

/** Two graphs about one record as one. */
function together(first: EvidenceGraph, second: EvidenceGraph): EvidenceGraph {
  const nodes = new Map(first["@graph"].map((node) => [node["@id"], node]));
  for (const node of second["@graph"]) {
    const known = nodes.get(node["@id"]);
    nodes.set(node["@id"], known ? joined(known, node) : node);
  }
  const dangling = new Map(
    [...first.dangling, ...second.dangling].map((each) => [each["@id"], each]),
  );
  const { depth: _, ...hidden } = second.hidden;
  const counts: Record<string, number> = { ...first.hidden };
  for (const [reason, count] of Object.entries(hidden))
    counts[reason] = (counts[reason] ?? 0) + count;
  return {
    ...first,
    direction: "both",
    "@graph": [...nodes.values()],
    outputs: second.outputs,
    dangling: [...dangling.values()],
    hidden: counts,
    // No cursor continues both.
    truncated: first.truncated || second.truncated,
    asOf: Math.min(first.asOf, second.asOf),
  };
}

function joined(first: EvidenceNode, second: EvidenceNode): EvidenceNode {
  const node: EvidenceNode = { ...first };
  for (const name of Object.keys(PROVENANCE) as ProvenanceName[]) {
    const known = new Set(node[name]?.map((end) => end["@id"]));
    const more = (second[name] ?? []).filter((end) => !known.has(end["@id"]));
    if (more.length > 0) node[name] = [...(node[name] ?? []), ...more];
  }
  const stated = new Set((node.statements ?? []).map((each) => JSON.stringify(each)));
  const more = (second.statements ?? []).filter((each) => !stated.has(JSON.stringify(each)));
  if (more.length > 0) node.statements = [...(node.statements ?? []), ...more];
  return node;
}
