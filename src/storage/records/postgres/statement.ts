/**
 * Statements to PostgreSQL, the only way to the driver: what is bound is checked, errors are
 * translated, and several are sent together.
 */
import pg from "pg";
import type { PoolLoad } from "../../connections.js";
import { damaged, takesTooLong, Undecodable, unavailable } from "../refusals.js";
import {
  type Row,
  type Statement,
  StatementError,
  type Statements,
  statement,
  type Value,
} from "../statements.js";
import { isStorableText } from "../text.js";

export { type Row, type Statement, StatementError, statement, type Value };

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

/** @throws StatementError `VALUE` */
function check(value: unknown, position: number): void {
  const refuse = (what: string): never => {
    throw new StatementError("VALUE", `parameter ${position}: ${what}`);
  };
  if (value === null || typeof value === "boolean" || value instanceof Uint8Array) return;
  if (typeof value === "string") {
    if (!isStorableText(value)) refuse("text with NUL or a lone surrogate");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      refuse("a number that is not finite, or an integer beyond 2^53");
  } else if (Array.isArray(value)) {
    for (const one of value)
      if (one !== null && typeof one !== "string" && typeof one !== "number")
        refuse(`a list with ${typeof one}`);
      else check(one, position);
  } else refuse(`${typeof value} cannot be bound`);
}

/** A list as `jsonb_to_recordset` reads it. */
const jsonText = (objects: readonly object[]): string =>
  JSON.stringify(objects, (_, value: unknown) => {
    if (typeof value === "string" || typeof value === "number") check(value, 1);
    return value;
  });

function queryOf(
  { text, name, parameters }: Statement,
  values: readonly Value[],
): pg.QueryArrayConfig {
  if (values.length !== parameters)
    throw new StatementError(
      "PARAMETERS",
      `${values.length} parameters for ${parameters} placeholders`,
    );
  for (const [index, value] of values.entries()) check(value, index + 1);
  return { text, name, rowMode: "array", values: [...values] };
}

/**
 * The row of a statement that always finds one, such as a count.
 * @throws StatementError `ROW`
 */
export function oneOf<R extends Row>(asked: Statement<R>, [row]: readonly R[]): R {
  if (row === undefined) throw new StatementError("ROW", `no row is found by: ${asked.text}`);
  return row;
}

interface Answer<R extends Row> {
  rows: R[];
  changed: number;
}

/** What statements are sent to: a pool, one connection, or a transaction on its way. */
abstract class Receiver implements Statements {
  abstract answer<R extends Row>(asked: Statement<R>, values: readonly Value[]): Promise<Answer<R>>;

  async query<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R[]> {
    return (await this.answer(asked, values)).rows;
  }

  async first<R extends Row>(
    asked: Statement<R>,
    values: readonly Value[] = [],
  ): Promise<R | undefined> {
    return (await this.query(asked, values))[0];
  }

  async one<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R> {
    return oneOf(asked, await this.query(asked, values));
  }

  async run(asked: Statement, values: readonly Value[] = []): Promise<number> {
    return (await this.answer(asked, values)).changed;
  }

  async lock(rows: Statement, values: readonly Value[]): Promise<void> {
    await this.query(rows, values);
  }

  isOneOf(column: string, list: string): string {
    return `${column} = ANY(${list}::text[])`;
  }

  arkList(arks: readonly string[]): readonly string[] {
    return arks;
  }
}

/**
 * One connection, held for a transaction. Statements are sent at once, in order, without waiting
 * for the one before.
 */
export class Session extends Receiver {
  #lost: Error | undefined;
  readonly #onError = (error: Error): void => void (this.#lost ??= error);

  readonly client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    super();
    this.client = client;

    client.on("error", this.#onError);
  }

  async answer<R extends Row>(asked: Statement<R>, values: readonly Value[]): Promise<Answer<R>> {
    const query = queryOf(asked, values);
    try {
      const { rows, rowCount } = await this.client.query(query);
      return { rows: rows as unknown as R[], changed: rowCount ?? 0 };
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

/**
 * PostgreSQL's default takes a page out of order to cost as much as four in order, as on rotating
 * disks: among private records it then sorts all open ones, in place of reading the first of an
 * index. 1.1 is what its manual gives for solid-state drives. Another value that an operator has set
 * stays.
 */
const PAGE_COST = `SELECT set_config('random_page_cost', '1.1', false)
  WHERE current_setting('random_page_cost') = '4'`;

/** A pool of connections. */
export class Database extends Receiver {
  readonly #pool: pg.Pool;
  #closed = false;

  constructor({ url, pool, timeout, connectTimeout, log }: DatabaseOptions) {
    super();
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
      onConnect: (client) => client.query(PAGE_COST),
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
  async answer<R extends Row>(asked: Statement<R>, values: readonly Value[]): Promise<Answer<R>> {
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

  async #once<R extends Row>(asked: Statement<R>, values: readonly Value[]): Promise<Answer<R>> {
    const session = await this.session();
    let broken = false;
    try {
      return await session.answer(asked, values);
    } catch (error) {
      broken = isLost(error) || (error as StatementError).code === "SILENCE";
      throw error;
    } finally {
      session.release(broken);
    }
  }
}

/** Rows of one statement. */
const ROWS = 2000;
/** Rows of the statements that are on their way at a time. */
const UNDER_WAY = 2 * ROWS;
/** Bytes of one statement. */
const BYTES = 4 * 2 ** 20;

/** Turns rows into columns: each is one parameter, an array. */
export const columnsOf = (rows: readonly (readonly unknown[])[], width: number): Value[] =>
  Array.from({ length: width }, (_, column) => rows.map((row) => row[column]) as Value);

/** Sends statements of a transaction without waiting for each answer. */
export class Sending extends Receiver {
  #pending: { sent: Promise<unknown>; rows: number }[] = [];
  /** Rows of the statements that are on their way. */
  #rows = 0;
  #failure: { error: unknown } | undefined;

  readonly #isLate: () => boolean;

  /** @param isLate whether the transaction has blocked others for as long as it may */
  constructor(
    readonly session: Session,
    isLate: () => boolean = () => false,
  ) {
    super();
    this.#isLate = isLate;
  }

  answer<R extends Row>(
    asked: Statement<R>,
    values: readonly Value[],
    rows = 1,
  ): Promise<Answer<R>> {
    // After the first failure PostgreSQL reports for every statement only that the transaction has
    // failed: the first failure holds the reason.
    const sent = this.session.answer(asked, values).catch((error: unknown) => {
      throw (this.#failure ??= { error }).error;
    });
    // The caller that waits for all statements gets the failure; until then it is not unhandled.
    sent.catch(() => {});
    this.#pending.push({ sent, rows });
    this.#rows += rows;
    return sent;
  }

  /**
   * For a caller that need not wait.
   * @param rows about how many it writes
   */
  send<R extends Row>(asked: Statement<R>, values: readonly Value[] = [], rows = 1): Promise<R[]> {
    const found = this.answer(asked, values, rows).then((answer) => answer.rows);
    found.catch(() => {});
    return found;
  }

  /** Asks for the rows that concern some of a list; nothing is asked for an empty one. */
  ask<R extends Row>(statement: Statement<R>, list: readonly (string | number)[]): Promise<R[]> {
    return list.length === 0
      ? Promise.resolve([])
      : this.send(statement, [[...new Set(list)] as Value]);
  }

  /** Rows of `unnest($1, …)`, in several statements when they are many. */
  async rows(statement: Statement, rows: readonly (readonly unknown[])[]): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS) {
      const some = rows.length <= ROWS ? rows : rows.slice(at, at + ROWS);
      void this.send(statement, columnsOf(some, statement.parameters), some.length);
      await this.breathe();
    }
  }

  /** Rows of `jsonb_to_recordset($1)`, in several statements when they are many. */
  async objects(statement: Statement, objects: readonly object[]): Promise<void> {
    for (let at = 0; at < objects.length; at += ROWS) {
      const some = objects.slice(at, at + ROWS);
      void this.send(statement, [jsonText(some)], some.length);
      await this.breathe();
    }
  }

  /**
   * Rows with bytes, which are one parameter together: PostgreSQL cuts each row's bytes out, and
   * nothing is spelled in hex.
   * @param rows the other columns, and the bytes
   */
  async rowsWithBytes(
    statement: Statement,
    rows: readonly { columns: readonly unknown[]; bytes: readonly Uint8Array[] }[],
  ): Promise<void> {
    let batch: (typeof rows)[number][] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      const chunks = batch.flatMap(({ bytes }) => bytes);
      let from = 1;
      const places = batch.map(({ columns, bytes }) => [
        ...columns,
        ...bytes.flatMap(({ byteLength }) => [(from += byteLength) - byteLength, byteLength]),
      ]);
      void this.send(
        statement,
        [Buffer.concat(chunks), ...columnsOf(places, statement.parameters - 1)],
        batch.length,
      );
      [batch, size] = [[], 0];
      await this.breathe();
    };
    for (const row of rows) {
      batch.push(row);
      for (const { byteLength } of row.bytes) size += byteLength;
      if (batch.length === ROWS || size > BYTES) await flush();
    }
    if (batch.length > 0) await flush();
  }

  /** Waits for everything sent so far. @throws the first failure */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#rows = 0;
    await Promise.all(pending.map(({ sent }) => sent));
    if (this.#isLate()) throw takesTooLong();
  }

  /**
   * Waits until more may be sent: the database works on some statements while the next ones are
   * made.
   */
  async breathe(): Promise<void> {
    if (this.#failure) await this.settle();
    while (this.#rows > UNDER_WAY) {
      const { sent, rows } = this.#pending.shift()!;
      this.#rows -= rows;
      await sent;
    }
    if (this.#isLate()) throw takesTooLong();
  }
}
