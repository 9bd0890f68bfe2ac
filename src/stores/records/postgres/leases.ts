import type { LeaseStore } from "../lease-port.js";
import { type Database, statement } from "./statement.js";

/** One statement: the row is locked by it, and only the database's clock counts. */
const TAKE = statement<[fence: number]>(`INSERT INTO lease (name, holder, fence, expires_at) VALUES ($1, $2, 1, clock_timestamp() + $3::double precision * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET
    fence = lease.fence + CASE WHEN lease.holder = excluded.holder THEN 0 ELSE 1 END, holder = excluded.holder,
    expires_at = clock_timestamp() + $3::double precision * interval '1 millisecond'
  WHERE lease.holder IS NULL OR lease.holder = excluded.holder OR lease.expires_at < clock_timestamp() RETURNING fence`);
const RELEASE = statement("UPDATE lease SET holder = NULL WHERE name = $1 AND holder = $2");

/** Leases wait for no commit: they are rows of their own. Taking and giving back may be done twice without harm. */
export class Leases implements LeaseStore {
  constructor(private readonly database: Database) {}

  async lease(name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined> {
    const row = (await this.database.query(TAKE, [name, holder, ttl]))[0];
    return row && { fence: row[0] };
  }

  async releaseLease(name: string, holder: string): Promise<void> {
    await this.database.query(RELEASE, [name, holder]);
  }
}
