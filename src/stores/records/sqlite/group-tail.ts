import type { Connection } from "./statement.js";

/** A row of the search index, as the `text` table holds it. */
export type SearchRow = readonly [id: number, name: string, description: string, keywords: string, other: string];

interface Left {
  /** Key → number of the newest commit that gave it a link, or took one. */
  readonly touched: Map<string, number>;
  readonly tally: Map<string, number>;
  readonly search: { op: "index" | "unindex"; row: SearchRow }[];
}
const nothing = (): Left => ({ touched: new Map(), tally: new Map(), search: [] });

/**
 * What the requests of a group leave to be written once, at the end of its transaction: they often touch the same
 * rows (the owner that all of them link to, the tally of a kind), and FTS5 writes a segment at every savepoint.
 * No request reads what waits here.
 */
export class GroupTail {
  readonly #touch;
  readonly #tally;
  readonly #index;
  readonly #unindex;
  #request = nothing();
  #group = nothing();

  constructor(connection: Connection) {
    this.#touch = connection.prepare("UPDATE record SET newest_backlink = ? WHERE key = ?");
    this.#tally = connection.prepare("INSERT INTO tally (kind, live) VALUES (?, ?) ON CONFLICT DO UPDATE SET live = live + excluded.live");
    this.#index = connection.prepare("INSERT INTO search (rowid, name, description, keywords, other) VALUES (?, ?, ?, ?, ?)");
    // External content: the index must be told what it indexed, exactly.
    this.#unindex = connection.prepare("INSERT INTO search (search, rowid, name, description, keywords, other) VALUES ('delete', ?, ?, ?, ?, ?)");
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

  /** The request is done: what it left belongs to the group. */
  keep(): void {
    const { touched, tally, search } = this.#request;
    for (const [key, sequence] of touched) this.#group.touched.set(key, sequence);
    for (const [kind, by] of tally) this.#group.tally.set(kind, (this.#group.tally.get(kind) ?? 0) + by);
    for (const one of search) this.#group.search.push(one);
    this.#request = nothing();
  }

  /** The request was rolled back. */
  drop(): void {
    this.#request = nothing();
  }

  /** Writes what was kept. @throws StatementError, after which the transaction must be rolled back */
  write(): void {
    const { touched, tally, search } = this.#group;
    this.#group = nothing();
    for (const [key, sequence] of touched) this.#touch.put([sequence, key]);
    for (const [kind, by] of tally) if (by !== 0) this.#tally.put([kind, by]);
    for (const { op, row } of search) (op === "index" ? this.#index : this.#unindex).put(row);
  }

  /** The transaction was rolled back as a whole. */
  clear(): void {
    this.#request = nothing();
    this.#group = nothing();
  }
}
