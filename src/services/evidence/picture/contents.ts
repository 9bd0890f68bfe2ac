import { PROVENANCE, type ProvenanceName } from "../../../model/provenance.js";
import { edgesOf, others } from "../formats/edges.js";
import { sampleOf } from "../outline.js";
import type { Dangling, EvidenceGraph } from "../types.js";
import { type GlyphName, glyphOf, GLYPHS } from "./glyphs.js";

export interface PictureNode {
  id: string;
  name: string;
  glyph: GlyphName;
  /** Second line: the kind, or what a group consists of. */
  note: string;
  count?: number;
  group?: string;
  absent?: Dangling["reason"];
}

/** One arrow, from what supports to what is supported; with every name that states it. */
export interface PictureEdge {
  from: number;
  to: number;
  names: ProvenanceName[];
  /** Only third parties state it. */
  thirdParty: boolean;
  owners: string[];
}

/** Neighbours of a drawn node that are not drawn themselves, on one side of it. */
export interface Rest {
  node: number;
  side: "support" | "use";
  count: number;
}

export interface Picture {
  /** The record first. */
  nodes: PictureNode[];
  edges: PictureEdge[];
  rests: Rest[];
  /** What is not drawn, by reason. */
  left: { reason: string; count: number; about: string }[];
}

/** Most nodes and arrows in one picture. */
export interface PictureLimits {
  nodes: number;
  edges: number;
}

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
  const nodes = all.slice(0, limits.nodes);
  const places = new Map(nodes.map(({ id }, index) => [id, index]));

  const arrows = new Map<string, PictureEdge>();
  const beside = new Map<string, Set<string>>();
  const undrawn = new Set<string>();
  for (const { source, name, target, thirdParty, statedBy } of stated) {
    const [supported, supporting] =
      PROVENANCE[name].support === "object" ? [source, target] : [target, source];
    const [from, to] = [places.get(supporting), places.get(supported)];
    if (from === undefined || to === undefined) {
      const side = from === undefined ? ("support" as const) : ("use" as const);
      const node = to ?? from;
      if (node === undefined) continue;
      const key = `${node} ${side}`;
      const rest = beside.get(key) ?? beside.set(key, new Set()).get(key)!;
      rest.add(from === undefined ? supporting : supported);
      continue;
    }
    const key = `${from} ${to}`;
    const arrow = arrows.get(key) ?? { from, to, names: [], thirdParty: true, owners: [] };
    if (!arrows.has(key) && arrows.size >= limits.edges) {
      undrawn.add(key);
      continue;
    }
    arrows.set(key, arrow);
    if (!arrow.names.includes(name)) arrow.names.push(name);
    arrow.thirdParty &&= thirdParty;
    for (const { owner } of statedBy)
      if (owner !== null && !arrow.owners.includes(owner)) arrow.owners.push(owner);
  }
  const { depth = 0, limit = 0, kind = 0, thirdParty = 0 } = graph.hidden;
  // Nodes of other pages are in `limit`; a page that was cut by hand doesn't count them.
  const further = Math.max(limit, elsewhere.length) + (all.length - nodes.length);
  const left = [
    { reason: "limit", count: further, about: "further away" },
    { reason: "depth", count: depth, about: "beyond the depth" },
    { reason: "kind", count: kind, about: "of other kinds" },
    { reason: "thirdParty", count: thirdParty, about: "statements of third parties" },
    { reason: "edges", count: undrawn.size, about: "relations between what is drawn" },
  ];
  return {
    nodes,
    edges: [...arrows.values()],
    rests: [...beside].map(([key, { size: count }]) => {
      const [node, side] = key.split(" ") as [string, Rest["side"]];
      return { node: Number(node), side, count };
    }),
    left: left.filter(({ count }) => count > 0),
  };
}

const idOf = (node: { "@id": string }): string => node["@id"];

function nodeOf(node: EvidenceGraph["@graph"][number]): PictureNode {
  const glyph = glyphOf(node["@type"]);
  const { one, many } = GLYPHS[glyph];
  const { "@id": id, name, count, group } = node;
  return count === undefined
    ? { id, glyph, name: name ?? id, note: one }
    : {
        id,
        glyph,
        name: `${count} ${many}`,
        note: name === undefined ? "alike" : `such as ${sampleOf(name)}`,
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
