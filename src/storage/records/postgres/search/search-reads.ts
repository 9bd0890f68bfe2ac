import { getOrInsert } from "../../../../get-or-insert.js";
import { parseQuery, type QueryTerm, textOf } from "../../../../model/search-query.js";
import { pairs } from "../../../../pairs.js";
import {
  type ScorePart,
  SEARCHED_FIELDS,
  type SearchedField,
  type SearchFacet,
  type SearchHit,
  type SearchPage,
  type SearchQuery,
} from "../../port.js";
import {
  CLOSE,
  completionsFor,
  completionsOf,
  coverage,
  endingsOf,
  COUNTED,
  everyWordOf,
  EXPLAINED,
  FACETED,
  facetOf,
  isWord,
  kindWeightSql,
  nothingFor,
  OPEN,
  partsOf,
  partsOfScore,
  pickRelated,
  PRIVATE_TERMS,
  RANKED,
  RECORDS_LOOKED_AT,
  rarity,
  soleKind,
  soughtOf,
  STOP_WORDS,
  subjectOf,
  UNRANKED,
  WithPrivate,
} from "../../search.js";
import type { RecordFilter } from "../../port/selection.js";
import { conditionsOf, joined, liveShares, NO_IDS, Sql, statisticsSql } from "../../selection.js";
import { NOBODY } from "../../visibility.js";
import { type Near, nearestSql } from "../../vectors.js";
import { DIALECT, monthOf, privateOnesSql, yearOf } from "../lists.js";
import { type Database, type Row, type Session, type Statement, statement } from "../statement.js";
import { similaritySql } from "./similarity.js";
import { compoundsOf, spellingsOf } from "./spellings.js";
import { allOf, anyOf, END_OF_FIELD, headlineText, tsqueryOf, WEIGHTS, without } from "./words.js";

/**
 * The records among which one search looks: SQL on `text AS t` and on `record AS r`, each empty or
 * beginning with AND.
 */
interface Among {
  ofTexts(sql: Sql): string;
  ofRecords(sql: Sql): string;
}

function amongOf(filter: RecordFilter | undefined): Among {
  if (filter === undefined) return { ofTexts: () => "", ofRecords: () => "" };
  const conditions = conditionsOf({ filter }, DIALECT);
  const ofRecords = (sql: Sql): string =>
    ` AND ${joined(
      conditions.map((each) => each.sql(sql)),
      "AND",
    )}`;
  const kind = soleKind(filter);
  return {
    ofTexts: (sql) =>
      kind === undefined
        ? ` AND t.state IN (SELECT r.state FROM record AS r
            WHERE r.deleted_at IS NULL${ofRecords(sql)})`
        : ` AND t.kind = ${sql.add(kind)}`,
    ofRecords,
  };
}

/** A term of a query. */
interface Term {
  /** As PostgreSQL writes its tsquery. */
  query: string;
  /** As one types it, or a stem of a related record. */
  text: string;
  /** How much it counts. */
  weight: number;
  /** Absent for a stem of related records. */
  asked?: QueryTerm;
  isRelated?: true;
}

/** A term that the query itself has. */
interface AskedTerm extends Term {
  asked: QueryTerm;
}

/** What a search looks for. Queries are tsqueries. */
interface Sought {
  /** Empty where only vectors find something. */
  query: string;
  /** SQL of the rank of `text AS t`. */
  rankSql(sql: Sql): string;
  /** What fragments show and a score is explained by. */
  terms: readonly Term[];
  /** Queries for the records that are ranked where `query` finds too many. */
  sources: readonly string[];
  /** How much words count beside nearness, from 0 to 1. */
  covered: number;
}

const NO_WORDS: Sought = { query: "", rankSql: () => "0", terms: [], sources: [], covered: 1 };

/** Weights of D to A, and that a rank is divided by the logarithm of how many words a text has. */
const [BY_FIELD, BY_LENGTH] = ["'{0.1, 0.3, 0.5, 1}'", 1];
/** Rank of one term of several that a record may have. */
const rankOf = (query: string): string =>
  `ts_rank(${BY_FIELD}, t.search, ${query}::tsquery, ${BY_LENGTH})`;
/** Rank of terms that a record has together: also by how near they stand to each other. */
const nearRankOf = (query: string): string =>
  `ts_rank_cd(${BY_FIELD}, t.search, ${query}::tsquery, ${BY_LENGTH})`;
/** Most terms that `ts_rank_cd` is asked for: it takes seconds for many, and for phrases. */
const MAX_NEAR = 8;
const rankSumOf = (terms: readonly Term[], sql: Sql): string =>
  terms
    .map(({ query, weight }) => `${sql.add(weight)}::float8 * ${rankOf(sql.add(query))}`)
    .join(" + ");
/** Weight of related words beside the requested ones. */
const RELATED_WEIGHT = 0.3;
/** More words than anyone types; each costs a walk over its records. */
const MAX_WORDS = 64;
/** Sources of ranked records that one search asks. */
const MAX_SOURCES = 16;
/** Newest records with the words, among which those with them in name or keywords are looked for. */
const LOOKED_THROUGH = 2 * RANKED;
/** Behind every key that begins in the same way. */
const LAST_CHARACTER = "\u{10ffff}";

const TSQUERIES = statement<[query: string]>(
  `SELECT to_tsquery('arkgraph', v.query)::text FROM unnest($1::text[])
    WITH ORDINALITY AS v (query, place) ORDER BY v.place`,
);
const STEMS = statement<[word: string, stem: string]>(
  "SELECT w.word, (ts_lexize('arkgraph', w.word))[1] FROM unnest($1::text[]) AS w (word)",
);
const TOTAL = statement<[number]>("SELECT coalesce(sum(live), 0)::bigint FROM tally");
/** Common stems and the shares of texts that have them, as the last ANALYZE found them. */
const COMMON = `WITH common AS (SELECT c.stem, c.share FROM pg_stats AS s,
    unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS c (stem, share)
    WHERE s.schemaname = current_schema() AND s.tablename = 'text' AND s.attname = 'search')`;
/** The share of texts that have all of some words; 0 where one of them is not common. */
const SHARES = statement<[share: number]>(
  `${COMMON} SELECT (SELECT coalesce(min(coalesce(c.share, 0)), 0)::float8
      FROM unnest(tsvector_to_array(to_tsvector('arkgraph', v.words))) AS w (stem)
      LEFT JOIN common AS c ON c.stem = w.stem)
    FROM unnest($1::text[]) WITH ORDINALITY AS v (words, place) ORDER BY v.place`,
);
/** Stems that several of some texts have, but for some words. */
const SHARED_STEMS = statement<[stem: string, texts: number, share: number]>(
  `${COMMON} SELECT w.lexeme, w.texts, coalesce(c.share, 0)::float8 FROM (
      SELECT w.lexeme, count(*) AS texts FROM text AS t, unnest(t.search) AS w
      WHERE t.state = ANY($1::bigint[]) AND w.weights && '{A,B,C}'
      AND w.lexeme <> ALL(tsvector_to_array(to_tsvector('arkgraph', $2)))
      GROUP BY w.lexeme HAVING count(*) > 1) AS w LEFT JOIN common AS c ON c.stem = w.lexeme`,
);
const PARTS = statement<[state: number, place: number, rank: number]>(
  `SELECT t.state, v.place, ${rankOf("v.query")}::float8 FROM text AS t
    CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS v (query, place)
    WHERE t.state = ANY($1::bigint[])`,
);
const headlinesIn = (table: string): Statement<[place: number, headline: string]> =>
  statement(
    `SELECT v.place, ts_headline('arkgraph', v.text, v.query::tsquery, v.options)
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
      WITH ORDINALITY AS v (state, weight, text, query, options, place)
      JOIN ${table} AS t ON t.state = v.state
      WHERE ts_filter(t.search, ARRAY[v.weight::"char"]) @@ v.query::tsquery`,
  );
const [HEADLINES, PRIVATE_HEADLINES] = [headlinesIn("text"), headlinesIn("private_text")];
const PRIVATE_TEXTS = statement<Found>(
  `SELECT r.ark, 0, x.name, x.keywords, x.description, x.state
    FROM unnest($1::bigint[]) WITH ORDINALITY AS v (id, place) JOIN record AS r ON r.id = v.id
    JOIN private_text AS x ON x.state = r.state ORDER BY v.place`,
);

/** Words of a fragment: all of an ordinary name, a stretch of a description. */
const SHOWN: Readonly<Record<SearchedField, number>> = { name: 64, keywords: 64, description: 24 };
/** Words of phrases that are marked: `ts_headline` takes seconds for several long ones. */
const MAX_MARKED_PHRASE_WORDS = 32;
/** Characters of a text in which fragments are looked for; `ts_headline` may take their square. */
const LOOKED_AT = 10_000;

type Found = [
  ark: string,
  score: number,
  name: string,
  keywords: string,
  description: string,
  state: number,
];
type Page = Pick<SearchQuery, "offset" | "limit">;

/** Full text over the column `search`, which holds the public text of live records. */
export class SearchReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param signal an abort before the search has begun prevents it; its reason is thrown */
  async search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage> {
    const parsed = parseQuery(query.text);
    const sought = soughtOf(parsed);
    const isEmpty = query.match !== "identifier" && sought.length === 0;
    const excludesOnly = isEmpty && parsed.excluded.length > 0;
    const near = query.match === "related" && !excludesOnly ? query.near : undefined;
    if (isEmpty && !near) return nothingFor(query);
    // One view of the database for all that is read.
    return this.#database.snapshot(async (session) => {
      signal?.throwIfAborted();
      const search = new Search(session, query);
      if (query.match === "identifier") return search.identified();
      const open = async (asked: SearchQuery, found: readonly number[]): Promise<SearchPage> => {
        const others = new Search(session, asked, found);
        const nearest = near ? await others.nearest(near) : [];
        if (isEmpty && nearest.length === 0) return nothingFor(asked);
        return others.page(sought, parsed.excluded, nearest);
      };
      const found = await search.privateOnes(sought, parsed.excluded);
      return found.length === 0
        ? open(query, [])
        : search.withPrivate(found, sought, (asked) => open(asked, found));
    });
  }
}

/** One search, in one view of the database. */
class Search {
  /** A tsquery of what no result may hold; empty where nothing is excluded. */
  #none = "";
  /** States of records near the vector, with how much they stand out. */
  #near = new Map<number, number>();

  readonly #session: Session;
  readonly #query: SearchQuery;
  readonly #among: Among;
  readonly #beside: readonly number[];

  /** @param beside private records that facets count too */
  constructor(session: Session, query: SearchQuery, beside: readonly number[] = []) {
    this.#session = session;
    this.#query = query;
    this.#among = amongOf(query.filter);
    this.#beside = beside;
  }

  /**
   * The private records that the viewer sees, of a query for all its words or for any of them:
   * those with most of the words first, in name or keywords above all, then the newest. Those of an
   * administrator, who sees all, come by their age. No other spellings or related words are looked
   * for.
   */
  async privateOnes(
    sought: readonly QueryTerm[],
    excluded: readonly QueryTerm[],
  ): Promise<number[]> {
    const { viewer, match } = this.#query;
    if (sought.length === 0 || viewer?.user === null) return [];
    const none = anyOf((await this.#terms(excluded)).map(({ query }) => query));
    const terms = (await this.#terms(sought.slice(0, MAX_WORDS))).map(({ query }) => query);
    if (terms.length === 0) return [];
    const query = without(match === "all" ? allOf(terms) : anyOf(terms), none);
    const ranked = viewer === undefined ? [] : terms.slice(0, PRIVATE_TERMS);
    const rows = await this.#read<[id: number]>((sql) => {
      const rank = ranked.flatMap((term) => {
        const asked = `${sql.add(term)}::tsquery`;
        return [`(x.search @@ ${asked})::int`, `(ts_filter(x.search, '{a,b}') @@ ${asked})::int`];
      });
      const order = [
        ...(rank.length > 0 ? [`${rank.join(" + ")} DESC`, `${kindWeightSql("r.kind")} DESC`] : []),
        "r.id DESC",
      ];
      return `SELECT r.id FROM ${privateOnesSql(sql)} AS r JOIN private_text AS x
        ON x.state = r.state
        WHERE x.search @@ ${sql.add(query)}::tsquery${this.#among.ofRecords(sql)}
        ORDER BY ${order.join(", ")} LIMIT ${FACETED + 1}`;
    });
    return rows.map(([id]) => id);
  }

  async withPrivate(
    found: readonly number[],
    sought: readonly QueryTerm[],
    open: (query: SearchQuery) => Promise<SearchPage>,
  ): Promise<SearchPage> {
    const both = new WithPrivate(this.#query, found.length);
    const others = both.others(await open(both.open));
    const ids = both.shown(found, others);
    const rows = await this.#session.query(PRIVATE_TEXTS, [ids]);
    const terms = await this.#terms(sought.slice(0, MAX_WORDS));
    const fragments = await this.#fragments(rows, terms, PRIVATE_HEADLINES);
    const facets =
      this.#query.facets && others.total === 0
        ? (await new Search(this.#session, this.#query, found).#facets(() => NO_IDS, 0)).facets
        : others.facets;
    return both.page(
      others,
      rows.map(([ark, , , , , state]) => ({ ark, fragments: fragments.get(state) ?? {} })),
      facets,
    );
  }

  /** Records whose key is the text or begins with it, by key. */
  async identified(): Promise<SearchPage> {
    const { text, offset, limit } = this.#query;
    const where = (sql: Sql): string =>
      `FROM record AS r WHERE r.key >= ${sql.add(text)} AND r.key < ${sql.add(text + LAST_CHARACTER)}
        AND r.deleted_at IS NULL AND ${sql.seen("r")}${this.#among.ofRecords(sql)}`;
    const total = await this.#count((sql) => `SELECT count(*) ${where(sql)}`);
    const rows =
      total <= offset
        ? []
        : await this.#read<[ark: string, length: number]>(
            (sql) =>
              `SELECT r.ark, length(r.key)::bigint ${where(sql)} ORDER BY r.key, r.id
                LIMIT ${sql.add(limit)} OFFSET ${sql.add(offset)}`,
          );
    return {
      total,
      exact: true,
      ranked: total,
      ...(await this.#facets((sql) => `SELECT r.id ${where(sql)}`, total)),
      hits: rows.map(([ark, length]) => ({
        ark,
        score: [...text].length / length,
        fragments: {},
      })),
    };
  }

  /** Live records of the filter whose vectors are nearest to one. */
  async nearest({ model, vector }: NonNullable<SearchQuery["near"]>): Promise<Near[]> {
    const similarity = await similaritySql(this.#session);
    const rows = await this.#read<[id: number, share: number]>((sql) => {
      const asked = sql.add([...vector]);
      // Vectors of another length cannot be compared: a server changed its model under the same name.
      const compared = `e.model = ${sql.add(model)} AND cardinality(e.vector) = ${sql.add(vector.length)}`;
      return nearestSql(similarity(asked), `${compared}${this.#among.ofRecords(sql)}`);
    });
    return rows.map(([id, share]) => ({ id, share }));
  }

  async page(
    sought: readonly QueryTerm[],
    excluded: readonly QueryTerm[],
    near: readonly Near[],
  ): Promise<SearchPage> {
    this.#none = anyOf((await this.#terms(excluded)).map(({ query }) => query));
    const terms = await this.#terms(sought);
    if (this.#query.match === "all") return this.#all(terms);
    this.#near = await this.#states(near);
    return this.#related(terms.slice(0, MAX_WORDS));
  }

  /** Terms as tsqueries, each once; without those in which PostgreSQL sees no word. */
  async #terms(asked: readonly QueryTerm[]): Promise<AskedTerm[]> {
    if (asked.length === 0) return [];
    const completed = asked.flatMap((term) =>
      completionsFor(term, (word) => [word, ...endingsOf(word)]),
    );
    const stems = new Map(
      completed.length === 0 ? [] : await this.#session.query(STEMS, [completed]),
    );
    const completions = (word: string): string[] =>
      completionsOf(word, (words) => words.map((one) => stems.get(one)));
    const rows = await this.#session.query(TSQUERIES, [
      asked.map((term) => tsqueryOf(term, completionsFor(term, completions))),
    ]);
    const terms = pairs(asked, rows).flatMap(([term, [query]]): [string, AskedTerm][] =>
      query === "" ? [] : [[query, { query, text: textOf(term), weight: 1, asked: term }]],
    );
    return [...new Map(terms.toReversed()).values()].toReversed();
  }

  /**
   * Every term. Where no record holds all of them: without stop words of any language, then with
   * other spellings of unknown words, then any term.
   */
  async #all(terms: readonly AskedTerm[]): Promise<SearchPage> {
    const asked = (groups: readonly (readonly Term[])[]): Sought => {
      const all = groups.map((group) => anyOf(group.map(({ query }) => query)));
      const query = allOf(all);
      // So many words that no record holds them all are not ranked one by one.
      const ranked = groups.flat().slice(0, MAX_WORDS);
      return {
        query,
        rankSql: (sql) =>
          terms.length <= MAX_NEAR && terms.every((term) => isWord(term.asked))
            ? nearRankOf(sql.add(query))
            : rankSumOf(ranked, sql),
        terms: ranked,
        sources: [query],
        covered: 1,
      };
    };
    const every = (some: readonly Term[]) => this.#found(asked(some.map((term) => [term])));
    const exact = await every(terms);
    if (exact.total > 0) return exact;
    const typed = terms.map((term) => term.asked);
    const subject = subjectOf(typed);
    const sought = subject === typed ? terms : await this.#terms(subject);
    if (sought !== terms) {
      const page = await every(sought);
      if (page.total > 0) return page;
    }
    const meant = sought.length > MAX_WORDS ? undefined : await this.#meant(sought);
    const corrected = meant?.corrected;
    if (meant?.isComplete === true) {
      const page = await this.#found(asked(meant.groups));
      if (page.total > 0) return { ...page, ...corrected };
    }
    if (terms.length < 2 && sought.length < 2) return { ...exact, ...corrected };
    // A stop word of another language counts where nothing else is found: "dog" is one in Danish.
    const left = meant?.groups.flat() ?? sought;
    for (const some of sought === terms ? [left] : [left, terms]) {
      const page = await this.#found(anyTermOf(await this.#weighed(some.slice(0, MAX_WORDS))));
      if (page.total > 0) return { ...page, ...corrected, matchesAnyWord: true };
    }
    return exact;
  }

  /** Any term, or, where no record holds one, the words spelt nearly so; and related words. */
  async #related(typed: readonly AskedTerm[]): Promise<SearchPage> {
    if (typed.length === 0) return this.#found(NO_WORDS);
    const any = anyOf(typed.map(({ query }) => query));
    const meant = (await this.#isHeld(any, this.#among)) ? undefined : await this.#meant(typed);
    const terms = await this.#weighed(meant?.groups.flat() ?? typed);
    const best = await this.#best(anyTermOf(terms));
    if (best.length === 0) return this.#found(NO_WORDS);
    const page = await this.#found({
      ...anyTermOf([...terms, ...(await this.#relatedTo(best, terms))]),
      covered: this.#near.size === 0 ? 1 : await this.#coverage(typed),
    });
    return { ...page, ...meant?.corrected };
  }

  /**
   * Single words that no record has as those that hold them or that they are made of, or as those
   * that are spelt nearly so; `undefined` where there are none. Not complete where a word has none.
   */
  async #meant(
    terms: readonly AskedTerm[],
  ): Promise<
    | { groups: AskedTerm[][]; isComplete: boolean; corrected: Pick<SearchPage, "corrected"> }
    | undefined
  > {
    let isComplete = true;
    const meant = new Map<AskedTerm, AskedTerm[]>();
    const corrected: NonNullable<SearchPage["corrected"]>[number][] = [];
    const isHeld = async (word: string): Promise<boolean> => {
      const [term] = await this.#terms([{ words: [word], prefix: false }]);
      return term !== undefined && this.#isHeld(term.query);
    };
    for (const term of terms.slice(0, MAX_WORDS)) {
      const [typed] = term.asked.words;
      if (typed === undefined || !isWord(term.asked) || (await this.#isHeld(term.query))) continue;
      const asTerms = (some: readonly (readonly string[])[]): Promise<AskedTerm[]> =>
        this.#terms(some.map((words) => ({ ...term.asked, words: [...words], forms: [] })));
      const parts = await asTerms(await compoundsOf(this.#session, typed));
      const hasParts =
        parts.length > 0 && (await this.#isHeld(anyOf(parts.map(({ query }) => query))));
      const near = hasParts ? [] : await spellingsOf(this.#session, typed, isHeld);
      const [nearest] = near;
      if (!hasParts && nearest === undefined) {
        isComplete = false;
        break;
      }
      meant.set(term, hasParts ? parts : await asTerms(near.map((word) => [word])));
      if (nearest !== undefined) corrected.push({ typed, meant: nearest });
    }
    if (meant.size === 0) return undefined;
    return {
      groups: terms.map((term) => meant.get(term) ?? [term]),
      isComplete,
      corrected: corrected.length === 0 ? {} : { corrected },
    };
  }

  /** Whether a record has what a tsquery asks for. */
  async #isHeld(query: string, among?: Among): Promise<boolean> {
    const rows = await this.#read<[number]>((sql) =>
      among === undefined
        ? `SELECT 1 FROM text AS t WHERE t.search @@ ${sql.add(query)}::tsquery LIMIT 1`
        : `SELECT 1 FROM text AS t WHERE ${this.#holds(query, sql)} LIMIT 1`,
    );
    return rows.length > 0;
  }

  /** SQL of the texts that a tsquery finds, among those that are searched. */
  #holds(query: string, sql: Sql): string {
    const asked = sql.add(without(query, this.#none));
    return `t.search @@ ${asked}::tsquery${this.#among.ofTexts(sql)}`;
  }

  /** Terms, and in how many records the words of each stand, as far as these are common. */
  async #holding(
    terms: readonly AskedTerm[],
    records: number,
  ): Promise<{ term: AskedTerm; holding: number }[]> {
    const words = terms.map(({ asked }) => asked.words.join(" "));
    const shares = await this.#session.query(SHARES, [words]);
    return pairs(terms, shares).map(([term, [share]]) => ({ term, holding: share * records }));
  }

  async #weighed(terms: readonly AskedTerm[]): Promise<AskedTerm[]> {
    const records = await this.#records();
    const found = await this.#holding(terms, records);
    return found.map(({ term, holding }) => ({ ...term, weight: rarity(holding, records) }));
  }

  async #coverage(terms: readonly AskedTerm[]): Promise<number> {
    const records = await this.#records();
    const held: number[] = [];
    for (const { term, holding } of await this.#holding(terms, records))
      held.push((await this.#isHeld(term.query)) ? Math.max(1, holding) : 0);
    return coverage(held, records);
  }

  /** Stems that mark the subject of some records, as terms. */
  async #relatedTo(states: readonly number[], terms: readonly AskedTerm[]): Promise<Term[]> {
    const records = await this.#records();
    const without = [
      END_OF_FIELD,
      ...STOP_WORDS,
      ...terms.flatMap(({ asked }) => asked.words),
    ].join(" ");
    const rows = await this.#session.query(SHARED_STEMS, [states, without]);
    const found = rows.map(([stem, best, share]) => ({
      word: stem,
      stem,
      best,
      holding: share * records,
    }));
    const related = pickRelated(found, ({ holding }) => holding, records);
    return related.map(({ stem, holding }) => ({
      query: `'${stem}'`,
      text: stem,
      weight: RELATED_WEIGHT * rarity(holding, records),
      isRelated: true,
    }));
  }

  /** Live records of the filter near a vector, by their states, and how much they stand out. */
  async #states(near: readonly Near[]): Promise<Map<number, number>> {
    if (near.length === 0) return new Map();
    const rows = await this.#read<[state: number, share: number]>((sql) => {
      const [ids, shares] = [near.map(({ id }) => id), near.map(({ share }) => share)];
      const none =
        this.#none === ""
          ? ""
          : ` AND NOT EXISTS (SELECT 1 FROM text AS x WHERE x.state = r.state
              AND x.search @@ ${sql.add(this.#none)}::tsquery)`;
      return `SELECT r.state, n.share FROM unnest(${sql.add(ids)}::bigint[],
        ${sql.add(shares)}::float8[]) AS n (id, share) JOIN record AS r ON r.id = n.id
        WHERE r.deleted_at IS NULL${this.#among.ofRecords(sql)}${none}`;
    });
    return new Map(rows.map(([state, share]) => [state, share]));
  }

  async #found(sought: Sought): Promise<SearchPage> {
    if (sought.query === "" && this.#near.size === 0) return nothingFor(this.#query);
    const { total, exact, ranked, found } = await this.#ranked(sought);
    const raw = this.#query.explain === true ? await this.#parts(found, sought.terms) : undefined;
    const fragments = await this.#fragments(found, sought.terms);
    return {
      total,
      exact,
      ranked,
      ...(await this.#facets(
        (sql) => `SELECT r.id FROM (${this.#statesSql(sought.query, sql)}) AS u (state)
          JOIN record AS r ON r.state = u.state AND r.private = 0 AND r.deleted_at IS NULL`,
        total,
      )),
      hits: found.map(([ark, score, , , , state]) => ({
        ark,
        score,
        fragments: fragments.get(state) ?? {},
        ...(raw && {
          parts: partsOfScore(score, this.#near.get(state) ?? 0, raw.get(state) ?? []),
        }),
      })),
    };
  }

  /** SELECT of the states that are found; of very many the newest. */
  #statesSql(query: string, sql: Sql): string {
    const states = [];
    if (query !== "")
      states.push(`(SELECT t.state FROM text AS t WHERE ${this.#holds(query, sql)}
        ORDER BY t.state DESC LIMIT ${FACETED})`);
    if (this.#near.size > 0)
      states.push(`SELECT unnest(${sql.add([...this.#near.keys()])}::bigint[])`);
    return states.join(" UNION ");
  }

  /** States of the records that rank first by words. */
  async #best(sought: Sought): Promise<number[]> {
    const candidates = await this.#candidates(sought.sources);
    const page = { offset: 0, limit: RECORDS_LOOKED_AT };
    const best = await this.#read<Found>((sql) =>
      this.#pageSql(sought, candidates, new Map(), page, sql),
    );
    return best.map(([, , , , , state]) => state);
  }

  async #ranked(
    sought: Sought,
  ): Promise<{ total: number; exact: boolean; ranked: number; found: Found[] }> {
    const { query, sources } = sought;
    const states = [...this.#near.keys()];
    const count = async (counted: (sql: Sql) => string): Promise<number> =>
      query === ""
        ? 0
        : this.#count(
            (sql) => `SELECT count(*) FROM (SELECT FROM text AS t
              WHERE ${this.#holds(query, sql)}${counted(sql)}) AS f`,
          );
    const words = await count(() => ` LIMIT ${COUNTED + 1}`);
    const both =
      states.length === 0
        ? 0
        : await count((sql) => ` AND t.state = ANY(${sql.add(states)}::bigint[])`);
    const total = Math.min(words, COUNTED) + states.length - both;
    const exact = words <= COUNTED;
    if (total === 0 || this.#query.limit === 0)
      return { total, exact, ranked: Math.min(total, RANKED), found: [] };
    const candidates = words > RANKED ? await this.#candidates(sources) : undefined;
    const found = await this.#read<Found>((sql) =>
      this.#pageSql(sought, candidates, this.#near, this.#query, sql),
    );
    const ranked = candidates ? new Set([...candidates, ...states]).size : total;
    return { total, exact, ranked, found };
  }

  /** An equal share of each source: {@link RANKED} in all. */
  async #candidates(sources: readonly string[]): Promise<number[]> {
    const some = sources.slice(0, MAX_SOURCES);
    const share = Math.ceil(RANKED / (2 * some.length));
    const newest = Math.ceil(LOOKED_THROUGH / some.length);
    const rows = await this.#read<[state: number]>((sql) =>
      some
        .map((source) => {
          const asked = sql.add(source);
          return `(WITH newest AS MATERIALIZED (SELECT t.state, t.search FROM text AS t
              WHERE ${this.#holds(source, sql)} ORDER BY t.state DESC LIMIT ${newest})
            (SELECT state FROM newest LIMIT ${share}) UNION (SELECT state FROM newest
              WHERE ts_filter(search, '{a,b}') @@ ${asked}::tsquery LIMIT ${share}))`;
        })
        .join(" UNION "),
    );
    return rows.map(([state]) => state);
  }

  /**
   * The best score by words counts as much as words can answer, the nearest vector 1. What is found
   * and not ranked follows, the newest first.
   */
  #pageSql(
    { query, rankSql, covered }: Sought,
    candidates: readonly number[] | undefined,
    near: ReadonlyMap<number, number>,
    { limit, offset }: Page,
    sql: Sql,
  ): string {
    const [most, from] = [sql.add(limit), sql.add(offset)];
    const rank = (): string => `(${rankSql(sql)}) * ${kindWeightSql("t.kind")} AS rank`;
    const words = [];
    if (candidates !== undefined) {
      const states = `unnest(${sql.add(candidates)}::bigint[])`;
      words.push(
        `SELECT t.state, t.state AS place, ${rank()} FROM ${states} AS c (state)
          JOIN text AS t ON t.state = c.state`,
        `(SELECT t.state, -t.state, 0 FROM text AS t WHERE ${this.#holds(query, sql)}
          AND t.state NOT IN (SELECT ${states}) ORDER BY t.state DESC
          LIMIT ${most}::bigint + ${from}::bigint)`,
      );
    } else if (query !== "")
      words.push(
        `SELECT t.state, t.state AS place, ${rank()} FROM text AS t
          WHERE ${this.#holds(query, sql)}`,
      );
    else words.push("SELECT 0::bigint AS state, 0::bigint AS place, 0::float8 AS rank WHERE false");
    return `WITH words AS (${words.join(" UNION ALL ")}),
      scored AS (SELECT u.state, min(u.place) AS place, sum(u.score) AS score FROM (
        SELECT state, place, greatest(coalesce(rank / nullif((SELECT max(rank) FROM words), 0), 0)
          * ${sql.add(covered)}::float8, ${UNRANKED}) AS score FROM words
        UNION ALL SELECT n.state, n.state, n.share FROM unnest(${sql.add([...near.keys()])}::bigint[],
          ${sql.add([...near.values()])}::float8[]) AS n (state, share)) AS u GROUP BY u.state),
      page AS (SELECT * FROM scored ORDER BY score DESC, place LIMIT ${most} OFFSET ${from})
      SELECT r.ark, page.score, t.name, t.keywords, t.description, t.state FROM page
      JOIN record AS r ON r.state = page.state JOIN text AS t ON t.state = page.state
      ORDER BY page.score DESC, page.place`;
  }

  /** What each term adds to the rank of a state, in any measure. */
  async #parts(found: readonly Found[], terms: readonly Term[]): Promise<Map<number, ScorePart[]>> {
    const raw = new Map<number, ScorePart[]>();
    const some = terms.toSorted((a, b) => b.weight - a.weight).slice(0, EXPLAINED);
    const queries = some.map(({ query }) => query);
    for (const [state, place, rank] of await this.#session.query(PARTS, [
      found.map(([, , , , , state]) => state),
      queries,
    ])) {
      const { text, weight, isRelated = false } = some[place - 1]!;
      const reason = isRelated ? "related" : "term";
      getOrInsert(raw, state, () => []).push({ reason, text, score: rank * weight });
    }
    return raw;
  }

  /** The parts of each text that show a hit, by state; PostgreSQL marks them. */
  async #fragments(
    found: readonly Found[],
    terms: readonly Term[],
    headlines = HEADLINES,
  ): Promise<Map<number, SearchHit["fragments"]>> {
    let phraseWords = 0;
    const marked = terms.filter(({ asked: term }) => {
      const length = term?.words.length ?? 1;
      return length === 1 || (phraseWords += length) <= MAX_MARKED_PHRASE_WORDS;
    });
    const some = SEARCHED_FIELDS.flatMap((field) => {
      const ofField = marked.filter((term) => (term.asked?.field ?? field) === field);
      if (ofField.length === 0) return [];
      const query = anyOf(ofField.map((term) => term.query));
      return found.map(([, , name, keywords, description, state]) => {
        const whole = { name, keywords, description }[field];
        const text = whole.slice(0, LOOKED_AT).toWellFormed().normalize("NFC");
        return { state, field, query, text, shown: headlineText(text) };
      });
    });
    const fragments = new Map<number, SearchHit["fragments"]>();
    for (const [place, headline] of await this.#session.query(headlines, [
      some.map(({ state }) => state),
      some.map(({ field }) => WEIGHTS[field]),
      some.map(({ shown }) => shown),
      some.map(({ query }) => query),
      some.map(({ field, shown }) => headlineOptions(field, shown)),
    ])) {
      const { state, field, text, shown } = some[place - 1]!;
      const parts = partsOf(asWritten(headline, shown, text));
      if (parts) fragments.set(state, { ...fragments.get(state), [field]: parts });
    }
    return fragments;
  }

  /**
   * Counts what is found, or the newest {@link FACETED} of it.
   * @param found SELECT of the numbers of all open records that are found
   */
  async #facets(found: (sql: Sql) => string, open: number): Promise<{ facets?: SearchFacet[] }> {
    if (this.#query.facets === undefined) return {};
    const total = open + this.#beside.length;
    const { by, limit } = this.#query.facets;
    const rows = await this.#read<[id: number]>(
      (sql) =>
        `SELECT f.id FROM (${found(sql)} UNION ALL SELECT unnest(${sql.add(this.#beside)}::bigint[]))
          AS f (id) ORDER BY f.id DESC LIMIT ${sql.add(FACETED)}`,
    );
    const beside = new Set(this.#beside);
    const [opened, ofPrivate] = [false, true].map((isPrivate) =>
      rows.flatMap(([id]) => (beside.has(id) === isPrivate ? [id] : [])),
    ) as [number[], number[]];
    // Of all records, the planner would join the private ones of others too, though none was found.
    const shares = liveShares(ofPrivate.length === 0 ? NOBODY : undefined, () => "", DIALECT.oneOf);
    const facets: SearchFacet[] = [];
    for (const key of by) {
      // One more for the records without a value.
      const { text, sql } = statisticsSql(
        { filter: {}, by: [key], limit: limit + 1 },
        {
          ...DIALECT,
          monthOf,
          yearOf,
          shares,
          from: (_conditions, _keys, main, { isPrivate }) => ({
            from: `unnest(${main.add(isPrivate ? ofPrivate : opened)}::bigint[]) AS f (id)
              JOIN record AS r ON r.id = f.id${
                key === "keyword" ? " JOIN keyword AS g ON g.record = r.id" : ""
              }`,
            extra: [],
          }),
        },
      );
      const counts = await this.#session.query(
        statement<[value: string | null, records: string, bytes: string]>(text, { kept: false }),
        sql.values,
      );
      // A sum of counts is numeric, which comes as text.
      const values = counts.map(([value, records]) => [value, Number(records)] as const);
      facets.push(facetOf(key, values, limit, total));
    }
    return { facets };
  }

  /** Reads what a statement with parameters of its own finds. */
  async #read<R extends Row>(write: (sql: Sql) => string): Promise<R[]> {
    const sql = new Sql(DIALECT, this.#query.viewer);
    const text = write(sql);
    return this.#session.query(statement<R>(text, { kept: false }), sql.values);
  }

  async #count(write: (sql: Sql) => string): Promise<number> {
    const sql = new Sql(DIALECT, this.#query.viewer);
    const counting = statement<[number]>(write(sql), { kept: false });
    return (await this.#session.one(counting, sql.values))[0];
  }

  async #records(): Promise<number> {
    return (await this.#session.one(TOTAL))[0];
  }
}

/** Any of some terms; where too many records are found, first those with all, then those of each. */
function anyTermOf(terms: readonly Term[]): Sought {
  const queries = terms.map(({ query }) => query);
  return {
    query: anyOf(queries),
    rankSql: (sql) => rankSumOf(terms, sql),
    terms,
    sources: [...(terms.length > 1 ? [allOf(queries)] : []), ...queries],
    covered: 1,
  };
}

const headlineOptions = (field: SearchedField, text: string): string =>
  [
    `StartSel=${OPEN}`,
    `StopSel=${CLOSE}`,
    ...(everyWordOf(text).length <= SHOWN[field]
      ? ["HighlightAll=true"]
      : ["MaxFragments=1", `MaxWords=${SHOWN[field]}`, `MinWords=${SHOWN[field] >> 1}`]),
  ].join(", ");

/** A headline with the text as it is written, and marks where it is cut. */
function asWritten(headline: string, shown: string, text: string): string {
  const plain = headline.replaceAll(OPEN, "").replaceAll(CLOSE, "");
  const from = shown.indexOf(plain);
  let at = from;
  const marked = headline.replace(/./gs, (unit) =>
    unit === OPEN || unit === CLOSE ? unit : text.charAt(at++),
  );
  return (from > 0 ? "…" : "") + marked + (at < text.length ? "…" : "");
}
