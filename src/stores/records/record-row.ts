import type { KindName } from "../../model/kind.js";
import type { PublicationStatus, StoredRecord } from "./port.js";

/** Columns of a stored record, for `record AS r JOIN state AS s ON s.id = r.state`. */
export const RECORD_COLUMNS = `r.ark, r.key, r.kind, r.name, r.owner, r.revision, r.created_at, r.modified_at, r.status, r.embargoed_until,
  r.crate, r.newest_backlink, s.document, r.deleted_at, r.deleted_by, r.delete_reason, r.successor`;
export type RecordRow = [
  ark: string, key: string, kind: string, name: string | null, owner: string | null, revision: number, createdAt: number, modifiedAt: number, status: string, embargoedUntil: string | null,
  crate: string | null, newestBacklink: number, document: Uint8Array, deletedAt: number | null, deletedBy: string | null, reason: string | null, successor: string | null,
];

/** A row of {@link RECORD_COLUMNS} as the port gives it. */
export function recordOf(row: RecordRow): StoredRecord {
  const at = row[13];
  return {
    ark: row[0], key: row[1], kind: row[2] as KindName, name: row[3], owner: row[4], revision: row[5], createdAt: row[6], modifiedAt: row[7],
    publicationStatus: row[8] as PublicationStatus, embargoedUntil: row[9], crate: row[10], newestBacklink: row[11], document: row[12],
    tombstone: at === null ? null : { at, by: row[14], reason: row[15], successor: row[16] },
  };
}
