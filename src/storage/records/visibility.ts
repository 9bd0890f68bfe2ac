/** Who sees a private record, in SQL that both databases read. */
import type { PublicationStatus } from "../../model/kind.js";
import { COLLECTIVES } from "../../model/kinds.js";
import type { Viewer } from "./port/record.js";

const KINDS = [...COLLECTIVES].map((kind) => `'${kind}'`).join();

/** What makes a private record open, for ever. */
export const OPENING: ReadonlySet<PublicationStatus> = new Set(["PUBLISHED", "EMBARGOED"]);

/** The parameter of {@link seenSql}: null sees everything, the empty text nothing that is private. */
export const viewerKey = (viewer: Viewer | undefined): string | null =>
  viewer === undefined ? null : (viewer.user ?? "");

/**
 * SELECT of the keys of owners that the viewer acts for: the user itself, and the groups,
 * organizations and projects that it owns or is a member of. It is `actsFor` of the access rules.
 */
export const actsForSql = (viewer: string): string => `SELECT ${viewer} AS key
    UNION ALL SELECT g.key FROM record AS g WHERE g.owner_key = ${viewer}
      AND g.kind IN (${KINDS}) AND g.deleted_at IS NULL
    UNION ALL SELECT g.key FROM link AS m JOIN via AS w ON w.id = m.via
      JOIN record AS g ON g.id = m.source WHERE m.target_key = ${viewer}
      AND w.predicate = 'schema:member' AND w.kind IN (${KINDS}) AND g.deleted_at IS NULL`;

/**
 * Condition that a record is open, or that the viewer acts for its owner.
 * @param record alias of the table of records
 * @param viewer placeholder of {@link viewerKey}
 */
export const seenSql = (record: string, viewer: string): string =>
  `(${viewer} IS NULL OR ${record}.private = 0 OR ${record}.owner_key IN (${actsForSql(viewer)}))`;

/** SELECT of the keys of owners whose private records the viewer sees, of those that have any. */
export const privateOwnersSql = (viewer: string): string =>
  `SELECT DISTINCT o.key FROM (${actsForSql(viewer)}) AS o WHERE EXISTS (SELECT 1
    FROM record AS p WHERE p.owner_key = o.key AND p.private = 1 AND p.deleted_at IS NULL)`;
