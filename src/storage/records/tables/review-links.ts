/** Reviewers' links. */
import { arkKey } from "../../../identifiers/ark.js";
import type { ReviewLink, ReviewLinkStore } from "../port.js";
import { type Flag, type Statements, statement } from "../statements.js";
import { isStorableText } from "../text.js";

type ReviewLinkRow = [
  hash: string,
  id: string,
  record: string,
  createdBy: string,
  createdAt: number,
  expiresAt: number,
  anonymous: Flag,
  uses: number,
  usedAt: number | null,
];
const linkOf = ([
  hash,
  id,
  record,
  createdBy,
  createdAt,
  expiresAt,
  anonymous,
  uses,
  usedAt,
]: ReviewLinkRow): ReviewLink => ({
  hash,
  id,
  record,
  createdBy,
  createdAt,
  expiresAt,
  anonymous: Boolean(anonymous),
  uses,
  usedAt,
});

const LIVE = `SELECT l.hash, l.id, l.ark, l.created_by, l.created_at, l.expires_at, l.anonymous,
  l.uses, l.used_at FROM review_link AS l JOIN record AS r ON r.key = l.key AND r.ark = l.ark
  WHERE r.deleted_at IS NULL`;
const ONE = statement<ReviewLinkRow>(`${LIVE} AND l.hash = $1`);
const OF = statement<ReviewLinkRow>(`${LIVE} AND l.ark = $1 ORDER BY l.created_at DESC, l.hash`);
// Two links of one record are made one after the other: both count what is there.
const LOCK = statement("SELECT id FROM record WHERE ark = $1 FOR UPDATE");
const EXPIRE = statement("DELETE FROM review_link WHERE ark = $1 AND expires_at <= $2");
const COUNT = statement<[number]>("SELECT count(*) FROM review_link WHERE ark = $1");
const ADD = statement(
  `INSERT INTO review_link (hash, id, ark, created_by, created_at, expires_at, anonymous, uses,
    used_at, key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const USE = statement("UPDATE review_link SET uses = uses + 1, used_at = $2 WHERE hash = $1");
const REMOVE = statement("DELETE FROM review_link WHERE ark = $1 AND id = $2");

export class ReviewLinks implements ReviewLinkStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async reviewLink(hash: string): Promise<ReviewLink | undefined> {
    const row = isStorableText(hash) ? await this.#statements.first(ONE, [hash]) : undefined;
    return row && linkOf(row);
  }

  async reviewLinksOf(record: string): Promise<ReviewLink[]> {
    if (!isStorableText(record)) return [];
    return (await this.#statements.query(OF, [record])).map(linkOf);
  }

  async storeReviewLink(link: ReviewLink, most: number): Promise<boolean> {
    const { hash, id, record, createdBy, createdAt, expiresAt, anonymous, uses, usedAt } = link;
    await this.#statements.lock(LOCK, [record]);
    await this.#statements.run(EXPIRE, [record, createdAt]);
    if ((await this.#statements.one(COUNT, [record]))[0] >= most) return false;
    const row = [hash, id, record, createdBy, createdAt, expiresAt, anonymous, uses, usedAt];
    await this.#statements.run(ADD, [...row, arkKey(record)]);
    return true;
  }

  async useReviewLink(hash: string, at: number): Promise<void> {
    await this.#statements.run(USE, [hash, at]);
  }

  async removeReviewLink(record: string, id: string): Promise<boolean> {
    return (await this.#statements.run(REMOVE, [record, id])) > 0;
  }
}
