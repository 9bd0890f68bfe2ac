import { randomUUID } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import type { PoolLoads } from "../../connections.js";
import type { Commit, Committed, LeaseStore, RecordStore } from "../port.js";
import type { Statements } from "../statements.js";
import { Tables, TableStore, type TableWrites, writesOf } from "../tables/tables.js";
import { QuadsRewrites } from "./derived.js";
import { SelectionReads } from "./lists.js";
import { Feed } from "./feed.js";
import { Leases, Registration, Watch } from "./nodes.js";
import { RecordReads } from "./records.js";
import { migrate } from "./schema.js";
import { SearchReads } from "./search/search-reads.js";
import { prepareSpellings } from "./search/spellings.js";
import { TABLE_SQL } from "./table-sql.js";
import { asStoreError, Database, type DatabaseOptions, StatementError } from "./statement.js";
import { Writer } from "./writes/writer.js";

export interface PostgresOptions extends Omit<DatabaseOptions, "log"> {
  /** ms between two polls for commits of other nodes. */
  poll: number;
  /** Called with faults in the background. */
  log?(message: string): void;
  /** This node's clock, in ms since 1970. */
  clock?(): number;
}

/**
 * Connections of the pool that are reserved for writes, leases and the watch: slow searches never
 * block these.
 */
const FOR_WRITES = 4;

/** Writes that wait for commits, and commits for them: others are rows of their own. */
const UNDER_LOCK: ReadonlySet<keyof TableWrites> = new Set([
  "setSetting",
  "submit",
  "beginAttempt",
  "yieldAttempt",
  "setStage",
  "closeSubmission",
  "cancelSubmission",
]);
/** Writes of several statements, or of one that must not be sent twice. */
const TOGETHER: ReadonlySet<keyof TableWrites> = new Set([
  "storeCredential",
  "askForAccess",
  "storeReviewLink",
  "appendAudit",
  "storeVectors",
  "forgetVectors",
]);
/**
 * Independent of the database's own default: a statement that waited for a row sees its new state.
 */
const MODE = "ISOLATION LEVEL READ COMMITTED";

/** Reads and writes a database that other nodes read and write too. */
class PostgresRecordStore extends TableStore implements RecordStore, LeaseStore {
  readonly #records;
  readonly #selection;
  readonly #searches;
  readonly #leases;
  readonly #quads: QuadsRewrites;

  readonly #database: Database;
  readonly #writing: Database;
  readonly #writer: Writer;
  readonly #watch: Watch;
  readonly #feed: Feed;
  readonly #registration: Registration;

  constructor(
    database: Database,
    writing: Database,
    writer: Writer,
    watch: Watch,
    registration: Registration,
  ) {
    super(database, TABLE_SQL);
    this.#database = database;
    this.#writing = writing;
    this.#writer = writer;
    this.#watch = watch;
    this.#feed = new Feed(database);
    this.#registration = registration;

    this.#records = new RecordReads(database);
    this.#selection = new SelectionReads(database);
    this.#searches = new SearchReads(database);
    this.#leases = new Leases(writing);
    this.#quads = new QuadsRewrites(writing);
  }

  find: RecordStore["find"] = (...args) => this.ask(() => this.#records.find(...args));
  findMany: RecordStore["findMany"] = (...args) => this.ask(() => this.#records.findMany(...args));
  holders: RecordStore["holders"] = (...args) => this.ask(() => this.#records.holders(...args));
  select: RecordStore["select"] = (query) => this.ask(() => this.#selection.select(query));
  countSelected: RecordStore["countSelected"] = (selection) =>
    this.ask(() => this.#selection.count(selection));
  statistics: RecordStore["statistics"] = (query) =>
    this.ask(() => this.#selection.statistics(query));
  addressRanges: RecordStore["addressRanges"] = (query) =>
    this.ask(() => this.#selection.addressRanges(query));
  addresses: RecordStore["addresses"] = (query) => this.ask(() => this.#selection.addresses(query));
  linksFrom: RecordStore["linksFrom"] = (...args) =>
    this.ask(() => this.tables.links.linksFrom(...args));
  linksTo: RecordStore["linksTo"] = (...args) => this.ask(() => this.tables.links.linksTo(...args));
  countLinks: RecordStore["countLinks"] = (query) =>
    this.ask(() => this.tables.links.countLinks(query));
  search: RecordStore["search"] = (...args) => this.ask(() => this.#searches.search(...args));

  commit = (commit: Commit): Promise<Committed> => this.#writer.commit(commit);
  sequence = (): Promise<number> => this.ask(() => this.#watch.sequence());
  openFeed = (): MessagePort => this.#feed.open();
  onCommit: RecordStore["onCommit"] = (listener) => this.#watch.onCommit(listener);

  intend: RecordStore["intend"] = (...args) =>
    this.#writer.do((_, intents) => intents.intend(...args));
  release: RecordStore["release"] = (holder) =>
    this.#writer.do((_, intents) => intents.release(holder));
  claimUnreferenced: RecordStore["claimUnreferenced"] = (...args) =>
    this.#writer.do((_, intents) => intents.claimUnreferenced(...args));
  removed: RecordStore["removed"] = (sha256s) =>
    this.#writer.do((_, intents) => intents.removed(sha256s));

  lease: RecordStore["lease"] = (...args) => this.ask(() => this.#leases.lease(...args));
  releaseLease: RecordStore["releaseLease"] = (...args) =>
    this.ask(() => this.#leases.releaseLease(...args));

  rewriteQuads: RecordStore["rewriteQuads"] = (...args) =>
    this.ask(() => this.#quads.rewriteQuads(...args));

  pools = (): PoolLoads => ({
    database_reads: this.#database.load(),
    database_writes: this.#writing.load(),
  });

  health = async (): Promise<void> => {
    await this.sequence();
  };

  close = async (): Promise<void> => {
    this.#feed.close();
    await this.#writer.close();
    await this.#watch.close();
    await this.#registration.end();
    await Promise.all([this.#database.close(), this.#writing.close()]);
  };

  /** A statement that fails where it never should may be one of before a change of the schema. */
  protected override async ask<T>(work: () => Promise<T>): Promise<T> {
    this.#watch.assertKnown();
    return ask(work).catch(async (error: unknown) => {
      if (error instanceof StatementError) await ask(() => this.#watch.sequence());
      throw error;
    });
  }

  protected override write<Call extends keyof TableWrites>(
    call: Call,
    ...args: Parameters<TableWrites[Call]>
  ): ReturnType<TableWrites[Call]> {
    const to = (statements: Statements): Promise<unknown> =>
      (
        writesOf(new Tables(statements, TABLE_SQL))[call] as (...all: unknown[]) => Promise<unknown>
      )(...args);
    const written = UNDER_LOCK.has(call)
      ? this.#writer.do(to)
      : this.ask(() =>
          TOGETHER.has(call) ? this.#writing.transaction(MODE, to) : to(this.#writing),
        );
    return written as ReturnType<TableWrites[Call]>;
  }
}

/** A failure of the database is the store's, not the caller's. */
async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/**
 * Opens the record store in a PostgreSQL database, making its tables if need be. Any number of
 * nodes may have it open.
 *
 * @param options.url the tables are in the first schema of the connection's `search_path`
 * @throws ServiceError `STORE_UNAVAILABLE`: the database is unavailable, another program's, or of a
 * newer version
 */
export async function openPostgresRecordStore(
  options: PostgresOptions,
): Promise<RecordStore & LeaseStore> {
  const { url, pool, timeout, connectTimeout, poll, log = () => {}, clock = Date.now } = options;
  const [database, writing] = [Math.max(1, pool - FOR_WRITES), FOR_WRITES].map(
    (size) => new Database({ url, pool: size, timeout, connectTimeout, log }),
  ) as [Database, Database];
  const node = randomUUID();
  const [small, large] = [`${node}/small`, `${node}/large`];
  const registration = new Registration(writing, [small, large]);
  const watch = new Watch(writing, poll, clock, [small, large], log);
  try {
    await ask(async () => {
      await migrate(writing);
      await prepareSpellings(writing, log);
      await registration.begin();
      await watch.start();
    });
  } catch (error) {
    await watch.close();
    await Promise.all([database.close(), writing.close()]);
    throw error;
  }
  const writer = new Writer({
    database: writing,
    names: [small, large],
    retryWindow: timeout,
    skew: () => watch.skew,
    done: (sequence) => watch.receive(sequence),
  });
  return new PostgresRecordStore(database, writing, writer, watch, registration);
}
