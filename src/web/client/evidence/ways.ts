// The ways between a node and the record that the picture is about light up.
import { arrows, drawing, idOf, nodeBy, nodes, rootNode } from "./drawing.js";

/** What can be reached from a node by these steps. */
function reached(start: string, steps: ReadonlyMap<string, string[]>): Set<string> {
  const all = new Set([start]);
  // A set grows while it is walked.
  for (const node of all) for (const next of steps.get(node) ?? []) all.add(next);
  return all;
}

/** Every node on a way from one to the other, along the arrows; empty without one. */
function between(from: string, to: string): Set<string> {
  const [forward, backward] = [new Map<string, string[]>(), new Map<string, string[]>()];
  const add = (steps: Map<string, string[]>, start: string, end: string): void => {
    const known = steps.get(start);
    if (known) known.push(end);
    else steps.set(start, [end]);
  };
  for (const arrow of arrows()) {
    add(forward, arrow.from, arrow.to);
    add(backward, arrow.to, arrow.from);
  }
  const after = reached(from, forward);
  if (!after.has(to)) return new Set();
  const before = reached(to, backward);
  return new Set([...after].filter((node) => before.has(node)));
}

/** Lights the ways between a node and the record, of the record itself nothing; undefined: none. */
export function lightWays(id: string | undefined): void {
  const root = rootNode();
  const isNode = id !== undefined && root !== null && nodeBy(id) !== null;
  let way = new Set<string>();
  if (isNode && id !== idOf(root)) {
    way = between(id, idOf(root));
    if (way.size === 0) way = between(idOf(root), id);
  }
  drawing()?.classList.toggle("lighting", way.size > 0);
  for (const node of nodes()) {
    node.classList.toggle("ev-lit", way.has(idOf(node)));
    node.classList.toggle("ev-chosen", isNode && idOf(node) === id);
  }
  for (const { from, to, path } of arrows())
    path.classList.toggle("ev-lit", way.has(from) && way.has(to));
}
