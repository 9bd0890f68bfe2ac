import { arkKey } from "../../../identifiers/ark.js";
import { fold, indexable } from "../fold.js";
import { receive } from "../transfer/chunks.js";
import { TRANSFER, type TransferChunk, type TransferRow, type TransferTable } from "../transfer-port.js";
import type { Connection, Value } from "./statement.js";

/** What is made again from the rest. */
const DERIVED = `
INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record WHERE deleted_at IS NULL GROUP BY kind;
INSERT INTO search (rowid, name, description, keywords, other) SELECT id, name, description, keywords, other FROM text ORDER BY id;
`;
/** An empty store may have been started once, and have settings of its own. */
const EMPTY = "DELETE FROM setting; DELETE FROM intent; DELETE FROM object_ref; DELETE FROM object_removal; DELETE FROM crate_use; DELETE FROM via; DELETE FROM tally;";

/** Columns that are not sent, from a row as it is sent. */
const MORE: Partial<Record<TransferTable, { columns: readonly string[]; of: (row: Readonly<Record<string, unknown>>) => Value[] }>> = {
  record: {
    columns: ["folded", "owner_key"],
    of: ({ name, owner }) => [indexable(fold((name as string | null) ?? "")), owner === null ? null : arkKey(owner as string)],
  },
};

/** Takes an export in, in one transaction. */
export async function takeIn(connection: Connection, chunks: AsyncIterable<TransferChunk>): Promise<void> {
  connection.exec("BEGIN EXCLUSIVE");
  try {
    connection.exec(EMPTY);
    const putter = new Putter(connection);
    await receive(chunks, (table, rows) => {
      for (const row of rows) putter.put(table, row);
    });
    connection.exec(DERIVED);
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

  constructor(private readonly connection: Connection) {
    this.#word = connection.prepare("INSERT INTO keyword (word, record, kind) SELECT ?1, id, kind FROM record WHERE id = ?2");
    // A fence never goes back, also where the target gave some out itself.
    this.#lease = connection.prepare("INSERT INTO lease (name, holder, fence, until) VALUES (?1, NULL, ?2, 0) ON CONFLICT (name) DO UPDATE SET holder = NULL, fence = max(fence, excluded.fence)");
  }

  put(table: TransferTable, row: TransferRow): void {
    const values = row.map((value) => (typeof value === "boolean" ? Number(value) : value));
    if (table === "lease") return this.#lease.put(values);
    const columns = Object.keys(TRANSFER[table].columns);
    const more = MORE[table];
    const all = more ? [...values, ...more.of(Object.fromEntries(columns.map((column, index) => [column, row[index]])))] : values;
    let statement = this.#statements.get(table);
    if (!statement) {
      const names = [...columns.map((column) => (table === "text" && column === "record" ? "id" : column)), ...(more?.columns ?? [])];
      this.#statements.set(table, statement = this.connection.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`));
    }
    statement.put(all);
    if (table === "text") this.#words(row[0] as number, row.at(-1) as string);
  }

  #words(record: number, words: string): void {
    if (words !== "") for (const word of words.split("\n")) this.#word.put([word, record]);
  }
}
