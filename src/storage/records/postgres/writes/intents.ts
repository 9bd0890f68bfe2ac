import type { ObjectBookkeeping } from "../../port.js";
import { type Sending, type Session, statement } from "../statement.js";

const RELEASE = statement("DELETE FROM intent WHERE holder = $1 AND holder_kind = $2");

const INTEND = statement(`INSERT INTO intent (sha256, holder_kind, holder, attempt, at)
      SELECT DISTINCT v.sha256, $2, $3, $4::bigint, $5::bigint
      FROM unnest($1::text[]) AS v (sha256) ON CONFLICT (sha256, holder_kind, holder) DO UPDATE
      SET attempt = excluded.attempt, at = excluded.at`);
/** ms after which a node that was not seen is taken for ended, and its sweep with it. */
const UNSEEN = 900_000;
const REMOVING = statement<[sha256: string]>(
  `SELECT o.sha256 FROM object_removal AS o JOIN writer AS w ON w.id = o.writer
    WHERE o.sha256 = ANY($1::text[]) AND w.seen_at > now() - interval '${UNSEEN} milliseconds'`,
);
const UNREFERENCED = statement<[sha256: string]>(
  `SELECT sha256 FROM unnest($1::text[]) WITH ORDINALITY AS asked (sha256, place)
    WHERE NOT EXISTS (SELECT 1 FROM object_ref AS o
    WHERE o.sha256 = asked.sha256 AND o.dropped = false) AND NOT EXISTS (SELECT 1
    FROM intent AS i WHERE i.sha256 = asked.sha256 AND i.at > $2) AND NOT EXISTS (SELECT 1
    FROM submission AS s WHERE s.sha256 = asked.sha256 AND s.status IN ('queued', 'running'))
    GROUP BY sha256 ORDER BY min(place)`,
);
const CLAIM = statement(
  `INSERT INTO object_removal (sha256, writer) SELECT v.sha256, $2
    FROM unnest($1::text[]) AS v (sha256) ON CONFLICT (sha256) DO UPDATE
    SET writer = excluded.writer`,
);
const REMOVED = statement("DELETE FROM object_removal WHERE sha256 = ANY($1::text[])");

/** Objects that are about to be put or removed: written under the lock that all commits wait for. */
export class Intents {
  readonly #session: Session;
  readonly #writer: string;
  readonly #skew: number;

  /**
   * @param writer the node that a sweep belongs to
   * @param skew ms by which the database's clock is ahead of this node's
   */
  constructor(session: Session, writer: string, skew: number) {
    this.#session = session;
    this.#writer = writer;
    this.#skew = skew;
  }

  async intend(
    ...[{ kind, id, attempt }, sha256s, at]: Parameters<ObjectBookkeeping["intend"]>
  ): Promise<{ removing: string[] }> {
    await this.#session.query(INTEND, [sha256s, kind, id, attempt, at + this.#skew]);
    return { removing: (await this.#session.query(REMOVING, [sha256s])).map(([sha256]) => sha256) };
  }

  async release({ kind, id }: Parameters<ObjectBookkeeping["release"]>[0]): Promise<void> {
    await this.#session.query(RELEASE, [id, kind]);
  }

  async claimUnreferenced(
    ...[sha256s, { now, intentLifetime }]: Parameters<ObjectBookkeeping["claimUnreferenced"]>
  ): Promise<string[]> {
    const free = (
      await this.#session.query(UNREFERENCED, [sha256s, now + this.#skew - intentLifetime])
    ).map(([sha256]) => sha256);
    if (free.length > 0) await this.#session.query(CLAIM, [free, this.#writer]);
    return free;
  }

  async removed(sha256s: readonly string[]): Promise<void> {
    await this.#session.query(REMOVED, [sha256s]);
  }
}

/** Objects that a submission announced are announced no more. */
export function releaseIntents(sending: Sending, submission: string): void {
  void sending.send(RELEASE, [submission, "submission"]);
}
