import pg from "pg";
import { parseArk } from "../src/identifiers/ark.js";
import { openPostgresRecordStore } from "../src/storage/records/postgres/index.js";
import { type RecordFilterInput, filterOf } from "../src/services/records/select.js";
import type { RecordStore } from "../src/storage/records/port.js";
import { configWithBounds } from "../test/support/config.js";
import { hasPostgres, PostgresServer } from "../test/support/servers/postgres.js";
import type { Bench, Figure } from "./bench.js";
import { arkOf, ownerRecord, randomPaths, recordMaker } from "./support/documents.js";
import { percentile, timed } from "./support/measure.js";

/** Records of one commit. */
const COMMIT = 5_000;
/** Reads of each sort. */
const READS = 2_000;
const PAGES = 40;

/**
 * A load of many records in PostgreSQL: how fast they are written when the store is empty and when
 * it is full, the disk they need by table, and what reads of a full store take. The basis of
 * docs/scale.md.
 */
export const scale: Bench = async ({ sizes: { scaleRecords }, say }) => {
  if (!hasPostgres) {
    say("PostgreSQL is not installed (Debian: apt-get install postgresql): nothing is measured");
    return [];
  }
  const server = await PostgresServer.start(["shared_buffers=512MB", "max_wal_size=2GB"]);
  try {
    const url = await server.schema();
    const store = await openPostgresRecordStore({
      url,
      pool: 4,
      timeout: 600_000,
      connectTimeout: 30_000,
      poll: 1_000,
    });
    try {
      const speeds = await fill(store, scaleRecords, say);
      return [
        {
          name: `records written, the first tenth of ${scaleRecords}`,
          value: speeds[0]!,
          unit: "/s",
        },
        { name: "the last tenth", value: speeds.at(-1)!, unit: "/s" },
        ...(await disk(url, scaleRecords)),
        ...(await reads(store, scaleRecords)),
      ];
    } finally {
      await store.close();
    }
  } finally {
    await server.stop();
  }
};

/** @returns records a second of each tenth */
async function fill(
  store: RecordStore,
  count: number,
  say: (line: string) => void,
): Promise<number[]> {
  const make = await recordMaker();
  const speeds: number[] = [];
  const tenth = Math.max(COMMIT, Math.ceil(count / 10 / COMMIT) * COMMIT);
  for (let from = 0; from < count; from += tenth) {
    const to = Math.min(count, from + tenth);
    const ms = await timed(async () => {
      for (let start = from; start < to; start += COMMIT) {
        const end = Math.min(start + COMMIT, to);
        const records = Array.from({ length: end - start }, (_, offset) => make(start + offset));
        const owners = [];
        for (let thousand = Math.ceil(start / 1000); thousand * 1000 < end; thousand++)
          owners.push(await ownerRecord(thousand));
        await store.commit({ by: null, at: Date.now(), records: [...owners, ...records] });
      }
    });
    speeds.push(((to - from) / ms) * 1000);
    say(`${to} records, ${Math.round(speeds.at(-1)!)} a second`);
  }
  return speeds;
}

/** Bytes of each table with its indexes, the largest first. */
async function disk(url: string, count: number): Promise<Figure[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; bytes: string }>(
      `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
        WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        ORDER BY pg_total_relation_size(oid) DESC`,
    );
    const total = rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
    const perRecord = (bytes: number): number => bytes / count / 1024;
    return [
      { name: "disk of a record in PostgreSQL", value: perRecord(total), unit: "KiB" },
      ...rows.slice(0, 6).map(({ name, bytes }) => ({
        name: `of which table ${name} with its indexes`,
        value: perRecord(Number(bytes)),
        unit: "KiB",
      })),
    ];
  } finally {
    await client.end();
  }
}

async function reads(store: RecordStore, count: number): Promise<Figure[]> {
  const paths = randomPaths(READS, count);
  const filter = { kinds: ["computation" as const] };
  const order = { by: "created", descending: true } as const;
  const config = configWithBounds({});
  /** Datasets by the name of the software of the run that made them: of all of them, or of seven. */
  const linked = (contains: string, by: "created" | "size" | "score") => {
    const input = { generatedBy: { usedSoftware: { name: { contains } } } } as RecordFilterInput;
    const selection = { filter: filterOf({ config }, { kind: "dataset", filter: input }) };
    return () => store.select({ ...selection, order: { by, descending: true }, limit: 50 });
  };
  const one = String(count - 9).padStart(8, "0");
  const search = (text: string) => () => store.search({ text, match: "all", offset: 0, limit: 20 });
  const sorts: [name: string, times: number, read: (index: number) => Promise<unknown>][] = [
    ["a record by its identifier", READS, (index) => store.find(parseArk(paths[index]!.slice(1))!)],
    ["the links to a record", PAGES, (index) => store.linksTo([arkOf(index * 10)], { limit: 20 })],
    ["a page of 50 of one kind", PAGES, () => store.select({ filter, order, limit: 50 })],
    ["a page of what two links lead to, of many", PAGES / 4, linked("segment", "created")],
    ["a page of what two links lead to, of few", PAGES / 4, linked(one, "created")],
    ["the same by size, of many", PAGES / 4, linked("segment", "size")],
    ["the same by score, of many", PAGES / 4, linked("segment", "score")],
    ["a word of one record", PAGES, search(String(count - 1).padStart(8, "0"))],
    ["a word of all records", PAGES / 4, search("microscope")],
  ];
  const figures: Figure[] = [];
  for (const [name, times, read] of sorts) {
    const taken: number[] = [];
    for (let index = 0; index < times; index++) taken.push(await timed(() => read(index)));
    figures.push({ name: `${name}, p95`, value: percentile(taken, 0.95), unit: "ms" });
  }
  return figures;
}
