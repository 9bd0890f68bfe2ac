import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.js";
import { openSqliteTransfer } from "../stores/records/sqlite/transfer.js";
import type { TruthTransfer } from "../stores/records/transfer-port.js";

/**
 * Opens the truth that the settings name, to be moved from there, or with `make` to there.
 * @throws as the adapters do
 */
export async function openTransfer(config: Config, { make, log }: { make: boolean; log: (message: string) => void }): Promise<TruthTransfer> {
  if (config.DATABASE_URL === null) {
    if (make) await mkdir(config.DATA_DIR, { recursive: true, mode: 0o700 });
    return openSqliteTransfer({ file: join(config.DATA_DIR, "records.db"), make, log });
  }
  const { openPostgresTransfer } = await import("../stores/records/postgres/transfer/index.js");
  return openPostgresTransfer({ url: config.DATABASE_URL, timeout: config.DATABASE_TIMEOUT, connectTimeout: config.DATABASE_CONNECT_TIMEOUT, make, log });
}
