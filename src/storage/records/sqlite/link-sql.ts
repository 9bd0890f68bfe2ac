/** Links of records in SQLite. */
import { statement } from "../statements.js";
import type { LinkFromRow, LinkSql, LinkToRow } from "../tables/links.js";
import { seenSql } from "../visibility.js";

/** The record that states a link is one that the viewer sees. */
const isSeen = (source: string, viewer: string): string =>
  `(${viewer} IS NULL OR (SELECT ${seenSql("p", viewer)} FROM record AS p WHERE p.id = ${source}))`;

const countSql = (
  distinctTargets: boolean,
  distinctSources: boolean,
  fromAnyPredicate: boolean,
): string =>
  `SELECT ( SELECT count(${distinctTargets ? "DISTINCT l.target_key" : "*"})
      FROM record AS r CROSS JOIN link AS l ON l.source = r.id
      WHERE r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1 AND ($3 IS NULL OR l.via IN (SELECT id
      FROM via WHERE predicate IN (SELECT value FROM json_each($3))))) + (
      SELECT count(${distinctSources ? "DISTINCT l.source" : "*"})
      FROM via AS v CROSS JOIN link AS l INDEXED BY link_target
      ON l.target_key = asked.value ->> 0 AND l.via = v.id
      WHERE ${fromAnyPredicate ? "$4 IS NULL" : "v.predicate IN (SELECT value FROM json_each($4))"}
      AND ${isSeen("l.source", "$7")} AND ($5 IS NULL OR v.kind IN (SELECT value
      FROM json_each($5))) AND ($6 IS NULL OR NOT EXISTS ( SELECT 1
      FROM link AS back INDEXED BY link_target WHERE back.target_key = (SELECT key
      FROM record WHERE id = l.source) AND back.via IN (SELECT id FROM via
      WHERE predicate IN (SELECT value FROM json_each($6))) AND back.source IN (SELECT id
      FROM record WHERE key = l.target_key))))
      FROM json_each($1) AS asked ORDER BY asked.key`;

const fromSql = (backward: boolean): string =>
  `SELECT asked.key, r.ark, r.kind, l.position, v.predicate, l.target, l.target_key
    FROM json_each($1) AS asked CROSS JOIN record AS r
    ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1 CROSS JOIN link AS l
    ON l.source = r.id AND l.position IN ( SELECT position FROM link AS page
    WHERE page.source = r.id AND page.position > $2 AND page.position < $6 AND
    ($3 IS NULL OR page.via IN (SELECT id FROM via WHERE predicate IN (SELECT value
    FROM json_each($3)))) AND ($5 = 0 OR NOT EXISTS ( SELECT 1 FROM link AS earlier
    WHERE earlier.source = page.source AND earlier.position < page.position AND
    earlier.target_key = page.target_key AND ($3 IS NULL OR earlier.via IN (SELECT id
    FROM via WHERE predicate IN (SELECT value FROM json_each($3))))))
    ORDER BY page.position ${backward ? "DESC" : ""} LIMIT $4) CROSS JOIN via AS v ON v.id = l.via
    ORDER BY asked.key, l.position`;

/**
 * The query hops over the distinct pairs of predicate and kind in the index, then reads each up to
 * the limit: it does not read all 100,000 links of a target for the few that the caller asked for.
 */
const toSql = (backward: boolean): string => {
  const direction = backward ? " DESC" : "";
  return `WITH RECURSIVE pair (asked, target_key, via) AS ( SELECT key, value, (SELECT min(via)
    FROM link WHERE target_key = value) FROM json_each($1) UNION ALL
    SELECT asked, target_key, (SELECT min(via) FROM link
    WHERE target_key = pair.target_key AND via > pair.via) FROM pair
    WHERE via IS NOT NULL) SELECT pair.asked, l.sequence, l.source, l.position, v.predicate,
    v.kind, l.target, l.target_key, r.ark FROM pair CROSS JOIN via AS v
    ON v.id = pair.via AND ($2 IS NULL OR v.predicate IN (SELECT value
    FROM json_each($2))) AND ($3 IS NULL OR v.kind IN (SELECT value FROM json_each($3)))
    CROSS JOIN link AS l ON (l.source, l.position) IN ( SELECT page.source, page.position
    FROM link AS page INDEXED BY link_target WHERE page.target_key = pair.target_key AND
    page.via = pair.via AND ${isSeen("page.source", "$13")} AND
    (page.sequence, page.source, page.position) > ($4, $5, $6) AND
    (page.sequence, page.source, page.position) < ($10, $11, $12) AND ($8
    = 0 OR NOT EXISTS ( SELECT 1 FROM link AS earlier
    WHERE earlier.source = page.source AND earlier.target_key = page.target_key AND
    (earlier.sequence, earlier.position) < (page.sequence, page.position) AND ($2 IS NULL OR
    earlier.via IN (SELECT id FROM via WHERE predicate IN (SELECT value
    FROM json_each($2)))))) AND ($9 IS NULL OR NOT EXISTS ( SELECT 1
    FROM link AS back INDEXED BY link_target WHERE back.target_key = (SELECT key
    FROM record WHERE id = page.source) AND back.via IN (SELECT id FROM via
    WHERE predicate IN (SELECT value FROM json_each($9))) AND back.source IN (SELECT id
    FROM record WHERE key = page.target_key)))
    ORDER BY page.sequence${direction}, page.source${direction}, page.position${direction}
    LIMIT $7) CROSS JOIN record AS r ON r.id = l.source`;
};

export const LINK_SQL: LinkSql = {
  from: [statement<LinkFromRow>(fromSql(false)), statement<LinkFromRow>(fromSql(true))],
  to: [statement<LinkToRow>(toSql(false)), statement<LinkToRow>(toSql(true))],
  count: (...which) => statement<[number]>(countSql(...which)),
};
