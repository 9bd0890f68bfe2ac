/** Reviewers' links in SQLite. */
import { arkKey } from "../../../identifiers/ark.js";
import type { ReviewLink } from "../port.js";
import { reviewLinkOf, type ReviewLinkRow } from "../rows.js";
import { isStorableText } from "../text.js";
import type { Connection } from "./statement.js";

const COLUMNS = "hash, id, ark, created_by, created_at, expires_at, anonymous, uses, used_at";
const LIVE = `SELECT l.hash, l.id, l.ark, l.created_by, l.created_at, l.expires_at, l.anonymous,
  l.uses, l.used_at FROM review_link AS l JOIN record AS r ON r.key = l.key AND r.ark = l.ark
  WHERE r.deleted_at IS NULL`;

/** Reads of {@link import("../port.js").ReviewLinkStore}. */
export class ReviewLinkReads {
  readonly #one;
  readonly #of;

  constructor(connection: Connection) {
    this.#one = connection.prepare<ReviewLinkRow>(`${LIVE} AND l.hash = ?`);
    this.#of = connection.prepare<ReviewLinkRow>(
      `${LIVE} AND l.ark = ? ORDER BY l.created_at DESC, l.hash`,
    );
  }

  one(hash: string): ReviewLink | undefined {
    const row = isStorableText(hash) ? this.#one.get([hash]) : undefined;
    return row && reviewLinkOf(row);
  }

  of(record: string): ReviewLink[] {
    return isStorableText(record) ? this.#of.all([record]).map(reviewLinkOf) : [];
  }
}

/** Its writes. */
export class ReviewLinkWrites {
  readonly #expire;
  readonly #count;
  readonly #add;
  readonly #use;
  readonly #remove;

  constructor(connection: Connection) {
    this.#expire = connection.prepare("DELETE FROM review_link WHERE ark = ? AND expires_at <= ?");
    this.#count = connection.prepare<[number]>("SELECT count(*) FROM review_link WHERE ark = ?");
    this.#add = connection.prepare(
      `INSERT INTO review_link (${COLUMNS}, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#use = connection.prepare(
      "UPDATE review_link SET uses = uses + 1, used_at = ?2 WHERE hash = ?1",
    );
    this.#remove = connection.prepare("DELETE FROM review_link WHERE ark = ? AND id = ?");
  }

  store(link: ReviewLink, most: number): boolean {
    const { hash, id, record, createdBy, createdAt, expiresAt, anonymous, uses, usedAt } = link;
    this.#expire.run([record, createdAt]);
    if (this.#count.one([record])[0] >= most) return false;
    const row = [hash, id, record, createdBy, createdAt, expiresAt, anonymous ? 1 : 0, uses];
    this.#add.run([...row, usedAt, arkKey(record)]);
    return true;
  }

  use(hash: string, at: number): void {
    this.#use.run([hash, at]);
  }

  remove(record: string, id: string): boolean {
    return this.#remove.run([record, id]) > 0;
  }
}
