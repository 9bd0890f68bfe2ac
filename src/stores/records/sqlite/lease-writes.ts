import type { Connection } from "./statement.js";

/** Leases by name; see {@link import("../lease-port.js").LeaseStore}. */
export class LeaseWrites {
  readonly #take;
  readonly #mine;
  readonly #release;

  constructor(connection: Connection) {
    this.#take = connection.prepare(`INSERT INTO lease (name, holder, fence, until) VALUES (?1, ?2, 1, ?4) ON CONFLICT (name) DO UPDATE
      SET fence = fence + (holder IS NOT excluded.holder), holder = excluded.holder, until = excluded.until
      WHERE holder IS NULL OR holder = excluded.holder OR until <= ?3`);
    this.#mine = connection.prepare<[number]>("SELECT fence FROM lease WHERE name = ? AND holder = ?");
    this.#release = connection.prepare("UPDATE lease SET holder = NULL WHERE name = ? AND holder = ?");
  }

  /** @param now ms since 1970 */
  take(name: string, holder: string, ttl: number, now: number): { fence: number } | undefined {
    if (this.#take.run([name, holder, now, now + ttl]) === 0) return undefined;
    return { fence: this.#mine.get([name, holder])![0] };
  }

  release(name: string, holder: string): void {
    this.#release.run([name, holder]);
  }
}
