/** Records that an action is about, and what became of them. */

/** How an action is taken back: by the status that was, or the revision before. */
export type TakenBack = "status" | "revision";

export interface Chosen {
  id: string;
  name: string | null;
  status: string | null;
  isPrivate: boolean;
  revision: number | null;
  embargoEndsAt: string | null;
  /** Of an archived record. */
  reason: string | null;
  successor: string | null;
}

export interface Row {
  id: string;
  done: boolean;
  message: string | null;
  /** Drafts of a crate were set back with it. */
  withDrafts?: boolean;
  /** The record after the action. */
  after?: {
    kind: string | null;
    revision: number | null;
    modifiedAt: string | null;
  } | null;
}
