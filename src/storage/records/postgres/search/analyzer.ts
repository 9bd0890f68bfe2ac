import type { SearchText } from "../../port.js";
import { everyWordOf, Stemmer } from "../../search/words.js";

/** Fields and the names of their weights in PostgreSQL: A counts most. */
const FIELDS = [
  ["name", "A"],
  ["keywords", "B"],
  ["description", "C"],
  ["other", "D"],
] as const;

/** Words whose stems are cached; some MiB. Few texts bring a new word. */
const MOST_KNOWN = 100_000;
/** Most times that a word in one field counts for the rank. */
const MOST_TIMES = 8;
/** Where the places of each field begin. */
const PLACE = FIELDS.map((_, index) => index * MOST_TIMES);
/** Bytes of one vector; PostgreSQL takes a MiB. Words beyond are not found. */
const LONGEST_VECTOR = 900_000;

/** The indexed form of a text. */
export interface Analysis {
  /** Text form of a tsvector: stems with the fields they stand in. */
  vector: string;
  stems: string[];
}

/** Makes stems of words, by the code that the libSQL adapter's index uses: both find the same. */
export class Analyzer {
  readonly #stemmer = new Stemmer();
  readonly #known = new Map<string, string>();

  /** The stem of each word; a word that has none is its own. */
  stemsOf(words: readonly string[]): string[] {
    this.#learn(words);
    return words.map((word) => this.#stemOf(word));
  }

  /** Many texts at a time: all new words are looked up together. */
  analyze(texts: readonly SearchText[]): Analysis[] {
    const split = texts.map((text) => FIELDS.map(([field]) => everyWordOf(text[field])));
    this.#learn(split.flat(2));
    return split.map((words) => this.#vectorOf(words));
  }

  #vectorOf(words: readonly (readonly string[])[]): Analysis {
    const marks = new Map<string, string>();
    const times = new Map<string, number>();
    for (const [index, [, weight]] of FIELDS.entries()) {
      times.clear();
      for (const word of words[index]!) {
        const stem = this.#stemOf(word);
        const count = (times.get(stem) ?? 0) + 1;
        if (count > MOST_TIMES) continue;
        times.set(stem, count);
        const before = marks.get(stem);
        // Only how often and in which field counts, not where; but places must differ.
        marks.set(
          stem,
          before === undefined
            ? `${PLACE[index]! + count}${weight}`
            : `${before},${PLACE[index]! + count}${weight}`,
        );
      }
    }
    let vector = "";
    let bytes = 0;
    const stems: string[] = [];
    for (const [stem, places] of marks) {
      bytes += Buffer.byteLength(stem) + 8 + places.length;
      if (bytes > LONGEST_VECTOR) break;
      vector += `${lexeme(stem)}:${places} `;
      stems.push(stem);
    }
    return { vector, stems };
  }

  close(): void {
    this.#stemmer.close();
  }

  #stemOf(word: string): string {
    return this.#known.get(word) ?? word;
  }

  #learn(words: readonly string[]): void {
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    const missing = new Set<string>();
    // A number is its own stem.
    for (const word of words)
      if (!this.#known.has(word) && !/^[0-9]+$/.test(word)) missing.add(word);
    if (missing.size === 0) return;
    const asked = [...missing];
    for (const [index, stem] of this.#stemmer.stemsOf(asked).entries())
      this.#known.set(asked[index]!, stem ?? asked[index]!);
  }
}

/**
 * A stem as it stands in the text form of a tsvector or a tsquery: between quotes nothing is an
 * operator.
 */
export const lexeme = (stem: string): string =>
  `'${/['\\]/.test(stem) ? stem.replace(/['\\]/g, "$&$&") : stem}'`;
