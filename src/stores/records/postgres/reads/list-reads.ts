import { arkKey } from "../../../../identifiers/ark.js";
import { fold, wordOf } from "../../fold.js";
import type { ListQuery, ListedPage } from "../../port.js";
import { readNamePosition, readNumbers, writeNamePosition } from "../../positions.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../../record-row.js";
import { isStorableText } from "../../storable.js";
import { type Database, type Row, type Statement, statement, type Value } from "../statement.js";
import { shortWord } from "../short-word.js";

type Filter = Omit<ListQuery, "after" | "limit" | "order" | "bytes">;
type Listed = [...RecordRow, rows: number, id: number, sorted: string];

const TALLY = statement<[number]>("SELECT coalesce(sum(live), 0)::bigint FROM tally WHERE $1::text IS NULL OR kind = $1");
const HOLDING = statement<[number]>("SELECT count(*) FROM keyword WHERE word = $1 AND ($2::text IS NULL OR kind = $2)");

/** Lists of live records, in pages by key: a page costs the same wherever it lies. Documents are read of those that are shown only. */
export class ListReads {
  readonly #prepared = new Map<string, Statement>();

  constructor(private readonly database: Database) {}

  /** @throws ServiceError `BAD_REQUEST` for an `after` that no list gave */
  async list(query: ListQuery): Promise<ListedPage> {
    const { order = "created", after, limit, bytes } = query;
    const asked = new Asked(query);
    if (after !== undefined) {
      if (order === "name") {
        const [sorted, id] = readNamePosition(after);
        // Text that is no position of ours has nothing behind it that could not be stored either.
        asked.where.push(`(r.sorted, r.id) > (${asked.add(sorted.toWellFormed())}, ${asked.add(id)})`);
      } else asked.where.push(`${asked.id} ${order === "created" ? ">" : "<"} ${asked.add(readNumbers(after, 1)[0]!)}`);
    }
    if (asked.isVain) return { items: [], positions: [] };
    const by = (record: string, id: string): string => (order === "name" ? `${record}.sorted, ${record}.id` : order === "created" ? id : `${id} DESC`);
    const found = `SELECT r.* FROM ${asked.from} WHERE ${asked.where.join(" AND ")} ORDER BY ${by("r", asked.id)} LIMIT ${asked.add(limit + 1)}`;
    // Lengths are read without the documents, so that those beyond the page are not sent.
    const [sized, within] = bytes === undefined ? [`SELECT f.*, count(*) OVER () AS matched FROM (${found}) AS f`, "true"] : [`SELECT f.*, count(*) OVER () AS matched,
        coalesce(sum(octet_length(t.document)) OVER (ORDER BY ${by("f", "f.id")} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
      FROM (${found}) AS f JOIN state AS t ON t.id = f.state`, `r.before <= ${asked.add(bytes)}`];
    const rows = await this.database.query(this.#prepare<Listed>(`SELECT ${RECORD_COLUMNS}, r.matched, r.id, r.sorted
      FROM (${sized}) AS r JOIN state AS s ON s.id = r.state WHERE ${within} ORDER BY ${by("r", "r.id")}`), asked.values);
    const page = rows.slice(0, limit);
    const all = rows[0]?.at(-3) as number | undefined;
    const items = page.map((row) => recordOf(row as unknown as RecordRow));
    const positions = page.map((row) => {
      const [id, sorted] = row.slice(-2) as [number, string];
      return order === "name" ? writeNamePosition(sorted, id) : String(id);
    });
    return { items, positions, ...(all !== undefined && all > page.length ? { next: positions.at(-1)! } : {}) };
  }

  /** Kept ready for all and for a kind; counted for other filters. */
  async count(filter: Filter): Promise<number> {
    const { kind, name, ownerKey, keyword, crate } = filter;
    if (!name && ownerKey === undefined && keyword === undefined && crate === undefined) return (await this.database.query(TALLY, [kind ?? null]))[0]![0];
    const asked = new Asked(filter);
    if (asked.isVain) return 0;
    // The words of live records only: nothing else needs to be read.
    if (keyword !== undefined && !name && ownerKey === undefined && crate === undefined) return (await this.database.query(HOLDING, [shortWord(wordOf(keyword)), kind ?? null]))[0]![0];
    return (await this.database.query(this.#prepare<[number]>(`SELECT count(*) FROM ${asked.from} WHERE ${asked.where.join(" AND ")}`), asked.values))[0]![0];
  }

  #prepare<R extends Row>(sql: string): Statement<R> {
    let prepared = this.#prepared.get(sql);
    if (!prepared) this.#prepared.set(sql, prepared = statement(sql));
    return prepared as unknown as Statement<R>;
  }
}

/** Where to read and what to ask. */
class Asked {
  readonly where = ["r.deleted_at IS NULL"];
  readonly values: Value[] = [];
  readonly from: string;
  /** What the order of creation is read off. */
  readonly id: string;
  /** Nothing can match. */
  readonly isVain: boolean;

  constructor({ kind, name, ownerKey, keyword, crate, notEndingWith }: Filter) {
    this.isVain = [name, ownerKey, keyword, crate, notEndingWith].some((text) => text !== undefined && !isStorableText(text));
    this.from = keyword === undefined ? "record AS r" : "keyword AS k JOIN record AS r ON r.id = k.record";
    this.id = keyword === undefined ? "r.id" : "k.record";
    if (this.isVain) return;
    if (keyword !== undefined) this.where.push(`k.word = ${this.add(shortWord(wordOf(keyword)))}`);
    if (ownerKey !== undefined) this.where.push(`r.owner_key = ${this.add(arkKey(ownerKey))}`);
    if (crate !== undefined) this.where.push(`r.crate = ${this.add(crate)}`);
    if (crate !== undefined && notEndingWith !== undefined) {
      const end = this.add(notEndingWith);
      this.where.push(`right(r.ark, length(${end}::text)) <> ${end}::text`);
    }
    if (kind !== undefined) this.where.push(`r.kind = ${this.add(kind)}`);
    if (name) this.where.push(`strpos(r.folded, ${this.add(fold(name))}) > 0`);
  }

  /** A further parameter, as it stands in the SQL. */
  add(value: Value): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
