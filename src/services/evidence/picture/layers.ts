/** A directed graph of numbered boxes: `edges` as pairs of numbers, without loops. */
export interface Boxes {
  readonly count: number;
  readonly edges: readonly (readonly [from: number, to: number])[];
}

/** The layer of each box, and which edges run against the layers because they close a cycle. */
export interface Layering {
  readonly layerOf: readonly number[];
  readonly layers: number;
  readonly backward: readonly boolean[];
}

/**
 * Layers from left to right: every edge leads to a later layer, except those that close a cycle.
 * What leads to the root is as near to it as its use allows, what follows from the root as well.
 */
export function layersOf({ count, edges }: Boxes, root: number): Layering {
  const { backward, order } = withoutCycles(count, edges);
  const after = Array.from({ length: count }, (): number[] => []);
  const before = Array.from({ length: count }, (): number[] => []);
  for (const [index, [from, to]] of edges.entries()) {
    const [tail, head] = backward[index]! ? [to, from] : [from, to];
    after[tail]!.push(head);
    before[head]!.push(tail);
  }
  const layerOf: (number | undefined)[] = Array.from({ length: count });
  layerOf[root] = 0;
  const known = (boxes: readonly number[]): number[] => boxes.flatMap((box) => layerOf[box] ?? []);
  const asLate = (box: number): void => {
    const found = known(after[box]!);
    if (layerOf[box] === undefined && found.length > 0) layerOf[box] = least(found) - 1;
  };
  // Support of the root, then what has support that is placed, then inputs of that alone.
  for (const box of order.toReversed()) asLate(box);
  for (const box of order) {
    const found = known(before[box]!);
    if (layerOf[box] === undefined && found.length > 0) layerOf[box] = -least(found.map(minus)) + 1;
  }
  for (const box of order.toReversed()) {
    asLate(box);
    layerOf[box] ??= 0;
  }
  const placed = layerOf as number[];
  const first = least(placed);
  return {
    layerOf: placed.map((layer) => layer - first),
    layers: placed.reduce((most, layer) => Math.max(most, layer - first), 0) + 1,
    backward,
  };
}

const minus = (value: number): number => -value;
const least = (values: readonly number[]): number =>
  values.reduce((smallest, value) => Math.min(smallest, value), Infinity);

/** Marks the edges that close a cycle; `order`: each box after all that lead to it otherwise. */
function withoutCycles(
  count: number,
  edges: Boxes["edges"],
): { backward: boolean[]; order: number[] } {
  const leaving = Array.from({ length: count }, (): number[] => []);
  for (const [index, [from]] of edges.entries()) leaving[from]!.push(index);
  const backward = edges.map(() => false);
  const state = new Uint8Array(count);
  const finished: number[] = [];
  // An explicit stack: chains are longer than the call stack.
  for (let start = 0; start < count; start++) {
    if (state[start] !== 0) continue;
    const stack = [{ box: start, next: 0 }];
    state[start] = 1;
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const index = leaving[top.box]![top.next++];
      if (index === undefined) {
        state[top.box] = 2;
        finished.push(top.box);
        stack.pop();
        continue;
      }
      const [, to] = edges[index]!;
      if (state[to] === 1) backward[index] = true;
      if (state[to] !== 0) continue;
      state[to] = 1;
      stack.push({ box: to, next: 0 });
    }
  }
  return { backward, order: finished.toReversed() };
}
