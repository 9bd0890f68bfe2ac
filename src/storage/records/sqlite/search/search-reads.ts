import { LRUCache } from "lru-cache";
import { getOrInsert } from "../../../../get-or-insert.js";
import { parseQuery, type QueryTerm, textOf } from "../../../../model/search-query.js";
import type {
  ScorePart,
  SearchedField,
  SearchFacet,
  SearchHit,
  SearchPage,
  SearchQuery,
} from "../../port.js";
import {
  allOf,
  anyOf,
  CLOSE,
  completionsFor,
  completionsOf,
  coverage,
  EXPLAINED,
  FACETED,
  facetOf,
  kindWeightSql,
  matchOf,
  OPEN,
  partsOf,
  partsOfScore,
  PRIVATE_TERMS,
  RANKED,
  RECORDS_LOOKED_AT,
  soughtOf,
  subjectOf,
  UNRANKED,
  without,
  WithPrivate,
  nothingFor,
} from "../../search.js";
import type { Viewer } from "../../port/record.js";
import type { RecordFilter } from "../../port/selection.js";
import { conditionsOf, type Dialect, joined, NO_IDS, Sql, statisticsSql } from "../../selection.js";
import { type Near, nearestSql } from "../../vectors.js";
import { bytesOf } from "../derived.js";
import { DIALECT, monthOf, SelectionReads, yearOf } from "../selection-reads.js";
import type { Connection, Row, Statement, Value } from "../statement.js";
import { rankedPrivateSql } from "./private-search.js";
import { RelatedWords, Vocabulary } from "./vocabulary.js";

/** Weights of the columns of `search`, in its order: name, description, keywords, other. */
const RANK = "-bm25(search, 10.0, 3.0, 5.0, 1.0)";
/** Columns that fragments come from, by their number in `search`. */
const COLUMNS: readonly [field: SearchedField, column: number][] = [
  ["name", 0],
  ["keywords", 2],
  ["description", 1],
];
/** Words of a fragment: all of an ordinary name, a stretch of a description. */
const SHOWN: Readonly<Record<SearchedField, number>> = { name: 64, keywords: 64, description: 24 };
/** Weight of related words beside the requested ones. */
const RELATED_WEIGHT = 0.3;
/** More words than anyone types; each costs a walk over its records. */
const MAX_WORDS = 64;

/** Behind every key that begins in the same way. */
const LAST_CHARACTER = "\u{10ffff}";

/** An FTS5 query. */
interface Match {
  query: string;
  /** Queries for the records that are ranked where it finds too many. */
  sources: readonly string[];
  /** What no result may hold. */
  excluded: readonly string[];
  /** What it is made of. */
  terms: readonly QueryTerm[];
}
type Page = Pick<SearchQuery, "offset" | "limit">;

/** Records near a vector, which are found beside those with the words. */
interface Nearby {
  near: readonly Near[];
  /** FTS5 queries that find what none of them may be. */
  excluded: readonly string[];
  /** What the best score by words counts; the nearest vector counts 1. */
  covered: number;
}
const NONE_NEARBY: Nearby = { near: [], excluded: [], covered: 1 };

type Found = [id: number, ark: string, score: number];

/** The records among which one search looks, and what it has counted. */
interface Among {
  viewer: Viewer | undefined;
  filter: RecordFilter | undefined;
  /** What joins `record AS r` to `search AS s`, where {@link ofWords} needs it. */
  join: string;
  /** Conditions on `search AS s`; empty, or beginning with AND. */
  ofWords(sql: Sql): string;
  /** The same on `record AS r`. */
  ofRecords(sql: Sql): string;
  counts: Map<string, number>;
  candidates: Map<string, readonly number[]>;
  /** Private records that facets count too. */
  beside?: readonly number[];
}

/** Records of a filter that are named; of more each hit is looked up. */
const MAX_NAMED_RECORDS = 50_000;
/** Hits of a page whose matches are looked up one by one; more are met on a walk over the index. */
const MAX_HITS_LOOKED_UP = 20;

/** Search over the FTS5 index `search`, which holds the public text of live records. */
export class SearchReads {
  readonly #vocabulary: Vocabulary;
  readonly #related: RelatedWords;
  readonly #selection: SelectionReads;
  readonly #prepared = new LRUCache<string, Statement>({ max: MAX_PREPARED });
  /** What searches of all records have counted, as of the commit with this sequence. */
  #known = { sequence: -1, ...nothingKnown() };
  readonly #sequence;
  readonly #fragments;
  readonly #records;

  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;

    this.#selection = new SelectionReads(connection);
    this.#vocabulary = new Vocabulary(connection);
    this.#related = new RelatedWords(connection, this.#vocabulary);
    this.#records = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
    this.#sequence = connection.prepare<[number]>(
      "SELECT coalesce(max(sequence), 0) FROM change_log",
    );
    const marked = COLUMNS.map(
      ([field, column]) =>
        `snippet(search, ${column}, '${OPEN}', '${CLOSE}', '…', ${SHOWN[field]})`,
    );
    const read = `SELECT rowid, ${marked.join(", ")} FROM search WHERE search MATCH ?`;
    type Marked = [id: number, string, string, string];
    const each = `${read} AND rowid IN (SELECT value FROM json_each(?))`;
    this.#fragments = {
      each: connection.prepare<Marked>(each),
      walk: connection.prepare<Marked>(
        `${read} AND rowid >= ? AND rowid <= ? AND +rowid IN (SELECT value FROM json_each(?))`,
      ),
      private: connection.prepare<Marked>(each.replace(/\bsearch\b/g, "private_search")),
    };
  }

  search(query: SearchQuery): SearchPage {
    // One view of the file for all that is read.
    const read = (work: () => SearchPage): SearchPage =>
      this.#connection.transaction(work, "DEFERRED");
    if (query.match === "identifier")
      return read(() => this.#identified(query, this.#among(query)));
    const terms = parseQuery(query.text);
    const sought = soughtOf(terms);
    const excluded = terms.excluded.map((term) => this.#match(term));
    const asksNear =
      query.match === "related" &&
      query.near !== undefined &&
      (sought.length > 0 || excluded.length === 0);
    if (sought.length === 0 && !asksNear) return nothingFor(query);
    const open = (asked: SearchQuery, found: readonly number[]): SearchPage => {
      const among = { ...this.#among(asked), beside: found };
      return asked.match === "all"
        ? this.#all(sought, excluded, asked, among)
        : this.#relatedTo(sought.slice(0, MAX_WORDS), excluded, asked, among);
    };
    return read(() => {
      const found = this.#privateOnes(sought, terms.excluded, query);
      return found.length === 0
        ? open(query, [])
        : this.#withPrivate(found, sought, query, (asked) => open(asked, found));
    });
  }

  /**
   * The private records that the viewer sees, of a query for all its words or for any of them; no
   * other spellings or related words are looked for.
   */
  #privateOnes(
    sought: readonly QueryTerm[],
    excluded: readonly QueryTerm[],
    { viewer, filter, match }: SearchQuery,
  ): readonly number[] {
    const terms = sought.slice(0, MAX_WORDS).map((term) => this.#wholeMatch(term));
    if (terms.length === 0) return [];
    const sql = new Sql(this.#selection.dialect, viewer);
    const found = rankedPrivateSql(
      {
        query: without(
          match === "all" ? allOf(terms.map((term) => [term])) : anyOf(terms),
          excluded.map((term) => this.#wholeMatch(term)),
        ),
        terms: terms.slice(0, PRIVATE_TERMS),
        conditions: statedBy(filter, this.#selection.dialect),
        most: FACETED + 1,
      },
      sql,
    );
    return found === undefined
      ? []
      : (JSON.parse(this.#text(`SELECT json_group_array(id) FROM (${found})`, sql)) as number[]);
  }

  #withPrivate(
    found: readonly number[],
    sought: readonly QueryTerm[],
    query: SearchQuery,
    open: (query: SearchQuery) => SearchPage,
  ): SearchPage {
    const both = new WithPrivate(query, found.length);
    const page = open(both.open);
    const others = both.others(page);
    const ids = both.shown(found, others);
    const sql = new Sql(DIALECT);
    const arks = new Map(
      this.#rows<[id: number, ark: string]>(
        `SELECT r.id, r.ark FROM record AS r
          WHERE r.id IN (SELECT value FROM json_each(${sql.add(JSON.stringify(ids))}))`,
        sql,
      ),
    );
    const match = anyOf(sought.map((term) => this.#wholeMatch(term)));
    const fragments = fragmentsIn(this.#fragments.private.all([match, JSON.stringify(ids)]));
    const hits = ids.map((id) => ({ ark: arks.get(id)!, fragments: fragments.get(id) ?? {} }));
    return both.page(
      others,
      hits,
      query.facets &&
        (others.total > 0 ? others.facets : this.#facets(() => NO_IDS, 0, query.facets, found)),
    );
  }

  /**
   * Few records are named, of many each is looked up. Where there is no filter, what earlier
   * searches counted is known until the next commit. Call within the transaction that reads the
   * rest.
   */
  #among({ filter, viewer }: SearchQuery): Among {
    if (filter === undefined) {
      const [sequence] = this.#sequence.one();
      const { counts, candidates } = this.#known;
      if (sequence !== this.#known.sequence || counts.size + candidates.size > MAX_KNOWN)
        this.#known = { sequence, ...nothingKnown() };
      return { ...this.#known, viewer, filter, join: "", ofWords: () => "", ofRecords: () => "" };
    }
    const state = { viewer, filter, ...nothingKnown() };
    const few = this.#selection.few({ filter, viewer }, MAX_NAMED_RECORDS);
    if (few === undefined) {
      const stated = statedBy(filter, this.#selection.dialect);
      return {
        ...state,
        join: "CROSS JOIN record AS r ON r.id = s.rowid",
        ofWords: stated,
        ofRecords: stated,
      };
    }
    const [least, most] = rangeOf(JSON.parse(few) as number[]);
    const named = (sql: Sql): string => `IN (SELECT value FROM json_each(${sql.add(few)}))`;
    return {
      ...state,
      join: "",
      // The sign keeps SQLite from one walk for each record.
      ofWords: (sql) =>
        ` AND s.rowid >= ${sql.add(least)} AND s.rowid <= ${sql.add(most)} AND +s.rowid ${named(sql)}`,
      ofRecords: (sql) => ` AND r.id ${named(sql)}`,
    };
  }

  #match(term: QueryTerm): string {
    // What no record holds costs time and finds nothing.
    return this.#wholeMatch(
      term.forms === undefined ? term : { ...term, forms: this.#vocabulary.held(term.forms) },
    );
  }

  /** The same where it is not known which words there are. */
  #wholeMatch(term: QueryTerm): string {
    return matchOf(
      term,
      completionsFor(term, (last) =>
        completionsOf(last, (words) => this.#vocabulary.stemmer.stemsOf(words)),
      ),
    );
  }

  /** Records whose key is the text or begins with it, by key. */
  #identified({ text, offset, limit, facets }: SearchQuery, among: Among): SearchPage {
    const where = (sql: Sql): string =>
      `FROM record AS r WHERE r.key >= ${sql.add(text)} AND r.key < ${sql.add(text + LAST_CHARACTER)}
        AND r.deleted_at IS NULL AND ${sql.seen("r")}${among.ofRecords(sql)}`;
    const counted = new Sql(DIALECT, among.viewer);
    const total = this.#number(`SELECT count(*) ${where(counted)}`, counted);
    const rows = (): Found[] => {
      const sql = new Sql(DIALECT, among.viewer);
      const length = sql.add([...text].length);
      return this.#rows<Found>(
        `SELECT r.id, r.ark, 1.0 * ${length} / length(r.key) ${where(sql)}
          ORDER BY r.key, r.id LIMIT ${sql.add(limit)} OFFSET ${sql.add(offset)}`,
        sql,
      );
    };
    const page = this.#shown(total, total, total <= offset ? [] : rows(), [], {});
    if (!facets) return page;
    const found = (sql: Sql): string => `SELECT r.id AS id ${where(sql)}`;
    return { ...page, facets: this.#facets(found, total, facets) };
  }

  /**
   * Every term. Where no record holds all of them: without stop words of any language, then with
   * near spellings of unknown words, then any term.
   */
  #all(
    sought: readonly QueryTerm[],
    excluded: readonly string[],
    query: SearchQuery,
    among: Among,
  ): SearchPage {
    const every = (groups: readonly (readonly QueryTerm[])[]): SearchPage => {
      const whole = allOf(groups.map((group) => group.map((term) => this.#match(term))));
      const match = { query: whole, sources: [whole], excluded, terms: groups.flat() };
      return this.#page([match], query, among);
    };
    const exact = every(sought.map((term) => [term]));
    if (exact.total > 0) return exact;
    const asked = subjectOf(sought);
    if (asked !== sought) {
      const page = every(asked.map((term) => [term]));
      if (page.total > 0) return page;
    }
    const spellings = this.#vocabulary.spellings(asked);
    const groups = spellings?.map(({ terms }) => terms) ?? asked.map((term) => [term]);
    const corrected = this.#corrected(asked, spellings);
    if (spellings?.every(({ isUnknown }) => !isUnknown) === true) {
      const page = every(groups);
      if (page.total > 0) return { ...page, ...corrected };
    }
    if (sought.length === 1 && asked.length === 1) return { ...exact, ...corrected };
    // A stop word of another language counts where nothing else is found: "dog" is one in Danish.
    for (const terms of asked === sought ? [groups.flat()] : [groups.flat(), sought]) {
      const any = this.#anyTerm(terms.slice(0, MAX_WORDS), excluded);
      const page = this.#page([any], query, among);
      if (page.total > 0) return { ...page, ...corrected, matchesAnyWord: true };
    }
    return exact;
  }

  /** Any term; where too many records hold one, first those that hold all are ranked. */
  #anyTerm(terms: readonly QueryTerm[], excluded: readonly string[]): Match {
    const each = terms.map((term) => this.#match(term));
    const whole = allOf(each.map((one) => [one]));
    const sources = each.length === 1 ? each : [whole, ...each];
    return { query: anyOf(each), sources, excluded, terms };
  }

  #relatedTo(
    sought: readonly QueryTerm[],
    excluded: readonly string[],
    query: SearchQuery,
    among: Among,
  ): SearchPage {
    const near = query.near ? this.#nearest(query.near, among) : [];
    const words = sought.flatMap((term) => term.words);
    const covered = near.length === 0 ? 1 : this.#coverageOf(words);
    const nearby = { near, excluded, covered };
    const known = sought.length > 0 && this.#count([this.#anyTerm(sought, excluded)], among) > 0;
    const spellings = known ? undefined : this.#vocabulary.spellings(sought);
    const asked = known ? sought : (spellings ?? []).flatMap(({ terms }) => terms);
    if (asked.length === 0) return this.#page([], query, among, nearby);
    const match = this.#anyTerm(asked, excluded);
    const best = this.#best([match], { offset: 0, limit: RECORDS_LOOKED_AT }, among);
    const related = this.#related
      .of(
        best.rows.map(([id]) => id),
        asked.flatMap((term) => term.words),
      )
      .map((word) => ({ words: [word], prefix: false }));
    const page = this.#page(
      [match, ...(related.length > 0 ? [this.#anyTerm(related, excluded)] : [])],
      query,
      among,
      nearby,
    );
    return { ...page, ...this.#corrected(sought, spellings) };
  }

  #nearest({ model, vector }: NonNullable<SearchQuery["near"]>, among: Among): Near[] {
    const sql = new Sql(DIALECT, among.viewer);
    const asked = sql.add(bytesOf(vector));
    // Vectors of another length cannot be compared: a server changed its model under the same name.
    const compared = `e.model = ${sql.add(model)} AND length(e.vector) = length(${asked})`;
    return this.#rows<[id: number, share: number]>(
      nearestSql(
        `1 - vector_distance_cos(e.vector, ${asked})`,
        `${compared}${among.ofRecords(sql)}`,
      ),
      sql,
    ).map(([id, share]) => ({ id, share }));
  }

  /** Which words other ones stand for. */
  #corrected(
    sought: readonly QueryTerm[],
    spellings: ReturnType<Vocabulary["spellings"]>,
  ): Pick<SearchPage, "corrected"> {
    const corrected = (spellings ?? []).flatMap(({ terms, isCorrection }, index) => {
      const [typed, meant] = [sought[index]!.words[0]!, terms[0]!.words[0]!];
      return isCorrection ? [{ typed, meant: this.#vocabulary.asWritten(meant) }] : [];
    });
    return corrected.length === 0 ? {} : { corrected };
  }

  /** @param matches the first counts fully, another at {@link RELATED_WEIGHT} */
  #page(
    matches: readonly Match[],
    query: SearchQuery,
    among: Among,
    nearby = NONE_NEARBY,
  ): SearchPage {
    if (matches.length === 0 && nearby.near.length === 0) return nothingFor(query);
    const { total, ranked, rows } = this.#best(matches, query, among, nearby);
    const page = this.#shown(total, ranked, rows, matches, query, nearby.near);
    if (!query.facets) return page;
    const found = (sql: Sql): string => foundSql(matches, nearby, among, sql);
    return { ...page, facets: this.#facets(found, total, query.facets, among.beside) };
  }

  #best(
    matches: readonly Match[],
    { offset, limit }: Page,
    among: Among,
    nearby = NONE_NEARBY,
  ): { total: number; ranked: number; rows: Found[] } {
    const byWords = matches.length === 0 ? 0 : this.#count(matches, among);
    const total = nearby.near.length === 0 ? byWords : this.#countAll(matches, nearby, among);
    if (total <= offset || limit === 0) return { total, ranked: Math.min(total, RANKED), rows: [] };
    const candidates = this.#candidates(matches, byWords, among);
    const sql = new Sql(DIALECT, among.viewer);
    // Materialized: a rank is known only while the index is walked.
    const rows = this.#rows<Found>(
      `WITH ${ranksOf(matches, candidates, sql)},
        w AS MATERIALIZED (${SCORES}),
        b AS MATERIALIZED (SELECT max(score) AS best FROM w),
        u AS MATERIALIZED (SELECT id, sum(part) AS score FROM (SELECT w.id,
        w.score / b.best * ${sql.add(nearby.covered)} AS part FROM w CROSS JOIN b
        UNION ALL ${nearSql(nearby, among, sql)}) GROUP BY id)
        SELECT r.id, r.ark, u.score FROM (SELECT id, score FROM u
        ORDER BY score DESC, id LIMIT ${sql.add(limit)} OFFSET ${sql.add(offset)}) AS u
        CROSS JOIN record AS r ON r.id = u.id ORDER BY u.score DESC, r.id`,
      sql,
    );
    const places = candidates && this.#union(candidates, nearby, among);
    const ranked = places?.length ?? total;
    if (places && rows.length < limit && ranked < total)
      this.#addRest(rows, matches, among, places, { offset, limit });
    return { total, ranked, rows };
  }

  #countAll(matches: readonly Match[], nearby: Nearby, among: Among): number {
    const sql = new Sql(DIALECT, among.viewer);
    return this.#number(`SELECT count(*) FROM (${foundSql(matches, nearby, among, sql)})`, sql);
  }

  #count(matches: readonly Match[], among: Among): number {
    const key = JSON.stringify(matches.map(ftsOf));
    let count = among.counts.get(key);
    if (count === undefined) {
      const sql = new Sql(DIALECT, among.viewer);
      const [match, ...more] = matches;
      // Of one query without a filter the index counts twice as fast as SQLite counts its rows.
      const counting =
        match && more.length === 0 && among.filter === undefined
          ? `SELECT count(*) FROM search WHERE search MATCH ${sql.add(ftsOf(match))}`
          : `SELECT count(*) FROM (${idsOf(matches, among, sql)})`;
      count = this.#number(counting, sql);
      among.counts.set(key, count);
    }
    return count;
  }

  /**
   * The records that are ranked, where that is not all that the index finds: those of the filter,
   * at most {@link RANKED}. Of more, each source gives an equal share: the newest records that hold
   * its words in name or keywords, which rank highest, and the newest that hold them anywhere.
   */
  #candidates(
    matches: readonly Match[],
    total: number,
    among: Among,
  ): readonly number[] | undefined {
    if (total <= RANKED && among.filter === undefined) return undefined;
    const queries =
      total <= RANKED
        ? matches.map(ftsOf)
        : matches.flatMap(({ sources, excluded }) =>
            sources.flatMap((source) => [
              without(`{name keywords} : (${source})`, excluded),
              without(source, excluded),
            ]),
          );
    const share = total <= RANKED ? RANKED : Math.ceil(RANKED / queries.length);
    const found = new Set<number>();
    for (const query of queries) for (const id of this.#newest(query, share, among)) found.add(id);
    return [...found];
  }

  /** As one text: rows that are read one by one take ten times as long. */
  #newest(query: string, most: number, among: Among): readonly number[] {
    const key = `${most} ${query}`;
    let ids = among.candidates.get(key);
    if (ids === undefined) {
      const sql = new Sql(DIALECT, among.viewer);
      const array = this.#text(
        `SELECT json_group_array(id) FROM (${wordsSql(query, among, sql)}
          ORDER BY s.rowid DESC LIMIT ${sql.add(most)})`,
        sql,
      );
      among.candidates.set(key, (ids = JSON.parse(array) as number[]));
    }
    return ids;
  }

  /** Adds those that are found and not ranked, the newest first, behind the ranked ones. */
  #addRest(
    rows: Found[],
    matches: readonly Match[],
    among: Among,
    ranked: readonly number[],
    { offset, limit }: Page,
  ): void {
    const sql = new Sql(DIALECT, among.viewer);
    const rest = this.#rows<Found>(
      `SELECT r.id, r.ark, ${UNRANKED} FROM (${idsOf(matches, among, sql)}) AS f
        CROSS JOIN record AS r ON r.id = f.id
        WHERE f.id NOT IN (SELECT value FROM json_each(${sql.add(JSON.stringify(ranked))}))
        ORDER BY f.id DESC LIMIT ${sql.add(limit - rows.length)}
        OFFSET ${sql.add(Math.max(0, offset - ranked.length))}`,
      sql,
    );
    for (const row of rest) rows.push(row);
  }

  #union(candidates: readonly number[], nearby: Nearby, among: Among): readonly number[] {
    if (nearby.near.length === 0) return candidates;
    const sql = new Sql(DIALECT, among.viewer);
    const words = sql.add(JSON.stringify(candidates));
    const array = this.#text(
      `SELECT json_group_array(id) FROM (SELECT value AS id FROM json_each(${words})
        UNION SELECT id FROM (${nearSql(nearby, among, sql)}))`,
      sql,
    );
    return JSON.parse(array) as number[];
  }

  /**
   * Counts what is found, or the newest {@link FACETED} of it.
   * @param found SELECT of the numbers of all that is found, as `id`
   * @param beside private records that are found beside these
   */
  #facets(
    found: (sql: Sql) => string,
    open: number,
    { by, limit }: NonNullable<SearchQuery["facets"]>,
    beside: readonly number[] = [],
  ): SearchFacet[] {
    const total = open + beside.length;
    const sql = new Sql(DIALECT);
    const more =
      beside.length === 0
        ? ""
        : ` UNION ALL SELECT value FROM json_each(${sql.add(JSON.stringify(beside))})`;
    const ids = this.#text(
      `SELECT json_group_array(id) FROM (SELECT id FROM (${found(sql)}${more})
        ORDER BY id DESC LIMIT ${sql.add(FACETED)})`,
      sql,
    );
    return by.map((key) => {
      if (key === "keyword") return facetOf(key, this.#keywords(ids), limit, total);
      // One more for the records without a value.
      const counts = statisticsSql(
        { filter: {}, by: [key], limit: limit + 1 },
        {
          ...DIALECT,
          monthOf,
          yearOf,
          shares: [{ sql: "r.deleted_at IS NULL", isOwn: false }],
          from: (_conditions, _keys, main) => ({
            from: `json_each(${main.add(ids)}) AS f CROSS JOIN record AS r ON r.id = f.value`,
            extra: [],
          }),
        },
      );
      const rows = this.#rows<[string | null, number, number]>(counts.text, counts.sql);
      return facetOf(
        key,
        rows.map(([value, records]) => [value, records] as const),
        limit,
        total,
      );
    });
  }

  /** The table of keywords has no index by record, but `text` has the keywords of each. */
  #keywords(ids: string): [word: string, records: number][] {
    const sql = new Sql(DIALECT);
    const groups = this.#text(
      `SELECT json_group_array(json_array(words, records)) FROM (SELECT t.words AS words,
        count(*) AS records FROM json_each(${sql.add(ids)}) AS f CROSS JOIN text AS t
        ON t.id = f.value GROUP BY t.words)`,
      sql,
    );
    const counts = new Map<string, number>();
    for (const [words, records] of JSON.parse(groups) as [string, number][])
      for (const word of words === "" ? [] : words.split("\n"))
        counts.set(word, (counts.get(word) ?? 0) + records);
    return [...counts];
  }

  #coverageOf(words: readonly string[]): number {
    const stems = new Set(
      this.#vocabulary.stemmer.stemsOf(words).filter((stem) => stem !== undefined),
    );
    return coverage(
      [...stems].map((stem) => this.#vocabulary.records(stem)),
      this.#records.one()[0],
    );
  }

  #shown(
    total: number,
    ranked: number,
    rows: readonly Found[],
    matches: readonly Match[],
    { explain = false }: Pick<SearchQuery, "explain">,
    near: readonly Near[] = [],
  ): SearchPage {
    const raw = explain ? this.#parts(rows, matches) : undefined;
    const shares = new Map(near.map(({ id, share }) => [id, share]));
    const fragments = this.#fragmentsOf(
      rows.map(([id]) => id),
      matches,
    );
    return {
      total,
      exact: true,
      ranked,
      hits: rows.map(([id, ark, score]) => ({
        ark,
        score,
        fragments: fragments.get(id) ?? {},
        ...(raw && { parts: partsOfScore(score, shares.get(id) ?? 0, raw.get(id) ?? []) }),
      })),
    };
  }

  /** What each term adds to the rank of a record, in any measure. */
  #parts(rows: readonly Found[], matches: readonly Match[]): Map<number, ScorePart[]> {
    const raw = new Map<number, ScorePart[]>();
    const ids = rows.map(([id]) => id);
    const statement = this.#prepare<[id: number, rank: number]>(
      `SELECT rowid, ${RANK} FROM search WHERE search MATCH ? AND rowid >= ? AND rowid <= ?
        AND +rowid IN (SELECT value FROM json_each(?))`,
    );
    const terms = matches.flatMap((match, index) =>
      match.terms.map((term) => ({ term, isRelated: index > 0 })),
    );
    for (const { term, isRelated } of ids.length === 0 ? [] : terms.slice(0, EXPLAINED)) {
      const reason = isRelated ? "related" : "term";
      for (const [id, rank] of statement.all([
        this.#match(term),
        ...rangeOf(ids),
        JSON.stringify(ids),
      ]))
        getOrInsert(raw, id, () => []).push({
          reason,
          text: textOf(term),
          score: rank * (isRelated ? RELATED_WEIGHT : 1),
        });
    }
    return raw;
  }

  /**
   * Each hit is looked up by itself where they are few; many, and all with a prefix, whose lists of
   * records are merged anew for each, are met on one walk.
   */
  #fragmentsOf(
    ids: readonly number[],
    matches: readonly Match[],
  ): Map<number, SearchHit["fragments"]> {
    const match = anyOf(matches.map(({ query }) => `(${query})`));
    if (ids.length === 0 || match === "") return new Map();
    const isPrefix = matches.some(({ terms }) => terms.some(({ prefix }) => prefix));
    const { each, walk } = this.#fragments;
    const rows =
      ids.length <= MAX_HITS_LOOKED_UP && !isPrefix
        ? each.all([match, JSON.stringify(ids)])
        : walk.all([match, ...rangeOf(ids), JSON.stringify(ids)]);
    return fragmentsIn(rows);
  }

  /** Filters make statements without end; those that were used last stay prepared. */
  #prepare<R extends Row>(text: string): Statement<R> {
    let statement = this.#prepared.get(text);
    if (!statement) this.#prepared.set(text, (statement = this.#connection.prepare(text)));
    return statement as unknown as Statement<R>;
  }

  /** The number that a statement counts. */
  #number(text: string, sql: Sql): number {
    return this.#prepare<[number]>(text).one(sql.values as Value[])[0];
  }

  /** The text that a statement makes of all its rows. */
  #text(text: string, sql: Sql): string {
    return this.#prepare<[string]>(text).one(sql.values as Value[])[0];
  }

  #rows<R extends Row>(text: string, sql: Sql): R[] {
    return this.#prepare<R>(text).all(sql.values as Value[]);
  }
}

/** The condition on `record AS r` that a filter states. */
function statedBy(filter: RecordFilter | undefined, dialect: Dialect): (sql: Sql) => string {
  if (filter === undefined) return () => "";
  const conditions = conditionsOf({ filter }, dialect);
  return (sql) =>
    ` AND ${joined(
      conditions.map((each) => each.sql(sql)),
      "AND",
    )}`;
}

const fragmentsIn = (
  rows: readonly (readonly [id: number, ...marked: string[]])[],
): Map<number, SearchHit["fragments"]> =>
  new Map(
    rows.map(([id, ...marked]) => [
      id,
      Object.fromEntries(
        COLUMNS.flatMap(([field], index) => {
          const parts = partsOf(marked[index] ?? "");
          return parts ? [[field, parts]] : [];
        }),
      ),
    ]),
  );

const nothingKnown = (): Pick<Among, "counts" | "candidates"> => ({
  counts: new Map(),
  candidates: new Map(),
});
/** Counts and lists of candidates that stay known: some megabytes. */
const MAX_KNOWN = 200;
/** Statements that stay prepared. */
const MAX_PREPARED = 200;

const rangeOf = (ids: readonly number[]): [least: number, most: number] =>
  ids.reduce<[number, number]>(
    ([least, most], id) => [Math.min(least, id), Math.max(most, id)],
    [Number.MAX_SAFE_INTEGER, 0],
  );

const ftsOf = ({ query, excluded }: Match): string => without(query, excluded);
/**
 * `f`: ranks of what FTS5 queries find, a row for each of them that finds a record; of the
 * candidates only, where these are given.
 */
const ranksOf = (
  matches: readonly Match[],
  candidates: readonly number[] | undefined,
  sql: Sql,
): string => {
  const named = candidates && sql.add(JSON.stringify(candidates));
  const [least, most] = candidates ? rangeOf(candidates) : [0, 0];
  const ranks = matches.map(
    (match, index) =>
      `SELECT rowid AS id, ${RANK}${index === 0 ? "" : ` * ${RELATED_WEIGHT}`} AS score
        FROM search WHERE search MATCH ${sql.add(ftsOf(match))}${
          candidates === undefined
            ? ""
            : // The sign keeps SQLite from one walk for each candidate.
              ` AND rowid >= ${sql.add(least)} AND rowid <= ${sql.add(most)}
                AND +rowid IN (SELECT value FROM c)`
        }`,
  );
  const listed =
    named === undefined ? "" : `c AS MATERIALIZED (SELECT value FROM json_each(${named})), `;
  const none = "SELECT 0 AS id, 0.0 AS score WHERE 0";
  return `${listed}f AS MATERIALIZED (${ranks.join(" UNION ALL ") || none})`;
};
/** SELECT of the score of each record in `f` of {@link ranksOf}. */
const SCORES = `SELECT f.id, sum(f.score) * ${kindWeightSql("r.kind")} AS score
  FROM f CROSS JOIN record AS r ON r.id = f.id GROUP BY f.id`;
/** SELECT of the numbers, as `id`, of the records that an FTS5 query finds. */
const wordsSql = (query: string, among: Among, sql: Sql): string =>
  `SELECT s.rowid AS id FROM search AS s ${among.join} WHERE s.search MATCH ${sql.add(query)}${among.ofWords(sql)}`;
const idsOf = (matches: readonly Match[], among: Among, sql: Sql): string =>
  matches.map((match) => wordsSql(ftsOf(match), among, sql)).join(" UNION ");
/** SELECT of the near records, as `id`, and what each counts, as `part`. */
const nearSql = ({ near, excluded }: Nearby, among: Among, sql: Sql): string => {
  const nearest = sql.add(JSON.stringify(near.map(({ id, share }) => [id, share])));
  const none =
    excluded.length === 0
      ? ""
      : ` AND r.id NOT IN (SELECT rowid FROM search WHERE search MATCH ${sql.add(anyOf(excluded))})`;
  return `SELECT r.id, n.value ->> 1 AS part FROM json_each(${nearest}) AS n
    CROSS JOIN record AS r ON r.id = n.value ->> 0
    WHERE r.deleted_at IS NULL${among.ofRecords(sql)}${none}`;
};
/** SELECT of the numbers, as `id`, of all that is found. */
const foundSql = (matches: readonly Match[], nearby: Nearby, among: Among, sql: Sql): string =>
  [
    ...(matches.length === 0 ? [] : [idsOf(matches, among, sql)]),
    ...(nearby.near.length === 0 ? [] : [`SELECT id FROM (${nearSql(nearby, among, sql)})`]),
  ].join(" UNION ");
