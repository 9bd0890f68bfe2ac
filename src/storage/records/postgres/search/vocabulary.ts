/** Words in PostgreSQL: how texts are stored for search, and which words there are. */
import { type QueryField, type QueryTerm, textOf } from "../../../../model/search-query.js";
import type { SearchText } from "../../port.js";
import {
  BEHIND_NUMBERS,
  completionsOf,
  distance,
  ESTIMATED,
  everyWordOf,
  pickRelated,
  RECORDS_LOOKED_AT,
  rareWordsOf,
  Stemmer,
  tolerance,
} from "../../search.js";
import { type Session, statement } from "../statement.js";

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

/** Near spellings of one word that are tried. */
const MOST_SPELLINGS = 8;
/** Near spellings whose frequency is looked up. */
const MOST_LOOKED_AT = 64;
/** Stems of one answer: between two answers other work may run. */
const AT_ONCE = 5000;

const COUNTS = statement<[query: string, records: number]>(
  `SELECT asked.query, (SELECT count(*) FROM text AS t WHERE t.search @@ asked.query::tsquery)
    FROM unnest($1::text[]) AS asked (query)`,
);
const KNOWN = statement<[stem: string]>(
  `SELECT t.stem FROM unnest($1::smallint[], $2::text[]) AS asked (length, stem)
    JOIN term AS t USING (length, stem)`,
);
const TERMS = statement<[stem: string]>(
  `SELECT stem FROM term WHERE length = $1 AND stem > $2 ORDER BY stem LIMIT ${AT_ONCE}`,
);

/** Texts in the sample that separates common words from rare ones, and in the one for a number. */
export const [FEW_TEXTS, MANY_TEXTS] = [2_000, 20_000];
/** The same pages each time, so that the pages of one result have one estimate. */
export const sample = (percent: string): string => `TABLESAMPLE SYSTEM (${percent}) REPEATABLE (1)`;
/** SELECT of how many texts that sample has: pages hold more or fewer of them. */
export const sampled = (percent: string): string =>
  `(SELECT count(*) FROM text AS s ${sample(percent)})`;
const HELD = statement<[query: string, texts: number, all: number]>(
  `SELECT asked.query, count(*), ${sampled("$2")} FROM text AS t ${sample("$2")}
    CROSS JOIN unnest($1::text[]) AS asked (query)
    WHERE t.search @@ asked.query::tsquery GROUP BY asked.query`,
);

/**
 * The part of all texts that a sample is, in percent; `undefined` where they are so few that counting
 * takes no longer.
 * @param records number of all records
 */
export const percentOf = (texts: number, records: number): number | undefined =>
  records <= ESTIMATED ? undefined : (texts / records) * 100;

/** Returns the number of records that hold each stem: of common ones an estimate. */
const countsOf = async (
  session: Session,
  stems: readonly string[],
  records: number,
): Promise<Map<string, number>> => {
  const counts = await countsFor(session, stems.map(lexeme), records);
  return new Map(stems.map((stem) => [stem, counts.get(lexeme(stem))!]));
};
/** Returns the number of records that each tsquery finds: of common ones an estimate. */
async function countsFor(
  session: Session,
  queries: readonly string[],
  records: number,
): Promise<Map<string, number>> {
  if (queries.length === 0) return new Map();
  const counts = new Map<string, number>();
  // PostgreSQL reads every text that has a common word, which takes seconds.
  const percent = percentOf(FEW_TEXTS, records);
  if (percent !== undefined)
    for (const [query, texts, all] of await session.query(HELD, [queries, percent])) {
      const estimate = (texts / all) * records;
      if (estimate > ESTIMATED) counts.set(query, estimate);
    }
  const rare = queries.filter((query) => !counts.has(query));
  if (rare.length > 0)
    for (const [query, found] of await session.query(COUNTS, [rare])) counts.set(query, found);
  return counts;
}

/** ms for which a count serves for a rank, and how many counts are cached. */
const FRESH = 60_000;
const MOST_KEPT = 20_000;

/** How common terms are, for a rank: a count of a minute ago is good enough. */
export class Commonness {
  readonly #kept = new Map<string, { records: number; at: number }>();

  /**
   * @param queries terms, each as a tsquery
   * @param records number of all records
   */
  async of(
    session: Session,
    queries: readonly string[],
    records: number,
  ): Promise<Map<string, number>> {
    const now = performance.now();
    const missing = queries.filter(
      (query) => !((this.#kept.get(query)?.at ?? -Infinity) > now - FRESH),
    );
    if (this.#kept.size + missing.length > MOST_KEPT) this.#kept.clear();
    const counted = await countsFor(session, missing, records);
    for (const [query, records] of counted) this.#kept.set(query, { records, at: now });
    return new Map(
      queries.map((query) => [query, counted.get(query) ?? this.#kept.get(query)?.records ?? 0]),
    );
  }
}

/** A word's stem, and the stems of its possible corrections. */
export interface AskedStem {
  stem: string;
  meant(): readonly string[];
}

/**
 * For each stem those spelt most like it: itself when a record holds it. `undefined` when a stem
 * has none, or nothing changed. Walks the dictionary once for each unknown word, so it is called
 * only when nothing else is found.
 */
export async function spellings(
  session: Session,
  asked: readonly AskedStem[],
  records: number,
): Promise<string[][] | undefined> {
  const counts = await countsOf(
    session,
    asked.map(({ stem }) => stem),
    records,
  );
  const groups: string[][] = [];
  let changed = false;
  for (const { stem, meant } of asked) {
    if (counts.get(stem)! > 0) {
      groups.push([stem]);
      continue;
    }
    const near = await nearest(session, stem, meant(), records);
    if (near.length === 0) return undefined;
    groups.push(near);
    changed = true;
  }
  return changed ? groups : undefined;
}

async function nearest(
  session: Session,
  stem: string,
  meant: readonly string[],
  records: number,
): Promise<string[]> {
  const most = tolerance(stem);
  const known = await session.query(KNOWN, [meant.map((one) => one.length), meant]);
  const counts = await countsOf(
    session,
    known.map(([one]) => one),
    records,
  );
  const held = [...counts].filter(([, count]) => count > 0);
  const found: { term: string; unavailable: number }[] = held.map(([term]) => ({
    term,
    unavailable: 1,
  }));
  for (let length = stem.length - most; most > 0 && length <= stem.length + most; length++) {
    for (let after = BEHIND_NUMBERS; ;) {
      const terms = await session.query(TERMS, [length, after]);
      for (const [term] of terms) {
        const unavailable = distance(stem, term, most);
        if (unavailable <= most && !held.some(([known]) => known === term))
          found.push({ term, unavailable });
      }
      if (terms.length < AT_ONCE) break;
      after = terms.at(-1)![0];
    }
  }
  // The dictionary still holds stems of records that are gone.
  for (let unavailable = 0; unavailable <= Math.max(most, 1); unavailable++) {
    const some = found
      .filter((one) => one.unavailable === unavailable)
      .slice(0, MOST_LOOKED_AT)
      .map(({ term }) => term);
    if (some.length === 0) continue;
    const live = [...(await countsOf(session, some, records))].filter(([, count]) => count > 0);
    if (live.length > 0)
      return live
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, MOST_SPELLINGS)
        .map(([term]) => term);
  }
  return [];
}

/**
 * Stems that mark the subject of the best records of a query.
 * @param texts of the best records
 * @param asked stems of the query, which are not returned
 * @param records number of all records
 */
export async function relatedStems(
  session: Session,
  analyzer: Analyzer,
  commonness: Commonness,
  texts: readonly string[],
  asked: readonly string[],
  records: number,
): Promise<string[]> {
  const stems = texts
    .slice(0, RECORDS_LOOKED_AT)
    .map((text) => new Set(analyzer.stemsOf(rareWordsOf(text))));
  const best = new Map<string, number>();
  for (const stem of stems.flatMap((some) => [...some])) best.set(stem, (best.get(stem) ?? 0) + 1);
  for (const stem of asked) best.delete(stem);
  const shared = [...best]
    .filter(([stem, times]) => times > 1 && stem.length > 2)
    .map(([stem]) => stem);
  const counts = await commonness.of(session, shared.map(lexeme), records);
  return pickRelated(
    [...best].map(([stem, times]) => ({ word: stem, stem, best: times })),
    (stem) => counts.get(lexeme(stem)) ?? Infinity,
    records,
  );
}
