/**
 * The query language of search. Whatever a user types is a query: what cannot be an operator is
 * read as words, so a half-typed query is answered too.
 *
 * | typed | found |
 * |---|---|
 * | `cell counts` | both words, by their stems |
 * | `"cell counts"` | the words next to each other, in one field |
 * | `gen*` | words that begin so |
 * | `-mouse`, `-"cell line"`, `-gen*` | records without it |
 * | `name:cell`, `description:"cell line"`, `keyword:gen*` | in this field only |
 */

/** Fields that a part of a query may name. */
type QueryField = "name" | "keywords" | "description";

/** A part of a query that is more than a plain word. */
export interface QueryTerm {
  /** In lower case and in their order; at least one. Several stand next to each other in a record. */
  words: string[];
  /** The last word is the beginning of one. */
  prefix: boolean;
  /** Only in this field. */
  field?: QueryField;
  /** Of a plain word: other ways to write it, each a word or several next to each other. */
  forms?: readonly (readonly string[])[];
}

/** A query, read. */
export interface SearchTerms {
  /** Plain words in lower case, each once. */
  words: string[];
  /** Phrases, prefixes and words in a field; each once. */
  terms: QueryTerm[];
  /** What no result may hold. */
  excluded: QueryTerm[];
}

/**
 * A word: letters, digits and the marks on them, in any script. SQLite's tokenizer `unicode61`
 * agrees.
 */
export const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu;

/** Longer text is no search word; an index would compare it byte by byte. */
const MAX_WORD_CHARS = 100;
/** Words of a phrase; further ones are not compared. */
const MAX_WORDS_OF_PHRASE = 32;
/** Phrases and excluded parts beyond are ignored, further prefixes are read as words. */
const MAX_TERMS = 64;
/** Words of all phrases; phrases beyond are ignored: each word costs a walk along its places. */
const MAX_PHRASE_WORDS = 128;
const MAX_PREFIXES = 8;

const QUOTE = /["\u201C\u201D\u201E]/;
const QUOTES = new RegExp(QUOTE.source, "g");
const FIELD = /(name|description|keywords?):(?=[\p{L}\p{N}\p{Co}"\u201C\u201D\u201E])/iuy;
/** Ends a run of characters without blanks. */
const RUN_END = /[\s"\u201C\u201D\u201E]/g;
const OPENING = /[\s([{]/;
/** One ASCII letter begins half of all words. */
const LONE = /^[a-z0-9]$/i;

/**
 * The text of a query for a model that reads sentences: as typed, or, where it has operators, the
 * words that are sought.
 */
export function plainText(text: string, { words, terms, excluded }: SearchTerms): string {
  if (terms.length === 0 && excluded.length === 0) return text;
  return [...terms.flatMap((term) => term.words), ...words].join(" ");
}

/** A term as one types it. */
export function textOf({ words, prefix, field }: QueryTerm): string {
  const all = words.join(" ") + (prefix ? "*" : "");
  return (field === undefined ? "" : `${field}:`) + (words.length > 1 ? `"${all}"` : all);
}

/** A query with other words in place of some, and all else as it was. */
export const withWords = (text: string, meant: ReadonlyMap<string, string>): string =>
  text.replace(WORD, (word) => meant.get(asWord(word)) ?? word);

/** A word as indexes hold it: in lower case, cut to a length. */
export const asWord = (word: string): string => {
  const lower = word.toLowerCase();
  return lower.length > MAX_WORD_CHARS ? lower.slice(0, MAX_WORD_CHARS).toWellFormed() : lower;
};

const fieldOf = (name: string): QueryField => {
  const lower = name.toLowerCase();
  return lower === "keyword" ? "keywords" : (lower as QueryField);
};

/** The name of a field with its colon, if one stands here, and where the rest begins. */
function fieldAt(text: string, at: number): { field?: QueryField; end: number } {
  FIELD.lastIndex = at;
  const [, name] = FIELD.exec(text) ?? [];
  return name === undefined ? { end: at } : { field: fieldOf(name), end: FIELD.lastIndex };
}

/** A run of characters without blanks: its words, and which of them have a star behind them. */
function wordsOfRun(run: string): { word: string; star: boolean }[] {
  return [...run.matchAll(WORD)].map(({ 0: word, index }) => {
    const behind = index + word.length;
    const star = run[behind] === "*" && (behind + 1 === run.length || run[behind + 1] !== "*");
    return { word: asWord(word), star: star && !LONE.test(word) };
  });
}

/** Parts of a query as they are read, each once. */
class Reading {
  readonly #words = new Set<string>();
  readonly #terms = new Map<string, QueryTerm>();
  readonly #excluded = new Map<string, QueryTerm>();
  #prefixes = 0;
  #phraseWords = 0;

  word(word: string): void {
    this.#words.add(word);
  }

  /** @param words not empty */
  term(words: string[], star: boolean, field: QueryField | undefined, isExcluded: boolean): void {
    const prefix = star && ++this.#prefixes <= MAX_PREFIXES;
    const to = isExcluded ? this.#excluded : this.#terms;
    const [word] = words;
    if (word !== undefined && words.length === 1 && !isExcluded && !prefix && field === undefined)
      return this.word(word);
    if (to.size >= MAX_TERMS) return;
    const term: QueryTerm = { words: words.slice(0, MAX_WORDS_OF_PHRASE), prefix };
    if (words.length > MAX_WORDS_OF_PHRASE) term.prefix = false;
    if (term.words.length > 1 && (this.#phraseWords += term.words.length) > MAX_PHRASE_WORDS)
      return;
    if (field !== undefined) term.field = field;
    to.set(JSON.stringify(term), term);
  }

  /** @param run characters without blanks */
  run(run: string, field: QueryField | undefined, isExcluded: boolean): void {
    const found = wordsOfRun(run);
    const words = found.map(({ word }) => word);
    const isStarred = found.at(-1)?.star === true;
    if (!isExcluded) for (const { word, star } of found) this.term([word], star, field, false);
    else if (words.length > 0) this.term(words, isStarred, field, true);
  }

  get all(): SearchTerms {
    return {
      words: [...this.#words],
      terms: [...this.#terms.values()],
      excluded: [...this.#excluded.values()],
    };
  }
}

const DOI =
  /^(?:(?:https?:\/\/)?(?:dx\.|www\.)?doi\.org\/|(?:info:)?doi[:/\s]\s*)?(10\.\d{4,9}(?:\/|%2f)\S+)$/i;
const ORCID =
  /^(?:(?:https?:\/\/)?(?:www\.)?orcid\.org\/|orcid[:\s]\s*)?(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dx])\/?$/i;

/**
 * A query that is a DOI or an ORCID iD, in any of its spellings, as the phrase that every address of
 * it holds; another query unchanged.
 */
export function withoutAddress(text: string): string {
  const query = text.trim();
  const orcid = ORCID.exec(query);
  if (orcid) return `"${orcid.slice(1).join("-")}"`;
  const doi = DOI.exec(query)?.[1]
    ?.replace(/%2f/i, "/")
    .replace(/(?<![.,;)\]])[.,;)\]]+$/, "");
  return doi === undefined ? text : `"${doi.replaceAll('"', " ")}"`;
}

/**
 * Reads a query, in one pass over its text. Never fails: a quote that is not closed, a star or
 * hyphen on its own and the name of an unknown field are no operators.
 */
export function parseQuery(text: string): SearchTerms {
  const reading = new Reading();
  let quotesLeft = true;
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (OPENING.test(character)) {
      at++;
      continue;
    }
    const isStart = at === 0 || OPENING.test(text.charAt(at - 1));
    // A hyphen within a word or before a blank excludes nothing.
    const isExcluded = isStart && character === "-" && /^[^\s-]/.test(text.slice(at + 1, at + 2));
    if (isExcluded) at++;
    const { field, end: start } = isStart ? fieldAt(text, at) : { end: at };
    at = start;
    if (QUOTE.test(text.charAt(at))) {
      QUOTES.lastIndex = ++at;
      const closing = quotesLeft && (isStart || isExcluded) ? QUOTES.exec(text) : null;
      if (closing !== null) {
        const words = [...text.slice(at, closing.index).matchAll(WORD)].map(([word]) =>
          asWord(word),
        );
        at = QUOTES.lastIndex;
        if (words.length > 0) reading.term(words, false, field, isExcluded);
        continue;
      }
      if (isStart) quotesLeft = false;
      if (at === text.length) break;
    }
    RUN_END.lastIndex = at;
    const end = RUN_END.exec(text)?.index ?? text.length;
    reading.run(text.slice(at, end), field, isExcluded);
    at = Math.max(end, at);
  }
  return reading.all;
}
