import {
  TRANSFER,
  TRANSFER_TABLES,
  type FoundDamage,
  type TransferRow,
  type TransferTable,
} from "../transfer-port.js";
import { rowDamage } from "../transfer/chunks.js";
import type { Connection } from "./statement.js";
import { isDamage } from "./statement-error.js";

/** Most findings of SQLite's own check: one lost page can make thousands of the same kind. */
const MOST_OF_SQLITE = 100;
/** Rows behind a lost page that are read one by one until one can be read. */
const MOST_PROBES = 100_000;

/** Where a table's rows are not all of the table of that name. */
const COLUMN: Partial<Record<TransferTable, Record<string, string>>> = { text: { record: "id" } };

/**
 * How a table's columns are read in the order of {@link TRANSFER}, and the columns that order its
 * rows.
 */
export function columnsOf(table: TransferTable): { columns: string; key: string[] } {
  const { key, columns } = TRANSFER[table];
  const named = (column: string): string => COLUMN[table]?.[column] ?? column;
  return { columns: Object.keys(columns).map(named).join(", "), key: key.map(named) };
}

/**
 * Finds everything in a file that differs from what was written, as far as it can be detected: by
 * SQLite's own check of pages and indexes, then by reading and decoding every row. Nothing is
 * changed; a few rows are in memory at a time.
 */
export function* findDamage(connection: Connection): Generator<FoundDamage, void, undefined> {
  yield* pages(connection);
  for (const table of TRANSFER_TABLES) yield* rows(connection, table);
}

function* pages(connection: Connection): Generator<FoundDamage, void, undefined> {
  try {
    for (const [what] of connection
      .prepare<[string]>(`SELECT integrity_check FROM pragma_integrity_check(${MOST_OF_SQLITE})`)
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
    .get()![0];
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
    for (let probes = 0; at < last && probes < MOST_PROBES; probes++) {
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
