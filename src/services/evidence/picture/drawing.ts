/** Evidence as pictures and as lists. */
import { labelled } from "../labelled.js";
import type { Ark } from "../../../identifiers/ark.js";
import type { Deps } from "../../deps.js";
import { type TreeRow, treeRows } from "../tree.js";
import { evidenceDeps, type EvidenceGraph, type EvidenceRequest } from "../types.js";
import {
  countKinds,
  graphToDraw,
  namesOfKinds,
  nearbyGraph,
  type PictureBounds,
  type PictureKind,
  withoutKinds,
} from "./picture.js";
import { type DrawnPicture, drawPicture, type PictureOptions } from "./svg.js";

/** A picture, and the graph that it shows. */
export interface DrawnEvidence {
  drawn: DrawnPicture;
  graph: EvidenceGraph;
}
/** The kinds of nodes in a graph: how many there are, and what they are called. */
export interface Kinds {
  kinds: ReadonlyMap<PictureKind, number>;
  names: ReadonlyMap<PictureKind, readonly string[]>;
}
/** Where a picture is shown, and what its groups link to. */
type PictureLook = Omit<PictureOptions, "nodes" | "edges">;

const boundsOf = ({ config }: Pick<Deps, "config">): PictureBounds => ({
  nodes: config.EVIDENCE_PICTURE_NODES,
  edges: config.EVIDENCE_PICTURE_EDGES,
  read: config.EVIDENCE_LIMIT,
});

/**
 * The evidence of a record as a drawing, with the number of nodes of each kind, drawn or not. In a
 * graph that is too large like siblings become groups; the rest are counted.
 * @throws ServiceError as `evidenceGraph`
 */
export async function drawEvidence(
  deps: Deps,
  request: Omit<EvidenceRequest, "limit"> & { limit?: number },
  look: PictureLook & { without?: readonly PictureKind[] },
): Promise<DrawnEvidence & Kinds> {
  const { without = [], ...options } = look;
  const bounds = boundsOf(deps);
  const whole = await graphToDraw(request, bounds, evidenceDeps(deps));
  const graph = await labelled(withoutKinds(whole, without), deps);
  return {
    graph,
    drawn: drawPicture(graph, { ...options, ...bounds }),
    kinds: countKinds(whole),
    names: namesOfKinds(whole),
  };
}

/**
 * A drawing of what is next to a record: what supports it, the inputs of the activities that made
 * it, and what it supports directly; like siblings as groups.
 * @throws ServiceError as `evidenceGraph`
 */
export async function drawNearby(deps: Deps, ark: Ark, look: PictureLook): Promise<DrawnEvidence> {
  const bounds = boundsOf(deps);
  const graph = await labelled(await nearbyGraph(ark, bounds, evidenceDeps(deps)), deps);
  return { graph, drawn: drawPicture(graph, { ...look, ...bounds }) };
}

/** One line of evidence as an indented list. */
export interface EvidenceLine {
  /** Steps from the record. */
  depth: number;
  id: string;
  name: string | null;
  /** Property that relates it to the line above it; null at the beginning. */
  property: string | null;
  /** The property is one of this node, about the node above it. */
  inverse: boolean;
  /** Only third parties state that. */
  thirdParty: boolean;
  /** Owners of the records that state it. */
  owners: string[];
  /** Members, where it is a group, and what `expand` takes to get them. */
  count: number | null;
  group: string | null;
  /** Why no record here describes it. */
  missing: string | null;
  /** It stands further up as well, with what follows it. */
  repeated: boolean;
  /** More follows it, too deep for a list. */
  continues: boolean;
  /** Nodes to which it leads beyond the depth. */
  further: number;
}

/** Most lines of a list; longer ones are read by nobody. */
const MAX_LINES = 2_000;

/** What supports the record of a graph, or with `downstream` what it supports, as a list. */
export function evidenceLines(graph: EvidenceGraph, downstream: boolean): EvidenceLine[] {
  const lines: EvidenceLine[] = [];
  const side = downstream ? "use" : "support";
  for (const row of treeRows(graph, { downstream })) {
    const last = lines[MAX_LINES - 1];
    if (last) {
      last.continues = true;
      break;
    }
    lines.push(lineOf(row, graph.further?.get(row.id)?.[side] ?? 0));
  }
  return lines;
}

function lineOf(
  { id, depth, node, missing, branch, again, cut }: TreeRow,
  further: number,
): EvidenceLine {
  const { count = null, group = null } = node ?? missing ?? {};
  const { by = null, inverse = false, thirdParty = false, owners = [] } = branch ?? {};
  return {
    depth,
    id,
    name: node?.name ?? null,
    property: by,
    inverse,
    thirdParty,
    owners: owners.filter((owner) => owner !== null),
    count,
    group,
    missing: missing?.reason ?? null,
    repeated: again,
    continues: cut,
    further,
  };
}
