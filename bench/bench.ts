import type { FilledStores } from "./support/filled-stores.js";
import type { LoadGenerator } from "./support/load.js";
import type { Sizes } from "./sizes.js";

/** The wanted value of a ratio: figure ÷ baseline. */
export type Wanted = { atLeast: number } | { atMost: number } | { below: number };

/** One line of the report. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The baseline of the figure, measured in alternating runs with it. */
  baseline?: { name: string; value: number };
  /** Of the ratio; `below` is of the value itself. */
  wanted?: Wanted;
  /** Facts that the line alone does not show. */
  note?: string;
}

/**
 * The environment of a bench: sizes, stores full of records, load, and a way to report progress.
 */
export interface Surroundings {
  sizes: Sizes;
  stores: FilledStores;
  load: LoadGenerator;
  /** Folder of public crates, which are not part of the project; it may be missing. */
  crates: string;
  /** Makes a temporary folder that is removed at the end of the run. */
  folder(): Promise<string>;
  say(line: string): void;
}

/**
 * Measures a figure against its baseline.
 * @throws any error of the measurement; a missed ratio is no error
 */
export type Bench = (surroundings: Surroundings) => Promise<Figure[]>;

/** Figure ÷ baseline. */
export const ratioOf = ({ value, baseline }: Figure): number | undefined =>
  baseline ? value / baseline.value : undefined;

/** Whether a figure has the wanted value; `undefined` when none is set. */
export function isMet(figure: Figure): boolean | undefined {
  const { wanted, value } = figure;
  if (!wanted) return undefined;
  if ("below" in wanted) return value < wanted.below;
  const ratio = ratioOf(figure)!;
  if ("atLeast" in wanted) return ratio >= wanted.atLeast;
  return ratio <= wanted.atMost;
}
