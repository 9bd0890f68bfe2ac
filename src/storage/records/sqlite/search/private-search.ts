/** What words find in private records, for those who see them. */
import { kindWeightSql } from "../../search.js";
import type { Sql } from "../../selection.js";
import { privateOwnersSql } from "../../visibility.js";

/** All columns of the index but that of owners. */
const TEXT = "{name description keywords other}";

/**
 * SELECT of the numbers, as `id`, of the viewer's private records that an FTS5 query finds; of all
 * private records for an administrator, of none for everybody else.
 */
export function privateIdsSql(match: string, sql: Sql): string | undefined {
  const { seer } = sql;
  if (seer === null) return undefined;
  const asked = sql.add(`${TEXT} : (${match})`);
  // Owners are words of the index, so that no match of others is read. An empty phrase has none.
  const own = `(SELECT coalesce('owner : (' || group_concat('u' || hex(w.key), ' OR ')
    || ') AND ' || ${asked}, '""') FROM (${privateOwnersSql(seer ?? "")}) AS w)`;
  return `SELECT rowid AS id FROM private_search
    WHERE private_search MATCH ${seer === undefined ? asked : own}`;
}

/**
 * SELECT of the numbers of private records that a query finds: those with most of its terms first,
 * in name or keywords above all, then entities of crates behind others, then the newest. Nothing
 * about the records of others changes that order. Those of an administrator, who sees all, come by
 * their age.
 *
 * @param terms FTS5 queries of single terms
 * @param conditions on `record AS r`, beginning with AND
 */
export function rankedPrivateSql(
  {
    query,
    terms,
    conditions,
    most,
  }: {
    query: string;
    terms: readonly string[];
    conditions: (sql: Sql) => string;
    most: number;
  },
  sql: Sql,
): string | undefined {
  const found = privateIdsSql(query, sql);
  if (found === undefined) return undefined;
  const inTitles = terms.map((term) => `{name keywords} : (${term})`);
  // A single term is in all that is found, and orders nothing.
  const ranks =
    sql.seer === undefined ? [] : terms.length === 1 ? inTitles : [...terms, ...inTitles];
  const held = ranks.map((each) => privateIdsSql(each, sql)).join(" UNION ALL ");
  const from = `(${found}) AS f CROSS JOIN record AS r ON r.id = f.id`;
  const where = `r.private = 1 AND r.deleted_at IS NULL AND ${sql.seen("r")}${conditions(sql)}`;
  const limit = sql.add(most);
  return held === ""
    ? `SELECT r.id AS id FROM ${from} WHERE ${where} ORDER BY r.id DESC LIMIT ${limit}`
    : `SELECT r.id AS id FROM ${from} LEFT JOIN (SELECT id, count(*) AS held
        FROM (${held}) GROUP BY id) AS h ON h.id = r.id
        WHERE ${where} ORDER BY h.held DESC, ${kindWeightSql("r.kind")} DESC, r.id DESC
        LIMIT ${limit}`;
}
