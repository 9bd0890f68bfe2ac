/** Middle value; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Value that a share of all does not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

/** How long it took, in ms. */
export async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * Measures every side once a round (A B C A B C …), so that other load on the machine affects all
 * of them alike, and returns each side's median.
 */
export async function alternating<Name extends string>(
  rounds: number,
  sides: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(sides) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    Name,
    number[]
  >;
  for (let round = 0; round < rounds; round++)
    for (const name of names) values[name].push(await sides[name]());
  return Object.fromEntries(names.map((name) => [name, median(values[name])])) as Record<
    Name,
    number
  >;
}

/**
 * Measures two sides one right after the other, so often, and returns the pair with the median
 * ratio. For machines whose speed changes from second to second: medians of the sides may come from
 * different times, a pair is from one.
 */
export async function inPairs(
  rounds: number,
  figure: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<{ figure: number; baseline: number; ratios: number[] }> {
  const pairs: { figure: number; baseline: number }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ figure: await figure(), baseline: await baseline() });
  const sorted = pairs.toSorted((a, b) => a.figure / a.baseline - b.figure / b.baseline);
  return {
    ...sorted[(sorted.length - 1) >> 1]!,
    ratios: sorted.map((pair) => pair.figure / pair.baseline),
  };
}
