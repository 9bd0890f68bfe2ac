import type { FilledStores } from "./support/filled-stores.js";
import type { LoadGenerator } from "./support/load.js";
import type { Sizes } from "./sizes.js";

/** What a ratio should be: figure ÷ yardstick. */
export type Wanted =
  { atLeast: number } | { atMost: number } | { within: number } | { below: number };

/** One line of the report. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What the figure stands beside, measured in turn with it. */
  yardstick?: { name: string; value: number };
  /** Of the ratio; `below` is of the value itself. */
  wanted?: Wanted;
  /** What the line alone does not say. */
  note?: string;
}

/**
 * What a bench is given: sizes, stores full of records, load, and a way to say what it is doing.
 */
export interface Surroundings {
  sizes: Sizes;
  stores: FilledStores;
  load: LoadGenerator;
  /** Makes a temporary folder that is removed at the end of the run. */
  folder(): Promise<string>;
  say(line: string): void;
}

/**
 * Measures something against its yardstick.
 * @throws whatever breaks it; a missed ratio is no error
 */
export type Bench = (surroundings: Surroundings) => Promise<Figure[]>;

/** Figure ÷ yardstick. */
export const ratioOf = ({ value, yardstick }: Figure): number | undefined =>
  yardstick ? value / yardstick.value : undefined;

/** Whether a figure is what was wanted; `undefined` when nothing was. */
export function isMet(figure: Figure): boolean | undefined {
  const { wanted, value } = figure;
  if (!wanted) return undefined;
  if ("below" in wanted) return value < wanted.below;
  const ratio = ratioOf(figure)!;
  if ("atLeast" in wanted) return ratio >= wanted.atLeast;
  if ("atMost" in wanted) return ratio <= wanted.atMost;
  return Math.abs(ratio - 1) <= wanted.within;
}
