import { discover, readEdges } from "./discover.js";
import type { Asking } from "./asking.js";
import { Net, type OneWay } from "./net.js";
import type { Seeds } from "./seeds.js";
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
}

/**
 * All nodes within the depth, in one direction or in both.
 * @param describe with no more edges than that the descriptions of all nodes will be wanted
 */
export async function walk(ask: Asking, seeds: Seeds, direction: Direction, depth: number, describe = 0): Promise<Walk> {
  const starts = [...seeds.self, ...seeds.parts];
  const net = new Net();
  let near: Map<string, number> | undefined;
  const beyond = new Set<string>();
  let texts: Promise<string> | undefined;
  const ways: OneWay[] = direction === "both" ? ["upstream", "downstream"] : [direction];
  for (const way of ways) {
    ({ texts } = await discover(ask, net, starts, way, { depth, describe: direction === "both" ? 0 : describe }));
    // What the other way added are supports as well: no step in this direction leads along them that was not found in it.
    const found = net.distances(starts, way, depth);
    if (near) for (const [node, steps] of found.near) near.set(node, Math.min(steps, near.get(node) ?? steps));
    else near = found.near;
    for (const node of found.beyond) beyond.add(node);
    // What rests on the record may rest on something upstream of it by a way of its own.
    if (way === "downstream" && direction === "both") await readEdges(ask, net, [...found.near.keys()], "upstream");
  }
  const reached = near!;
  net.keep((node) => reached.has(node));
  // Parts that neither rest on anything nor support anything are no evidence.
  if (seeds.parts.length > 0) {
    const linked = net.linked();
    for (const part of seeds.parts) if (!linked.has(part)) reached.delete(part);
  }
  if (beyond.size > 0) for (const node of reached.keys()) beyond.delete(node);
  reached.delete(seeds.root);
  return { near: reached, net, beyond: beyond.size, ...(texts && { texts }) };
}
