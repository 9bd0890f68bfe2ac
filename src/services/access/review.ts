/** Readers who have a reviewer's link instead of an account. */
import { sameArk } from "../../identifiers/ark.js";
import type { RecordStore, ReviewLink, StoredRecord } from "../../storage/records/port.js";

/** The link by which a request reads. It gives no right to change anything. */
export type Review = Pick<ReviewLink, "hash" | "record" | "expiresAt" | "anonymous">;

/** Stores whose reader has a link, with the record of the link once it was read. */
const reviews = new WeakMap<object, { review: Review; root?: Promise<StoredRecord | undefined> }>();

export const noteReview = (records: object, review: Review): void =>
  void reviews.set(records, { review });

/** Crates in crates that are followed. */
const MAX_NESTED = 20;

/**
 * Whether the link of a store shows the record: it is the one that was linked, or a member of that
 * crate with the same owner, also in a crate within it. The store's queries have the same rule.
 */
export async function isReviewed(
  records: Pick<RecordStore, "findMany">,
  { ark, owner, crate }: Pick<StoredRecord, "ark" | "owner" | "crate">,
): Promise<boolean> {
  const known = reviews.get(records);
  if (!known) return false;
  const { review } = known;
  if (sameArk(ark, review.record)) return true;
  const root = await (known.root ??= records.findMany([review.record]).then(([found]) => found));
  const isOwners = root?.owner != null && owner !== null && sameArk(root.owner, owner);
  let next = isOwners ? crate : null;
  for (let level = 0; next !== null && level < MAX_NESTED; level++) {
    if (sameArk(next, review.record)) return true;
    const [outer]: (StoredRecord | undefined)[] = await records.findMany([next]);
    next = outer?.crate ?? null;
  }
  return false;
}
