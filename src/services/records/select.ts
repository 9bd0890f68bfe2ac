import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, lookupArk, referencedArk } from "../../identifiers/ark.js";
import { type Connection, OF_PROJECT, RELATIONS } from "../../model/connections.js";
import { dateProblem, instantOf } from "../../model/dates.js";
import {
  KIND_NAMES,
  type KindName,
  PUBLICATION_STATUSES,
  type PublicationStatus,
} from "../../model/kind.js";
import { licenceName } from "../../model/licences.js";
import type { SelectionPage, StoredRecord } from "../../storage/records/port.js";
import {
  type RecordFilter,
  type RecordOrder,
  type ScoreRange,
  type Selection,
  STATISTICS_KEYS,
  type Statistics,
  type StatisticsKey,
  type TimeRange,
} from "../../storage/records/port/selection.js";
import { isOfDeleted } from "../../storage/records/selection.js";
import { authenticated, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import {
  checkOneOf,
  limitOf,
  listOf,
  type QueryStrings,
  wholeNumber,
} from "../query-parameters.js";
import { findRecord } from "./find.js";
import { recordWithoutForgotten, withoutForgotten } from "./forgotten.js";
import { documentBytes } from "./view.js";

export { STATISTICS_KEYS, type StatisticsKey };

/** Levels of `and`, `or` and `not` in one filter. */
const MAX_FILTER_DEPTH = 10;
/** Links that a filter follows one behind the other. */
const MAX_FILTER_LINKS = 4;
/** Conditions and values of one filter, those in lists and at all levels together. */
const MAX_FILTER_VALUES = 1000;
/** What a query counts as, of these. */
const TEXT_WEIGHT = 50;
/** ms that one page or one count may take, the wait for those of others included. */
const LIST_TIMEOUT = 10_000;

/** A range of time as callers send it. */
interface TimeRangeInput {
  since?: Date | null;
  before?: Date | null;
}

/** Conditions on a text, without case. */
export interface TextFilter {
  equals?: string | null;
  contains?: string | null;
  startsWith?: string | null;
}

/**
 * A filter as callers send it: identifiers as text. A null is ignored. Besides these it may have a
 * filter of the linked records by the name of each of {@link RELATIONS}; or their identifier, as a
 * query string names it.
 */
export interface RecordFilterInput {
  and?: readonly RecordFilterInput[] | null;
  or?: readonly RecordFilterInput[] | null;
  not?: RecordFilterInput | null;
  ids?: readonly string[] | null;
  kinds?: readonly KindName[] | null;
  name?: TextFilter | null;
  keywords?: readonly string[] | null;
  /** One owner, and other conditions as a query string names them. */
  owner?: string | null;
  keyword?: readonly string[];
  format?: readonly string[];
  status?: readonly PublicationStatus[];
  licence?: readonly string[];
  owners?: readonly string[] | null;
  crate?: string | null;
  formats?: readonly string[] | null;
  publicationStatus?: readonly PublicationStatus[] | null;
  licenses?: readonly string[] | null;
  scoreAtLeast?: number | null;
  scoreBelow?: number | null;
  text?: string | null;
  project?: string | null;
  group?: string | null;
  describedBy?: string | null;
  created?: TimeRangeInput | null;
  modified?: TimeRangeInput | null;
  published?: TimeRangeInput | null;
  deleted?: TimeRangeInput | null;
}

/** Conditions that are ranges of time. */
const RANGES = ["created", "modified", "published", "deleted"] as const;
/** Conditions that can be combined with `deleted`: others would tell what the record said. */
const OF_DELETED: ReadonlySet<string> = new Set(
  "and or not ids kinds owner owners group crate describedBy created modified deleted".split(" "),
);

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
 * Records by filter, as the caller may list them: those of users need a token, but where a link
 * leads to them.
 * @param kind only records of this kind
 * @throws ValidationError for a filter that is too large or names something that is no ARK;
 * ServiceError `BAD_REQUEST` for a cursor of another list, `QUERY_TIMEOUT`
 */
export async function selectRecords(
  deps: Deps,
  request: {
    kind?: KindName;
    /** Only records that a connection leads to from the record of this key. */
    linked?: { key: string; connection: Connection };
    filter?: RecordFilterInput | null;
    order?: RecordOrder;
    /** Name of the parameter that states the order, for errors. */
    orderParameter?: string;
    range: SelectionRange;
  },
  caller: Caller | null,
): Promise<SelectedRecords> {
  if (request.kind === "user") authenticated(caller);
  const { order = { by: "created", descending: false } as const, range } = request;
  const { orderParameter = "order" } = request;
  const selection = selectionOf(deps, request, caller);
  if (isOfDeleted(selection.filter) && order.by !== "created" && order.by !== "modified")
    throw invalid(
      ["query", orderParameter],
      `Value error, deleted records show no ${order.by}: order them by created or modified`,
    );
  if (order.by === "score" && (request.kind ?? "rocrate") !== "rocrate")
    throw invalid(
      ["query", orderParameter],
      "Value error, only crates have a score: order them by another field, or ask for roCrates",
    );
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
    items: await withoutForgotten(deps, page.items.map(publicPart)),
    count: () => within((signal) => deps.records.countSelected(selection, signal)),
  };
}

/** Of a deleted record no more than its tombstone is shown, as where it is read by itself. */
const publicPart = (record: StoredRecord): StoredRecord =>
  record.tombstone === null
    ? record
    : { ...record, name: null, document: documentBytes({ "@id": record.ark }) };

/** A record after a write, as lists show it: of a deleted one its tombstone. @throws as findRecord */
export async function stateAfter(deps: Deps, ark: Ark): Promise<StoredRecord> {
  return recordWithoutForgotten(deps, publicPart(await findRecord(deps, ark)));
}

/** Keys of one grouping, and groups of one answer. */
const MAX_STATISTICS_KEYS = 3;
const MAX_STATISTICS_GROUPS = 1000;

/** Statistics of the records that the caller may list; bytes and scores are added up on request. */
export type RecordStatistics = Statistics & { sums(): Promise<Statistics> };

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
  const query = { ...selectionOf(deps, request, caller), by, limit };
  const read = (sizes: boolean): Promise<Statistics> =>
    within((signal) => deps.records.statistics({ ...query, sizes }, signal));
  let summed: Promise<Statistics> | undefined;
  return { ...(await read(false)), sums: () => (summed ??= read(true)) };
}

/** What a filter selects for the caller. @throws ValidationError */
function selectionOf(
  deps: Pick<Deps, "config">,
  { kind, linked, filter }: Pick<Parameters<typeof selectRecords>[1], "kind" | "linked" | "filter">,
  caller: Caller | null,
): Selection {
  const asked = filterOf(deps, { kind, filter });
  if (!linked) return { filter: asked, ...(caller ? {} : { without: ["user"] as const }) };
  const { out, in: back, inKinds } = linked.connection;
  const link = { key: linked.key, out, in: back, ...(inKinds ? { inKinds } : {}) };
  return { filter: { linked: link, and: [asked] } };
}

/** A filter as the record store reads it, of one kind where one is named. @throws ValidationError */
export function filterOf(
  { config }: Pick<Deps, "config">,
  { kind, filter }: { kind?: KindName | undefined; filter?: RecordFilterInput | null | undefined },
): RecordFilter {
  const read = new FilterReader(config.SEARCH_MAX_QUERY_BYTES).read(filter ?? {});
  if (kind === undefined) return read;
  return read.kinds ? { kinds: [kind], and: [read] } : { ...read, kinds: [kind] };
}

/** Where in a filter another one stands: levels of `and`, `or` and `not`, and links. */
interface Depth {
  levels: number;
  links: number;
}

/** Reads a filter, and notes all that is wrong with it. */
class FilterReader {
  readonly #problems: ValidationItem[] = [];
  #values = 0;
  /** Conditions that cannot be about deleted records, each where it stands first. */
  readonly #ofLive = new Map<string, ValidationItem["loc"]>();

  readonly #longestText: number;

  /** @param longestText bytes of a query */
  constructor(longestText: number) {
    this.#longestText = longestText;
  }

  /** @throws ValidationError */
  read(input: RecordFilterInput): RecordFilter {
    const filter = this.#filter(input, ["query", "filter"], { levels: 1, links: 0 });
    if (this.#values > MAX_FILTER_VALUES)
      this.#problem(
        ["query", "filter"],
        `${this.#values} conditions and values; the limit is ${MAX_FILTER_VALUES}: ask in ` +
          "several queries",
      );
    if (isOfDeleted(filter))
      for (const loc of this.#ofLive.values())
        this.#problem(
          loc,
          "deleted records show only what a tombstone says: combine deleted with ids, kinds, " +
            "owners, group, crate, describedBy, created and modified",
        );
    if (this.#problems.length > 0) throw new ValidationError(this.#problems);
    return filter;
  }

  #filter(input: RecordFilterInput, loc: ValidationItem["loc"], depth: Depth): RecordFilter {
    if (depth.levels > MAX_FILTER_DEPTH) {
      this.#problem(loc, `a filter has at most ${MAX_FILTER_DEPTH} levels of and, or and not`);
      return {};
    }
    for (const [name, value] of Object.entries(input))
      if (value != null && !OF_DELETED.has(name) && !this.#ofLive.has(name))
        this.#ofLive.set(name, [...loc, name]);
    const isInner = depth.links > 0 || loc.some((part) => part === "or" || part === "not");
    if (input.deleted && isInner)
      this.#problem(
        [...loc, "deleted"],
        "deleted stands in the outermost filter or in its and: a list is either of deleted " +
          "records or of others",
      );
    const parts = this.#conditions(input, loc);
    for (const part of this.#linkConditions(input, loc, depth)) parts.push(part);
    this.#values += Math.max(1, parts.length);
    const below = { ...depth, levels: depth.levels + 1 };
    const inner = (name: "and" | "or"): RecordFilter[] =>
      (input[name] ?? []).map((each, index) => this.#filter(each, [...loc, name, index], below));
    const first: RecordFilter = {};
    const others: RecordFilter[] = [];
    // A condition of a name that is given twice, such as one on a link, must hold twice.
    for (const part of parts)
      if (part.or || Object.keys(part).some((name) => Object.hasOwn(first, name)))
        others.push(part);
      else Object.assign(first, part);
    for (const each of inner("and")) others.push(each);
    return {
      ...first,
      ...(others.length === 0 ? {} : { and: others }),
      ...(input.or ? { or: inner("or") } : {}),
      ...(input.not ? { not: this.#filter(input.not, [...loc, "not"], below) } : {}),
    };
  }

  #conditions(input: RecordFilterInput, loc: ValidationItem["loc"]): RecordFilter[] {
    const parts = [...this.#valueConditions(input, loc), ...this.#ownerConditions(input, loc)];
    if (input.project != null) {
      const [key] = this.#keys([input.project], () => [...loc, "project"]);
      if (key !== undefined)
        parts.push({ linked: { key, out: OF_PROJECT.out, in: OF_PROJECT.in } });
    }
    const score = this.#score(input, loc);
    if (score) parts.push({ score });
    if (input.text != null) parts.push({ text: this.#text(input.text, [...loc, "text"]) });
    if (input.group != null) {
      const [group] = this.#keys([input.group], () => [...loc, "group"]);
      if (group !== undefined) parts.push({ group });
    }
    if (input.describedBy != null) {
      const [describedBy] = this.#arks([input.describedBy], () => [...loc, "describedBy"]);
      if (describedBy !== undefined) parts.push({ describedBy });
    }
    for (const field of RANGES) {
      const range = input[field];
      if (range) parts.push({ [field]: this.#range(range, [...loc, field]) });
    }
    return parts;
  }

  /** Conditions on the records that links lead to. */
  #linkConditions(
    input: RecordFilterInput,
    loc: ValidationItem["loc"],
    depth: Depth,
  ): RecordFilter[] {
    return Object.entries(RELATIONS).flatMap(([name, relations]): RecordFilter[] => {
      const value = (input as Readonly<Record<string, unknown>>)[name] as
        RecordFilterInput | string | null | undefined;
      if (value == null) return [];
      const at = [...loc, name];
      if (depth.links === MAX_FILTER_LINKS) {
        this.#problem(at, `a filter follows at most ${MAX_FILTER_LINKS} links`);
        return [];
      }
      const filter =
        typeof value === "string"
          ? { keys: this.#keys([value], () => at) }
          : this.#filter(value, at, { ...depth, links: depth.links + 1 });
      const alternatives = relations.map(({ kinds, connection }): RecordFilter => {
        const { out, in: back, inKinds } = connection;
        const related = { out, in: back, ...(inKinds ? { inKinds } : {}), filter };
        return kinds ? { kinds, related } : { related };
      });
      return alternatives.length === 1 ? alternatives : [{ or: alternatives }];
    });
  }

  #valueConditions(input: RecordFilterInput, loc: ValidationItem["loc"]): RecordFilter[] {
    const { ids, kinds, name } = input;
    const keywords = input.keywords ?? input.keyword;
    const formats = input.formats ?? input.format;
    const publicationStatus = input.publicationStatus ?? input.status;
    const licenses = input.licenses ?? input.licence;
    const parts: RecordFilter[] = [];
    if (ids)
      parts.push({ keys: this.#keys(this.#counted(ids), (index) => [...loc, "ids", index]) });
    if (kinds) parts.push({ kinds: this.#counted(kinds) });
    if (name?.contains != null) parts.push({ nameContains: name.contains });
    if (name?.equals != null) parts.push({ nameIs: name.equals });
    if (name?.startsWith != null) parts.push({ nameStartsWith: name.startsWith });
    if (keywords) parts.push({ keywords: this.#counted(keywords) });
    if (formats) parts.push({ formats: this.#counted(formats) });
    if (publicationStatus) parts.push({ statuses: this.#counted(publicationStatus) });
    if (licenses) parts.push({ licences: this.#counted(licenses).map(licenceName) });
    return parts;
  }

  #ownerConditions(
    { owner, owners, crate }: RecordFilterInput,
    loc: ValidationItem["loc"],
  ): RecordFilter[] {
    const parts: RecordFilter[] = [];
    if (owner != null) parts.push({ owners: this.#keys([owner], () => [...loc, "owner"]) });
    if (owners)
      parts.push({
        owners: this.#keys(this.#counted(owners), (index) => [...loc, "owners", index]),
      });
    if (crate != null) parts.push({ crates: this.#arks([crate], () => [...loc, "crate"]) });
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
    this.#problem(loc, `not an ARK; for example ${example}`);
  }

  #problem(loc: ValidationItem["loc"], what: string): void {
    this.#problems.push({ loc, msg: `Value error, ${what}`, type: "value_error" });
  }

  #score(
    { scoreAtLeast, scoreBelow }: RecordFilterInput,
    loc: ValidationItem["loc"],
  ): ScoreRange | undefined {
    for (const [name, value] of Object.entries({ scoreAtLeast, scoreBelow }))
      if (value != null && !(Number.isInteger(value) && value >= 0 && value <= 100))
        this.#problem([...loc, name], "a score is a whole number of per cent, 0 to 100");
    return scoreAtLeast == null && scoreBelow == null
      ? undefined
      : {
          ...(scoreAtLeast == null ? {} : { atLeast: scoreAtLeast }),
          ...(scoreBelow == null ? {} : { below: scoreBelow }),
        };
  }

  #text(text: string, loc: ValidationItem["loc"]): string {
    // Each query is read and compiled by itself.
    this.#values += TEXT_WEIGHT;
    if (Buffer.byteLength(text) > this.#longestText)
      this.#problem(loc, `longer than ${this.#longestText} bytes`);
    return text;
  }

  #range(range: TimeRangeInput, loc: ValidationItem["loc"]): TimeRange {
    const times: TimeRange = {};
    for (const end of ["since", "before"] as const) {
      const time = range[end]?.getTime();
      if (time === undefined) continue;
      if (Number.isSafeInteger(time)) times[end] = time;
      else this.#problem([...loc, end], "not a time; for example 2026-01-31T12:00:00Z");
    }
    return times;
  }
}

/**
 * A read that has begun is not stopped, but one that waits for others is not begun when nobody
 * waits for it any more.
 */
export async function within<T>(
  read: (signal: AbortSignal) => Promise<T>,
  what = "The list",
  instead = "filter by kind, owner, keyword or time",
): Promise<T> {
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      read(ended.signal),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const refused = new ServiceError(
            "QUERY_TIMEOUT",
            `${what} took longer than ${LIST_TIMEOUT} ms: ${instead}.`,
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

/** The order that a query string names. */
export const orderOf = (order: string): RecordOrder => ({
  by: order.replace(/^-/, "") as RecordOrder["by"],
  descending: order.startsWith("-"),
});

/** Orders of a list in a query string; `-` reverses one. */
export const ORDERS = (["created", "modified", "published", "name"] as const).flatMap((by) => [
  by,
  `-${by}` as const,
]);

/** Reads the filter, order and page of a query string. @throws ValidationError with all errors */
export function selectionParameters(query: QueryStrings): {
  filter: RecordFilterInput;
  order: RecordOrder;
  range: SelectionRange;
} {
  const problems: ValidationItem[] = [];
  const filter = filterParameters(query, problems);
  const { order = "created", cursor } = query;
  checkOneOf(problems, "order", order, ORDERS);
  const limit = limitOf(problems, query);
  if (problems.length > 0) throw new ValidationError(problems);
  return {
    filter,
    order: orderOf(order),
    range: { limit, ...(cursor === undefined ? {} : { after: cursor }) },
  };
}

/** Reads the keys and the filter of statistics. @throws ValidationError with all errors */
export function statisticsParameters(query: QueryStrings): {
  filter: RecordFilterInput;
  by: StatisticsKey[];
  limit: number;
} {
  const problems: ValidationItem[] = [];
  const filter = filterParameters(query, problems);
  const by = listOf(query["by"]) ?? [];
  if (by.length === 0)
    problems.push({ loc: ["query", "by"], msg: "Field required", type: "missing" });
  for (const key of by) checkOneOf(problems, "by", key, STATISTICS_KEYS);
  const limit = limitOf(problems, query);
  if (problems.length > 0) throw new ValidationError(problems);
  return { filter, by: by as StatisticsKey[], limit };
}

/** Parameters with the identifier of a linked record, by the relation that leads to it. */
const LINK_PARAMETERS: Readonly<Record<string, string>> = {
  used: "used",
  generatedBy: "generatedBy",
  isPartOf: "partOf",
};

/** The parameters that a condition of a filter may come from. */
function parametersOf(name: string): string[] {
  if (name === "kinds") return ["kind"];
  if (name === "name") return ["name", "nameIs", "nameStartsWith"];
  if (RANGES.some((field) => field === name)) return [`${name}Since`, `${name}Before`];
  return [LINK_PARAMETERS[name] ?? name];
}

/** Has validation errors of a filter name the parameters of the query string that it came from. */
export async function namingParameters<T>(query: QueryStrings, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.items.map((item) => {
        const [place, filter, name] = item.loc;
        if (place !== "query" || filter !== "filter") return item;
        const sent = parametersOf(String(name)).filter((each) => query[each] !== undefined);
        return { ...item, loc: ["query", ...sent.slice(0, 1)] };
      }),
    );
  }
}

/** Conditions that are the text of one parameter. */
const TEXTS = [
  "owner",
  "crate",
  "text",
  "project",
  "group",
  "describedBy",
] as const satisfies readonly (keyof RecordFilterInput)[];

/** Reads the conditions of a query string. */
export function filterParameters(
  query: QueryStrings,
  problems: ValidationItem[],
): RecordFilterInput {
  const kind = listOf(query["kind"]);
  for (const each of kind ?? []) checkOneOf(problems, "kind", each, KIND_NAMES);
  const status = listOf(query["status"]);
  for (const each of status ?? []) checkOneOf(problems, "status", each, PUBLICATION_STATUSES);
  const number = (name: string): number | undefined => {
    const raw = query[name];
    return raw === undefined ? undefined : wholeNumber(problems, name, raw);
  };
  const range = (field: (typeof RANGES)[number]): TimeRangeInput | undefined => {
    const [since, before] = [`${field}Since`, `${field}Before`].map((at) =>
      timeParameter(at, query[at], problems),
    );
    return since || before ? { since: since ?? null, before: before ?? null } : undefined;
  };
  const stated = {
    ...Object.fromEntries(TEXTS.map((name) => [name, query[name]])),
    ...Object.fromEntries(
      Object.entries(LINK_PARAMETERS).map(([relation, name]) => [relation, query[name]]),
    ),
    kinds: kind as KindName[] | undefined,
    name: nameParameters(query),
    keyword: query["keyword"] === undefined ? undefined : [query["keyword"]],
    status: status as PublicationStatus[] | undefined,
    format: listOf(query["format"]),
    licence: listOf(query["licence"]),
    scoreAtLeast: number("scoreAtLeast"),
    scoreBelow: number("scoreBelow"),
    ...Object.fromEntries(RANGES.map((field) => [field, range(field)])),
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

function nameParameters({ name, nameIs, nameStartsWith }: QueryStrings): TextFilter | undefined {
  const stated = { contains: name, equals: nameIs, startsWith: nameStartsWith };
  const given = Object.entries(stated).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
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
