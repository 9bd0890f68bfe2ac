import { join } from "node:path";
import { arkKey } from "../src/identifiers/ark.js";
import type { RecordStore, RecordWrite, Viewer } from "../src/storage/records/port.js";
import type {
  RecordFilter,
  RecordOrder,
  StatisticsKey,
} from "../src/storage/records/port/selection.js";
import { openPostgresRecordStore } from "../src/storage/records/postgres/index.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import { hasPostgres, PostgresServer } from "../test/support/servers/postgres.js";
import type { Bench, Figure, Surroundings } from "./bench.js";
import { ownerOf, ownerRecord, recordMaker } from "./support/documents.js";
import { median, timed } from "./support/measure.js";

/** Records of one commit; a tenth of them is open. */
const COMMIT = 5_000;
/** Private records of the signed-in user. */
const OWN = 10;
/** How often each read is measured in one run. */
const TIMES = 15;
const PAGE = 50;
/** How many times as long a read may take. */
const ATMOST = 1.5;

/** A user who owns nothing but the private records that are its own. */
const USER = ownerOf(99_999_999);
const VIEWERS: Readonly<Record<string, Viewer>> = {
  anonymous: { user: null },
  "signed in": { user: arkKey(USER) },
};

/**
 * Reads of a registry in which nine of ten records are private drafts of other people, and the same
 * reads without these drafts.
 */
export const privateDrafts: Bench = async (surroundings) => {
  const figures = await inSqlite(surroundings);
  if (!hasPostgres) {
    surroundings.say("PostgreSQL is not installed (Debian: apt-get install postgresql)");
    return figures;
  }
  return [...figures, ...(await inPostgres(surroundings))];
};

async function inSqlite(surroundings: Surroundings): Promise<Figure[]> {
  const open = async () =>
    openSqliteRecordStore({ file: join(await surroundings.folder(), "records.db") });
  return compare("SQLite", [await open(), await open()], surroundings);
}

async function inPostgres(surroundings: Surroundings): Promise<Figure[]> {
  const server = await PostgresServer.start(["shared_buffers=256MB", "max_wal_size=2GB"]);
  try {
    const urls = [await server.schema(), await server.schema()] as const;
    const open = (url: string) =>
      openPostgresRecordStore({
        url,
        pool: 2,
        timeout: 600_000,
        connectTimeout: 30_000,
        poll: 1_000,
      });
    // As the database does by itself some time after a fill.
    const analyze = async () => {
      for (const url of urls) await server.sql("VACUUM ANALYZE", url);
    };
    const stores = [await open(urls[0]), await open(urls[1])] as const;
    return await compare("PostgreSQL", stores, surroundings, analyze);
  } finally {
    await server.stop();
  }
}

/** @param stores without and with the drafts of others */
async function compare(
  database: string,
  [alone, among]: readonly [RecordStore, RecordStore],
  { sizes, say }: Surroundings,
  filled: () => Promise<void> = async () => {},
): Promise<Figure[]> {
  try {
    const open = sizes.draftsRecords / 10;
    for (const [store, drafts] of [
      [alone, 0],
      [among, sizes.draftsRecords - open],
    ] as const) {
      const ms = await timed(() => fill(store, open, drafts));
      say(`${database}: ${open} open records and ${drafts} drafts in ${(ms / 1000).toFixed(0)} s`);
    }
    await filled();
    const figures: Figure[] = [];
    for (const [who, viewer] of Object.entries(VIEWERS))
      for (const [what, read] of Object.entries(readsOf(viewer))) {
        const times: [number[], number[]] = [[], []];
        for (let time = 0; time < TIMES * sizes.rounds; time++)
          for (const [index, store] of [alone, among].entries())
            times[index]!.push(await timed(() => read(store)));
        const [without, together] = times.map(median) as [number, number];
        say(`  ${what}, ${who}: ${without.toFixed(2)} and ${together.toFixed(2)} ms`);
        figures.push({
          name: `${database}, ${who}: ${what}`,
          value: together,
          unit: "ms",
          baseline: { name: "without the drafts of others", value: without },
          wanted: { atMost: ATMOST },
        });
      }
    return figures;
  } finally {
    await alone.close();
    await among.close();
  }
}

/** Drafts of others come between the open records, and a last part of them behind all of these. */
async function fill(store: RecordStore, open: number, drafts: number): Promise<void> {
  const make = await recordMaker();
  const made = (index: number, isPrivate: boolean) => ({
    ...make(index),
    publicationStatus: !isPrivate && index % 2 === 0 ? ("PUBLISHED" as const) : ("DRAFT" as const),
    ...(isPrivate ? { private: true } : {}),
  });
  const own = Array.from({ length: OWN }, (_, index): RecordWrite => ({
    ...made(2 * (open + drafts) + index, true),
    owner: USER,
  }));
  await store.commit({
    by: null,
    at: Date.now(),
    records: [await ownerRecord(99_999_999), ...own],
  });
  let [opened, drafted] = [0, 0];
  const between = (drafts * 3) / 4;
  while (opened < open || drafted < drafts) {
    const records: RecordWrite[] = [];
    while (records.length < COMMIT && (opened < open || drafted < drafts)) {
      const isOpen = opened < open && (drafts === 0 || drafted * open >= opened * between);
      records.push(isOpen ? made(opened++, false) : made(open + drafted++, true));
    }
    await store.commit({ by: null, at: Date.now(), records });
  }
}

type Read = (store: RecordStore) => Promise<unknown>;

/** What lists, searches, facets, statistics and the home page ask a store. */
function readsOf(viewer: Viewer): Record<string, Read> {
  const select =
    (filter: RecordFilter, order: RecordOrder): Read =>
    (store) =>
      store.select({ filter, order, limit: PAGE, viewer });
  const search =
    (text: string, more: object = {}): Read =>
    (store) =>
      store.search({ text, match: "all", offset: 0, limit: 10, viewer, ...more });
  const statistics =
    (...by: StatisticsKey[]): Read =>
    (store) =>
      store.statistics({ filter: {}, by, limit: 100, viewer });
  const [newest, oldest] = [true, false].map((descending): RecordOrder => ({
    by: "created",
    descending,
  })) as [RecordOrder, RecordOrder];
  const changed: RecordOrder = { by: "modified", descending: true };
  const kinds = { kinds: ["dataset"] } as const;
  const facets = { by: ["kind", "keyword", "owner"], limit: 10 } as const;
  return {
    "home page": async (store) => {
      await statistics("kind")(store);
      await select({ ...kinds, statuses: ["PUBLISHED"] }, changed)(store);
    },
    "published last": select({ statuses: ["PUBLISHED"] }, changed),
    "newest records": select({}, newest),
    "newest datasets": select(kinds, newest),
    "oldest computations": select({ kinds: ["computation"] }, oldest),
    "by name": select(kinds, { by: "name", descending: false }),
    "by size": select(kinds, { by: "size", descending: true }),
    "last changed": select({}, changed),
    "with a part of the name": select({ nameContains: "microscopy" }, newest),
    "of one keyword": select({ keywords: ["segmentation"] }, newest),
    "of one owner": select({ owners: [arkKey(ownerOf(1))] }, newest),
    "with a word of all": select({ text: "microscope" }, newest),
    "count of all": (store) => store.countSelected({ filter: {}, viewer }),
    "count of drafts": (store) => store.countSelected({ filter: { statuses: ["DRAFT"] }, viewer }),
    "search for a rare word": search("00000120"),
    "search for a common word": search("microscope"),
    "search among datasets": search("microscope", { filter: kinds }),
    "search with related words": search("microscope cells", { match: "related" }),
    "facets of a common word": search("microscope", { facets, limit: 0 }),
    "statistics by kind and month": statistics("kind", "month"),
    "statistics by owner": statistics("owner"),
    "statistics by status": statistics("status"),
    "statistics by licence": statistics("licence"),
    "statistics by keyword": statistics("keyword"),
  };
}
