/** What SQLite reads of objects, crates and vectors in its own words: it has indexes named. */
import { MAX_EMBEDDED_CHARACTERS } from "../port.js";
import type { ChangedRow, ClosedRow, CrateLinkRow, EmbargoRow, FileRow } from "../rows.js";
import { statement } from "../statements.js";
import type { CrateUseSql, ObjectSql, ReferenceRow } from "../tables/objects.js";
import type { TableSql } from "../tables/sql.js";
import type { VectorSql } from "../tables/vectors.js";
import { seenSql } from "../visibility.js";
import { bytesOf } from "./derived.js";
import { LINK_SQL } from "./link-sql.js";

const REFERENCES = `SELECT o.sha256, o.size, o.media_type, o.name, o.role FROM record AS r
  JOIN object_ref AS o ON o.record = r.id WHERE r.key = $1 AND r.ark = $2
  AND ($3 IS NULL OR o.role = $3) AND ($4 IS NULL OR o.name = $4) AND o.dropped = 0`;

const objects: ObjectSql = {
  current: statement<ReferenceRow>(`${REFERENCES} AND o.until IS NULL ORDER BY o.id`),
  atRevision: statement<ReferenceRow>(
    `${REFERENCES} AND o.since <= $5 AND (o.until IS NULL OR o.until > $5) ORDER BY o.id`,
  ),
  files: statement<FileRow>(
    `SELECT r.id, o.id, r.ark, o.sha256, o.size, o.media_type, o.name, o.role FROM (
      SELECT id FROM record INDEXED BY live_crate
      WHERE crate = $2 AND deleted_at IS NULL AND id >= $3
      UNION ALL SELECT record FROM crate_use WHERE crate = $2 AND record >= $3
      UNION ALL SELECT id FROM record WHERE key = $1 AND ark = $2 AND id >= $3) AS m
      CROSS JOIN record AS r ON r.id = m.id CROSS JOIN object_ref AS o ON o.record = r.id
      WHERE r.deleted_at IS NULL AND ${seenSql("r", "$7")} AND o.until IS NULL AND o.dropped = 0
      AND o.role IN ('content', 'member') AND o.size >= $5 AND (r.id > $3 OR o.id > $4)
      ORDER BY 1, 2 LIMIT $6`,
  ),
  deleted: statement<[number | null]>(
    `SELECT max(o.until IS NOT NULL) AND NOT max(o.until IS NULL) FROM record AS r
      JOIN object_ref AS o ON o.record = r.id WHERE r.key = $1 AND r.ark = $2 AND o.role = $3`,
  ),
  referenced: statement<[string]>(
    `SELECT sha256 FROM (SELECT DISTINCT sha256 FROM object_ref WHERE dropped = 0 AND sha256 > $1
      UNION SELECT sha256 FROM submission WHERE status IN ('queued', 'running') AND sha256 > $1)
      ORDER BY sha256 LIMIT $2`,
  ),
};

// Files of private crates are private too.
const embargoed = [0, 1].map(
  (isPrivate) => `SELECT id, ark, revision, embargoed_until, crate
    FROM record INDEXED BY live_status WHERE private = ${isPrivate} AND status = 'EMBARGOED'
    AND id > $1 AND deleted_at IS NULL AND embargoed_until IS NOT NULL`,
);
const uses: CrateUseSql = {
  of: statement<[string]>(
    `SELECT r.ark FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record
      WHERE u.crate = $1 AND r.deleted_at IS NULL AND ${seenSql("r", "$2")} ORDER BY u.record`,
  ),
  elsewhere: statement<[string]>(
    `SELECT r.ark FROM json_each($1) AS asked CROSS JOIN record AS r
      ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1 WHERE EXISTS (SELECT 1
      FROM crate_use WHERE record = r.id AND crate <> $2)`,
  ),
  members: statement<[number]>(
    `SELECT id FROM record INDEXED BY live_crate
      WHERE crate = $1 AND deleted_at IS NULL AND id > $2 UNION ALL SELECT record
      FROM crate_use WHERE crate = $1 AND record > $2 ORDER BY 1 LIMIT $3`,
  ),
  closed: statement<ClosedRow>(
    `SELECT min(r.ark), r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private
      FROM json_each($1) AS asked CROSS JOIN record AS r ON r.id = asked.value
      WHERE r.deleted_at IS NULL AND r.status <> 'PUBLISHED' AND EXISTS (SELECT 1
      FROM object_ref AS o WHERE o.record = r.id AND o.role = 'content' AND o.until IS NULL)
      GROUP BY r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private`,
  ),
  embargoes: statement<EmbargoRow>(`${embargoed.join(" UNION ALL ")} ORDER BY id LIMIT $2`),
  linking: statement<[number]>(
    `SELECT id FROM record AS r INDEXED BY live_crate
      WHERE crate = $2 AND deleted_at IS NULL AND id > $3 AND ${seenSql("r", "$5")}
      UNION ALL SELECT u.record FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record
      WHERE u.crate = $2 AND u.record > $3 AND ${seenSql("r", "$5")}
      UNION ALL SELECT id FROM record
      WHERE key = $1 AND ark = $2 AND id > $3 ORDER BY 1 LIMIT $4`,
  ),
  links: statement<CrateLinkRow>(
    `SELECT part.source, part.position, r.ark, r.kind, v.predicate, part.target, part.target_key,
      EXISTS (SELECT 1 FROM record AS t WHERE t.key = part.target_key AND t.deleted_at IS NULL
        AND ${seenSql("t", "$5")}),
      EXISTS (SELECT 1 FROM record AS t WHERE t.key = part.target_key AND ${seenSql("t", "$5")})
      FROM (SELECT l.source, l.position, l.via, l.target, l.target_key FROM json_each($1) AS asked
      CROSS JOIN link AS l ON l.source = asked.value AND l.position >=
      CASE asked.value WHEN $2 THEN $3 ELSE 0 END AND l.position <
      CASE asked.value WHEN $2 THEN $3 ELSE 0 END + $4
      ORDER BY asked.key, l.position LIMIT $4) AS part CROSS JOIN record AS r
      ON r.id = part.source CROSS JOIN via AS v ON v.id = part.via
      ORDER BY part.source, part.position`,
  ),
  state: statement<[number, number | null, number | null]>(
    `SELECT count(*), sum(revision), max(modified_at) FROM (
      SELECT revision, modified_at, private FROM record WHERE key = $1 AND ark = $2
      UNION ALL SELECT revision, modified_at, private FROM record INDEXED BY live_crate
      WHERE crate = $2 AND deleted_at IS NULL
      UNION ALL SELECT r.revision, r.modified_at, r.private FROM crate_use AS u
      CROSS JOIN record AS r ON r.id = u.record WHERE u.crate = $2 AND r.deleted_at IS NULL)
      WHERE private = 0 OR EXISTS (SELECT 1 FROM record
      WHERE key = $1 AND ark = $2 AND private = 1)`,
  ),
  add: statement(
    `INSERT OR IGNORE INTO crate_use (crate, record) SELECT $1, r.id FROM json_each($2) AS asked
      CROSS JOIN record AS r ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1`,
  ),
  isOneOf: "(key, ark) IN (SELECT value ->> 0, value ->> 1 FROM json_each($1))",
  settle: statement(
    `DELETE FROM crate_use WHERE record IN (SELECT value FROM json_each($1)) AND EXISTS (SELECT 1
      FROM record WHERE id = crate_use.record AND record.crate = crate_use.crate)`,
  ),
};

const cut = (column: string): string => `substr(t.${column}, 1, ${MAX_EMBEDDED_CHARACTERS})`;
const vectors: VectorSql = {
  // Only live records have a text.
  changed: statement<ChangedRow>(
    `SELECT c.sequence, c.record, r.ark, ${cut("name")}, ${cut("keywords")},
      ${cut("description")}, e.digest FROM (SELECT sequence, record FROM change_log
      WHERE (sequence, record) > ($2, $3) ORDER BY sequence, record LIMIT $4) AS c
      CROSS JOIN record AS r ON r.id = c.record LEFT JOIN text AS t ON t.id = c.record
      LEFT JOIN embedding AS e ON e.model = $1 AND e.record = c.record
      ORDER BY c.sequence, c.record`,
  ),
  keep: statement(
    `INSERT INTO embedding (model, record, digest, vector)
      SELECT $1, id, $4, $5 FROM record WHERE key = $2 AND ark = $3
      ON CONFLICT (model, record) DO UPDATE SET digest = excluded.digest,
      vector = excluded.vector`,
  ),
  vectorOf: bytesOf,
};

export const TABLE_SQL: TableSql = {
  links: LINK_SQL,
  nextSubmission: statement<[number]>("SELECT coalesce(max(number), 0) + 1 FROM submission"),
  objects,
  uses,
  vectors,
};
