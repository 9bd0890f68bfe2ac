import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import { KIND_NAMES, type KindName, publicView } from "../../model/kind.js";
import { parseQuery, plainText, withWords } from "../../model/search-query.js";
import { KINDS } from "../../model/kinds.js";
import type {
  FragmentPart,
  ScorePart,
  SearchedField,
  SearchHit,
  SearchPage,
  SearchQuery,
  StoredRecord,
} from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "../records/forgotten.js";
import { keywordsOf } from "../records/reserved.js";
import { parseDocument } from "../records/view.js";

export type SearchMode = "basic" | "semantic";
export interface SearchRequest {
  query: string;
  mode: SearchMode;
  kind?: KindName;
  limit: number;
  offset: number;
  /** Also answers what made each score. */
  explain?: boolean;
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
}
export interface SearchAnswer {
  query: string;
  total_results: number;
  /** Only where fewer were ranked than found. */
  ranked_results?: number;
  /** Only where other words were sought: see {@link Found.didYouMean}. */
  did_you_mean?: string;
  results: SearchResult[];
  time_taken_ms: number;
}
export interface FoundRecord {
  ark: string;
  score: number;
  highlight: SearchResult["highlight"];
  fragments: SearchHit["fragments"];
  parts?: ScorePart[];
}

/** What a search found, best first; `ms` is the time that it took. */
export interface Found {
  total: number;
  /** How many of them were compared for the order; the others follow, the newest first. */
  ranked: number;
  /** The query with known words in place of those that no record holds: it was answered. */
  didYouMean: string | null;
  found: FoundRecord[];
  ms: number;
}

export const MOST_RESULTS = 100;
export const LARGEST_OFFSET = 10_000;

/**
 * Finds live records by their public contents, without reading the records.
 * @throws ValidationError for an empty or too long query; ServiceError `QUERY_TIMEOUT`
 */
export async function find(
  deps: Deps,
  { query, mode, kind, limit, offset, explain = false }: SearchRequest,
): Promise<Found> {
  const { SEARCH_TIMEOUT: timeout, SEARCH_MAX_QUERY_BYTES: longest } = deps.config;
  const problems: ValidationItem[] = [];
  if (query.trim() === "")
    problems.push({
      loc: ["query", "query"],
      msg: "String should have at least 1 character",
      type: "string_too_short",
      ctx: { min_length: 1 },
    });
  else if (Buffer.byteLength(query) > longest)
    problems.push({
      loc: ["query", "query"],
      msg: `Value error, longer than ${longest} bytes (SEARCH_MAX_QUERY_BYTES)`,
      type: "value_error",
    });
  problems.push(
    ...range("limit", limit, 1, MOST_RESULTS),
    ...range("offset", offset, 0, LARGEST_OFFSET),
  );
  if (problems.length > 0) throw new ValidationError(problems);
  const began = performance.now();
  // An identifier is looked up; its words are not searched as text.
  const ark = /\s/.test(query.trim()) ? undefined : lookupArk(query.trim());
  const match = ark !== undefined ? "identifier" : mode === "basic" ? "all" : "related";
  const asked: SearchQuery = {
    text: ark?.key ?? query,
    match,
    offset,
    limit,
    ...(kind === undefined ? {} : { kind }),
    ...(explain ? { explain } : {}),
  };
  const page = await within(timeout, (signal) =>
    match !== "related" ? deps.records.search(asked, signal) : related(deps, asked, signal),
  );
  const found = page.hits.map(({ ark, score, fragments, parts }) => ({
    ark,
    score,
    fragments,
    ...(parts === undefined ? {} : { parts }),
    highlight: Object.fromEntries(
      Object.entries(fragments).map(([field, parts]) => [field, highlighted(parts)]),
    ),
  }));
  const ms = Math.round((performance.now() - began) * 1000) / 1000;
  const corrected = new Map(page.corrected?.map(({ typed, meant }) => [typed, meant]));
  const didYouMean = corrected.size === 0 ? null : withWords(query, corrected);
  return { total: page.total, ranked: page.ranked, didYouMean, found, ms };
}

/**
 * Where a page of a search ends, as text. It names the search: with another one it is refused.
 * @param place number of results before the next one
 */
export const writeSearchCursor = (asked: SearchRequest, place: number): string =>
  Buffer.from(`${place}.${digestOf(asked)}`).toString("base64url");

/** @throws ServiceError `BAD_REQUEST` for a text that is no cursor of this search */
export function readSearchCursor(asked: SearchRequest, cursor: string): number {
  const [place = "", digest] = Buffer.from(cursor.slice(0, 100), "base64url").toString().split(".");
  if (!/^\d{1,6}$/.test(place) || digest !== digestOf(asked))
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor is not from this search; start again without it.",
    );
  return Number(place);
}

const digestOf = ({ query, mode, kind }: SearchRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([query, mode, kind ?? null]))
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

/** A result list, with the fields that it shows of each record. */
export async function searchAnswer(
  deps: Deps,
  query: string,
  { total, ranked, didYouMean, found, ms }: Found,
): Promise<SearchAnswer> {
  const records = await deps.records.findMany(found.map(({ ark }) => ark));
  const live = found.flatMap(({ score, highlight }, index) => {
    const record = records[index];
    // Deleted since the search.
    return record && !record.tombstone ? [{ record, score, highlight }] : [];
  });
  const clean = await withoutForgotten(
    deps,
    live.map(({ record }) => record),
  );
  const results = live.map(({ score, highlight }, index): SearchResult => ({
    ...shown(clean[index]!),
    score,
    highlight,
  }));
  return {
    query,
    total_results: total,
    ...(ranked < total ? { ranked_results: ranked } : {}),
    ...(didYouMean === null ? {} : { did_you_mean: didYouMean }),
    results,
    time_taken_ms: ms,
  };
}

function shown(record: StoredRecord): Omit<SearchResult, "score" | "highlight"> {
  const kind = KINDS[record.kind];
  const document = publicView(kind, parseDocument(record.document));
  const types = [document["@type"], document["metadataType"]].find(
    (value) => typeof value === "string" || (Array.isArray(value) && value.length > 0),
  ) as string | string[] | undefined;
  return {
    "@id": record.ark,
    "@type": types ?? kind.rdfClass,
    name: record.name,
    description: textOf(document["description"]),
    keywords: keywordsOf(document),
  };
}
const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === "string" ? value : null;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
const highlighted = (parts: readonly FragmentPart[]): string =>
  parts.map(({ text, found }) => (found ? `<em>${escaped(text)}</em>` : escaped(text))).join("");

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
