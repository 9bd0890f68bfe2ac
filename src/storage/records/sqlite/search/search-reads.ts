import { parseQuery, type QueryTerm, textOf } from "../../../../model/search-query.js";
import type { ScorePart, SearchedField, SearchHit, SearchPage, SearchQuery } from "../../port.js";
import {
  CLOSE,
  coverage,
  EXPLAINED,
  NOTHING,
  OPEN,
  partsOf,
  partsOfScore,
  RANKED,
  RECORDS_LOOKED_AT,
  UNRANKED,
} from "../../search/ranking.js";
import {
  allOf,
  anyOf,
  completionsOf,
  isWord,
  matchOf,
  soughtOf,
  without,
} from "../../search/words.js";
import { VectorsInMemory, type VectorRow } from "../../vectors/held.js";
import type { Near } from "../../vectors/matrix.js";
import type { Connection, Statement, Value } from "../statement.js";
import { RelatedWords, Vocabulary } from "./vocabulary.js";

/** The vectors of the requested model, brought up to date before each search. */
class NearReads {
  readonly #held;
  readonly #run;
  readonly #rows;

  /** @param memory bytes that the vectors may have */
  constructor(connection: Connection, memory: number) {
    this.#held = new VectorsInMemory(memory);
    this.#run = connection.prepare<[era: string, step: number]>(
      "SELECT era, step FROM vector_reach WHERE model = ?",
    );
    this.#rows = connection.prepare<VectorRow>(
      `SELECT step, record, kind, vector FROM vector
        WHERE model = ? AND (step, record) > (?, ?) ORDER BY step, record LIMIT ?`,
    );
  }

  /** Call within the transaction that reads the rest. @throws ServiceError `QUERY_MEMORY` */
  nearest({ model, vector }: NonNullable<SearchQuery["near"]>, kind: string | undefined): Near[] {
    const row = this.#run.get([model]);
    const run = row && { era: row[0], step: row[1] };
    for (
      let from = this.#held.begin(model, run);
      run && from;
      from = this.#held.begin(model, run)
    ) {
      const limit = this.#held.pageRows;
      const rows = this.#rows.all([model, from.step, from.record, limit]);
      this.#held.take(rows);
      if (rows.length < limit) this.#held.done(run);
    }
    return this.#held.nearest(vector, kind);
  }
}

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
const MOST_WORDS = 64;

/** Live records near a vector, of the requested kind, and none that an FTS5 query finds. */
const NEAR = (ofKind: boolean, without: boolean): string =>
  `SELECT r.id, n.value ->> 1 AS part FROM json_each(?) AS n CROSS JOIN record AS r
    ON r.id = n.value ->> 0 WHERE r.deleted_at IS NULL${ofKind ? " AND r.kind = ?" : ""}` +
  (without ? " AND r.id NOT IN (SELECT rowid FROM search WHERE search MATCH ?)" : "");

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
type Page = Pick<SearchQuery, "kind" | "offset" | "limit">;

type Found = [id: number, ark: string, score: number];

/** Search over the FTS5 index `search`, which holds the public text of live records. */
export class SearchReads {
  readonly #vocabulary: Vocabulary;
  readonly #related: RelatedWords;
  readonly #near: NearReads;
  readonly #prepared = new Map<string, Statement>();
  readonly #fragments;
  readonly #records;

  readonly #connection: Connection;

  /** @param vectorsMemory bytes that vectors may have in memory */
  constructor(connection: Connection, vectorsMemory: number) {
    this.#connection = connection;

    this.#near = new NearReads(connection, vectorsMemory);
    this.#vocabulary = new Vocabulary(connection);
    this.#related = new RelatedWords(connection, this.#vocabulary);
    this.#records = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
    const marked = COLUMNS.map(
      ([field, column]) =>
        `snippet(search, ${column}, '${OPEN}', '${CLOSE}', '…', ${SHOWN[field]})`,
    );
    this.#fragments = connection.prepare<[id: number, string, string, string]>(
      `SELECT rowid, ${marked.join(", ")} FROM search WHERE search MATCH ? AND rowid >= ?
        AND rowid <= ? AND +rowid IN (SELECT value FROM json_each(?))`,
    );
  }

  search(query: SearchQuery): SearchPage {
    if (query.match === "identifier") return this.#identified(query);
    const terms = parseQuery(query.text);
    const sought = soughtOf(terms);
    const excluded = terms.excluded.map((term) => this.#match(term));
    const asksNear =
      query.match === "related" &&
      query.near !== undefined &&
      (sought.length > 0 || excluded.length === 0);
    if (sought.length === 0 && !asksNear) return NOTHING;
    // One view of the file for all that is read.
    return this.#connection.transaction(
      () =>
        query.match === "all"
          ? this.#all(sought, excluded, query)
          : this.#relatedTo(sought.slice(0, MOST_WORDS), excluded, query),
      "DEFERRED",
    );
  }

  #match(term: QueryTerm): string {
    return matchOf(
      term,
      term.prefix
        ? completionsOf(term.words.at(-1)!, (words) => this.#vocabulary.stemmer.stemsOf(words))
        : [],
    );
  }

  /** Records whose key is the text or begins with it, by key. */
  #identified({ text, kind, offset, limit }: SearchQuery): SearchPage {
    const where =
      "WHERE key >= ? AND key < ? AND deleted_at IS " +
      `NULL${kind === undefined ? "" : " AND kind = ?"}`;
    const values = [text, text + LAST_CHARACTER, ...(kind === undefined ? [] : [kind])];
    const [total] = this.#prepare<[number]>(`SELECT count(*) FROM record ${where}`).get(values)!;
    const rows =
      total <= offset
        ? []
        : this.#prepare<Found>(
            `SELECT id, ark, ? / length(key) FROM record ${where} ORDER BY key, id LIMIT ? ` +
              "OFFSET ?",
          ).all([[...text].length + 0.0, ...values, limit, offset]);
    return this.#shown(total, total, rows, [], {});
  }

  /**
   * Every term; the query adds near spellings of unknown words only when no record holds all terms.
   */
  #all(sought: readonly QueryTerm[], excluded: readonly string[], query: SearchQuery): SearchPage {
    const match = (groups: readonly (readonly QueryTerm[])[]): Match => {
      const whole = allOf(groups.map((group) => group.map((term) => this.#match(term))));
      return { query: whole, sources: [whole], excluded, terms: groups.flat() };
    };
    const exact = this.#page([match(sought.map((term) => [term]))], query);
    if (exact.total > 0) return exact;
    const groups = this.#spellings(sought);
    if (groups === undefined) return exact;
    return { ...this.#page([match(groups)], query), ...this.#corrected(sought, groups) };
  }

  #relatedTo(
    sought: readonly QueryTerm[],
    excluded: readonly string[],
    query: SearchQuery,
  ): SearchPage {
    const near = query.near ? this.#near.nearest(query.near, query.kind) : [];
    const anyTerm = (terms: readonly QueryTerm[]): Match => {
      const each = terms.map((term) => this.#match(term));
      const whole = allOf(each.map((one) => [one]));
      return {
        query: anyOf(each),
        sources: each.length === 1 ? each : [whole, ...each],
        excluded,
        terms,
      };
    };
    const known = sought.length > 0 && this.#count([anyTerm(sought)], query) > 0;
    const groups = known ? undefined : this.#spellings(sought);
    const asked = known ? sought : (groups ?? []).flat();
    if (asked.length === 0) return this.#pageNear([], near, excluded, query);
    const match = anyTerm(asked);
    const best = this.#best([match], { offset: 0, limit: RECORDS_LOOKED_AT });
    const related = this.#related
      .of(
        best.rows.map(([id]) => id),
        asked.flatMap((term) => term.words),
      )
      .map((word) => ({ words: [word], prefix: false }));
    const page = this.#pageNear(
      [match, ...(related.length > 0 ? [anyTerm(related)] : [])],
      near,
      excluded,
      query,
      sought.flatMap((term) => term.words),
    );
    return groups === undefined ? page : { ...page, ...this.#corrected(sought, groups) };
  }

  /** For each term those that are spelt like it; `undefined` where nothing else is known. */
  #spellings(sought: readonly QueryTerm[]): QueryTerm[][] | undefined {
    const words = sought.filter(isWord);
    const groups = this.#vocabulary.spellings(words.map((term) => term.words[0]!));
    if (groups === undefined) return undefined;
    let next = 0;
    return sought.map((term) =>
      isWord(term) ? groups[next++]!.map((word) => ({ ...term, words: [word] })) : [term],
    );
  }

  /** Which words other ones stand for. */
  #corrected(
    sought: readonly QueryTerm[],
    groups: readonly (readonly QueryTerm[])[],
  ): Pick<SearchPage, "corrected"> {
    const corrected = sought.flatMap((term, index) => {
      const [typed, meant] = [term.words[0]!, groups[index]![0]!.words[0]!];
      return typed === meant ? [] : [{ typed, meant: this.#vocabulary.asWritten(meant) }];
    });
    return { corrected };
  }

  /** @param matches the first counts fully, another at {@link RELATED_WEIGHT} */
  #page(matches: readonly Match[], query: SearchQuery): SearchPage {
    const { total, ranked, rows } = this.#best(matches, query);
    return this.#shown(total, ranked, rows, matches, query);
  }

  #best(matches: readonly Match[], query: Page): { total: number; ranked: number; rows: Found[] } {
    const { offset, limit } = query;
    const total = this.#count(matches, query);
    if (total <= offset) return { total, ranked: Math.min(total, RANKED), rows: [] };
    const candidates = this.#candidates(matches, query, total);
    const ranked = candidates?.length ?? total;
    // Materialized: a rank is known only while the index is walked.
    const rows = this.#prepare<Found>(
      `WITH ${candidatesSql(candidates)} f AS MATERIALIZED (${ranksOf(matches, candidates)}),
        g AS MATERIALIZED (SELECT id, sum(score) AS score FROM f GROUP BY id)
        SELECT r.id, r.ark, g.score / (SELECT max(score) FROM g) FROM (SELECT id, score FROM g
        ORDER BY score DESC, id LIMIT ? OFFSET ?) AS g CROSS JOIN record AS r ON r.id = g.id
        ORDER BY g.score DESC, r.id`,
    ).all([...ranksValues(matches, candidates), limit, offset]);
    if (rows.length < limit && ranked < total)
      rows.push(...this.#rest(matches, query, candidates!, rows.length, ranked));
    return { total, ranked, rows };
  }

  #count(matches: readonly Match[], { kind }: Page): number {
    return this.#prepare<[number]>(
      kind === undefined
        ? `SELECT count(*) FROM (${idsOf(matches)})`
        : `SELECT count(*) FROM (${idsOf(matches)}) AS f CROSS JOIN record AS r
            ON r.id = f.id WHERE r.kind = ?`,
    ).get([...matches.map(ftsOf), ...(kind === undefined ? [] : [kind])])![0];
  }

  /**
   * The records that are ranked, where that is not all that the index finds: those of the requested
   * kind, at most {@link RANKED}. Of more, each source gives an equal share: the newest records
   * that hold its words in name or keywords, which rank highest, and the newest that hold them
   * anywhere.
   */
  #candidates(
    matches: readonly Match[],
    { kind }: Page,
    total: number,
  ): readonly number[] | undefined {
    if (total <= RANKED && kind === undefined) return undefined;
    const all = matches.flatMap(({ sources, excluded }) =>
      total <= RANKED
        ? []
        : sources.flatMap((source) => [
            without(`{name keywords} : (${source})`, excluded),
            without(source, excluded),
          ]),
    );
    const queries = total <= RANKED ? matches.map(ftsOf) : all;
    const share = total <= RANKED ? RANKED : Math.ceil(RANKED / queries.length);
    const statement = this.#prepare<[number]>(
      kind === undefined
        ? "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?"
        : `SELECT r.id FROM search AS s CROSS JOIN record AS r ON r.id = s.rowid
            WHERE s.search MATCH ? AND r.kind = ? ORDER BY s.rowid DESC LIMIT ?`,
    );
    const found = new Set<number>();
    for (const query of queries)
      for (const [id] of statement.all([query, ...(kind === undefined ? [] : [kind]), share]))
        found.add(id);
    return [...found];
  }

  /** Those that are found and not ranked, the newest first, on a page behind the ranked ones. */
  #rest(
    matches: readonly Match[],
    { kind, offset, limit }: Page,
    ranked: readonly number[],
    shown: number,
    places: number,
  ): Found[] {
    return this.#prepare<Found>(
      `SELECT r.id, r.ark, ${UNRANKED} FROM (${idsOf(matches)}) AS f CROSS JOIN record AS r
        ON r.id = f.id WHERE f.id NOT IN (SELECT value FROM json_each(?))${
          kind === undefined ? "" : " AND r.kind = ?"
        } ORDER BY f.id DESC LIMIT ? OFFSET ?`,
    ).all([
      ...matches.map(ftsOf),
      JSON.stringify(ranked),
      ...(kind === undefined ? [] : [kind]),
      limit - shown,
      Math.max(0, offset - places),
    ]);
  }

  /**
   * Combines the hits by words with the near records: the nearest vector counts 1, the best score
   * by words as much as words can answer.
   * @param excluded FTS5 queries that find what no result may be
   * @param words the requested words
   */
  #pageNear(
    matches: readonly Match[],
    near: readonly Near[],
    excluded: readonly string[],
    query: SearchQuery,
    words: readonly string[] = [],
  ): SearchPage {
    if (near.length === 0) return matches.length === 0 ? NOTHING : this.#page(matches, query);
    const { kind, offset, limit } = query;
    const nearest = [
      JSON.stringify(near.map(({ id, share }) => [id, share])),
      ...(kind === undefined ? [] : [kind]),
      ...(excluded.length === 0 ? [] : [anyOf(excluded)]),
    ];
    const nearSql = NEAR(kind !== undefined, excluded.length > 0);
    const candidates =
      matches.length === 0 ? [] : this.#candidates(matches, query, this.#count(matches, query));
    const byWords =
      matches.length === 0
        ? "SELECT 0 AS id, 0.0 AS score WHERE 0"
        : "SELECT id, sum(score) AS score FROM f GROUP BY id";
    const ranks =
      matches.length === 0
        ? ""
        : `${candidatesSql(candidates)} f AS MATERIALIZED (${ranksOf(matches, candidates)}), `;
    const rows = this.#prepare<Found>(
      `WITH ${ranks}w AS MATERIALIZED (${byWords}),
        b AS MATERIALIZED (SELECT max(score) AS best FROM w), u AS MATERIALIZED (SELECT id,
        sum(part) AS score FROM (SELECT w.id, w.score / b.best * ? AS part FROM w CROSS JOIN b
        UNION ALL ${nearSql}) GROUP BY id)
        SELECT r.id, r.ark, u.score FROM (SELECT id, score FROM u
        ORDER BY score DESC, id LIMIT ? OFFSET ?) AS u CROSS JOIN record AS r ON r.id = u.id
        ORDER BY u.score DESC, r.id`,
    ).all([
      ...(matches.length === 0 ? [] : ranksValues(matches, candidates)),
      this.#coverageOf(words),
      ...nearest,
      limit,
      offset,
    ]);
    const total = this.#countNear(matches, nearest, nearSql, kind);
    const isPart = candidates !== undefined && candidates.length > 0;
    const places = isPart ? this.#union(candidates, nearest, nearSql) : [];
    const ranked = isPart ? places.length : total;
    if (isPart && rows.length < limit && ranked < total)
      rows.push(...this.#rest(matches, query, places, rows.length, ranked));
    return this.#shown(total, ranked, rows, matches, query, near);
  }

  #union(candidates: readonly number[], nearest: readonly string[], nearSql: string): number[] {
    return this.#prepare<[number]>(
      `SELECT value FROM json_each(?) UNION SELECT id FROM (${nearSql})`,
    )
      .all([JSON.stringify(candidates), ...nearest])
      .map(([id]) => id);
  }

  #coverageOf(words: readonly string[]): number {
    const stems = new Set(
      this.#vocabulary.stemmer.stemsOf(words).filter((stem) => stem !== undefined),
    );
    return coverage(
      [...stems].map((stem) => this.#vocabulary.records(stem)),
      this.#records.get()![0],
    );
  }

  #countNear(
    matches: readonly Match[],
    nearest: readonly string[],
    nearSql: string,
    kind: string | undefined,
  ): number {
    const words =
      matches.length === 0
        ? ""
        : kind === undefined
          ? `${idsOf(matches)} UNION `
          : `SELECT r.id FROM (${idsOf(matches)}) AS f CROSS JOIN record AS r ON r.id = f.id
              WHERE r.kind = ? UNION `;
    const values = [
      ...matches.map(ftsOf),
      ...(kind === undefined || matches.length === 0 ? [] : [kind]),
      ...nearest,
    ];
    return this.#prepare<[number]>(
      `SELECT count(*) FROM (${words}SELECT id FROM (${nearSql}))`,
    ).get(values)![0];
  }

  #shown(
    total: number,
    ranked: number,
    rows: readonly Found[],
    matches: readonly Match[],
    { explain = false }: Pick<SearchQuery, "explain">,
    near: readonly Near[] = [],
  ): SearchPage {
    const parts = explain ? this.#parts(rows, matches, near) : undefined;
    const fragments = this.#fragmentsOf(
      rows.map(([id]) => id),
      anyOf(matches.map(({ query }) => `(${query})`)),
    );
    return {
      total,
      ranked,
      hits: rows.map(([id, ark, score]) => ({
        ark,
        score,
        fragments: fragments.get(id) ?? {},
        ...(parts === undefined ? {} : { parts: parts.get(id)! }),
      })),
    };
  }

  #parts(
    rows: readonly Found[],
    matches: readonly Match[],
    near: readonly Near[],
  ): Map<number, ScorePart[]> {
    const raw = new Map<number, ScorePart[]>(rows.map(([id]) => [id, []]));
    const ids = [...raw.keys()];
    const statement = this.#prepare<[id: number, rank: number]>(
      `SELECT rowid, ${RANK} FROM search WHERE search MATCH ? AND rowid >= ?
        AND +rowid IN (SELECT value FROM json_each(?))`,
    );
    const terms = matches.flatMap((match, index) =>
      match.terms.map((term) => ({ term, isRelated: index > 0 })),
    );
    for (const { term, isRelated } of ids.length === 0 ? [] : terms.slice(0, EXPLAINED)) {
      const reason = isRelated ? "related" : "term";
      for (const [id, rank] of statement.all([
        this.#match(term),
        Math.min(...ids),
        JSON.stringify(ids),
      ]))
        raw
          .get(id)!
          .push({ reason, text: textOf(term), score: rank * (isRelated ? RELATED_WEIGHT : 1) });
    }
    const shares = new Map(near.map(({ id, share }) => [id, share]));
    return new Map(
      rows.map(([id, , score]) => [id, partsOfScore(score, shares.get(id) ?? 0, raw.get(id)!)]),
    );
  }

  /** In one walk over the index: one for each hit reads long lists of records again and again. */
  #fragmentsOf(ids: readonly number[], match: string): Map<number, SearchHit["fragments"]> {
    if (ids.length === 0 || match === "") return new Map();
    const rows = this.#fragments.all([
      match,
      Math.min(...ids),
      Math.max(...ids),
      JSON.stringify(ids),
    ]);
    return new Map(
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
  }

  #prepare<R extends Found | [number] | [number, number]>(sql: string): Statement<R> {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.#connection.prepare(sql)));
    return statement as unknown as Statement<R>;
  }
}

const ftsOf = ({ query, excluded }: Match): string => without(query, excluded);
const candidatesSql = (candidates: readonly number[] | undefined): string =>
  candidates === undefined ? "" : "c AS MATERIALIZED (SELECT value FROM json_each(?)), ";
/** Ranks of what FTS5 queries find, a row for each of them that finds a record. */
const ranksOf = (matches: readonly Match[], candidates: readonly number[] | undefined): string =>
  matches
    .map(
      (_, index) =>
        `SELECT rowid AS id, ${RANK}${index === 0 ? "" : ` * ${RELATED_WEIGHT}`} AS score
          FROM search WHERE search MATCH ?${
            // The sign keeps SQLite from one walk for each candidate.
            candidates === undefined ? "" : " AND rowid >= ? AND +rowid IN (SELECT value FROM c)"
          }`,
    )
    .join(" UNION ALL ");
/** What {@link candidatesSql} and {@link ranksOf} take. */
const ranksValues = (
  matches: readonly Match[],
  candidates: readonly number[] | undefined,
): Value[] => {
  if (candidates === undefined) return matches.map(ftsOf);
  const first = candidates.reduce((least, id) => Math.min(least, id), Infinity);
  const from = Number.isFinite(first) ? first : 0;
  return [JSON.stringify(candidates), ...matches.flatMap((match) => [ftsOf(match), from])];
};
const idsOf = (matches: readonly Match[]): string =>
  matches.map(() => "SELECT rowid AS id FROM search WHERE search MATCH ?").join(" UNION ");
