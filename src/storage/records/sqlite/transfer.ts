import { access } from "node:fs/promises";
import type { MessagePort } from "node:worker_threads";
import { arkKey } from "../../../identifiers/ark.js";
import { fold, indexable } from "../text.js";
import { Feed } from "../threads.js";
import {
  chunksOf,
  type FoundDamage,
  type NeededObject,
  type RecordsTransfer,
  receive,
  rowDamage,
  TRANSFER,
  TRANSFER_TABLES,
  type TransferChunk,
  TransferRefused,
  type TransferRow,
  type TransferTable,
  type TransferType,
} from "../transfer-port.js";
import { lockFile, openForReading, openForWriting } from "./connection.js";
import {
  checkSchema,
  fillLicences,
  fillPublications,
  INDEX_PRIVATE_TEXTS,
  migrate,
} from "./schema.js";
import { asStoreError, type Connection, isDamage, type Value } from "./statement.js";

/** Computes derived data again. */
const DERIVED = `INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record WHERE deleted_at IS NULL
    AND private = 0 GROUP BY kind; INSERT INTO search (rowid, name, description, keywords, other)
    SELECT id, name, description, keywords, other FROM text ORDER BY id; ${INDEX_PRIVATE_TEXTS}`;
/** An empty store may have been started once, and have settings of its own. */
const EMPTY = `DELETE FROM setting; DELETE FROM intent; DELETE FROM object_ref; DELETE
    FROM object_removal; DELETE FROM crate_use; DELETE FROM via; DELETE FROM tally; DELETE FROM audit;`;

/** Columns that are not sent, from a row as it is sent. */
const MORE: Partial<
  Record<
    TransferTable,
    { columns: readonly string[]; of: (row: Readonly<Record<string, unknown>>) => Value[] }
  >
> = {
  record: {
    columns: ["folded", "owner_key"],
    of: ({ name, owner }) => [
      indexable(fold((name as string | null) ?? "")),
      owner === null ? null : arkKey(owner as string),
    ],
  },
};

/** Takes an export in, in one transaction. */
async function ingest(connection: Connection, chunks: AsyncIterable<TransferChunk>): Promise<void> {
  connection.exec("BEGIN EXCLUSIVE");
  try {
    connection.exec(EMPTY);
    const putter = new Putter(connection);
    await receive(chunks, (table, rows) => {
      for (const row of rows) putter.put(table, row);
    });
    connection.exec(DERIVED);
    fillLicences(connection);
    fillPublications(connection);
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.inTransaction) connection.exec("ROLLBACK");
    throw error;
  }
  connection.pragma("wal_checkpoint(TRUNCATE)");
}

class Putter {
  readonly #statements = new Map<TransferTable, { put(values: readonly Value[]): void }>();
  readonly #word;
  readonly #lease;

  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;

    this.#word = connection.prepare(
      "INSERT INTO keyword (word, record, kind) SELECT ?1, id, kind FROM record WHERE id = ?2",
    );
    // A fence never decreases, even where the target gave some out itself.
    this.#lease = connection.prepare(
      `INSERT INTO lease (name, holder, fence, until) VALUES (?1, NULL, ?2, 0)
        ON CONFLICT (name) DO UPDATE SET holder = NULL, fence = max(fence, excluded.fence)`,
    );
  }

  put(table: TransferTable, row: TransferRow): void {
    const values = row.map((value) => (typeof value === "boolean" ? Number(value) : value));
    if (table === "lease") return this.#lease.put(values);
    const columns = Object.keys(TRANSFER[table].columns);
    const more = MORE[table];
    const all = more
      ? [
          ...values,
          ...more.of(Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
        ]
      : values;
    let statement = this.#statements.get(table);
    if (!statement) {
      const names = [
        ...columns.map((column) => COLUMN[table]?.[column] ?? column),
        ...(more?.columns ?? []),
      ];
      this.#statements.set(
        table,
        (statement = this.#connection.prepare(
          `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
        )),
      );
    }
    statement.put(all);
    if (table === "text") this.#words(row[0] as number, row.at(-1) as string);
  }

  #words(record: number, words: string): void {
    if (words !== "") for (const word of words.split("\n")) this.#word.put([word, record]);
  }
}

function select(table: TransferTable): string {
  const { columns, key } = columnsOf(table);
  return `SELECT ${columns} FROM ${table} ORDER BY ${key.join(", ")}`;
}

const NEEDED = `SELECT sha256, max(size) FROM (
    SELECT sha256, size FROM object_ref WHERE dropped = 0 AND sha256 > ?1
    UNION SELECT sha256, NULL FROM submission WHERE status IN ('queued', 'running') AND sha256 > ?1)
  GROUP BY sha256 ORDER BY sha256 LIMIT ?2`;

const NEEDING = `SELECT DISTINCT r.ark FROM object_ref AS o JOIN record AS r ON r.id = o.record
    WHERE o.sha256 = ?1 AND o.dropped = 0 UNION ALL SELECT 'submission ' || id FROM submission
    WHERE sha256 = ?1 AND status IN ('queued', 'running') LIMIT ?2`;

/** A file that this process has for itself. */
class SqliteTransfer implements RecordsTransfer {
  readonly exclusive = true;

  readonly #connection: Connection;
  readonly #feed: Feed;
  readonly #unlock: () => void;

  constructor(connection: Connection, feed: Feed, unlock: () => void) {
    this.#connection = connection;
    this.#feed = feed;
    this.#unlock = unlock;
  }

  sequence = async (): Promise<number> =>
    reported(
      () =>
        this.#connection
          .prepare<[number]>("SELECT coalesce(max(sequence), 0) FROM change_log")
          .one()[0],
    );

  isEmpty = async (): Promise<boolean> => reported(() => isEmpty(this.#connection));

  /** No other process writes to the file, so all tables are of one snapshot. */
  export(): AsyncIterable<TransferChunk> {
    const connection = this.#connection;
    return (async function* () {
      const sequence = connection
        .prepare<[number]>("SELECT coalesce(max(sequence), 0) FROM change_log")
        .one()[0];
      try {
        yield* chunksOf(sequence, (table) => rowsOf(connection, table));
      } catch (error) {
        throw asStoreError(error);
      }
    })();
  }

  async *damage(): AsyncIterable<FoundDamage> {
    yield* findDamage(this.#connection);
  }

  async import(chunks: AsyncIterable<TransferChunk>): Promise<void> {
    if (!(await this.isEmpty())) throw notEmpty();
    try {
      await ingest(this.#connection, chunks);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async neededObjects({
    after = "",
    limit,
  }: {
    after?: string;
    limit: number;
  }): Promise<{ items: NeededObject[]; next?: string }> {
    const found = reported(() =>
      this.#connection.prepare<[string, number | null]>(NEEDED).all([after, limit + 1]),
    );
    const items = found.slice(0, limit).map(([sha256, size]) => ({ sha256, size }));
    const last = items.at(-1);
    return last && found.length > limit ? { items, next: last.sha256 } : { items };
  }

  needing = async (sha256: string, limit: number): Promise<string[]> =>
    reported(() => this.#connection.prepare<[string]>(NEEDING).all([sha256, limit])).map(
      ([name]) => name,
    );

  openFeed = (): MessagePort => this.#feed.open();

  async close(): Promise<void> {
    await this.#feed.close();
    this.#connection.close();
    this.#unlock();
  }
}

const notEmpty = (): TransferRefused =>
  new TransferRefused(
    "The target holds records, accounts or submissions already: a registry can be moved " +
      "only to an empty target",
  );

function isEmpty(connection: Connection): boolean {
  return (
    connection
      .prepare<[number]>(
        `SELECT EXISTS (SELECT 1 FROM record) + EXISTS (SELECT 1
          FROM account) + EXISTS (SELECT 1 FROM submission)`,
      )
      .one()[0] === 0
  );
}

function* rowsOf(connection: Connection, table: TransferTable): Generator<TransferRow> {
  const booleans = Object.values<TransferType>(TRANSFER[table].columns).map(
    (type) => type === "boolean",
  );
  const has = booleans.includes(true);
  for (const row of connection.prepare(select(table)).iterate())
    yield has ? row.map((value, column) => (booleans[column] ? value === 1 : value)) : row;
}

function reported<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/**
 * Opens the record store in a file of libSQL for a transfer.
 *
 * @param options.make opens for an import, making the file if need be; without it nothing in it is
 * changed
 * @throws TransferRefused when there is none to read, or it is of an older version; ServiceError
 * `STORE_UNAVAILABLE` when a registry runs on it, among others
 */
export async function openSqliteTransfer({
  file,
  make,
  log = () => {},
}: {
  file: string;
  make: boolean;
  log?: (message: string) => void;
}): Promise<RecordsTransfer> {
  if (!make) {
    await access(file).catch(() => {
      throw new TransferRefused(`${file} is not there: name the data folder of a registry`);
    });
  }
  const unlock = lockFile(file, log);
  let connection: Connection | undefined;
  try {
    connection = make ? openForWriting(file) : openForReading(file);
    if (make) migrate(connection, file);
    else checkSchema(connection, file);
    return new SqliteTransfer(
      connection,
      new Feed("src/storage/records/sqlite/read-thread", { file }, log),
      unlock,
    );
  } catch (error) {
    connection?.close();
    unlock();
    throw asStoreError(error);
  }
}

/** Most findings of SQLite's own check: one lost page can make thousands of the same kind. */
const MAX_OF_SQLITE = 100;
/** Rows behind a lost page that are read one by one until one can be read. */
const MAX_PROBES = 100_000;

/** Columns with another name here than in the export. */
const COLUMN: Partial<Record<TransferTable, Record<string, string>>> = {
  account: { user: "person" },
  credential: { user: "person" },
  identity: { user: "person" },
  submission: { user: "person" },
  text: { record: "id" },
  private_text: { record: "id" },
};

/**
 * How a table's columns are read in the order of {@link TRANSFER}, and the columns that order its
 * rows.
 */
function columnsOf(table: TransferTable): { columns: string; key: string[] } {
  const { key, columns } = TRANSFER[table];
  const named = (column: string): string => COLUMN[table]?.[column] ?? column;
  return { columns: Object.keys(columns).map(named).join(", "), key: key.map(named) };
}

/**
 * Finds everything in a file that differs from what was written, as far as it can be detected: by
 * SQLite's own check of pages and indexes, then by reading and decoding every row. Nothing is
 * changed; a few rows are in memory at a time.
 */
function* findDamage(connection: Connection): Generator<FoundDamage, void, undefined> {
  yield* pages(connection);
  for (const table of TRANSFER_TABLES) yield* rows(connection, table);
}

function* pages(connection: Connection): Generator<FoundDamage, void, undefined> {
  try {
    for (const [what] of connection
      .prepare<[string]>(`SELECT integrity_check FROM pragma_integrity_check(${MAX_OF_SQLITE})`)
      .iterate())
      if (what !== "ok") yield { where: "pages and indexes", what };
  } catch (error) {
    yield { where: "pages and indexes", what: reasonOf(error) };
  }
}

function* rows(
  connection: Connection,
  table: TransferTable,
): Generator<FoundDamage, void, undefined> {
  const { columns, key } = columnsOf(table);
  const numbered = key.length === 1 && ["id", "number"].includes(key[0]!);
  try {
    if (numbered) yield* numberedRows(connection, table, columns, key[0]!);
    else
      for (const row of connection
        .prepare(`SELECT ${columns} FROM ${table} ORDER BY ${key.join(", ")}`)
        .iterate())
        yield* evaluated(connection, table, row);
  } catch (error) {
    yield { where: `table ${table}`, what: reasonOf(error) };
  }
}

/** Goes on behind rows that cannot be read: rows on other pages may be readable. */
function* numberedRows(
  connection: Connection,
  table: TransferTable,
  columns: string,
  id: string,
): Generator<FoundDamage, void, undefined> {
  const walk = connection.prepare(`SELECT ${columns} FROM ${table} WHERE ${id} > ? ORDER BY ${id}`);
  const one = connection.prepare(`SELECT ${columns} FROM ${table} WHERE ${id} = ?`);
  const last = connection
    .prepare<[number]>(`SELECT coalesce(max(${id}), 0) FROM ${table}`)
    .one()[0];
  for (let at = 0; at < last;) {
    try {
      for (const row of walk.iterate([at])) {
        yield* evaluated(connection, table, row);
        at = row[0] as number;
      }
      return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    // Rows come several at a time: those before the one that failed have not been seen either.
    let failed = false;
    for (let probes = 0; at < last && probes < MAX_PROBES; probes++) {
      at++;
      try {
        const row = one.get([at]);
        if (row === undefined) continue;
        yield* evaluated(connection, table, row);
        if (failed) break;
      } catch (error) {
        if (!isDamage(error)) throw error;
        failed = true;
        yield { where: nameOf(connection, table, at), what: reasonOf(error) };
      }
    }
  }
}

function* evaluated(
  connection: Connection,
  table: TransferTable,
  row: TransferRow,
): Generator<FoundDamage, void, undefined> {
  const what = rowDamage(table, row);
  if (what !== undefined)
    yield {
      where: typeof row[0] === "number" ? nameOf(connection, table, row[0]) : `table ${table}`,
      what,
    };
}

const NAMES: Partial<Record<TransferTable, string>> = {
  record: "SELECT ark, NULL FROM record INDEXED BY record_ark WHERE id = ?",
  text: "SELECT ark, NULL FROM record INDEXED BY record_ark WHERE id = ?",
  private_text: "SELECT ark, NULL FROM record INDEXED BY record_ark WHERE id = ?",
  state: `SELECT r.ark, v.revision FROM revision AS v JOIN record AS r ON r.id = v.record
      WHERE v.state = ?`,
  revision: "SELECT ark, NULL FROM record WHERE id = ?",
  object_ref:
    "SELECT r.ark, NULL FROM object_ref AS o JOIN record AS r ON r.id = o.record WHERE o.id = ?",
};

/** The record of a row, where the columns that lead to it can be read. */
function nameOf(connection: Connection, table: TransferTable, number: number): string {
  const row = `table ${table}, row ${number}`;
  const sql = NAMES[table];
  if (sql === undefined) return row;
  try {
    const [ark, revision] = connection.prepare<[string, number | null]>(sql).get([number]) ?? [];
    return ark === undefined
      ? row
      : `record ${ark}${revision == null ? "" : `, revision ${revision}`} (${row})`;
  } catch {
    return row;
  }
}

const reasonOf = (error: unknown): string => (error as Error).message;
