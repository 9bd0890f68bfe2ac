import { fileURLToPath } from "node:url";
import { openPostgresRecordStore } from "../src/storage/records/postgres/index.js";
import { PostgresServer } from "../test/support/servers/postgres.js";
import type { Bench, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { randomPaths, recordMaker } from "./support/documents.js";
import { alternating } from "./support/measure.js";
import { registryEnv, startNode, untilLoaded, type Server } from "./support/server.js";
import { hasPgbench, Pgbench } from "./baselines/pgbench.js";
import { rowsOf } from "./baselines/postgres.js";

/** Connections of each side, as DATABASE_POOL has it. */
const CONNECTIONS = 10;
/** A dataset that another record wrote. */
const WRITTEN = 3;

/**
 * The registry over HTTP with its records in PostgreSQL and everything else as in profile single,
 * beside what pgbench gets out of the same database, and beside a bare Express handler that runs the
 * same select.
 */
export const postgresHttp: Bench = async (surroundings) => {
  if (!hasPgbench) {
    surroundings.say(
      "PostgreSQL with its pgbench is not installed (Debian: apt-get install postgresql): " +
        "nothing is measured",
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

async function measure(
  server: PostgresServer,
  { sizes, folder, load }: Surroundings,
): ReturnType<Bench> {
  const { rounds, seconds, warmUp, writers, connections, keys, fewRecords } = sizes;
  const [url, bareUrl] = [await server.schema(), await server.schema()];
  const make = await recordMaker();
  const opened = (at: string) =>
    openPostgresRecordStore({
      url: at,
      pool: CONNECTIONS,
      timeout: 60_000,
      connectTimeout: 30_000,
      poll: 100,
    });
  const store = await opened(url);
  await store.commit({
    by: null,
    at: Date.now(),
    records: Array.from({ length: fewRecords }, (_, index) => make(index)),
  });
  await store.close();
  // Opening a store makes the tables, which pgbench fills.
  await (await opened(bareUrl)).close();
  const rows = rowsOf(make(WRITTEN));
  const files = await folder();
  const started: Server[] = [];
  const start = async (
    module: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Server> => {
    started.push(await startNode([fileURLToPath(new URL(module, import.meta.url)), ...args], env));
    return started.at(-1)!;
  };
  try {
    const registry = await start("support/mixed-registry.js", [], {
      ...registryEnv(files),
      DATABASE_URL: url,
    });
    await untilLoaded(registry);
    const creating = (await Client.register(registry)).creating();
    const paths = randomPaths(keys, fewRecords);
    const express = await start("baselines/express-postgres.js", [url, String(CONNECTIONS)]);
    const asked = async (from: Server, length: number) =>
      (await load.run({ url: from.url, connections, seconds: length, paths })).perSecond;
    const reading = new Pgbench(url, files);
    const inserting = new Pgbench(bareUrl, files);
    const sides = {
      bareReads: (length = seconds) => reading.read(fewRecords, connections, length),
      reads: (length = seconds) => asked(registry, length),
      express: (length = seconds) => asked(express, length),
      bareCreates: (length = seconds) => inserting.create(rows, writers, length),
      creates: async (length = seconds) =>
        (await load.run({ ...creating, connections: writers, seconds: length })).perSecond,
    };
    for (const warm of Object.values(sides)) await warm(warmUp);
    const measured = await alternating(rounds, {
      bareReads: () => sides.bareReads(),
      reads: () => sides.reads(),
      express: () => sides.express(),
      bareCreates: () => sides.bareCreates(),
      creates: () => sides.creates(),
    });
    const name = `GET /ark:… from PostgreSQL, ${connections} at a time`;
    const select = { name: "the same select by pgbench", value: measured.bareReads };
    return [
      { name, value: measured.reads, unit: "/s", baseline: select },
      {
        name,
        value: measured.reads,
        unit: "/s",
        baseline: { name: "bare Express 5 with that select", value: measured.express },
      },
      {
        name: `POST /dataset into PostgreSQL, ${writers} at a time`,
        value: measured.creates,
        unit: "/s",
        baseline: { name: "the same inserts by pgbench", value: measured.bareCreates },
        wanted: { atLeast: 0.2 },
      },
    ];
  } finally {
    for (const server of started) await server.stop();
  }
}
