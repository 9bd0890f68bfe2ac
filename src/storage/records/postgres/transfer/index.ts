import type { MessagePort } from "node:worker_threads";
import { Feed } from "../../threads.js";
import {
  type FoundDamage,
  type NeededObject,
  TRANSFER_TABLES,
  type TransferChunk,
  TransferRefused,
  type TransferRow,
  type TransferTable,
  type RecordsTransfer,
} from "../../transfer-port.js";
import { chunksOf, receive, rowDamage } from "../../transfer/chunks.js";
import { checkSchema, fillLicences, migrate } from "../schema.js";
import { asStoreError, isDamage } from "../statement-error.js";
import { Database, type DatabaseOptions, type Session, statement } from "../statement.js";
import { Sending } from "../writes/sending.js";
import { ImportRows, rowsOf } from "./rows.js";

const SEQUENCE = statement<[number]>("SELECT sequence FROM counter WHERE id = 1");
const LOCK = statement("SELECT 1 FROM counter WHERE id = 1 FOR UPDATE");
const HELD = statement<[boolean]>(
  `SELECT EXISTS (SELECT 1 FROM record) OR EXISTS (SELECT 1 FROM account) OR EXISTS (SELECT 1
    FROM submission)`,
);
/**
 * An empty store may have been started once: it has settings of its own, and states of commits that
 * were refused.
 */
const EMPTY = [
  "setting",
  "intent",
  "object_ref",
  "object_removal",
  "crate_use",
  "via",
  "tally",
  "state",
  "text",
  "term",
]
  .map((table) => `DELETE FROM ${table};`)
  .join(" ");
/** Computes derived data again, and sets the counters to continue behind the imported numbers. */
const DERIVED = `INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record WHERE deleted_at IS NULL
    GROUP BY kind; UPDATE counter SET sequence = (SELECT coalesce(max(sequence), 0)
    FROM change_log), record = (SELECT coalesce(max(id), 0)
    FROM record), object = (SELECT coalesce(max(id), 0)
    FROM object_ref), submission = (SELECT coalesce(max(number), 0) FROM submission)
    WHERE id = 1; SELECT setval('state_lot', greatest((SELECT last_value
    FROM state_lot), (SELECT coalesce(max(id), 0) / 1000 + 1 FROM state)));`;
const NEEDED = statement<
  [sha256: string, size: number | null]
>(`SELECT sha256, max(size) FROM ( SELECT sha256, size FROM object_ref
    WHERE dropped = false AND sha256 > $1 UNION SELECT sha256, NULL FROM submission
    WHERE status IN ('queued', 'running') AND sha256 > $1) AS needed GROUP BY sha256
    ORDER BY sha256 LIMIT $2`);

const NEEDING = statement<
  [string]
>(`SELECT DISTINCT r.ark FROM object_ref AS o JOIN record AS r ON r.id = o.record
    WHERE o.sha256 = $1 AND o.dropped = false UNION ALL SELECT 'submission ' || id
    FROM submission WHERE sha256 = $1 AND status IN ('queued', 'running') LIMIT $2`);
const REVISION_OF = statement<[ark: string, revision: number]>(
  `SELECT r.ark, v.revision FROM revision AS v JOIN record AS r ON r.id = v.record
    WHERE v.state = $1`,
);

/** For the one session of a transfer: the other side sets its pace. */
const AT_ITS_PACE =
  "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
/** ms for one statement, such as the last ones of an import. */
const LONGEST = 60 * 60_000;

/** A database that other nodes may have open. */
class PostgresTransfer implements RecordsTransfer {
  readonly exclusive = false;

  readonly #database: Database;
  readonly #feed: Feed;

  constructor(database: Database, feed: Feed) {
    this.#database = database;
    this.#feed = feed;
  }

  sequence = (): Promise<number> => ask(async () => (await this.#database.query(SEQUENCE))[0]![0]);
  isEmpty = (): Promise<boolean> => ask(async () => !(await this.#database.query(HELD))[0]![0]);

  async *export(): AsyncGenerator<TransferChunk, void, undefined> {
    const session = await ask(() => this.#database.session());
    try {
      await ask(async () => {
        await session.exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        await session.exec(AT_ITS_PACE);
      });
      const sequence = (await session.query(SEQUENCE))[0]![0];
      yield* chunksOf(sequence, (table) => rowsOf(session, table));
    } catch (error) {
      throw asStoreError(error);
    } finally {
      // Ends the transaction, however it went.
      session.release(true);
    }
  }

  import(chunks: AsyncIterable<TransferChunk>): Promise<void> {
    return ask(() => this.#database.transaction("", (session) => ingest(session, chunks)));
  }

  async neededObjects({
    after = "",
    limit,
  }: {
    after?: string;
    limit: number;
  }): Promise<{ items: NeededObject[]; next?: string }> {
    const found = await ask(() => this.#database.query(NEEDED, [after, limit + 1]));
    const items = found.slice(0, limit).map(([sha256, size]) => ({ sha256, size }));
    return found.length > limit ? { items, next: items.at(-1)!.sha256 } : { items };
  }

  needing = async (sha256: string, limit: number): Promise<string[]> =>
    (await ask(() => this.#database.query(NEEDING, [sha256, limit]))).map(([name]) => name);

  /**
   * A fault found by PostgreSQL's own checksums ends the reading of a table; a row that cannot be
   * decoded does not.
   */
  async *damage(): AsyncGenerator<FoundDamage, void, undefined> {
    for (const table of TRANSFER_TABLES) {
      const session = await ask(() => this.#database.session());
      try {
        await ask(async () => {
          await session.exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
          await session.exec(AT_ITS_PACE);
        });
        for await (const row of rowsOf(session, table)) {
          const what = rowDamage(table, row);
          if (what !== undefined) yield { where: await nameOf(session, table, row), what };
        }
      } catch (error) {
        if (!isDamage(error)) throw asStoreError(error);
        yield { where: `table ${table}`, what: (error as Error).message };
      } finally {
        session.release(true);
      }
    }
  }

  openFeed = (): MessagePort => this.#feed.open();

  async close(): Promise<void> {
    await this.#feed.close();
    await this.#database.close();
  }
}

/** The record that a row belongs to, where it is one's. */
async function nameOf(session: Session, table: TransferTable, row: TransferRow): Promise<string> {
  const named = `table ${table}, row ${String(row[0])}`;
  if (table === "record") return `record ${String(row[1])} (${named})`;
  const [found] = table === "state" ? await session.query(REVISION_OF, [row[0] as number]) : [];
  return found ? `record ${found[0]}, revision ${found[1]} (${named})` : named;
}

async function ingest(session: Session, chunks: AsyncIterable<TransferChunk>): Promise<void> {
  await session.exec(AT_ITS_PACE);
  // Other writers wait for the end of the import, and then find the store filled.
  await session.query(LOCK);
  if ((await session.query(HELD))[0]![0])
    throw new TransferRefused(
      "The target holds records, accounts or submissions already: a registry can be " +
        "moved only to an empty target",
    );
  await session.exec(EMPTY);
  const sending = new Sending(session);
  const rows = new ImportRows(sending);
  try {
    await receive(chunks, (table, some) => rows.put(table, some));
    await sending.settle();
    await session.exec(DERIVED);
    await fillLicences(session);
  } finally {
    await sending.settle().catch(() => {});
    rows.close();
  }
}

async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/**
 * Opens the record store in a PostgreSQL database for a transfer.
 *
 * @param options.make opens for an import, making the tables if need be; without it nothing is
 * changed
 * @throws ServiceError `STORE_UNAVAILABLE`: the database is unavailable, another program's, or of
 * another version
 */
export async function openPostgresTransfer({
  make,
  ...options
}: Omit<DatabaseOptions, "pool" | "log"> & {
  make: boolean;
  log?(message: string): void;
}): Promise<RecordsTransfer> {
  const { log = () => {}, ...reach } = options;
  const database = new Database({ ...reach, pool: 3, timeout: LONGEST, log });
  try {
    await ask(() => (make ? migrate(database) : checkSchema(database)));
  } catch (error) {
    await database.close();
    throw error;
  }
  return new PostgresTransfer(
    database,
    new Feed("src/storage/records/postgres/feed-thread", reach, log),
  );
}
