import {
  openPostgresRecordStore,
  type PostgresOptions,
} from "../../src/storage/records/postgres/index.js";
import { PostgresServer } from "../../test/support/servers/postgres.js";
import type { Bench, Surroundings } from "../bench.js";

/**
 * A bench with a PostgreSQL server of its own.
 * @param program the required program, as the message names it when it is missing
 */
export const onPostgres =
  (
    installed: boolean,
    program: string,
    measure: (server: PostgresServer, surroundings: Surroundings) => ReturnType<Bench>,
  ): Bench =>
  async (surroundings) => {
    if (!installed) {
      surroundings.say(
        `${program} is not installed (Debian: apt-get install postgresql): nothing is measured`,
      );
      return [];
    }
    const server = await PostgresServer.start();
    try {
      return await measure(server, surroundings);
    } finally {
      await server.stop();
    }
  };

/**
 * How stores of benches are opened, but for their place.
 * @param pool connections, as `DATABASE_POOL` has it
 */
export const storeOptions = (pool: number): Omit<PostgresOptions, "url"> => ({
  pool,
  timeout: 60_000,
  connectTimeout: 30_000,
  poll: 100,
});

/** Address of a schema with the registry's tables, which are empty. */
export async function emptyTables(server: PostgresServer): Promise<string> {
  const url = await server.schema();
  await (await openPostgresRecordStore({ ...storeOptions(1), url })).close();
  return url;
}
