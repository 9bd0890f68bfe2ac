/** Which records use which stored bytes. */
import type { ObjectBookkeeping, ObjectReference } from "../port.js";
import { arkArray, type Connection, textArray } from "./statement.js";

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
