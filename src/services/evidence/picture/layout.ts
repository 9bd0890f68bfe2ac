/**
 * Where the nodes of a picture stand: layers first, then places without crossings as far as may
 * be.
 */

/** A directed graph of numbered boxes: `edges` as pairs of numbers, without loops. */
interface Boxes {
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
function layersOf({ count, edges }: Boxes, root: number): Layering {
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

/** What to place: boxes with their sizes, and edges between them. */
export interface Drawing extends Boxes {
  readonly root: number;
  readonly width: number;
  readonly heightOf: (box: number) => number;
  /** Edges from one box with one key share their way past other boxes. */
  readonly keyOf: (edge: number) => string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Centre of each box. */
  readonly places: readonly Point[];
  /** Where each edge runs: the points between its ends, from left to right in pairs. */
  readonly ways: readonly (readonly Point[])[];
  /** Edges that run from right to left. */
  readonly backward: readonly boolean[];
}

/** Between layers, between neighbours in a layer, and around the whole. */
const BETWEEN_LAYERS = 64;
const BETWEEN_BOXES = 14;
export const MARGIN = 16;
/** Height that an edge takes where it passes a layer. */
const LANE = 6;
/**
 * Places where edges pass layers, in one drawing. The longest edges beyond them run straight,
 * behind the boxes.
 */
const MAX_LANES = 4_000;
const SWEEPS = 8;

/**
 * A slot of a layer: a box, or the lane of edges that pass the layer.
 */
interface Slot {
  layer: number;
  height: number;
  before: Slot[];
  after: Slot[];
  /** Position in its layer. */
  place: number;
  y: number;
}

const slotIn = (layer: number, height: number): Slot => ({
  layer,
  height,
  before: [],
  after: [],
  place: 0,
  y: 0,
});

/**
 * Places boxes in layers from left to right (the method of Sugiyama, Tagawa and Toda): layers, the
 * order within each by the mean position of neighbours, and heights as near to those of neighbours
 * as the order allows. Takes time in proportion to boxes and edges, and is the same for the same
 * drawing.
 */
export function layoutOf(drawing: Drawing): Layout {
  const { count, edges, root, width } = drawing;
  const { layerOf, layers, backward } = layersOf(drawing, root);
  const boxes = layerOf.map((layer, box) => slotIn(layer, drawing.heightOf(box)));
  const columns = Array.from({ length: layers }, (): Slot[] => []);
  for (const slot of boxes) columns[slot.layer]!.push(slot);
  const ways = lanesOf(drawing, boxes, columns, backward);
  arrange(columns);
  const top = align(columns);
  const middle = (layer: number): number => MARGIN + width / 2 + layer * (width + BETWEEN_LAYERS);
  const bottom = columns
    .flat()
    .reduce((most, { y, height }) => Math.max(most, y - top + height / 2), 0);
  const at = ({ layer, y }: Slot, aside = 0): Point => ({
    x: Math.round(middle(layer) + aside),
    y: Math.round(y - top) + MARGIN,
  });
  return {
    width: Math.round(middle(layers - 1) + width / 2 + MARGIN),
    height: Math.round(bottom) + 2 * MARGIN,
    places: Array.from({ length: count }, (_, box) => at(boxes[box]!)),
    ways: edges.map((_, index) =>
      ways[index]!.flatMap((slot) => [at(slot, -width / 2), at(slot, width / 2)]),
    ),
    backward,
  };
}

/** Links the slots, with a lane in each layer that an edge passes; the lanes of each edge. */
function lanesOf(
  { edges, keyOf }: Drawing,
  boxes: readonly Slot[],
  columns: Slot[][],
  backward: readonly boolean[],
): Slot[][] {
  const ways = edges.map((): Slot[] => []);
  const shared = new Map<string, Slot[]>();
  const ends = edges.map(([from, to], index) => (backward[index]! ? [to, from] : [from, to]));
  const span = (index: number): number =>
    boxes[ends[index]![1]!]!.layer - boxes[ends[index]![0]!]!.layer;
  const link = (left: Slot, right: Slot): void => {
    left.after.push(right);
    right.before.push(left);
  };
  let lanes = 0;
  const shortestFirst = edges.map((_, index) => index).toSorted((a, b) => span(a) - span(b));
  for (const index of shortestFirst) {
    const [tail, head] = [ends[index]![0]!, ends[index]![1]!];
    const key = `${tail} ${backward[index]!} ${keyOf(index)}`;
    const chain = shared.get(key) ?? shared.set(key, []).get(key)!;
    const needed = span(index) - 1;
    if (lanes + Math.max(0, needed - chain.length) <= MAX_LANES) {
      for (; chain.length < needed; lanes++) {
        const lane = slotIn(boxes[tail]!.layer + chain.length + 1, LANE);
        link(chain.at(-1) ?? boxes[tail]!, lane);
        columns[lane.layer]!.push(lane);
        chain.push(lane);
      }
      ways[index] = chain.slice(0, needed);
    }
    link(ways[index]!.at(-1) ?? boxes[tail]!, boxes[head]!);
  }
  return ways;
}

/** Orders each layer by the mean position of neighbours; keeps the order with fewest crossings. */
function arrange(columns: Slot[][]): void {
  const number = (column: Slot[]): void => {
    for (const [place, slot] of column.entries()) slot.place = place;
  };
  for (const column of columns) number(column);
  let best = columns.map((column) => [...column]);
  let fewest = crossings(columns);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : columns.toReversed()) {
      const wanted = new Map(
        column.map((slot) => [
          slot,
          mean(
            (forward ? slot.before : slot.after).map(
              ({ place, layer }) => (place + 0.5) / columns[layer]!.length,
            ),
          ) ?? (slot.place + 0.5) / column.length,
        ]),
      );
      column.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a.place - b.place);
      number(column);
    }
    const crossed = crossings(columns);
    if (crossed >= fewest) continue;
    fewest = crossed;
    best = columns.map((column) => [...column]);
  }
  for (const [layer, column] of best.entries()) {
    number(column);
    columns[layer] = column;
  }
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, each) => sum + each, 0) / values.length;

/** Crossings between neighbouring layers, counted with a tree of sums (Barth, Jünger, Mutzel). */
function crossings(columns: readonly Slot[][]): number {
  let crossed = 0;
  for (const [layer, column] of columns.slice(1).entries()) {
    const sums = new Int32Array(column.length + 1);
    let seen = 0;
    for (const slot of columns[layer]!) {
      const targets = slot.after.filter((other) => other.layer === layer + 1);
      for (const { place } of targets) {
        crossed += seen;
        for (let at = place + 1; at > 0; at -= at & -at) crossed -= sums[at]!;
      }
      for (const { place } of targets)
        for (let at = place + 1; at < sums.length; at += at & -at) sums[at]!++;
      seen += targets.length;
    }
  }
  return crossed;
}

/** Sets the heights of all slots; returns the upper edge of the uppermost. */
function align(columns: readonly Slot[][]): number {
  for (const column of columns) settle(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : columns.toReversed())
      settle(
        column,
        (slot) =>
          mean((forward ? slot.before : slot.after).map(({ y }) => y)) ??
          mean((forward ? slot.after : slot.before).map(({ y }) => y)) ??
          slot.y,
      );
  }
  return columns.flat().reduce((least, { y, height }) => Math.min(least, y - height / 2), Infinity);
}

/**
 * Heights of one layer in their order, without overlap and with the least squared distance from
 * those that are wanted (pool adjacent violators).
 */
function settle(column: readonly Slot[], wanted: (slot: Slot) => number): void {
  let offset = 0;
  const pools: { sum: number; slots: number }[] = [];
  const offsets = column.map((slot, index) => {
    const above = column[index - 1];
    if (above) offset += (above.height + slot.height) / 2 + BETWEEN_BOXES;
    return offset;
  });
  for (const [index, slot] of column.entries()) {
    let pool = { sum: wanted(slot) - offsets[index]!, slots: 1 };
    for (
      let last = pools.at(-1);
      last && last.sum / last.slots >= pool.sum / pool.slots;
      last = pools.at(-1)
    ) {
      pool = { sum: pool.sum + last.sum, slots: pool.slots + last.slots };
      pools.pop();
    }
    pools.push(pool);
  }
  let index = 0;
  for (const { sum, slots } of pools)
    for (let each = 0; each < slots; each++, index++)
      column[index]!.y = sum / slots + offsets[index]!;
}
