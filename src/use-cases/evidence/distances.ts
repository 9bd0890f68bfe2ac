import type { OneWay, Support } from "./discover.js";

/** Steps of each node from the nearest seed, at most `depth`; `beyond`: nodes one step further. */
export function distances(seeds: readonly string[], supports: readonly Support[], way: OneWay, depth: number): { near: Map<string, number>; beyond: Set<string> } {
  const next = new Map<string, string[]>();
  for (const [supported, supporting] of supports) {
    const [from, to] = way === "upstream" ? [supported, supporting] : [supporting, supported];
    const list = next.get(from);
    if (list) list.push(to);
    else next.set(from, [to]);
  }
  const near = new Map(seeds.map((seed) => [seed, 0]));
  const beyond = new Set<string>();
  const queue = [...near.keys()];
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head]!;
    const step = near.get(node)! + 1;
    for (const target of next.get(node) ?? []) {
      if (near.has(target)) continue;
      if (step > depth) {
        beyond.add(target);
      } else {
        near.set(target, step);
        queue.push(target);
      }
    }
  }
  return { near, beyond };
}

/** Nearest first, then by identifier: an order that a later page finds again. */
export function inOrder(near: ReadonlyMap<string, number>): string[] {
  return [...near.keys()].toSorted((a, b) => near.get(a)! - near.get(b)! || (a < b ? -1 : 1));
}
