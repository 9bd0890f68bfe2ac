import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresRecordStore } from "../../src/storage/records/postgres/index.js";
import { openPostgresTransfer } from "../../src/storage/records/postgres/transfer.js";
import { openSqliteRecordStore } from "../../src/storage/records/sqlite/index.js";
import { openSqliteTransfer } from "../../src/storage/records/sqlite/transfer.js";
import type { Place } from "../conformance/records-transfer.js";
import type { PostgresServer } from "./servers/postgres.js";

export async function filePlace(): Promise<Place & { file: string }> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-transfer-"));
  const file = join(folder, "records.db");
  return {
    file,
    store: async () => await openSqliteRecordStore({ file }),
    transfer: ({ make }) => openSqliteTransfer({ file, make }),
    destroy: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function databasePlace(server: PostgresServer): Promise<Place & { url: string }> {
  const url = await server.schema();
  return {
    url,
    store: () =>
      openPostgresRecordStore({ url, pool: 5, timeout: 20_000, connectTimeout: 5_000, poll: 100 }),
    transfer: ({ make }) =>
      openPostgresTransfer({ url, timeout: 20_000, connectTimeout: 5_000, make }),
    destroy: async () => {},
  };
}
