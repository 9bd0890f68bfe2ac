import { Connection } from "../sqlite/statement.js";

/**
 * Matches a word of the index: letters, digits and the marks on them, as its tokenizer `unicode61`
 * does.
 */
const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu;

/** Longer text is no search word; the index would compare it byte by byte. */
const LONGEST = 100;

/** The distinct words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  const found = text.toLowerCase().match(WORD) ?? [];
  return [...new Set(found)].map(shortened);
}

/** Words that stand in most English sentences and say nothing about the subject of a search. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an and are as at be been but by can did do does for from had has have how if in into " +
    "is it its no not of on or so such than that the their " +
    "them then there these they this those to was we were what when where which who whose " +
    "why will with"
  ).split(" "),
);

/** The distinct words of a text, without stop words. */
export const rareWordsOf = (text: string): string[] =>
  wordsOf(text).filter((word) => !STOP_WORDS.has(word));

/** The words of a query that count: without stop words, unless it has no others. */
export function soughtWordsOf(text: string): string[] {
  const rare = rareWordsOf(text);
  return rare.length > 0 ? rare : wordsOf(text);
}

/** All words of a text in their order, in lower case. */
export const everyWordOf = (text: string): string[] =>
  (text.toLowerCase().match(WORD) ?? []).map(shortened);

/** The words of a text and where they stand in it. */
export const placesOf = (text: string): { word: string; from: number; to: number }[] =>
  [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: shortened(word.toLowerCase()),
    from: index,
    to: index + word.length,
  }));

const shortened = (word: string): string =>
  word.length > LONGEST ? word.slice(0, LONGEST).toWellFormed() : word;

/** A word as a string of the FTS5 query language: between quotes nothing is an operator. */
const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/** A query that each group must meet by one of its words. Empty when there is no word. */
export const allOf = (groups: readonly (readonly string[])[]): string =>
  groups
    .filter((group) => group.length > 0)
    .map((group) => `(${anyOf(group)})`)
    .join(" AND ");

/** A query that any of the words meets. */
export const anyOf = (words: readonly string[]): string => words.map(quoted).join(" OR ");

/** As the index is declared in the schema; words are stemmed by the same code. */
const TOKENIZER = "porter unicode61 remove_diacritics 2";

/** Returns the stems of words as the index stores them: an FTS5 table in memory tokenizes them. */
export class Stemmer {
  readonly #connection = new Connection(":memory:");
  readonly #add;
  readonly #stems;

  constructor() {
    this.#connection.exec(
      `CREATE VIRTUAL TABLE word USING fts5 (text, tokenize='${TOKENIZER}'); CREATE VIRTUAL TABLE
        stem USING fts5vocab ('word', 'instance')`,
    );
    this.#add = this.#connection.prepare("INSERT INTO word (rowid, text) VALUES (?, ?)");
    this.#stems = this.#connection.prepare<[number, string]>("SELECT doc, term FROM stem");
  }

  /** The stem of each word; `undefined` for text that is no word of the index, or several. */
  stemsOf(words: readonly string[]): (string | undefined)[] {
    const found = new Map<number, string[]>();
    this.#connection.exec("BEGIN");
    try {
      for (const [index, word] of words.entries()) this.#add.put([index + 1, word]);
      for (const [row, stem] of this.#stems.all())
        (found.get(row) ?? found.set(row, []).get(row)!).push(stem);
    } finally {
      this.#connection.exec("ROLLBACK");
    }
    return words.map((_, index) => {
      const stems = found.get(index + 1);
      return stems?.length === 1 ? stems[0] : undefined;
    });
  }

  close(): void {
    this.#connection.close();
  }
}
