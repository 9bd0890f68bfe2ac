import { arkKey } from "../../../identifiers/ark.js";
import { COLLECTIVES } from "../../../model/kinds.js";
import { ownerIsGone, ownsRecords } from "../refusals.js";
import type { LinkChange, PreparedWrite } from "./requests.js";
import { type Connection, textArray } from "./statement.js";

const KINDS = [...COLLECTIVES].map((kind) => `'${kind}'`).join();

/**
 * Prevents that records belong to a group, organization or project that was deleted. Inside the
 * commit: no other one comes between the check and the write.
 */
export class OwnerChecks {
  readonly #gone;
  readonly #owner;
  readonly #owned;

  constructor(connection: Connection) {
    this.#gone = connection.prepare<[key: string, ark: string]>(
      `SELECT r.key, r.ark FROM json_each(?) AS asked CROSS JOIN record AS r ON r.key = asked.value
        WHERE r.deleted_at IS NOT NULL AND r.kind IN (${KINDS}) LIMIT 1`,
    );
    this.#owner = connection.prepare<[string | null]>(
      "SELECT owner_key FROM record WHERE ark = ? AND key = ? AND deleted_at IS NULL",
    );
    this.#owned = connection.prepare<[number]>(
      "SELECT count(*) FROM record INDEXED BY live_owner WHERE owner_key = ? AND deleted_at IS NULL",
    );
  }

  /** Before the writes. @throws ServiceError `FORBIDDEN` for a record that gets a deleted owner */
  checkNew(writes: readonly PreparedWrite[]): void {
    const keys = new Set(
      writes.flatMap((write) => ("ownerKey" in write ? (write.ownerKey ?? []) : [])),
    );
    const gone = keys.size === 0 ? undefined : this.#gone.get([textArray([...keys])]);
    if (!gone) return;
    const [key, ark] = gone;
    for (const write of writes) {
      if (!("ownerKey" in write) || write.ownerKey !== key) continue;
      const before =
        write.op === "replace" ? this.#owner.get([write.ark, arkKey(write.ark)])?.[0] : undefined;
      if (before !== key) throw ownerIsGone(ark);
    }
  }

  /** After the writes. @throws ServiceError `OWNS_RECORDS` for a deleted owner with live records */
  checkDeleted(changes: readonly LinkChange[]): void {
    for (const { ark, key, kind, quads } of changes) {
      if (quads !== null || !COLLECTIVES.has(kind)) continue;
      const [owned] = this.#owned.one([key]);
      if (owned > 0) throw ownsRecords(ark, owned);
    }
  }
}
