import type { Link } from "../../../model/link.js";
import type { KindName } from "../../../model/kind.js";
import { takesTooLong } from "../refusals.js";

/** What one commit is doing, shared by the tables' writers while it runs. */
export interface Step {
  /** The commit's number, if it changes a record. */
  readonly sequence: number;
  readonly at: number;
  readonly by: string | null;
  /** On the clock of `performance.now()`: past this the commit is given up. */
  readonly deadline: number;
  /** Rows of records whose graph or administration changed: the change log of this commit. */
  readonly changed: Set<number>;
  /** Records whose links are to be brought up to date once every record of the commit is there. */
  readonly links: LinkChange[];
  /** Records that are new: links may have waited for them. */
  readonly arrived: Arrival[];
  /** Keys whose only records are new and were stored with this commit as that of their newest link. */
  readonly linked: Set<string>;
}
/** @throws ServiceError `TOO_LARGE` once the commit has kept others waiting for as long as it may */
export function checkDeadline({ deadline }: Step): void {
  if (performance.now() > deadline) throw takesTooLong();
}
/** The links a record states from now on; none for a deleted one. */
export interface LinkChange { source: number; ark: string; key: string; kind: KindName; links: readonly Link[]; isNew: boolean; /** Packed. */ quads: Uint8Array | null; state: number }
export interface Arrival {
  id: number; ark: string; key: string; sharesKey: boolean;
  /** Commit that the newest of the links that waited for it is of. */
  newest?: number;
}
