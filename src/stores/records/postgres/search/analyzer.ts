import type { SearchText } from "../../port.js";
import { Stemmer } from "../../search/stemmer.js";
import { everyWordOf } from "../../search/words.js";

/** Words whose stems are remembered; some MiB. Few texts bring a word that was not met before. */
const MOST_KNOWN = 100_000;
/** Of so many times a word stands in one field the rank knows no more. */
const MOST_TIMES = 8;
/** Bytes of one vector; PostgreSQL takes a MiB. Words beyond are not found. */
const LONGEST_VECTOR = 900_000;

/** Fields and what PostgreSQL calls their weights: A counts most. */
const FIELDS = [["name", "A"], ["keywords", "B"], ["description", "C"], ["other", "D"]] as const;

/** What is indexed of a text. */
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
    return words.map((word) => this.#known.get(word)!);
  }

  analyze(text: SearchText): Analysis {
    const words = FIELDS.map(([field]) => everyWordOf(text[field]));
    this.#learn(words.flat());
    const places = new Map<string, Map<string, number>>();
    for (const [index, [, weight]] of FIELDS.entries()) {
      for (const word of words[index]!) {
        const stem = this.#known.get(word)!;
        const times = places.get(stem) ?? places.set(stem, new Map()).get(stem)!;
        times.set(weight, (times.get(weight) ?? 0) + 1);
      }
    }
    let vector = "";
    const stems: string[] = [];
    let length = 0;
    for (const [stem, times] of places) {
      let position = 0;
      const marks = [...times].flatMap(([weight, count]) => Array.from({ length: Math.min(count, MOST_TIMES) }, () => `${++position}${weight}`));
      length += Buffer.byteLength(stem) + 8 + 2 * marks.length;
      if (length > LONGEST_VECTOR) break;
      vector += `${lexeme(stem)}:${marks.join(",")} `;
      stems.push(stem);
    }
    return { vector, stems };
  }

  close(): void {
    this.#stemmer.close();
  }

  #learn(words: readonly string[]): void {
    const asked = new Set(words);
    const missing = [...asked].filter((word) => !this.#known.has(word));
    if (missing.length === 0) return;
    if (this.#known.size + missing.length > MOST_KNOWN) {
      this.#known.clear();
      return this.#stem([...asked]);
    }
    this.#stem(missing);
  }

  #stem(words: readonly string[]): void {
    for (const [index, stem] of this.#stemmer.stemsOf(words).entries()) this.#known.set(words[index]!, stem ?? words[index]!);
  }
}

/** A stem as it stands in the text form of a tsvector or a tsquery: between quotes nothing is an operator. */
export const lexeme = (stem: string): string => `'${stem.replace(/['\\]/g, "$&$&")}'`;
