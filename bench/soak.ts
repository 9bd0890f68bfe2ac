import { setTimeout as pause } from "node:timers/promises";
import type { Bench, Figure } from "./bench.js";
import { Client } from "./support/client.js";
import { crateMetadata, zipped } from "./support/crate.js";
import { datasetBody } from "./support/documents.js";
import { percentile } from "./support/measure.js";
import { resident } from "./support/resident.js";
import { startRegistry, untilLoaded } from "./support/server.js";

/** Callers at a time; each waits after an answer, so that the load is that of a working day. */
const CALLERS = 4;
const WAIT = 20;
/** ms between two readings of the memory. */
const EACH = 2_000;
/** Minutes that a registry has to grow to its size, of a long run; of a short one a quarter. */
const GROWS = 15;
/** MiB an hour. */
const SLOPE = 25;
/** Entities of an uploaded crate. */
const ENTITIES = 40;
/** Datasets that are changed and asked for again, and crates that stay; the newest. */
const RECENT = 500;
const CRATES = 10;
/** Records that are deleted at a time. */
const DELETED = 50;

interface World {
  client: Client;
  /** Identifiers of datasets, the newest last. */
  recent: string[];
  crates: string[];
  /** Those of records that are not asked for any more. */
  old: string[];
  count: number;
}
const one = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

/** What callers do, and how often of all. */
const OPERATIONS: readonly [
  name: string,
  share: number,
  act: (world: World) => Promise<unknown>,
][] = [
  [
    "create",
    20,
    async (world) => {
      const { client, recent } = world;
      const derivedFrom = recent.length > 0 && Math.random() < 0.5 ? one(recent) : undefined;
      const { generatedBy: _, ...body } = datasetBody(client.user, `Images ${++world.count}`);
      const made = await client.create("/dataset", {
        ...body,
        ...(derivedFrom && { derivedFrom }),
      });
      recent.push(made["@id"]);
      if (recent.length > RECENT) world.old.push(recent.shift()!);
    },
  ],
  [
    "update",
    10,
    async ({ client, recent }) =>
      ok(await client.patch(`/${one(recent)}`, { version: String(Math.random()) })),
  ],
  [
    "upload",
    1,
    async (world) => {
      const { client, crates } = world;
      crates.push(
        await client.upload(await zipped(crateMetadata(ENTITIES, `Crate ${++world.count}`))),
      );
      // The records of a crate are deleted with it.
      if (crates.length > CRATES) world.old.push(crates.shift()!);
    },
  ],
  [
    "delete",
    2,
    async ({ client, old }) => {
      const { deleteRecords } = await client.graphql<{
        deleteRecords: { results: { error: { message: string } | null }[] };
      }>(
        "mutation Delete($ids: [ID!]!) { deleteRecords(input: { ids: $ids }) { results { error { message } } } }",
        { ids: old.splice(0, DELETED) },
      );
      for (const { error } of deleteRecords.results) if (error) throw new Error(error.message);
    },
  ],
  ["fetch", 25, ({ client, recent }) => read(client, `/${one(recent)}`)],
  ["evidence", 15, ({ client, recent }) => read(client, `/evidencegraph/query/${one(recent)}`)],
  [
    "sparql",
    2,
    ({ client, recent }) =>
      read(
        client,
        `/sparql?query=${encodeURIComponent(`SELECT ?p ?o { <${one(recent)}> ?p ?o }`)}`,
      ),
  ],
  [
    "search",
    12,
    ({ client, count }) =>
      read(client, `/search/basic?query=microscope+${1 + Math.floor(Math.random() * count)}`),
  ],
  ["list", 5, ({ client }) => read(client, "/dataset?limit=20")],
  ["page", 10, ({ client, recent }) => read(client, `/${one(recent)}`, "text/html")],
];

const ok = async (answer: Response): Promise<void> => {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text.slice(0, 500)}`);
};
const read = async ({ url }: Client, path: string, accept = "application/json"): Promise<void> =>
  ok(await fetch(url + path, { headers: { Accept: accept } }));

/**
 * A mixed load for a long time: how the memory grows of a registry that keeps its size, because old
 * records are deleted, and the slowest answers of each operation. Ends with an error at the first answer that is one.
 */
export const soak: Bench = async ({ sizes: { soakMinutes }, folder, say }) => {
  const server = await startRegistry(await folder(), { WRITE_RATE: "off" });
  try {
    await untilLoaded(server);
    const world: World = {
      client: await Client.register(server),
      recent: [],
      crates: [],
      old: [],
      count: 0,
    };
    for (let index = 0; index < CALLERS; index++) await OPERATIONS[0]![2](world);
    const times = new Map<string, number[]>(OPERATIONS.map(([name]) => [name, []]));
    const began = performance.now();
    const end = began + soakMinutes * 60_000;
    const shares = OPERATIONS.flatMap((operation) =>
      Array<typeof operation>(operation[1]).fill(operation),
    );
    let failed: Error | undefined;
    const callers = Array.from({ length: CALLERS }, async () => {
      while (performance.now() < end && !failed) {
        const [name, , act] = one(shares);
        const start = performance.now();
        try {
          await act(world);
        } catch (error) {
          failed ??= new Error(`${name}: ${(error as Error).message}`, { cause: error });
          return;
        }
        times.get(name)!.push(performance.now() - start);
        await pause(WAIT);
      }
    });
    const readings: [hours: number, memory: number][] = [];
    const watch = (async () => {
      for (let minute = 0; performance.now() < end && !failed;) {
        readings.push([(performance.now() - began) / 3_600_000, resident(server.pid)]);
        if (performance.now() - began > (minute + 1) * 60_000)
          say(`${++minute} min: ${readings.at(-1)![1].toFixed(0)} MiB, ${world.count} writes`);
        await pause(Math.min(EACH, Math.max(1, end - performance.now())));
      }
    })();
    await Promise.all([...callers, watch]);
    if (failed) throw failed;
    const grown = Math.min(GROWS, soakMinutes / 4) / 60;
    const settled = readings.filter(([hours]) => hours >= grown);
    const written = times.get("create")!.length + times.get("upload")!.length * ENTITIES;
    const hourly = Math.round((written / soakMinutes) * 60);
    return [
      ...memoryFigures(
        readings,
        settled,
        `${hourly} records an hour are created, and as many deleted`,
      ),
      ...slowest(times),
    ];
  } finally {
    await server.stop();
  }
};

function memoryFigures(
  all: readonly [number, number][],
  settled: readonly [number, number][],
  note: string,
): Figure[] {
  const memory = settled.length > 1 ? settled : all;
  return [
    { name: "memory after the first quarter", value: memory[0]![1], unit: "MiB" },
    { name: "memory at the end", value: memory.at(-1)![1], unit: "MiB" },
    {
      name: "slope of the memory from then on",
      // A memory that shrinks does not grow.
      value: Math.max(0.01, slope(memory)),
      unit: "MiB/h",
      wanted: { below: SLOPE },
      note,
    },
  ];
}

/** Of the line with the least squares. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const across = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const along = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return along === 0 ? 0 : across / along;
}

const slowest = (times: ReadonlyMap<string, readonly number[]>): Figure[] =>
  [...times].flatMap(([name, values]) =>
    values.length === 0
      ? []
      : [
          {
            name: `${name}, p99`,
            value: percentile(values, 0.99),
            unit: "ms",
            note: `${values.length} times, median ${percentile(values, 0.5).toFixed(1)} ms`,
          },
        ],
  );
