import { arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { ClosedMember, CrateUses, DanglingLink, Page, PublicationStatus } from "../port.js";
import { type CrateLinkRow, danglingPage, LINKING, readNumbers } from "../rows.js";
import { isStorableText } from "../text.js";
import { arkArray, type Connection } from "./statement.js";

/** Gives records to the first crate that uses them, and ends that use. */
const HAND_OVER = `UPDATE record SET crate = (SELECT min(u.crate) FROM crate_use AS u
    WHERE u.record = record.id) WHERE deleted_at IS NULL AND EXISTS (SELECT 1
    FROM crate_use AS u WHERE u.record = record.id)`;

export class CrateUseWrites {
  readonly #drop;
  readonly #add;
  readonly #handOver;
  readonly #handOverAll;
  readonly #settle;

  constructor(connection: Connection) {
    this.#drop = connection.prepare("DELETE FROM crate_use WHERE crate = ?");
    this.#add = connection.prepare(
      `INSERT OR IGNORE INTO crate_use (crate, record) SELECT ?1, r.id
        FROM json_each(?2) AS asked CROSS JOIN record AS r
        ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1`,
    );
    this.#handOver = connection.prepare(
      `${HAND_OVER} AND (key, ark) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    );
    this.#handOverAll = connection.prepare(`${HAND_OVER} AND crate = ?`);
    this.#settle = connection.prepare(
      `DELETE FROM crate_use WHERE EXISTS (SELECT 1 FROM record
        WHERE id = crate_use.record AND record.crate = crate_use.crate)`,
    );
  }

  replace({ crate, arks, released = [] }: CrateUses): void {
    this.#drop.put([crate]);
    if (arks.length > 0) this.#add.put([crate, arkArray(arks)]);
    if (released.length > 0 && this.#handOver.run([arkArray(released)]) > 0) this.#settle.put([]);
  }

  /**
   * A deleted crate uses nothing any more. Records minted for it that stay belong to the crates
   * that use them.
   */
  end(crate: string): void {
    this.#drop.put([crate]);
    if (this.#handOverAll.run([crate]) > 0) this.#settle.put([]);
  }
}

export class CrateUseReads {
  readonly #of;
  readonly #elsewhere;
  readonly #members;
  readonly #closed;
  readonly #linking;
  readonly #links;
  readonly #state;

  constructor(connection: Connection) {
    this.#of = connection.prepare<[string]>(
      `SELECT r.ark FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record
        WHERE u.crate = ? AND r.deleted_at IS NULL ORDER BY u.record`,
    );
    this.#elsewhere = connection.prepare<
      [string]
    >(`SELECT r.ark FROM json_each(?1) AS asked CROSS JOIN record AS r
        ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1 WHERE EXISTS (SELECT 1
        FROM crate_use WHERE record = r.id AND crate <> ?2)`);
    this.#members = connection.prepare<[number]>(`SELECT id FROM record INDEXED BY live_crate
        WHERE crate = ?1 AND deleted_at IS NULL AND id > ?2 UNION ALL SELECT record
        FROM crate_use WHERE crate = ?1 AND record > ?2 ORDER BY 1 LIMIT ?3`);
    this.#closed = connection.prepare<
      [string, string, string | null, string, string | null, string | null]
    >(`SELECT min(r.ark), r.kind, r.owner, r.status, r.embargoed_until, r.crate
        FROM json_each(?) AS asked CROSS JOIN record AS r ON r.id = asked.value
        WHERE r.deleted_at IS NULL AND r.status <> 'PUBLISHED' AND EXISTS (SELECT 1
        FROM object_ref AS o WHERE o.record = r.id AND o.role = 'content' AND o.until IS NULL)
        GROUP BY r.kind, r.owner, r.status, r.embargoed_until, r.crate`);
    this.#linking = connection.prepare<[number]>(`SELECT id FROM record INDEXED BY live_crate
        WHERE crate = ?1 AND deleted_at IS NULL AND id > ?2 UNION ALL SELECT record
        FROM crate_use WHERE crate = ?1 AND record > ?2 UNION ALL SELECT id FROM record
        WHERE key = ?4 AND ark = ?1 AND id > ?2 ORDER BY 1 LIMIT ?3`);
    // Targets are looked up for one page of links only, and of each record no more are read: their
    // positions have no gaps.
    this.#links =
      connection.prepare<CrateLinkRow>(`SELECT page.source, page.position, r.ark, r.kind, v.predicate,
        page.target, page.target_key, EXISTS (SELECT 1 FROM record WHERE key = page.target_key AND
        deleted_at IS NULL), EXISTS (SELECT 1 FROM record WHERE key = page.target_key)
        FROM ( SELECT l.source, l.position, l.via, l.target, l.target_key FROM json_each(?1) AS asked
        CROSS JOIN link AS l ON l.source = asked.value AND l.position >=
        CASE asked.value WHEN ?2 THEN ?3 ELSE 0 END AND l.position <
        CASE asked.value WHEN ?2 THEN ?3 ELSE 0 END + ?4
        ORDER BY asked.key, l.position LIMIT ?4) AS page CROSS JOIN record AS r
        ON r.id = page.source CROSS JOIN via AS v ON v.id = page.via
        ORDER BY page.source, page.position`);
    // Live records only: a deletion lowers the count. Two states with one count and sum differ in
    // when the last change was.
    this.#state = connection.prepare<
      [number, number | null, number | null]
    >(`SELECT count(*), sum(revision), max(modified_at) FROM ( SELECT revision, modified_at
        FROM record WHERE key = ?2 AND ark = ?1 UNION ALL SELECT revision, modified_at
        FROM record INDEXED BY live_crate WHERE crate = ?1 AND deleted_at IS NULL UNION ALL
        SELECT r.revision, r.modified_at FROM crate_use AS u CROSS JOIN record AS r
        ON r.id = u.record WHERE u.crate = ?1 AND r.deleted_at IS NULL)`);
  }

  of(crate: string): string[] {
    return isStorableText(crate) ? this.#of.all([crate]).map(([ark]) => ark) : [];
  }

  elsewhere(arks: readonly string[], crate: string): string[] {
    return this.#elsewhere.all([arkArray(arks.filter(isStorableText)), crate]).map(([ark]) => ark);
  }

  closedMembers(
    crate: string,
    { after = "0", limit }: { after?: string; limit: number },
  ): Page<ClosedMember> {
    const ids = isStorableText(crate)
      ? this.#members.all([crate, Number(after), limit]).map(([id]) => id)
      : [];
    const items = this.#closed
      .all([JSON.stringify(ids)])
      .map(([ark, kind, owner, status, embargoedUntil, from]) => ({
        ark,
        kind: kind as KindName,
        owner,
        publicationStatus: status as PublicationStatus,
        embargoedUntil,
        crate: from,
      }));
    return ids.length < limit ? { items } : { items, next: String(ids.at(-1)) };
  }

  danglingLinks(
    crate: string,
    { after = "0.0", limit }: { after?: string; limit: number },
  ): Page<DanglingLink> {
    const [record, position] = readNumbers(after, 2) as [number, number];
    const ids = isStorableText(crate)
      ? this.#linking.all([crate, record - 1, LINKING, arkKey(crate)]).map(([id]) => id)
      : [];
    const rows = this.#links.all([JSON.stringify(ids), record, position, limit]);
    return danglingPage(ids, rows, limit);
  }

  state(crate: string): string {
    return isStorableText(crate)
      ? this.#state
          .get([crate, arkKey(crate)])!
          .map((number) => (number ?? 0).toString(36))
          .join(".")
      : "";
  }
}
