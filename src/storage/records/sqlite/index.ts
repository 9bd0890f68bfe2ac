import type { MessagePort } from "node:worker_threads";
import { eventLoop } from "../../../event-loop-budget.js";
import type { Commit, Committed, RecordStore, SearchPage, SelectionPage } from "../port.js";
import type { AddressPage, AddressRange, Statistics } from "../port/selection.js";
import { TableStore, type TableWrites } from "../tables/tables.js";
import { AskedThread, Feed } from "../threads.js";
import { lockFile, openForReading } from "./connection.js";
import { RecordReads } from "./reads.js";
import type { ReadAnswer, ReadQuestion, ReadThreadData } from "./read-thread.js";
import { isQuick, SelectionReads } from "./selection-reads.js";
import { asStoreError, type Connection } from "./statement.js";
import { TABLE_SQL } from "./table-sql.js";
import { TableStatements } from "./table-statements.js";
import { Writer } from "./writer.js";

const READ_THREAD = "src/storage/records/sqlite/read-thread";

/** Reads a file that {@link openSqliteRecordStore} opened; writes through its writer thread. */
class SqliteRecordStore extends TableStore implements RecordStore {
  readonly #records;
  readonly #selection;

  readonly #connection: Connection;
  readonly #writer: Writer;
  readonly #feed: Feed;
  readonly #searches: AskedThread<ReadQuestion, ReadAnswer>;
  readonly #selections: AskedThread<ReadQuestion, ReadAnswer>;
  readonly #unlock: () => void;

  constructor(
    connection: Connection,
    writer: Writer,
    feed: Feed,
    searches: AskedThread<ReadQuestion, ReadAnswer>,
    selections: AskedThread<ReadQuestion, ReadAnswer>,
    unlock: () => void,
  ) {
    super(new TableStatements(connection), TABLE_SQL);
    this.#connection = connection;
    this.#writer = writer;
    this.#feed = feed;
    this.#searches = searches;
    this.#selections = selections;
    this.#unlock = unlock;

    this.#records = new RecordReads(connection);
    this.#selection = new SelectionReads(connection);
  }

  protected override async ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asStoreError(error);
    }
  }

  protected override write<Call extends keyof TableWrites>(
    call: Call,
    ...args: Parameters<TableWrites[Call]>
  ): ReturnType<TableWrites[Call]> {
    return this.#writer.call(call, ...args) as ReturnType<TableWrites[Call]>;
  }

  find: RecordStore["find"] = async (...args) => {
    const found = read(() => this.#records.find(...args));
    if (found && "record" in found) await eventLoop.turnFor(found.record.document.length);
    return found;
  };
  findMany: RecordStore["findMany"] = (arks, viewer) =>
    inParts(arks, async (part) => read(() => this.#records.findMany(part, viewer)));
  holders: RecordStore["holders"] = async (...args) => read(() => this.#records.holders(...args));
  select: RecordStore["select"] = async (query, signal) => {
    if (!isQuick(query))
      return (await this.#selections.ask({ select: query }, signal)) as SelectionPage;
    await eventLoop.pause();
    return read(() => this.#selection.select(query));
  };
  countSelected: RecordStore["countSelected"] = async (selection, signal) =>
    read(() => this.#selection.tally(selection)) ??
    ((await this.#selections.ask({ count: selection }, signal)) as number);
  countLinks: RecordStore["countLinks"] = async (query, signal) =>
    (await this.#selections.ask({ links: query }, signal)) as number[];
  statistics: RecordStore["statistics"] = async (query, signal) =>
    (await this.#selections.ask({ statistics: query }, signal)) as Statistics;
  addressRanges: RecordStore["addressRanges"] = async (query, signal) =>
    (await this.#selections.ask({ addressRanges: query }, signal)) as AddressRange[];
  addresses: RecordStore["addresses"] = async (query, signal) =>
    (await this.#selections.ask({ addresses: query }, signal)) as AddressPage;
  linksFrom: RecordStore["linksFrom"] = (arks, options) =>
    inParts(arks, (part) => this.ask(() => this.tables.links.linksFrom(part, options)));
  linksTo: RecordStore["linksTo"] = (keys, options) =>
    inParts(keys, (part) => this.ask(() => this.tables.links.linksTo(part, options)));
  search: RecordStore["search"] = async (query, signal) =>
    (await this.#searches.ask({ search: query }, signal)) as SearchPage;

  commit = (commit: Commit): Promise<Committed> => this.#writer.commit(commit);
  sequence = async (): Promise<number> => this.#writer.sequence;
  openFeed = (): MessagePort => this.#feed.open();
  onCommit: RecordStore["onCommit"] = (listener) => this.#writer.onCommit(listener);

  lease: RecordStore["lease"] = (...args) => this.#writer.call("lease", ...args);
  releaseLease: RecordStore["releaseLease"] = (...args) =>
    this.#writer.call("releaseLease", ...args);

  intend: RecordStore["intend"] = (...args) => this.#writer.call("intend", ...args);
  release: RecordStore["release"] = (holder) => this.#writer.call("release", holder);
  claimUnreferenced: RecordStore["claimUnreferenced"] = (...args) =>
    this.#writer.call("claimUnreferenced", ...args);
  removed: RecordStore["removed"] = (sha256s) => this.#writer.call("removed", sha256s);

  rewriteQuads: RecordStore["rewriteQuads"] = (...args) =>
    this.#writer.call("rewriteQuads", ...args);

  health = async (): Promise<void> => {
    this.#writer.health();
    await this.countAccounts();
  };

  close = async (): Promise<void> => {
    await Promise.all([this.#feed.close(), this.#searches.close(), this.#selections.close()]);
    // Readers first: their open snapshots would prevent the copy of the log into the file.
    this.#connection.close();
    await this.#writer.close();
    this.#unlock();
  };
}

/** A failure of the file is the store's, not the caller's. */
function read<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Records that are read without a pause: with a thousand links each, some milliseconds. */
const MAX_RECORDS_AT_ONCE = 20;

/** Reads for many records, with pauses in which the thread serves other requests. */
async function inParts<T>(
  ids: readonly string[],
  readPart: (part: readonly string[]) => Promise<T[]>,
): Promise<T[]> {
  if (ids.length <= MAX_RECORDS_AT_ONCE) return readPart(ids);
  const found: T[] = [];
  for (let start = 0; start < ids.length; start += MAX_RECORDS_AT_ONCE) {
    await eventLoop.pause();
    const part = ids.slice(start, start + MAX_RECORDS_AT_ONCE);
    for (const each of await readPart(part)) found.push(each);
  }
  return found;
}

/**
 * Opens the record store in one file of libSQL, making it if need be. One process at a time.
 *
 * @param options.file in an existing folder; `.lock`, `.pid`, `-wal` and `-shm` stand beside it
 * @param options.log called with faults in the background
 * @param options.warn called with what may be lost after an unclean stop
 * @throws ServiceError `STORE_UNAVAILABLE`: in use by another process, not a database, another
 * program's, or of a newer version
 */
export async function openSqliteRecordStore({
  file,
  log = () => {},
  warn = log,
}: {
  file: string;
  log?: (message: string) => void;
  warn?: (message: string) => void;
}): Promise<RecordStore> {
  const unlock = lockFile(file, warn);
  let writer: Writer | undefined;
  try {
    writer = await Writer.open(file);
    const data: ReadThreadData = { file };
    const threadFor = (what: string) =>
      new AskedThread<ReadQuestion, ReadAnswer>(what, READ_THREAD, data, log);
    const feed = new Feed(READ_THREAD, data, log);
    const [searches, selections] = [threadFor("search"), threadFor("selection")];
    return new SqliteRecordStore(openForReading(file), writer, feed, searches, selections, unlock);
  } catch (error) {
    await writer?.close();
    unlock();
    throw asStoreError(error);
  }
}
