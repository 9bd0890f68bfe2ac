/** Statements that both databases read, done in SQLite. */
import { getOrInsert } from "../../../get-or-insert.js";
import { type Row, type Statement, type Statements, statement, type Value } from "../statements.js";
import {
  type Connection,
  type Statement as Prepared,
  textArray,
  type Value as Bound,
} from "./statement.js";

const NEXT_SUBMISSION = statement<[number]>("SELECT coalesce(max(number), 0) + 1 FROM submission");

export class TableStatements implements Statements {
  readonly nextSubmission = NEXT_SUBMISSION;
  readonly #prepared = new Map<string, Prepared>();
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async query<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R[]> {
    return this.#prepare(asked).all(values.map(boundOf)) as readonly Row[] as R[];
  }

  async one<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R> {
    return this.#prepare(asked).one(values.map(boundOf)) as Row as R;
  }

  async run(asked: Statement, values: readonly Value[] = []): Promise<number> {
    return this.#prepare(asked).run(values.map(boundOf));
  }

  async lock(): Promise<void> {}

  isOneOf(column: string, list: string): string {
    return `${column} IN (SELECT value FROM json_each(${list}))`;
  }

  #prepare({ text }: Statement): Prepared {
    return getOrInsert(this.#prepared, text, () =>
      this.#connection.prepare(text.replaceAll(/\$(\d)/g, "?$1")),
    );
  }
}

/** SQLite has no booleans and no lists. */
function boundOf(value: Value): Bound {
  if (typeof value === "boolean") return Number(value);
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  return textArray(value as readonly string[]);
}
