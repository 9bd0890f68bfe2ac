import { parseQuery, type QueryTerm } from "../../../../model/search-query.js";
import type { FragmentPart, SearchedField, SearchPage, SearchQuery } from "../../port.js";
import { CLOSE, coverage, OPEN, partsOf } from "../../search/ranking.js";
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
    this.#fragments = connection.prepare<[string, string, string]>(
      `SELECT ${marked.join(", ")} FROM search WHERE search MATCH ? AND rowid = ?`,
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
    if (sought.length === 0 && !asksNear) return { total: 0, hits: [] };
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
    return this.#shown(total, rows, []);
  }

  /**
   * Every term; the query adds near spellings of unknown words only when no record holds all terms.
   */
  #all(sought: readonly QueryTerm[], excluded: readonly string[], query: SearchQuery): SearchPage {
    const asked = allOf(sought.map((term) => [this.#match(term)]));
    const exact = this.#page([without(asked, excluded)], query);
    if (exact.total > 0) return exact;
    const groups = this.#spellings(sought);
    if (groups === undefined) return exact;
    const spelt = allOf(groups.map((group) => group.map((term) => this.#match(term))));
    return this.#page([without(spelt, excluded)], query);
  }

  #relatedTo(
    sought: readonly QueryTerm[],
    excluded: readonly string[],
    query: SearchQuery,
  ): SearchPage {
    const near = query.near ? this.#near.nearest(query.near, query.kind) : [];
    const anyTerm = (terms: readonly QueryTerm[]): string =>
      without(anyOf(terms.map((term) => this.#match(term))), excluded);
    const known =
      sought.length > 0 &&
      this.#page([anyTerm(sought)], { ...query, offset: 0, limit: 1 }).total > 0;
    const asked = known ? sought : (this.#spellings(sought) ?? []).flat();
    const none = excluded.length === 0 ? undefined : anyOf(excluded);
    if (asked.length === 0) return this.#pageNear([], near, none, query);
    const match = anyTerm(asked);
    const related = this.#related
      .of(
        match,
        asked.flatMap((term) => term.words),
      )
      .map((word) => ({ words: [word], prefix: false }));
    return this.#pageNear(
      [match, ...(related.length > 0 ? [anyTerm(related)] : [])],
      near,
      none,
      query,
      sought.flatMap((term) => term.words),
    );
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

  /** @param matches FTS5 queries: the first counts fully, another at {@link RELATED_WEIGHT} */
  #page(
    matches: readonly string[],
    { kind, offset, limit }: Omit<SearchQuery, "text" | "match">,
  ): SearchPage {
    const where = kind === undefined ? "" : " WHERE r.kind = ?";
    const values: Value[] = [...matches, ...(kind === undefined ? [] : [kind])];
    const [total] = this.#prepare<[number]>(
      kind === undefined
        ? `SELECT count(*) FROM (${idsOf(matches)})`
        : `SELECT count(*) FROM (${idsOf(matches)}) AS f CROSS JOIN record AS r
            ON r.id = f.id${where}`,
    ).get(values)!;
    if (total <= offset) return { total, hits: [] };
    // Materialized: a rank is known only while the index is walked.
    const rows = this.#prepare<Found>(
      `WITH f AS MATERIALIZED (${ranksOf(matches)})
        SELECT r.id, r.ark, sum(f.score) / max(sum(f.score)) OVER () AS score FROM f CROSS
        JOIN record AS r ON r.id = f.id${where} GROUP BY r.id ORDER BY score DESC, r.id
        LIMIT ? OFFSET ?`,
    ).all([...values, limit, offset]);
    return this.#shown(total, rows, matches);
  }

  /**
   * Combines the hits by words with the near records: the nearest vector counts 1, the best score
   * by words as much as words can answer.
   * @param none an FTS5 query that finds what no result may be
   * @param words the requested words
   */
  #pageNear(
    matches: readonly string[],
    near: readonly Near[],
    none: string | undefined,
    query: SearchQuery,
    words: readonly string[] = [],
  ): SearchPage {
    if (near.length === 0)
      return matches.length === 0 ? { total: 0, hits: [] } : this.#page(matches, query);
    const { kind, offset, limit } = query;
    const ofKind = kind === undefined ? [] : [kind];
    const nearest = [
      JSON.stringify(near.map(({ id, share }) => [id, share])),
      ...ofKind,
      ...(none === undefined ? [] : [none]),
    ];
    const nearSql = NEAR(kind !== undefined, none !== undefined);
    const where = kind === undefined ? "" : " WHERE r.kind = ?";
    const byWords =
      matches.length === 0
        ? "SELECT 0 AS id, 0.0 AS score WHERE 0"
        : `SELECT r.id, sum(f.score) AS score FROM f CROSS JOIN record AS r
            ON r.id = f.id${where} GROUP BY r.id`;
    const rows = this.#prepare<[...Found, total: number]>(
      `WITH ${matches.length === 0 ? "" : `f AS MATERIALIZED (${ranksOf(matches)}), `}w AS
        MATERIALIZED (${byWords}), b AS MATERIALIZED (SELECT max(score) AS best
        FROM w), u AS MATERIALIZED (SELECT id, sum(part) AS score
        FROM (SELECT w.id, w.score / b.best * ? AS part FROM w CROSS JOIN b
        UNION ALL ${nearSql}) GROUP BY id)
        SELECT r.id, r.ark, u.score, (SELECT count(*) FROM u) FROM (SELECT id, score FROM u
        ORDER BY score DESC, id LIMIT ? OFFSET ?) AS u CROSS JOIN record AS r ON r.id = u.id
        ORDER BY u.score DESC, r.id`,
    ).all([
      ...(matches.length === 0 ? [] : [...matches, ...ofKind]),
      this.#coverageOf(words),
      ...nearest,
      limit,
      offset,
    ]);
    return this.#shown(
      rows[0]?.[3] ?? this.#countNear(matches, nearest, nearSql, kind),
      rows.map(([id, ark, score]) => [id, ark, score]),
      matches,
    );
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

  /** Behind the last page no row holds the total. */
  #countNear(
    matches: readonly string[],
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
      ...matches,
      ...(kind === undefined || matches.length === 0 ? [] : [kind]),
      ...nearest,
    ];
    return this.#prepare<[number]>(
      `SELECT count(*) FROM (${words}SELECT id FROM (${nearSql}))`,
    ).get(values)![0];
  }

  #shown(total: number, rows: readonly Found[], matches: readonly string[]): SearchPage {
    return {
      total,
      hits: rows.map(([id, ark, score]) => ({
        ark,
        score,
        fragments: matches.length === 0 ? {} : this.#fragmentsOf(id, matches),
      })),
    };
  }

  #fragmentsOf(
    id: number,
    matches: readonly string[],
  ): Partial<Record<SearchedField, FragmentPart[]>> {
    const row = this.#fragments.get([matches.map((match) => `(${match})`).join(" OR "), id]);
    return Object.fromEntries(
      COLUMNS.flatMap(([field], index) => {
        const parts = partsOf(row?.[index] ?? "");
        return parts ? [[field, parts]] : [];
      }),
    );
  }

  #prepare<R extends Found | [...Found, number] | [number]>(sql: string): Statement<R> {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.#connection.prepare(sql)));
    return statement as unknown as Statement<R>;
  }
}

/** Ranks of what FTS5 queries find, a row for each of them that finds a record. */
const ranksOf = (matches: readonly string[]): string =>
  matches
    .map(
      (_, index) =>
        `SELECT rowid AS id, ${RANK}${index === 0 ? "" : ` * ${RELATED_WEIGHT}`} AS score
          FROM search WHERE search MATCH ?`,
    )
    .join(" UNION ALL ");
const idsOf = (matches: readonly string[]): string =>
  matches.map(() => "SELECT rowid AS id FROM search WHERE search MATCH ?").join(" UNION ");
