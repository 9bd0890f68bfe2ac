/** Statements that both databases read, done in SQLite. */
import { getOrInsert } from "../../../get-or-insert.js";
import { type Row, type Statement, type Statements, type Value } from "../statements.js";
import {
  arkArray,
  type Connection,
  type Statement as Prepared,
  textArray,
  type Value as Bound,
} from "./statement.js";

export class TableStatements implements Statements {
  readonly #prepared = new Map<string, Prepared>();
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async query<R extends Row>(asked: Statement<R>, values: readonly Value[] = []): Promise<R[]> {
    return this.#prepare(asked).all(values.map(boundOf)) as readonly Row[] as R[];
  }

  async first<R extends Row>(
    asked: Statement<R>,
    values: readonly Value[] = [],
  ): Promise<R | undefined> {
    return this.#prepare(asked).get(values.map(boundOf)) as Row | undefined as R | undefined;
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

  arkList(arks: readonly string[]): string {
    return arkArray(arks);
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
  return typeof value[0] === "number"
    ? JSON.stringify(value)
    : textArray(value as readonly string[]);
}
