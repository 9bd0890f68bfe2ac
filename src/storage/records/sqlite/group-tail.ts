import { checkDeadline, type Step } from "./requests.js";
import type { Connection, Value } from "./statement.js";

/** A row of the search index, as the `text` table holds it. */
export type SearchRow = readonly [
  id: number,
  name: string,
  description: string,
  keywords: string,
  other: string,
];

/**
 * Records in a row that one statement indexes: between two statements the deadline of a commit is
 * checked.
 */
const MOST_AT_ONCE = 1000;

interface Left {
  /** Key → number of the newest commit that gave it a link, or took one. */
  readonly touched: Map<string, number>;
  readonly tally: Map<string, number>;
  readonly search: { op: "index" | "unindex"; row: SearchRow }[];
}
const nothing = (): Left => ({ touched: new Map(), tally: new Map(), search: [] });

/**
 * Rows of a group's requests that are written once, at the end of its transaction: the requests
 * often touch the same rows (the owner that all of them link to, the tally of a kind), and FTS5
 * writes a segment at every savepoint. No request reads the rows that wait here.
 */
export class GroupTail {
  readonly #touch;
  readonly #tally;
  readonly #index;
  readonly #indexRange;
  readonly #unindex;
  #request = nothing();
  #group = nothing();

  constructor(connection: Connection) {
    this.#touch = connection.prepare("UPDATE record SET newest_backlink = ? WHERE key = ?");
    this.#tally = connection.prepare(
      `INSERT INTO tally (kind, live) VALUES (?, ?) ON CONFLICT DO UPDATE
        SET live = live + excluded.live`,
    );
    this.#index = connection.prepare(
      "INSERT INTO search (rowid, name, description, keywords, other) VALUES (?, ?, ?, ?, ?)",
    );
    this.#indexRange = connection.prepare(
      `INSERT INTO search (rowid, name, description, keywords, other)
        SELECT id, name, description, keywords, other FROM text WHERE id BETWEEN ? AND ? ORDER BY id`,
    );
    // External content: the index needs exactly the text that it indexed.
    this.#unindex = connection.prepare(
      `INSERT INTO search (search, rowid, name, description, keywords, other)
        VALUES ('delete', ?, ?, ?, ?, ?)`,
    );
  }

  /** The newest link to this key, or the end of one, is of commit `sequence`. */
  touch(key: string, sequence: number): void {
    this.#request.touched.set(key, sequence);
  }

  /** `by` more live records of the kind. */
  count(kind: string, by: number): void {
    this.#request.tally.set(kind, (this.#request.tally.get(kind) ?? 0) + by);
  }

  index(row: SearchRow): void {
    this.#request.search.push({ op: "index", row });
  }

  unindex(row: SearchRow): void {
    this.#request.search.push({ op: "unindex", row });
  }

  /** The request is done: its rows now belong to the group. */
  keep(): void {
    const { touched, tally, search } = this.#request;
    for (const [key, sequence] of touched) this.#group.touched.set(key, sequence);
    for (const [kind, by] of tally)
      this.#group.tally.set(kind, (this.#group.tally.get(kind) ?? 0) + by);
    for (const one of search) this.#group.search.push(one);
    this.#request = nothing();
  }

  /** The request was rolled back. */
  drop(): void {
    this.#request = nothing();
  }

  /**
   * Writes the rows of the group.
   * @throws StatementError, after which the transaction must be rolled back
   */
  write(): void {
    const left = this.#group;
    this.#group = nothing();
    this.#write(left, () => {});
  }

  /**
   * Writes the rows of the request, within its time. The rows of the group must have been written
   * before: they may concern the same rows.
   * @throws ServiceError past the deadline, StatementError; after both the request must be rolled
   * back
   */
  writeRequest(step: Step): void {
    const left = this.#request;
    this.#request = nothing();
    this.#write(left, () => checkDeadline(step));
  }

  #write({ touched, tally, search }: Left, check: () => void): void {
    for (const [key, sequence] of touched) {
      check();
      this.#touch.put([sequence, key]);
    }
    for (const [kind, by] of tally) if (by !== 0) this.#tally.put([kind, by]);
    for (const [statement, values] of this.#searchWrites(search)) {
      check();
      statement.put(values);
    }
  }

  /**
   * By rising row: FTS5 writes a segment whenever it gets a lower one. New rows without a gap are
   * copied from `text` by one statement, which takes a fifth of the time of one for each.
   */
  *#searchWrites(
    search: Left["search"],
  ): Generator<[{ put(values: readonly Value[]): void }, readonly Value[]]> {
    const sorted = search.toSorted((a, b) => a.row[0] - b.row[0]);
    const isAlone = (at: number): boolean =>
      sorted[at]!.op === "index" &&
      sorted[at - 1]?.row[0] !== sorted[at]!.row[0] &&
      sorted[at + 1]?.row[0] !== sorted[at]!.row[0];
    for (let at = 0; at < sorted.length; at++) {
      const { op, row } = sorted[at]!;
      let last = at;
      if (isAlone(at))
        while (
          last + 1 < sorted.length &&
          last + 1 - at < MOST_AT_ONCE &&
          sorted[last + 1]!.row[0] === sorted[last]!.row[0] + 1 &&
          isAlone(last + 1)
        )
          last++;
      if (last > at) yield [this.#indexRange, [row[0], sorted[last]!.row[0]]];
      else yield [op === "index" ? this.#index : this.#unindex, row];
      at = last;
    }
  }

  /** The transaction was rolled back as a whole. */
  clear(): void {
    this.#request = nothing();
    this.#group = nothing();
  }
}
