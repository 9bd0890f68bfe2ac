import { createHash } from "node:crypto";
import { ServiceError } from "../../errors.js";
import { KIND_NAMES, type KindName } from "../../model/kind.js";
import type {
  LinkedTo,
  RecordFilter,
  RecordOrder,
  Selection,
  TimeRange,
} from "./selection-port.js";
import { fold, isStorableText } from "./text.js";

/** A value that both databases can bind; a list is one parameter. */
export type SqlValue = string | number | readonly string[] | readonly number[];

/** The SQL in which two databases differ. Conditions are about `record AS r`. */
export interface Dialect {
  placeholder(number: number): string;
  /** The column has one of the values. */
  anyOf(column: string, values: readonly string[], sql: Sql): string;
  nameIs(folded: string, sql: Sql): string;
  nameContains(folded: string, sql: Sql): string;
  nameStartsWith(folded: string, sql: Sql): string;
  /** A keyword as the database holds it. */
  word(keyword: string): string;
  /** Conditions on `object_ref AS o` for the stored content of now. */
  readonly currentContent: string;
}

/** The parameters of one statement. Text of a caller is never a part of the SQL. */
export class Sql {
  readonly values: SqlValue[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Adds a parameter; returns its placeholder. */
  add(value: SqlValue): string {
    this.values.push(value);
    return this.#dialect.placeholder(this.values.length);
  }
}

/** What a condition is about, for the choice of an index; several values may be in any order. */
export type ConditionField =
  | "kind"
  | "name"
  | "part of the name"
  | "keyword"
  | "owner"
  | "crate"
  | "status"
  | "created"
  | "modified";

/** One of the conditions that must all hold. */
export interface Condition {
  sql(sql: Sql): string;
  /** Absent where no index finds its records. */
  field?: ConditionField;
  /** SELECT of the numbers, as `id`, of all records that may meet it. */
  ids?(sql: Sql): string;
  /** The field that it is about, where its index does not find the records. */
  reads?: ConditionField;
  /** The values that the field may have. */
  values?: readonly string[];
  /** The times, for a field that is one. */
  range?: TimeRange;
}

const NONE = "(1 = 0)";
const ALL = "(1 = 1)";

/** The conditions of a selection, in SQL of one dialect. */
export function conditionsOf({ filter, without = [] }: Selection, dialect: Dialect): Condition[] {
  return [...flattened(filter, dialect), ...withoutKinds(without, dialect)];
}

/** The kinds of which all live records are selected; `undefined` where the filter says more. */
export function wholeKinds({ filter, without = [] }: Selection): KindName[] | undefined {
  const { kinds = KIND_NAMES, ...more } = filter;
  return Object.keys(more).length > 0
    ? undefined
    : KIND_NAMES.filter((kind) => kinds.includes(kind) && !without.includes(kind));
}

const withoutKinds = (kinds: readonly KindName[], dialect: Dialect): Condition[] =>
  kinds.length === 0
    ? []
    : [{ sql: (sql) => `NOT ${dialect.anyOf("r.kind", kinds, sql)}`, reads: "kind" }];

function flattened(filter: RecordFilter, dialect: Dialect): Condition[] {
  const { and, or, not } = filter;
  const all = (inner: RecordFilter, sql: Sql): string =>
    joined(
      flattened(inner, dialect).map((condition) => condition.sql(sql)),
      "AND",
    );
  const conditions = plain(filter, dialect);
  for (const inner of and ?? [])
    for (const condition of flattened(inner, dialect)) conditions.push(condition);
  if (or)
    conditions.push({
      sql: (sql) =>
        joined(
          or.map((inner) => all(inner, sql)),
          "OR",
        ),
    });
  // Not simply NOT: a column without a value is neither this nor that.
  if (not) conditions.push({ sql: (sql) => `((${all(not, sql)}) IS NOT TRUE)` });
  return conditions;
}

/**
 * Conditions in one, as a balanced tree: SQLite refuses expressions that nest a thousand deep, as a
 * plain row of them does.
 */
export function joined(parts: readonly string[], word: "AND" | "OR"): string {
  if (parts.length < 2) return parts[0] ?? (word === "AND" ? ALL : NONE);
  const half = Math.ceil(parts.length / 2);
  return `(${joined(parts.slice(0, half), word)} ${word} ${joined(parts.slice(half), word)})`;
}

/** The conditions that a filter states itself. */
function plain(filter: RecordFilter, dialect: Dialect): Condition[] {
  const conditions: Condition[] = [];
  const text = (name: string | undefined, condition: (folded: string, sql: Sql) => string) => {
    if (name === undefined) return;
    conditions.push({
      sql: (sql) => (isStorableText(name) ? condition(fold(name), sql) : NONE),
      field: condition === dialect.nameContains ? "part of the name" : "name",
    });
  };
  const listed = (
    field: ConditionField,
    values: readonly string[] | undefined,
    condition: (storable: readonly string[], sql: Sql) => string,
  ) => {
    if (values === undefined) return;
    const storable = [...new Set(values.filter(isStorableText))];
    conditions.push({
      sql: (sql) => (storable.length === 0 ? NONE : condition(storable, sql)),
      ...(storable.length === 0 ? {} : { field, values: storable }),
    });
  };
  const column = (name: string) => (values: readonly string[], sql: Sql) =>
    dialect.anyOf(name, values, sql);

  listed("kind", filter.kinds, column("r.kind"));
  text(filter.nameIs, dialect.nameIs);
  text(filter.nameContains, dialect.nameContains);
  text(filter.nameStartsWith, dialect.nameStartsWith);
  listed(
    "keyword",
    filter.keywords?.map((keyword) => dialect.word(keyword)),
    (words, sql) =>
      `EXISTS (SELECT 1 FROM keyword AS k WHERE k.record = r.id
        AND ${dialect.anyOf("k.word", words, sql)})`,
  );
  listed("owner", filter.owners, column("r.owner_key"));
  const { linked } = filter;
  if (linked) conditions.push(inNumbers((sql) => linkedIds(linked, dialect, sql)));
  const formats = filter.formats?.filter(isStorableText).map((format) => format.toLowerCase());
  if (formats)
    conditions.push(
      inNumbers(
        (sql) => `SELECT o.record AS id FROM object_ref AS o
          WHERE ${dialect.currentContent} AND ${dialect.anyOf("lower(o.media_type)", formats, sql)}`,
      ),
    );
  listed("crate", filter.crates, column("r.crate"));
  listed("status", filter.statuses, column("r.status"));
  for (const field of ["created", "modified"] as const) {
    const range = filter[field];
    if (range)
      conditions.push({ field, range, sql: (sql) => inRange(`r.${field}_at`, range, sql) });
  }
  return conditions;
}

const inNumbers = (ids: (sql: Sql) => string): Condition => ({
  sql: (sql) => `r.id IN (${ids(sql)})`,
  ids,
});

function linkedIds(linked: LinkedTo, dialect: Dialect, sql: Sql): string {
  if (!isStorableText(linked.key)) return `SELECT id FROM record WHERE ${NONE}`;
  const key = sql.add(linked.key);
  return `SELECT l.source AS id FROM link AS l JOIN via AS v ON v.id = l.via
      WHERE l.target_key = ${key} AND ${dialect.anyOf("v.predicate", linked.in, sql)}
    UNION SELECT t.id FROM record AS x JOIN link AS l ON l.source = x.id
      JOIN via AS v ON v.id = l.via JOIN record AS t ON t.key = l.target_key
      WHERE x.key = ${key} AND ${dialect.anyOf("v.predicate", linked.out, sql)}`;
}

function inRange(column: string, { since, before }: TimeRange, sql: Sql): string {
  const parts = [
    ...(since === undefined ? [] : [`${column} >= ${sql.add(since)}`]),
    ...(before === undefined ? [] : [`${column} < ${sql.add(before)}`]),
  ];
  return parts.length === 0 ? ALL : `(${parts.join(" AND ")})`;
}

/** Where a record stands in a selection: the value it is ordered by, then its number. */
export interface Place {
  key: number | string | null;
  id: number;
}

const MALFORMED =
  "The cursor is not from this list; pass startCursor or endCursor of one of its pages.";
const OTHER =
  "The cursor is from a list with another filter or order; repeat the filter and the order of " +
  "that list, or start again without the cursor.";

/**
 * Positions of one filter and order. They begin with a digest of both, so that a position of
 * another list is refused rather than read as a place in this one.
 */
export class Positions {
  readonly #digest: string;
  readonly #by: RecordOrder["by"];

  constructor(filter: RecordFilter, { by, descending }: RecordOrder) {
    this.#by = by;
    this.#digest = createHash("sha256")
      .update(JSON.stringify([sorted(filter), by, descending]))
      .digest("base64url")
      .slice(0, 8);
  }

  write({ key, id }: Place): string {
    const parts = [this.#digest, String(id)];
    if (typeof key === "number") parts.push(String(key));
    else if (key !== null) parts.push(Buffer.from(key, "utf8").toString("base64url"));
    return parts.join(".");
  }

  /** @throws ServiceError `BAD_REQUEST` */
  read(position: string): Place {
    const [digest = "", id = "", key, ...more] = position.split(".");
    if (!/^[\w-]{8}$/.test(digest) || !/^\d{1,15}$/.test(id) || more.length > 0)
      throw new ServiceError("BAD_REQUEST", MALFORMED);
    if (digest !== this.#digest) throw new ServiceError("BAD_REQUEST", OTHER);
    const place = { id: Number(id), key: this.#key(key) };
    if ((this.#by !== "created" && place.key === null) || this.write(place) !== position)
      throw new ServiceError("BAD_REQUEST", MALFORMED);
    return place;
  }

  #key(key: string | undefined): number | string | null {
    if (this.#by === "created") return null;
    if (this.#by === "modified") return Number.isSafeInteger(Number(key)) ? Number(key) : null;
    const name = Buffer.from(key ?? "", "base64url").toString("utf8");
    return isStorableText(name) ? name : null;
  }
}

/** The same value with the members of its objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}

/** Condition that a record stands behind a place, or before it, by the columns of key and number. */
export function beyond(
  { key, id }: Place,
  [keyColumn, idColumn]: readonly [key: string | null, id: string],
  direction: ">" | "<",
  sql: Sql,
): string {
  if (keyColumn === null || key === null) return `${idColumn} ${direction} ${sql.add(id)}`;
  return `(${keyColumn}, ${idColumn}) ${direction} (${sql.add(key)}, ${sql.add(id)})`;
}
