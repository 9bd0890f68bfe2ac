import type { StoredRecord } from "./record.js";

/** A position in the change log: entries are ordered by sequence, then by number of the record. */
export interface LogPosition {
  sequence: number;
  record: number;
}

/** One entry of the change log, with its record as it is now, without document. */
export interface ChangedRecord extends Pick<
  StoredRecord,
  | "ark"
  | "key"
  | "kind"
  | "owner"
  | "revision"
  | "modifiedAt"
  | "publicationStatus"
  | "private"
  | "crate"
  | "tombstone"
> {
  /** Of the commit that changed it. */
  sequence: number;
  /** True for a DRAFT with another status before. */
  withdrawn: boolean;
}

/** A part of the change log. */
export interface ChangeLogPage {
  changes: ChangedRecord[];
  /** Position of the last one, or the one that the page began behind. */
  position: LogPosition;
  /** The last commit of which this page, or an earlier one, has every entry. */
  complete: number;
  /** More is waiting. */
  more: boolean;
}
