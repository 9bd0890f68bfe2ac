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
const OUTAGES = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|CORRUPT|NOTADB|PROTOCOL)/;

export const isOutage = (error: unknown): boolean =>
  error instanceof StatementError && (error.code === "CLOSED" || OUTAGES.test(error.code));

/** True when a UNIQUE or PRIMARY KEY rule refused a row. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof StatementError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)/.test(error.code);
