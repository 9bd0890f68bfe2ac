import type { ServiceError } from "../../../errors.js";
import { damaged, unavailable, Undecodable } from "../unavailable.js";

/**
 * Why a statement was refused or failed. `SQL`: the text; `PARAMETERS`: not an array, or a wrong number;
 * `VALUE`: a value SQLite cannot hold without loss; `CLOSED`: the connection is closed; anything else is
 * SQLite's own name of the failure, such as `SQLITE_BUSY`.
 */
export class StatementError extends Error {
  constructor(readonly code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StatementError";
  }
}

/** Failures of the file or the machine, not of the statement: the store cannot be used for the moment. */
const OUTAGES = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL)/;

export const isOutage = (error: unknown): boolean =>
  error instanceof StatementError && (error.code === "CLOSED" || OUTAGES.test(error.code));

/** What SQLite says of statements that fit this version's schema when the schema in the file is damaged. */
const SCHEMA = /^(no such (table|column|index|module)|vtable constructor failed|malformed database schema|unknown tokenizer|table \S+ has no column)/;

/** Bytes of the file are not what was written: its pages, or what stands in them. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Undecodable ||
  (error instanceof StatementError && (/^SQLITE_(CORRUPT|NOTADB)/.test(error.code) || (error.code === "SQLITE_ERROR" && SCHEMA.test(error.message))));

/** What a failure of the file is to whoever asked the store; anything else as it is. */
export function asStoreError(error: unknown): ServiceError | unknown {
  if (isDamage(error)) return damaged((error as Error).message);
  return isOutage(error) ? unavailable((error as Error).message) : error;
}

/** True when a UNIQUE or PRIMARY KEY rule refused a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof StatementError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)/.test(error.code);
