import { discover, type OneWay, type Support } from "./discover.js";
import { distances } from "./distances.js";
import type { Asking } from "./asking.js";
import type { Description } from "./descriptions.js";
import type { Edge } from "./edges.js";
import type { Seeds } from "./seeds.js";
import type { Direction } from "./types.js";

export interface Walk {
  /** Steps from the asked-for record, which itself is not among them; a crate's parts are at 0. */
  near: Map<string, number>;
  /** Among the nodes found. */
  supports: Support[];
  /** What states them, when it was read on the way. */
  edges?: Edge[];
  /** What records among them say of themselves, when it was read on the way. */
  described?: ReadonlyMap<string, Description>;
  /** Nodes one step beyond the depth. */
  beyond: number;
}

/** All nodes within the depth, in one direction or in both. */
export async function walk(ask: Asking, seeds: Seeds, direction: Direction, depth: number): Promise<Walk> {
  const starts = [...seeds.self, ...seeds.parts];
  const near = new Map<string, number>();
  const beyond = new Set<string>();
  const supports: Support[] = [];
  let edges: Edge[] | undefined = [];
  let described: Map<string, Description> | undefined = new Map();
  const ways: OneWay[] = direction === "both" ? ["upstream", "downstream"] : [direction];
  for (const way of ways) {
    const { supports: pairs, edges: stated, described: said } = await discover(ask, starts, way, depth);
    edges = stated && edges?.concat(stated);
    if (said && described) for (const [node, description] of said) described.set(node, description);
    else described = undefined;
    const found = distances(starts, pairs, way, depth);
    for (const [node, steps] of found.near) near.set(node, Math.min(steps, near.get(node) ?? steps));
    for (const node of found.beyond) beyond.add(node);
    for (const pair of pairs) supports.push(pair);
  }
  const inside = supports.filter(([a, b]) => near.has(a) && near.has(b));
  // Parts that neither rest on anything nor support anything are no evidence.
  const linked = new Set(inside.flat());
  for (const part of seeds.parts) if (!linked.has(part)) near.delete(part);
  for (const node of near.keys()) beyond.delete(node);
  const stated = edges && once(edges.filter(({ subject, object }) => near.has(subject) && near.has(object)));
  near.delete(seeds.root);
  return { near, supports: distinct(inside), beyond: beyond.size, ...(stated && { edges: stated }), ...(described && { described }) };
}

function once(edges: readonly Edge[]): Edge[] {
  const seen = new Map<string, Set<string>>();
  return edges.filter(({ subject, name, object }) => isNew(seen, `${name} ${subject}`, object));
}

/** One statement may be made by two records, and both ways of a walk may meet it. */
function distinct(supports: readonly Support[]): Support[] {
  const seen = new Map<string, Set<string>>();
  return supports.filter(([a, b]) => isNew(seen, a, b));
}

function isNew(seen: Map<string, Set<string>>, key: string, value: string): boolean {
  const known = seen.get(key);
  if (known?.has(value)) return false;
  if (known) known.add(value);
  else seen.set(key, new Set([value]));
  return true;
}
