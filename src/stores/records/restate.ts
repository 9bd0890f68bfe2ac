/** A link of a record as it is stored, at its position; `via` stands for predicate and kind of the source. */
export interface StatedLink { via: number; target: string; targetKey: string; /** Of the commit that first stated it. */ sequence: number }

/**
 * The links that a record states from now on, each with its age: one that was stated before keeps its, a new one is of
 * commit `sequence`. A link may be stated twice.
 *
 * @param touch told the target's key of every link that is new, and of every one that is no more
 */
export function restate(before: readonly StatedLink[], now: readonly Omit<StatedLink, "sequence">[], sequence: number, touch: (targetKey: string) => void): StatedLink[] {
  const ages = new Map<string, { targetKey: string; sequences: number[] }>();
  const sayingOf = ({ via, target, targetKey }: Omit<StatedLink, "sequence">): string => `${via} ${target} ${targetKey}`;
  for (const link of before) {
    const same = ages.get(sayingOf(link));
    if (same) same.sequences.push(link.sequence);
    else ages.set(sayingOf(link), { targetKey: link.targetKey, sequences: [link.sequence] });
  }
  const stated = now.map((link) => {
    const age = before.length === 0 ? undefined : ages.get(sayingOf(link))?.sequences.shift();
    const { via, target, targetKey } = link;
    if (age === undefined) touch(targetKey);
    return { via, target, targetKey, sequence: age ?? sequence };
  });
  for (const { targetKey, sequences } of ages.values()) if (sequences.length > 0) touch(targetKey);
  return stated;
}
