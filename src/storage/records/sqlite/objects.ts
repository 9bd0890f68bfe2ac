/** Which records use which stored bytes, and which crates use which records. */
import { arkKey } from "../../../identifiers/ark.js";
import type {
  ClosedMember,
  CrateUses,
  DanglingLink,
  Embargo,
  FileReference,
  ObjectBookkeeping,
  ObjectReference,
  Page,
  Viewer,
} from "../port.js";
import {
  type CrateLinkRow,
  danglingPage,
  embargoPage,
  type EmbargoRow,
  type FileRow,
  filePage,
  LINKING,
  readNumberPair,
  closedPage,
} from "../rows.js";
import { isStorableText } from "../text.js";
import { seenSql, viewerKey } from "../visibility.js";
import { arkArray, type Connection, textArray } from "./statement.js";

type ReferenceRow = [sha256: string, size: number, mediaType: string, name: string, role: string];

export class ObjectReads {
  readonly #now;
  readonly #then;
  readonly #deleted;
  readonly #referenced;
  readonly #files;

  constructor(connection: Connection) {
    this.#files = connection.prepare<FileRow>(
      `SELECT r.id, o.id, r.ark, o.sha256, o.size, o.media_type, o.name, o.role FROM (
        SELECT id FROM record INDEXED BY live_crate
        WHERE crate = ?1 AND deleted_at IS NULL AND id >= ?3
        UNION ALL SELECT record FROM crate_use WHERE crate = ?1 AND record >= ?3
        UNION ALL SELECT id FROM record WHERE key = ?2 AND ark = ?1 AND id >= ?3) AS m
        CROSS JOIN record AS r ON r.id = m.id CROSS JOIN object_ref AS o ON o.record = r.id
        WHERE r.deleted_at IS NULL AND ${seenSql("r", "?7")} AND o.until IS NULL AND o.dropped = 0
        AND o.role IN ('content', 'member') AND o.size >= ?5 AND (r.id > ?3 OR o.id > ?4)
        ORDER BY 1, 2 LIMIT ?6`,
    );
    const select = `SELECT o.sha256, o.size, o.media_type, o.name, o.role FROM record AS r
        JOIN object_ref AS o ON o.record = r.id WHERE r.key = ?1 AND r.ark = ?2 AND (?3 IS NULL OR
        o.role = ?3) AND (?4 IS NULL OR o.name = ?4) AND o.dropped = 0`;
    this.#now = connection.prepare<ReferenceRow>(`${select} AND o.until IS NULL ORDER BY o.id`);
    this.#then = connection.prepare<ReferenceRow>(
      `${select} AND o.since <= ?5 AND (o.until IS NULL OR o.until > ?5) ORDER BY o.id`,
    );
    this.#deleted = connection.prepare<[number]>(
      `SELECT max(o.until IS NOT NULL) AND NOT max(o.until IS NULL) FROM record AS r
        JOIN object_ref AS o ON o.record = r.id WHERE r.key = ? AND r.ark = ? AND o.role = ?`,
    );
    this.#referenced = connection.prepare<[string]>(`SELECT sha256 FROM (
        SELECT DISTINCT sha256 FROM object_ref WHERE dropped = 0 AND sha256 > ?1
        UNION SELECT sha256 FROM submission WHERE status IN ('queued', 'running') AND sha256 > ?1)
      ORDER BY sha256 LIMIT ?2`);
  }

  of(
    ark: string,
    { role, name, revision }: Parameters<ObjectBookkeeping["objectsOf"]>[1] = {},
  ): ObjectReference[] {
    if (!isStorableText(ark) || (name !== undefined && !isStorableText(name))) return [];
    const rows =
      revision === undefined
        ? this.#now.all([arkKey(ark), ark, role ?? null, name ?? null])
        : this.#then.all([arkKey(ark), ark, role ?? null, name ?? null, revision]);
    return rows.map(([sha256, size, mediaType, name, is]) => ({
      sha256,
      size,
      mediaType,
      name,
      role: is as ObjectReference["role"],
    }));
  }

  files(
    crate: string,
    { after = "0.0", limit, minSize = 0, viewer }: Parameters<ObjectBookkeeping["filesOf"]>[1],
  ): Page<FileReference> {
    if (!isStorableText(crate)) return { items: [] };
    const [record, object] = readNumberPair(after);
    const rows = this.#files.all([
      crate,
      arkKey(crate),
      record,
      object,
      minSize,
      limit + 1,
      viewerKey(viewer),
    ]);
    return filePage(rows, limit);
  }

  contentWasDeleted(ark: string, role: ObjectReference["role"] = "content"): boolean {
    return isStorableText(ark) && this.#deleted.get([arkKey(ark), ark, role])?.[0] === 1;
  }

  referenced({ after = "", limit }: Parameters<ObjectBookkeeping["referenced"]>[0]): {
    items: string[];
    next?: string;
  } {
    const hashes = this.#referenced
      .all([isStorableText(after) ? after : "", limit + 1])
      .map(([sha256]) => sha256);
    const items = hashes.slice(0, limit);
    const next = items.at(-1);
    return next !== undefined && hashes.length > limit ? { items, next } : { items };
  }
}

type Holder = { kind: "submission" | "upload"; id: string };

/** Which objects records refer to, and which are about to be put or removed. */
export class ObjectWrites {
  readonly #current;
  readonly #insert;
  readonly #end;
  readonly #endAll;
  readonly #dropAll;
  readonly #cratesOf;
  readonly #dropArchives;
  readonly #intend;
  readonly #removing;
  readonly #release;
  readonly #unreferenced;
  readonly #claim;
  readonly #removed;

  constructor(connection: Connection) {
    this.#current = connection.prepare<[number, string, number, string, string, string]>(
      `SELECT id, sha256, size, media_type, name, role FROM object_ref
        WHERE record = ? AND until IS NULL ORDER BY id`,
    );
    this.#insert = connection.prepare(
      `INSERT INTO object_ref (record, sha256, size, media_type, name, role, since, until, dropped)
        VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0)`,
    );
    this.#end = connection.prepare("UPDATE object_ref SET until = ? WHERE id = ?");
    this.#endAll = connection.prepare(
      "UPDATE object_ref SET until = ? WHERE record = ? AND until IS NULL",
    );
    this.#dropAll = connection.prepare(
      `UPDATE object_ref SET until = coalesce(until, ?), dropped = 1
        WHERE record = ? AND dropped = 0`,
    );
    this.#cratesOf = connection.prepare<
      [string]
    >(`WITH asked AS (SELECT r.id, r.crate FROM json_each(?) AS named CROSS JOIN record AS r
        ON r.key = named.value ->> 0 AND r.ark = named.value ->> 1) SELECT crate FROM asked
        WHERE crate IS NOT NULL UNION SELECT u.crate FROM asked CROSS JOIN crate_use AS u
        ON u.record = asked.id`);
    this.#dropArchives =
      connection.prepare(`UPDATE object_ref SET until = coalesce(until, since), dropped = 1
          WHERE role = 'archive' AND dropped = 0 AND record IN (SELECT r.id
          FROM json_each(?) AS named CROSS JOIN record AS r
          ON r.key = named.value ->> 0 AND r.ark = named.value ->> 1)`);
    this.#intend = connection.prepare(
      `INSERT INTO intent (sha256, holder_kind, holder, attempt, at)
        SELECT value, ?2, ?3, ?4, ?5 FROM json_each(?1) WHERE true ON CONFLICT DO UPDATE
        SET attempt = excluded.attempt, at = excluded.at`,
    );
    this.#removing = connection.prepare<[string]>(
      "SELECT sha256 FROM object_removal WHERE sha256 IN (SELECT value FROM json_each(?))",
    );
    this.#release = connection.prepare("DELETE FROM intent WHERE holder = ? AND holder_kind = ?");
    this.#unreferenced = connection.prepare<
      [string]
    >(`SELECT DISTINCT value FROM json_each(?1) AS asked WHERE NOT EXISTS (SELECT 1
        FROM object_ref WHERE sha256 = asked.value AND dropped = 0) AND NOT EXISTS (SELECT 1
        FROM intent WHERE sha256 = asked.value AND at > ?2) AND NOT EXISTS (SELECT 1
        FROM submission WHERE sha256 = asked.value AND status IN ('queued', 'running'))`);
    this.#claim = connection.prepare(
      "INSERT OR IGNORE INTO object_removal (sha256) SELECT value FROM json_each(?)",
    );
    this.#removed = connection.prepare(
      "DELETE FROM object_removal WHERE sha256 IN (SELECT value FROM json_each(?))",
    );
  }

  add(record: number, objects: readonly ObjectReference[], revision: number): void {
    for (const o of objects)
      this.#insert.put([record, o.sha256, o.size, o.mediaType, o.name, o.role, revision]);
  }

  /** The references from this revision on; existing ones that stay are not changed. */
  replace(record: number, objects: readonly ObjectReference[], revision: number): void {
    const wanted = new Map(
      objects.map((o) => [identity(o.sha256, o.size, o.mediaType, o.name, o.role), o]),
    );
    for (const [id, ...object] of this.#current.all([record])) {
      // oxlint-disable-next-line arkgraph/spread-into-call -- columns of a row
      if (!wanted.delete(identity(...object))) this.#end.put([revision, id]);
    }
    this.add(record, [...wanted.values()], revision);
  }

  /**
   * Ends all references with this revision; `drop` takes them from earlier revisions too, so that
   * the bytes may go.
   */
  end(record: number, revision: number, drop: boolean): void {
    (drop ? this.#dropAll : this.#endAll).put([revision, record]);
  }

  /**
   * Takes the archives of the crates that these records came with, or that use them: they hold the
   * same bytes.
   */
  dropArchivesWith(arks: readonly string[]): void {
    const crates = this.#cratesOf.all([arkArray(arks)]).map(([crate]) => crate);
    if (crates.length > 0) this.#dropArchives.put([arkArray(crates)]);
  }

  intend(
    holder: Holder & { attempt: number },
    sha256s: readonly string[],
    at: number,
  ): { removing: string[] } {
    const list = textArray(sha256s);
    this.#intend.put([list, holder.kind, holder.id, holder.attempt, at]);
    return { removing: this.#removing.all([list]).map(([sha256]) => sha256) };
  }

  release(holder: Holder): void {
    this.#release.put([holder.id, holder.kind]);
  }

  claimUnreferenced(
    sha256s: readonly string[],
    options: Parameters<ObjectBookkeeping["claimUnreferenced"]>[1],
  ): string[] {
    const free = this.#unreferenced
      .all([textArray(sha256s), options.now - options.intentLifetime])
      .map(([sha256]) => sha256);
    this.#claim.put([textArray(free)]);
    return free;
  }

  removed(sha256s: readonly string[]): void {
    this.#removed.put([textArray(sha256s)]);
  }
}

const identity = (
  ...parts: [sha256: string, size: number, mediaType: string, name: string, role: string]
): string => JSON.stringify(parts);

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
  readonly #embargoes;
  readonly #linking;
  readonly #links;
  readonly #state;

  constructor(connection: Connection) {
    this.#of = connection.prepare<[string]>(
      `SELECT r.ark FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record
        WHERE u.crate = ?1 AND r.deleted_at IS NULL AND ${seenSql("r", "?2")} ORDER BY u.record`,
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
      [string, string, string | null, string, string | null, string | null, number]
    >(`SELECT min(r.ark), r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private
        FROM json_each(?) AS asked CROSS JOIN record AS r ON r.id = asked.value
        WHERE r.deleted_at IS NULL AND r.status <> 'PUBLISHED' AND EXISTS (SELECT 1
        FROM object_ref AS o WHERE o.record = r.id AND o.role = 'content' AND o.until IS NULL)
        GROUP BY r.kind, r.owner, r.status, r.embargoed_until, r.crate, r.private`);
    // Files of private crates are private too.
    const embargoed = [0, 1].map(
      (isPrivate) => `SELECT id, ark, revision, embargoed_until, crate
        FROM record INDEXED BY live_status WHERE private = ${isPrivate} AND status = 'EMBARGOED'
        AND id > ?1 AND deleted_at IS NULL AND embargoed_until IS NOT NULL`,
    );
    this.#embargoes = connection.prepare<EmbargoRow>(
      `${embargoed.join(" UNION ALL ")} ORDER BY id LIMIT ?2`,
    );
    this.#linking = connection.prepare<[number]>(`SELECT id FROM record AS r INDEXED BY live_crate
        WHERE crate = ?1 AND deleted_at IS NULL AND id > ?2 AND ${seenSql("r", "?5")}
        UNION ALL SELECT u.record FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record
        WHERE u.crate = ?1 AND u.record > ?2 AND ${seenSql("r", "?5")}
        UNION ALL SELECT id FROM record
        WHERE key = ?4 AND ark = ?1 AND id > ?2 ORDER BY 1 LIMIT ?3`);
    // Targets are looked up for one page of links only, and of each record no more are read: their
    // positions have no gaps.
    this.#links =
      connection.prepare<CrateLinkRow>(`SELECT part.source, part.position, r.ark, r.kind, v.predicate,
        part.target, part.target_key, EXISTS (SELECT 1 FROM record AS t WHERE t.key = part.target_key AND
        t.deleted_at IS NULL AND ${seenSql("t", "?5")}),
        EXISTS (SELECT 1 FROM record AS t WHERE t.key = part.target_key AND ${seenSql("t", "?5")})
        FROM ( SELECT l.source, l.position, l.via, l.target, l.target_key FROM json_each(?1) AS asked
        CROSS JOIN link AS l ON l.source = asked.value AND l.position >=
        CASE asked.value WHEN ?2 THEN ?3 ELSE 0 END AND l.position <
        CASE asked.value WHEN ?2 THEN ?3 ELSE 0 END + ?4
        ORDER BY asked.key, l.position LIMIT ?4) AS part CROSS JOIN record AS r
        ON r.id = part.source CROSS JOIN via AS v ON v.id = part.via
        ORDER BY part.source, part.position`);
    // Live records only: a deletion lowers the count. Private ones of an open crate would show.
    // Two states with one count and sum differ in when the last change was.
    this.#state = connection.prepare<
      [number, number | null, number | null]
    >(`SELECT count(*), sum(revision), max(modified_at) FROM ( SELECT revision, modified_at, private
        FROM record WHERE key = ?2 AND ark = ?1 UNION ALL SELECT revision, modified_at, private
        FROM record INDEXED BY live_crate WHERE crate = ?1 AND deleted_at IS NULL UNION ALL
        SELECT r.revision, r.modified_at, r.private FROM crate_use AS u CROSS JOIN record AS r
        ON r.id = u.record WHERE u.crate = ?1 AND r.deleted_at IS NULL)
        WHERE private = 0 OR EXISTS (SELECT 1 FROM record WHERE key = ?2 AND ark = ?1
        AND private = 1)`);
  }

  of(crate: string, viewer?: Viewer): string[] {
    return isStorableText(crate)
      ? this.#of.all([crate, viewerKey(viewer)]).map(([ark]) => ark)
      : [];
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
    return closedPage(ids, this.#closed.all([JSON.stringify(ids)]), limit);
  }

  embargoes({ after = "0", limit }: { after?: string; limit: number }): Page<Embargo> {
    return embargoPage(this.#embargoes.all([Number(after), limit]), limit);
  }

  danglingLinks(
    crate: string,
    {
      after = "0.0",
      limit,
      viewer,
    }: { after?: string; limit: number; viewer?: Viewer | undefined },
  ): Page<DanglingLink> {
    const [record, position] = readNumberPair(after);
    const ids = isStorableText(crate)
      ? this.#linking
          .all([crate, record - 1, LINKING, arkKey(crate), viewerKey(viewer)])
          .map(([id]) => id)
      : [];
    const rows = this.#links.all([JSON.stringify(ids), record, position, limit, viewerKey(viewer)]);
    return danglingPage(ids, rows, limit);
  }

  state(crate: string): string {
    return isStorableText(crate)
      ? this.#state
          .one([crate, arkKey(crate)])
          .map((number) => (number ?? 0).toString(36))
          .join(".")
      : "";
  }
}
