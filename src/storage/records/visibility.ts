/** Who sees a private record, in SQL that both databases read. */
import type { PublicationStatus } from "../../model/kind.js";
import { COLLECTIVES } from "../../model/kinds.js";
import type { Viewer } from "./port/record.js";

const KINDS = [...COLLECTIVES].map((kind) => `'${kind}'`).join();

/** What makes a private record open, for ever. */
export const OPENING: ReadonlySet<PublicationStatus> = new Set(["PUBLISHED", "EMBARGOED"]);

/** A reader who is not signed in. */
export const NOBODY: Viewer = { user: null };

/**
 * The parameter of {@link seenSql}: null sees everything, the empty text nothing that is private.
 * That of a review link is no key of an ARK.
 */
export const viewerKey = (viewer: Viewer | undefined): string | null =>
  viewer === undefined
    ? null
    : viewer.link === undefined
      ? (viewer.user ?? "")
      : `link ${viewer.link}`;

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

/** SELECT of the record of a review link, unless it was deleted. */
const linkedSql = (viewer: string): string =>
  `FROM review_link AS l JOIN record AS c ON c.key = l.key AND c.ark = l.ark
    WHERE l.hash = substr(${viewer}, 6) AND c.deleted_at IS NULL`;

/**
 * SELECT of the crates whose members a review link shows, with their owner: its record, and crates
 * within it that have the same owner. Members of others are not shown.
 */
const linkedCratesSql = (viewer: string): string =>
  `WITH RECURSIVE shown(ark, owner_key) AS (SELECT c.ark, c.owner_key ${linkedSql(viewer)}
    UNION SELECT n.ark, n.owner_key FROM shown JOIN record AS n ON n.crate = shown.ark
      AND n.owner_key = shown.owner_key WHERE n.kind = 'rocrate' AND n.deleted_at IS NULL)
    SELECT ark, owner_key FROM shown`;

/** Conditions of the record of a review link, and of its members. */
export const ofLinkSql = (record: string, viewer: string): string =>
  `(${record}.key, ${record}.ark) IN (SELECT c.key, c.ark ${linkedSql(viewer)})`;
export const withinLinkSql = (record: string, viewer: string): string =>
  `(${record}.deleted_at IS NULL
    AND (${record}.crate, ${record}.owner_key) IN (${linkedCratesSql(viewer)}))`;

/**
 * Condition that a record is open, that the viewer acts for its owner, or that its review link shows
 * it. No more is asked than the viewer needs, so that a private record is missed about as quickly as
 * one that does not exist.
 * @param record alias of the table of records
 * @param viewer placeholder of {@link viewerKey}
 * @param owned condition that a user acts for the owner of the record
 */
export const seenSql = (
  record: string,
  viewer: string,
  owned = `${record}.owner_key IN (${actsForSql(viewer)})`,
): string =>
  `(${viewer} IS NULL OR ${record}.private = 0 OR CASE
    WHEN ${viewer} = '' THEN false
    WHEN substr(${viewer}, 1, 5) = 'link '
      THEN ${ofLinkSql(record, viewer)} OR ${withinLinkSql(record, viewer)}
    ELSE ${owned} END)`;

/** SELECT of the keys of owners whose private records the viewer sees, of those that have any. */
export const privateOwnersSql = (viewer: string): string =>
  `SELECT DISTINCT o.key FROM (${actsForSql(viewer)}) AS o WHERE EXISTS (SELECT 1
    FROM record AS p WHERE p.owner_key = o.key AND p.private = 1 AND p.deleted_at IS NULL)`;
