import { parseQuery } from "../../../../model/search-query.js";
import { soughtOf } from "../../search/words.js";
import {
  addressPage,
  type AddressRow,
  RECORD_COLUMNS,
  recordOf,
  type RecordRow,
} from "../../rows.js";
import type { SelectionPage } from "../../port.js";
import type {
  AddressesQuery,
  AddressPage,
  AddressRange,
  AddressRangesQuery,
  Selection,
  SelectionQuery,
  Statistics,
  StatisticsQuery,
} from "../../selection-port.js";
import {
  addressed,
  baseOf,
  beyond,
  conditionsOf,
  type Dialect,
  joined,
  keyColumn,
  NO_IDS,
  Positions,
  Sql,
  statisticsOf,
  type StatisticsRow,
  statisticsSql,
  wholeKinds,
} from "../../selection.js";
import { shortWord, sortedName, wordOf } from "../../text.js";
import { type Analyzer, tsqueryOf } from "../search/analyzer.js";
import { type Database, statement } from "../statement.js";

/** The last character of all: no name has it, so it ends the range of names with a beginning. */
const LAST_CHARACTER = "\u{10FFFF}";

/** The index holds the beginning of a name only: `sorted`. */
export const dialectOf = (analyzer: Analyzer): Dialect => ({
  placeholder: (number) => `$${number}`,
  anyOf: (column, values, sql) =>
    values.length === 1
      ? `${column} = ${sql.add(values[0]!)}`
      : `${column} = ANY(${sql.add(values)}::text[])`,
  nameIs: (folded, sql) =>
    `(r.sorted = ${sql.add(sortedName(folded))} AND r.folded = ${sql.add(folded)})`,
  nameContains: (folded, sql) => `strpos(r.folded, ${sql.add(folded)}) > 0`,
  nameStartsWith: (folded, sql) =>
    `(r.sorted >= ${sql.add(sortedName(folded))}
      AND r.sorted < ${sql.add(sortedName(folded) + LAST_CHARACTER)}
      AND starts_with(r.folded, ${sql.add(folded)}))`,
  word: (keyword) => shortWord(wordOf(keyword)),
  textIds: (text, sql) => {
    const query = tsqueryFor(text, analyzer);
    return query === undefined
      ? NO_IDS
      : `SELECT m.id FROM text AS x JOIN record AS m ON m.state = x.state
          WHERE x.search @@ ${sql.add(query)}::tsquery`;
  },
  currentContent: "o.role = 'content' AND o.ended IS NULL AND o.dropped = false",
  documentHolds: (text, sql) =>
    `position(convert_to(${sql.add(text)}::text, 'UTF8') IN t.document) > 0`,
});

/** The month of days since 1970. */
export const monthOf = (days: string): string =>
  `to_char(to_timestamp(${days} * 86400) AT TIME ZONE 'UTC', 'YYYY-MM')`;

/**
 * A tsquery for every term of a query and nothing that it excludes; `undefined` where it looks for
 * nothing.
 */
function tsqueryFor(text: string, analyzer: Analyzer): string | undefined {
  const query = parseQuery(text);
  const sought = soughtOf(query);
  if (sought.length === 0) return undefined;
  return [
    ...sought.map((term) => tsqueryOf(analyzer.termOf(term))),
    ...query.excluded.map((term) => `!(${tsqueryOf(analyzer.termOf(term))})`),
  ].join(" & ");
}

const TALLY = statement<[number]>(
  "SELECT coalesce(sum(live), 0)::bigint FROM tally WHERE kind = ANY($1::text[])",
);

type Selected = [...RecordRow, rows: number, id: number, modified: number, sorted: string];

/** Records by filter. The planner chooses the index, by the statistics of the database. */
export class SelectionReads {
  readonly #database: Database;
  readonly #dialect: Dialect;

  constructor(database: Database, analyzer: Analyzer) {
    this.#database = database;
    this.#dialect = dialectOf(analyzer);
  }

  /** @throws ServiceError `BAD_REQUEST` for a position of another filter or order */
  async select(query: SelectionQuery): Promise<SelectionPage> {
    const { order, limit, bytes, backward = false, after, before } = query;
    const positions = new Positions(query.filter, order);
    const sql = new Sql(this.#dialect);
    const where = [
      baseOf(query),
      ...conditionsOf(query, this.#dialect).map((condition) => condition.sql(sql)),
    ];
    const key = keyColumn(query, "sorted");
    const columns = [key === null ? null : `r.${key}`, "r.id"] as const;
    const [behind, ahead] = order.descending ? (["<", ">"] as const) : ([">", "<"] as const);
    if (after !== undefined) where.push(beyond(positions.read(after), columns, behind, sql));
    if (before !== undefined) where.push(beyond(positions.read(before), columns, ahead, sql));
    const direction = order.descending !== backward ? " DESC" : "";
    const by = (table: string): string =>
      [key, "id"]
        .flatMap((column) => (column === null ? [] : `${table}.${column}${direction}`))
        .join();
    const found = `SELECT r.* FROM record AS r WHERE ${joined(where, "AND")}
        ORDER BY ${by("r")} LIMIT ${sql.add(limit + 1)}`;
    // Lengths are read without the documents, so that those beyond the page are not sent.
    const text = `SELECT ${RECORD_COLUMNS}, r.matched, r.id, r.modified_at, r.sorted FROM (
        SELECT f.*, count(*) OVER () AS matched, coalesce(sum(octet_length(t.document)) OVER
          (ORDER BY ${by("f")} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS so_far
        FROM (${found}) AS f JOIN state AS t ON t.id = f.state) AS r JOIN state AS s
        ON s.id = r.state WHERE r.so_far <= ${sql.add(bytes ?? Number.MAX_SAFE_INTEGER)}
        ORDER BY ${by("r")}`;
    const rows = await this.#database.query(statement<Selected>(text, { kept: false }), sql.values);
    const page = rows.slice(0, limit);
    if (backward) page.reverse();
    return {
      items: page.map((row) => recordOf(row as unknown as RecordRow)),
      positions: page.map((row) => {
        const [id, modified, sorted] = row.slice(-3) as [number, number, string];
        return positions.write({
          id,
          key: { created: null, modified, name: sorted }[order.by],
        });
      }),
      more: ((rows[0]?.at(-4) as number | undefined) ?? 0) > page.length,
    };
  }

  /** Stored for whole kinds; counted for other filters. */
  async count(selection: Selection): Promise<number> {
    const kinds = wholeKinds(selection);
    if (kinds) return (await this.#database.query(TALLY, [kinds]))[0]![0];
    const sql = new Sql(this.#dialect);
    const where = [
      baseOf(selection),
      ...conditionsOf(selection, this.#dialect).map((each) => each.sql(sql)),
    ];
    const text = `SELECT count(*) FROM record AS r WHERE ${joined(where, "AND")}`;
    const [row] = await this.#database.query(
      statement<[number]>(text, { kept: false }),
      sql.values,
    );
    return row![0];
  }

  async statistics(query: StatisticsQuery): Promise<Statistics> {
    const { text, sql } = statisticsSql(query, {
      ...this.#dialect,
      monthOf,
      from: (_conditions, keys) => ({
        from: keys.includes("keyword")
          ? "record AS r JOIN keyword AS g ON g.record = r.id"
          : "record AS r",
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
    const sql = new Sql(this.#dialect);
    const each = sql.add(size);
    const text = `SELECT (r.id - 1) / ${each}::bigint AS part, count(*), max(r.modified_at)
      FROM record AS r WHERE ${joined(addressed(without, this.#dialect, sql), "AND")}
      GROUP BY part ORDER BY part`;
    const rows = await this.#database.query(
      statement<[number, number, number]>(text, { kept: false }),
      sql.values,
    );
    return rows.map(([range, records, modifiedAt]) => ({ range, records, modifiedAt }));
  }

  async addresses({ after, upTo, limit, without }: AddressesQuery): Promise<AddressPage> {
    const sql = new Sql(this.#dialect);
    const where = [
      `r.id > ${sql.add(after)} AND r.id <= ${sql.add(upTo)}`,
      ...addressed(without, this.#dialect, sql),
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
