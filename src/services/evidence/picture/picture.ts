/** What a picture shows: the graph that is drawn, its nodes and arrows, within limits. */
import { getOrInsert } from "../../../get-or-insert.js";
import type { Ark } from "../../../identifiers/ark.js";
import { nameText } from "../../../model/labels.js";
import { PROVENANCE, type ProvenanceName } from "../../../model/provenance.js";
import { plainLine } from "../../../model/texts.js";
import { findLive } from "../../records/find.js";
import { evidenceGraph } from "../evidence-graph.js";
import { edgesOf, others } from "../formats.js";
import { sampleOf } from "../outline.js";
import type {
  Dangling,
  EvidenceDeps,
  EvidenceGraph,
  EvidenceNode,
  EvidenceRequest,
} from "../types.js";
import { GLYPHS, type GlyphName, glyphOf, nounOf } from "./glyphs.js";

export interface PictureNode {
  id: string;
  name: string;
  glyph: GlyphName;
  /** Second line: the kind, or what a group consists of. */
  note: string;
  count?: number;
  group?: string;
  absent?: Dangling["reason"];
  /** Where it leads further than the picture goes: the number of nodes, and on which side. */
  further?: { side: "support" | "use"; count: number };
  /** Its arrows, where they are folded. */
  folded?: number;
}

/** One arrow, from what supports to what is supported; with every name that states it. */
export interface PictureEdge {
  from: PictureNode;
  to: PictureNode;
  names: ProvenanceName[];
  /** Only third parties state it. */
  thirdParty: boolean;
  /** It is one of the many arrows of a hub, and not seen at first. */
  folded?: true;
}

/** Neighbours of a drawn node that are not drawn themselves, on one side of it. */
interface Rest {
  node: PictureNode;
  side: "support" | "use";
  count: number;
}

export interface Picture {
  /** The first of the nodes. */
  root: PictureNode;
  nodes: PictureNode[];
  edges: PictureEdge[];
  rests: Rest[];
  /** Arrows of hubs, folded or not. */
  hubArrows: number;
  /** What is not drawn, by reason. */
  left: { reason: string; count: number; about: string }[];
}

/** Most nodes and arrows in one picture. */
export interface PictureLimits {
  nodes: number;
  edges: number;
  /** The arrows of hubs are folded: each hub has their number instead. */
  foldHubs?: boolean;
}

/** What is used everywhere: many arrows from one of them would hide how data flows. */
const HUBS: ReadonlySet<GlyphName> = new Set(["software", "instrument", "agent", "schema"]);
/** Arrows that a hub has at least. */
export const HUB_ARROWS = 12;

const ABSENT: Readonly<Record<Dangling["reason"], string>> = {
  external: "described elsewhere",
  deleted: "withdrawn",
  unknown: "not registered here",
};

/** What to draw of an evidence graph: the nearest nodes, the arrows among them, counts of the rest. */
export function pictureOf(graph: EvidenceGraph, limits: PictureLimits): Picture {
  const stated = edgesOf(graph["@graph"]);
  const absent = graph.dangling.map(absentNode);
  const known = new Set([...graph["@graph"], ...absent.map(({ id }) => ({ "@id": id }))].map(idOf));
  const elsewhere = [...others(graph, stated).keys()].filter((id) => !known.has(id));
  const all = [...graph["@graph"].map(nodeOf), ...absent];
  const nodes = all.slice(0, limits.nodes).map((node): PictureNode => {
    const { support = 0, use = 0 } = graph.further?.get(node.id) ?? {};
    const further = { side: support > 0 ? "support" : "use", count: support + use } as const;
    return further.count > 0 ? { ...node, further } : node;
  });
  const [root] = nodes;
  if (!root) throw new Error("The evidence graph has no nodes");
  const { arrows, rests, undrawn } = arrowsOf(stated, nodes, limits.edges);
  const hubArrows = arrowsOfHubs(arrows, root);
  if (limits.foldHubs) fold(hubArrows);
  const { depth = 0, limit = 0, kind = 0, thirdParty = 0 } = graph.hidden;
  // Nodes of other pages are in `limit`; a page that was cut by hand doesn't count them.
  const further = Math.max(limit, elsewhere.length) + (all.length - nodes.length);
  const left = [
    { reason: "limit", count: further, about: "further away" },
    { reason: "depth", count: depth, about: "beyond the depth" },
    { reason: "kind", count: kind, about: "of other kinds" },
    { reason: "thirdParty", count: thirdParty, about: "statements of third parties" },
    { reason: "edges", count: undrawn, about: "relations between what is drawn" },
    {
      reason: "folded",
      count: limits.foldHubs ? hubArrows.length : 0,
      about: "arrows from what is used in many places",
    },
  ];
  return {
    root,
    nodes,
    edges: arrows,
    rests,
    hubArrows: hubArrows.length,
    left: left.filter(({ count }) => count > 0),
  };
}

function arrowsOfHubs(arrows: readonly PictureEdge[], root: PictureNode): PictureEdge[] {
  const leaving = new Map<PictureNode, PictureEdge[]>();
  for (const arrow of arrows) getOrInsert(leaving, arrow.from, () => []).push(arrow);
  return [...leaving]
    .filter(([node, from]) => node !== root && HUBS.has(node.glyph) && from.length >= HUB_ARROWS)
    .flatMap(([, from]) => from);
}

function fold(arrows: readonly PictureEdge[]): void {
  for (const arrow of arrows) {
    arrow.folded = true;
    arrow.from.folded = (arrow.from.folded ?? 0) + 1;
  }
}

/** Kinds that a reader may leave out of a picture; `absent`: what is not stored here. */
export const PICTURE_KINDS = [...(Object.keys(GLYPHS) as GlyphName[]), "absent"] as const;
export type PictureKind = (typeof PICTURE_KINDS)[number];

/** The number of nodes of each kind; of a group its members count. */
export function countKinds(graph: EvidenceGraph): ReadonlyMap<PictureKind, number> {
  const counts = new Map<PictureKind, number>();
  const add = (kind: PictureKind, count = 1): void =>
    void counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const node of graph["@graph"]) add(glyphOf(node["@type"]), node.count);
  for (const { count } of graph.dangling) add("absent", count);
  return counts;
}

/** What the nodes of each kind are called: by one word where they are alike. */
export function namesOfKinds(graph: EvidenceGraph): ReadonlyMap<PictureKind, readonly string[]> {
  const names = new Map<PictureKind, Set<string>>();
  for (const node of graph["@graph"])
    getOrInsert(names, glyphOf(node["@type"]), () => new Set<string>()).add(
      nounOf(node["@type"]).many,
    );
  return new Map([...names].map(([kind, words]) => [kind, [...words].sort()]));
}

/** The graph without the nodes of these kinds; its record stays. */
export function withoutKinds(graph: EvidenceGraph, kinds: readonly PictureKind[]): EvidenceGraph {
  if (kinds.length === 0) return graph;
  const nodes = graph["@graph"].filter(
    (node) => node["@id"] === graph["@id"] || !kinds.includes(glyphOf(node["@type"])),
  );
  const dangling = kinds.includes("absent") ? [] : graph.dangling;
  const shown = new Set([...nodes, ...dangling].map(idOf));
  const isShown = (end: { "@id": string }): boolean => shown.has(end["@id"]);
  return { ...graph, "@graph": nodes.map((node) => withEdgesTo(node, isShown)), dangling };
}

/**
 * The arrows among the nodes that are drawn; edges between the same two are one arrow.
 * @returns also how many are not drawn, and how many neighbours are not
 */
function arrowsOf(
  stated: ReturnType<typeof edgesOf>,
  nodes: readonly PictureNode[],
  limit: number,
): { arrows: PictureEdge[]; rests: Rest[]; undrawn: number } {
  const drawn = new Map(nodes.map((node) => [node.id, node]));
  const arrows = new Map<string, PictureEdge>();
  const beside = new Map<string, Omit<Rest, "count"> & { others: Set<string> }>();
  const undrawn = new Set<string>();
  for (const { source, name, target, thirdParty } of stated) {
    const [supported, supporting] =
      PROVENANCE[name].support === "object" ? [source, target] : [target, source];
    const [from, to] = [drawn.get(supporting), drawn.get(supported)];
    if (!from || !to) {
      const side = from ? "use" : "support";
      const node = to ?? from;
      if (!node) continue;
      getOrInsert(beside, `${side} ${node.id}`, () => ({
        node,
        side,
        others: new Set<string>(),
      })).others.add(from ? supported : supporting);
      continue;
    }
    const key = `${supporting} ${supported}`;
    const arrow = arrows.get(key) ?? { from, to, names: [], thirdParty: true };
    if (!arrows.has(key) && arrows.size >= limit) {
      undrawn.add(key);
      continue;
    }
    arrows.set(key, arrow);
    if (!arrow.names.includes(name)) arrow.names.push(name);
    arrow.thirdParty &&= thirdParty;
  }
  const rests = [...beside.values()].map(({ node, side, others }) => ({
    node,
    side,
    count: others.size,
  }));
  return { arrows: [...arrows.values()], rests, undrawn: undrawn.size };
}

const idOf = (node: { "@id": string }): string => node["@id"];

function nodeOf(node: EvidenceGraph["@graph"][number]): PictureNode {
  const glyph = glyphOf(node["@type"]);
  const { one, many } = nounOf(node["@type"]);
  const { "@id": id, name, count, group } = node;
  return count === undefined
    ? { id, glyph, name: nameText({ id, name: name ?? null }), note: one }
    : {
        id,
        glyph,
        name: `${count} ${many}`,
        note: name === undefined ? "alike" : `such as ${plainLine(sampleOf(name))}`,
        count,
        ...(group !== undefined && { group }),
      };
}

function absentNode({ "@id": id, reason, count, group }: Dangling): PictureNode {
  const note = ABSENT[reason];
  return count === undefined
    ? { id, glyph: "other", name: id, note, absent: reason }
    : {
        id,
        glyph: "other",
        name: `${count} records`,
        note,
        absent: reason,
        count,
        ...(group !== undefined && { group }),
      };
}

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
      further: true,
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
