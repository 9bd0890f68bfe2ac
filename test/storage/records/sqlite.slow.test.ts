import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { recordStoreConformance } from "../../conformance/record-store.js";

recordStoreConformance("libSQL", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-records-"));
  const file = join(folder, "records.db");
  let store = await openSqliteRecordStore({ file });
  return {
    store,
    async reopen() {
      await store.close();
      return (store = await openSqliteRecordStore({ file }));
    },
    async destroy() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
