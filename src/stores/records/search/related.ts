/** The best records whose words are looked at. */
export const RECORDS_LOOKED_AT = 10;
/** Words taken from them. */
const WORDS = 8;
/** A word tells what records are about when it stands in at least so many of the best, and in at most this share of all. */
const LEAST_RECORDS = 2;
const LARGEST_SHARE = 0.1;

/**
 * Words that mark what the best records of a query are about (pseudo-relevance feedback): those that stand in
 * several of them and in few others, weighed by how rare they are.
 *
 * @param found stems, a word of each, and in how many of the best it stands
 * @param holding in how many records a stem stands
 * @param all records there are
 */
export function pickRelated(found: readonly { word: string; stem: string; best: number }[], holding: (stem: string) => number, all: number): string[] {
  return found.flatMap(({ word, stem, best }) => {
    if (best < LEAST_RECORDS || stem.length < 3 || /^\d+$/.test(stem)) return [];
    const records = holding(stem);
    if (records > Math.max(RECORDS_LOOKED_AT, all * LARGEST_SHARE)) return [];
    return [{ word, weight: best * Math.log((all + 1) / (records + 0.5)) }];
  }).toSorted((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1)).slice(0, WORDS).map(({ word }) => word);
}
