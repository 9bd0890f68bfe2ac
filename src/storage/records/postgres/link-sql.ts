/** Links of records in PostgreSQL. */
import { type Statement, statement } from "../statements.js";
import type { LinkFromRow, LinkSql, LinkToRow } from "../tables/links.js";
import { seenSql } from "../visibility.js";

const fromOf = (direction: "" | "DESC"): Statement<LinkFromRow> =>
  statement<LinkFromRow>(`SELECT asked.place - 1, r.ark, r.kind, l.position, v.predicate, l.target, l.target_key
      FROM unnest($1::text[]) WITH ORDINALITY AS asked (ark, place) JOIN record AS r
      ON r.ark = asked.ark CROSS JOIN LATERAL ( SELECT page.position, page.via, page.target,
      page.target_key FROM link AS page WHERE page.source = r.id AND page.position > $2 AND
      page.position < $6::bigint AND ($3::text[] IS NULL OR page.via IN (SELECT id FROM via
      WHERE predicate = ANY($3))) AND ($5 = 0 OR ( SELECT 1 FROM link AS earlier
      WHERE earlier.source = page.source AND earlier.position < page.position AND earlier.target_key
      = page.target_key AND ($3 IS NULL OR earlier.via IN (SELECT id FROM via
      WHERE predicate = ANY($3))) LIMIT 1) IS NULL) ORDER BY page.position ${direction}
      LIMIT $4) AS l
      JOIN via AS v ON v.id = l.via ORDER BY asked.place, l.position`);

/** The record that states a link is one that the viewer sees. */
const isSeen = (source: string, viewer: string): string =>
  `(${viewer} IS NULL OR (SELECT ${seenSql("p", viewer)} FROM record AS p WHERE p.id = ${source}))`;

// The query hops over the distinct pairs of predicate and kind in the index, then reads each up to
// the limit: it does not read all 100,000 links of a target for the few that the caller asked for.
// For the same reason the query asks for absent rows as a value: PostgreSQL would make a join of
// all of it out of NOT EXISTS. It reads the few links of a source rather than the many of a target:
// a comparison with `|| ''` does not use an index.
const toOf = (direction: "" | "DESC"): Statement<LinkToRow> =>
  statement<LinkToRow>(`WITH RECURSIVE pair (place, target_key, via) AS (
    SELECT asked.place, asked.target_key, (SELECT l.via FROM link AS l
    WHERE l.target_key = asked.target_key ORDER BY l.via LIMIT 1)
    FROM unnest($1::text[]) WITH ORDINALITY AS asked (target_key, place) UNION ALL
    SELECT pair.place, pair.target_key, (SELECT l.via FROM link AS l
    WHERE l.target_key = pair.target_key AND l.via > pair.via ORDER BY l.via LIMIT 1)
    FROM pair WHERE pair.via IS NOT NULL) SELECT pair.place - 1, l.sequence, l.source, l.position,
    v.predicate, v.kind, l.target, l.target_key, r.ark FROM pair JOIN via AS v
    ON v.id = pair.via AND ($2::text[] IS NULL OR v.predicate = ANY($2)) AND ($3::text[] IS NULL OR
    v.kind = ANY($3)) CROSS JOIN LATERAL ( SELECT page.sequence, page.source, page.position,
    page.target, page.target_key FROM link AS page
    WHERE page.target_key = pair.target_key AND page.via = pair.via
    AND ${isSeen("page.source", "$13::text")} AND (page.sequence, page.source,
    page.position) > ($4::bigint, $5::bigint, $6::int) AND (page.sequence, page.source,
    page.position) < ($10::bigint, $11::bigint, $12::int) AND ($8 = 0 OR ( SELECT 1
    FROM link AS earlier WHERE earlier.source = page.source AND earlier.target_key || '' =
    page.target_key AND (earlier.sequence, earlier.position) < (page.sequence, page.position) AND
    ($2 IS NULL OR earlier.via IN (SELECT id FROM via WHERE predicate = ANY($2)))
    LIMIT 1) IS NULL) AND ($9::text[] IS NULL OR ( SELECT 1 FROM link AS back
    WHERE back.target_key = (SELECT key FROM record
    WHERE id = page.source) AND back.via IN (SELECT id FROM via
    WHERE predicate = ANY($9)) AND back.source IN (SELECT id FROM record
    WHERE key = page.target_key) LIMIT 1) IS NULL)
    ORDER BY page.sequence ${direction}, page.source ${direction}, page.position ${direction}
    LIMIT $7) AS l JOIN record AS r ON r.id = l.source`);

const countOf = (
  distinctTargets: boolean,
  distinctSources: boolean,
  fromAnyPredicate: boolean,
): Statement<[number]> =>
  statement<[number]>(`SELECT ( SELECT count(${distinctTargets ? "DISTINCT l.target_key" : "*"})
    FROM record AS r JOIN link AS l ON l.source = r.id
    WHERE r.ark = asked.ark AND ($3::text[] IS NULL OR l.via IN (SELECT id FROM via
    WHERE predicate = ANY($3)))) + (
    SELECT count(${distinctSources ? "DISTINCT l.source" : "*"}) FROM link AS l
    WHERE l.target_key = asked.target_key AND l.via IN (SELECT id FROM via
    WHERE ${fromAnyPredicate ? "$4::text[] IS NULL" : "predicate = ANY($4)"}
    AND ($5::text[] IS NULL OR kind = ANY($5))) AND ${isSeen("l.source", "$7::text")} AND ($6::text[] IS NULL OR
    ( SELECT 1 FROM link AS back WHERE back.target_key = (SELECT key FROM record
    WHERE id = l.source) AND back.via IN (SELECT id FROM via
    WHERE predicate = ANY($6)) AND back.source IN (SELECT id FROM record
    WHERE key = l.target_key) LIMIT 1) IS NULL))
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (ark, target_key, place)
    ORDER BY asked.place`);
const COUNTS = [false, true].map((targets) =>
  [false, true].map((sources) => [false, true].map((any) => countOf(targets, sources, any))),
);

export const LINK_SQL: LinkSql = {
  from: [fromOf(""), fromOf("DESC")],
  to: [toOf(""), toOf("DESC")],
  count: (targets, sources, any) => COUNTS[Number(targets)]![Number(sources)]![Number(any)]!,
};
