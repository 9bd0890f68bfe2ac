import type { FragmentPart, ScorePart, SearchFacet, SearchPage } from "../port.js";
import type { RecordFilter, StatisticsKey } from "../selection-port.js";

/** What a search without words finds. */
export const NOTHING: SearchPage = { total: 0, ranked: 0, hits: [] };

/**
 * Most records that one search ranks: SQLite and PostgreSQL rank 5,000 to 10,000 records in 50 ms.
 * Where words find more, the others follow, the newest first.
 */
export const RANKED = 5000;
/** Score of a record that was found and not ranked. */
export const UNRANKED = 1e-9;

/** Most records that facets count: of more, the newest. SQLite counts 20,000 by a value in 15 ms. */
export const FACETED = 50_000;

/** The values of most records, equal ones in their order. */
export function facetOf(
  by: StatisticsKey,
  counts: readonly (readonly [value: string | null, records: number])[],
  limit: number,
  found: number,
): SearchFacet {
  const values = counts.flatMap(([value, records]) => (value === null ? [] : [{ value, records }]));
  values.sort((a, b) => b.records - a.records || (a.value < b.value ? -1 : 1));
  return {
    by,
    values: values.slice(0, limit),
    more: values.length > limit,
    exact: found <= FACETED,
  };
}

/** The kind that a filter is about, where it says nothing else. */
export const soleKind = ({ kinds, ...more }: RecordFilter): string | undefined =>
  kinds?.length === 1 && Object.keys(more).length === 0 ? kinds[0] : undefined;

/** Terms of which a score is explained: each costs a walk over its records. */
export const EXPLAINED = 16;

/**
 * Parts that add up to a score.
 * @param nearness what the vector adds to it
 * @param raw what each term adds to a rank, in any measure
 */
export function partsOfScore(
  score: number,
  nearness: number,
  raw: readonly ScorePart[],
): ScorePart[] {
  if (score <= UNRANKED) return [];
  const sum = raw.reduce((total, part) => total + part.score, 0);
  const parts = raw.flatMap((part) =>
    part.score > 0 ? [{ ...part, score: (part.score / sum) * Math.max(0, score - nearness) }] : [],
  );
  if (nearness > 0) parts.push({ reason: "nearness", text: null, score: nearness });
  return parts.toSorted((a, b) => b.score - a.score);
}

/** Inverse document frequency as BM25 has it; above 0 also for a word that every record holds. */
export const rarity = (holding: number, records: number): number =>
  Math.log(1 + (Math.max(0, records - holding) + 0.5) / (holding + 0.5));

/** Weight beside nearness of words that are spelt like the requested ones. */
const GUESSED = 0.5;

/**
 * How much of a question words can answer, from 0 to 1: the share of the words that some record
 * holds, each by how rare it is. Beside nearness the words count as much: where only the "of" of a
 * question is found, the words count for next to nothing.
 *
 * @param holding for each word in how many records it stands
 * @param records number of all records
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

/** Marks that SQLite puts around a hit: code points that no text has (Unicode noncharacters). */
export const OPEN = "\uFDD0";
export const CLOSE = "\uFDD1";
const MARK = /[\uFDD0\uFDD1]/g;

/**
 * Cuts marked text into parts; absent when it has no hit. Marks within the text itself change only
 * where it is cut.
 */
export function partsOf(marked: string): FragmentPart[] | undefined {
  const parts: FragmentPart[] = [];
  let found = false;
  let from = 0;
  const add = (to: number): void => {
    if (to > from) parts.push({ text: marked.slice(from, to), found });
  };
  for (const { 0: mark, index } of marked.matchAll(MARK)) {
    add(index);
    found = mark === OPEN;
    from = index + 1;
  }
  add(marked.length);
  return parts.some((part) => part.found) ? parts : undefined;
}

/** Number of best records whose words are read. */
export const RECORDS_LOOKED_AT = 10;
/** Words taken from them. */
const WORDS = 8;
/**
 * A word is characteristic when it stands in at least so many of the best records, and in at most
 * this share of all.
 */
const LEAST_RECORDS = 2;
const LARGEST_SHARE = 0.1;

/**
 * Words that mark the subject of the best records of a query (pseudo-relevance feedback): those
 * that stand in several of them and in few others, weighed by how rare they are.
 *
 * @param found stems, a word of each, and in how many of the best it stands
 * @param holding in how many records a stem stands
 * @param all number of all records
 */
export function pickRelated(
  found: readonly { word: string; stem: string; best: number }[],
  holding: (stem: string) => number,
  all: number,
): string[] {
  return found
    .flatMap(({ word, stem, best }) => {
      if (best < LEAST_RECORDS || stem.length < 3 || /^\d+$/.test(stem)) return [];
      const records = holding(stem);
      if (records > Math.max(RECORDS_LOOKED_AT, all * LARGEST_SHARE)) return [];
      return [{ word, weight: best * Math.log((all + 1) / (records + 0.5)) }];
    })
    .toSorted((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS)
    .map(({ word }) => word);
}

/** How many letters may differ: none in short words, where every other word is near. */
export const tolerance = (word: string): number => (word.length < 4 ? 0 : word.length < 8 ? 1 : 2);

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Longer words are not checked for one wrong letter. */
const LONGEST = 64;

/**
 * Possible corrections of a word: all with one letter less, more, another one, or two swapped.
 * Stems are near each other only where the error is not in an ending; these have correct endings,
 * which the stemmer removes.
 */
export function oneLetterOff(word: string): string[] {
  const letters = [...word];
  if (tolerance(word) === 0 || letters.length > LONGEST) return [];
  const found = new Set<string>();
  for (let at = 0; at <= letters.length; at++) {
    const before = letters.slice(0, at).join("");
    const [first = "", second = "", ...rest] = letters.slice(at);
    const after = rest.join("");
    for (const letter of LETTERS) found.add(before + letter + first + second + after);
    if (first === "") continue;
    found.add(before + second + after);
    for (const letter of LETTERS) found.add(before + letter + second + after);
    if (second !== "") found.add(before + second + first + after);
  }
  found.delete(word);
  return [...found];
}

/**
 * Optimal string alignment distance: letters added, left out, changed, or two swapped. Answers
 * `most + 1` as soon as it is known to be above `most`.
 */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[b.length]!, most + 1);
}
