/** Reviewers' links in PostgreSQL. */
import { arkKey } from "../../../identifiers/ark.js";
import type { ReviewLink, ReviewLinkStore } from "../port.js";
import { reviewLinkOf, type ReviewLinkRow } from "../rows.js";
import { isStorableText } from "../text.js";
import { type Database, statement } from "./statement.js";

const COLUMNS = "hash, id, ark, created_by, created_at, expires_at, anonymous, uses, used_at";
const LIVE = `SELECT l.hash, l.id, l.ark, l.created_by, l.created_at, l.expires_at,
  l.anonymous::int, l.uses, l.used_at FROM review_link AS l JOIN record AS r ON r.ark = l.ark
  WHERE r.deleted_at IS NULL`;
const ONE = statement<ReviewLinkRow>(`${LIVE} AND l.hash = $1`);
const OF = statement<ReviewLinkRow>(`${LIVE} AND l.ark = $1 ORDER BY l.created_at DESC, l.hash`);
// Two links of one record are made one after the other: both count what is there.
const LOCK = statement("SELECT id FROM record WHERE ark = $1 FOR UPDATE");
const EXPIRE = statement("DELETE FROM review_link WHERE ark = $1 AND expires_at <= $2");
const COUNT = statement<[number]>("SELECT count(*)::int FROM review_link WHERE ark = $1");
const ADD = statement(
  `INSERT INTO review_link (${COLUMNS}, key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const USE = statement("UPDATE review_link SET uses = uses + 1, used_at = $2 WHERE hash = $1");
const REMOVE = statement<[string]>(
  "DELETE FROM review_link WHERE ark = $1 AND id = $2 RETURNING hash",
);

export class ReviewLinks implements ReviewLinkStore {
  readonly #reading: Database;
  readonly #writing: Database;

  constructor(reading: Database, writing: Database) {
    this.#reading = reading;
    this.#writing = writing;
  }

  async reviewLink(hash: string): Promise<ReviewLink | undefined> {
    const [row] = isStorableText(hash) ? await this.#reading.query(ONE, [hash]) : [];
    return row && reviewLinkOf(row);
  }

  async reviewLinksOf(record: string): Promise<ReviewLink[]> {
    if (!isStorableText(record)) return [];
    return (await this.#reading.query(OF, [record])).map(reviewLinkOf);
  }

  storeReviewLink(link: ReviewLink, most: number): Promise<boolean> {
    const { hash, id, record, createdBy, createdAt, expiresAt, anonymous, uses, usedAt } = link;
    const row = [hash, id, record, createdBy, createdAt, expiresAt, anonymous, uses, usedAt];
    return this.#writing.transaction("", async (session) => {
      await session.query(LOCK, [record]);
      await session.query(EXPIRE, [record, createdAt]);
      if ((await session.one(COUNT, [record]))[0] >= most) return false;
      await session.query(ADD, [...row, arkKey(record)]);
      return true;
    });
  }

  async useReviewLink(hash: string, at: number): Promise<void> {
    await this.#writing.query(USE, [hash, at]);
  }

  async removeReviewLink(record: string, id: string): Promise<boolean> {
    return (await this.#writing.query(REMOVE, [record, id])).length > 0;
  }
}
