import type { Viewer } from "./record.js";
import type { RecordFilter, StatisticsKey } from "./selection.js";

/**
 * Fields whose words are found, the weightier first. A hit in other text of a record has no
 * fragment.
 */
export const SEARCHED_FIELDS = ["name", "keywords", "description"] as const;

export type SearchedField = (typeof SEARCHED_FIELDS)[number];

export interface SearchQuery {
  /** As a user typed it; read by {@link import("../../../model/search-query.js").parseQuery}. */
  text: string;
  /**
   * `identifier`: records whose key ({@link import("../../../identifiers/ark.js").arkKey}) is the text
   * or begins with it, by key. `all`: records that hold every word, by its stem, stop words left
   * out unless there is nothing else, and every other term; when there are none, those that hold
   * words spelt nearly so. `related`: records that hold any of the words and terms, or words that
   * stand in the best of those: a record about the same subject may use other names. Neither finds
   * what the query excludes, and a query that only excludes finds nothing.
   */
  match: "all" | "related" | "identifier";
  /**
   * Who asks. Words find the private records that it sees too: `all` those with every word, `related`
   * those with any, in an order of their own before the open ones, whose order, totals and
   * corrections they do not change. Those of an administrator, who sees all, come behind.
   */
  viewer?: Viewer | undefined;
  /** Only these records are found, counted and compared with each other. */
  filter?: RecordFilter;
  /**
   * Also finds, for `related`, the records whose vectors are nearest to this one: those that stand
   * out, at most {@link import("../vectors.js").NEAREST}. It may have any length. A record's
   * score is then its score by words as a part of the best one, plus how much its vector stands
   * out, 0.5 to 1; without vectors of that model and dimension the result is the same as without
   * it.
   */
  near?: { model: string; vector: Float32Array };
  /** Also answers what made each score. */
  explain?: boolean;
  /** Also counts what is found by each of these, at most `limit` values of each. */
  facets?: { by: readonly StatisticsKey[]; limit: number };
  offset: number;
  /** 0 for counts and facets alone: nothing is ranked. */
  limit: number;
}

/** A part of a text: a hit, or the text around it. */
export interface FragmentPart {
  text: string;
  found: boolean;
}

export interface SearchHit {
  /** Stored form. */
  ark: string;
  /**
   * How well it fits beside the best hit of the search, which has 1 (by BM25 over the weighted
   * fields, or what orders as it does); above 0, comparable within one search only.
   */
  score: number;
  /**
   * Where words were found: name and keywords, whole unless they are long, a stretch of the
   * description.
   */
  fragments: Partial<Record<SearchedField, FragmentPart[]>>;
  /**
   * Where {@link SearchQuery.explain} asks: parts that add up to the score, the largest first, of at
   * most sixteen terms; empty where the record was not ranked.
   */
  parts?: ScorePart[];
}

/** A part of a score. */
export interface ScorePart {
  /** A term of the query; a related word; how near the vector is. */
  reason: "term" | "related" | "nearness";
  /** The term as one types it, or its stem; null for nearness. */
  text: string | null;
  score: number;
}

/** Hits by falling score; equal ones are in the same order on each page. */
export interface SearchPage {
  /** How many records were found. */
  total: number;
  /** False where so many were found that they were not all counted: at least `total`. */
  exact: boolean;
  /**
   * How many of them were ranked: all, or at most a few thousand that are likely to be the best.
   * The others follow those, the newest first.
   */
  ranked: number;
  /** Words that no record holds, each with the likeliest of those that were sought instead. */
  corrected?: readonly { typed: string; meant: string }[];
  /** No record holds all words of the query: these hold some of them. */
  matchesAnyWord?: true;
  /** Where {@link SearchQuery.facets} asks, in that order. */
  facets?: readonly SearchFacet[];
  hits: SearchHit[];
}

/**
 * How many of the found records have a value, those of most records first, equal ones by value. A
 * record without the value counts for none, one with several keywords for each.
 */
export interface SearchFacet {
  by: StatisticsKey;
  values: readonly { value: string; records: number }[];
  /** There are further values. */
  more: boolean;
  /** False where more was found than is counted: of those the newest, some ten thousand, count. */
  exact: boolean;
}

/** Search in the text of live records. */
export interface SearchStore {
  /** @param signal an abort before the search has begun prevents it; its reason is thrown */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage>;
}
