import type { Connection } from "../statement.js";
import type { Vocabulary } from "./vocabulary.js";
import { wordsOf } from "./words.js";

/** The best records whose words are looked at, and how many characters of each. */
const RECORDS = 10;
const CHARACTERS = 4000;
/** Words taken from them. */
const WORDS = 8;
/** A word tells what records are about when it stands in at least so many of the best, and in at most this share of all. */
const LEAST_RECORDS = 2;
const LARGEST_SHARE = 0.1;

/**
 * Words that mark what the best records of a query are about (pseudo-relevance feedback): those that stand in
 * several of them and in few others, weighed by how rare they are.
 */
export class RelatedWords {
  readonly #best;
  readonly #count;

  constructor(connection: Connection, private readonly vocabulary: Vocabulary) {
    this.#best = connection.prepare<[string]>(`SELECT substr(t.name || ' ' || t.keywords || ' ' || t.description, 1, ${CHARACTERS})
      FROM (SELECT rowid AS id FROM search WHERE search MATCH ? ORDER BY bm25(search, 10.0, 3.0, 5.0, 1.0), rowid LIMIT ${RECORDS}) AS f JOIN text AS t ON t.id = f.id`);
    this.#count = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
  }

  /** @param match an FTS5 query; @param asked its words, which are not answered */
  of(match: string, asked: readonly string[]): string[] {
    const texts = this.#best.all([match]).map(([text]) => wordsOf(text));
    const words = [...new Set(texts.flat())];
    const stems = this.vocabulary.stemmer.stemsOf(words);
    const known = new Set(this.vocabulary.stemmer.stemsOf(asked));
    const stemOf = new Map(words.map((word, index) => [word, stems[index]]));
    // A word for each stem: what is looked for is stemmed again, and stems are not always their own.
    const found = new Map<string, { word: string; best: number }>();
    for (const text of texts) {
      for (const [stem, word] of new Map(text.map((word) => [stemOf.get(word), word]))) {
        if (stem === undefined || known.has(stem) || stem.length < 3 || /^\d+$/.test(stem)) continue;
        const entry = found.get(stem) ?? found.set(stem, { word, best: 0 }).get(stem)!;
        entry.best++;
      }
    }
    const all = this.#count.get()![0];
    return [...found].flatMap(([stem, { word, best }]) => {
      const records = this.vocabulary.records(stem);
      if (best < LEAST_RECORDS || records > Math.max(RECORDS, all * LARGEST_SHARE)) return [];
      return [{ word, weight: best * Math.log((all + 1) / (records + 0.5)) }];
    }).toSorted((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1)).slice(0, WORDS).map(({ word }) => word);
  }
}
