import { fileURLToPath } from "node:url";
import { openPostgresRecordStore } from "../src/storage/records/postgres/index.js";
import type { PostgresServer } from "../test/support/servers/postgres.js";
import type { Bench, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { arkOf, recordMaker, roleOf } from "./support/documents.js";
import { LoadGenerator } from "./support/load.js";
import { alternating, perSecond } from "./support/measure.js";
import { emptyTables, onPostgres, storeOptions } from "./support/on-postgres.js";
import { registryEnv, startNode, untilLoaded, type Server } from "./support/server.js";
import { hasPgbench, Pgbench } from "./baselines/pgbench.js";
import { BareStatements } from "./baselines/postgres.js";

/** Connections of each side, as DATABASE_POOL has it. */
const CONNECTIONS = 10;
/** A dataset that another record wrote. */
const WRITTEN = 3;

/**
 * The registry over HTTP with its records in PostgreSQL, all else as in profile single, beside what
 * pgbench gets out of the same database, also from two nodes, as a process of Node does its work on
 * one core; and beside what Node itself needs for a read: the select through the bare driver, the
 * bytes of a record from memory by a bare Express handler, and both in one.
 */
export const postgresHttp: Bench = onPostgres(hasPgbench, "PostgreSQL with its pgbench", measure);

async function measure(
  server: PostgresServer,
  { sizes, folder, load }: Surroundings,
): ReturnType<Bench> {
  const { rounds, seconds, warmUp, writers, connections, keys, fewRecords } = sizes;
  const [url, bareUrl] = [await server.schema(), await emptyTables(server)];
  const store = await openPostgresRecordStore({ ...storeOptions(CONNECTIONS), url });
  const make = await recordMaker();
  await store.commit({
    by: null,
    at: Date.now(),
    records: Array.from({ length: fewRecords }, (_, index) => make(index)),
  });
  await store.close();
  const bare = new BareStatements(bareUrl, 1);
  const rows = bare.rowsOf(0, make(WRITTEN));
  await bare.close();
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
  const driver = new BareStatements(url, CONNECTIONS);
  // Beside the one that all share: two nodes are asked at the same time.
  const second = new LoadGenerator();
  try {
    const node = async (data: string): Promise<Server> => {
      const one = await start("support/mixed-registry.js", [], {
        ...registryEnv(data),
        DATABASE_URL: url,
      });
      await untilLoaded(one);
      return one;
    };
    const registry = await node(files);
    const beside = await node(await folder());
    const creating = (await Client.register(registry)).creating();
    const paths = Array.from({ length: keys }, () => randomPath(fewRecords));
    const bytes = Buffer.from(await (await fetch(registry.url + paths[0]!)).arrayBuffer());
    const express = await start("baselines/express.js", [bytes.toString("base64")]);
    const expressOn = await start("baselines/express-postgres.js", [url, String(CONNECTIONS)]);
    const asked = async (from: Server, length: number, by = load, clients = connections) =>
      (await by.run({ url: from.url, connections: clients, seconds: length, paths })).perSecond;
    const get =
      (from: Server) =>
      (length = seconds) =>
        asked(from, length);
    const ofTwo = async (length = seconds) =>
      (
        await Promise.all([
          asked(registry, length, load, connections / 2),
          asked(beside, length, second, connections / 2),
        ])
      ).reduce((sum, rate) => sum + rate);
    let next = 0;
    const reading = new Pgbench(url, files);
    const inserting = new Pgbench(bareUrl, files);
    const sides = {
      bareReads: (length = seconds) => reading.read(fewRecords, connections, length),
      reads: get(registry),
      nodes: ofTwo,
      driver: (length = seconds) =>
        perSecond(connections, length, () => driver.find(paths[next++ % keys]!.slice(1))),
      express: get(express),
      expressOn: get(expressOn),
      bareCreates: (length = seconds) => inserting.create(rows, writers, length),
      creates: async (length = seconds) =>
        (await load.run({ ...creating, connections: writers, seconds: length })).perSecond,
    };
    for (const warm of Object.values(sides)) await warm(warmUp);
    const read = await alternating(rounds, {
      bare: () => sides.bareReads(),
      registry: () => sides.reads(),
      nodes: () => sides.nodes(),
      driver: () => sides.driver(),
      express: () => sides.express(),
      expressOn: () => sides.expressOn(),
    });
    const created = await alternating(rounds, {
      bare: () => sides.bareCreates(),
      registry: () => sides.creates(),
    });
    const reads = {
      name: `GET /ark:… from PostgreSQL, ${connections} at a time`,
      value: read.registry,
      unit: "/s",
    };
    return [
      {
        ...reads,
        baseline: { name: "the same select by pgbench", value: read.bare },
        wanted: { atLeast: 0.3 },
      },
      {
        ...reads,
        name: `${reads.name}, of two nodes`,
        value: read.nodes,
        baseline: { name: "the same select by pgbench", value: read.bare },
        wanted: { atLeast: 0.3 },
      },
      {
        ...reads,
        baseline: {
          name: "the same select through bare pg in Node, without HTTP",
          value: read.driver,
        },
      },
      {
        ...reads,
        baseline: { name: "bare Express 5, same bytes from memory", value: read.express },
      },
      { ...reads, baseline: { name: "bare Express 5 with that select", value: read.expressOn } },
      {
        name: `POST /dataset into PostgreSQL, ${writers} at a time`,
        value: created.registry,
        unit: "/s",
        baseline: { name: "the same inserts by pgbench", value: created.bare },
        wanted: { atLeast: 0.3 },
      },
    ];
  } finally {
    second.close();
    await driver.close();
    for (const server of started) await server.stop();
  }
}

function randomPath(records: number): string {
  let index: number;
  do index = Math.floor(Math.random() * records);
  while (roleOf(index) !== "written");
  return `/${arkOf(index)}`;
}
