import type { SearchText } from "../../port.js";
import { type QueryField, type QueryTerm, textOf } from "../../../../model/search-query.js";
import { completionsOf, everyWordOf, Stemmer } from "../../search/words.js";

/** Fields and the names of their weights in PostgreSQL: A counts most. */
const FIELDS = [
  ["name", "A"],
  ["keywords", "B"],
  ["description", "C"],
  ["other", "D"],
] as const;

/** Words whose stems are cached; some MiB. Few texts bring a new word. */
const MOST_KNOWN = 100_000;
/** Places of a word in one field that are indexed; PostgreSQL takes 255 of a word in all. */
const MOST_TIMES = 60;
/** PostgreSQL counts no further; phrases behind it are not found. */
const LAST_PLACE = 16_383;
/** Between two fields, so that no phrase reaches from one into the next. */
const GAP = 2;
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

  termOf(asked: QueryTerm): StemTerm {
    const { words, prefix, field } = asked;
    const others = prefix
      ? this.stemsOf(completionsOf(words.at(-1)!, (some) => this.stemsOf(some)))
      : [];
    const term = { stems: this.stemsOf(words), others, prefix, text: textOf(asked) };
    return field === undefined ? term : { ...term, field };
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
    let before = 0;
    for (const [index, [, weight]] of FIELDS.entries()) {
      times.clear();
      let place = before;
      for (const word of words[index]!) {
        place = Math.min(place + 1, LAST_PLACE);
        const stem = this.#stemOf(word);
        const count = (times.get(stem) ?? 0) + 1;
        if (count > MOST_TIMES) continue;
        times.set(stem, count);
        const known = marks.get(stem);
        const mark = `${place}${weight}`;
        marks.set(stem, known === undefined ? mark : `${known},${mark}`);
      }
      before = place + GAP;
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

/** A term of a query by its stems: those of its words, in their order. */
export interface StemTerm {
  stems: readonly string[];
  /** Stems that may stand in place of the last one: {@link completionsOf} a prefix. */
  others: readonly string[];
  prefix: boolean;
  field?: QueryField;
  /** As one types it. */
  text: string;
}

/** A term as a tsquery. */
export function tsqueryOf({ stems, others, prefix, field }: StemTerm): string {
  const weight = FIELDS.find(([name]) => name === field)?.[1] ?? "";
  const marked = (stem: string, mark = ""): string =>
    lexeme(stem) + (mark + weight === "" ? "" : `:${mark}${weight}`);
  const head = stems.slice(0, -1).map((stem) => marked(stem));
  const ends = [marked(stems.at(-1)!, prefix ? "*" : ""), ...others.map((stem) => marked(stem))];
  const all = ends.map((end) => (head.length === 0 ? end : `(${[...head, end].join(" <-> ")})`));
  return all.length === 1 ? all[0]! : `(${all.join(" | ")})`;
}

/**
 * A stem as it stands in the text form of a tsvector or a tsquery: between quotes nothing is an
 * operator.
 */
export const lexeme = (stem: string): string =>
  `'${/['\\]/.test(stem) ? stem.replace(/['\\]/g, "$&$&") : stem}'`;
