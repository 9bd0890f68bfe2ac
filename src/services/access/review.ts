/** Readers who have a reviewer's link instead of an account. */
import { sameArk } from "../../identifiers/ark.js";
import type { RecordStore, ReviewLink, StoredRecord } from "../../storage/records/port.js";

/** The link by which a request reads. It gives no right to change anything. */
export type Review = Pick<ReviewLink, "hash" | "record" | "expiresAt" | "anonymous">;

interface Known {
  review: Review;
  /** With all names. */
  whole: Pick<RecordStore, "findMany">;
  /** The record of the link, once it was read. */
  root?: Promise<StoredRecord | undefined>;
}
/** Stores whose reader has a link. */
const reviews = new WeakMap<object, Known>();

export const noteReview = (records: object, known: Known): void => void reviews.set(records, known);

/** The reader of a store must not learn who made the records. */
export const isAnonymous = (records: object): boolean =>
  reviews.get(records)?.review.anonymous ?? false;

/** Crates in crates that are followed. */
const MAX_NESTED = 20;

/**
 * Whether the link of a store shows the record: it is the one that was linked, or a member of that
 * crate with the same owner, also in a crate within it. The store's queries have the same rule.
 */
export async function isReviewed(
  records: object,
  { ark, crate }: Pick<StoredRecord, "ark" | "crate">,
): Promise<boolean> {
  const known = reviews.get(records);
  if (!known) return false;
  const { review, whole } = known;
  if (sameArk(ark, review.record)) return true;
  if (crate === null) return false;
  const root = await (known.root ??= whole.findMany([review.record]).then(([found]) => found));
  const [record] = await whole.findMany([ark]);
  const isOwners =
    root?.owner != null && record?.owner != null && sameArk(root.owner, record.owner);
  let next = isOwners ? crate : null;
  for (let level = 0; next !== null && level < MAX_NESTED; level++) {
    if (sameArk(next, review.record)) return true;
    const [outer]: (StoredRecord | undefined)[] = await whole.findMany([next]);
    next = outer?.crate ?? null;
  }
  return false;
}
