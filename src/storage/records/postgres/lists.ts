/** Lists in PostgreSQL: by filter, by kind, by crate, by link. */
import { parseQuery, type QueryTerm } from "../../../model/search-query.js";
import type { Viewer, SelectionPage } from "../port.js";
import { type AddressRow, addressPage, RECORD_COLUMNS, type RecordRow, recordOf } from "../rows.js";
import { completionsFor, endingsOf, soughtOf } from "../search.js";
import type {
  AddressesQuery,
  AddressPage,
  AddressRange,
  AddressRangesQuery,
  Selection,
  SelectionQuery,
  Statistics,
  StatisticsQuery,
} from "../port/selection.js";
import {
  addressed,
  beyond,
  type ConditionField,
  conditionsOf,
  type Dialect,
  firstOf,
  joined,
  NO_IDS,
  orderKey,
  Positions,
  type Share,
  sharesOf,
  soleOf,
  Sql,
  type StatisticsRow,
  statisticsOf,
  statisticsSql,
  wholeKeyword,
  wholeKinds,
} from "../selection.js";
import { shortWord, sortedName, wordOf } from "../text.js";
import { allOf, anyOf, tsqueryOf, without } from "./search/words.js";
import {
  actsForSql,
  ofLinkSql,
  privateOwnersSql,
  viewerKey,
  withinLinkSql,
} from "../visibility.js";
import { type Database, statement } from "./statement.js";

/** The last character of all: no name has it, so it ends the range of names with a beginning. */
const LAST_CHARACTER = "\u{10FFFF}";

/** The index holds the beginning of a name only: `sorted`. */
export const DIALECT: Dialect = {
  placeholder: (number) => `$${number}`,
  anyOf: (column, values, sql) =>
    values.length === 1
      ? `${column} = ${sql.add(values[0]!)}`
      : `${column} = ANY(${sql.add(values)}::text[])`,
  // An array may be looked up in an index whatever the planner expects of the SELECT.
  oneOf: (column, select) => `${column} = ANY(ARRAY(${select}))`,
  nameIs: (folded, sql) =>
    `(r.sorted = ${sql.add(sortedName(folded))} AND r.folded = ${sql.add(folded)})`,
  nameContains: (folded, sql) => `strpos(r.folded, ${sql.add(folded)}) > 0`,
  nameStartsWith: (folded, sql) =>
    `(r.sorted >= ${sql.add(sortedName(folded))}
      AND r.sorted < ${sql.add(sortedName(folded) + LAST_CHARACTER)}
      AND starts_with(r.folded, ${sql.add(folded)}))`,
  word: (keyword) => shortWord(wordOf(keyword)),
  textIds: (text, sql, share) => {
    const query = tsqueryFor(text);
    if (query === undefined) return NO_IDS;
    const own = share?.isPrivate === false ? undefined : privateOnesSql(sql);
    const tables = [
      ...(share?.isPrivate === true ? [] : ["text AS x JOIN record AS m ON m.state = x.state"]),
      ...(own ? [`${own} AS m JOIN private_text AS x ON x.state = m.state`] : []),
    ];
    if (tables.length === 0) return NO_IDS;
    const asked = `to_tsquery('arkgraph', ${sql.add(query)})`;
    return tables
      .map((table) => `SELECT m.id FROM ${table} WHERE x.search @@ ${asked}`)
      .join(" UNION ALL ");
  },
  currentContent: "o.role = 'content' AND o.ended IS NULL AND o.dropped = false",
  thenJoin: "JOIN",
  documentHolds: (text, sql) =>
    `position(convert_to(${sql.add(text)}::text, 'UTF8') IN t.document) > 0`,
};

/**
 * Private records that the viewer sees, for a FROM: those of a user are few and found first. Absent
 * where the viewer sees none.
 */
export function privateOnesSql(sql: Sql): string | undefined {
  const { seer } = sql;
  if (seer === null) return undefined;
  return seer === undefined
    ? "(SELECT r.* FROM record AS r WHERE r.private = 1 AND r.deleted_at IS NULL)"
    : privateOfSql(privateOwnersSql(seer));
}

const keysOf = (owners: string): string => `SELECT DISTINCT a.key FROM (${owners}) AS a`;

/** SELECT of the private records of each owner of a table. */
const ofEachSql = (table: string): string => `SELECT p.* FROM ${table} AS o CROSS JOIN LATERAL
    (SELECT r.* FROM record AS r WHERE r.private = 1 AND r.deleted_at IS NULL
      AND r.owner_key = o.key OFFSET 0) AS p`;

/**
 * Private records of some owners, for a FROM: owner by owner. Asked for all owners at once, the
 * planner expects so many records that it reads the whole table.
 */
const privateOfSql = (owners: string): string => `(${ofEachSql(`(${keysOf(owners)})`)})`;

/**
 * Where a share of the records is read. Lists find owners in a table of their own: otherwise the
 * planner starts parallel workers, which takes longer than all the rest. Searches are slower so.
 */
const fromOf = ({ owners }: Share): string =>
  owners === undefined
    ? "record AS r"
    : `(WITH keys AS MATERIALIZED (${keysOf(owners)}) ${ofEachSql("keys")}) AS r`;

/** The month of days since 1970. */
export const monthOf = (days: string): string =>
  `to_char(to_timestamp(${days} * 86400) AT TIME ZONE 'UTC', 'YYYY-MM')`;
/** The year of days since 1970. */
export const yearOf = (days: string): string =>
  `to_char(to_timestamp(${days} * 86400) AT TIME ZONE 'UTC', 'YYYY')`;

/**
 * For `to_tsquery`: every term of a query and nothing that it excludes; `undefined` where it looks
 * for nothing.
 */
function tsqueryFor(text: string): string | undefined {
  const query = parseQuery(text);
  const sought = soughtOf(query);
  if (sought.length === 0) return undefined;
  const asked = (term: QueryTerm): string => tsqueryOf(term, completionsFor(term, endingsOf));
  return without(allOf(sought.map(asked)), anyOf(query.excluded.map(asked)));
}

const TALLY_OF_KINDS = statement<[number]>(
  "SELECT coalesce(sum(live), 0)::bigint FROM tally WHERE kind = ANY($1::text[])",
);

const HOLDING = statement<[number]>(
  "SELECT count(*) FROM keyword WHERE word = $1 AND kind = ANY($2::text[])",
);

/** Live private records; the index has their owners. */
const PRIVATE = `SELECT count(*) FROM record AS r WHERE r.private = 1 AND r.deleted_at IS NULL
  AND r.kind = ANY($1::text[])`;
const ALL_PRIVATE = statement<[number]>(PRIVATE);
const SEEN_PRIVATE = statement<[number]>(
  `${PRIVATE} AND r.owner_key IN (${actsForSql("$2::text")})`,
);
const LINKED_PRIVATE = statement<[number]>(
  `SELECT ((${PRIVATE} AND ${ofLinkSql("r", "$2::text")}) +
    (${PRIVATE} AND ${withinLinkSql("r", "$2::text")}))`,
);

/** How many live private records of these kinds the viewer sees. */
async function privateOnes(
  database: Database,
  viewer: Viewer | undefined,
  kinds: readonly string[],
): Promise<number> {
  if (viewer === undefined) return (await database.one(ALL_PRIVATE, [kinds]))[0];
  if (viewer.link !== undefined)
    return (await database.one(LINKED_PRIVATE, [kinds, viewerKey(viewer)]))[0];
  if (viewer.user === null) return 0;
  return (await database.one(SEEN_PRIVATE, [kinds, viewer.user]))[0];
}

/** Conditions of lists that are asked for often, in SQL of a few forms: it stays prepared. */
const COMMON: ReadonlySet<ConditionField | undefined> = new Set([
  "kind",
  "keyword",
  "owner",
  "crate",
]);

type Selected = [...RecordRow, rows: number, id: number, key: number | string | null];

/** Records by filter. The planner chooses the index, by the statistics of the database. */
export class SelectionReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws ServiceError `BAD_REQUEST` for a position of another filter or order */
  async select(query: SelectionQuery): Promise<SelectionPage> {
    const { order, limit, bytes, backward = false, after, before } = query;
    const positions = new Positions(query.filter, order);
    const sql = new Sql(DIALECT, query.viewer);
    const conditions = conditionsOf(query, DIALECT);
    const where: string[] = [];
    const key = orderKey(query, "sorted", DIALECT);
    const [behind, ahead] = order.descending ? (["<", ">"] as const) : ([">", "<"] as const);
    for (const [at, side] of [
      [after, behind],
      [before, ahead],
    ] as const)
      if (at !== undefined) where.push(beyond(positions.read(at), [key, "r.id"], side, sql));
    const direction = order.descending !== backward ? " DESC" : "";
    const by = (table: string): string =>
      (key === null ? ["id"] : ["order_key", "id"])
        .map((column) => `${table}${column}${direction}`)
        .join();
    const shares = sharesOf(query, sql).map((share) => {
      const met = [share.sql, ...conditions.map((each) => each.sql(sql, share)), ...where];
      return `SELECT r.*, ${key ?? "NULL::bigint"} AS order_key FROM ${fromOf(share)}
        WHERE ${joined(met, "AND")}`;
    });
    const found = firstOf(shares, by(""), sql.add(limit + 1));
    // Lengths are read without the documents, so that those beyond the page are not sent.
    const text = `SELECT ${RECORD_COLUMNS}, r.matched, r.id, r.order_key FROM (
        SELECT f.*, count(*) OVER () AS matched, row_number() OVER (ORDER BY ${by("f.")}) AS place,
          sum(octet_length(t.document)) OVER
          (ORDER BY ${by("f.")} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far
        FROM (${found}) AS f JOIN state AS t ON t.id = f.state) AS r JOIN state AS s
        ON s.id = r.state WHERE r.place = 1
          OR r.so_far <= ${sql.add(bytes ?? Number.MAX_SAFE_INTEGER)}
        ORDER BY ${by("r.")}`;
    const kept = conditions.length === 0 || COMMON.has(soleOf(conditions)?.field);
    const rows = await this.#database.query(statement<Selected>(text, { kept }), sql.values);
    const page = rows.slice(0, limit);
    if (backward) page.reverse();
    return {
      items: page.map((row) => recordOf(row as unknown as RecordRow)),
      positions: page.map((row) => {
        const [id, key] = row.slice(-2) as [number, number | string | null];
        return positions.write({ id, key });
      }),
      more: ((rows[0]?.at(-3) as number | undefined) ?? 0) > page.length,
    };
  }

  /** Stored for open records of whole kinds, which have all keywords; counted for other filters. */
  async count(selection: Selection): Promise<number> {
    const kinds = wholeKinds(selection);
    const { viewer } = selection;
    if (kinds) {
      const [open] = await this.#database.one(TALLY_OF_KINDS, [kinds]);
      return open + (await privateOnes(this.#database, viewer, kinds));
    }
    const sole = wholeKeyword(selection);
    if (sole)
      return (await this.#database.one(HOLDING, [DIALECT.word(sole.keyword), sole.kinds]))[0];
    const sql = new Sql(DIALECT, viewer);
    const conditions = conditionsOf(selection, DIALECT);
    const counts = sharesOf(selection, sql).map((share) => {
      const where = [share.sql, ...conditions.map((each) => each.sql(sql, share))];
      return `(SELECT count(*) FROM ${fromOf(share)} WHERE ${joined(where, "AND")})`;
    });
    const text = `SELECT ${counts.join(" + ")}`;
    const [count] = await this.#database.one(
      statement<[number]>(text, { kept: false }),
      sql.values,
    );
    return count;
  }

  async statistics(query: StatisticsQuery): Promise<Statistics> {
    const { text, sql } = statisticsSql(query, {
      ...DIALECT,
      monthOf,
      yearOf,
      from: (_conditions, keys, _sql, share) => ({
        from: keys.includes("keyword")
          ? "record AS r JOIN keyword AS g ON g.record = r.id"
          : fromOf(share),
        extra: [],
      }),
    });
    const rows = await this.#database.query(
      statement<StatisticsRow>(text, { kept: false }),
      sql.values,
    );
    return statisticsOf(rows, query.limit);
  }

  async addressRanges({ size, without }: AddressRangesQuery): Promise<AddressRange[]> {
    const sql = new Sql(DIALECT);
    const each = sql.add(size);
    const text = `SELECT (r.id - 1) / ${each}::bigint AS part, count(*), max(r.modified_at)
      FROM record AS r WHERE ${joined(addressed(without, DIALECT, sql), "AND")}
      GROUP BY part ORDER BY part`;
    const rows = await this.#database.query(
      statement<[number, number, number]>(text, { kept: false }),
      sql.values,
    );
    return rows.map(([range, records, modifiedAt]) => ({ range, records, modifiedAt }));
  }

  async addresses({ after, upTo, limit, without }: AddressesQuery): Promise<AddressPage> {
    const sql = new Sql(DIALECT);
    const where = [
      `r.id > ${sql.add(after)} AND r.id <= ${sql.add(upTo)}`,
      ...addressed(without, DIALECT, sql),
    ];
    const text = `SELECT r.id, r.ark, r.modified_at FROM record AS r
      WHERE ${joined(where, "AND")} ORDER BY r.id LIMIT ${sql.add(limit + 1)}`;
    const rows = await this.#database.query(
      statement<AddressRow>(text, { kept: false }),
      sql.values,
    );
    return addressPage(rows, limit);
  }
}
