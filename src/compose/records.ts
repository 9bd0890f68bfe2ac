import { join } from "node:path";
import type { Config } from "../config.js";
import { openSqliteRecordStore } from "../stores/records/sqlite/index.js";
import type { RecordStore } from "../stores/records/port.js";

/** Opens the truth that the settings name: a file in the data folder, or a PostgreSQL database. */
export async function openRecords(config: Config, log: (message: string) => void): Promise<RecordStore> {
  if (config.DATABASE_URL === null) return openSqliteRecordStore({ file: join(config.DATA_DIR, "records.db"), vectorsMemory: config.VECTORS_MEMORY, log });
  // Loaded only where it is wanted, as every adapter of a cluster.
  const { openPostgresRecordStore } = await import("../stores/records/postgres/index.js");
  return openPostgresRecordStore({
    url: config.DATABASE_URL, pool: config.DATABASE_POOL, timeout: config.DATABASE_TIMEOUT, connectTimeout: config.DATABASE_CONNECT_TIMEOUT, poll: config.DATABASE_POLL,
    vectorsMemory: config.VECTORS_MEMORY, log,
  });
}
