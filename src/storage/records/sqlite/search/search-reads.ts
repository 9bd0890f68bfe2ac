import type { FragmentPart, SearchedField, SearchPage, SearchQuery } from "../../port.js";
import { CLOSE, coverage, OPEN, partsOf } from "../../search/ranking.js";
import { allOf, anyOf, soughtWordsOf } from "../../search/words.js";
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

/** Live records near a vector, of the requested kind. */
const NEAR = (ofKind: boolean): string =>
  `SELECT r.id, n.value ->> 1 AS part FROM json_each(?) AS n CROSS JOIN record AS r
    ON r.id = n.value ->> 0 WHERE r.deleted_at IS NULL${ofKind ? " AND r.kind = ?" : ""}`;

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
    const words = soughtWordsOf(query.text);
    const asksNear = query.match === "related" && query.near !== undefined;
    if (words.length === 0 && !asksNear) return { total: 0, hits: [] };
    // One view of the file for all that is read.
    return this.#connection.transaction(
      () =>
        query.match === "all"
          ? this.#all(words, query)
          : this.#relatedTo(words.slice(0, MOST_WORDS), query),
      "DEFERRED",
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
   * Every word; the query adds near spellings of unknown words only when no record holds all words.
   */
  #all(words: readonly string[], query: SearchQuery): SearchPage {
    const exact = this.#page([allOf(words.map((word) => [word]))], query);
    if (exact.total > 0) return exact;
    const groups = this.#vocabulary.spellings(words);
    return groups === undefined ? exact : this.#page([allOf(groups)], query);
  }

  #relatedTo(words: readonly string[], query: SearchQuery): SearchPage {
    const near = query.near ? this.#near.nearest(query.near, query.kind) : [];
    const known =
      words.length > 0 && this.#page([anyOf(words)], { ...query, offset: 0, limit: 1 }).total > 0;
    const asked = known
      ? words
      : words.length > 0
        ? (this.#vocabulary.spellings(words) ?? []).flat()
        : [];
    if (asked.length === 0) return this.#pageNear([], near, query);
    const related = this.#related.of(anyOf(asked), asked);
    return this.#pageNear(
      [anyOf(asked), ...(related.length > 0 ? [anyOf(related)] : [])],
      near,
      query,
      words,
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
   * @param words the requested words
   */
  #pageNear(
    matches: readonly string[],
    near: readonly Near[],
    query: SearchQuery,
    words: readonly string[] = [],
  ): SearchPage {
    if (near.length === 0)
      return matches.length === 0 ? { total: 0, hits: [] } : this.#page(matches, query);
    const { kind, offset, limit } = query;
    const ofKind = kind === undefined ? [] : [kind];
    const nearest = [JSON.stringify(near.map(({ id, share }) => [id, share])), ...ofKind];
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
        UNION ALL ${NEAR(kind !== undefined)}) GROUP BY id)
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
      rows[0]?.[3] ?? this.#countNear(matches, nearest, kind),
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
      `SELECT count(*) FROM (${words}SELECT id FROM (${NEAR(kind !== undefined)}))`,
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
