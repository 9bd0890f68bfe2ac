import { createHash } from "node:crypto";
import pg from "pg";
import type { PoolLoad } from "../../connections.js";
import { isStorableText } from "../text.js";
import { failure, isLost, StatementError } from "./statement-error.js";

/**
 * Reads of PostgreSQL's own types, by their object identifiers. The driver knows values as text
 * only.
 */
const TYPES: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t", // boolean
  17: bytesOf, // bytea
  20: integerOf, // bigint
  21: Number, // smallint
  23: Number, // integer
  25: (text) => text, // text
  700: Number, // real
  701: Number, // double precision
  1043: (text) => text, // varchar
};

/**
 * `\x` and two hex digits for each byte. An array of its own: small Buffers are slices of a shared
 * pool.
 */
function bytesOf(text: string): Uint8Array {
  if (!text.startsWith("\\x"))
    throw new StatementError(
      "VALUE",
      "bytes came in another form than hex; leave bytea_output as it is by default",
    );
  const bytes = new Uint8Array((text.length - 2) / 2);
  Buffer.from(bytes.buffer).write(text.slice(2), "hex");
  return bytes;
}

function integerOf(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new StatementError("VALUE", "a column holds an integer beyond 2^53");
  return value;
}

/**
 * Reads a value of a type. Statements return these types only; results of SQL without parameters
 * are not read.
 */
function readerOf(type: number): (text: string) => unknown {
  return TYPES[type] ?? ((text) => text);
}

/**
 * The only importer of `pg`. Text that PostgreSQL would refuse (NUL) or that would change on its
 * way (a lone surrogate) is refused here, integers stay exact, a statement is always prepared under
 * a name of its own, and every failure is a {@link StatementError}.
 */

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

/**
 * SQL with `$1`, `$2`, … that is prepared once for each connection. `R` is the type of its rows, as
 * declared by the caller who wrote the SQL.
 */
export interface Statement<R extends Row = Row> {
  readonly text: string;
  /** Empty: the server does not keep it, as one of many that are seldom asked again. */
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
    ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
  );
  return {
    text,
    name: kept ? `arkgraph_${createHash("sha256").update(text).digest("hex").slice(0, 24)}` : "",
    parameters,
  };
}

const refuse = (position: number, what: string): never => {
  throw new StatementError("VALUE", `parameter ${position}: ${what}`);
};
function checkText(text: string, position: number): string {
  return isStorableText(text) ? text : refuse(position, "text with NUL or a lone surrogate");
}
function checkNumber(value: number, position: number): number {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? value
    : refuse(position, "a number that is not finite, or an integer beyond 2^53");
}

/** A list as PostgreSQL writes arrays. */
function arrayText(values: readonly unknown[], position: number): string {
  let text = "{";
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ",";
    if (value === null) text += "NULL";
    else if (typeof value === "number") text += checkNumber(value, position);
    else if (typeof value === "string")
      text += `"${/["\\]/.test(checkText(value, position)) ? value.replace(/["\\]/g, "\\$&") : value}"`;
    else refuse(position, `a list with ${typeof value}`);
  }
  return `${text}}`;
}

function bound(value: Value, position: number): string | Buffer | null {
  if (value === null) return null;
  if (typeof value === "string") return checkText(value, position);
  if (typeof value === "number") return String(checkNumber(value, position));
  if (typeof value === "boolean") return value ? "t" : "f";
  if (value instanceof Uint8Array)
    return value instanceof Buffer
      ? value
      : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return arrayText(value, position);
  return refuse(position, `${typeof value} cannot be bound`);
}

function queryOf(
  { text, name, parameters }: Statement,
  values: readonly Value[],
): pg.QueryArrayConfig {
  if (values.length !== parameters)
    throw new StatementError(
      "PARAMETERS",
      `${values.length} parameters for ${parameters} placeholders`,
    );
  return {
    text,
    name,
    rowMode: "array",
    values: values.map((value, index) => bound(value, index + 1)),
  };
}

/**
 * One connection, held for a transaction. Statements are sent at once, in order, without waiting
 * for the one before.
 */
export class Session {
  #lost: Error | undefined;
  readonly #onError = (error: Error): void => void (this.#lost ??= error);

  readonly client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.client = client;

    client.on("error", this.#onError);
  }

  async query<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R[]> {
    const query = queryOf(asked, values);
    try {
      return (await this.client.query(query)).rows as unknown as R[];
    } catch (error) {
      throw failure(error);
    }
  }

  /**
   * Runs statements without parameters; returns the last command, e.g. `COMMIT`. When PostgreSQL
   * could not do a COMMIT it answers `ROLLBACK`.
   */
  async exec(sql: string): Promise<string> {
    try {
      const done = (await this.client.query(sql)) as pg.QueryResult | pg.QueryResult[];
      return (Array.isArray(done) ? done.at(-1)! : done).command;
    } catch (error) {
      throw failure(error);
    }
  }

  /** @param broken its state is not known: it is closed rather than used again */
  release(broken = false): void {
    this.client.off("error", this.#onError);
    this.client.release(broken || this.#lost !== undefined);
  }
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  url: string;
  /** Most connections. */
  pool: number;
  /** ms for one statement. */
  timeout: number;
  /** ms to make a connection, or to wait for one that is free. */
  connectTimeout: number;
  log(message: string): void;
}

/**
 * ms that a transaction may wait for the next statement; past it the server ends it, so that a node
 * which stands still holds no lock.
 */
const IDLE_IN_TRANSACTION = 10_000;
/**
 * ms that a statement's answer may be late beyond the server's own limit, before the connection
 * counts as lost.
 */
const LATE = 5_000;

/** A pool of connections. */
export class Database {
  readonly #pool: pg.Pool;
  #closed = false;

  constructor({ url, pool, timeout, connectTimeout, log }: DatabaseOptions) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: pool,
      connectionTimeoutMillis: connectTimeout,
      statement_timeout: timeout,
      query_timeout: timeout + LATE,
      idle_in_transaction_session_timeout: Math.min(IDLE_IN_TRANSACTION, timeout),
      keepAlive: true,
      application_name: "arkgraph",
      pipeline: true,
      types: { getTypeParser: readerOf as pg.CustomTypesConfig["getTypeParser"] },
    });
    // Without a listener a server's last message would end the process, and there is no other
    // listener while the pool hands a connection out, and once it is given up. The connection is
    // not used again: the next statement on it reports the fault.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    // An idle connection was lost; the pool has dropped it already.
    this.#pool.on("error", (error) =>
      log(`A connection to the database was lost: ${error.message}`),
    );
  }

  /**
   * One statement by itself. Only for statements that may run twice: when the connection turns out
   * to be lost, the statement is sent again.
   */
  async query<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R[]> {
    try {
      return await this.#once(asked, values);
    } catch (error) {
      if (!isLost(error)) throw error;
      return this.#once(asked, values);
    }
  }

  /**
   * Reads from one snapshot of the database. They are repeated on another connection when theirs
   * turns out to be lost.
   */
  async snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const mode = "ISOLATION LEVEL REPEATABLE READ READ ONLY";
    try {
      return await this.transaction(mode, work);
    } catch (error) {
      if (!isLost(error)) throw error;
      return this.transaction(mode, work);
    }
  }

  /** An error that it throws rolls everything back. */
  async transaction<T>(mode: string, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.session();
    let broken = true;
    try {
      await session.exec(`BEGIN ${mode}`);
      const result = await work(session);
      if ((await session.exec("COMMIT")) !== "COMMIT")
        throw new StatementError("25P02", "the transaction had failed");
      broken = false;
      return result;
    } finally {
      // Closing the connection ends its transaction.
      session.release(broken);
    }
  }

  async session(): Promise<Session> {
    if (this.#closed) throw new StatementError("CLOSED", "the store is closed");
    try {
      return new Session(await this.#pool.connect());
    } catch (error) {
      throw failure(error, "UNREACHED");
    }
  }

  load(): PoolLoad {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { total, idle, waiting };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end();
  }

  async #once<R extends Row>(asked: Statement<R>, values: readonly Value[]): Promise<R[]> {
    const session = await this.session();
    let broken = false;
    try {
      return await session.query(asked, values);
    } catch (error) {
      broken = isLost(error) || (error as StatementError).code === "SILENCE";
      throw error;
    } finally {
      session.release(broken);
    }
  }
}
