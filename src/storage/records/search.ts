/**
 * What both record stores share in search: the words of texts and queries, and the order of
 * results.
 */
import * as stopword from "stopword";
import { getOrInsert } from "../../get-or-insert.js";
import { formsOf } from "../../model/word-forms.js";
import { asWord, type QueryTerm, type SearchTerms, WORD } from "../../model/search-query.js";
import type {
  FragmentPart,
  ScorePart,
  SearchFacet,
  SearchHit,
  SearchPage,
  SearchQuery,
} from "./port.js";
import type { RecordFilter, StatisticsKey } from "./port/selection.js";
import { Connection } from "./sqlite/statement.js";

/** The distinct words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  const found = text.toLowerCase().match(WORD) ?? [];
  return [...new Set(found)].map(asWord);
}

/** Words that stand in most English sentences and say nothing about the subject of a search. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
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

/** Languages that people ask in, as ISO 639-3 names them. */
const LANGUAGES = (
  "ara ces dan deu ell eng fin fra hin hun ind ita jpn kor nld nob pol por ron rus spa swe tur " +
  "ukr vie zho"
).split(" ");
const STOP_WORDS_OF_LANGUAGES: ReadonlySet<string> = new Set(
  Object.entries(stopword).flatMap(([name, words]) =>
    LANGUAGES.includes(name) && Array.isArray(words) ? words.map((word) => word.toLowerCase()) : [],
  ),
);

/** Scripts that put no blanks between words. */
const UNSPACED = new RegExp(
  "Han Hiragana Katakana Thai Lao Khmer Myanmar"
    .split(" ")
    .map((script) => `\\p{Script=${script}}`)
    .join("|"),
  "u",
);
const SEGMENTER = new Intl.Segmenter("ja", { granularity: "word" });
/** Words of one run of such a script that are looked for. */
const MAX_SEGMENTS = 32;

const isPlain = (term: QueryTerm): boolean => isWord(term) && term.field === undefined;

/**
 * What a query is about, where its words as typed find nothing: the words of text without blanks
 * apart, and no stop words of any language, where other words are left. "die" is a word in one
 * language and none in another, so it is left out only here.
 */
export function subjectOf(sought: readonly QueryTerm[]): readonly QueryTerm[] {
  const apart = sought.flatMap((term): QueryTerm[] => {
    const [word] = term.words as [string];
    if (!isPlain(term) || !UNSPACED.test(word)) return [term];
    const words = [...SEGMENTER.segment(word)].map(({ segment }) => segment);
    if (words.length === 1) return [term];
    return words.slice(0, MAX_SEGMENTS).map((one) => ({ words: [one], prefix: false }));
  });
  const rare = apart.filter(
    (term) => !isPlain(term) || !term.words.some((word) => STOP_WORDS_OF_LANGUAGES.has(word)),
  );
  const subject = rare.length > 0 ? rare : apart;
  return subject.length === sought.length && subject.every((term) => sought.includes(term))
    ? sought
    : subject;
}

/** Words that hold an unknown word which are looked for in its place, the shortest first. */
export const MAX_COMPOUNDS = 64;

/** Whether words that hold this one are about it: "CellProfiler", and not "cat". */
export const isPart = (word: string): boolean =>
  UNSPACED.test(word) || (word.length >= 4 && /^\P{N}/u.test(word));

/** Two words that may be written as one: "zebrafish". */
export function splitsOf(word: string): [string, string][] {
  const letters = [...word];
  if (letters.length > LONGEST_JOINED || !/^\p{L}+$/u.test(word)) return [];
  const splits: [string, string][] = [];
  for (let at = SHORTEST_HALF; at <= letters.length - SHORTEST_HALF; at++)
    splits.push([letters.slice(0, at).join(""), letters.slice(at).join("")]);
  return splits;
}
const SHORTEST_HALF = 3;

/**
 * What a query looks for: its terms, then its words without stop words, unless it has nothing else.
 */
export function soughtOf({ words, terms }: SearchTerms): QueryTerm[] {
  const rare = words.filter((word) => !STOP_WORDS.has(word));
  const plain = rare.length > 0 || terms.length > 0 ? rare : words;
  return [...terms, ...plain.map((word, index) => plainTerm(word, index, plain))];
}

/** Words of a query that may be written in another way; more make a query no better. */
const MAX_WITH_FORMS = 16;

/** A plain word with its other forms, and joined with the words beside it: "zebra fish". */
function plainTerm(word: string, index: number, all: readonly string[]): QueryTerm {
  const term = { words: [word], prefix: false };
  if (index >= MAX_WITH_FORMS) return term;
  const beside = [all[index - 1], all[index + 1]];
  const joined = [beside[0] && beside[0] + word, beside[1] && word + beside[1]];
  const forms = [
    ...formsOf(word),
    ...joined.flatMap((form) => (form && form.length <= LONGEST_JOINED ? [[form]] : [])),
  ];
  return forms.length === 0 ? term : { ...term, forms };
}
/** Longer words are not looked for in place of two. */
const LONGEST_JOINED = 40;

/** A single whole word: what has near spellings. */
export const isWord = ({ words, prefix }: QueryTerm): boolean => words.length === 1 && !prefix;

/** Endings that a stem lacks, or has in another form. */
const ENDINGS: readonly string[] = (
  "s es ies y e ed ing ings ion ions ation ations ational ization ize ized izing al ally ic ical " +
  "ity ities ness ment ments able ible ive er ers or ors ism ist ance ence ous"
).split(" ");

/** Words that begin with the given letters, with the endings that a stem may lack. */
export function endingsOf(word: string): string[] {
  const words = new Set<string>();
  for (const ending of ENDINGS)
    for (let head = 0; head < ending.length; head++)
      if (word.endsWith(ending.slice(0, head))) words.add(word + ending.slice(head));
  return [...words];
}

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
  const words = endingsOf(word);
  const [own, ...stems] = stemsOf([word, ...words]);
  const found = new Map<string, string>();
  for (const [index, completion] of words.entries()) {
    const stem = stems[index];
    if (stem !== undefined && own !== undefined && !stem.startsWith(own) && !found.has(stem))
      found.set(stem, completion);
  }
  return [...found.values()];
}

/** The completions of the last word of a prefix; none for another term. */
export function completionsFor(
  { words, prefix }: QueryTerm,
  completions: (word: string) => string[],
): string[] {
  const last = words.at(-1);
  return prefix && last !== undefined ? completions(last) : [];
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
  { words, prefix, field, forms = [] }: QueryTerm,
  completions: readonly string[] = [],
): string {
  const phrase = (some: readonly string[]): string => some.map(quoted).join(" + ");
  const head = words.slice(0, -1);
  const all = [
    phrase(words) + (prefix ? " *" : ""),
    ...completions.map((word) => phrase([...head, word])),
    ...forms.map(phrase),
  ];
  const any = anyOf(all);
  const match = all.length === 1 ? any : `(${any})`;
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
    matchOf(
      term,
      completionsFor(term, (word) => completionsOf(word, stemsOf)),
    );
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
      for (const [row, stem] of this.#stems.all()) getOrInsert(found, row, () => []).push(stem);
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

/** What a search without words finds. */
const NOTHING: SearchPage = { total: 0, exact: true, ranked: 0, hits: [] };

/**
 * Most records that one search ranks: SQLite and PostgreSQL rank 5,000 to 10,000 records in 50 ms.
 * Where words find more, the others follow, the newest first.
 */
export const RANKED = 5000;
/**
 * SQL of what the rank of a record counts by its kind. An entity of a crate, such as a step of its
 * workflow, counts half: people look for the whole, and find its entities there.
 */
export const kindWeightSql = (kind: string): string =>
  `CASE ${kind} WHEN 'entity' THEN 0.5 ELSE 1 END`;
/** Score of a record that was found and not ranked. */
export const UNRANKED = 1e-9;

/** Most records that facets count: of more, the newest. SQLite counts 20,000 by a value in 15 ms. */
export const FACETED = 50_000;
/**
 * Results up to which PostgreSQL counts. More than pages reach, and more than {@link FACETED}, so
 * facets of more are never marked as exact.
 */
export const COUNTED = 60_000;

/** Terms by which private records are put in order; each costs a look into the index. */
export const PRIVATE_TERMS = 16;

/**
 * What a search finds with the private records that a viewer sees. They come before the open ones,
 * whose ranks and totals they do not change; those that an administrator sees, of all people, come
 * behind them.
 */
export class WithPrivate {
  /** The query for open records. */
  readonly open: SearchQuery;
  readonly #query: SearchQuery;
  readonly #found: number;

  /** @param found how many private records are found */
  constructor(query: SearchQuery, found: number) {
    const { offset, limit, viewer } = query;
    this.#query = query;
    this.#found = found;
    this.open =
      viewer === undefined
        ? query
        : {
            ...query,
            offset: Math.max(0, offset - found),
            limit: Math.min(limit, Math.max(0, offset + limit - found)),
          };
  }

  /** The open records; none where they have other words than the requested ones. */
  others(page: SearchPage): SearchPage {
    const isMeant = page.corrected === undefined && page.matchesAnyWord !== true;
    return isMeant ? page : NOTHING;
  }

  /** Those of the private records that the page shows. */
  shown<Found>(found: readonly Found[], { total }: SearchPage): Found[] {
    const { offset, limit, viewer } = this.#query;
    const before = viewer === undefined ? total : 0;
    return found.slice(Math.max(0, offset - before), Math.max(0, offset + limit - before));
  }

  /** Hits by falling score: a private record counts as much as the best open one, or is not ranked. */
  page(
    others: SearchPage,
    hits: readonly Omit<SearchHit, "score">[],
    facets: readonly SearchFacet[] | undefined,
  ): SearchPage {
    const isLast = this.#query.viewer === undefined;
    const scored = hits.map((hit) => ({
      ...hit,
      score: isLast ? UNRANKED : 1,
      ...(this.#query.explain === true ? { parts: [] } : {}),
    }));
    return {
      ...others,
      total: others.total + this.#found,
      exact: others.exact && this.#found <= FACETED,
      ranked: others.ranked + this.#found,
      ...(facets ? { facets } : {}),
      hits: isLast ? [...others.hits, ...scored] : [...scored, ...others.hits],
    };
  }
}

/** The values of most records, equal ones in their order. */
export const nothingFor = ({ facets }: SearchQuery): SearchPage => ({
  ...NOTHING,
  ...(facets ? { facets: facets.by.map((key) => facetOf(key, [], facets.limit, 0)) } : {}),
});

export function facetOf(
  by: StatisticsKey,
  counts: readonly (readonly [value: string | null, records: number])[],
  limit: number,
  found: number,
): SearchFacet {
  const values = counts.flatMap(([value, records]) => (value === null ? [] : [{ value, records }]));
  values.sort((a, b) => b.records - a.records || (a.value < b.value ? -1 : 1));
  return {
    by,
    values: values.slice(0, limit),
    more: values.length > limit,
    exact: found <= FACETED,
  };
}

/** The kind that a filter is about, where it says nothing else. */
export const soleKind = ({ kinds, ...more }: RecordFilter): string | undefined =>
  kinds?.length === 1 && Object.keys(more).length === 0 ? kinds[0] : undefined;

/** Terms of which a score is explained: each costs a walk over its records. */
export const EXPLAINED = 16;

/**
 * Parts that add up to a score.
 * @param nearness what the vector adds to it
 * @param raw what each term adds to a rank, in any measure
 */
export function partsOfScore(
  score: number,
  nearness: number,
  raw: readonly ScorePart[],
): ScorePart[] {
  if (score <= UNRANKED) return [];
  const sum = raw.reduce((total, part) => total + part.score, 0);
  const parts = raw.flatMap((part) =>
    part.score > 0 ? [{ ...part, score: (part.score / sum) * Math.max(0, score - nearness) }] : [],
  );
  if (nearness > 0) parts.push({ reason: "nearness", text: null, score: nearness });
  return parts.toSorted((a, b) => b.score - a.score);
}

/** Inverse document frequency as BM25 has it; above 0 also for a word that every record holds. */
export const rarity = (holding: number, records: number): number =>
  Math.log(1 + (Math.max(0, records - holding) + 0.5) / (holding + 0.5));

/** Weight beside nearness of words that are spelt like the requested ones. */
const GUESSED = 0.5;

/**
 * How much of a question words can answer, from 0 to 1: the share of the words that some record
 * holds, each by how rare it is. Beside nearness the words count as much: where only the "of" of a
 * question is found, the words count for next to nothing.
 *
 * @param holding for each word in how many records it stands
 * @param records number of all records
 */
export function coverage(holding: readonly number[], records: number): number {
  let [known, all] = [0, 0];
  for (const count of holding) {
    const weight = rarity(count, records);
    all += weight;
    if (count > 0) known += weight;
  }
  return known === 0 ? GUESSED : known / all;
}

/** Marks that SQLite puts around a hit: code points that no text has (Unicode noncharacters). */
export const OPEN = "\uFDD0";
export const CLOSE = "\uFDD1";
const MARK = /[\uFDD0\uFDD1]/g;

/**
 * Cuts marked text into parts; absent when it has no hit. Marks within the text itself change only
 * where it is cut.
 */
export function partsOf(marked: string): FragmentPart[] | undefined {
  const parts: FragmentPart[] = [];
  let found = false;
  let from = 0;
  const add = (to: number): void => {
    if (to > from) parts.push({ text: marked.slice(from, to), found });
  };
  for (const { 0: mark, index } of marked.matchAll(MARK)) {
    add(index);
    found = mark === OPEN;
    from = index + 1;
  }
  add(marked.length);
  return parts.some((part) => part.found) ? parts : undefined;
}

/** Number of best records whose words are read. */
export const RECORDS_LOOKED_AT = 10;
/** Words taken from them. */
const WORDS = 8;
/**
 * A word is characteristic when it stands in at least so many of the best records, and in at most
 * this share of all.
 */
const LEAST_RECORDS = 2;
const LARGEST_SHARE = 0.1;

/**
 * Words that mark the subject of the best records of a query (pseudo-relevance feedback): those
 * that stand in several of them and in few others, weighed by how rare they are.
 *
 * @param found stems, a word of each, and in how many of the best it stands
 * @param holding in how many records the stem of one stands
 * @param all number of all records
 */
export function pickRelated<F extends { word: string; stem: string; best: number }>(
  found: readonly F[],
  holding: (one: F) => number,
  all: number,
): F[] {
  return found
    .flatMap((one) => {
      const { word, stem, best } = one;
      if (best < LEAST_RECORDS || stem.length < 3 || /^\d+$/.test(stem)) return [];
      const records = holding(one);
      if (records > Math.max(RECORDS_LOOKED_AT, all * LARGEST_SHARE)) return [];
      return [{ one, word, weight: best * Math.log((all + 1) / (records + 0.5)) }];
    })
    .toSorted((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS)
    .map(({ one }) => one);
}

/**
 * How many letters may differ: none in short words, where every other word is near, and none in a
 * number or what begins with one, where another number is another thing.
 */
export const tolerance = (word: string): number =>
  word.length < 4 || /^[0-9]/.test(word) ? 0 : word.length < 8 ? 1 : 2;
/**
 * Stems that begin with a digit come before this one, in the order of code points. A registry may
 * have as many of them as records, and none is a correction of a word.
 */
export const BEHIND_NUMBERS = ":";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Longer words are not checked for one wrong letter. */
const MAX_CORRECTED_WORD_CHARS = 64;

/**
 * Possible corrections of a word: all with one letter less, more, another one, or two swapped.
 * Stems are near each other only where the error is not in an ending; these have correct endings,
 * which the stemmer removes.
 */
export function oneLetterOff(word: string): string[] {
  const letters = [...word];
  if (tolerance(word) === 0 || letters.length > MAX_CORRECTED_WORD_CHARS) return [];
  const found = new Set<string>();
  for (let at = 0; at <= letters.length; at++) {
    const before = letters.slice(0, at).join("");
    const [first = "", second = "", ...rest] = letters.slice(at);
    const after = rest.join("");
    for (const letter of LETTERS) found.add(before + letter + first + second + after);
    if (first === "") continue;
    found.add(before + second + after);
    for (const letter of LETTERS) found.add(before + letter + second + after);
    if (second !== "") found.add(before + second + first + after);
  }
  found.delete(word);
  return [...found];
}

/**
 * Optimal string alignment distance: letters added, left out, changed, or two swapped. Answers
 * `most + 1` as soon as it is known to be above `most`.
 */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[b.length]!, most + 1);
}
