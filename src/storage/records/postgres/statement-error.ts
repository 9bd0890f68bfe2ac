import { damaged, unavailable, Undecodable } from "../refusals.js";

/**
 * Why a statement was refused or failed. `SQL`: the text; `PARAMETERS`: not an array, or a wrong
 * number; `VALUE`: a value that PostgreSQL cannot hold without loss; `CLOSED`: the store is closed;
 * `UNREACHED`: no connection could be made; `CONNECTION`: it was lost; `SILENCE`: nothing came over
 * it for too long; anything else is a SQLSTATE of five characters.
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
 * SQLSTATE classes and codes of the server or the way to it, not of the statement: connection
 * exceptions (08), refused log-ins (28), a database that is not there (3D000), a server that only
 * reads (25006), sessions ended while idle (25P03), resources (53), limits of time (57014),
 * shutdown (57P), the system (58), its own faults (XX000), and a pooler that hands the session's
 * prepared statements to others (26000, 42P05).
 */
const OUTAGES =
  /^(CLOSED|UNREACHED|CONNECTION|SILENCE|08|26000|28|3D000|25006|25P03|42P05|53|55P03|57014|57P|58|XX000|40001|40P01)/;
/** An existing connection is lost: another one may work. */
const LOST = /^(CONNECTION|08|57P0[1-5]|25P03)/;

/**
 * A prepared statement is missing, or exists already: only a connection pooler can have mixed up
 * sessions.
 */
const MIXED_UP = ["26000", "42P05"];

/** True for failures of the store itself: it is unavailable for a while. */
export const isOutage = (error: unknown): boolean =>
  error instanceof StatementError && OUTAGES.test(error.code);
/**
 * The server found that pages or indexes differ from what it wrote, or their content cannot be
 * decoded.
 */
export const isDamage = (error: unknown): boolean =>
  error instanceof Undecodable || (error instanceof StatementError && /^XX00[12]/.test(error.code));

/**
 * Converts a failure of the database into the error for the store's caller; other errors stay
 * unchanged.
 */
export function asStoreError(error: unknown): unknown {
  if (isDamage(error)) return damaged((error as Error).message);
  return isOutage(error) ? unavailable((error as Error).message) : error;
}
export const isLost = (error: unknown): boolean =>
  error instanceof StatementError && LOST.test(error.code);
/** Two transactions met (serialization failure, deadlock): the same again may succeed. */
export const isCollision = (error: unknown): boolean =>
  error instanceof StatementError && (error.code === "40001" || error.code === "40P01");

/**
 * Converts an error of the driver into ours. Only an error of the server itself has a severity and
 * a SQLSTATE.
 */
export function failure(
  error: unknown,
  otherwise: "UNREACHED" | "CONNECTION" = "CONNECTION",
): StatementError {
  if (error instanceof StatementError) return error;
  const { code, message, severity } = error as {
    code?: string;
    message?: string;
    severity?: string;
  };
  const errors =
    error instanceof AggregateError
      ? error.errors.map((one) => (one as Error).message).join("; ")
      : "";
  const own = message === "Query read timeout" ? "SILENCE" : otherwise;
  if (severity !== undefined && MIXED_UP.includes(code!)) {
    return new StatementError(
      code!,
      "the connection pooler of the database must support prepared statements for each " +
        "session, as PgBouncer does from 1.21 on where max_prepared_statements is set " +
        `(${message})`,
      { cause: error },
    );
  }
  return new StatementError(
    severity !== undefined && code !== undefined ? code : own,
    message || errors || String(code ?? error),
    { cause: error },
  );
}
