import { discover, readEdges } from "./discover.js";
import type { Asking } from "./asking.js";
import { Net, type Edge, type OneWay } from "./net.js";
import type { Seeds } from "./seeds.js";
import { nearEnd, type Assertions } from "./assertions.js";
import type { Direction } from "./types.js";

export interface Walk {
  /** Steps from the asked-for record, which itself is not among them; a crate's parts are at 0. */
  near: Map<string, number>;
  /** Every edge among them and the asked-for record. */
  net: Net;
  /** What records among them say of themselves, and perhaps others too; asked for on the way where that was quicker. */
  texts?: Promise<string>;
  /** Nodes one step beyond the depth. */
  beyond: number;
  /** Edges of third parties that were left out, of nodes that were reached. */
  thirdParty: number;
}

export interface Going {
  direction: Direction;
  depth: number;
  /** With it edges of third parties are left out, and what only they lead to. */
  only?: Assertions;
  describe?: number;
}

/**
 * All nodes within the depth, in one direction or in both.
 * @param going describe: with no more edges than that the descriptions of all nodes will be wanted
 */
export async function walk(ask: Asking, seeds: Seeds, { direction, depth, only, describe = 0 }: Going): Promise<Walk> {
  const starts = [...seeds.self, ...seeds.parts];
  const net = new Net();
  let near: Map<string, number> | undefined;
  const beyond = new Set<string>();
  const dropped: Edge[] = [];
  const across = new Net();
  let texts: Promise<string> | undefined;
  const nearOf = nearEnd(direction, (node) => near?.get(node) ?? Infinity);
  const whole = async (way: OneWay): Promise<ReturnType<Net["distances"]>> => {
    ({ texts } = await discover(ask, net, starts, way, { depth, describe: direction === "both" ? 0 : describe }));
    return net.distances(starts, way, depth);
  };
  // Nodes that are nearest by the edges of third parties may be further away without them.
  const filtered = async (way: OneWay): Promise<ReturnType<Net["distances"]>> => {
    const own = new Net();
    ({ texts } = await discover(ask, own, starts, way, { depth, describe: direction === "both" ? 0 : describe }));
    for (const edge of await only!.dropThirdParties(own, nearEnd(way, () => 0))) dropped.push(edge);
    addTo(net, own);
    return own.distances(starts, way, depth);
  };
  const ways: OneWay[] = direction === "both" ? ["upstream", "downstream"] : [direction];
  for (const way of ways) {
    // What the other way added are supports as well: no step in this direction leads along them that was not found in it.
    const found = only ? await filtered(way) : await whole(way);
    if (near) for (const [node, steps] of found.near) near.set(node, Math.min(steps, near.get(node) ?? steps));
    else near = found.near;
    for (const node of found.beyond) beyond.add(node);
    // What rests on the record may rest on something upstream of it by a way of its own.
    if (way === "downstream" && direction === "both") await readEdges(ask, only ? across : net, [...found.near.keys()], "upstream");
  }
  const reached = near!;
  if (only && direction === "both") {
    across.keep((node) => reached.has(node));
    for (const edge of await only.dropThirdParties(across, nearOf)) dropped.push(edge);
    addTo(net, across);
  }
  net.keep((node) => reached.has(node));
  const thirdParty = dropped.length === 0 ? 0 : leftOut(net, dropped.filter((edge) => reached.has(nearOf(edge))));
  // Parts that neither rest on anything nor support anything are no evidence.
  if (seeds.parts.length > 0) {
    const linked = net.linked();
    for (const part of seeds.parts) if (!linked.has(part)) reached.delete(part);
  }
  if (beyond.size > 0) for (const node of reached.keys()) beyond.delete(node);
  reached.delete(seeds.root);
  return { near: reached, net, beyond: beyond.size, thirdParty, ...(texts && { texts }) };
}

function addTo(net: Net, other: Net): void {
  for (const { subject, name, object, graph } of other.edges()) net.add(subject, name, object, graph);
}

/** How many relations there are among these that nobody else states. */
function leftOut(net: Net, dropped: readonly Edge[]): number {
  const keyOf = ({ subject, name, object }: Edge): string => `${subject} ${name} ${object}`;
  const left = new Set(dropped.map(keyOf));
  for (const edge of net.edges()) left.delete(keyOf(edge));
  return left.size;
}
