import type { KindName, Link, PublicationStatus } from "../../../model/kind.js";
import type { AccountChange } from "./accounts.js";
import type { CrateUses } from "./crates.js";
import type { ObjectReference } from "./objects.js";
import type { SubmissionClose } from "./submissions.js";

/** The content of one state of a record. */
export interface RecordState {
  kind: KindName;
  name: string | null;
  owner: string | null;
  document: Uint8Array;
  /**
   * Canonical N-Quads of the public view: the record's graph and its inferred graph. As text, or as
   * `packQuads` makes them of it.
   */
  quads: string | Uint8Array;
  /** As a list, or as `packLinks` makes of it. */
  links: readonly Link[] | Uint8Array;
  /** The text for keyword search. */
  text: SearchText;
  keywords: string[];
  /** As `licenceName` of `model/licences.ts` makes it; absent or null: none is stated. */
  licence?: string | null;
  /** As `statedPublication` of `model/publication-date.ts` makes it; absent or null: none is stated. */
  statedAt?: number | null;
}

export interface SearchText {
  name: string;
  description: string;
  keywords: string;
  other: string;
}

export type RecordWrite =
  | ({
      op: "create";
      ark: string;
      key: string;
      crate?: string;
      publicationStatus?: PublicationStatus;
      /** Seen by those who may change it only; an act of publication ends that. */
      private?: boolean;
      objects?: ObjectReference[];
      /** Crate members may share a key (`a-b.csv` and `ab.csv`); others may not. */
      mayShareKey?: boolean;
    } & RecordState)
  | ({
      op: "replace";
      ark: string;
      /** 412 when the stored revision differs. */
      ifRevision: number;
      /** JSON pointers of the differences, for the history; empty makes no revision. */
      changed: string[];
      /**
       * Objects that the record refers to from this revision on; earlier revisions keep theirs.
       * Absent: unchanged.
       */
      objects?: ObjectReference[];
      /**
       * Also removes the objects so far from earlier revisions, so that their bytes may be deleted;
       * `objects` are the new ones. The archives of the crates that the record came with, or that
       * use it, hold the same bytes and are dropped with them; not one that the commit brings.
       */
      dropObjects?: boolean;
      /** Restores a deleted record as its next revision; without it a deleted one is `GONE`. */
      revive?: boolean;
      /** The crate that it counts as minted for from now on; absent: as before. */
      crate?: string;
    } & RecordState)
  | {
      op: "delete";
      ark: string;
      ifRevision: number;
      reason?: string;
      successor?: string;
      /** As for `replace`. */
      dropObjects?: boolean;
    }
  | {
      /**
       * Makes a revision with the document unchanged, so that the ETag changes and the history shows
       * it; none when nothing differs. PUBLISHED and EMBARGOED make a private record open.
       */
      op: "publish";
      ark: string;
      /** As for `replace`, where it is given. */
      ifRevision?: number;
      status: PublicationStatus;
      embargoedUntil: string | null;
      /** Of ARCHIVED only; absent: none. */
      reason?: string;
      successor?: string;
    };

/** One atomic step: all of it becomes visible, durably, or none of it. */
export interface Commit {
  /** ARK of the user who made it, or null for the service itself. */
  by: string | null;
  at: number;
  /** Address of the client, for the audit log; absent: no request made it. */
  from?: string | undefined;
  records: RecordWrite[];
  account?: AccountChange;
  /**
   * Keys without a holder when the commit was decided on: the commit is refused with
   * `CHANGED_MEANWHILE` (extra: ark) when a record of another commit holds one by now.
   */
  unheld?: readonly string[];
  /** The records that a crate uses after this commit. */
  uses?: CrateUses;
  /**
   * Guards the commit by `running AND attempt = mine`, and ends the submission in the same step.
   */
  submission?: SubmissionClose;
  /**
   * Most ms that the commit may block others; past that it is undone and refused with `TOO_LARGE`.
   * Default: no limit.
   */
  within?: number;
}

export interface Committed {
  sequence: number;
  records: CommittedRecord[];
}

export interface CommittedRecord {
  ark: string;
  revision: number;
  /**
   * Of a record that is new: sequence of the newest link to it that an earlier commit stated, where
   * there is one.
   */
  newestBacklink?: number;
}
