import { access } from "node:fs/promises";
import type { MessagePort } from "node:worker_threads";
import { arkKey } from "../../../identifiers/ark.js";
import { fold, indexable } from "../text.js";
import { Feed } from "../threads.js";
import {
  type FoundDamage,
  type NeededObject,
  TRANSFER,
  type TransferChunk,
  TransferRefused,
  type TransferRow,
  type TransferTable,
  type TransferType,
  type RecordsTransfer,
} from "../transfer-port.js";
import { chunksOf, receive } from "../transfer/chunks.js";
import { lockFile, openForReading, openForWriting } from "./connection.js";
import { columnsOf, findDamage } from "./find-damage.js";
import { checkSchema, fillLicences, migrate } from "./schema.js";
import { asStoreError } from "./statement-error.js";
import type { Connection, Value } from "./statement.js";

/** Computes derived data again. */
const DERIVED = `INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record WHERE deleted_at IS NULL
    GROUP BY kind; INSERT INTO search (rowid, name, description, keywords, other)
    SELECT id, name, description, keywords, other FROM text ORDER BY id;`;
/** An empty store may have been started once, and have settings of its own. */
const EMPTY = `DELETE FROM setting; DELETE FROM intent; DELETE FROM object_ref; DELETE
    FROM object_removal; DELETE FROM crate_use; DELETE FROM via; DELETE FROM tally;`;

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
        ...columns.map((column) => (table === "text" && column === "record" ? "id" : column)),
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
          .get()![0],
    );

  isEmpty = async (): Promise<boolean> => reported(() => isEmpty(this.#connection));

  /** No other process writes to the file, so all tables are of one snapshot. */
  export(): AsyncIterable<TransferChunk> {
    const connection = this.#connection;
    return (async function* () {
      const sequence = connection
        .prepare<[number]>("SELECT coalesce(max(sequence), 0) FROM change_log")
        .get()![0];
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
    return found.length > limit ? { items, next: items.at(-1)!.sha256 } : { items };
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
      .get()![0] === 0
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
  const unlock = lockFile(file);
  let connection: Connection | undefined;
  try {
    connection = make ? openForWriting(file) : openForReading(file);
    if (make) migrate(connection, file);
    else checkSchema(connection, file);
    return new SqliteTransfer(
      connection,
      new Feed("src/storage/records/sqlite/feed-thread", { file }, log),
      unlock,
    );
  } catch (error) {
    connection?.close();
    unlock();
    throw asStoreError(error);
  }
}
