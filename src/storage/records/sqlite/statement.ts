/**
 * Statements to SQLite, the only way to the driver: what is bound is checked, errors are
 * translated.
 */
import Database from "libsql";
import { arkKey } from "../../../identifiers/ark.js";
import { asSent, damaged, type SentError, Undecodable, unavailable } from "../refusals.js";
import { StatementError } from "../statements.js";
import { isStorableText } from "../text.js";

export { StatementError };

/**
 * One row, by the order of its columns: libsql adds a member of its own to rows that are objects.
 */
export type Row = readonly (null | number | string | Uint8Array)[];

/**
 * Failures of the file or the machine, not of the statement: the store is unavailable for a while.
 */
const OUTAGES = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL)/;

export const isOutage = (error: unknown): boolean =>
  error instanceof StatementError && (error.code === "CLOSED" || OUTAGES.test(error.code));

/**
 * SQLite's messages about statements that fit this version's schema when the schema in the file is
 * damaged.
 */
const SCHEMA = new RegExp(
  String.raw`^(no such (table|column|index|module)|vtable constructor failed|malformed database schem` +
    String.raw`a|unknown tokenizer|table \S+ has no column)`,
);

/** Bytes of the file differ from those written: its pages, or the content of them. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Undecodable ||
  (error instanceof StatementError &&
    (/^SQLITE_(CORRUPT|NOTADB)/.test(error.code) ||
      (error.code === "SQLITE_ERROR" && SCHEMA.test(error.message))));

/**
 * Converts a failure of the file into the error for the store's caller; other errors stay
 * unchanged.
 */
export function asStoreError(error: unknown): unknown {
  if (isDamage(error)) return damaged((error as Error).message);
  return isOutage(error) ? unavailable((error as Error).message) : error;
}

/** An error in the form that is sent to another thread. */
export const sendError = (error: unknown): SentError => asSent(error, asStoreError);

/**
 * libsql ends the process when it reads TEXT that is not UTF-8, and a damaged page mostly holds
 * such TEXT. So no TEXT ever reaches it: a SELECT is put into one that returns text as BLOBs, which
 * are decoded here, where a failure is an error. Every column is guarded, since damage can turn a number
 * or a BLOB into TEXT as well.
 */

/**
 * How one column is returned: `text` in the BLOB of all text, `bytes` always as a BLOB, `number`
 * never as one; `any` with a flag behind the row that says whether it was text.
 */
type Coming = "text" | "bytes" | "number" | "any";

/** A SELECT that libsql may read, and the function that restores the rows of the original. */
interface GuardedRows {
  readonly sql: string;
  /** @throws StatementError `SQLITE_CORRUPT` */
  restore(row: (null | number | string | Uint8Array)[]): Row;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const damagedRow = (column: number, what: string): StatementError =>
  new StatementError("SQLITE_CORRUPT", `column ${column + 1} of a row holds ${what}`);

function decode(bytes: Uint8Array, column: number): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw damagedRow(column, "text that is not UTF-8");
  }
}

function comingOf(declared: string | null): Coming {
  switch (declared?.toUpperCase()) {
    case "TEXT":
      return "text";
    case "BLOB":
      return "bytes";
    case "INTEGER":
    case "INT":
    case "REAL":
      return "number";
    default:
      return "any";
  }
}

function expression(coming: Exclude<Coming, "text">, name: string): string {
  return coming === "bytes"
    ? `CAST(${name} AS BLOB)`
    : `iif(typeof(${name}) = 'text', CAST(${name} AS BLOB), ${name})`;
}

/**
 * All text of a row as one BLOB: one for each column took three times as long. Stored text has no
 * NUL; a part is empty for NULL.
 */
const joined = (names: readonly string[]): string =>
  `CAST(${names.map((name) => `ifnull('=' || ${name}, '')`).join(" || char(0) || ")} AS BLOB)`;

/**
 * @param columns of the original; `undefined` for a statement that is no SELECT: a PRAGMA, EXPLAIN
 * or RETURNING, whose text is SQLite's or was just written
 */
function guardRows(
  original: string,
  columns: readonly { type: string | null }[],
): GuardedRows | undefined {
  if (!/^\s*(?:SELECT|WITH|VALUES)\b/i.test(original)) return undefined;
  const coming = columns.map(({ type }) => comingOf(type));
  const names = columns.map((_, index) => `c${index}`);
  const flagged = coming.flatMap((each, index) => (each === "any" ? [index] : []));
  const texts = coming.flatMap((each, index) => (each === "text" ? [index] : []));
  const others = coming.flatMap((each, index) =>
    each === "text" ? [] : [{ index, coming: each }],
  );
  const outer = [
    ...(texts.length > 0 ? [joined(texts.map((index) => names[index]!))] : []),
    ...others.map((other) => expression(other.coming, names[other.index]!)),
    ...flagged.map((index) => `typeof(${names[index]}) = 'text'`),
  ];
  // The line ends a comment at the end of the original.
  const sql =
    `WITH guarded_ (${names.join(", ")}) AS (${original.replace(/;\s*$/, "")}\n) SELECT ` +
    `${outer.join(", ")} FROM guarded_`;
  const first = texts.length > 0 ? 1 : 0;
  /** By column: where its value is among the texts, or behind the BLOB of these. */
  const places = coming.map((each, index) =>
    each === "text"
      ? texts.indexOf(index)
      : first + others.findIndex((other) => other.index === index),
  );
  const flags = first + others.length;
  return {
    sql,
    restore(came) {
      const parts = first === 1 ? decode(came[0] as Uint8Array, texts[0]!).split("\0") : [];
      if (parts.length !== texts.length) throw damagedRow(texts[0]!, "text with NUL");
      const row: Row[number][] = [];
      for (let index = 0; index < coming.length; index++) {
        const how = coming[index]!;
        if (how === "text") {
          const part = parts[places[index]!]!;
          row.push(part === "" ? null : part.slice(1));
          continue;
        }
        const value = came[places[index]!]!;
        if (how === "number" && typeof value === "object" && value !== null)
          throw damagedRow(index, "text or bytes in place of a number");
        row.push(value);
      }
      for (let at = 0; at < flagged.length; at++)
        if (came[flags + at] === 1)
          row[flagged[at]!] = decode(row[flagged[at]!] as Uint8Array, flagged[at]!);
      return row;
    },
  };
}

/**
 * Parts of SQL text that may hold a `?` or `;` without meaning: strings, quoted names, comments.
 */
const TOKEN = new RegExp(
  "'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^\\]]*\\]|--[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)|" +
    "\\?(\\d*)|([:@$][A-Za-z_]\\w*)|(;)|(\\s+)|([^\\s'\"`[?;])",
  "g",
);

/**
 * Counts the parameters of one SQL statement: `?` takes the number after the largest so far, `?N`
 * is number N.
 * @throws StatementError `SQL` for named parameters, no statement, or more than one (libsql runs
 * only the first and says nothing)
 */
export function countPlaceholders(sql: string): number {
  let largest = 0;
  let seen = false;
  let ended = false;
  for (const match of sql.matchAll(TOKEN)) {
    const [text, number, named, semicolon, blank] = match;
    if (blank !== undefined || text.startsWith("--") || text.startsWith("/*")) continue;
    if (ended)
      throw new StatementError(
        "SQL",
        "one statement at a time: there is more SQL after the semicolon",
      );
    if (semicolon !== undefined) {
      ended = true;
      continue;
    }
    seen = true;
    if (named !== undefined)
      throw new StatementError("SQL", `named parameter ${named}: parameters are ? or ?N`);
    if (number !== undefined)
      largest = number === "" ? largest + 1 : Math.max(largest, Number(number));
  }
  if (!seen) throw new StatementError("SQL", "there is no statement in the text");
  return largest;
}

/**
 * The only importer of `libsql`. Version 0.5.29 ends the whole process, without an exception and
 * from a thread too, when it is given a boolean, a lone object or a Buffer in place of an array of
 * parameters, or reads TEXT that is not UTF-8; it cuts strings at NUL and accepts a wrong number of
 * parameters. A statement whose `get` once failed repeats that failure for ever, and `get` after
 * `all` or `iterate` still has the parameters of those. So every value is checked first, a
 * statement that failed is prepared anew, walks have a prepared statement of their own, text is
 * read as bytes and decoded here, and every failure is a {@link StatementError}.
 */

/** A value that may be bound. Integers beyond 2^53 are bigint, within int64. */
export type Value = null | number | bigint | string | Uint8Array;

const INT64 = 2n ** 63n;

/**
 * JSON array of strings for `json_each`, the way a list is one parameter.
 * @throws StatementError `VALUE`
 */
export function textArray(values: readonly string[]): string {
  for (const value of values) {
    if (typeof value !== "string" || !isStorableText(value))
      throw new StatementError(
        "VALUE",
        "a list holds something other than well-formed text without NUL",
      );
  }
  return JSON.stringify(values);
}

function checkValue(value: unknown, position: number): void {
  switch (typeof value) {
    case "string":
      if (isStorableText(value)) return;
      throw new StatementError("VALUE", `parameter ${position}: text with NUL or a lone surrogate`);
    case "number":
      if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
        return;
      throw new StatementError(
        "VALUE",
        `parameter ${position}: a number that is not finite, or an integer beyond 2^53`,
      );
    case "bigint":
      if (value >= -INT64 && value < INT64) return;
      throw new StatementError("VALUE", `parameter ${position}: an integer beyond 64 bits`);
    default:
      // A Uint8Array on shared memory could change while it is read.
      if (value === null || (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer))
        return;
      throw new StatementError(
        "VALUE",
        `parameter ${position}: ${value === undefined ? "undefined" : typeof value} cannot ` +
          "be bound",
      );
  }
}

function failure(error: unknown): StatementError {
  if (error instanceof StatementError) return error;
  const { code, message } = error as { code?: string; message?: string };
  return new StatementError(
    typeof code === "string" && code !== ""
      ? code
      : /ConnectionFailed/.test(message ?? "")
        ? "SQLITE_CANTOPEN"
        : "SQLITE",
    String(message ?? error),
    { cause: error },
  );
}

/** One prepared statement. Rows come as arrays typed by the caller, who wrote the SQL. */
export class Statement<R extends Row = Row> {
  readonly parameters: number;
  #single: Database.Statement | undefined;
  #walk: Database.Statement | undefined;
  readonly #reads: boolean;
  readonly #guarded: GuardedRows | undefined;
  readonly #connection: Connection;

  readonly #database: Database.Database;

  /** Use {@link Connection.prepare}. */
  constructor(
    connection: Connection,
    database: Database.Database,
    readonly sql: string,
  ) {
    this.#database = database;

    if (typeof sql !== "string" || !isStorableText(sql))
      throw new StatementError("SQL", "SQL is well-formed text without NUL");
    this.parameters = countPlaceholders(sql);
    this.#connection = connection;
    const first = this.#prepare(sql);
    this.#reads = first.reader;
    this.#guarded = first.reader ? guardRows(sql, first.columns()) : undefined;
    this.#single = this.#guarded ? this.#prepare(this.#guarded.sql) : first;
  }

  /** What SQLite runs for it: its plan is the one that counts. */
  get executed(): string {
    return this.#guarded?.sql ?? this.sql;
  }

  /** First row, or `undefined`. */
  get(values: readonly Value[] = []): R | undefined {
    const checked = this.#check(values);
    try {
      const row = (this.#single ??= this.#prepare()).get(checked) as R | undefined;
      return row === undefined ? undefined : this.#restored(row);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * The row of a statement that always finds one, such as a count.
   * @throws StatementError `ROW`
   */
  one(values: readonly Value[] = []): R {
    const row = this.get(values);
    if (row === undefined) throw new StatementError("ROW", `no row is found by: ${this.sql}`);
    return row;
  }

  all(values: readonly Value[] = []): R[] {
    return [...this.iterate(values)];
  }

  /** Rows one at a time; an unfinished walk holds its view of the file, so end it soon. */
  *iterate(values: readonly Value[] = []): Generator<R, void, undefined> {
    const checked = this.#check(values);
    let left = true;
    try {
      for (const row of (this.#walk ??= this.#prepare()).iterate(checked))
        yield this.#restored(row as R);
      left = false;
    } catch (error) {
      left = false;
      throw this.#failed(error);
    } finally {
      if (left) this.#end(checked);
    }
  }

  /**
   * Ends a walk that its reader left: libsql would keep the connection's view of the file, so that
   * no later read sees a later commit. Reading one row resets the statement.
   */
  #end(checked: Value[]): void {
    try {
      this.#walk?.get(checked);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * Runs without asking how many rows changed, which saves libsql a third of the time of a small
   * insert.
   */
  put(values: readonly Value[] = []): void {
    this.get(values);
  }

  /**
   * Number of rows changed. Not for statements that return rows: libsql would leave them half done.
   */
  run(values: readonly Value[] = []): number {
    const checked = this.#check(values);
    if (this.#reads)
      throw new StatementError("SQL", "a statement that gives rows is read with get or all");
    try {
      return (this.#single ??= this.#prepare()).run(checked).changes;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #restored(row: R): R {
    return this.#guarded ? (this.#guarded.restore(row as never) as R) : row;
  }

  #prepare(sql = this.#guarded?.sql ?? this.sql): Database.Statement {
    try {
      const statement = this.#database.prepare(sql);
      if (statement.reader) statement.raw(true);
      return statement;
    } catch (error) {
      throw failure(error);
    }
  }

  /** A failed statement is prepared again at its next use. */
  #failed(error: unknown): StatementError {
    this.#single = undefined;
    this.#walk = undefined;
    return failure(error);
  }

  /** A plain array: libsql reads a subclass or a proxy differently from what was checked here. */
  #check(values: readonly Value[]): Value[] {
    if (!this.#connection.open) throw new StatementError("CLOSED", "the connection is closed");
    if (!Array.isArray(values))
      throw new StatementError("PARAMETERS", "parameters come as one array");
    const { length } = values;
    if (length !== this.parameters)
      throw new StatementError(
        "PARAMETERS",
        `${length} parameters for ${this.parameters} placeholders`,
      );
    const checked: Value[] = [];
    for (let i = 0; i < length; i++) {
      const value = values[i]!;
      checkValue(value, i + 1);
      checked.push(value);
    }
    return checked;
  }
}

/** One connection to a database file, for one thread. */
export class Connection {
  readonly #database: Database.Database;
  #open = true;

  /** @param busyTimeout ms to wait for a lock of another connection */
  constructor(file: string, busyTimeout = 0) {
    if (typeof file !== "string" || !isStorableText(file))
      throw new StatementError("SQL", "the name of the file is well-formed text without NUL");
    try {
      this.#database = new Database(file, { timeout: busyTimeout });
    } catch (error) {
      throw failure(error);
    }
  }

  get open(): boolean {
    return this.#open;
  }

  get inTransaction(): boolean {
    return this.#open && this.#database.inTransaction;
  }

  prepare<R extends Row = Row>(sql: string): Statement<R> {
    this.#mustBeOpen();
    return new Statement<R>(this, this.#database, sql);
  }

  /** Runs SQL without parameters, several statements if need be. */
  exec(sql: string): void {
    this.#mustBeOpen();
    if (typeof sql !== "string" || !isStorableText(sql))
      throw new StatementError("SQL", "SQL is well-formed text without NUL");
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw failure(error);
    }
  }

  /** First column of the first row of a PRAGMA. */
  pragma(source: string): Row[number] | undefined {
    return this.prepare(`PRAGMA ${source}`).get()?.[0];
  }

  /** Runs `work` in one transaction; an error that it throws rolls everything back. */
  transaction<T>(work: () => T, mode: "DEFERRED" | "IMMEDIATE" | "EXCLUSIVE" = "IMMEDIATE"): T {
    this.exec(`BEGIN ${mode}`);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite has already rolled back after some failures, e.g. a full disk.
      if (this.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#database.close();
  }

  #mustBeOpen(): void {
    if (!this.#open) throw new StatementError("CLOSED", "the connection is closed");
  }
}

/**
 * JSON array of `[key, identifier]` for `json_each`: records are found by both, which one index
 * holds.
 *
 * @throws StatementError `VALUE` when one is no text that can be stored
 */
export const arkArray = (arks: readonly string[]): string =>
  `[${arks.map((ark) => textArray([arkKey(ark), ark])).join(",")}]`;
