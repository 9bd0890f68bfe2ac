import type { FragmentPart, SearchPage, SearchQuery, SearchedField } from "../../search-port.js";
import type { Connection, Statement, Value } from "../statement.js";
import { CLOSE, OPEN, partsOf } from "../../search/fragments.js";
import { RelatedWords } from "./related-words.js";
import { Vocabulary } from "./vocabulary.js";
import { allOf, anyOf, wordsOf } from "../../search/words.js";

/** Weights of the columns of `search`, in its order: name, description, keywords, other. */
const RANK = "-bm25(search, 10.0, 3.0, 5.0, 1.0)";
/** Columns that fragments come from, by their number in `search`. */
const COLUMNS: readonly [field: SearchedField, column: number][] = [["name", 0], ["keywords", 2], ["description", 1]];
/** Words of a fragment: all of an ordinary name, a stretch of a description. */
const SHOWN: Readonly<Record<SearchedField, number>> = { name: 64, keywords: 64, description: 24 };
/** What related words count beside those that were asked for. */
const RELATED_WEIGHT = 0.3;
/** More words than anyone types; each costs a walk over its records. */
const MOST_WORDS = 64;

type Found = [id: number, ark: string, score: number];

/** Search over the FTS5 index `search`, which holds what anyone may see of live records. */
export class SearchReads {
  readonly #vocabulary: Vocabulary;
  readonly #related: RelatedWords;
  readonly #prepared = new Map<string, Statement>();
  readonly #fragments;

  constructor(private readonly connection: Connection) {
    this.#vocabulary = new Vocabulary(connection);
    this.#related = new RelatedWords(connection, this.#vocabulary);
    const marked = COLUMNS.map(([field, column]) => `snippet(search, ${column}, '${OPEN}', '${CLOSE}', '…', ${SHOWN[field]})`);
    this.#fragments = connection.prepare<[string, string, string]>(`SELECT ${marked.join(", ")} FROM search WHERE search MATCH ? AND rowid = ?`);
  }

  search(query: SearchQuery): SearchPage {
    const words = wordsOf(query.text);
    if (words.length === 0) return { total: 0, hits: [] };
    // One view of the file for all that is read.
    return this.connection.transaction(() => (query.match === "all" ? this.#all(words, query) : this.#relatedTo(words.slice(0, MOST_WORDS), query)), "DEFERRED");
  }

  /** Every word; near spellings of those that no record holds only when no record holds all of them. */
  #all(words: readonly string[], query: SearchQuery): SearchPage {
    const exact = this.#page([allOf(words.map((word) => [word]))], query);
    if (exact.total > 0) return exact;
    const groups = this.#vocabulary.spellings(words);
    return groups === undefined ? exact : this.#page([allOf(groups)], query);
  }

  #relatedTo(words: readonly string[], query: SearchQuery): SearchPage {
    const known = this.#page([anyOf(words)], { ...query, offset: 0, limit: 1 }).total > 0;
    const asked = known ? words : (this.#vocabulary.spellings(words) ?? []).flat();
    if (asked.length === 0) return { total: 0, hits: [] };
    const related = this.#related.of(anyOf(asked), asked);
    return this.#page([anyOf(asked), ...(related.length > 0 ? [anyOf(related)] : [])], query);
  }

  /** @param matches FTS5 queries: the first counts fully, another at {@link RELATED_WEIGHT} */
  #page(matches: readonly string[], { kind, offset, limit }: SearchQuery): SearchPage {
    const each = matches.map((_, index) => `SELECT rowid AS id, ${RANK}${index === 0 ? "" : ` * ${RELATED_WEIGHT}`} AS score FROM search WHERE search MATCH ?`).join(" UNION ALL ");
    const ids = matches.map(() => "SELECT rowid AS id FROM search WHERE search MATCH ?").join(" UNION ");
    const where = kind === undefined ? "" : " WHERE r.kind = ?";
    const values: Value[] = [...matches, ...(kind === undefined ? [] : [kind])];
    const [total] = this.#prepare<[number]>(kind === undefined ? `SELECT count(*) FROM (${ids})` : `SELECT count(*) FROM (${ids}) AS f CROSS JOIN record AS r ON r.id = f.id${where}`).get(values)!;
    if (total <= offset) return { total, hits: [] };
    // Materialized: a rank is known only while the index is walked.
    const rows = this.#prepare<Found>(`WITH f AS MATERIALIZED (${each}) SELECT r.id, r.ark, sum(f.score) AS score FROM f CROSS JOIN record AS r ON r.id = f.id${where} GROUP BY r.id ORDER BY score DESC, r.id LIMIT ? OFFSET ?`).all([...values, limit, offset]);
    return { total, hits: rows.map(([id, ark, score]) => ({ ark, score, fragments: this.#fragmentsOf(id, matches) })) };
  }

  #fragmentsOf(id: number, matches: readonly string[]): Partial<Record<SearchedField, FragmentPart[]>> {
    const row = this.#fragments.get([matches.map((match) => `(${match})`).join(" OR "), id]);
    return Object.fromEntries(COLUMNS.flatMap(([field], index) => {
      const parts = partsOf(row?.[index] ?? "");
      return parts ? [[field, parts]] : [];
    }));
  }

  #prepare<R extends Found | [number]>(sql: string): Statement<R> {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, statement = this.connection.prepare(sql));
    return statement as unknown as Statement<R>;
  }
}
