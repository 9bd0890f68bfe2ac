import { arkKey } from "../../../identifiers/ark.js";
import type { CrateUses } from "../crates-port.js";
import { arkArray } from "./ark-array.js";
import type { Connection } from "./statement.js";
import { isStorableText } from "../storable.js";

/** Gives records to the first crate that uses them, and ends that use. */
const HAND_OVER = "UPDATE record SET crate = (SELECT min(u.crate) FROM crate_use AS u WHERE u.record = record.id) WHERE deleted_at IS NULL AND EXISTS (SELECT 1 FROM crate_use AS u WHERE u.record = record.id)";

export class CrateUseWrites {
  readonly #drop;
  readonly #add;
  readonly #handOver;
  readonly #handOverAll;
  readonly #settle;

  constructor(connection: Connection) {
    this.#drop = connection.prepare("DELETE FROM crate_use WHERE crate = ?");
    this.#add = connection.prepare("INSERT OR IGNORE INTO crate_use (crate, record) SELECT ?1, r.id FROM json_each(?2) AS asked CROSS JOIN record AS r ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1");
    this.#handOver = connection.prepare(`${HAND_OVER} AND (key, ark) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`);
    this.#handOverAll = connection.prepare(`${HAND_OVER} AND crate = ?`);
    this.#settle = connection.prepare("DELETE FROM crate_use WHERE EXISTS (SELECT 1 FROM record WHERE id = crate_use.record AND record.crate = crate_use.crate)");
  }

  replace({ crate, arks, released = [] }: CrateUses): void {
    this.#drop.put([crate]);
    if (arks.length > 0) this.#add.put([crate, arkArray(arks)]);
    if (released.length > 0 && this.#handOver.run([arkArray(released)]) > 0) this.#settle.put([]);
  }

  /** A crate that is deleted uses nothing any more, and what was minted for it and stays belongs to those that use it. */
  end(crate: string): void {
    this.#drop.put([crate]);
    if (this.#handOverAll.run([crate]) > 0) this.#settle.put([]);
  }
}

export class CrateUseReads {
  readonly #of;
  readonly #elsewhere;
  readonly #state;

  constructor(connection: Connection) {
    this.#of = connection.prepare<[string]>("SELECT r.ark FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record WHERE u.crate = ? AND r.deleted_at IS NULL ORDER BY u.record");
    this.#elsewhere = connection.prepare<[string]>(`SELECT r.ark FROM json_each(?1) AS asked CROSS JOIN record AS r ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1
      WHERE EXISTS (SELECT 1 FROM crate_use WHERE record = r.id AND crate <> ?2)`);
    // Live records only: a deletion lowers the count. Two states with one count and sum differ in when the last change was.
    this.#state = connection.prepare<[number, number | null, number | null]>(`SELECT count(*), sum(revision), max(modified_at) FROM (
        SELECT revision, modified_at FROM record WHERE key = ?2 AND ark = ?1
        UNION ALL SELECT revision, modified_at FROM record INDEXED BY live_crate WHERE crate = ?1 AND deleted_at IS NULL
        UNION ALL SELECT r.revision, r.modified_at FROM crate_use AS u CROSS JOIN record AS r ON r.id = u.record WHERE u.crate = ?1 AND r.deleted_at IS NULL)`);
  }

  of(crate: string): string[] {
    return isStorableText(crate) ? this.#of.all([crate]).map(([ark]) => ark) : [];
  }

  elsewhere(arks: readonly string[], crate: string): string[] {
    return this.#elsewhere.all([arkArray(arks.filter(isStorableText)), crate]).map(([ark]) => ark);
  }

  state(crate: string): string {
    return isStorableText(crate) ? this.#state.get([crate, arkKey(crate)])!.map((number) => (number ?? 0).toString(36)).join(".") : "";
  }
}
