import { takesTooLong } from "../../refusals.js";
import type { Row, Session, Statement, Value } from "../statement.js";

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
export class Sending {
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
    this.#isLate = isLate;
  }

  /** @param rows about how many it writes */
  send<R extends Row>(
    statement: Statement<R>,
    values: readonly Value[] = [],
    rows = 1,
  ): Promise<R[]> {
    // After the first failure PostgreSQL reports for every statement only that the transaction has
    // failed: the first failure holds the reason.
    const sent = this.session.query(statement, values).catch((error: unknown) => {
      throw (this.#failure ??= { error }).error;
    });
    // The caller that waits for all statements gets the failure; until then it is not unhandled.
    sent.catch(() => {});
    this.#pending.push({ sent, rows });
    this.#rows += rows;
    return sent;
  }

  /** Rows of `unnest($1, …)`, in several statements when they are many. */
  async rows(statement: Statement, rows: readonly (readonly unknown[])[]): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS) {
      const some = rows.length <= ROWS ? rows : rows.slice(at, at + ROWS);
      void this.send(statement, columnsOf(some, statement.parameters), some.length);
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
