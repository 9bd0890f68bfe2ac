/** Statements that both databases read. The files of this folder write them, each table's in one. */
import { createHash } from "node:crypto";
import { isStorableText } from "./text.js";

/**
 * Why a statement was refused or failed. `SQL`: the text; `PARAMETERS`: not an array, or a wrong
 * number; `VALUE`: a value that the database cannot hold without loss; `ROW`: no row where there is
 * always one; `CLOSED`: the store is closed. PostgreSQL also has `UNREACHED`: no connection could be
 * made; `CONNECTION`: it was lost; `SILENCE`: nothing came over it for too long. Anything else is a
 * SQLSTATE of five characters, or SQLite's own name of the failure, such as `SQLITE_BUSY`.
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

/** True when a UNIQUE or PRIMARY KEY rule refused a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof StatementError &&
  /^(23505|SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID))$/.test(error.code);

/** A value that may be bound. An array is one parameter: a list of texts or of whole numbers. */
export type Value =
  | null
  | number
  | string
  | boolean
  | Uint8Array
  | readonly (string | null)[]
  | readonly (number | null)[];
/** One row, by the order of its columns. */
export type Row = readonly (null | number | string | boolean | Uint8Array)[];
/** A value of a boolean column: SQLite has 0 and 1. */
export type Flag = boolean | number;

/**
 * SQL with `$1`, `$2`, … that is prepared once for each connection. `R` is the type of its rows, as
 * declared by the caller who wrote the SQL.
 */
export interface Statement<R extends Row = Row> {
  readonly text: string;
  /** In PostgreSQL. Empty: the server does not keep it, as one of many that are seldom asked again. */
  readonly name: string;
  readonly parameters: number;
  readonly row?: R;
}

export function statement<R extends Row = Row>(
  text: string,
  { kept = true }: { kept?: boolean } = {},
): Statement<R> {
  if (!isStorableText(text)) throw new StatementError("SQL", "SQL is well-formed text without NUL");
  const parameters = Math.max(
    0,
    // oxlint-disable-next-line arkgraph/spread-into-call -- parameters of one of the service's statements
    ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
  );
  return {
    text,
    name: kept ? `arkgraph_${createHash("sha256").update(text).digest("hex").slice(0, 24)}` : "",
    parameters,
  };
}

/**
 * What statements are sent to. SQLite does each at once, in the same turn of the event loop: nothing
 * comes between two of them.
 */
export interface Statements {
  query<R extends Row>(asked: Statement<R>, values?: readonly Value[]): Promise<R[]>;
  /** The first row, of a statement that finds one or none. */
  first<R extends Row>(asked: Statement<R>, values?: readonly Value[]): Promise<R | undefined>;
  /**
   * The row of a statement that always finds one, such as a count.
   * @throws StatementError `ROW`
   */
  one<R extends Row>(asked: Statement<R>, values?: readonly Value[]): Promise<R>;
  /** @returns how many rows it changed */
  run(asked: Statement, values?: readonly Value[]): Promise<number>;
  /**
   * Other transactions wait for the rows that the statement locks, until this one ends. SQLite has
   * one writer, and nothing to lock.
   */
  lock(rows: Statement, values: readonly Value[]): Promise<void>;
  /** Condition that a column has one of a list of texts, which is one parameter. */
  isOneOf(column: string, list: string): string;
  /** A list of identifiers as a parameter: SQLite finds records by key and identifier. */
  arkList(arks: readonly string[]): Value;
}
