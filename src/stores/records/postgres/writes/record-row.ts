import type { Row } from "../statement.js";

/** A record as its row holds it, without the columns that follow from others. */
export interface RecordRow {
  id: number; ark: string; key: string; kind: string; name: string | null; owner: string | null;
  createdAt: number; modifiedAt: number; revision: number; status: string; embargoedUntil: string | null; crate: string | null;
  newestBacklink: number; state: number; deletedAt: number | null; deletedBy: string | null; reason: string | null; successor: string | null;
}

export const ROW_COLUMNS = "id, ark, key, kind, name, owner, created_at, modified_at, revision, status, embargoed_until, crate, newest_backlink, state, deleted_at, deleted_by, delete_reason, successor";

export function rowOf(columns: Row): RecordRow {
  const [id, ark, key, kind, name, owner, createdAt, modifiedAt, revision, status, embargoedUntil, crate, newestBacklink, state, deletedAt, deletedBy, reason, successor] = columns;
  return { id, ark, key, kind, name, owner, createdAt, modifiedAt, revision, status, embargoedUntil, crate, newestBacklink, state, deletedAt, deletedBy, reason, successor } as RecordRow;
}

/** A record that a group of commits reads or writes. */
export interface Held extends RecordRow {
  /** As it was when the group began; absent: it is new. */
  stored?: Readonly<RecordRow>;
}
