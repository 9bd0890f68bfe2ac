import { type Condition, conditionsOf, type Dialect, joined, Sql } from "./selection.js";
import type { Statistics, StatisticsKey, StatisticsQuery } from "./selection-port.js";

/** The SQL of statistics in which two databases differ. */
export interface StatisticsDialect extends Dialect {
  /** The first of a month, `2026-01`, from days since 1970. */
  monthOf(days: string): string;
  /**
   * Where the records that meet the conditions are read, as `r`, and their keywords as `g`, where
   * these are a key; with what that needs in the conditions.
   */
  from(
    conditions: readonly Condition[],
    keys: readonly StatisticsKey[],
    sql: Sql,
  ): { from: string; extra: readonly string[] };
}

/** `[value of each key…, records, bytes]` */
export type StatisticsRow = (string | number | null)[];

/** ms of a day. */
const DAY = 86_400_000;

/**
 * The statement of a query. Months are worked out from days, of which there are few: from each
 * record they took twice as long.
 */
export function statisticsSql(
  query: StatisticsQuery,
  dialect: StatisticsDialect,
): { text: string; sql: Sql } {
  const { by, sizes = false, limit } = query;
  const sql = new Sql(dialect);
  const conditions = conditionsOf(query, dialect);
  const content = `FROM object_ref AS o WHERE o.record = r.id AND ${dialect.currentContent}`;
  const read: Readonly<Record<StatisticsKey, string>> = {
    kind: "r.kind",
    month: `r.created_at / ${DAY}`,
    owner: "r.owner",
    keyword: "g.word",
    status: "r.status",
    format: `(SELECT lower(o.media_type) ${content} ORDER BY o.id LIMIT 1)`,
  };
  const bytes = sizes ? `coalesce(sum((SELECT sum(o.size) ${content})), 0)` : "0";
  const { from, extra } = dialect.from(conditions, by, sql);
  const where = [
    "r.deleted_at IS NULL",
    ...extra,
    ...conditions.map((condition) => condition.sql(sql)),
  ];
  const columns = by.map((key, index) => `${read[key]} AS v${index}`);
  const places = by.map((_, index) => `v${index}`);
  const inner = `SELECT ${[...columns, "count(*) AS records", `${bytes} AS bytes`].join(", ")}
      FROM ${from} WHERE ${joined(where, "AND")}
      ${places.length === 0 ? "" : `GROUP BY ${places.join(", ")}`}`;
  const shown = by.map((key, index) =>
    key === "month" ? `${dialect.monthOf(`v${index}`)} AS s${index}` : `v${index} AS s${index}`,
  );
  const names = by.map((_, index) => `s${index}`);
  const text = `SELECT ${[...shown, "sum(records) AS n", "sum(bytes) AS b"].join(", ")}
    FROM (${inner}) AS days ${names.length === 0 ? "" : `GROUP BY ${names.join(", ")}`}
    ORDER BY ${["n DESC", ...names.map((name) => `${name} NULLS FIRST`)].join(", ")}
    LIMIT ${sql.add(limit + 1)}`;
  return { text, sql };
}

export function statisticsOf(rows: readonly StatisticsRow[], limit: number): Statistics {
  return {
    groups: rows.slice(0, limit).map((row) => ({
      values: row.slice(0, -2) as (string | null)[],
      records: Number(row.at(-2)),
      bytes: Number(row.at(-1)),
    })),
    more: rows.length > limit,
  };
}
