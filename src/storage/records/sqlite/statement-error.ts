import { damaged, unavailable, Undecodable } from "../refusals.js";

/**
 * One row, by the order of its columns: libsql adds a member of its own to rows that are objects.
 */
export type Row = readonly (null | number | string | Uint8Array)[];

/**
 * Why a statement was refused or failed. `SQL`: the text; `PARAMETERS`: not an array, or a wrong
 * number; `VALUE`: a value SQLite cannot hold without loss; `CLOSED`: the connection is closed;
 * anything else is SQLite's own name of the failure, such as `SQLITE_BUSY`.
 */
export class StatementError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "StatementError";
  }
}

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

/** True when a UNIQUE or PRIMARY KEY rule refused a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof StatementError &&
  /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)/.test(error.code);

/**
 * libsql ends the process when it reads TEXT that is not UTF-8, and a damaged page mostly holds
 * such TEXT. So no TEXT ever reaches it: a SELECT is put into one that returns text as BLOBs, which
 * are decoded here, where a failure is an error (decision 47). Every column is guarded, since
 * damage can turn a number or a BLOB into TEXT as well.
 */

/**
 * How one column is returned: `text` in the BLOB of all text, `bytes` always as a BLOB, `number`
 * never as one; `any` with a flag behind the row that says whether it was text.
 */
type Coming = "text" | "bytes" | "number" | "any";

/** A SELECT that libsql may read, and the function that restores the rows of the original. */
export interface GuardedRows {
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
export function guardRows(
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
