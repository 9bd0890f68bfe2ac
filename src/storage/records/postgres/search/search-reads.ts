import { parseQuery, type SearchTerms } from "../../../../model/search-query.js";
import type {
  FragmentPart,
  ScorePart,
  SearchedField,
  SearchFacet,
  SearchPage,
  SearchQuery,
} from "../../port.js";
import {
  coverage,
  ESTIMATED,
  EXPLAINED,
  FACETED,
  facetOf,
  isWord,
  oneLetterOff,
  partsOfScore,
  placesOf,
  RANKED,
  RECORDS_LOOKED_AT,
  rarity,
  soleKind,
  soughtOf,
  UNRANKED,
  wordsOf,
  nothingFor,
} from "../../search.js";
import type { RecordFilter } from "../../selection-port.js";
import { conditionsOf, type Dialect, joined, Sql, statisticsSql } from "../../selection.js";
import type { AskedThread } from "../../threads.js";
import { exactVector, type Near } from "../../vectors.js";
import { dialectOf, monthOf } from "../lists.js";
import { type Database, type Row, type Session, statement } from "../statement.js";
import type { ComparedBy, NearQuestion } from "./near-thread.js";
import {
  type Analyzer,
  type AskedStem,
  Commonness,
  FEW_TEXTS,
  lexeme,
  MANY_TEXTS,
  percentOf,
  relatedStems,
  sample,
  sampled,
  type StemTerm,
  spellings,
  tsqueryOf,
} from "./vocabulary.js";

/** Words of a fragment: all of an ordinary name, a stretch of a description. */
const SHOWN: Readonly<Record<SearchedField, number>> = { name: 64, keywords: 64, description: 24 };

/**
 * The parts of a text that show a hit; absent when there is none. The stretch is the one that holds
 * most of the different words.
 */
function fragmentOf(
  field: SearchedField,
  text: string,
  terms: readonly StemTerm[],
  analyzer: Analyzer,
): FragmentPart[] | undefined {
  const places = placesOf(text);
  const found = hitsOf(
    analyzer.stemsOf(places.map(({ word }) => word)),
    terms.filter((term) => (term.field ?? field) === field),
  );
  if (found.every((stem) => stem === undefined)) return undefined;
  const shown = SHOWN[field];
  const first = bestStart(found, shown);
  const last = Math.min(first + shown, places.length);
  const [from, to] = [
    first === 0 ? 0 : places[first]!.from,
    last === places.length ? text.length : places[last - 1]!.to,
  ];
  const parts: FragmentPart[] = [];
  let at = from;
  const add = (until: number, isFound: boolean): void => {
    if (until > at) parts.push({ text: text.slice(at, until), found: isFound });
    at = until;
  };
  for (let index = first; index < last; index++) {
    if (found[index] === undefined) continue;
    add(places[index]!.from, false);
    add(places[index]!.to, true);
  }
  add(to, false);
  if (from > 0) parts.unshift({ text: "…", found: false });
  if (to < text.length) parts.push({ text: "…", found: false });
  return merged(parts);
}

/** The stems that are part of a hit, each at its place. */
function hitsOf(stems: readonly string[], terms: readonly StemTerm[]): (string | undefined)[] {
  const found: (string | undefined)[] = stems.map(() => undefined);
  const byFirst = new Map<string, StemTerm[]>();
  const prefixes: StemTerm[] = [];
  for (const term of terms) {
    if (term.prefix && term.stems.length === 1) prefixes.push(term);
    else if (byFirst.has(term.stems[0]!)) byFirst.get(term.stems[0]!)!.push(term);
    else byFirst.set(term.stems[0]!, [term]);
  }
  const isLast = (stem: string, { stems: own, others, prefix }: StemTerm): boolean =>
    prefix ? stem.startsWith(own.at(-1)!) || others.includes(stem) : stem === own.at(-1);
  for (const [at, stem] of stems.entries()) {
    for (const term of [...(byFirst.get(stem) ?? []), ...prefixes]) {
      const end = at + term.stems.length - 1;
      if (end >= stems.length || !isLast(stems[end]!, term)) continue;
      if (term.stems.slice(0, -1).some((one, index) => stems[at + index] !== one)) continue;
      for (let place = at; place <= end; place++) found[place] = stems[place]!;
    }
  }
  return found;
}

/**
 * Where a stretch of `length` words begins that holds most of the different stems, with some words
 * before the first of them.
 */
function bestStart(found: readonly (string | undefined)[], length: number): number {
  if (found.length <= length) return 0;
  let [best, most] = [0, -1];
  for (const [index, stem] of found.entries()) {
    if (stem === undefined) continue;
    const different = new Set(found.slice(index, index + length).filter((one) => one !== undefined))
      .size;
    if (different > most) [best, most] = [index, different];
  }
  return Math.max(0, Math.min(best - (length >> 2), found.length - length));
}

/** Neighbours of one sort as one. */
function merged(parts: readonly FragmentPart[]): FragmentPart[] {
  const whole: FragmentPart[] = [];
  for (const part of parts) {
    const before = whole.at(-1);
    if (before && before.found === part.found)
      whole[whole.length - 1] = { text: before.text + part.text, found: part.found };
    else whole.push(part);
  }
  return whole;
}

/** Weights of `other`, description, keywords and name, as `ts_rank` takes them: D first. */
const WEIGHTS = "{0.1, 0.3, 0.5, 1.0}";
/** Divides by the logarithm of how many words the text has. */
const BY_LENGTH = 1;
/** Weight of related words beside the requested ones. */
const RELATED_WEIGHT = 0.3;
/** More words than anyone types; each costs a walk over its records. */
const MOST_WORDS = 64;

type Found = [
  ark: string,
  score: number,
  name: string,
  keywords: string,
  description: string,
  id: number,
];

/**
 * The records among which one search looks: SQL on `text AS t` and on `record AS r`, each empty or
 * beginning with AND.
 */
interface Among {
  filter: RecordFilter | undefined;
  ofTexts(sql: Sql): string;
  ofRecords(sql: Sql): string;
}

function amongOf({ filter }: SearchQuery, dialect: Dialect): Among {
  if (filter === undefined) return { filter, ofTexts: () => "", ofRecords: () => "" };
  const conditions = conditionsOf({ filter }, dialect);
  const ofRecords = (sql: Sql): string =>
    ` AND ${joined(
      conditions.map((each) => each.sql(sql)),
      "AND",
    )}`;
  const kind = soleKind(filter);
  return {
    filter,
    ofTexts: (sql) =>
      kind === undefined
        ? ` AND t.state IN (SELECT r.state FROM record AS r
            WHERE r.deleted_at IS NULL${ofRecords(sql)})`
        : ` AND t.kind = ${sql.add(kind)}`,
    ofRecords,
  };
}

/** Texts that a tsquery finds. */
const foundBy = (query: string, among: Among, sql: Sql, of = ""): string =>
  `FROM text AS t ${of} WHERE t.search @@ ${sql.add(query)}::tsquery${among.ofTexts(sql)}`;
/**
 * All texts, the newest first, for words that so many of them have that the first ones suffice.
 * With `OFFSET 0` the planner does not use the index of words, which reads all texts that have them.
 */
const NEWEST = "(SELECT state, kind, search FROM text ORDER BY state DESC OFFSET 0) AS t";
const TOTAL = statement<[number]>("SELECT coalesce(sum(live), 0)::bigint FROM tally");

/** The records of a page: all that a tsquery finds, or the candidates among them. */
const rankedFrom = (
  query: string,
  candidates: readonly number[] | undefined,
  among: Among,
  sql: Sql,
): string =>
  candidates === undefined
    ? foundBy(query, among, sql)
    : `FROM unnest(${sql.add(candidates)}::bigint[]) AS c (state)
        JOIN text AS t ON t.state = c.state`;

/**
 * Rank: for each word how rare it is, times how it stands in the text. `ts_rank` of one word rises
 * with its weight and less and less with how often it stands there: with the rarity it orders as
 * BM25 does. Only the records that reach the page's last score are looked up, for the order of
 * creation among equals.
 */
const ranksSql = (
  weights: readonly (readonly [term: string, weight: number])[],
  sql: Sql,
): string =>
  weights
    .map(
      ([term, weight]) =>
        `${sql.add(weight)}::float8 * ts_rank('${WEIGHTS}', t.search, ` +
        `${sql.add(term)}::tsquery, ${BY_LENGTH})`,
    )
    .join(" + ");

/** @param ranked SELECT of state and score */
function pageSql(ranked: string, { limit, offset }: Page, sql: Sql): string {
  const [most, from] = [sql.add(limit), sql.add(offset)];
  return `WITH ranked AS (${ranked}) SELECT r.ark, f.score / (SELECT max(score)
      FROM ranked), t.name, t.keywords, t.description, f.id
      FROM (SELECT ranked.state, ranked.score, r.id FROM ranked JOIN record AS r
      ON r.state = ranked.state WHERE ranked.score >= coalesce((SELECT score FROM ranked
      ORDER BY score DESC LIMIT 1 OFFSET greatest(${most}::bigint + ${from}::bigint - 1, 0)), 0)
      ORDER BY ranked.score DESC, r.id LIMIT ${most} OFFSET ${from}) AS f
      JOIN record AS r ON r.id = f.id
      JOIN text AS t ON t.state = f.state ORDER BY f.score DESC, f.id`;
}

/** Newest records among which those are sought that hold the words in name or keywords. */
const LOOKED_THROUGH = 4 * RANKED;
/** Sources of candidates that one search asks. */
const MOST_SOURCES = 16;
/**
 * The newest records that a tsquery finds, of them first those with its words in name or keywords.
 * Where many records hold the words, these are found from the newest backwards, else by the index
 * of words.
 */
function candidatesSql(
  query: string,
  share: number,
  isCommon: boolean,
  among: Among,
  sql: Sql,
): string {
  const source = isCommon ? NEWEST : "text AS t";
  const sought = `${sql.add(query)}::tsquery`;
  const most = sql.add(share);
  return `WITH newest AS MATERIALIZED (SELECT t.state, t.search FROM ${source}
      WHERE t.search @@ ${sought}${among.ofTexts(sql)}
      ${isCommon ? "" : "ORDER BY t.state DESC"} LIMIT ${LOOKED_THROUGH})
      (SELECT state FROM newest LIMIT ${most}) UNION
      (SELECT state FROM newest WHERE ts_filter(search, '{a,b}') @@ ${sought} LIMIT ${most})`;
}
/** Found and not ranked, the newest first. */
const restSql = (
  query: string,
  places: readonly number[],
  { limit, offset }: Page,
  among: Among,
  sql: Sql,
): string =>
  `SELECT r.ark, ${UNRANKED}::float8, t.name, t.keywords, t.description, f.id FROM (
    SELECT r.id, t.state FROM text AS t JOIN record AS r ON r.state = t.state
    WHERE t.search @@ ${sql.add(query)}::tsquery${among.ofTexts(sql)} AND NOT EXISTS (SELECT 1
    FROM unnest(${sql.add(places)}::bigint[]) AS c (state) WHERE c.state = t.state)
    ORDER BY r.id DESC LIMIT ${sql.add(limit)} OFFSET ${sql.add(offset)}) AS f
    JOIN text AS t ON t.state = f.state JOIN record AS r ON r.id = f.id ORDER BY f.id DESC`;

/** Near records, with how much they stand out; none of them meets a tsquery. */
interface Nearest {
  near: readonly Near[];
  none: string | undefined;
}
/** Live records near a vector, of the filter, and none that a tsquery finds. */
const nearSql = ({ near, none }: Nearest, among: Among, sql: Sql): string =>
  `SELECT r.state, n.share FROM unnest(${sql.add(near.map(({ id }) => id))}::bigint[],
    ${sql.add(near.map(({ share }) => share))}::float8[]) AS n (id, share)
    JOIN record AS r ON r.id = n.id WHERE r.deleted_at IS NULL${among.ofRecords(sql)}${
      none === undefined
        ? ""
        : ` AND NOT EXISTS (SELECT 1 FROM text AS x WHERE x.state = r.state
            AND x.search @@ ${sql.add(none)}::tsquery)`
    }`;

/**
 * The same with near records: the best score by words counts as much as words can answer, the
 * nearest vector 1.
 * @param found SELECT of state and score by words
 */
function nearPageSql(
  found: string,
  covered: number,
  nearest: Nearest,
  { limit, offset }: Page,
  among: Among,
  sql: Sql,
): string {
  return `WITH words AS (${found}), ranked AS (SELECT u.state, sum(u.part) AS score FROM (
      SELECT state, coalesce(score / nullif((SELECT max(score)
      FROM words), 0), 0) * ${sql.add(covered)}::float8 AS part FROM words
      UNION ALL ${nearSql(nearest, among, sql)}) AS u GROUP BY u.state)
      SELECT r.ark, f.score, t.name, t.keywords, t.description, f.id
      FROM (SELECT ranked.state, ranked.score, r.id FROM ranked JOIN record AS r
      ON r.state = ranked.state
      ORDER BY ranked.score DESC, r.id LIMIT ${sql.add(limit)} OFFSET ${sql.add(offset)}) AS f
      JOIN record AS r ON r.id = f.id JOIN text AS t ON t.state = f.state
      ORDER BY f.score DESC, f.id`;
}

const HOLDER = statement<[text: string]>(
  `SELECT name || ' ' || keywords || ' ' || description || ' ' || other FROM text
    WHERE search @@ $1::tsquery LIMIT 1`,
);
const PARTS = statement<[id: number, term: number, rank: number]>(
  `SELECT r.id, v.place, ts_rank('${WEIGHTS}', t.search, v.query::tsquery, ${BY_LENGTH})::float8
    FROM unnest($1::bigint[]) AS f (id) JOIN record AS r ON r.id = f.id
    JOIN text AS t ON t.state = r.state
    CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS v (query, place)`,
);

/** Behind every key that begins in the same way. */
const LAST_CHARACTER = "\u{10ffff}";

type Page = Pick<SearchQuery, "offset" | "limit">;

/** What a record must or may hold. */
interface Asked {
  /** As a tsquery. */
  query: string;
  /** The terms that count for the rank, by their tsquery, with the weight of each. */
  rated: ReadonlyMap<string, number>;
  /** The terms that fragments show. */
  terms: readonly StemTerm[];
  /** What words count beside nearness. */
  covered?: number;
  /** A tsquery of what no near record may hold. */
  none?: string | undefined;
  /** Tsqueries for the records that are ranked where `query` finds too many. */
  sources: readonly string[];
}

const NO_WORDS: Asked = { query: "", rated: new Map(), terms: [], sources: [] };

/** A query, by its stems. */
interface Sought {
  /** By their tsquery. */
  terms: ReadonlyMap<string, StemTerm>;
  /** A tsquery of what no result may hold. */
  none: string | undefined;
  /** Single words of the query, the terms that those are, and which of the terms. */
  words: readonly { word: string; term: StemTerm; place: number }[];
}

/** Full text over the column `search`, which holds the public text of live records. */
export class SearchReads {
  readonly #commonness = new Commonness();

  readonly #database: Database;
  readonly #analyzer: Analyzer;
  readonly #dialect: Dialect;
  readonly #near: AskedThread<NearQuestion, Near[]>;

  constructor(database: Database, analyzer: Analyzer, near: AskedThread<NearQuestion, Near[]>) {
    this.#database = database;
    this.#analyzer = analyzer;
    this.#dialect = dialectOf(analyzer);
    this.#near = near;
  }

  /** @param signal an abort before the search has begun prevents it; its reason is thrown */
  async search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage> {
    if (query.match === "identifier") return this.#identified(query, signal);
    const parsed = parseQuery(query.text);
    const sought = this.#sought(parsed);
    const isEmpty = sought.terms.size === 0;
    const near = isEmpty && parsed.excluded.length > 0 ? [] : await this.#nearest(query, signal);
    if (isEmpty && near.length === 0) return nothingFor(query);
    signal?.throwIfAborted();
    const among = amongOf(query, this.#dialect);
    // One view of the database for all that is read.
    return this.#database.snapshot((session) => {
      signal?.throwIfAborted();
      return query.match === "all"
        ? this.#all(session, sought, query, among)
        : this.#related(session, sought, near, query, among);
    });
  }

  #sought(query: SearchTerms): Sought {
    const asked = soughtOf(query).map((term) => ({
      asked: term,
      term: this.#analyzer.termOf(term),
    }));
    const terms = byQuery(asked.map(({ term }) => term));
    const places = new Map([...terms.keys()].map((query, place) => [query, place]));
    return {
      terms,
      none:
        query.excluded.length === 0
          ? undefined
          : query.excluded.map((term) => tsqueryOf(this.#analyzer.termOf(term))).join(" | "),
      words: asked.flatMap(({ asked: { words, prefix }, term }) =>
        isWord({ words, prefix })
          ? [{ word: words[0]!, term, place: places.get(tsqueryOf(term))! }]
          : [],
      ),
    };
  }

  /** Records whose key is the text or begins with it, by key. */
  #identified(query: SearchQuery, signal: AbortSignal | undefined): Promise<SearchPage> {
    const { text, offset, limit, facets } = query;
    const among = amongOf(query, this.#dialect);
    const where = (sql: Sql): string =>
      `FROM record AS r WHERE r.key >= ${sql.add(text)} AND r.key < ${sql.add(text + LAST_CHARACTER)}
        AND r.deleted_at IS NULL${among.ofRecords(sql)}`;
    return this.#database.snapshot(async (session) => {
      signal?.throwIfAborted();
      const [[total]] = (await this.#read(session, (sql) => `SELECT count(*) ${where(sql)}`)) as [
        [number],
      ];
      const rows =
        total <= offset
          ? []
          : await this.#read<[ark: string, length: number]>(
              session,
              (sql) =>
                `SELECT r.ark, length(r.key)::bigint ${where(sql)} ORDER BY r.key, r.id
                  LIMIT ${sql.add(limit)} OFFSET ${sql.add(offset)}`,
            );
      const found = (sql: Sql): string => `SELECT r.id ${where(sql)}`;
      return {
        total,
        exact: true,
        ranked: total,
        ...(facets ? { facets: await this.#facets(session, found, total, facets) } : {}),
        hits: rows.map(([ark, length]) => ({
          ark,
          score: [...text].length / length,
          fragments: {},
        })),
      };
    });
  }

  async #nearest(query: SearchQuery, signal: AbortSignal | undefined): Promise<Near[]> {
    const { match, near, filter } = query;
    if (match === "all" || near === undefined) return [];
    const kind = filter && soleKind(filter);
    const sql = new Sql(this.#dialect);
    const records = (): ComparedBy => ({
      text: `SELECT r.id FROM record AS r
        WHERE r.deleted_at IS NULL${amongOf(query, this.#dialect).ofRecords(sql)}`,
      values: sql.values,
    });
    return this.#near.ask(
      {
        near: { model: near.model, vector: exactVector(near.vector) },
        among: filter && (kind === undefined ? records() : { kind }),
      },
      signal,
    );
  }

  /**
   * Every term; the query adds near spellings of unknown words only when no record holds all terms.
   */
  async #all(
    session: Session,
    sought: Sought,
    query: SearchQuery,
    among: Among,
  ): Promise<SearchPage> {
    const { terms, none } = sought;
    // So many words that no record holds them all are not ranked one by one.
    const rated = [...terms.values()].slice(0, MOST_WORDS);
    const asked = (groups: readonly (readonly StemTerm[])[], some: readonly StemTerm[]): Asked => {
      const whole = without(allOf(groups.map((group) => `(${anyOf(group)})`)), none);
      return { query: whole, rated: weighed(some), terms: some, sources: [whole] };
    };
    const exact = await this.#page(
      session,
      asked(
        [...terms.values()].map((term) => [term]),
        rated,
      ),
      query,
      among,
    );
    if (exact.total > 0 || terms.size > MOST_WORDS) return exact;
    const groups = await this.#spellings(session, sought);
    if (groups === undefined) return exact;
    const page = await this.#page(session, asked(groups, groups.flat()), query, among);
    return { ...page, corrected: await this.#corrected(session, sought, groups) };
  }

  async #related(
    session: Session,
    sought: Sought,
    near: readonly Near[],
    query: SearchQuery,
    among: Among,
  ): Promise<SearchPage> {
    const { none } = sought;
    const { asked, groups } = await this.#meant(session, sought, among);
    const nothing = { ...NO_WORDS, none };
    if (asked.length === 0) return this.#page(session, nothing, query, among, near);
    const best = await this.#best(
      session,
      {
        query: without(anyOf(asked), none),
        rated: weighed(asked),
        terms: asked,
        sources: sourcesOf(asked, none),
      },
      { offset: 0, limit: RECORDS_LOOKED_AT },
      among,
    );
    if (best.total === 0) return this.#page(session, nothing, query, among, near);
    const texts = best.found.map(
      ([, , name, keywords, description]) => `${name} ${keywords} ${description}`,
    );
    const records = await this.#records(session);
    const related = (
      await relatedStems(
        session,
        this.#analyzer,
        this.#commonness,
        texts,
        asked.flatMap(({ stems }) => stems),
        records,
      )
    ).map((stem): StemTerm => ({ stems: [stem], others: [], prefix: false, text: stem }));
    const words = [...sought.terms.values()].slice(0, MOST_WORDS).flatMap(({ stems }) => stems);
    const covered =
      near.length === 0
        ? 1
        : coverage(
            [
              ...(
                await this.#commonness.of(session, [...new Set(words.map(lexeme))], records)
              ).values(),
            ],
            records,
          );
    const all = [...asked, ...related];
    const page = await this.#page(
      session,
      {
        query: without(anyOf(all), none),
        rated: new Map([...weighed(related, RELATED_WEIGHT), ...weighed(asked)]),
        terms: all,
        covered,
        none,
        sources: sourcesOf(all, none),
      },
      query,
      among,
      near,
    );
    return groups === undefined
      ? page
      : { ...page, corrected: await this.#corrected(session, sought, groups) };
  }

  /** The terms themselves, or, where no record holds any of them, the words spelt nearly so. */
  async #meant(
    session: Session,
    sought: Sought,
    among: Among,
  ): Promise<{ asked: readonly StemTerm[]; groups?: StemTerm[][] }> {
    const terms = [...sought.terms.values()].slice(0, MOST_WORDS);
    if (terms.length === 0) return { asked: [] };
    const known = await this.#read(
      session,
      (sql) => `SELECT 1 ${foundBy(without(anyOf(terms), sought.none), among, sql)} LIMIT 1`,
    );
    if (known.length > 0) return { asked: terms };
    const groups = await this.#spellings(session, sought);
    return groups === undefined ? { asked: [] } : { asked: groups.flat(), groups };
  }

  /** For each term those that are spelt like it; `undefined` where nothing else is known. */
  async #spellings(session: Session, { terms, words }: Sought): Promise<StemTerm[][] | undefined> {
    const asked = new Map(
      words.slice(0, MOST_WORDS).map(({ word, term }) => [
        term.stems[0]!,
        {
          stem: term.stems[0]!,
          meant: () => [...new Set(this.#analyzer.stemsOf(oneLetterOff(word)))],
        } satisfies AskedStem,
      ]),
    );
    const groups = await spellings(session, [...asked.values()], await this.#records(session));
    if (groups === undefined) return undefined;
    const spelt = new Map([...asked.keys()].map((stem, index) => [stem, groups[index]!]));
    return [...terms.values()].map((term) =>
      isWord({ words: [...term.stems], prefix: term.prefix })
        ? (spelt.get(term.stems[0]!) ?? term.stems).map((stem) => ({
            ...term,
            stems: [stem],
            text: stem,
          }))
        : [term],
    );
  }

  /** Which words other ones stand for, as a record has them. */
  async #corrected(
    session: Session,
    { words }: Sought,
    groups: readonly (readonly StemTerm[])[],
  ): Promise<{ typed: string; meant: string }[]> {
    const corrected: { typed: string; meant: string }[] = [];
    for (const { word, term, place } of words) {
      const stem = groups[place]?.[0]?.stems[0];
      if (stem === undefined || stem === term.stems[0]) continue;
      const held = (await session.query(HOLDER, [lexeme(stem)]))[0]?.[0] ?? "";
      const found = wordsOf(held);
      const at = this.#analyzer.stemsOf(found).indexOf(stem);
      corrected.push({ typed: word, meant: found[at] ?? stem });
    }
    return corrected;
  }

  async #page(
    session: Session,
    asked: Asked,
    query: SearchQuery,
    among: Among,
    near: readonly Near[] = [],
  ): Promise<SearchPage> {
    if (asked.rated.size === 0 && near.length === 0) return nothingFor(query);
    const { total, exact, ranked, found } = await this.#best(session, asked, query, among, near);
    const states = (sql: Sql): string => statesSql(asked, near, among, sql, exact);
    const parts =
      query.explain === true ? await this.#parts(session, found, asked, near) : undefined;
    return {
      total,
      exact,
      ranked,
      ...(query.facets
        ? {
            facets: await this.#facets(
              session,
              (sql) =>
                `SELECT r.id FROM (${states(sql)}) AS u JOIN record AS r ON r.state = u.state`,
              total,
              query.facets,
            ),
          }
        : {}),
      hits: found.map(([ark, score, name, keywords, description, id]) => ({
        ark,
        score,
        fragments: this.#fragments(asked.terms, { name, keywords, description }),
        ...(parts === undefined ? {} : { parts: parts.get(id)! }),
      })),
    };
  }

  async #parts(
    session: Session,
    found: readonly Found[],
    { rated, terms }: Asked,
    near: readonly Near[],
  ): Promise<Map<number, ScorePart[]>> {
    const raw = new Map<number, ScorePart[]>(found.map(([, , , , , id]) => [id, []]));
    const byTerm = byQuery(terms);
    const some = [...rated].toSorted(([, a], [, b]) => b - a).slice(0, EXPLAINED);
    const records = await this.#records(session);
    const counts = await this.#commonness.of(
      session,
      some.map(([query]) => query),
      records,
    );
    for (const [id, place, rank] of await session.query(PARTS, [
      [...raw.keys()],
      some.map(([query]) => query),
    ])) {
      const [query, weight] = some[place - 1]!;
      raw.get(id)!.push({
        reason: weight < 1 ? "related" : "term",
        text: byTerm.get(query)!.text,
        // A term that does not stand there has a rank of nearly 0.
        score: rank > 1e-12 ? rank * weight * rarity(counts.get(query)!, records) : 0,
      });
    }
    const shares = new Map(near.map(({ id, share }) => [id, share]));
    return new Map(
      found.map(([, score, , , , id]) => [
        id,
        partsOfScore(score, shares.get(id) ?? 0, raw.get(id)!),
      ]),
    );
  }

  async #best(
    session: Session,
    asked: Asked,
    page: Page,
    among: Among,
    near: readonly Near[] = [],
  ): Promise<{ total: number; exact: boolean; ranked: number; found: Found[] }> {
    const { query, rated, covered = 1, none } = asked;
    const { offset, limit } = page;
    const records = await this.#records(session);
    const estimate =
      rated.size === 0 ? undefined : await this.#estimate(session, query, among, records);
    const exact = estimate === undefined;
    const words =
      estimate ??
      (rated.size === 0
        ? 0
        : (
            await this.#read<[number]>(
              session,
              (sql) => `SELECT count(*) ${foundBy(query, among, sql)}`,
            )
          )[0]![0]);
    // Near records are few beside so many that they are not counted.
    const total =
      near.length === 0 || !exact
        ? words
        : (
            await this.#read<[number]>(
              session,
              (sql) => `SELECT count(*) FROM (${statesSql(asked, near, among, sql)}) AS u`,
            )
          )[0]![0];
    if (total === 0 || limit === 0)
      return { total, exact, ranked: Math.min(total, RANKED), found: [] };
    const counts = await this.#commonness.of(session, [...rated.keys()], records);
    const candidates =
      words > RANKED ? await this.#candidates(session, asked, among, records, words) : undefined;
    const weights = [...rated].map(
      ([term, weight]) => [term, weight * rarity(counts.get(term)!, records)] as const,
    );
    const nearest = { near, none };
    const found = await this.#read<Found>(
      session,
      (sql) => {
        const ranks =
          rated.size === 0
            ? "SELECT NULL::bigint AS state, 0::float8 AS score WHERE false"
            : `SELECT t.state, ${ranksSql(weights, sql)} AS score
                ${rankedFrom(query, candidates, among, sql)}`;
        return near.length === 0
          ? pageSql(ranks, page, sql)
          : nearPageSql(ranks, covered, nearest, page, among, sql);
      },
      among.filter === undefined,
    );
    if (candidates === undefined) return { total, exact, ranked: total, found };
    const places = new Set(candidates);
    if (near.length > 0)
      for (const [state] of await this.#read<[state: number]>(
        session,
        (sql) => `SELECT state FROM (${nearSql(nearest, among, sql)}) AS n`,
      ))
        places.add(state);
    if (found.length < limit && places.size < total) {
      const rest = await this.#read<Found>(session, (sql) =>
        restSql(
          query,
          [...places],
          { limit: limit - found.length, offset: Math.max(0, offset - places.size) },
          among,
          sql,
        ),
      );
      for (const row of rest) found.push(row);
    }
    return { total, exact, ranked: places.size, found };
  }

  /**
   * How many records are found, where a sample shows that they are many: PostgreSQL would read all
   * of them to count them. `undefined` where they are to be counted.
   */
  async #estimate(
    session: Session,
    query: string,
    among: Among,
    records: number,
  ): Promise<number | undefined> {
    let estimate = 0;
    // Most searches find few records: a small sample shows that at once.
    for (const size of [FEW_TEXTS, MANY_TEXTS]) {
      const percent = percentOf(size, records);
      if (percent === undefined) return undefined;
      const [[texts, all]] = (await this.#read<[number, number]>(session, (sql) => {
        const part = sql.add(percent);
        return `SELECT count(*), ${sampled(part)} ${foundBy(query, among, sql, sample(part))}`;
      })) as [[number, number]];
      estimate = Number(((texts / Math.max(all, 1)) * records).toPrecision(2));
      if (estimate <= ESTIMATED) return undefined;
    }
    return estimate;
  }

  /** An equal share of each source: {@link RANKED} in all. */
  async #candidates(
    session: Session,
    { sources }: Asked,
    among: Among,
    records: number,
    found: number,
  ): Promise<number[]> {
    const some = sources.slice(0, MOST_SOURCES);
    const share = Math.ceil(RANKED / (2 * some.length));
    const counts =
      some.length === 1
        ? new Map([[some[0]!, found]])
        : await this.#commonness.of(session, some, records);
    const states = new Set<number>();
    for (const source of some) {
      const count = counts.get(source)!;
      // The index of words reads all that hold them, the walk backwards all that are newer.
      const isCommon = LOOKED_THROUGH * records < count * count;
      const rows = await this.#read<[state: number]>(session, (sql) =>
        candidatesSql(source, share, isCommon, among, sql),
      );
      for (const [state] of rows) states.add(state);
    }
    return [...states];
  }

  /** Reads what a statement with parameters of its own finds. */
  async #read<R extends Row>(
    session: Session,
    write: (sql: Sql) => string,
    kept = false,
  ): Promise<R[]> {
    const sql = new Sql(this.#dialect);
    const text = write(sql);
    return session.query(statement<R>(text, { kept }), sql.values);
  }

  /**
   * Counts what is found, or the newest {@link FACETED} of it.
   * @param found SELECT of the numbers of all that is found
   */
  async #facets(
    session: Session,
    found: (sql: Sql) => string,
    total: number,
    { by, limit }: NonNullable<SearchQuery["facets"]>,
  ): Promise<SearchFacet[]> {
    const rows = await this.#read<[id: number]>(
      session,
      (sql) =>
        `SELECT f.id FROM (${found(sql)}) AS f (id) ORDER BY f.id DESC LIMIT ${sql.add(FACETED)}`,
    );
    const ids = rows.map(([id]) => id);
    const facets: SearchFacet[] = [];
    for (const key of by) {
      // One more for the records without a value.
      const { text, sql } = statisticsSql(
        { filter: {}, by: [key], limit: limit + 1 },
        {
          ...this.#dialect,
          monthOf,
          from: (_conditions, _keys, main) => ({
            from: `unnest(${main.add(ids)}::bigint[]) AS f (id) JOIN record AS r ON r.id = f.id${
              key === "keyword" ? " JOIN keyword AS g ON g.record = r.id" : ""
            }`,
            extra: [],
          }),
        },
      );
      const counts = await session.query(
        statement<[value: string | null, records: string, bytes: string]>(text, { kept: false }),
        sql.values,
      );
      facets.push(
        facetOf(
          key,
          // A sum of counts is numeric, which comes as text.
          counts.map(([value, records]) => [value, Number(records)] as const),
          limit,
          total,
        ),
      );
    }
    return facets;
  }

  #fragments(
    terms: readonly StemTerm[],
    texts: Readonly<Record<SearchedField, string>>,
  ): Partial<Record<SearchedField, FragmentPart[]>> {
    const fragments: Partial<Record<SearchedField, FragmentPart[]>> = {};
    for (const [field, text] of Object.entries(texts) as [SearchedField, string][]) {
      const parts = fragmentOf(field, text, terms, this.#analyzer);
      if (parts) fragments[field] = parts;
    }
    return fragments;
  }

  async #records(session: Session): Promise<number> {
    return (await session.query(TOTAL))[0]![0];
  }
}

/** SELECT of the states of all that is found, or of the newest {@link FACETED} of very many. */
const statesSql = (
  { query, rated, none }: Asked,
  near: readonly Near[],
  among: Among,
  sql: Sql,
  all = true,
): string =>
  [
    ...(rated.size === 0
      ? []
      : all
        ? [`SELECT t.state ${foundBy(query, among, sql)}`]
        : [
            `(SELECT t.state FROM ${NEWEST} WHERE t.search @@ ${sql.add(query)}::tsquery
              ${among.ofTexts(sql)} LIMIT ${FACETED})`,
          ]),
    ...(near.length === 0
      ? []
      : [`SELECT state FROM (${nearSql({ near, none }, among, sql)}) AS n`]),
  ].join(" UNION ");

const byQuery = (terms: readonly StemTerm[]): Map<string, StemTerm> =>
  new Map(terms.map((term) => [tsqueryOf(term), term]));
const weighed = (terms: readonly StemTerm[], weight = 1): Map<string, number> =>
  new Map(terms.map((term) => [tsqueryOf(term), weight]));

/** A tsquery that meets all of the others. */
const allOf = (queries: readonly string[]): string => queries.join(" & ");
/** A tsquery that any of the terms meets. */
const anyOf = (terms: readonly StemTerm[]): string => terms.map(tsqueryOf).join(" | ");
/** All of the terms, and each by itself. */
const sourcesOf = (terms: readonly StemTerm[], none: string | undefined): string[] =>
  [...(terms.length > 1 ? [allOf(terms.map(tsqueryOf))] : []), ...terms.map(tsqueryOf)].map(
    (query) => without(query, none),
  );
const without = (query: string, none: string | undefined): string =>
  none === undefined ? query : `(${query}) & !(${none})`;
