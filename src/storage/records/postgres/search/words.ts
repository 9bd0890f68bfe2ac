/** Words in PostgreSQL: how texts are indexed, and how a query asks for them. */
import type { QueryTerm } from "../../../../model/search-query.js";
import type { SearchText } from "../../port.js";
import { everyWordOf } from "../../search.js";
import { type Session, statement } from "../statement.js";

/** Fields and their weights in PostgreSQL: A counts most. */
export const WEIGHTS = { name: "A", keywords: "B", description: "C", other: "D" } as const;
const FIELDS = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];

/** A word at the end of each field, so that no phrase goes on in the next one. */
export const END_OF_FIELD = "u0end";
/**
 * SQL of a vector from the parts of {@link Indexed}.
 * @param parts SQL of each, in their order
 */
export const vectorSql = (parts: readonly string[]): string =>
  FIELDS.map(
    (field, index) =>
      `setweight(to_tsvector('arkgraph', ${parts[index]} || ' ${END_OF_FIELD}'), '${WEIGHTS[field]}')`,
  ).join(" || ");

const HAS_CONFIGURATION = statement<[number]>(
  `SELECT 1 FROM pg_ts_config WHERE cfgname = 'arkgraph'
    AND cfgnamespace = current_schema()::regnamespace`,
);
/**
 * Stems as the built-in store has them, and no stop words: a phrase or a field may ask for them.
 */
export async function makeConfiguration(session: Session): Promise<void> {
  if ((await session.query(HAS_CONFIGURATION)).length > 0) return;
  await session.exec(`
    CREATE TEXT SEARCH DICTIONARY arkgraph (TEMPLATE = pg_catalog.snowball, Language = porter);
    CREATE TEXT SEARCH CONFIGURATION arkgraph (COPY = pg_catalog.simple);
    ALTER TEXT SEARCH CONFIGURATION arkgraph
      ALTER MAPPING FOR asciiword, word, numword WITH arkgraph`);
}

/**
 * A word as the index has it: Latin letters without accents, both sigmas as one. Signs that
 * PostgreSQL takes for a blank in some locales, such as "²", have a name of letters and digits.
 */
const folded = (word: string): string =>
  word
    .normalize("NFD")
    .replace(/([a-z])[\u0300-\u036f]+/g, "$1")
    .normalize("NFC")
    .replaceAll("ς", "σ")
    .replace(/[\p{No}\p{Co}]/gu, (sign) => `u${sign.codePointAt(0)!.toString(16)}`);

/** A vector may have 1 MiB; words beyond are not found. */
const MAX_VECTOR_BYTES = 900_000;
/** Bytes of a word beside its letters, and of each further place of it. */
const [PER_WORD, PER_PLACE] = [10, 2];
/** Places of a word that PostgreSQL stores. */
const MAX_PLACES = 255;
/** Longer words are corrections of nothing. */
const MAX_SPELLING_CHARS = 64;

/** A text as the database indexes it. */
export interface Indexed {
  /** For `to_tsvector`: words and blanks only, so that PostgreSQL separates words as queries do. */
  parts: string[];
  /** Words that may be meant where others are typed, each once. */
  spellings: string[];
}

export function indexed(text: SearchText): Indexed {
  const times = new Map<string, number>();
  let bytes = 0;
  const fits = (word: string): boolean => {
    const before = times.get(word) ?? 0;
    if (before === 0) bytes += Buffer.byteLength(word) + PER_WORD;
    else if (before < MAX_PLACES) bytes += PER_PLACE;
    if (bytes > MAX_VECTOR_BYTES) return false;
    times.set(word, before + 1);
    return true;
  };
  const parts = FIELDS.map((field) => everyWordOf(text[field]).filter(fits).map(folded).join(" "));
  const spellings = [...times.keys()].filter(
    (word) => /^\D{3}/.test(word) && word.length <= MAX_SPELLING_CHARS,
  );
  return { parts, spellings };
}

/**
 * A text as `ts_headline` reads it: of the same length, with blanks where no word is, and letters
 * as the index has them.
 */
export const headlineText = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N}\p{Co}\p{M}]/gu, (other) => " ".repeat(other.length))
    .replace(/\P{ASCII}/gu, (letter) => {
      const one = folded(letter.toLowerCase());
      return one.length === letter.length ? one : letter;
    });

/** A word for `to_tsquery`: between quotes nothing is an operator. */
const lexeme = (word: string, marks: string): string =>
  `'${folded(word)}'${marks === "" ? "" : `:${marks}`}`;

/**
 * A term for `to_tsquery`.
 * @param completions words that a prefix finds beside those whose stems begin with its own
 */
export function tsqueryOf(
  { words, prefix, field, forms = [] }: QueryTerm,
  completions: readonly string[] = [],
): string {
  const head = words.slice(0, -1);
  const weight = field === undefined ? "" : WEIGHTS[field];
  const phrase = (some: readonly string[], star = ""): string =>
    some
      .map((word, index) => lexeme(word, (index === some.length - 1 ? star : "") + weight))
      .join(" <-> ");
  return anyOf([
    phrase(words, prefix ? "*" : ""),
    ...completions.map((word) => phrase([...head, word])),
    ...forms.map((form) => phrase(form)),
  ]);
}

/** Queries that all, or any, of some queries meet. */
export const allOf = (queries: readonly string[]): string =>
  queries.map((query) => `(${query})`).join(" & ");
export const anyOf = (queries: readonly string[]): string =>
  queries.map((query) => `(${query})`).join(" | ");
/** @param none empty where nothing is excluded */
export const without = (query: string, none: string): string =>
  none === "" ? query : `(${query}) & !(${none})`;
