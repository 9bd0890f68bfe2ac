import { LRUCache } from "lru-cache";
import { KIND_NAMES, type KindName } from "../../../model/kind.js";
import { parseQuery } from "../../../model/search-query.js";
import type { SelectionPage, Viewer } from "../port.js";
import { storedJson } from "../refusals.js";
import { type AddressRow, addressPage, RECORD_COLUMNS, type RecordRow, recordOf } from "../rows.js";
import { everyTermOf, Stemmer } from "../search.js";
import type {
  AddressesQuery,
  AddressPage,
  AddressRange,
  AddressRangesQuery,
  Selection,
  SelectionQuery,
  Statistics,
  StatisticsKey,
  StatisticsQuery,
} from "../port/selection.js";
import {
  addressed,
  baseOf,
  beyond,
  type Condition,
  type ConditionField,
  conditionsOf,
  type Dialect,
  firstOf,
  isOfDeleted,
  joined,
  NO_IDS,
  orderKey,
  type Place,
  Positions,
  sharesOf,
  soleOf,
  Sql,
  type StatisticsRow,
  statisticsOf,
  statisticsSql,
  wholeKeyword,
  wholeKinds,
} from "../selection.js";
import { wordOf } from "../text.js";
import { isOneOf, PrivateCounts } from "./reads.js";
import { privateIdsSql } from "./search/private-search.js";
import { type Connection, type Statement, textArray, type Value } from "./statement.js";

/** The last character of all: no name has it, so it ends the range of names with a beginning. */
const LAST_CHARACTER = "\u{10FFFF}";

/** @param matchOf an FTS5 query for a query of a user; empty where it looks for nothing */
const dialectOf = (matchOf: (text: string) => string): Dialect => ({
  placeholder: (number) => `?${number}`,
  anyOf: (column, values, sql) =>
    values.length === 1
      ? `${column} = ${sql.add(values[0]!)}`
      : `${column} IN (SELECT value FROM json_each(${sql.add(textArray(values))}))`,
  oneOf: isOneOf,
  nameIs: (folded, sql) => `r.folded = ${sql.add(folded)}`,
  nameContains: (folded, sql) => `instr(r.folded, ${sql.add(folded)}) > 0`,
  nameStartsWith: (folded, sql) =>
    `(r.folded >= ${sql.add(folded)} AND r.folded < ${sql.add(folded + LAST_CHARACTER)})`,
  word: wordOf,
  textIds: (text, sql) => {
    const match = matchOf(text);
    if (match === "") return NO_IDS;
    const open = `SELECT rowid AS id FROM search WHERE search MATCH ${sql.add(match)}`;
    const own = privateIdsSql(match, sql);
    return own === undefined ? open : `${open} UNION ALL ${own}`;
  },
  textHolds: (text, sql) => {
    const match = matchOf(text);
    const open = `EXISTS (SELECT 1 FROM search WHERE search MATCH ${sql.add(match)}
      AND rowid = r.id)`;
    const own = privateIdsSql(match, sql);
    return own === undefined ? open : `(${open} OR EXISTS (${own} AND rowid = r.id))`;
  },
  currentContent: "o.role = 'content' AND o.until IS NULL AND o.dropped = 0",
  thenJoin: "CROSS JOIN",
  documentHolds: (text, sql) => `instr(t.document, CAST(${sql.add(text)} AS BLOB)) > 0`,
});
/** For what is asked of conditions without making SQL of them. */
export const DIALECT = dialectOf(() => "");

/** The month of days since 1970. */
export const monthOf = (days: string): string => `strftime('%Y-%m', ${days} * 86400, 'unixepoch')`;
/** The year of days since 1970. */
export const yearOf = (days: string): string => `strftime('%Y', ${days} * 86400, 'unixepoch')`;

const LIVE = "r.deleted_at IS NULL";
/** A viewer's own private records. */
const OWN = "record AS r INDEXED BY live_private";
/** Where the records that meet a condition are found; together with a {@link Share}. */
const INDEXES: Readonly<
  Record<Exclude<ConditionField, "keyword" | "part of the name"> | "open", string>
> = {
  open: "record AS r INDEXED BY live_open",
  kind: "record AS r INDEXED BY live_kind",
  name: "record AS r INDEXED BY live_kind_name",
  owner: "record AS r INDEXED BY live_owner",
  crate: "record AS r INDEXED BY live_crate",
  status: "record AS r INDEXED BY live_status",
  licence: "record AS r INDEXED BY live_licence",
  created: "record AS r INDEXED BY live_created",
  modified: "record AS r INDEXED BY live_modified",
  published: "record AS r INDEXED BY live_published",
  deleted: "record AS r INDEXED BY gone",
};

/**
 * Up to so many records that meet one condition are all read and then sorted; more are dense enough
 * to be met on a walk in the requested order.
 */
const SPARSE = 5000;
/** The same for a part of the name: all names are read until so many have it. */
const MAX_NAMES_READ = 1000;
/**
 * Up to so many records that a text finds are all read, and sorted; of more, each record of a walk
 * in the requested order is asked for in the search index, which takes 20 µs.
 */
const DENSE = 25_000;
/** Conditions whose records are counted, to find the one that the fewest meet. */
const MAX_COUNTED = 10;
/** Statements that stay prepared; what callers combine is without end. */
const MAX_PREPARED = 200;

type Numbered = [id: number, key: number | string | null];

/** A way to read: where from, and what that needs in the conditions. */
interface Plan {
  from(sql: Sql): string;
  extra(sql: Sql): string[];
  /** The column with the record's number. */
  id: string;
  /** Records come by their number: no need to read all of them for the first ones. */
  natural: boolean;
  /** All that it reads meets this condition. */
  meets?: Condition;
  /** It reads few records. */
  few?: true;
  /** It reads an index, which has the open records apart from private ones. */
  reads?: true;
}

const left = (conditions: readonly Condition[], { meets }: Plan): readonly Condition[] =>
  conditions.filter((condition) => condition !== meets);

/** Reads an index. */
const reading = (from: string, natural: boolean, extra: Plan["extra"] = () => []): Plan => ({
  from: () => from,
  extra,
  id: "r.id",
  natural,
  reads: true,
});
const ALL_RECORDS = reading(INDEXES.open, true);
/** A plan that names the records to be read. */
const named = (from: Plan["from"], more: Partial<Plan> = {}): Plan => ({
  from,
  extra: () => [],
  id: "r.id",
  natural: false,
  ...more,
});
/** Records by kind and name: each kind is read by itself, in order. */
const BY_NAME = reading("record AS r INDEXED BY live_kind_name", false);
const BY_MODIFIED = reading(INDEXES.modified, false);
const BY_PUBLISHED = reading(INDEXES.published, false);
const DELETED = reading(INDEXES.deleted, false);

/**
 * Records by filter. The SQL names the index, as in the other lists, by counts: the planner has no
 * statistics of an empty file, and must not change its choice when the file grows.
 */
export class SelectionReads {
  readonly #prepared = new LRUCache<string, Statement>({ max: MAX_PREPARED });
  readonly #byNumbers;
  readonly #private;
  readonly #connection: Connection;
  #stemmer: Stemmer | undefined;
  /** The dialect of its conditions. */
  readonly dialect = dialectOf((text) =>
    everyTermOf(parseQuery(text), (words) => (this.#stemmer ??= new Stemmer()).stemsOf(words)),
  );

  readonly #sparse: number;
  readonly #dense: number;

  /** @param limits smaller than the usual ones in tests */
  constructor(connection: Connection, { sparse = SPARSE, dense = DENSE } = {}) {
    this.#connection = connection;
    this.#sparse = sparse;
    this.#private = new PrivateCounts(connection);
    this.#dense = dense;
    // In the order of the array, and no further than the page goes.
    this.#byNumbers = connection.prepare<[id: number, ...RecordRow]>(
      `SELECT r.id, ${RECORD_COLUMNS} FROM json_each(?) AS asked CROSS JOIN record AS r
        ON r.id = asked.value CROSS JOIN state AS s ON s.id = r.state`,
    );
  }

  close(): void {
    this.#stemmer?.close();
  }

  /** @throws ServiceError `BAD_REQUEST` for a position of another filter or order */
  select(query: SelectionQuery): SelectionPage {
    const { limit, bytes = Infinity, backward = false } = query;
    const positions = new Positions(query.filter, query.order);
    const bounds = {
      after: query.after === undefined ? undefined : positions.read(query.after),
      before: query.before === undefined ? undefined : positions.read(query.before),
    };
    // One snapshot: what is found is there when it is read.
    return this.#connection.transaction(() => {
      const numbered = this.#numbered(query, bounds);
      const keys = new Map(numbered.slice(0, limit));
      const page: SelectionPage = { items: [], positions: [], more: numbered.length > limit };
      let size = 0;
      for (const [id, ...row] of this.#byNumbers.iterate([JSON.stringify([...keys.keys()])])) {
        const record = recordOf(row);
        size += record.document.length;
        if (size > bytes && page.items.length > 0) {
          page.more = true;
          break;
        }
        page.items.push(record);
        page.positions.push(positions.write({ id, key: keys.get(id)! }));
      }
      return backward
        ? { ...page, items: page.items.reverse(), positions: page.positions.reverse() }
        : page;
    }, "DEFERRED");
  }

  /**
   * The stored counts of whole kinds, and the private records of them that the viewer sees; or how
   * many have a keyword, which only open records do. `undefined` for other selections.
   */
  tally(selection: Selection): number | undefined {
    const kinds = wholeKinds(selection);
    const sole = wholeKeyword(selection);
    if (kinds) {
      const [open] = this.#prepare<[number]>(
        `SELECT coalesce(sum(live), 0) FROM tally WHERE kind IN (SELECT value FROM json_each(?))`,
      ).one([textArray(kinds)]);
      return open + this.#private.of(selection.viewer, kinds);
    }
    return (
      sole &&
      this.#prepare<[number]>(
        `SELECT count(*) FROM keyword WHERE word = ? AND kind IN (SELECT value FROM json_each(?))`,
      ).one([wordOf(sole.keyword), textArray(sole.kinds)])[0]
    );
  }

  count(selection: Selection): number {
    const conditions = conditionsOf(selection, this.dialect);
    return this.#connection.transaction(() => {
      const isNamed = conditions.some(({ field }) => field === "part of the name");
      const best = isOfDeleted(selection.filter)
        ? undefined
        : this.#sparsest(conditions, selection.viewer);
      const plan = isOfDeleted(selection.filter)
        ? DELETED
        : (best?.plan ?? (isNamed ? planFor({ field: "name", sql: () => "" })! : ALL_RECORDS));
      const isFew = best !== undefined && best.count < this.#sparse;
      const sql = new Sql(this.dialect, selection.viewer);
      const counts = this.#shares(selection, plan, sql).map(({ from, where }) => {
        const more = left(conditions, plan).map((each) =>
          isFew && each.holdsQuickly ? each.holds!(sql) : each.sql(sql),
        );
        return `(SELECT count(*) FROM ${from} WHERE ${joined([...where, ...more], "AND")})`;
      });
      return this.#prepare<[number]>(`SELECT ${counts.join(" + ")}`).one(sql.values as Value[])[0];
    }, "DEFERRED");
  }

  /** Where a plan reads, and conditions, for each share of the records that it does not name. */
  #shares(
    selection: Selection,
    plan: Plan,
    sql: Sql,
  ): { from: string; where: string[]; isOwn: boolean }[] {
    const shares = plan.reads
      ? sharesOf(selection, sql)
      : [{ sql: baseOf(selection, sql), isOwn: false }];
    return shares.map(({ sql: share, isOwn }) => ({
      from: isOwn ? OWN : plan.from(sql),
      where: [share, ...plan.extra(sql)],
      isOwn,
    }));
  }

  /**
   * The numbers of the selected records where an index shows that they are fewer than `most`, as a
   * JSON array; `undefined` where it does not.
   */
  few(selection: Selection, most: number): string | undefined {
    const conditions = conditionsOf(selection, this.dialect);
    const best = this.#sparsest(conditions, selection.viewer, most);
    if (!best || best.count >= most) return undefined;
    const sql = new Sql(this.dialect, selection.viewer);
    const parts = this.#shares(selection, best.plan, sql).map(({ from, where }) => {
      const more = conditions.map((each) => each.sql(sql));
      return `SELECT r.id AS id FROM ${from} WHERE ${joined([...where, ...more], "AND")}`;
    });
    return this.#prepare<[string]>(
      `SELECT json_group_array(id) FROM (${parts.join(" UNION ALL ")})`,
    ).one(sql.values as Value[])[0];
  }

  statistics(query: StatisticsQuery): Statistics {
    return this.#connection.transaction(() => {
      const { text, sql } = statisticsSql(query, {
        ...this.dialect,
        monthOf,
        yearOf,
        from: (conditions, keys, main, { isOwn }) => {
          if (isOfDeleted(query.filter)) return { from: INDEXES.deleted, extra: [] };
          const best = keys.includes("keyword")
            ? undefined
            : this.#sparsest(conditions, query.viewer);
          const isFew = best !== undefined && best.count < this.#sparse;
          if (isOwn && !(isFew && !best.plan.reads)) return { from: OWN, extra: [] };
          return isFew
            ? { from: best.plan.from(main), extra: best.plan.extra(main) }
            : { from: readWith(conditions, keys), extra: [] };
        },
      });
      return statisticsOf(
        this.#prepare<StatisticsRow>(text).all(sql.values as Value[]),
        query.limit,
      );
    }, "DEFERRED");
  }

  addressRanges({ size, without }: AddressRangesQuery): AddressRange[] {
    const sql = new Sql(this.dialect);
    const each = sql.add(size);
    // The index holds all that is read.
    return this.#prepare<[number, number, number]>(
      `SELECT (r.id - 1) / CAST(${each} AS INTEGER) AS part, count(*), max(r.modified_at) FROM ${INDEXES.modified}
        WHERE ${joined(addressed(without, this.dialect, sql), "AND")} GROUP BY part ORDER BY part`,
    )
      .all(sql.values as Value[])
      .map(([range, records, modifiedAt]) => ({ range, records, modifiedAt }));
  }

  addresses({ after, upTo, limit, without }: AddressesQuery): AddressPage {
    const sql = new Sql(this.dialect);
    const where = [
      `r.id > ${sql.add(after)} AND r.id <= ${sql.add(upTo)}`,
      ...addressed(without, this.dialect, sql),
    ];
    // As one text: a row of libSQL's takes ten times as long as its part of that.
    const [text] = this.#prepare<[string]>(
      `SELECT json_group_array(json_array(id, ark, modified_at)) FROM (SELECT r.id, r.ark,
        r.modified_at FROM record AS r NOT INDEXED WHERE ${joined(where, "AND")}
        ORDER BY r.id LIMIT ${sql.add(limit + 1)})`,
    ).one(sql.values as Value[]);
    return addressPage(storedJson<AddressRow[]>(text, "a list of records"), limit);
  }

  #numbered(
    query: SelectionQuery,
    { after, before }: { after: Place | undefined; before: Place | undefined },
  ): Numbered[] {
    const { order, backward = false, limit } = query;
    const conditions = conditionsOf(query, this.dialect);
    const plan = isOfDeleted(query.filter) ? DELETED : this.#plan(query, conditions);
    const column = orderKey(query, "folded", this.dialect);
    const downwards = order.descending !== backward;
    const [behind, ahead] = order.descending ? (["<", ">"] as const) : ([">", "<"] as const);
    const sql = new Sql(this.dialect, query.viewer);
    const by = (key: string | null, id: string): string =>
      [key, id]
        .flatMap((each) => (each === null ? [] : [each + (downwards ? " DESC" : "")]))
        .join();
    const most = sql.add(limit + 1);
    const asked = left(conditions, plan).map((condition) =>
      this.#isAsked(condition, plan, query.viewer) ? condition.holds! : condition.sql,
    );
    const read = (from: string, share: readonly string[]): string => {
      const where = [
        ...share,
        ...asked.map((condition) => condition(sql)),
        ...(after ? [beyond(after, [column, plan.id], behind, sql)] : []),
        ...(before ? [beyond(before, [column, plan.id], ahead, sql)] : []),
      ];
      return `SELECT r.id AS id, ${column ?? "NULL"} AS key FROM ${from}
        WHERE ${joined(where, "AND")}`;
    };
    const shares = this.#shares(query, plan, sql);
    if (plan !== BY_NAME && shares.length === 1) {
      const [{ from, where }] = shares as [(typeof shares)[0]];
      const text = `${read(from, where)} ORDER BY ${by(column, plan.id)} LIMIT ${most}`;
      return this.#prepare<Numbered>(text).all(sql.values as Value[]);
    }
    // Each kind is read by itself, and only as far as the page needs.
    const parts = shares.flatMap(({ from, where, isOwn }) =>
      plan === BY_NAME && !isOwn
        ? kindsOf(conditions).map((kind) => read(from, [...where, `r.kind = ${sql.add(kind)}`]))
        : [read(from, where)],
    );
    const text = firstOf(parts, by(column === null ? null : "key", "id"), most);
    return this.#prepare<Numbered>(text).all(sql.values as Value[]);
  }

  #plan(query: SelectionQuery, conditions: readonly Condition[]): Plan {
    const sole = planOfSole(query, conditions);
    if (sole) return sole;
    const { order, viewer } = query;
    const best = this.#sparsest(conditions, viewer);
    if (best && best.count < this.#sparse) return { ...best.plan, few: true };
    // Of a walk, each record would be looked up among those that the text finds.
    if (order.by !== "created")
      for (const condition of conditions)
        if (condition.inOrder && !this.#isDense(condition, viewer)) return planFor(condition)!;
    if (order.by === "name") return BY_NAME;
    const few = this.#named(conditions, viewer);
    if (few) return few;
    const walk = walkInOrder(order);
    if (walk) return walk;
    const natural = conditions
      .map((each) => planFor(each))
      .filter((plan) => plan?.natural === true);
    // What the search index finds is not looked up there for each record of another index.
    return natural.find((plan) => plan?.meets) ?? natural[0] ?? ALL_RECORDS;
  }

  /** The condition that the fewest records meet, of those that an index answers. */
  #sparsest(
    conditions: readonly Condition[],
    viewer: Viewer | undefined,
    most = this.#sparse,
  ): { plan: Plan; count: number } | undefined {
    let best: { plan: Plan; count: number } | undefined;
    const sole = soleOf(conditions);
    for (const condition of (sole ? [sole] : conditions)
      .flatMap((each) => (planFor(each) ? each : []))
      .toSorted((a, b) => Number(a.holdsQuickly ?? false) - Number(b.holdsQuickly ?? false))
      .slice(0, MAX_COUNTED)) {
      const plan = planFor(condition, kindsOf(conditions));
      if (!plan || best?.count === 0) continue;
      // To ask a few records takes less than to find all that meet it.
      if (condition.holdsQuickly && best && best.count < most) break;
      const sql = new Sql(this.dialect, viewer);
      // Those of one viewer are few.
      const isOpen = viewer === undefined ? "r.private IN (0, 1)" : "r.private = 0";
      const where = [
        LIVE,
        ...(plan.reads ? [isOpen] : []),
        ...plan.extra(sql),
        ...(plan.meets === condition ? [] : [condition.sql(sql)]),
      ];
      const [count] = this.#prepare<[number]>(
        `SELECT count(*) FROM (SELECT 1 FROM ${plan.from(sql)} WHERE ${joined(where, "AND")}
          LIMIT ${most})`,
      ).one(sql.values as Value[]);
      if (best === undefined || count < best.count) best = { plan, count };
    }
    return best;
  }

  /** Whether each record is asked whether it meets the condition, without all that do. */
  #isAsked(condition: Condition, plan: Plan, viewer: Viewer | undefined): boolean {
    if (condition.holdsQuickly && plan.few) return true;
    const isWalk = plan === BY_NAME || plan === BY_MODIFIED || plan === BY_PUBLISHED;
    return (isWalk || (condition.holdsQuickly ?? false)) && this.#isDense(condition, viewer);
  }

  #isDense({ ids, holds }: Condition, viewer: Viewer | undefined): boolean {
    if (!ids || !holds) return false;
    const sql = new Sql(this.dialect, viewer);
    const [count] = this.#prepare<[number]>(
      `SELECT count(*) FROM (SELECT 1 FROM (${ids(sql)}) LIMIT ${this.#dense})`,
    ).one(sql.values as Value[]);
    return count === this.#dense;
  }

  /**
   * The few records with a part of the name, or `undefined` when they are many. No index answers
   * that, but one holds all names, and is read once.
   */
  #named(conditions: readonly Condition[], viewer: Viewer | undefined): Plan | undefined {
    const part = conditions.find(({ field }) => field === "part of the name");
    if (!part) return undefined;
    const sql = new Sql(this.dialect, viewer);
    const parts = sql.shares.map(({ sql: share, isOwn }) => {
      const where = [share, DIALECT.anyOf("r.kind", kindsOf(conditions), sql), part.sql(sql)];
      return `SELECT r.id FROM ${isOwn ? OWN : INDEXES.name} WHERE ${joined(where, "AND")}`;
    });
    const ids = this.#prepare<[number]>(`${parts.join(" UNION ALL ")} LIMIT ${MAX_NAMES_READ}`)
      .all(sql.values as Value[])
      .map(([id]) => id);
    if (ids.length === MAX_NAMES_READ) return undefined;
    return named(
      (main) =>
        `json_each(${main.add(JSON.stringify(ids))}) AS d CROSS JOIN record AS r ON r.id = d.value`,
      { few: true },
    );
  }

  #prepare<R extends Numbered | [number] | [string] | StatisticsRow>(text: string): Statement<R> {
    let statement = this.#prepared.get(text);
    if (!statement) this.#prepared.set(text, (statement = this.#connection.prepare(text)));
    return statement as unknown as Statement<R>;
  }
}

/** Where one condition says how to read, and in which order records are met. */
function planOfSole(
  { order, backward = false }: SelectionQuery,
  conditions: readonly Condition[],
): Plan | undefined {
  const sole = soleOf(conditions);
  if (order.by === "name" && sole?.field === "kind") return BY_NAME;
  if (order.by !== "created" || !sole) return undefined;
  // Such records are met at once, from the end of the range that is open.
  const open = order.descending !== backward ? "before" : "since";
  if (sole.range && sole.range[open] === undefined) return ALL_RECORDS;
  return sole.ids ? undefined : planFor(sole, kindsOf(conditions));
}

/**
 * The index that has the times of an order. By date of publication it begins with the last: the
 * other way round, records without a date would come first.
 */
function walkInOrder({ by, descending }: SelectionQuery["order"]): Plan | undefined {
  if (by === "modified") return BY_MODIFIED;
  return by === "published" && descending ? BY_PUBLISHED : undefined;
}

/** @param kinds that a plan of keywords reads */
function planFor(
  condition: Condition,
  kinds = KIND_NAMES as readonly KindName[],
): Plan | undefined {
  const { field, values = [], ids, inOrder = false } = condition;
  if (ids && inOrder)
    return named((sql) => `(${ids(sql)}) AS d CROSS JOIN record AS r ON r.id = d.id`, {
      id: "d.id",
      natural: true,
      meets: condition,
    });
  if (ids)
    return named(
      (sql) => `(SELECT DISTINCT id FROM (${ids(sql)})) AS d CROSS JOIN record AS r
        ON r.id = d.id`,
      { meets: condition },
    );
  const single = values.length === 1;
  switch (field) {
    case undefined:
    case "part of the name":
      return undefined;
    case "keyword":
      return named(
        (sql) =>
          `(SELECT ${single ? "" : "DISTINCT "}record FROM keyword
            WHERE ${DIALECT.anyOf("word", values, sql)}${
              kinds.length === KIND_NAMES.length ? "" : ` AND ${DIALECT.anyOf("kind", kinds, sql)}`
            }) AS k CROSS JOIN record AS r ON r.id = k.record`,
        { id: "k.record", natural: single },
      );
    case "name":
      return reading(INDEXES.name, false, (sql) => [DIALECT.anyOf("r.kind", KIND_NAMES, sql)]);
    case "owner":
      return reading(INDEXES.owner, single, () => ["r.owner_key IS NOT NULL"]);
    case "crate":
      return reading(INDEXES.crate, single, () => ["r.crate IS NOT NULL"]);
    case "licence":
      return reading(INDEXES.licence, single, () => ["r.licence IS NOT NULL"]);
    default:
      return reading(INDEXES[field], single);
  }
}

/** The kinds that the conditions allow. */
function kindsOf(conditions: readonly Condition[]): readonly KindName[] {
  const stated = conditions.find(({ field }) => field === "kind")?.values;
  return KIND_NAMES.filter((kind) => stated?.includes(kind) ?? true);
}

/** Where statistics read: from the keywords, or from an index that holds all that is needed. */
function readWith(conditions: readonly Condition[], keys: readonly StatisticsKey[]): string {
  if (keys.includes("keyword")) return "keyword AS g CROSS JOIN record AS r ON r.id = g.record";
  const needed = new Set<string | undefined>([
    ...keys.map((key) => (key === "month" ? "created" : key)),
    ...conditions.map(({ field, reads }) => field ?? reads),
  ]);
  const within = (...fields: string[]): boolean =>
    [...needed].every((field) => field !== undefined && fields.includes(field));
  return within("kind", "status") ? INDEXES.status : INDEXES.open;
}

/** Whether a page takes about as many steps as it has records, so that no thread is needed. */
export function isQuick({ filter, order }: SelectionQuery): boolean {
  if (order.by === "size" || order.by === "score" || order.by === "published") return false;
  const conditions = conditionsOf({ filter }, DIALECT);
  if (conditions.length === 0) return true;
  const sole = soleOf(conditions);
  // Whether many have a part of the name, no index says.
  if (sole?.values?.length !== 1 || conditions.some(({ field }) => field === "part of the name"))
    return false;
  return order.by === "created" || (order.by === "name" && sole.field === "kind");
}
