import { afterAll, beforeAll, describe } from "vitest";
import { openPostgresRecordStore } from "../../../src/storage/records/postgres/index.js";
import { recordStoreConformance } from "../../conformance/record-store.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

describe.skipIf(!hasPostgres)("with a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off", "full_page_writes=off"]);
  });
  afterAll(() => server?.stop());

  recordStoreConformance("PostgreSQL", async () => {
    const options = {
      url: await server.schema(),
      pool: 5,
      timeout: 20_000,
      connectTimeout: 5_000,
      poll: 100,
    };
    let store = await openPostgresRecordStore(options);
    return {
      store,
      async reopen() {
        await store.close();
        return (store = await openPostgresRecordStore(options));
      },
      async destroy() {
        await store.close();
      },
    };
  });
});
