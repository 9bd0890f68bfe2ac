import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { lookupArk, referencedArk } from "../../identifiers/ark.js";
import { PROVENANCE_CONNECTIONS } from "../../model/connections.js";
import { dateProblem, instantOf } from "../../model/dates.js";
import { KIND_NAMES, type KindName } from "../../model/kind.js";
import type { PublicationStatus, SelectionPage } from "../../storage/records/port.js";
import {
  type RecordFilter,
  type RecordOrder,
  type Selection,
  type Statistics,
  STATISTICS_KEYS,
  type StatisticsKey,
  type TimeRange,
} from "../../storage/records/selection-port.js";
import { authenticated, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "./forgotten.js";

export { STATISTICS_KEYS, type StatisticsKey };

/** Levels of `and`, `or` and `not` in one filter. */
const MAX_FILTER_DEPTH = 10;
/** Conditions and values of one filter, those in lists and at all levels together. */
const MAX_FILTER_VALUES = 1000;
/** ms that one page or one count may take, the wait for those of others included. */
const LIST_TIMEOUT = 10_000;

/** A range of time as callers send it. */
export interface TimeRangeInput {
  since?: Date | null;
  before?: Date | null;
}

/**
 * A filter as callers send it: identifiers as text, single values beside lists of them. A null is
 * ignored.
 */
export interface RecordFilterInput {
  and?: readonly RecordFilterInput[] | null;
  or?: readonly RecordFilterInput[] | null;
  not?: RecordFilterInput | null;
  kind?: readonly KindName[] | null;
  name?: string | null;
  nameIs?: string | null;
  nameStartsWith?: string | null;
  keyword?: string | null;
  keywords?: readonly string[] | null;
  owner?: string | null;
  owners?: readonly string[] | null;
  crate?: string | null;
  used?: string | null;
  generatedBy?: string | null;
  partOf?: string | null;
  format?: readonly string[] | null;
  status?: readonly PublicationStatus[] | null;
  created?: TimeRangeInput | null;
  modified?: TimeRangeInput | null;
}

/** A page of a selection: `backward` reads the last records before `before`. */
export interface SelectionRange {
  limit: number;
  after?: string;
  before?: string;
  backward?: boolean;
  bytes?: number;
}

/** A page of records, and how many there are in all. */
export type SelectedRecords = SelectionPage & { count(): Promise<number> };

/**
 * Records by filter, as the caller may list them: those of users need a token.
 * @param kind only records of this kind
 * @throws ValidationError for a filter that is too large or names something that is no ARK;
 * ServiceError `BAD_REQUEST` for a cursor of another list, `QUERY_TIMEOUT`
 */
export async function selectRecords(
  deps: Deps,
  request: {
    kind?: KindName;
    filter?: RecordFilterInput | null;
    order?: RecordOrder;
    range: SelectionRange;
  },
  caller: Caller | null,
): Promise<SelectedRecords> {
  if (request.kind === "user") authenticated(caller);
  const { order = { by: "created", descending: false } as const, range } = request;
  const selection = selectionOf(request, caller);
  const page = await within((signal) =>
    deps.records.select(
      {
        ...selection,
        order,
        ...range,
        bytes: range.bytes ?? deps.config.MAX_PAGE_BYTES,
      },
      signal,
    ),
  );
  return {
    ...page,
    items: await withoutForgotten(deps, page.items),
    count: () => within((signal) => deps.records.countSelected(selection, signal)),
  };
}

/** Keys of one grouping, and groups of one answer. */
const MAX_STATISTICS_KEYS = 3;
const MAX_STATISTICS_GROUPS = 1000;

/** Statistics of the records that the caller may list; the bytes are added up on request. */
export type RecordStatistics = Statistics & { bytes(): Promise<Statistics> };

/**
 * Counts the records of a filter by the values of some keys.
 * @throws ValidationError; ServiceError `QUERY_TIMEOUT`
 */
export async function recordStatistics(
  deps: Deps,
  request: { filter?: RecordFilterInput | null; by: readonly StatisticsKey[]; limit: number },
  caller: Caller | null,
): Promise<RecordStatistics> {
  const { by, limit } = request;
  if (by.length > MAX_STATISTICS_KEYS || new Set(by).size < by.length)
    throw invalid(
      ["query", "by"],
      `Value error, up to ${MAX_STATISTICS_KEYS} different keys can be combined`,
    );
  if (limit < 1 || limit > MAX_STATISTICS_GROUPS)
    throw invalid(
      ["query", "first"],
      `Input should be from 1 to ${MAX_STATISTICS_GROUPS}`,
      limit < 1 ? "greater_than_equal" : "less_than_equal",
      limit < 1 ? { ge: 1 } : { le: MAX_STATISTICS_GROUPS },
    );
  const query = { ...selectionOf(request, caller), by, limit };
  const read = (sizes: boolean): Promise<Statistics> =>
    within((signal) => deps.records.statistics({ ...query, sizes }, signal));
  let sized: Promise<Statistics> | undefined;
  return { ...(await read(false)), bytes: () => (sized ??= read(true)) };
}

/** What a filter selects for the caller. @throws ValidationError */
function selectionOf(
  { kind, filter }: { kind?: KindName; filter?: RecordFilterInput | null },
  caller: Caller | null,
): Selection {
  return {
    filter: filterOf({ kind, filter }),
    ...(caller ? {} : { without: ["user"] as const }),
  };
}

/** A filter as the record store reads it, of one kind where one is named. @throws ValidationError */
export function filterOf({
  kind,
  filter,
}: {
  kind?: KindName | undefined;
  filter?: RecordFilterInput | null | undefined;
}): RecordFilter {
  const read = new FilterReader().read(filter ?? {});
  return kind === undefined ? read : { kinds: [kind], ...(isEmpty(read) ? {} : { and: [read] }) };
}

const isEmpty = (filter: object): boolean => Object.keys(filter).length === 0;

/** Filters by a relation to a record, and the connection of that record which leads back. */
const RELATIONS = [
  ["used", "usedBy"],
  ["generatedBy", "generated"],
  ["partOf", "hasPart"],
] as const;

/** Reads a filter, and notes all that is wrong with it. */
class FilterReader {
  readonly #problems: ValidationItem[] = [];
  #values = 0;

  /** @throws ValidationError */
  read(input: RecordFilterInput): RecordFilter {
    const filter = this.#filter(input, ["query", "filter"], 1);
    if (this.#values > MAX_FILTER_VALUES)
      this.#problems.push({
        loc: ["query", "filter"],
        msg:
          `Value error, ${this.#values} conditions and values; the limit is ` +
          `${MAX_FILTER_VALUES}: ask in several queries`,
        type: "value_error",
      });
    if (this.#problems.length > 0) throw new ValidationError(this.#problems);
    return filter;
  }

  #filter(input: RecordFilterInput, loc: ValidationItem["loc"], depth: number): RecordFilter {
    if (depth > MAX_FILTER_DEPTH) {
      this.#problems.push({
        loc,
        msg: `Value error, a filter has at most ${MAX_FILTER_DEPTH} levels of and, or and not`,
        type: "value_error",
      });
      return {};
    }
    const parts = this.#conditions(input, loc);
    this.#values += Math.max(1, parts.length);
    const inner = (name: "and" | "or"): RecordFilter[] =>
      (input[name] ?? []).map((each, index) =>
        this.#filter(each, [...loc, name, index], depth + 1),
      );
    const first: RecordFilter = {};
    const others: RecordFilter[] = [];
    // A condition that is given twice, once as a value and once as a list, must hold twice.
    for (const part of parts)
      if (Object.keys(part).some((name) => Object.hasOwn(first, name))) others.push(part);
      else Object.assign(first, part);
    for (const each of inner("and")) others.push(each);
    return {
      ...first,
      ...(others.length === 0 ? {} : { and: others }),
      ...(input.or ? { or: inner("or") } : {}),
      ...(input.not ? { not: this.#filter(input.not, [...loc, "not"], depth + 1) } : {}),
    };
  }

  #conditions(input: RecordFilterInput, loc: ValidationItem["loc"]): RecordFilter[] {
    const { kind, name, nameIs, nameStartsWith, keyword, keywords, owner, owners, crate, status } =
      input;
    const parts: RecordFilter[] = [];
    if (kind) parts.push({ kinds: this.#counted(kind) });
    if (name != null) parts.push({ nameContains: name });
    if (nameIs != null) parts.push({ nameIs });
    if (nameStartsWith != null) parts.push({ nameStartsWith });
    if (keyword != null) parts.push({ keywords: [keyword] });
    if (keywords) parts.push({ keywords: this.#counted(keywords) });
    if (owner != null) parts.push({ owners: this.#keys([owner], () => [...loc, "owner"]) });
    if (owners)
      parts.push({
        owners: this.#keys(this.#counted(owners), (index) => [...loc, "owners", index]),
      });
    if (crate != null) parts.push({ crates: this.#arks([crate], () => [...loc, "crate"]) });
    for (const [field, connection] of RELATIONS) {
      const id = input[field];
      if (id == null) continue;
      const [key] = this.#keys([id], () => [...loc, field]);
      const { out, in: back } = PROVENANCE_CONNECTIONS[connection]!;
      if (key !== undefined) parts.push({ linked: { key, out, in: back } });
    }
    if (input.format) parts.push({ formats: this.#counted(input.format) });
    if (status) parts.push({ statuses: this.#counted(status) });
    for (const field of ["created", "modified"] as const) {
      const range = input[field];
      if (range) parts.push({ [field]: this.#range(range, [...loc, field]) });
    }
    return parts;
  }

  #counted<T>(values: readonly T[]): readonly T[] {
    this.#values += values.length;
    return values;
  }

  #keys(texts: readonly string[], loc: (index: number) => ValidationItem["loc"]): string[] {
    return texts.flatMap((text, index) => {
      const ark = referencedArk(text);
      if (!ark) this.#noArk(loc(index), "ark:99999/user-ada");
      return ark ? [ark.key] : [];
    });
  }

  #arks(texts: readonly string[], loc: (index: number) => ValidationItem["loc"]): string[] {
    return texts.flatMap((text, index) => {
      const ark = lookupArk(text);
      if (!ark) this.#noArk(loc(index), "ark:99999/rocrate-example");
      return ark ? [ark.stored] : [];
    });
  }

  #noArk(loc: ValidationItem["loc"], example: string): void {
    this.#problems.push({
      loc,
      msg: `Value error, not an ARK; for example ${example}`,
      type: "value_error",
    });
  }

  #range(range: TimeRangeInput, loc: ValidationItem["loc"]): TimeRange {
    const times: TimeRange = {};
    for (const end of ["since", "before"] as const) {
      const time = range[end]?.getTime();
      if (time === undefined) continue;
      if (Number.isSafeInteger(time)) times[end] = time;
      else
        this.#problems.push({
          loc: [...loc, end],
          msg: "Value error, not a time; for example 2026-01-31T12:00:00Z",
          type: "value_error",
        });
    }
    return times;
  }
}

/**
 * A read that has begun is not stopped, but one that waits for others is not begun when nobody
 * waits for it any more.
 */
async function within<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      read(ended.signal),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const refused = new ServiceError(
            "QUERY_TIMEOUT",
            `The list took longer than ${LIST_TIMEOUT} ms: filter by kind, owner, keyword or time.`,
          );
          ended.abort(refused);
          reject(refused);
        }, LIST_TIMEOUT);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Orders of a list in a query string; `-` reverses one. */
export const ORDERS = ["created", "-created", "modified", "-modified", "name", "-name"] as const;
export const STATUSES = [
  "DRAFT",
  "PUBLISHED",
  "EMBARGOED",
  "ARCHIVED",
] as const satisfies readonly PublicationStatus[];
type Query = Readonly<Record<string, string | undefined>>;

/** Reads the filter, order and page of a query string. @throws ValidationError with all errors */
export function selectionParameters(query: Query): {
  filter: RecordFilterInput;
  order: RecordOrder;
  range: SelectionRange;
} {
  const problems: ValidationItem[] = [];
  const filter = filterParameters(query, problems);
  const { order = "created", cursor } = query;
  oneOf("order", order, ORDERS, problems);
  const limit = limitParameter(query, problems);
  if (problems.length > 0) throw new ValidationError(problems);
  return {
    filter,
    order: {
      by: order.replace(/^-/, "") as RecordOrder["by"],
      descending: order.startsWith("-"),
    },
    range: { limit, ...(cursor === undefined ? {} : { after: cursor }) },
  };
}

/** Reads the keys and the filter of statistics. @throws ValidationError with all errors */
export function statisticsParameters(query: Query): {
  filter: RecordFilterInput;
  by: StatisticsKey[];
  limit: number;
} {
  const problems: ValidationItem[] = [];
  const filter = filterParameters(query, problems);
  const by = listed(query["by"]) ?? [];
  if (by.length === 0)
    problems.push({ loc: ["query", "by"], msg: "Field required", type: "missing" });
  for (const key of by) oneOf("by", key, STATISTICS_KEYS, problems);
  const limit = limitParameter(query, problems);
  if (problems.length > 0) throw new ValidationError(problems);
  return { filter, by: by as StatisticsKey[], limit };
}

/** Reads the conditions of a query string. */
export function filterParameters(query: Query, problems: ValidationItem[]): RecordFilterInput {
  const { name, nameIs, nameStartsWith, keyword, owner, crate, used, generatedBy, partOf } = query;
  const kind = listed(query["kind"]);
  for (const each of kind ?? []) oneOf("kind", each, KIND_NAMES, problems);
  const status = listed(query["status"]);
  for (const each of status ?? []) oneOf("status", each, STATUSES, problems);
  const range = (field: "created" | "modified"): TimeRangeInput | undefined => {
    const [since, before] = [`${field}Since`, `${field}Before`].map((at) =>
      timeParameter(at, query[at], problems),
    );
    return since || before ? { since: since ?? null, before: before ?? null } : undefined;
  };
  const stated = {
    name,
    nameIs,
    nameStartsWith,
    keyword,
    owner,
    crate,
    used,
    generatedBy,
    partOf,
    kind: kind as KindName[] | undefined,
    status: status as PublicationStatus[] | undefined,
    format: listed(query["format"]),
    created: range("created"),
    modified: range("modified"),
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

/** Commas separate several values. */
export const listed = (raw: string | undefined): string[] | undefined =>
  raw
    ?.split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");

export function oneOf(
  name: string,
  value: string,
  allowed: readonly string[],
  problems: ValidationItem[],
): void {
  if (allowed.includes(value)) return;
  const expected = allowed
    .map((each) => `'${each}'`)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");
  problems.push({
    loc: ["query", name],
    msg: `Input should be ${expected}`,
    type: "literal_error",
    ctx: { expected },
  });
}

function timeParameter(
  name: string,
  raw: string | undefined,
  problems: ValidationItem[],
): Date | undefined {
  if (raw === undefined) return undefined;
  const instant = instantOf(raw.trim());
  if (instant !== undefined) return new Date(instant);
  problems.push({
    loc: ["query", name],
    msg: `Input should be a valid datetime or date, ${dateProblem(raw.trim())}`,
    type: "datetime_from_date_parsing",
  });
  return undefined;
}

const MOST_PER_PAGE = 1000;

function limitParameter({ limit = "100" }: Query, problems: ValidationItem[]): number {
  const number = Number(limit);
  const loc = ["query", "limit"];
  if (!/^[+-]?\d+$/.test(limit))
    problems.push({
      loc,
      msg: "Input should be a valid integer, unable to parse string as an integer",
      type: "int_parsing",
    });
  else if (number < 1)
    problems.push({
      loc,
      msg: "Input should be greater than or equal to 1",
      type: "greater_than_equal",
      ctx: { ge: 1 },
    });
  else if (number > MOST_PER_PAGE)
    problems.push({
      loc,
      msg: `Input should be less than or equal to ${MOST_PER_PAGE}`,
      type: "less_than_equal",
      ctx: { le: MOST_PER_PAGE },
    });
  return number;
}
