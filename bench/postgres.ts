import { join } from "node:path";
import { type Ark, parseArk } from "../src/identifiers/ark.js";
import { openPostgresRecordStore } from "../src/storage/records/postgres/index.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import type { RecordStore, RecordWrite } from "../src/storage/records/port.js";
import { hasPostgres, type PostgresServer } from "../test/support/servers/postgres.js";
import type { Bench, Surroundings } from "./bench.js";
import { arkOf, recordMaker } from "./support/documents.js";
import { alternating, perSecond } from "./support/measure.js";
import { emptyTables, onPostgres, storeOptions } from "./support/on-postgres.js";
import { BareStatements } from "./baselines/postgres.js";

/** Connections of each side, as DATABASE_POOL has it. */
const CONNECTIONS = 10;

/**
 * The record store on PostgreSQL beside the statements it is made of, and beside the store in a
 * file.
 */
export const postgres: Bench = onPostgres(hasPostgres, "PostgreSQL", measure);

async function measure(server: PostgresServer, { sizes, folder }: Surroundings): ReturnType<Bench> {
  const { rounds, seconds, writers, connections } = sizes;
  const bareUrl = await emptyTables(server);
  const store = await openPostgresRecordStore({
    ...storeOptions(CONNECTIONS),
    url: await server.schema(),
  });
  const file = await openSqliteRecordStore({ file: join(await folder(), "records.db") });
  const bare = new BareStatements(bareUrl, CONNECTIONS);
  try {
    const make = await recordMaker();
    let next = 0;
    const rate = (atATime: number, work: () => Promise<unknown>) =>
      perSecond(atATime, seconds, work);
    // The data are made before the timing starts, on every side.
    const writes: RecordWrite[] = [];
    const rows: ReturnType<BareStatements["rowsOf"]>[] = [];
    const refill = (): void => {
      while (writes.length < sizes.fewRecords * 20) writes.push(make(next++));
      while (rows.length < sizes.fewRecords * 20) rows.push(bare.rowsOf(++next, make(next)));
    };
    const creating = (into: RecordStore) => () => {
      refill();
      return rate(writers, () =>
        into.commit({ by: null, at: Date.now(), records: [writes.pop() ?? make(next++)] }),
      );
    };
    const inserting = () => {
      refill();
      return rate(writers, () => bare.create(rows.pop() ?? bare.rowsOf(++next, make(next))));
    };
    refill();
    const created = await alternating(rounds, {
      bare: inserting,
      store: creating(store),
      file: creating(file),
    });
    const known = Array.from({ length: sizes.fewRecords }, () => next++);
    await store.commit({ by: null, at: Date.now(), records: known.map(make) });
    for (const index of known) await bare.create(bare.rowsOf(index + 1_000_000_000, make(index)));
    const some = (): Ark => parseArk(arkOf(known[Math.floor(Math.random() * known.length)]!))!;
    const found = await alternating(rounds, {
      bare: () => rate(connections, () => bare.find(some().stored)),
      store: () => rate(connections, () => store.find(some())),
    });
    return [
      {
        name: `RecordStore.commit on PostgreSQL, ${writers} at a time`,
        value: created.store,
        unit: "/s",
        baseline: { name: "the same inserts, bare", value: created.bare },
        wanted: { atLeast: 0.3 },
      },
      {
        name: `the same, beside libSQL`,
        value: created.store,
        unit: "/s",
        baseline: { name: "RecordStore.commit on libSQL", value: created.file },
      },
      {
        name: `a record on PostgreSQL, ${writers} at a time`,
        value: 1000 / created.store,
        unit: "ms",
        baseline: { name: "on libSQL", value: 1000 / created.file },
      },
      {
        name: `RecordStore.find on PostgreSQL, ${connections} at a time`,
        value: found.store,
        unit: "/s",
        baseline: { name: "the same select, bare", value: found.bare },
        wanted: { atLeast: 0.3 },
      },
    ];
  } finally {
    await Promise.all([store.close(), file.close(), bare.close()]);
  }
}
