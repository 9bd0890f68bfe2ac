/** What PostgreSQL reads of objects, crates and vectors in its own words. */
import { MAX_EMBEDDED_CHARACTERS } from "../port.js";
import type { ChangedRow, ClosedRow, CrateLinkRow, EmbargoRow, FileRow } from "../rows.js";
import { statement } from "../statements.js";
import type { CrateUseSql, ObjectSql, ReferenceRow } from "../tables/objects.js";
import type { TableSql } from "../tables/sql.js";
import type { VectorSql } from "../tables/vectors.js";
import { seenSql } from "../visibility.js";
import { LINK_SQL } from "./link-sql.js";

const REFERENCES = `SELECT o.sha256, o.size, o.media_type, o.name, o.role FROM record AS r
  JOIN object_ref AS o ON o.record = r.id WHERE r.key = $1 AND r.ark = $2
  AND ($3::text IS NULL OR o.role = $3) AND ($4::text IS NULL OR o.name = $4)
  AND o.dropped = false`;

const objects: ObjectSql = {
  current: statement<ReferenceRow>(`${REFERENCES} AND o.ended IS NULL ORDER BY o.id`),
  atRevision: statement<ReferenceRow>(
    `${REFERENCES} AND o.since <= $5 AND (o.ended IS NULL OR o.ended > $5) ORDER BY o.id`,
  ),
  files: statement<FileRow>(
    `SELECT r.id, o.id, r.ark, o.sha256, o.size, o.media_type, o.name, o.role FROM (
      SELECT id FROM record WHERE crate = $2 AND deleted_at IS NULL AND id >= $3
      UNION ALL SELECT record FROM crate_use WHERE crate = $2 AND record >= $3
      UNION ALL SELECT id FROM record WHERE key = $1 AND ark = $2 AND id >= $3) AS m
      JOIN record AS r ON r.id = m.id JOIN object_ref AS o ON o.record = r.id
      WHERE r.deleted_at IS NULL AND ${seenSql("r", "$7::text")}
      AND o.ended IS NULL AND o.dropped = false
      AND o.role IN ('content', 'member') AND o.size >= $5 AND (r.id > $3 OR o.id > $4)
      ORDER BY 1, 2 LIMIT $6`,
  ),
  deleted: statement<[number]>(
    `SELECT count(o.ended) FROM record AS r JOIN object_ref AS o ON o.record = r.id
      WHERE r.key = $1 AND r.ark = $2 AND o.role = $3 HAVING count(*) = count(o.ended)`,
  ),
  referenced: statement<[string]>(
    `SELECT sha256 FROM (SELECT sha256 FROM object_ref WHERE dropped = false AND sha256 > $1
      UNION SELECT sha256 FROM submission
      WHERE status IN ('queued', 'running') AND sha256 > $1) AS needed ORDER BY sha256 LIMIT $2`,
  ),
};

const uses: CrateUseSql = {
  of: statement<[string]>(
    `SELECT r.ark FROM crate_use AS u JOIN record AS r ON r.id = u.record
      WHERE u.crate = $1 AND r.deleted_at IS NULL AND ${seenSql("r", "$2::text")}
      ORDER BY u.record`,
  ),
  elsewhere: statement<[string]>(
    `SELECT r.ark FROM unnest($1::text[]) WITH ORDINALITY AS asked (ark, place)
      JOIN record AS r ON r.ark = asked.ark WHERE EXISTS (SELECT 1 FROM crate_use AS u
      WHERE u.record = r.id AND u.crate <> $2) ORDER BY asked.place`,
  ),
  members: statement<[number]>(
    `(SELECT id FROM record WHERE crate = $1 AND deleted_at IS NULL AND id > $2
      ORDER BY id LIMIT $3)
    UNION ALL (SELECT record FROM crate_use WHERE crate = $1 AND record > $2
      ORDER BY record LIMIT $3) ORDER BY 1 LIMIT $3`,
  ),
  closed: statement<ClosedRow>(
    `SELECT min(r.ark), r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private
      FROM record AS r WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL
      AND r.status <> 'PUBLISHED' AND EXISTS (SELECT 1 FROM object_ref AS o
      WHERE o.record = r.id AND o.role = 'content' AND o.ended IS NULL)
      GROUP BY r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private`,
  ),
  embargoes: statement<EmbargoRow>(
    `SELECT id, ark, revision, embargoed_until, crate FROM record
      WHERE status = 'EMBARGOED' AND id > $1 AND deleted_at IS NULL
      AND embargoed_until IS NOT NULL ORDER BY id LIMIT $2`,
  ),
  linking: statement<[number]>(
    `(SELECT r.id FROM record AS r WHERE r.crate = $2 AND r.deleted_at IS NULL AND r.id > $3
      AND ${seenSql("r", "$5::text")} ORDER BY r.id LIMIT $4)
    UNION ALL (SELECT u.record FROM crate_use AS u JOIN record AS r ON r.id = u.record
      WHERE u.crate = $2 AND u.record > $3 AND ${seenSql("r", "$5::text")}
      ORDER BY u.record LIMIT $4)
    UNION ALL SELECT id FROM record WHERE key = $1 AND ark = $2 AND id > $3 ORDER BY 1 LIMIT $4`,
  ),
  links: statement<CrateLinkRow>(
    `SELECT page.source, page.position, r.ark, r.kind, v.predicate, page.target, page.target_key,
      (EXISTS (SELECT 1 FROM record AS t WHERE t.key = page.target_key AND t.deleted_at IS NULL
        AND ${seenSql("t", "$5::text")}))::int,
      (EXISTS (SELECT 1 FROM record AS t WHERE t.key = page.target_key
        AND ${seenSql("t", "$5::text")}))::int
      FROM (SELECT source, position, via, target, target_key FROM link
      WHERE source = ANY($1::bigint[]) AND (source > $2 OR position >= $3) AND position < $4 +
      CASE WHEN source = $2 THEN $3 ELSE 0 END
      ORDER BY source, position LIMIT $4) AS page JOIN record AS r ON r.id = page.source
      JOIN via AS v ON v.id = page.via ORDER BY page.source, page.position`,
  ),
  state: statement<[number, number | null, number | null]>(
    `SELECT count(*), sum(revision)::bigint, max(modified_at) FROM (
      SELECT revision, modified_at, private FROM record WHERE key = $1 AND ark = $2
      UNION ALL SELECT revision, modified_at, private FROM record
      WHERE crate = $2 AND deleted_at IS NULL
      UNION ALL SELECT r.revision, r.modified_at, r.private FROM crate_use AS u
      JOIN record AS r ON r.id = u.record WHERE u.crate = $2 AND r.deleted_at IS NULL) AS mine
      WHERE private = 0 OR EXISTS (SELECT 1 FROM record
      WHERE key = $1 AND ark = $2 AND private = 1)`,
  ),
  add: statement(
    `INSERT INTO crate_use (crate, record) SELECT DISTINCT $1, r.id FROM record AS r
      WHERE r.ark = ANY($2::text[])`,
  ),
  isOneOf: "ark = ANY($1::text[])",
  settle: statement(
    `DELETE FROM crate_use WHERE record = ANY($1::bigint[]) AND EXISTS (SELECT 1 FROM record
      WHERE id = crate_use.record AND record.crate = crate_use.crate)`,
  ),
};

const cut = (column: string): string => `left(t.${column}, ${MAX_EMBEDDED_CHARACTERS})`;
const vectors: VectorSql = {
  // One snapshot, in which no commit is visible before an earlier one: see `counter`. Deleted
  // records have no text.
  changed: statement<ChangedRow>(
    `SELECT c.sequence, c.record, r.ark, ${cut("name")}, ${cut("keywords")},
      ${cut("description")}, e.digest FROM (SELECT sequence, record FROM change_log
      WHERE (sequence, record) > ($2::bigint, $3::bigint) ORDER BY sequence, record
      LIMIT $4) AS c JOIN record AS r ON r.id = c.record LEFT JOIN text AS t
      ON t.state = r.state AND r.deleted_at IS NULL LEFT JOIN embedding AS e
      ON e.model = $1 AND e.record = c.record ORDER BY c.sequence, c.record`,
  ),
  keep: statement(
    `INSERT INTO embedding (model, record, digest, vector)
      SELECT $1, id, $4, $5::real[] FROM record WHERE key = $2 AND ark = $3
      ON CONFLICT (model, record) DO UPDATE SET digest = excluded.digest,
      vector = excluded.vector`,
  ),
  vectorOf: (vector) => [...vector],
};

export const TABLE_SQL: TableSql = {
  links: LINK_SQL,
  nextSubmission: statement<[number]>(
    "UPDATE counter SET submission = submission + 1 WHERE id = 1 RETURNING submission",
  ),
  objects,
  uses,
  vectors,
};
