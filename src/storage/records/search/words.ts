import { asWord, type QueryTerm, type SearchTerms, WORD } from "../../../model/search-query.js";
import { Connection } from "../sqlite/statement.js";

/** The distinct words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  const found = text.toLowerCase().match(WORD) ?? [];
  return [...new Set(found)].map(asWord);
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

/**
 * What a query looks for: its terms, then its words without stop words, unless it has nothing else.
 */
export function soughtOf({ words, terms }: SearchTerms): QueryTerm[] {
  const rare = words.filter((word) => !STOP_WORDS.has(word));
  const plain = rare.length > 0 || terms.length > 0 ? rare : words;
  return [...terms, ...plain.map((word) => ({ words: [word], prefix: false }))];
}

/** A single whole word: what has near spellings. */
export const isWord = ({ words, prefix }: QueryTerm): boolean => words.length === 1 && !prefix;

/** Endings that a stem lacks, or has in another form. */
const ENDINGS: readonly string[] = (
  "s es ies y e ed ing ings ion ions ation ations ational ization ize ized izing al ally ic ical " +
  "ity ities ness ment ments able ible ive er ers or ors ism ist ance ence ous"
).split(" ");

/**
 * Words that begin with the given letters and whose stems do not begin with their stem: the index
 * holds "comput" for "computation", which `computat*` must find.
 *
 * @param stemsOf the stem of each word
 */
export function completionsOf(
  word: string,
  stemsOf: (words: readonly string[]) => readonly (string | undefined)[],
): string[] {
  const words = new Set<string>();
  for (const ending of ENDINGS)
    for (let head = 0; head < ending.length; head++)
      if (word.endsWith(ending.slice(0, head))) words.add(word + ending.slice(head));
  const [own, ...stems] = stemsOf([word, ...words]);
  const found = new Map<string, string>();
  for (const [index, completion] of [...words].entries()) {
    const stem = stems[index];
    if (stem !== undefined && own !== undefined && !stem.startsWith(own) && !found.has(stem))
      found.set(stem, completion);
  }
  return [...found.values()];
}

/** All words of a text in their order, in lower case. */
export const everyWordOf = (text: string): string[] =>
  (text.toLowerCase().match(WORD) ?? []).map(asWord);

/** The words of a text and where they stand in it. */
export const placesOf = (text: string): { word: string; from: number; to: number }[] =>
  [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: asWord(word),
    from: index,
    to: index + word.length,
  }));

/** A word as a string of the FTS5 query language: between quotes nothing is an operator. */
const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/**
 * What a term is in the FTS5 query language.
 * @param completions as {@link completionsOf} returns them for the last word of a prefix
 */
export function matchOf(
  { words, prefix, field }: QueryTerm,
  completions: readonly string[] = [],
): string {
  const phrase = (some: readonly string[]): string => some.map(quoted).join(" + ");
  const head = words.slice(0, -1);
  const all = [
    phrase(words) + (prefix ? " *" : ""),
    ...completions.map((word) => phrase([...head, word])),
  ];
  const match = all.length === 1 ? all[0]! : `(${all.join(" OR ")})`;
  return field === undefined ? match : `{${field}} : ${match}`;
}

/** An FTS5 query that each group must meet by one of its queries. Empty without groups. */
export const allOf = (groups: readonly (readonly string[])[]): string =>
  groups
    .filter((group) => group.length > 0)
    .map((group) => `(${anyOf(group)})`)
    .join(" AND ");

/** An FTS5 query that any of the queries meets. */
export const anyOf = (matches: readonly string[]): string => matches.join(" OR ");

/** An FTS5 query without what meets any of the others. */
export const without = (match: string, excluded: readonly string[]): string =>
  excluded.length === 0 ? match : `(${match}) NOT (${anyOf(excluded)})`;

/**
 * An FTS5 query for the records that hold every term of a query and nothing that it excludes; empty
 * where it looks for nothing.
 * @param stemsOf the stem of each word
 */
export function everyTermOf(
  query: SearchTerms,
  stemsOf: (words: readonly string[]) => readonly (string | undefined)[],
): string {
  const match = (term: QueryTerm): string =>
    matchOf(term, term.prefix ? completionsOf(term.words.at(-1)!, stemsOf) : []);
  const sought = soughtOf(query);
  return sought.length === 0
    ? ""
    : without(allOf(sought.map((term) => [match(term)])), query.excluded.map(match));
}

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
