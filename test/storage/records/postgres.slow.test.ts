import { afterAll, beforeAll, describe } from "vitest";
import { openPostgresRecordStore } from "../../../src/storage/records/postgres/index.js";
import { recordStoreConformance } from "../../conformance/record-store.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

describe.skipIf(!hasPostgres)("with a PostgreSQL server", () => {
  let server: PostgresServer;
  let hasVectors: boolean;
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off", "full_page_writes=off"]);
    const offered = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'";
    hasVectors = (await server.sql(offered)) === "1";
  });
  afterAll(() => server?.stop());

  /** A database with pgvector in the schema of the registry's tables. */
  async function withVectors(): Promise<string> {
    const url = await server.database();
    await server.sql("CREATE EXTENSION vector", url);
    return url;
  }

  recordStoreConformance("PostgreSQL", async () => {
    const options = {
      url: hasVectors ? await withVectors() : await server.schema(),
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
