import { createHash } from "node:crypto";
import { ServiceError } from "../../errors.js";
import { OF_PROJECT } from "../../model/connections.js";
import { arkKey } from "../../identifiers/ark.js";
import { KIND_NAMES, type KindName } from "../../model/kind.js";
import {
  type LinkedTo,
  type RecordFilter,
  type RecordOrder,
  type RelatedTo,
  SCORE_BANDS,
  type ScoreRange,
  type Selection,
  type SelectionQuery,
  type Statistics,
  type StatisticsKey,
  type StatisticsQuery,
  type TimeRange,
} from "./port/selection.js";
import type { Viewer } from "./port/record.js";
import { fold, isStorableText } from "./text.js";
import { actsForSql, NOBODY, ofLinkSql, seenSql, viewerKey, withinLinkSql } from "./visibility.js";

/** A value that both databases can bind; a list is one parameter. */
export type SqlValue = string | number | Uint8Array | readonly string[] | readonly number[];

/** The SQL in which two databases differ. Conditions are about `record AS r`. */
export interface Dialect {
  placeholder(number: number): string;
  /** The column has one of the values. */
  anyOf(column: string, values: readonly string[], sql: Sql): string;
  /** The column has a value that a SELECT of a few finds. */
  readonly oneOf: (column: string, select: string) => string;
  nameIs(folded: string, sql: Sql): string;
  nameContains(folded: string, sql: Sql): string;
  nameStartsWith(folded: string, sql: Sql): string;
  /** A keyword as the database holds it. */
  word(keyword: string): string;
  /**
   * SELECT of the numbers, as `id` and each once, of the records that a query finds.
   * @param share that is asked about; absent: all records
   */
  textIds(text: string, sql: Sql, share?: Share): string;
  /** The same as a condition on one record, where asking for each is quick. */
  textHolds?(text: string, sql: Sql): string;
  /** Conditions on `object_ref AS o` for the stored content of now. */
  readonly currentContent: string;
  /** Joins a table that is read after those before it. */
  readonly thenJoin: string;
  /** The document in `state AS t` holds the text. */
  documentHolds(text: string, sql: Sql): string;
}

/** The parameters of one statement. Text of a caller is never a part of the SQL. */
export class Sql {
  readonly values: SqlValue[] = [];
  /** Tables of the subquery that is written, and how many the statement has. */
  #tables: string[] | undefined;
  #named = 0;
  readonly #dialect: Dialect;
  readonly #viewer: Viewer | undefined;
  /** Placeholder of the viewer, where one is needed. */
  #seer: string | undefined;

  constructor(dialect: Dialect, viewer?: Viewer) {
    this.#dialect = dialect;
    this.#viewer = viewer;
  }

  /** Condition that the viewer sees the record of this alias. */
  seen(record: string): string {
    if (this.#viewer === undefined) return ALL;
    const key = viewerKey(this.#viewer);
    return key === "" ? `${record}.private = 0` : seenSql(record, this.#placeOf(key!));
  }

  /** Conditions that each live record that the viewer sees meets one of. */
  get shares(): Share[] {
    return liveShares(this.#viewer, (key) => this.#placeOf(key), this.#dialect.oneOf);
  }

  /**
   * Placeholder of the user who reads; null: it has no private records, `undefined`: all of them.
   * Who reads by a link is no user.
   */
  get seer(): string | null | undefined {
    const user = this.#viewer?.user;
    return user == null ? user : this.#placeOf(user);
  }

  #placeOf(key: string): string {
    return (this.#seer ??= `CAST(${this.add(key)} AS text)`);
  }

  /** Adds a parameter; returns its placeholder. */
  add(value: SqlValue): string {
    this.values.push(value);
    return this.#dialect.placeholder(this.values.length);
  }

  /**
   * Writes a subquery that reads a table of its own, which is read once. The tables of subqueries
   * within that table stand before it and not in it: SQLite refuses what nests too deep.
   */
  reading(table: () => string, subquery: (name: string) => string): string {
    const outer = this.#tables;
    const tables = (this.#tables ??= []);
    const text = table();
    const name = `other${this.#named++}`;
    tables.push(`${name} AS MATERIALIZED (${text})`);
    this.#tables = outer;
    return outer ? subquery(name) : `WITH ${tables.join(", ")} ${subquery(name)}`;
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
  | "licence"
  | "created"
  | "modified"
  | "published"
  | "deleted";

/** One of the conditions that must all hold. */
export interface Condition {
  /** @param share of the records that are asked about, where a shorter condition does for it */
  sql(sql: Sql, share?: Share): string;
  /** Absent where no index finds its records. */
  field?: ConditionField;
  /** SELECT of the numbers, as `id`, of all records, or of a share, that may meet it. */
  ids?(sql: Sql, share?: Share): string;
  /** Those numbers come each once, and in their order. */
  inOrder?: true;
  /**
   * Asks for one record, without all of those numbers.
   * @param links that are asked for one by one, behind the first one of a chain
   */
  holds?(sql: Sql, links?: number): string;
  /** That takes no longer than to read a few rows. */
  holdsQuickly?: true;
  /** The field that it is about, where its index does not find the records. */
  reads?: ConditionField;
  /** The values that the field may have. */
  values?: readonly string[];
  /** The times, for a field that is one. */
  range?: TimeRange;
  /** Nearly all records meet it. */
  leavesMost?: true;
}

const NONE = "(1 = 0)";
const ALL = "(1 = 1)";
/** SELECT of no number. */
export const NO_IDS = `SELECT r.id FROM record AS r WHERE ${NONE}`;

/** Whether deleted records are selected, in place of live ones. */
export const isOfDeleted = ({ deleted, and = [] }: RecordFilter): boolean =>
  deleted !== undefined || and.some(isOfDeleted);

/** The condition that a record is live, or deleted, as the filter wants it, and seen. */
export const baseOf = ({ filter }: Selection, sql: Sql): string =>
  `r.deleted_at IS ${isOfDeleted(filter) ? "NOT NULL" : "NULL"} AND ${sql.seen("r")}`;

/** Some of the records that a viewer sees. */
export interface Share {
  sql: string;
  /** Absent where both are among them. */
  isPrivate?: boolean;
  /** The viewer's own private records, which an index by owner finds. */
  isOwn: boolean;
  /** SELECT of the keys of their owners. */
  owners?: string;
}

/**
 * Conditions that each record of {@link baseOf} meets one of: an index answers each, so that the
 * private records of others are not read.
 */
export function sharesOf(selection: Selection, sql: Sql): Share[] {
  if (isOfDeleted(selection.filter)) return [{ sql: baseOf(selection, sql), isOwn: false }];
  return sql.shares;
}

/**
 * The same of all live records.
 * @param place of a {@link viewerKey} among the parameters
 */
export function liveShares(
  viewer: Viewer | undefined,
  place: (key: string) => string,
  oneOf: Dialect["oneOf"],
): Share[] {
  const live = "r.deleted_at IS NULL AND r.private";
  const open = { sql: `${live} = 0`, isPrivate: false, isOwn: false };
  const key = viewerKey(viewer);
  if (key === "") return [open];
  if (key === null) return [open, { sql: `${live} = 1`, isPrivate: true, isOwn: false }];
  const asked = place(key);
  const owners = actsForSql(asked);
  return viewer?.link === undefined
    ? [
        open,
        {
          sql: `${live} = 1 AND ${oneOf("r.owner_key", owners)}`,
          isPrivate: true,
          isOwn: true,
          owners,
        },
      ]
    : [
        open,
        {
          sql: `${live} = 1 AND (${ofLinkSql("r", asked)} OR ${withinLinkSql("r", asked)})`,
          isPrivate: true,
          isOwn: false,
        },
      ];
}

/**
 * The first of several SELECTs in one order, each of which is read only as far as that needs.
 * @param order columns of all of them
 * @param limit placeholder
 */
export const firstOf = (selects: readonly string[], order: string, limit: string): string =>
  `${
    selects.length === 1
      ? selects[0]
      : selects
          .map((each) => `SELECT * FROM (${each} ORDER BY ${order} LIMIT ${limit}) AS part`)
          .join(" UNION ALL ")
  } ORDER BY ${order} LIMIT ${limit}`;

/** The conditions of a selection, in SQL of one dialect. */
export function conditionsOf(
  { filter, without = [], notEndingWith }: Selection,
  dialect: Dialect,
): Condition[] {
  const conditions = [...flattened(filter, dialect), ...withoutKinds(without, dialect)];
  if (notEndingWith !== undefined)
    conditions.push({
      sql: (sql) => {
        const end = `CAST(${sql.add(notEndingWith)} AS text)`;
        return `substr(r.ark, length(r.ark) - length(${end}) + 1) <> ${end}`;
      },
      leavesMost: true,
    });
  return conditions;
}

/** The kinds of which all live records are selected; `undefined` where the filter says more. */
export function wholeKinds({
  filter,
  without = [],
  notEndingWith,
}: Selection): KindName[] | undefined {
  const { kinds = KIND_NAMES, ...more } = filter;
  return Object.keys(more).length > 0 || notEndingWith !== undefined
    ? undefined
    : KIND_NAMES.filter((kind) => kinds.includes(kind) && !without.includes(kind));
}

/**
 * The only keyword that is asked for, of whole kinds: the table of keywords counts its records,
 * which are live and open.
 */
export function wholeKeyword({
  filter,
  ...selection
}: Selection): { keyword: string; kinds: KindName[] } | undefined {
  const { keywords: [keyword, ...others] = [], ...more } = filter;
  const kinds = wholeKinds({ filter: more, ...selection });
  return kinds && keyword !== undefined && others.length === 0 && isStorableText(keyword)
    ? { keyword, kinds }
    : undefined;
}

/** Fields whose indexes have the kind of each record too. */
const WITH_KIND: ReadonlySet<ConditionField | undefined> = new Set(["keyword", "owner", "crate"]);

/**
 * The condition whose index gives the records in the order of creation, with all that the other
 * conditions ask about: a single one, or one within a kind. That of kinds has the names.
 */
export function soleOf(conditions: readonly Condition[]): Condition | undefined {
  const selective = conditions.filter(({ leavesMost }) => !leavesMost);
  const kind = selective.find(({ field }) => field === "kind");
  const [other = kind, ...more] = selective.filter((each) => each !== kind);
  if (more.length > 0) return undefined;
  if (!kind || other === kind || WITH_KIND.has(other?.field)) return other;
  return other?.field === "part of the name" ? kind : undefined;
}

const withoutKinds = (kinds: readonly KindName[], dialect: Dialect): Condition[] =>
  kinds.length === 0
    ? []
    : [
        {
          sql: (sql) => `NOT ${dialect.anyOf("r.kind", kinds, sql)}`,
          reads: "kind",
          leavesMost: true,
        },
      ];

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

/** Only an act of publication sets a status, so only a DRAFT is asked for its past. */
const DISCLOSED = `r.private = 0 AND (r.status <> 'DRAFT' OR EXISTS (SELECT 1 FROM revision AS v
    WHERE v.record = r.id AND v.action = 'publish'))`;
/** Conditions on `record AS r` for an address that anyone may know. */
export const addressed = (
  without: readonly KindName[],
  dialect: Dialect,
  sql: Sql,
): readonly string[] => [
  "r.deleted_at IS NULL",
  "r.status <> 'DRAFT'",
  // A file of a private crate may be EMBARGOED.
  "r.private = 0",
  ...withoutKinds(without, dialect).map((condition) => condition.sql(sql)),
];

/** In place of a value that a record has not, so that it comes last. */
const [BELOW_ALL, ABOVE_ALL] = [-1, Number.MAX_SAFE_INTEGER];
/** The same of a date of publication, which may lie before 1970. */
const NEVER = -1_000_000_000_000_000;
/** When a record was published, exactly as the indexes have it; `of` names the table. */
export const publishedAt = (of = ""): string =>
  `coalesce(${of}stated_at, ${of}published_at, ${NEVER})`;

/**
 * The value of `record AS r` that each order is by; null for the number. The last change of a
 * deleted record is its deletion, by which there is an index.
 * @param name column of the name
 */
export function orderKey(
  { filter, order: { by, descending } }: Pick<SelectionQuery, "filter" | "order">,
  name: string,
  dialect: Dialect,
): string | null {
  const orLast = (value: string): string =>
    `coalesce(${value}, ${descending ? BELOW_ALL : ABOVE_ALL})`;
  switch (by) {
    case "created":
      return null;
    case "modified":
      return `r.${isOfDeleted(filter) ? "deleted" : "modified"}_at`;
    case "published":
      return descending ? publishedAt("r.") : `coalesce(r.stated_at, r.published_at, ${ABOVE_ALL})`;
    case "name":
      return `r.${name}`;
    case "size":
      return orLast(bytesOf(dialect));
    case "score":
      return orLast(PERCENT);
  }
}

/** Bytes of the stored content of `record AS r`; null without. */
const bytesOf = ({ currentContent }: Dialect): string =>
  `(SELECT CAST(sum(o.size) AS bigint) FROM object_ref AS o WHERE o.record = r.id AND ${currentContent})`;

/** Only crates have a score, and asking for each record takes as long as all the rest. */
const PERCENT = `CASE WHEN r.kind = 'rocrate'
  THEN (SELECT s.percent FROM score AS s WHERE s.crate = r.ark) END`;

const storableOf = (values: readonly string[]): string[] => [
  ...new Set(values.filter(isStorableText)),
];

/** Records that state no licence, or one of the others that are asked for beside. */
function unlicensed({ licences }: RecordFilter, dialect: Dialect): Condition | undefined {
  if (!licences?.includes("")) return undefined;
  const others = storableOf(licences);
  return { sql: (sql) => `(r.licence IS NULL OR ${dialect.anyOf("r.licence", others, sql)})` };
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
    const storable = storableOf(values);
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
  for (const condition of linkConditions(filter, dialect)) conditions.push(condition);
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
  const none = unlicensed(filter, dialect);
  if (none) conditions.push(none);
  else listed("licence", filter.licences, column("r.licence"));
  const { score, text: query, group, describedBy } = filter;
  if (score) conditions.push(inNumbers((sql) => scoredIds(score, sql)));
  if (query !== undefined)
    conditions.push({
      ...inNumbers((sql, share) => dialect.textIds(query, sql, share)),
      inOrder: true,
      ...(dialect.textHolds ? { holds: (sql) => dialect.textHolds!(query, sql) } : {}),
    });
  if (group !== undefined)
    conditions.push({ field: "owner", sql: (sql) => ownedWithin(group, sql) });
  if (describedBy !== undefined)
    conditions.push(inNumbers((sql) => describedIds(describedBy, sql)));
  const { disclosed, mentions } = filter;
  if (disclosed) conditions.push({ sql: () => DISCLOSED, reads: "status" });
  if (mentions !== undefined)
    conditions.push({
      sql: (sql) =>
        isStorableText(mentions)
          ? `EXISTS (SELECT 1 FROM state AS t WHERE t.id = r.state
              AND ${dialect.documentHolds(mentions, sql)})`
          : NONE,
    });
  for (const field of ["created", "modified", "deleted"] as const) {
    const range = filter[field];
    if (range)
      conditions.push({ field, range, sql: (sql) => inRange(`r.${field}_at`, range, sql) });
  }
  if (filter.published) conditions.push(publishedIn(filter.published));
  return conditions;
}

/** Records that were never published are in no range. */
function publishedIn({ since = NEVER + 1, ...more }: TimeRange): Condition {
  const range = { since, ...more };
  return { field: "published", sql: (sql) => inRange(publishedAt("r."), range, sql) };
}

/** Those of links, and of the identifiers that links state. */
function linkConditions({ keys, linked, related }: RecordFilter, dialect: Dialect): Condition[] {
  const conditions: Condition[] = [];
  const known = keys?.filter(isStorableText);
  if (known)
    conditions.push(
      inNumbers(
        (sql) => `SELECT x.id FROM record AS x WHERE ${dialect.anyOf("x.key", known, sql)}`,
      ),
    );
  if (linked) conditions.push(inNumbers((sql) => linkedIds(linked, dialect, sql)));
  if (related)
    conditions.push({
      ...inNumbers((sql) => relatedIds(related, dialect, sql)),
      holds: (sql, links = NESTED_LINKS) => isRelated(related, links, dialect, sql),
      holdsQuickly: true,
    });
  return conditions;
}

const inNumbers = (ids: (sql: Sql, share?: Share) => string): Condition => ({
  sql: (sql, share) => `r.id IN (${ids(sql, share)})`,
  ids,
});

function scoredIds({ atLeast, below }: ScoreRange, sql: Sql): string {
  const parts = [
    "s.record IS NOT NULL",
    `s.percent >= ${sql.add(atLeast ?? 0)}`,
    ...(below === undefined ? [] : [`s.percent < ${sql.add(below)}`]),
  ];
  return `SELECT s.record AS id FROM score AS s WHERE ${parts.join(" AND ")}`;
}

/** Members are those that the group's own record names. */
function ownedWithin(key: string, sql: Sql): string {
  if (!isStorableText(key)) return NONE;
  const group = sql.add(key);
  return `r.owner_key IN (SELECT x.key FROM record AS x WHERE x.key = ${group}
    UNION SELECT l.target_key FROM record AS x JOIN link AS l ON l.source = x.id
      JOIN via AS v ON v.id = l.via WHERE x.key = ${group} AND x.deleted_at IS NULL
      AND v.predicate = 'schema:member')`;
}

function describedIds(crate: string, sql: Sql): string {
  if (!isStorableText(crate)) return NO_IDS;
  const ark = sql.add(crate);
  const isSeen = `EXISTS (SELECT 1 FROM record AS c WHERE c.key = ${sql.add(arkKey(crate))}
    AND c.ark = ${ark} AND ${sql.seen("c")})`;
  return `SELECT m.id FROM record AS m WHERE m.crate = ${ark} AND m.crate IS NOT NULL
      AND m.deleted_at IS NULL AND ${isSeen}
    UNION SELECT u.record AS id FROM crate_use AS u WHERE u.crate = ${ark} AND ${isSeen}`;
}

function linkedIds(linked: LinkedTo, dialect: Dialect, sql: Sql): string {
  if (!isStorableText(linked.key)) return NO_IDS;
  const key = sql.add(linked.key);
  return `SELECT l.source AS id FROM link AS l WHERE l.target_key = ${key}
      AND ${byPredicate(linked.in, linked.inKinds, dialect, sql)}
    UNION SELECT t.id FROM record AS x JOIN link AS l ON l.source = x.id
      JOIN via AS v ON v.id = l.via JOIN record AS t ON t.key = l.target_key
      WHERE x.key = ${key} AND ${sql.seen("x")}
      AND ${dialect.anyOf("v.predicate", linked.out, sql)}`;
}

/** Condition on `link AS l`. @param kinds of the record that states it */
function byPredicate(
  predicates: readonly string[],
  kinds: readonly KindName[] | undefined,
  dialect: Dialect,
  sql: Sql,
): string {
  const ofKind = kinds ? ` AND ${dialect.anyOf("v.kind", kinds, sql)}` : "";
  return `l.via IN (SELECT v.id FROM via AS v
    WHERE ${dialect.anyOf("v.predicate", predicates, sql)}${ofKind})`;
}

/** Links of a chain that are asked for one by one: SQLite refuses what nests too deep. */
const NESTED_LINKS = 1;

/** The live records, `r` of a SELECT of their own, that are seen and meet the filter of a link. */
const othersSql = (filter: RecordFilter, dialect: Dialect, sql: Sql, links = 0): string =>
  joined(
    [
      "r.deleted_at IS NULL",
      sql.seen("r"),
      ...flattened(filter, dialect).map((condition) =>
        condition.holdsQuickly && links > 0 ? condition.holds!(sql, links - 1) : condition.sql(sql),
      ),
    ],
    "AND",
  );

/** The keys of a filter that says nothing else, and is about the link alone. */
const solelyKeys = ({ keys, ...more }: RecordFilter): readonly string[] | undefined =>
  Object.keys(more).length === 0 ? keys?.filter(isStorableText) : undefined;

/** The numbers of all records that a link leads from, from the other records on. */
function relatedIds(related: RelatedTo, dialect: Dialect, sql: Sql): string {
  const { filter } = related;
  const keys = solelyKeys(filter);
  return sql.reading(
    () => `SELECT r.id, r.key FROM record AS r WHERE ${othersSql(filter, dialect, sql)}`,
    (other) => {
      const from = keys
        ? `link AS l WHERE ${dialect.anyOf("l.target_key", keys, sql)}`
        : `${other} AS x ${dialect.thenJoin} link AS l ON l.target_key = x.key WHERE ${ALL}`;
      return `SELECT l.source AS id FROM ${from}
          AND ${byPredicate(related.out, undefined, dialect, sql)}
        UNION ALL SELECT t.id FROM ${other} AS x ${dialect.thenJoin} link AS l ON l.source = x.id
          ${dialect.thenJoin} record AS t ON t.key = l.target_key
          WHERE ${byPredicate(related.in, related.inKinds, dialect, sql)}`;
    },
  );
}

/** The same for one record, from it on. */
function isRelated(related: RelatedTo, links: number, dialect: Dialect, sql: Sql): string {
  const { filter } = related;
  const keys = solelyKeys(filter);
  const stated = byPredicate(related.out, undefined, dialect, sql);
  const back = `SELECT l.source AS id FROM link AS l WHERE l.target_key = r.key
    AND ${byPredicate(related.in, related.inKinds, dialect, sql)}`;
  const others = (ids: string): string =>
    `EXISTS (SELECT 1 FROM (${ids}) AS x ${dialect.thenJoin} record AS r ON r.id = x.id
      WHERE ${othersSql(filter, dialect, sql, links)})`;
  return keys
    ? `(EXISTS (SELECT 1 FROM link AS l WHERE l.source = r.id AND ${stated}
        AND ${dialect.anyOf("l.target_key", keys, sql)}) OR ${others(back)})`
    : others(`SELECT t.id FROM link AS l ${dialect.thenJoin} record AS t ON t.key = l.target_key
        WHERE l.source = r.id AND ${stated} UNION ALL ${back}`);
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
    if (this.#by !== "name") return Number.isSafeInteger(Number(key)) ? Number(key) : null;
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

/** The SQL of statistics in which two databases differ. */
export interface StatisticsDialect extends Dialect {
  /** The first of a month, `2026-01`, from days since 1970. */
  monthOf(days: string): string;
  /** The year, `2026`, from days since 1970. */
  yearOf(days: string): string;
  /**
   * Where the records that meet the conditions are read, as `r`, and their keywords as `g`, where
   * these are a key; with what that needs in the conditions.
   */
  from(
    conditions: readonly Condition[],
    keys: readonly StatisticsKey[],
    sql: Sql,
    share: Share,
  ): { from: string; extra: readonly string[] };
  /** The shares of the records, where `from` names these: otherwise those that the viewer sees. */
  readonly shares?: readonly Share[];
}

/** `[value of each key…, records, bytes, records with content, per cent, crates with a score]` */
export type StatisticsRow = (string | number | null)[];

const SCORE_BAND = `CASE WHEN r.kind = 'rocrate' THEN (SELECT CASE ${SCORE_BANDS.map(
  ([band, from]) => `WHEN s.percent >= ${from} THEN '${band}'`,
).join(" ")} END FROM score AS s WHERE s.crate = r.ark) END`;

/** ms of a day. */
const DAY = 86_400_000;

/**
 * The statement of a query. Months and years are worked out from days, of which there are few: from each
 * record they took twice as long.
 */
export function statisticsSql(
  query: StatisticsQuery,
  dialect: StatisticsDialect,
): { text: string; sql: Sql } {
  const { by, sizes = false, limit } = query;
  const sql = new Sql(dialect, query.viewer);
  const conditions = conditionsOf(query, dialect);
  const content = `FROM object_ref AS o WHERE o.record = r.id AND ${dialect.currentContent}`;
  const read: Readonly<Record<StatisticsKey, string>> = {
    kind: "r.kind",
    month: `r.created_at / ${DAY}`,
    publicationYear: `coalesce(r.stated_at, r.published_at) / ${DAY}`,
    owner: "r.owner",
    keyword: "g.word",
    status: "r.status",
    licence: "r.licence",
    scoreBand: SCORE_BAND,
    crate: "r.crate",
    project: "p.project",
    format: `(SELECT lower(o.media_type) ${content} ORDER BY o.id LIMIT 1)`,
  };
  const sums = [
    "count(*)",
    ...[bytesOf(dialect), PERCENT].flatMap((each) =>
      sizes ? [`coalesce(sum(${each}), 0)`, `count(${each})`] : ["0", "0"],
    ),
  ];
  const columns = by.map((key, index) => `${read[key]} AS v${index}`);
  const places = by.map((_, index) => `v${index}`);
  // Private records have no keywords.
  const shares =
    dialect.shares ??
    (by.includes("keyword") && !isOfDeleted(query.filter)
      ? liveShares(NOBODY, () => "", dialect.oneOf)
      : sharesOf(query, sql));
  const inner = shares.map((share) => {
    const { from, extra } = dialect.from(conditions, by, sql, share);
    const where = [share.sql, ...extra, ...conditions.map((each) => each.sql(sql, share))];
    return `SELECT ${[...columns, ...sums.map((sum, index) => `${sum} AS n${index}`)].join(", ")}
      FROM ${from}${by.includes("project") ? ` JOIN (${projectsSql(dialect, sql)}) AS p ON p.record = r.id` : ""}
      WHERE ${joined(where, "AND")}
      ${places.length === 0 ? "" : `GROUP BY ${places.join(", ")}`}`;
  });
  const shownOf = (key: StatisticsKey, value: string): string => {
    if (key === "month") return dialect.monthOf(value);
    return key === "publicationYear" ? dialect.yearOf(value) : value;
  };
  const shown = by.map((key, index) => `${shownOf(key, `v${index}`)} AS s${index}`);
  const names = by.map((_, index) => `s${index}`);
  const text = `SELECT ${[...shown, ...sums.map((_, index) => `sum(n${index}) AS t${index}`)].join(", ")}
    FROM (${inner.join(" UNION ALL ")}) AS days ${names.length === 0 ? "" : `GROUP BY ${names.join(", ")}`}
    ORDER BY ${["t0 DESC", ...names.map((name) => `${name} NULLS FIRST`)].join(", ")}
    LIMIT ${sql.add(limit + 1)}`;
  return { text, sql };
}

/** Each record of each live project. */
const projectsSql = (dialect: Dialect, sql: Sql): string => {
  const project = "x.kind = 'project' AND x.deleted_at IS NULL";
  return `SELECT l.source AS record, x.ark AS project FROM record AS x
      JOIN link AS l ON l.target_key = x.key JOIN via AS v ON v.id = l.via
      WHERE ${project} AND ${dialect.anyOf("v.predicate", OF_PROJECT.in, sql)}
    UNION SELECT t.id, x.ark FROM record AS x JOIN link AS l ON l.source = x.id
      JOIN via AS v ON v.id = l.via JOIN record AS t ON t.key = l.target_key
      WHERE ${project} AND ${dialect.anyOf("v.predicate", OF_PROJECT.out, sql)}`;
};

export function statisticsOf(rows: readonly StatisticsRow[], limit: number): Statistics {
  return {
    groups: rows.slice(0, limit).map((row) => {
      const [records, bytes, sized, percent, scored] = row.slice(-5).map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      return {
        values: row.slice(0, -5) as (string | null)[],
        records,
        bytes,
        averageBytes: sized === 0 ? null : bytes / sized,
        averageScore: scored === 0 ? null : percent / scored,
      };
    }),
    more: rows.length > limit,
  };
}
