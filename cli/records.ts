import { access } from "node:fs/promises";
import { join } from "node:path";
import { openRecords as openRecordsOf } from "../src/app/open-stores.js";
import { readConfig, type Config } from "../src/config/config.js";
import type { RecordStore } from "../src/storage/records/port.js";
import { Failure } from "./failure.js";

/**
 * Opens the records that the settings name: a PostgreSQL database, whose nodes may keep running, or
 * a data folder. No registry may run on the data folder, because its records belong to one process
 * at a time.
 * @param options.data a data folder, which overrides the settings
 * @throws Failure, ServiceError `STORE_UNAVAILABLE` when the folder is in use or damaged, or the
 * database is unavailable
 */
export async function openRecords({
  data,
}: {
  data?: string;
}): Promise<{ config: Config; records: RecordStore }> {
  const config = readConfig({
    ...process.env,
    ...(data === undefined ? {} : { DATA_DIR: data, DATABASE_URL: "" }),
  });
  if (config.DATABASE_URL === null) {
    // Opening would create a new, empty registry.
    await access(join(config.DATA_DIR, "records.db")).catch(() => {
      throw new Failure(
        `${config.DATA_DIR} holds no registry (no records.db): name its data folder with ` +
          "--data or DATA_DIR",
      );
    });
  }
  return {
    config,
    records: await openRecordsOf(config, (message) =>
      process.stderr.write(`arkgraph: ${message}\n`),
    ),
  };
}
