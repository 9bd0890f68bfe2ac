import { access } from "node:fs/promises";
import { join } from "node:path";
import { readConfig, type Config } from "../src/config.js";
import { openSqliteRecordStore } from "../src/stores/records/sqlite/index.js";
import type { RecordStore } from "../src/stores/records/port.js";
import { Failure } from "./failure.js";

/**
 * The records of a data folder. The registry must not run on it: they belong to one process at a time.
 * @throws Failure, ServiceError `STORE_UNAVAILABLE` when the folder is in use or damaged
 */
export async function openRecords({ data }: { data?: string }): Promise<{ config: Config; records: RecordStore }> {
  const config = readConfig({ ...process.env, ...(data === undefined ? {} : { DATA_DIR: data }) });
  const file = join(config.DATA_DIR, "records.db");
  // Opening would make a new, empty registry.
  await access(file).catch(() => {
    throw new Failure(`${config.DATA_DIR} holds no registry (no records.db): name its data folder with --data or DATA_DIR`);
  });
  return { config, records: await openSqliteRecordStore({ file, log: (message) => process.stderr.write(`arkgraph: ${message}\n`) }) };
}
