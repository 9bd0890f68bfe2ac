import type { Connection } from "../statement.js";
import type { Vocabulary } from "./vocabulary.js";
import { pickRelated, RECORDS_LOOKED_AT } from "../../search/related.js";
import { tellingWordsOf } from "../../search/words.js";

/** Characters of each that are looked at. */
const CHARACTERS = 4000;
/**
 * Words that mark what the best records of a query are about (pseudo-relevance feedback): those that stand in
 * several of them and in few others, weighed by how rare they are.
 */
export class RelatedWords {
  readonly #best;
  readonly #count;

  constructor(connection: Connection, private readonly vocabulary: Vocabulary) {
    this.#best = connection.prepare<[string]>(`SELECT substr(t.name || ' ' || t.keywords || ' ' || t.description, 1, ${CHARACTERS})
      FROM (SELECT rowid AS id FROM search WHERE search MATCH ? ORDER BY bm25(search, 10.0, 3.0, 5.0, 1.0), rowid LIMIT ${RECORDS_LOOKED_AT}) AS f JOIN text AS t ON t.id = f.id`);
    this.#count = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
  }

  /** @param match an FTS5 query; @param asked its words, which are not answered */
  of(match: string, asked: readonly string[]): string[] {
    const texts = this.#best.all([match]).map(([text]) => tellingWordsOf(text));
    const words = [...new Set(texts.flat())];
    const stems = this.vocabulary.stemmer.stemsOf(words);
    const known = new Set(this.vocabulary.stemmer.stemsOf(asked));
    const stemOf = new Map(words.map((word, index) => [word, stems[index]]));
    // A word for each stem: what is looked for is stemmed again, and stems are not always their own.
    const found = new Map<string, { word: string; best: number }>();
    for (const text of texts) {
      for (const [stem, word] of new Map(text.map((word) => [stemOf.get(word), word]))) {
        if (stem === undefined || known.has(stem)) continue;
        const entry = found.get(stem) ?? found.set(stem, { word, best: 0 }).get(stem)!;
        entry.best++;
      }
    }
    const all = this.#count.get()![0];
    return pickRelated([...found].map(([stem, { word, best }]) => ({ word, stem, best })), (stem) => this.vocabulary.records(stem), all);
  }
}
