import { arkKey } from "../../../identifiers/ark.js";
import type { ListQuery, ListedPage } from "../port.js";
import { fold, wordOf } from "../fold.js";
import { readNamePosition, readNumbers, writeNamePosition } from "../positions.js";
import { RECORD_COLUMNS, recordOf, type RecordRow } from "../record-row.js";
import { type Connection, type Statement, type Value } from "./statement.js";
import { isStorableText } from "../storable.js";

type Filter = Omit<ListQuery, "after" | "limit" | "order" | "bytes">;
/** Up to so many rows left by a filter are sorted by name; more are dense enough to be met on a walk by name. */
const SORTED = 5000;

/** Column of the document. */
const DOCUMENT = 12;
type Listed = [...RecordRow, id: number, folded: string];

/**
 * Lists of live records, in pages by key: a page costs the same wherever it lies. The index is named in the
 * SQL, by the filter that leaves the fewest rows, because the planner has no statistics of an empty file and
 * must not change its mind when the file grows. Order by name without a kind sorts all that the filters leave.
 */
export class ListReads {
  readonly #prepared = new Map<string, Statement>();
  readonly #tally;
  readonly #tallyAll;

  constructor(private readonly connection: Connection) {
    this.#tally = connection.prepare<[number]>("SELECT live FROM tally WHERE kind = ?");
    this.#tallyAll = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
  }

  /** @throws ServiceError `BAD_REQUEST` for an `after` that no list gave */
  list(query: ListQuery): ListedPage {
    const { order = "created", after, limit, bytes = Infinity } = query;
    const chosen = choose(query, order === "name" && this.#walksByName(query));
    if (!chosen) return { items: [], positions: [] };
    const { from, where, values } = chosen;
    if (after !== undefined) {
      if (order === "name") {
        const [folded, id] = readNamePosition(after);
        where.push("(r.folded, r.id) > (?, ?)");
        values.push(folded, id);
      } else {
        where.push(`${chosen.id} ${order === "created" ? ">" : "<"} ?`);
        values.push(...readNumbers(after, 1));
      }
    }
    const by = order === "name" ? "r.folded, r.id" : order === "created" ? chosen.id : `${chosen.id} DESC`;
    const walk = this.#prepare<Listed>(`SELECT ${RECORD_COLUMNS}, r.id, r.folded FROM ${from} CROSS JOIN state AS s ON s.id = r.state WHERE ${where.join(" AND ")} ORDER BY ${by} LIMIT ?`)
      .iterate([...values, limit + 1]);
    const page: Listed[] = [];
    let size = 0;
    let isLast = true;
    for (const row of walk) {
      isLast = page.length < limit && size <= bytes;
      if (!isLast) break;
      page.push(row);
      size += row[DOCUMENT].length;
    }
    const items = page.map((row) => recordOf(row as unknown as RecordRow));
    const positions = page.map((row) => {
      const [id, folded] = row.slice(-2) as [number, string];
      return order === "name" ? writeNamePosition(folded, id) : String(id);
    });
    return { items, positions, ...(isLast ? {} : { next: positions.at(-1)! }) };
  }

  /** Kept ready for all and for a kind; counted for other filters. */
  count(filter: Filter): number {
    const { kind, name, ownerKey, keyword, crate } = filter;
    if (!name && ownerKey === undefined && keyword === undefined && crate === undefined) {
      return (kind === undefined ? this.#tallyAll.get() : this.#tally.get([kind]))?.[0] ?? 0;
    }
    const chosen = choose(filter, false);
    if (!chosen) return 0;
    // The words of live records only: nothing else needs to be read.
    if (keyword !== undefined && !name && ownerKey === undefined && crate === undefined) {
      const kinds = kind === undefined ? [] : [kind];
      return this.#prepare<[number]>(`SELECT count(*) FROM keyword WHERE word = ?${kinds.map(() => " AND kind = ?").join("")}`).get([wordOf(keyword), ...kinds])![0];
    }
    return this.#prepare<[number]>(`SELECT count(*) FROM ${chosen.from} WHERE ${chosen.where.join(" AND ")}`).get(chosen.values)![0];
  }

  /** Whether the order by name is read off its index, rather than made by sorting what a filter leaves. */
  #walksByName({ kind, ownerKey, keyword, crate }: Filter): boolean {
    if (kind === undefined) return false;
    if (ownerKey === undefined && keyword === undefined && crate === undefined) return true;
    const chosen = choose({ kind, ...(ownerKey === undefined ? {} : { ownerKey }), ...(keyword === undefined ? {} : { keyword }), ...(crate === undefined ? {} : { crate }) }, false);
    if (!chosen) return false;
    const [left] = this.#prepare<[number]>(`SELECT count(*) FROM (SELECT 1 FROM ${chosen.from} WHERE ${chosen.where.join(" AND ")} LIMIT ${SORTED})`).get(chosen.values)!;
    return left === SORTED;
  }

  #prepare<R extends Listed | [number]>(sql: string): Statement<R> {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, statement = this.connection.prepare(sql));
    return statement as unknown as Statement<R>;
  }
}

/** Where to read and what to ask; `undefined` when nothing can match. */
function choose(filter: Filter, walkByName: boolean): { from: string; where: string[]; values: Value[]; id: string } | undefined {
  const { kind, name, ownerKey, keyword, crate, notEndingWith } = filter;
  if ([name, ownerKey, keyword, crate, notEndingWith].some((text) => text !== undefined && !isStorableText(text))) return undefined;
  const where = ["r.deleted_at IS NULL"];
  const values: Value[] = [];
  const and = (condition: string, value: Value): void => {
    where.push(condition);
    values.push(value);
  };
  let from = "record AS r";
  let id = "r.id";
  if (walkByName) {
    from = "record AS r INDEXED BY live_kind_name";
    if (keyword !== undefined) and("EXISTS (SELECT 1 FROM keyword WHERE word = ? AND record = r.id)", wordOf(keyword));
  } else if (keyword !== undefined) {
    from = "keyword AS k CROSS JOIN record AS r ON r.id = k.record";
    id = "k.record";
    and("k.word = ?", wordOf(keyword));
  } else if (ownerKey !== undefined) from = "record AS r INDEXED BY live_owner";
  else if (crate !== undefined) from = "record AS r INDEXED BY live_crate";
  else if (kind !== undefined) from = "record AS r INDEXED BY live_kind";
  if (ownerKey !== undefined) and("r.owner_key = ?", arkKey(ownerKey));
  if (crate !== undefined) and("r.crate = ?", crate);
  if (crate !== undefined && notEndingWith !== undefined) {
    where.push("substr(r.ark, -length(?)) <> ?");
    values.push(notEndingWith, notEndingWith);
  }
  if (kind !== undefined) and(keyword === undefined || walkByName ? "r.kind = ?" : "k.kind = ?", kind);
  if (name) and("instr(r.folded, ?) > 0", fold(name));
  return { from, where, values, id };
}
