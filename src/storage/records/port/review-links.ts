/** A secret address that shows one record, and a crate with its members, to who has it. */
export interface ReviewLink {
  /** SHA-256 of the secret, lower-case hex. */
  hash: string;
  /** Names it to those who may change the record; no secret. */
  id: string;
  /** ARK of the record, stored form. */
  record: string;
  /** ARK of the user who made it. */
  createdBy: string;
  createdAt: number;
  expiresAt: number;
  /** Names of people are hidden from its readers. */
  anonymous: boolean;
  uses: number;
  /** The last use. */
  usedAt: number | null;
}

/** Links of a deleted record are not there any more. */
export interface ReviewLinkStore {
  /**
   * Stores one, and removes those of the record that have expired by its `createdAt`.
   * @returns false, and it is not stored, where the record has `most`
   */
  storeReviewLink(link: ReviewLink, most: number): Promise<boolean>;
  /** Also one that has expired. */
  reviewLink(hash: string): Promise<ReviewLink | undefined>;
  /** Those of a record, the newest first; also ones that have expired. */
  reviewLinksOf(record: string): Promise<ReviewLink[]>;
  /** Counts a use. */
  useReviewLink(hash: string, at: number): Promise<void>;
  /** @returns false when there was none */
  removeReviewLink(record: string, id: string): Promise<boolean>;
}
