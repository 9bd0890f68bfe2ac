/** Moves all content out of and into PostgreSQL. */
import type { MessagePort } from "node:worker_threads";
import { arkKey } from "../../../identifiers/ark.js";
import { fold, indexable, shortWord, sortedName } from "../text.js";
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
import { Feed } from "./feed.js";
import { checkSchema, fillLicences, fillPublications, migrate } from "./schema.js";
import { indexed } from "./search/words.js";
import {
  asStoreError,
  Database,
  type DatabaseOptions,
  isDamage,
  type Row,
  Sending,
  type Session,
  type Statement,
  statement,
} from "./statement.js";
import { ADD_WORDS, addTextsTo } from "./writes/states.js";

/** Columns with another name here than in the export, because PostgreSQL reserves that word. */
const NAMED: Partial<Record<TransferTable, Readonly<Record<string, string>>>> = {
  account: { user: "person" },
  credential: { user: "person" },
  identity: { user: "person" },
  submission: { user: "person" },
  object_ref: { until: "ended" },
};
const LIST: Readonly<Record<TransferType, string>> = {
  integer: "bigint",
  text: "text",
  boolean: "int",
  bytes: "bytea",
};

interface Column {
  name: string;
  type: TransferType;
}

const columnsOf = (table: TransferTable): Column[] =>
  Object.entries<TransferType>(TRANSFER[table].columns).map(([name, type]) => ({
    name: NAMED[table]?.[name] ?? name,
    type,
  }));

const isText = (table: TransferTable): table is "text" | "private_text" =>
  table === "text" || table === "private_text";

/** All rows of a table, by its key. */
function selectOf(table: TransferTable): string {
  if (isText(table)) {
    return `SELECT r.id, t.name, t.description, t.keywords, t.other, t.words FROM record AS r
        JOIN ${table} AS t ON t.state = r.state WHERE r.deleted_at IS NULL ORDER BY r.id`;
  }
  return `SELECT ${columnsOf(table)
    .map(({ name }) => name)
    .join(", ")}
      FROM ${table} ORDER BY
      ${TRANSFER[table].key.map((name) => NAMED[table]?.[name] ?? name).join(", ")}`;
}

/**
 * Adds rows, each column as one list; booleans as 0 and 1.
 * @param more columns that are derived from the sent ones
 */
function insertOf(table: TransferTable, more: readonly Column[] = []): Statement {
  const columns = [...columnsOf(table), ...more];
  const names = columns.map(({ name }) => name).join(", ");
  const values = columns
    .map(({ name, type }) => (type === "boolean" ? `v.${name} = 1` : `v.${name}`))
    .join(", ");
  return statement(
    `INSERT INTO ${table} (${names}) SELECT ${values}
      FROM unnest(${columns.map(({ type }, index) => `$${index + 1}::${LIST[type]}[]`).join(", ")})
      AS v (${names})`,
  );
}

/** Rows requested at a time; fewer of those with long texts. */
const ROWS_PER_READ = 1000;
const LONG_ROWS_PER_READ = 100;
const LONG: ReadonlySet<TransferTable> = new Set(["text", "private_text", "submission"]);
/** Bytes of states that are requested at a time. */
const BYTES = 2 ** 20;

/**
 * The existing states, and their sizes. States that a refused commit left behind belong to no
 * revision.
 */
const STATES = `SELECT s.id, (octet_length(s.document) + octet_length(s.quads) +
    coalesce(octet_length(s.projected), 0))::bigint FROM state AS s WHERE s.id IN (SELECT state
    FROM revision) ORDER BY s.id`;
const CONTENTS = statement<
  [id: number, document: Uint8Array, quads: Uint8Array, projected: Uint8Array | null]
>("SELECT id, document, quads, projected FROM state WHERE id = ANY($1::bigint[]) ORDER BY id");

/** Rows of a table as of the session's transaction, by their key. */
function rowsOf(session: Session, table: TransferTable): AsyncIterable<TransferRow> {
  return table === "state"
    ? states(session)
    : walk(session, table, selectOf(table), LONG.has(table) ? LONG_ROWS_PER_READ : ROWS_PER_READ);
}

/** The answer stays in the database, and comes as it is read. */
async function* walk(
  session: Session,
  name: string,
  select: string,
  atOnce: number,
): AsyncGenerator<Row, void, undefined> {
  await session.exec(`DECLARE transfer_${name} NO SCROLL CURSOR FOR ${select}`);
  const next = statement(`FETCH FORWARD ${atOnce} FROM transfer_${name}`);
  for (;;) {
    const rows = await session.query(next);
    yield* rows;
    if (rows.length < atOnce) break;
  }
  await session.exec(`CLOSE transfer_${name}`);
}

async function* states(session: Session): AsyncGenerator<TransferRow, void, undefined> {
  let batch: number[] = [];
  let bytes = 0;
  for await (const [id, size] of walk(session, "state", STATES, ROWS_PER_READ)) {
    batch.push(id as number);
    bytes += size as number;
    if (bytes < BYTES) continue;
    yield* await session.query(CONTENTS, [batch]);
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield* await session.query(CONTENTS, [batch]);
}

const RECORD_MORE: readonly Column[] = [
  { name: "folded", type: "text" },
  { name: "sorted", type: "text" },
  { name: "owner_key", type: "text" },
];
const ADD_STATES =
  statement(`INSERT INTO state (id, document, quads, projected) SELECT v.id, substring($1::bytea
    FROM v.d FOR v.dl), substring($1::bytea FROM v.q FOR v.ql), CASE WHEN v.has = 1 THEN
    substring($1::bytea FROM v.p FOR v.pl) END FROM unnest($2::bigint[], $3::int[], $4::int[],
    $5::int[], $6::int[], $7::int[], $8::int[], $9::int[]) AS v (id, has, d, dl, q, ql, p, pl)`);
/** The record of a text, which was sent before it. */
const OWNERS = statement<[record: number, state: number, kind: string]>(
  "SELECT id, state, kind FROM record WHERE id = ANY($1::bigint[])",
);
const ADD_KEYWORDS = statement(
  `INSERT INTO keyword (word, record, kind) SELECT *
    FROM unnest($1::text[], $2::bigint[], $3::text[])`,
);
const ADD_TEXTS_TO = { text: addTextsTo("text"), private_text: addTextsTo("private_text") };
// A fence never decreases, even where the target gave some out itself.
const ADD_LEASES =
  statement(`INSERT INTO lease (name, fence, expires_at) SELECT v.name, v.fence, now()
      FROM unnest($1::text[], $2::bigint[]) AS v (name, fence) ON CONFLICT (name) DO UPDATE
      SET holder = NULL, fence = greatest(lease.fence, excluded.fence)`);
const NOTHING = new Uint8Array(0);

/** Writes rows as they come, and the data that the database derives from them. */
class ImportRows {
  readonly #inserts = new Map<TransferTable, ReturnType<typeof insertOf>>();
  readonly #words = new Set<string>();

  readonly #sending: Sending;

  constructor(sending: Sending) {
    this.#sending = sending;
  }

  async put(table: TransferTable, rows: readonly TransferRow[]): Promise<void> {
    if (table === "state") return this.#states(rows);
    if (isText(table)) return this.#texts(table, rows);
    if (table === "lease") return this.#sending.rows(ADD_LEASES, rows);
    let insert = this.#inserts.get(table);
    if (!insert)
      this.#inserts.set(table, (insert = insertOf(table, table === "record" ? RECORD_MORE : [])));
    await this.#sending.rows(
      insert,
      rows.map((row) => [
        ...row.map((value) => (typeof value === "boolean" ? Number(value) : value)),
        ...(table === "record" ? recordMore(row) : []),
      ]),
    );
  }

  async #states(rows: readonly TransferRow[]): Promise<void> {
    await this.#sending.rowsWithBytes(
      ADD_STATES,
      rows.map(([id, document, quads, projected]) => ({
        columns: [id, projected === null ? 0 : 1],
        bytes: [
          document as Uint8Array,
          quads as Uint8Array,
          (projected as Uint8Array | null) ?? NOTHING,
        ],
      })),
    );
  }

  async #texts(table: "text" | "private_text", rows: readonly TransferRow[]): Promise<void> {
    const texts = rows.map(
      ([record, name, description, keywords, other, words]) =>
        ({ record, name, description, keywords, other, words }) as {
          record: number;
          name: string;
          description: string;
          keywords: string;
          other: string;
          words: string;
        },
    );
    const owners = new Map(
      (await this.#sending.send(OWNERS, [texts.map(({ record }) => record)])).map(
        ([record, state, kind]) => [record, { state, kind }],
      ),
    );
    const all = texts.map(indexed);
    await this.#sending.rows(
      ADD_TEXTS_TO[table],
      texts.map(({ record, name, description, keywords, other, words }, index) => {
        const { state, kind } = owners.get(record)!;
        return [state, kind, name, description, keywords, other, words, ...all[index]!.parts];
      }),
    );
    if (table === "private_text") return;
    await this.#sending.rows(
      ADD_KEYWORDS,
      texts.flatMap(({ record, words }) =>
        words === ""
          ? []
          : [...new Set(words.split("\n").map(shortWord))].map((word) => [
              word,
              record,
              owners.get(record)!.kind,
            ]),
      ),
    );
    const added = [...new Set(all.flatMap(({ spellings }) => spellings))].filter(
      (word) => !this.#words.has(word),
    );
    if (this.#words.size > MAX_KNOWN) this.#words.clear();
    for (const word of added) this.#words.add(word);
    if (added.length > 0) void this.#sending.send(ADD_WORDS, [added], added.length);
    await this.#sending.breathe();
  }
}

/** Words that are not sent again; some MiB. */
const MAX_KNOWN = 100_000;

/** Place of a record's name and owner in its row. */
const [NAME, OWNER] = [4, 5];

function recordMore(row: TransferRow): (string | null)[] {
  const [name, owner] = [row[NAME] as string | null, row[OWNER] as string | null];
  const folded = indexable(fold(name ?? ""));
  return [folded, sortedName(folded), owner === null ? null : arkKey(owner)];
}

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
  "private_text",
  "word",
  "audit",
]
  .map((table) => `DELETE FROM ${table};`)
  .join(" ");
/** Computes derived data again, and sets the counters to continue behind the imported numbers. */
const DERIVED = `INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record WHERE deleted_at IS NULL
    AND private = 0 GROUP BY kind; UPDATE counter SET sequence = (SELECT coalesce(max(sequence), 0)
    FROM change_log), record = (SELECT coalesce(max(id), 0)
    FROM record), object = (SELECT coalesce(max(id), 0)
    FROM object_ref), submission = (SELECT coalesce(max(number), 0) FROM submission)
    WHERE id = 1; SELECT setval('state_lot', greatest((SELECT last_value
    FROM state_lot), (SELECT coalesce(max(id), 0) / 1000 + 1 FROM state))); SELECT setval('audit_number_seq', (SELECT
    coalesce(max(number), 0) + 1 FROM audit), false);`;
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

const ANALYZE = statement("ANALYZE");

/** For the one session of a transfer: the other side sets its pace. */
const AT_ITS_PACE =
  "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
/** ms for one statement, such as the last ones of an import. */
const STATEMENT_TIMEOUT_MS = 60 * 60_000;

/** A database that other nodes may have open. */
class PostgresTransfer implements RecordsTransfer {
  readonly exclusive = false;

  readonly #database: Database;
  readonly #feed: Feed;

  constructor(database: Database) {
    this.#database = database;
    this.#feed = new Feed(database);
  }

  sequence = (): Promise<number> => ask(async () => (await this.#database.one(SEQUENCE))[0]);
  isEmpty = (): Promise<boolean> => ask(async () => !(await this.#database.one(HELD))[0]);

  async *export(): AsyncGenerator<TransferChunk, void, undefined> {
    const session = await ask(() => this.#database.session());
    try {
      await ask(async () => {
        await session.exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        await session.exec(AT_ITS_PACE);
      });
      const sequence = (await session.one(SEQUENCE))[0];
      yield* chunksOf(sequence, (table) => rowsOf(session, table));
    } catch (error) {
      throw asStoreError(error);
    } finally {
      // Ends the transaction, however it went.
      session.release(true);
    }
  }

  import(chunks: AsyncIterable<TransferChunk>): Promise<void> {
    return ask(async () => {
      await this.#database.transaction("", (session) => ingest(session, chunks));
      // Autovacuum comes later: until then filters along links would be planned for empty tables.
      await this.#database.query(ANALYZE);
    });
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
    const last = items.at(-1);
    return last && found.length > limit ? { items, next: last.sha256 } : { items };
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
    this.#feed.close();
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
  if ((await session.one(HELD))[0])
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
    await fillPublications(session);
  } finally {
    await sending.settle().catch(() => {});
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
  const database = new Database({ ...reach, pool: 3, timeout: STATEMENT_TIMEOUT_MS, log });
  try {
    await ask(() => (make ? migrate(database) : checkSchema(database)));
  } catch (error) {
    await database.close();
    throw error;
  }
  return new PostgresTransfer(database);
}
