import { getOrInsert } from "../../../../get-or-insert.js";
import type { QueryTerm } from "../../../../model/search-query.js";
import { pairs } from "../../../../pairs.js";
import {
  BEHIND_NUMBERS,
  distance,
  isPart,
  isWord,
  MAX_COMPOUNDS,
  oneLetterOff,
  pickRelated,
  rareWordsOf,
  splitsOf,
  Stemmer,
  tolerance,
  wordsOf,
} from "../../search.js";
import type { Connection } from "../statement.js";

/** Near spellings of one word that are tried. */
const MAX_SPELLINGS = 8;

/** What may stand for a term of a query. */
interface Spelling {
  terms: QueryTerm[];
  /** They are other words than the typed one. */
  isCorrection: boolean;
  /** No record has the term, and nothing may stand for it. */
  isUnknown?: true;
}

/** The stems of the index and the number of records that hold each. */
export class Vocabulary {
  readonly stemmer = new Stemmer();
  readonly #all;
  readonly #holding;
  readonly #one;
  readonly #holder;

  constructor(connection: Connection) {
    // Views of the index, of this connection alone; a connection that only reads would not make
    // even those.
    connection.exec(
      "PRAGMA query_only = 0; CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, " +
        "search, row); CREATE VIRTUAL TABLE temp.instance USING fts5vocab (main, search, " +
        "instance); PRAGMA query_only = 1",
    );
    this.#all = connection.prepare<[string, number]>(
      `SELECT term, doc FROM temp.vocabulary
        WHERE term > '${BEHIND_NUMBERS}' AND length(term) BETWEEN ? AND ?`,
    );
    this.#holding = connection.prepare<[string]>(
      `SELECT term FROM temp.vocabulary WHERE length(term) > ? AND instr(term, ?) > 0
        ORDER BY length(term), term LIMIT ${MAX_COMPOUNDS}`,
    );
    this.#one = connection.prepare<[number]>("SELECT doc FROM temp.vocabulary WHERE term = ?");
    this.#holder = connection.prepare<[string]>(
      `SELECT name || ' ' || keywords || ' ' || description || ' ' || other FROM text
        WHERE id = (SELECT doc FROM temp.instance WHERE term = ? LIMIT 1)`,
    );
  }

  /** Records that hold a stem. */
  records(stem: string): number {
    return this.#one.get([stem])?.[0] ?? 0;
  }

  /**
   * For each term what may stand for it: itself when the index has it, or, of a word that it has
   * not, the words that hold it or that it is made of, or those whose stems are spelt most like its
   * own. `undefined` where no other words are found. Walks the vocabulary for each unknown word, so
   * it is called only when nothing else is found.
   */
  spellings(terms: readonly QueryTerm[]): Spelling[] | undefined {
    let isUnknown = false;
    const groups = terms.map((term): Spelling => {
      // A word that nothing stands for ends the walks: they cost most of all.
      const found = isUnknown ? undefined : this.#spelling(term);
      isUnknown ||= found === undefined;
      return found ?? { terms: [term], isCorrection: false, isUnknown: true };
    });
    return groups.some(({ terms: [first] }, index) => first !== terms[index]) ? groups : undefined;
  }

  #spelling(term: QueryTerm): Spelling | undefined {
    const [word] = term.words as [string];
    if (!isWord(term) || this.held([[word], ...(term.forms ?? [])]).length > 0)
      return { terms: [term], isCorrection: false };
    const [stem] = this.stemmer.stemsOf([word]);
    if (stem === undefined) return { terms: [term], isCorrection: false };
    const compounds = isPart(word) ? this.#holding.all([stem.length, stem]).flat() : [];
    const parts = [
      ...compounds.map((one) => [this.#wordOf(one, one)]),
      ...this.held(splitsOf(word)),
    ];
    const near = parts.length > 0 ? [] : this.#near(stem, word).map((one) => [one]);
    const words = parts.length > 0 ? parts : near;
    return words.length === 0
      ? undefined
      : {
          terms: words.map((some) => ({ ...term, words: [...some], forms: [] })),
          isCorrection: near.length > 0,
        };
  }

  /** Those of some forms of which records hold each word. */
  held(forms: readonly (readonly string[])[]): (readonly string[])[] {
    if (forms.length === 0) return [];
    const words = [...new Set(forms.flat())];
    const stems = this.stemmer.stemsOf(words);
    const held = new Set(
      words.filter((_, index) => stems[index] !== undefined && this.records(stems[index]) > 0),
    );
    return forms.filter((form) => form.every((word) => held.has(word)));
  }

  /** A word of a record with the same stem. */
  asWritten(word: string): string {
    const stem = this.stemmer.stemsOf([word])[0];
    if (stem === undefined) return word;
    const words = wordsOf(this.#holder.get([stem])?.[0] ?? "");
    return words[this.stemmer.stemsOf(words).indexOf(stem)] ?? word;
  }

  #near(stem: string, word: string): string[] {
    const found = new Map<string, { spelling: string; records: number; edits: number }>();
    const words = oneLetterOff(word);
    for (const [spelling, term] of pairs(words, this.stemmer.stemsOf(words))) {
      if (term === undefined || found.has(term)) continue;
      const records = this.records(term);
      // The word, not its stem: the search stems its words, and the stem of "embed" is not that of
      // "embedding".
      if (records > 0) found.set(term, { spelling, records, edits: 1 });
    }
    const most = tolerance(stem);
    for (const [term, records] of most === 0
      ? []
      : this.#all.iterate([stem.length - most, stem.length + most])) {
      const edits = distance(stem, term, most);
      if (edits <= most && !found.has(term)) found.set(term, { spelling: term, records, edits });
    }
    let nearest = Infinity;
    for (const { edits } of found.values()) nearest = Math.min(nearest, edits);
    const best = [...found]
      .filter(([, { edits }]) => edits === nearest)
      .toSorted(([, a], [, b]) => b.records - a.records)
      .slice(0, MAX_SPELLINGS);
    return best.map(([term, { spelling }]) => this.#wordOf(term, spelling));
  }

  /**
   * A word to search for: the search stems its words, and where a stem has another stem
   * ("polymeras" of "polymerase") a word with it is taken from a record.
   */
  #wordOf(term: string, spelling: string): string {
    if (this.stemmer.stemsOf([spelling])[0] === term) return spelling;
    const words = wordsOf(this.#holder.get([term])?.[0] ?? "");
    return words[this.stemmer.stemsOf(words).indexOf(term)] ?? spelling;
  }
}

/** Characters of each text that are read. */
const CHARACTERS = 4000;
/**
 * Words that mark the subject of the best records of a query (pseudo-relevance feedback): those
 * that stand in several of them and in few others, weighed by how rare they are.
 */
export class RelatedWords {
  readonly #texts;
  readonly #count;

  readonly #vocabulary: Vocabulary;

  constructor(connection: Connection, vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;

    this.#texts = connection.prepare<[string]>(
      `SELECT substr(t.name || ' ' || t.keywords || ' ' || t.description, 1, ${CHARACTERS})
        FROM json_each(?) AS f CROSS JOIN text AS t ON t.id = f.value`,
    );
    this.#count = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
  }

  /** @param best records, the best first; @param asked words that are not returned */
  of(best: readonly number[], asked: readonly string[]): string[] {
    const texts = this.#texts.all([JSON.stringify(best)]).map(([text]) => rareWordsOf(text));
    const words = [...new Set(texts.flat())];
    const stems = this.#vocabulary.stemmer.stemsOf(words);
    const known = new Set(this.#vocabulary.stemmer.stemsOf(asked));
    const stemOf = new Map(words.map((word, index) => [word, stems[index]]));
    // A word for each stem: the search stems its words again, and stems are not always their own.
    const found = new Map<string, { word: string; best: number }>();
    for (const text of texts) {
      for (const [stem, word] of new Map(text.map((word) => [stemOf.get(word), word]))) {
        if (stem === undefined || known.has(stem)) continue;
        getOrInsert(found, stem, () => ({ word, best: 0 })).best++;
      }
    }
    const all = this.#count.one()[0];
    return pickRelated(
      [...found].map(([stem, { word, best }]) => ({ word, stem, best })),
      ({ stem }) => this.#vocabulary.records(stem),
      all,
    ).map(({ word }) => word);
  }
}
