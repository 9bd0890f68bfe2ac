import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import { KIND_NAMES, type KindName, publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { htmlText } from "../../model/markup.js";
import { wholeTextOf } from "../../model/texts.js";
import { parseQuery, plainText, withoutAddress, withWords } from "../../model/search-query.js";
import type {
  FragmentPart,
  ScorePart,
  SearchedField,
  SearchFacet as StoredFacet,
  SearchHit,
  SearchPage,
  SearchQuery,
  StoredRecord,
} from "../../storage/records/port.js";
import type { RecordFilter, StatisticsKey } from "../../storage/records/port/selection.js";
import { isOfDeleted } from "../../storage/records/selection.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "../records/forgotten.js";
import { keywordsOf } from "../records/reserved.js";
import { filterOf, type RecordFilterInput } from "../records/select.js";
import { parseDocument } from "../records/view.js";
import { pairs } from "../../pairs.js";

/** What a search needs. */
type SearchDeps = Pick<Deps, "config" | "records" | "nearness">;

export type SearchMode = "basic" | "semantic";
export interface SearchRequest {
  query: string;
  mode: SearchMode;
  kind?: KindName;
  /** Only these records are found, ranked and counted. */
  filter?: RecordFilterInput | null;
  limit: number;
  offset: number;
  /** Where the page before ended ({@link FoundRecord.cursor}); the offset counts from there. */
  after?: string | null;
  /** Also answers what made each score. */
  explain?: boolean;
  facets?: FacetsRequest;
}

/** What the results are counted by, and how many values of each are returned. */
export interface FacetsRequest {
  by: readonly StatisticsKey[];
  limit: number;
}

/** A value of a facet: as a filter takes it, as people read it, and how many results have it. */
export interface FacetValue {
  value: string;
  label: string | null;
  count: number;
}
export interface SearchFacet {
  by: StatisticsKey;
  values: FacetValue[];
  /** There are further values. */
  more: boolean;
  /** False where only the newest of very many results were counted. */
  exact: boolean;
}

export interface SearchResult {
  "@id": string;
  "@type": string | string[];
  name: string | null;
  description: string | null;
  keywords: string[];
  /** Score relative to the best hit, which has 1; comparable within one search only. */
  score: number;
  /** By field, HTML: matches are in `<em>`, everything else is escaped. */
  highlight: Partial<Record<SearchedField, string>>;
  /** On request: the same as pieces of plain text. */
  fragments?: SearchHit["fragments"];
  /** On request: what made the score. */
  explanation?: ScorePart[];
}
export interface SearchAnswer {
  query: string;
  total_results: number;
  /** Only where there are more than `total_results`. */
  total_is_estimate?: true;
  /** Only where no record has all words, and then true: see {@link Found.matchesAnyWord}. */
  matches_any_word?: true;
  /** Only where fewer were ranked than found. */
  ranked_results?: number;
  /** Only where other words were sought: see {@link Found.didYouMean}. */
  did_you_mean?: string;
  /** On request. */
  facets?: { by: StatisticsKey; values: FacetValue[]; has_more: boolean; exact: boolean }[];
  results: SearchResult[];
  time_taken_ms: number;
}
interface FoundRecord {
  ark: string;
  /** The results behind this one have it as {@link SearchRequest.after}. */
  cursor: string;
  score: number;
  highlight: SearchResult["highlight"];
  fragments: SearchHit["fragments"];
  parts?: ScorePart[];
}

/** What a search found, best first; `ms` is the time that it took. */
export interface Found {
  total: number;
  /** False where there are more than `total`. */
  exact: boolean;
  /** How many of them were compared for the order; the others follow, the newest first. */
  ranked: number;
  /** The query with known words in place of those that no record holds: it was answered. */
  didYouMean: string | null;
  /** No record has all words of the query: these have some of them. */
  matchesAnyWord: boolean;
  found: FoundRecord[];
  /** Whether there are results before and behind these; not behind the last that pages reach. */
  hasPrevious: boolean;
  hasNext: boolean;
  facets?: SearchFacet[];
  ms: number;
}

const MAX_RESULTS = 100;
export const LARGEST_OFFSET = 10_000;
/** Values of one facet in one answer. */
export const MAX_FACET_VALUES = 100;

/**
 * Finds live records by their public contents, without reading the records.
 * @throws ValidationError for an empty or too long query, or a filter that is none; ServiceError
 * `BAD_REQUEST` for a cursor of another search, `QUERY_TIMEOUT`
 */
export async function find(deps: SearchDeps, request: SearchRequest): Promise<Found> {
  const { query, limit, facets, explain = false } = request;
  const problems = [
    ...queryProblems(deps, query),
    ...range("limit", limit, 1, MAX_RESULTS),
    ...range("offset", request.offset, 0, LARGEST_OFFSET),
    ...(facets ? facetProblems(facets) : []),
  ];
  if (problems.length > 0) throw new ValidationError(problems);
  const filter = searchedFilter(deps, request);
  const of = digestOf(request, filter);
  const offset = request.offset + (request.after == null ? 0 : readCursor(of, request.after));
  if (offset > LARGEST_OFFSET)
    throw new ValidationError(range("offset", offset, 0, LARGEST_OFFSET));
  const began = performance.now();
  const page = await searched(deps, request, filter, { offset, limit, explain, facets });
  const found = page.hits.map(({ ark, score, fragments, parts }, index) => ({
    ark,
    score,
    cursor: writeCursor(of, offset + index + 1),
    fragments,
    ...(parts === undefined ? {} : { parts }),
    highlight: Object.fromEntries(
      Object.entries(fragments).map(([field, parts]) => [field, highlighted(parts)]),
    ),
  }));
  const counted = page.facets && (await labelled(deps, page.facets));
  const ms = Math.round((performance.now() - began) * 1000) / 1000;
  const corrected = new Map(page.corrected?.map(({ typed, meant }) => [typed, meant]));
  const didYouMean = corrected.size === 0 ? null : withWords(query, corrected);
  const end = offset + found.length;
  return {
    total: page.total,
    exact: page.exact,
    ranked: page.ranked,
    didYouMean,
    matchesAnyWord: page.matchesAnyWord === true,
    found,
    hasPrevious: offset > 0,
    hasNext: found.length > 0 && end < page.total && end <= LARGEST_OFFSET,
    ...(counted === undefined ? {} : { facets: counted }),
    ms,
  };
}

/**
 * Counts the results of a search by their values.
 * @throws as {@link find}
 */
export async function facetsOf(
  deps: Deps,
  request: Pick<SearchRequest, "query" | "mode" | "kind" | "filter">,
  facets: FacetsRequest,
): Promise<SearchFacet[]> {
  const problems = [...queryProblems(deps, request.query), ...facetProblems(facets)];
  if (problems.length > 0) throw new ValidationError(problems);
  const page = await searched(deps, request, searchedFilter(deps, request), {
    offset: 0,
    limit: 0,
    facets,
  });
  return labelled(deps, page.facets ?? []);
}

function searched(
  deps: SearchDeps,
  { query, mode }: Pick<SearchRequest, "query" | "mode">,
  filter: RecordFilter,
  {
    explain,
    facets,
    ...page
  }: Pick<SearchQuery, "offset" | "limit" | "explain"> & {
    facets: FacetsRequest | undefined;
  },
): Promise<SearchPage> {
  // An identifier is looked up; its words are not searched as text.
  const ark = /\s/.test(query.trim()) ? undefined : lookupArk(query.trim());
  const match = ark !== undefined ? "identifier" : mode === "basic" ? "all" : "related";
  const asked: SearchQuery = {
    text: ark?.key ?? withoutAddress(query),
    match,
    ...page,
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(explain === true ? { explain } : {}),
    ...(facets ? { facets } : {}),
  };
  return within(deps.config.SEARCH_TIMEOUT, (signal) =>
    match !== "related" ? deps.records.search(asked, signal) : related(deps, asked, signal),
  );
}

/** @throws ValidationError for a filter that is none, or is of deleted records */
function searchedFilter(
  deps: Pick<Deps, "config">,
  request: Pick<SearchRequest, "kind" | "filter">,
): RecordFilter {
  const filter = filterOf(deps, request);
  if (isOfDeleted(filter))
    throw invalid(
      ["query", "filter", "deleted"],
      "Value error, deleted records are not searched: list them by the same filter",
    );
  return filter;
}

function queryProblems({ config }: Pick<Deps, "config">, query: string): ValidationItem[] {
  const longest = config.SEARCH_MAX_QUERY_BYTES;
  const loc = ["query", "query"];
  if (query.trim() === "")
    return [
      {
        loc,
        msg: "String should have at least 1 character",
        type: "string_too_short",
        ctx: { min_length: 1 },
      },
    ];
  return Buffer.byteLength(query) > longest
    ? [
        {
          loc,
          msg: `Value error, longer than ${longest} bytes`,
          type: "value_error",
        },
      ]
    : [];
}

function facetProblems({ by, limit }: FacetsRequest): ValidationItem[] {
  const refused = (msg: string): ValidationItem[] => [
    { loc: ["query", "facets"], msg: `Value error, ${msg}`, type: "value_error" },
  ];
  if (new Set(by).size < by.length) return refused("each facet is counted once: name it once");
  return limit >= 1 && limit <= MAX_FACET_VALUES
    ? []
    : refused(`a facet has from 1 to ${MAX_FACET_VALUES} values in an answer`);
}

/** Facets whose values are records. */
const NAMED: ReadonlySet<StatisticsKey> = new Set(["owner", "crate", "project"]);

/** Facets with what people read: types of kinds, names of owners, crates and projects. */
async function labelled(
  { records }: Pick<Deps, "records">,
  facets: readonly StoredFacet[],
): Promise<SearchFacet[]> {
  const named = facets.flatMap(({ by, values }) =>
    NAMED.has(by) ? values.map(({ value }) => value) : [],
  );
  const found = named.length === 0 ? [] : await records.findMany(named);
  const names = new Map(
    named.map((ark, index) => [ark, found[index]?.tombstone ? null : found[index]?.name]),
  );
  const labelOf = (by: StatisticsKey, value: string): string | null => {
    if (NAMED.has(by)) return names.get(value) ?? null;
    return by === "kind" ? KINDS[value as KindName].typeName : value;
  };
  return facets.map(({ by, values, more, exact }) => ({
    by,
    values: values.map(({ value, records: count }) => ({
      value,
      label: labelOf(by, value),
      count,
    })),
    more,
    exact,
  }));
}

/**
 * Where a page of a search ends, as text. It names the search: with another one it is refused.
 * @param place number of results before the next one
 */
const writeCursor = (of: string, place: number): string =>
  Buffer.from(`${place}.${of}`).toString("base64url");

/** @throws ServiceError `BAD_REQUEST` for a text that is no cursor of this search */
function readCursor(of: string, cursor: string): number {
  const [place = "", digest] = Buffer.from(cursor.slice(0, 100), "base64url").toString().split(".");
  if (!/^\d{1,6}$/.test(place) || digest !== of)
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor is not from this search: repeat its query, mode and filter, or start again " +
        "without the cursor.",
    );
  return Number(place);
}

const digestOf = ({ query, mode }: SearchRequest, filter: RecordFilter): string =>
  createHash("sha256")
    .update(JSON.stringify([query, mode, filter]))
    .digest("base64url")
    .slice(0, 12);

/** By words and, where there is an embeddings server, by nearness of vectors. */
async function related(
  { records, nearness }: Pick<Deps, "records" | "nearness">,
  asked: SearchQuery,
  signal: AbortSignal,
): Promise<SearchPage> {
  if (!nearness) return records.search(asked, signal);
  return nearness.search(
    plainText(asked.text, parseQuery(asked.text)),
    (near) => records.search(near ? { ...asked, near } : asked, signal),
    signal,
  );
}

/**
 * A result list, with the fields that it shows of each record.
 * @param more which of the parts that are not always there
 */
export async function searchAnswer(
  deps: Deps,
  query: string,
  { total, exact, ranked, didYouMean, matchesAnyWord, found, facets, ms }: Found,
  more: { fragments?: boolean } = {},
): Promise<SearchAnswer> {
  const records = await deps.records.findMany(found.map(({ ark }) => ark));
  const live = found.flatMap(({ score, highlight, fragments, parts }, index) => {
    const record = records[index];
    const shown = {
      score,
      highlight,
      ...(more.fragments === true ? { fragments } : {}),
      ...(parts === undefined ? {} : { explanation: parts }),
    };
    // Deleted since the search.
    return record && !record.tombstone ? [{ record, shown }] : [];
  });
  const clean = await withoutForgotten(
    deps,
    live.map(({ record }) => record),
  );
  const results = pairs(live, clean).map(([{ shown }, record]): SearchResult => ({
    ...summaryOf(record),
    ...shown,
  }));
  return {
    query,
    total_results: total,
    ...(exact ? {} : { total_is_estimate: true }),
    ...(matchesAnyWord ? { matches_any_word: true } : {}),
    ...(ranked < total ? { ranked_results: ranked } : {}),
    ...(didYouMean === null ? {} : { did_you_mean: didYouMean }),
    ...(facets === undefined
      ? {}
      : {
          facets: facets.map(({ by, values, more: has_more, exact }) => ({
            by,
            values,
            has_more,
            exact,
          })),
        }),
    results,
    time_taken_ms: ms,
  };
}

function summaryOf(record: StoredRecord): Omit<SearchResult, "score" | "highlight"> {
  const kind = KINDS[record.kind];
  const document = publicView(kind, parseDocument(record.document));
  const types = [document["@type"], document["metadataType"]].find(
    (value) => typeof value === "string" || (Array.isArray(value) && value.length > 0),
  ) as string | string[] | undefined;
  return {
    "@id": record.ark,
    "@type": types ?? kind.rdfClass,
    name: record.name,
    description: wholeTextOf(document["description"]),
    keywords: keywordsOf(document),
  };
}
const highlighted = (parts: readonly FragmentPart[]): string =>
  parts.map(({ text, found }) => (found ? `<em>${htmlText(text)}</em>` : htmlText(text))).join("");

/**
 * A search that has begun is not stopped: its work is bounded by the length of the query. A queued
 * search whose caller has left is not run.
 */
async function within(
  timeout: number,
  work: (signal: AbortSignal) => Promise<SearchPage>,
): Promise<SearchPage> {
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work(ended.signal),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const refused = new ServiceError(
            "QUERY_TIMEOUT",
            `The search took longer than ${timeout} ms (SEARCH_TIMEOUT): use fewer or rarer words.`,
          );
          ended.abort(refused);
          reject(refused);
        }, timeout);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function range(name: string, value: number, from: number, to: number): ValidationItem[] {
  if (value < from)
    return [
      {
        loc: ["query", name],
        msg: `Input should be greater than or equal to ${from}`,
        type: "greater_than_equal",
        ctx: { ge: from },
      },
    ];
  return value > to
    ? [
        {
          loc: ["query", name],
          msg: `Input should be less than or equal to ${to}`,
          type: "less_than_equal",
          ctx: { le: to },
        },
      ]
    : [];
}

/**
 * The kind for a name in paths (`dataset`), a type (`Dataset`) or a class (`evi:Dataset`), in any
 * case.
 * @throws ValidationError
 */
export function kindOf(type: string): KindName {
  const plain = type
    .replace(/^(?:evi|schema):|^https?:\/\/(?:w3id\.org\/EVI#|schema\.org\/)/i, "")
    .toLowerCase();
  const found = KIND_NAMES.find(
    (name) => name === plain || KINDS[name].typeName.toLowerCase() === plain,
  );
  if (found) return found;
  const expected = KIND_NAMES.join(", ");
  throw new ValidationError([
    {
      loc: ["query", "type"],
      msg: `Input should be one of ${expected}`,
      type: "literal_error",
      ctx: { expected },
    },
  ]);
}
