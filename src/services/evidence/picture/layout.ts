/**
 * Where the boxes of a picture stand: layers first, then places without crossings as far as may
 * be.
 */
import { getOrInsert } from "../../../get-or-insert.js";
import { HUB_ARROWS } from "./picture.js";

/** Between layers, between neighbours in a layer, and around the whole. */
const BETWEEN_LAYERS = 64;
const BETWEEN_CROWDED = 120;
const BETWEEN_BOXES = 14;
export const MARGIN = 16;
/** Height that an arrow takes where it passes a layer. */
const LANE = 6;
/**
 * Places where arrows pass layers, in one drawing. The longest arrows beyond them run straight,
 * behind the boxes.
 */
const MAX_LANES = 4_000;
const SWEEPS = 8;
/** A drawing with more arrows is drawn so that each can still be followed. */
export const CROWD = 100;

/** A slot of a layer: a box, or the lane of arrows that pass the layer. */
class Slot {
  layer = 0;
  /** Position in its layer, and the same as a part of the layer's length. */
  place = 0;
  share = 0;
  /** The part of the layer's length at which its neighbours are. */
  wanted = 0;
  /** Its centre. */
  x = 0;
  y = 0;
  readonly before: Slot[] = [];
  readonly after: Slot[] = [];

  constructor(readonly height: number) {}
}

/** A box to place. */
export class Box extends Slot {
  readonly leaving: Arrow[] = [];
  readonly entering: Arrow[] = [];
  /** The lanes of the arrows that begin here, for those that share their way. */
  readonly lanes = new Map<string, Slot[]>();
}

/** An arrow between two boxes. Arrows from one box with one key share their way past others. */
export class Arrow {
  /** Runs from right to left, because it closes a cycle. */
  backward = false;
  /** What it passes between its ends, from left to right. */
  way: readonly Slot[] = [];

  constructor(
    readonly from: Box,
    readonly to: Box,
    readonly key: string,
  ) {
    from.leaving.push(this);
    to.entering.push(this);
  }

  /** Its ends from left to right. */
  get ends(): [tail: Box, head: Box] {
    return this.backward ? [this.to, this.from] : [this.from, this.to];
  }

  /** The number of layers that it leads on. */
  get span(): number {
    const [tail, head] = this.ends;
    return head.layer - tail.layer;
  }
}

/**
 * Sets the layers from left to right: every arrow leads to a later layer, except those that close a
 * cycle. What leads to the root is as near to it as its use allows, what follows from the root as
 * well.
 */
function setLayers(boxes: readonly Box[], root: Box): void {
  const order = withoutCycles(boxes);
  const layers = new Map([[root, 0]]);
  const known = (found: readonly Box[]): number[] => found.flatMap((box) => layers.get(box) ?? []);
  const asLate = (box: Box): void => {
    const after = known(box.leaving.concat(box.entering).flatMap((arrow) => headFrom(box, arrow)));
    if (!layers.has(box) && after.length > 0) layers.set(box, least(after) - 1);
  };
  // Support of the root, then what has support that is placed, then inputs of that alone.
  for (const box of order.toReversed()) asLate(box);
  for (const box of order) {
    const before = known(box.leaving.concat(box.entering).flatMap((arrow) => tailTo(box, arrow)));
    if (!layers.has(box) && before.length > 0) layers.set(box, -least(before.map(minus)) + 1);
  }
  for (const box of order.toReversed()) {
    asLate(box);
    if (!layers.has(box)) layers.set(box, 0);
  }
  const first = least([...layers.values()]);
  for (const [box, layer] of layers) box.layer = layer - first;
}

/** The box to which an arrow leads from a box, or from which one leads to it. */
const headFrom = (box: Box, { ends: [tail, head] }: Arrow): Box[] => (tail === box ? [head] : []);
const tailTo = (box: Box, { ends: [tail, head] }: Arrow): Box[] => (head === box ? [tail] : []);
const minus = (value: number): number => -value;
const least = (values: readonly number[]): number =>
  values.reduce((smallest, value) => Math.min(smallest, value), Infinity);

/** Marks the arrows that close a cycle. @returns each box after all that lead to it otherwise */
function withoutCycles(boxes: readonly Box[]): Box[] {
  const open = new Set<Box>();
  const finished = new Set<Box>();
  // An explicit stack: chains are longer than the call stack.
  for (const start of boxes) {
    if (finished.has(start)) continue;
    const stack = [{ box: start, arrows: start.leaving.values() }];
    open.add(start);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const { value: arrow } = top.arrows.next();
      if (arrow === undefined) {
        open.delete(top.box);
        finished.add(top.box);
        stack.pop();
      } else if (open.has(arrow.to)) {
        arrow.backward = true;
      } else if (!finished.has(arrow.to)) {
        open.add(arrow.to);
        stack.push({ box: arrow.to, arrows: arrow.to.leaving.values() });
      }
    }
  }
  return [...finished].toReversed();
}

/** What to place: the boxes, each of this width, and the arrows between them. */
export interface Drawing {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  readonly root: Box;
  readonly width: number;
}

/**
 * Places boxes in layers from left to right (the method of Sugiyama, Tagawa and Toda): layers, the
 * order within each by the mean position of neighbours, and heights as near to those of neighbours
 * as the order allows. Takes time in proportion to boxes and arrows, and is the same for the same
 * drawing.
 * @returns the size of the whole
 */
export function placeBoxes({ boxes, arrows, root, width }: Drawing): {
  width: number;
  height: number;
} {
  setLayers(boxes, root);
  const slots = [...boxes, ...addLanes(arrows)];
  const columns = arranged(columnsOf(slots));
  const crowded = arrows.length > CROWD;
  align(columns, crowded);
  const top = slots.reduce((most, { y, height }) => Math.min(most, y - height / 2), Infinity);
  const bottom = slots.reduce((most, { y, height }) => Math.max(most, y - top + height / 2), 0);
  const step = width + (crowded ? BETWEEN_CROWDED : BETWEEN_LAYERS);
  const middle = (layer: number): number => MARGIN + width / 2 + layer * step;
  for (const slot of slots) {
    slot.x = Math.round(middle(slot.layer));
    slot.y = Math.round(slot.y - top) + MARGIN;
  }
  return {
    width: Math.round(middle(columns.length - 1) + width / 2 + MARGIN),
    height: Math.round(bottom) + 2 * MARGIN,
  };
}

/** Links the slots, with a lane in each layer that an arrow passes. @returns the lanes */
function addLanes(arrows: readonly Arrow[]): Slot[] {
  const lanes: Slot[] = [];
  const link = (left: Slot, right: Slot): void => {
    left.after.push(right);
    right.before.push(left);
  };
  for (const arrow of arrows.toSorted((a, b) => a.span - b.span)) {
    const [tail, head] = arrow.ends;
    const chain = getOrInsert(tail.lanes, `${arrow.backward} ${arrow.key}`, (): Slot[] => []);
    const needed = arrow.span - 1;
    if (lanes.length + Math.max(0, needed - chain.length) <= MAX_LANES) {
      while (chain.length < needed) {
        const lane = new Slot(LANE);
        lane.layer = tail.layer + chain.length + 1;
        link(chain.at(-1) ?? tail, lane);
        lanes.push(lane);
        chain.push(lane);
      }
      arrow.way = chain.slice(0, needed);
    }
    link(arrow.way.at(-1) ?? tail, head);
  }
  return lanes;
}

/** The slots of each layer. */
function columnsOf(slots: readonly Slot[]): Slot[][] {
  const columns = new Map<number, Slot[]>();
  for (const slot of slots) getOrInsert(columns, slot.layer, (): Slot[] => []).push(slot);
  return [...columns].toSorted(([a], [b]) => a - b).map(([, column]) => column);
}

/** Orders each layer by the mean position of neighbours. @returns the order with fewest crossings */
function arranged(columns: Slot[][]): Slot[][] {
  for (const column of columns) number(column);
  let best = columns.map((column) => [...column]);
  let fewest = crossings(columns);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : columns.toReversed()) {
      for (const slot of column) {
        const neighbours = forward ? slot.before : slot.after;
        slot.wanted = mean(neighbours.map(({ share }) => share)) ?? slot.share;
      }
      column.sort((a, b) => a.wanted - b.wanted || a.place - b.place);
      number(column);
    }
    const crossed = crossings(columns);
    if (crossed >= fewest) continue;
    fewest = crossed;
    best = columns.map((column) => [...column]);
  }
  return best;
}

function number(column: readonly Slot[]): void {
  for (const [place, slot] of column.entries()) {
    slot.place = place;
    slot.share = (place + 0.5) / column.length;
  }
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, each) => sum + each, 0) / values.length;

/** Crossings between neighbouring layers, counted with a tree of sums (Barth, Jünger, Mutzel). */
function crossings(columns: readonly Slot[][]): number {
  let crossed = 0;
  let before: readonly Slot[] = [];
  for (const column of columns) {
    const sums = new Int32Array(column.length + 1);
    let seen = 0;
    for (const slot of before) {
      const targets = slot.after.filter((other) => other.layer === slot.layer + 1);
      for (const { place } of targets) {
        crossed += seen;
        for (let at = place + 1; at > 0; at -= at & -at) crossed -= sums[at]!;
      }
      for (const { place } of targets)
        for (let at = place + 1; at < sums.length; at += at & -at) sums[at]!++;
      seen += targets.length;
    }
    before = column;
  }
  return crossed;
}

/** Sets the heights of all slots. */
function align(columns: readonly Slot[][], crowded: boolean): void {
  for (const column of columns) settle(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    const among = (slot: Slot): number => {
      const sides = forward ? [slot.before, slot.after] : [slot.after, slot.before];
      // Hubs would pull all their neighbours to the middle, off what each of them belongs to.
      const own = crowded ? sides.map((side) => side.filter((other) => !isHub(other))) : [];
      const near = own.concat(sides).find((side) => side.length > 0) ?? [slot];
      return mean(near.map(({ y }) => y))!;
    };
    for (const column of forward ? columns : columns.toReversed()) settle(column, among);
  }
}

const isHub = ({ before, after }: Slot): boolean =>
  before.length >= HUB_ARROWS || after.length >= HUB_ARROWS;

/**
 * Heights of one layer in their order, without overlap and with the least squared distance from
 * those that are wanted (pool adjacent violators).
 */
function settle(column: readonly Slot[], wanted: (slot: Slot) => number): void {
  const offsets: { slot: Slot; offset: number }[] = [];
  const pools: { sum: number; slots: number }[] = [];
  for (const slot of column) {
    const above = offsets.at(-1);
    const offset = above ? above.offset + (above.slot.height + slot.height) / 2 + BETWEEN_BOXES : 0;
    offsets.push({ slot, offset });
    let pool = { sum: wanted(slot) - offset, slots: 1 };
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
  for (const { sum, slots } of pools) {
    for (const { slot, offset } of offsets.slice(index, index + slots))
      slot.y = sum / slots + offset;
    index += slots;
  }
}
