import { fileURLToPath } from "node:url";
import { openPostgresRecordStore } from "../src/stores/records/postgres/index.js";
import type { PostgresServer } from "../test/support/servers/postgres.js";
import type { Bench, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { arkOf, recordMaker, roleOf } from "./support/documents.js";
import { LoadGenerator } from "./support/load.js";
import { inTurns } from "./support/measure.js";
import { emptyTables, onPostgres, storeOptions } from "./support/on-postgres.js";
import { registryEnv, startNode, untilLoaded } from "./support/server.js";
import { hasPgbench, Pgbench } from "./yardsticks/pgbench.js";
import { BareStatements } from "./yardsticks/postgres.js";

/** A dataset that another record wrote. */
const WRITTEN = 3;

/** The registry over HTTP with its records in PostgreSQL, all else as in profile single, beside what pgbench gets out of the same database. */
export const postgresHttp: Bench = onPostgres(hasPgbench, "PostgreSQL with its pgbench", measure);

async function measure(server: PostgresServer, { sizes, folder }: Surroundings): ReturnType<Bench> {
  const { rounds, seconds, warmUp, writers, connections, keys, fewRecords } = sizes;
  const [url, bareUrl] = [await server.schema(), await emptyTables(server)];
  const store = await openPostgresRecordStore({ ...storeOptions(10), url });
  const make = await recordMaker();
  await store.commit({ by: null, at: Date.now(), records: Array.from({ length: fewRecords }, (_, index) => make(index)) });
  await store.close();
  const bare = new BareStatements(bareUrl, 1);
  const rows = bare.rowsOf(0, make(WRITTEN));
  await bare.close();
  const files = await folder();
  const registry = await startNode([fileURLToPath(new URL("support/mixed-registry.js", import.meta.url))], { ...registryEnv(files), DATABASE_URL: url });
  const load = new LoadGenerator();
  try {
    await untilLoaded(registry);
    const creating = (await Client.register(registry)).creating();
    const paths = Array.from({ length: keys }, () => randomPath(fewRecords));
    const reading = new Pgbench(url, files);
    const inserting = new Pgbench(bareUrl, files);
    const sides = {
      bareReads: (length = seconds) => reading.read(fewRecords, connections, length),
      reads: async (length = seconds) => (await load.run({ url: registry.url, connections, seconds: length, paths })).perSecond,
      bareCreates: (length = seconds) => inserting.create(rows, writers, length),
      creates: async (length = seconds) => (await load.run({ ...creating, connections: writers, seconds: length })).perSecond,
    };
    for (const warm of Object.values(sides)) await warm(warmUp);
    const read = await inTurns(rounds, { bare: () => sides.bareReads(), registry: () => sides.reads() });
    const created = await inTurns(rounds, { bare: () => sides.bareCreates(), registry: () => sides.creates() });
    return [
      { name: `GET /ark:… from PostgreSQL, ${connections} at a time`, value: read.registry, unit: "/s", yardstick: { name: "the same select by pgbench", value: read.bare }, wanted: { atLeast: 0.3 } },
      { name: `POST /dataset into PostgreSQL, ${writers} at a time`, value: created.registry, unit: "/s", yardstick: { name: "the same inserts by pgbench", value: created.bare }, wanted: { atLeast: 0.3 } },
    ];
  } finally {
    load.close();
    await registry.stop();
  }
}

function randomPath(records: number): string {
  let index: number;
  do index = Math.floor(Math.random() * records); while (roleOf(index) !== "written");
  return `/${arkOf(index)}`;
}
