/** Inverse document frequency as BM25 has it; above 0 also for a word that every record holds. */
export const rarity = (holding: number, records: number): number => Math.log(1 + (Math.max(0, records - holding) + 0.5) / (holding + 0.5));

/** What words count beside nearness that nobody asked for, but that are spelt like those asked for. */
const GUESSED = 0.5;

/**
 * How much of a question words can answer, from 0 to 1: the share that those words have which some record holds, each by how
 * rare it is. Beside nearness the words count as much: where only the "of" of a question is found, that says next to nothing.
 *
 * @param holding for each word in how many records it stands
 * @param records all there are
 */
export function coverage(holding: readonly number[], records: number): number {
  let [known, all] = [0, 0];
  for (const count of holding) {
    const weight = rarity(count, records);
    all += weight;
    if (count > 0) known += weight;
  }
  return known === 0 ? GUESSED : known / all;
}
