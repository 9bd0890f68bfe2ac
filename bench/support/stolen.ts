import { readFileSync } from "node:fs";

/**
 * Ticks of all cores since the machine started (Linux, proc_stat(5)): those that its host gave to
 * others, and all.
 */
export interface Ticks {
  stolen: number;
  all: number;
}

/** `undefined` where the system does not report it. */
export function ticks(file = "/proc/stat"): Ticks | undefined {
  let line: string;
  try {
    line = readFileSync(file, "utf8").split("\n", 1)[0]!;
  } catch {
    return undefined;
  }
  // user nice system idle iowait irq softirq steal; guests, which follow, are counted as user
  // already.
  const [label, ...counts] = line.trim().split(/\s+/);
  const known = counts.slice(0, 8).map(Number);
  if (label !== "cpu" || known.length < 8 || known.some((count) => !Number.isFinite(count)))
    return undefined;
  return { stolen: known[7]!, all: known.reduce((sum, count) => sum + count, 0) };
}

/**
 * Share of the machine's time that its host gave to others between the two; `undefined` where it is
 * not known.
 */
export function stolenShare(
  before: Ticks | undefined,
  after: Ticks | undefined,
): number | undefined {
  if (!before || !after || after.all <= before.all) return undefined;
  return (after.stolen - before.stolen) / (after.all - before.all);
}
