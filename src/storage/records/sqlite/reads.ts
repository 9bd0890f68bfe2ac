import { type Ark, arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import { unpackQuads } from "../codecs.js";
import type {
  FeedAnswer,
  FeedGraph,
  FeedRequest,
  Found,
  Holder,
  ListedPage,
  ListQuery,
  StoredRecord,
  Viewer,
} from "../port.js";
import { storedJson } from "../refusals.js";
import {
  readNamePosition,
  readNumber,
  RECORD_COLUMNS,
  recordOf,
  type RecordRow,
  writeNamePosition,
} from "../rows.js";
import { fold, isStorableText, wordOf } from "../text.js";
import { firstOf, liveShares } from "../selection.js";
import { actsForSql, NOBODY, ofLinkSql, seenSql, viewerKey, withinLinkSql } from "../visibility.js";
import { type Connection, type Statement, textArray, type Value } from "./statement.js";

const FROM = "record AS r JOIN state AS s ON s.id = r.state";
const IS = "r.key = ?1 AND r.ark = ?2";
/** With owners as a JSON array. A search in its text takes a microsecond, `json_each` ten. */
const seen = (viewer: string, owners: string): string =>
  seenSql("r", viewer, `instr(${owners}, json_quote(r.owner_key)) > 0`);

/**
 * Single records. What a user acts for is read before a record that is not open is looked for: a
 * private record takes others as long as an identifier that nobody has.
 */
export class RecordReads {
  readonly #owners;
  readonly #byArk;
  readonly #byKey;
  readonly #many;
  readonly #holders;

  constructor(connection: Connection) {
    this.#owners = connection.prepare<[string]>(
      `SELECT json_group_array(key) FROM (${actsForSql("?1")})`,
    );
    this.#byArk = connection.prepare<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE ${IS} AND ${seenSql("r", "?3")}`,
    );
    this.#byKey = connection.prepare<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM ${FROM} WHERE r.key = ?1 AND ${seen("?2", "?3")}
        ORDER BY r.ark`,
    );
    this.#many = connection.prepare<RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM json_each(?1) AS asked CROSS JOIN record AS r
        ON r.key = asked.value AND ${seen("?2", "?3")} JOIN state AS s ON s.id = r.state`,
    );
    // As one text: a row of libSQL's takes ten times as long as its part of that.
    this.#holders = connection.prepare<[string]>(
      `SELECT json_group_array(json_array(r.ark, r.key, r.kind, r.owner, r.deleted_at IS NOT NULL))
        FROM json_each(?1) AS asked CROSS JOIN record AS r ON r.key = asked.value
        AND ${seenSql("r", "?2")}`,
    );
  }

  /** One statement when the identifier is spelled as stored. */
  find(ark: Ark, viewer?: Viewer): Found | undefined {
    if (!isStorableText(ark.stored)) return undefined;
    const open = this.#findOpen(ark, viewer);
    if (open) return { record: recordOf(open) };
    const rows = this.#byKey.all([ark.key, ...this.#seenBy(viewer)]);
    const exact = rows.find(([spelled]) => spelled === ark.stored);
    if (exact) return { record: recordOf(exact) };
    if (rows.length > 1) return { ambiguous: rows.map(([ark]) => ark) };
    return rows[0] && { record: recordOf(rows[0]) };
  }

  /** One statement for any number of keys, or two. */
  findMany(arks: readonly string[], viewer?: Viewer): (StoredRecord | undefined)[] {
    // The commonest question, and the plainest statement for it.
    const [ark, ...more] = arks;
    const only =
      ark !== undefined && more.length === 0 && isStorableText(ark)
        ? this.#findOpen({ key: arkKey(ark), stored: ark }, viewer)
        : undefined;
    if (only) return [recordOf(only)];
    const byArk = new Map<string, StoredRecord>();
    const byKey = new Map<string, StoredRecord | undefined>();
    for (const row of this.#many.all([
      textArray([...new Set(arks.filter(isStorableText).map(arkKey))]),
      ...this.#seenBy(viewer),
    ])) {
      const record = recordOf(row);
      byArk.set(record.ark, record);
      byKey.set(row[1], byKey.has(row[1]) ? undefined : record);
    }
    return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
  }

  /** In its stored spelling. A user gets open records only: what it acts for is not read. */
  #findOpen({ key, stored }: Pick<Ark, "key" | "stored">, viewer?: Viewer): RecordRow | undefined {
    const of = viewer?.user ? viewerKey(NOBODY) : viewerKey(viewer);
    return this.#byArk.get([key, stored, of]);
  }

  #seenBy(viewer?: Viewer): [string | null, string] {
    const owners = viewer?.user ? this.#owners.one([viewer.user])[0] : textArray([]);
    return [viewerKey(viewer), owners];
  }

  holders(keys: readonly string[], viewer?: Viewer): Holder[] {
    const asked = textArray(keys.filter(isStorableText));
    const [rows] = this.#holders.one([asked, viewerKey(viewer)]);
    return storedJson<[string, string, KindName, string | null, number][]>(
      rows,
      "a list of records",
    ).map(([ark, key, kind, owner, deleted]) => ({
      ark,
      key,
      kind,
      owner,
      deleted: deleted === 1,
    }));
  }
}

type Filter = Omit<ListQuery, "after" | "limit" | "order" | "bytes">;

/** Counts of live private records, in all and of those that a viewer sees. */
export class PrivateCounts {
  readonly #all;
  readonly #seen;
  readonly #linked;

  constructor(connection: Connection) {
    const live = `SELECT count(*) FROM record AS r INDEXED BY live_private WHERE r.private = 1
      AND r.deleted_at IS NULL AND (?1 IS NULL OR r.kind IN (SELECT value FROM json_each(?1)))`;
    this.#all = connection.prepare<[number]>(live);
    this.#seen = connection.prepare<[number]>(`${live} AND r.owner_key IN (${actsForSql("?2")})`);
    const linked = (which: string): string => `SELECT count(*) FROM record AS r WHERE r.private = 1
      AND r.deleted_at IS NULL AND (?1 IS NULL OR r.kind IN (SELECT value FROM json_each(?1)))
      AND ${which}`;
    this.#linked = connection.prepare<[number]>(
      `SELECT (${linked(ofLinkSql("r", "?2"))}) + (${linked(withinLinkSql("r", "?2"))})`,
    );
  }

  of(viewer: Viewer | undefined, kinds?: readonly KindName[]): number {
    const list = kinds ? textArray(kinds) : null;
    if (viewer === undefined) return this.#all.one([list])[0];
    if (viewer.link !== undefined) return this.#linked.one([list, viewerKey(viewer)])[0];
    return viewer.user === null ? 0 : this.#seen.one([list, viewer.user])[0];
  }
}

/**
 * Up to so many rows left by a filter are sorted by name; more are dense enough to be met on a walk
 * by name.
 */
const SORTED = 5000;

/** Column of the document. */
const DOCUMENT = 12;
type Listed = [...RecordRow, id: number, folded: string];

/**
 * Lists of live records, in pages by key: a page costs the same wherever it lies. The SQL names the
 * index, by the filter that leaves the fewest rows, because the planner has no statistics of an
 * empty file and must not change its choice when the file grows. Order by name without a kind sorts
 * all rows that the filters leave.
 */
export class ListReads {
  readonly #prepared = new Map<string, Statement>();
  readonly #tally;
  readonly #tallyAll;
  readonly #private;
  readonly #byNumber;

  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;

    this.#tally = connection.prepare<[number]>("SELECT live FROM tally WHERE kind = ?");
    this.#tallyAll = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
    this.#private = new PrivateCounts(connection);
    this.#byNumber = connection.prepare<Listed>(
      `SELECT ${RECORD_COLUMNS}, r.id, r.folded FROM record AS r JOIN state AS s
        ON s.id = r.state WHERE r.id = ?`,
    );
  }

  /** @throws ServiceError `BAD_REQUEST` for an `after` that no list gave */
  list(query: ListQuery): ListedPage {
    const { order = "created", after, limit, bytes = Infinity } = query;
    const chosen = choose(query, order === "name" && this.#walksByName(query));
    if (!chosen) return { items: [], positions: [] };
    const { where, values } = chosen;
    if (after !== undefined) {
      if (order === "name") {
        const [folded, id] = readNamePosition(after);
        values.push(folded, id);
        where.push(`(r.folded, r.id) > (?${values.length - 1}, ?${values.length})`);
      } else {
        // oxlint-disable-next-line arkgraph/spread-into-call -- one number
        values.push(readNumber(after));
        where.push(`${chosen.id} ${order === "created" ? ">" : "<"} ?${values.length}`);
      }
    }
    const walk = this.#rows(chosen, order, limit + 1);
    const page: Listed[] = [];
    let size = 0;
    let isLast = true;
    for (const row of walk) {
      size += row[DOCUMENT].length;
      isLast = page.length < limit && (size <= bytes || page.length === 0);
      if (!isLast) break;
      page.push(row);
    }
    const items = page.map((row) => recordOf(row as unknown as RecordRow));
    const positions = page.map((row) => {
      const [id, folded] = row.slice(-2) as [number, string];
      return order === "name" ? writeNamePosition(folded, id) : String(id);
    });
    const next = positions.at(-1);
    return { items, positions, ...(isLast || next === undefined ? {} : { next }) };
  }

  /** Stored for the open ones in all and of a kind; counted for other filters. */
  count(filter: Filter): number {
    const { kind, name, ownerKey, keyword, crate, viewer } = filter;
    if (!name && ownerKey === undefined && keyword === undefined && crate === undefined) {
      const open = kind === undefined ? this.#tallyAll.get() : this.#tally.get([kind]);
      return (open?.[0] ?? 0) + this.#private.of(viewer, kind === undefined ? undefined : [kind]);
    }
    const chosen = choose(filter, false);
    if (!chosen) return 0;
    // Only the words of live open records are stored.
    if (keyword !== undefined && !name && ownerKey === undefined && crate === undefined) {
      const kinds = kind === undefined ? [] : [kind];
      return this.#prepare<[number]>(
        `SELECT count(*) FROM keyword WHERE word = ?${kinds.map(() => " AND kind = ?").join("")}`,
      ).one([wordOf(keyword), ...kinds])[0];
    }
    const counts = chosen.shares.map(
      ({ from, where }) =>
        `(SELECT count(*) FROM ${from} WHERE ${[...where, ...chosen.where].join(" AND ")})`,
    );
    return this.#prepare<[number]>(`SELECT ${counts.join(" + ")}`).one(chosen.values)[0];
  }

  /** Documents are read one by one, as the page takes them. */
  *#rows(chosen: Chosen, order: "created" | "-created" | "name", limit: number): Generator<Listed> {
    const by = (id: string, folded: string): string =>
      order === "name" ? `${folded}, ${id}` : order === "created" ? id : `${id} DESC`;
    const { shares, id, values } = chosen;
    const most = `?${values.length + 1}`;
    const whole = ({ from, where }: (typeof shares)[0], columns: string, more = ""): string =>
      `SELECT ${columns} FROM ${from}${more} WHERE ${[...where, ...chosen.where].join(" AND ")}`;
    if (shares.length === 1) {
      const read = whole(
        shares[0]!,
        `${RECORD_COLUMNS}, r.id, r.folded`,
        " CROSS JOIN state AS s ON s.id = r.state",
      );
      yield* this.#prepare<Listed>(`${read} ORDER BY ${by(id, "r.folded")} LIMIT ${most}`).iterate([
        ...values,
        limit,
      ]);
      return;
    }
    const parts = shares.map((share) => whole(share, `${id} AS id, r.folded AS folded`));
    const found = this.#prepare<[id: number, folded: string]>(
      firstOf(parts, by("id", "folded"), most),
    ).all([...values, limit]);
    for (const [number] of found) {
      const row = this.#byNumber.get([number]);
      // An index of a damaged file may name a row that is not there, as the join above passes over.
      if (row) yield row;
    }
  }

  /**
   * Whether the order by name is read from its index, rather than made by sorting the filtered
   * rows.
   */
  #walksByName({ kind, ownerKey, keyword, crate }: Filter): boolean {
    if (kind === undefined) return false;
    if (ownerKey === undefined && keyword === undefined && crate === undefined) return true;
    const chosen = choose(
      {
        kind,
        ...(ownerKey === undefined ? {} : { ownerKey }),
        ...(keyword === undefined ? {} : { keyword }),
        ...(crate === undefined ? {} : { crate }),
      },
      false,
    );
    if (!chosen) return false;
    const [left] = this.#prepare<[number]>(
      `SELECT count(*) FROM (SELECT 1 FROM ${chosen.shares[0]!.from} WHERE ${chosen.where.join(" AND ")}
        LIMIT ${SORTED})`,
    ).one(chosen.values);
    return left === SORTED;
  }

  #prepare<R extends Listed | [number] | [id: number, folded: string]>(sql: string): Statement<R> {
    let statement = this.#prepared.get(sql);
    if (!statement) this.#prepared.set(sql, (statement = this.#connection.prepare(sql)));
    return statement as unknown as Statement<R>;
  }
}

/** The tables to read, and the conditions; `undefined` when no record can match. */
/** The column has a value that a SELECT finds. */
export const isOneOf = (column: string, select: string): string => `${column} IN (${select})`;

/** A list's records: in shares that an index answers each, and conditions on all of them. */
interface Chosen {
  shares: { from: string; where: string[] }[];
  where: string[];
  /** `?1` is the first. */
  values: Value[];
  /** The column with the record's number. */
  id: string;
}

/** @param key of the viewer, which is `?1` */
const seenBy = (key: string | null): string[] =>
  key === null ? [] : [key === "" ? "r.private = 0" : seenSql("r", "?1")];

/** The tables to read, by the filter that leaves the fewest rows. */
function placeOf(
  { kind, ownerKey, keyword, crate }: Filter,
  walkByName: boolean,
): { from: string; id: string } {
  const by = (index: string) => ({ from: `record AS r INDEXED BY ${index}`, id: "r.id" });
  if (walkByName) return by("live_kind_name");
  if (keyword !== undefined)
    return { from: "keyword AS k CROSS JOIN record AS r ON r.id = k.record", id: "k.record" };
  if (ownerKey !== undefined) return by("live_owner");
  if (crate !== undefined) return by("live_crate");
  return by(kind === undefined ? "live_open" : "live_kind");
}

function choose(filter: Filter, walkByName: boolean): Chosen | undefined {
  const { kind, name, ownerKey, keyword, crate, notEndingWith, viewer } = filter;
  if (
    [name, ownerKey, keyword, crate, notEndingWith].some(
      (text) => text !== undefined && !isStorableText(text),
    )
  )
    return undefined;
  const key = viewerKey(viewer);
  const values: Value[] = key === null || key === "" ? [] : [key];
  const where = ["r.deleted_at IS NULL"];
  const and = (condition: (value: string) => string, value: Value): void => {
    values.push(value);
    where.push(condition(`?${values.length}`));
  };
  const { from, id } = placeOf(filter, walkByName);
  const isOfWord = keyword !== undefined && !walkByName;
  if (isOfWord) and((word) => `k.word = ${word}`, wordOf(keyword));
  else if (keyword !== undefined)
    and(
      (word) => `EXISTS (SELECT 1 FROM keyword WHERE word = ${word} AND record = r.id)`,
      wordOf(keyword),
    );
  if (ownerKey !== undefined) and((key) => `r.owner_key = ${key}`, arkKey(ownerKey));
  if (crate !== undefined) and((ark) => `r.crate = ${ark}`, crate);
  if (crate !== undefined && notEndingWith !== undefined)
    and((end) => `substr(r.ark, -length(${end})) <> ${end}`, notEndingWith);
  if (kind !== undefined) and((value) => `${isOfWord ? "k" : "r"}.kind = ${value}`, kind);
  if (name) and((part) => `instr(r.folded, ${part}) > 0`, fold(name));
  // Only open records have keywords, and those of an owner or a crate are few.
  const isWhole = keyword !== undefined || ownerKey !== undefined || crate !== undefined;
  const shares =
    isWhole && !walkByName
      ? [{ from, where: seenBy(key) }]
      : liveShares(viewer, () => "?1", isOneOf).map(({ sql, isOwn }) => ({
          from: isOwn ? "record AS r INDEXED BY live_private" : from,
          where: [sql],
        }));
  return { shares, where, values, id };
}

type GraphRow = [id: number, ark: string, quads: Uint8Array | null];

/** Answers the questions of a graph index; each answer is one snapshot. */
export class FeedReads {
  readonly #sequence;
  readonly #total;
  readonly #live;
  readonly #end;
  readonly #changed;

  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;

    this.#sequence = connection.prepare<[number]>(
      "SELECT coalesce(max(sequence), 0) FROM change_log",
    );
    this.#total = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
    this.#live =
      connection.prepare<GraphRow>(`SELECT r.id, r.ark, coalesce(s.projected, s.quads) FROM record AS r CROSS
          JOIN state AS s ON s.id = r.state WHERE r.id > ? AND r.deleted_at IS NULL
          AND r.private = 0 ORDER BY r.id LIMIT ?`);
    // The last sequence of an answer: that of its limit-th change, so that no commit is cut.
    this.#end = connection.prepare<[number]>(
      "SELECT sequence FROM change_log WHERE sequence > ? ORDER BY sequence LIMIT 1 OFFSET ?",
    );
    this.#changed =
      connection.prepare<GraphRow>(`SELECT r.id, r.ark, CASE WHEN r.deleted_at IS NULL AND r.private = 0
          THEN coalesce(s.projected, s.quads) END
          FROM (SELECT record, max(sequence) AS last FROM change_log
          WHERE sequence > ? AND sequence <= ? GROUP BY record) AS c CROSS JOIN record AS r
          ON r.id = c.record CROSS JOIN state AS s ON s.id = r.state ORDER BY c.last, r.id`);
  }

  answer(request: FeedRequest): FeedAnswer {
    return this.#connection.transaction(
      () => ("all" in request ? this.#all(request) : this.#since(request)),
      "DEFERRED",
    );
  }

  #all({ id, all: { after, limit } }: Extract<FeedRequest, { all: unknown }>): FeedAnswer {
    const sequence = this.#sequence.one()[0];
    const rows = this.#live.all([after, limit + 1]);
    const page = rows.slice(0, limit);
    const total = this.#total.one()[0];
    const answer = { id, graphs: page.map(graphOf), sequence, total };
    const last = page.at(-1);
    return last && rows.length > limit ? { ...answer, next: last[0] } : answer;
  }

  #since({ id, since: { sequence, limit } }: Extract<FeedRequest, { since: unknown }>): FeedAnswer {
    const newest = this.#sequence.one()[0];
    const end = this.#end.get([sequence, Math.max(0, limit - 1)])?.[0] ?? newest;
    return {
      id,
      graphs: this.#changed.all([sequence, end]).map(graphOf),
      sequence: Math.max(end, sequence),
      more: end < newest,
    };
  }
}

const graphOf = ([, ark, quads]: GraphRow): FeedGraph => ({
  ark,
  nquads: quads && unpackQuads(quads),
});
