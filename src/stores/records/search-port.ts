import type { KindName } from "../../model/kind.js";

/** Fields whose words are found, the weightier first. What is found by other text of a record has no fragment. */
export const SEARCHED_FIELDS = ["name", "keywords", "description"] as const;
export type SearchedField = (typeof SEARCHED_FIELDS)[number];

export interface SearchQuery {
  /** Words as someone typed them; nothing in it is an operator. */
  text: string;
  /**
   * `identifier`: records whose key ({@link import("../../identifiers/ark.js").arkKey}) is the text or begins with it, by key.
   * `all`: records that hold every word, by its stem, stop words left out unless there are no others; when there are none, those that hold words spelt nearly so.
   * `related`: records that hold any of the words, or words that stand in the best of those: what is about the
   * same may be named otherwise.
   */
  match: "all" | "related" | "identifier";
  kind?: KindName;
  /**
   * Also finds, for `related`, the records whose vectors are nearest to this one: those that stand out, at most
   * {@link import("./vectors/matrix.js").NEAREST}. Any length will do. A record's score is then its score by words as a part of
   * the best one, plus how much its vector stands out, 0.5 to 1; without vectors of that model and dimension all is as without it.
   */
  near?: { model: string; vector: Float32Array };
  offset: number;
  limit: number;
}

/** A piece of a text: what was found, or what stands around it. */
export interface FragmentPart { text: string; found: boolean }

export interface SearchHit {
  /** Stored form. */
  ark: string;
  /** How well it fits beside the best hit of the search, which has 1 (by BM25 over the weighted fields, or what orders as it does); above 0, comparable within one search only. */
  score: number;
  /** Where words were found: name and keywords, whole unless they are long, a stretch of the description. */
  fragments: Partial<Record<SearchedField, FragmentPart[]>>;
}

/** Hits by falling score, then by creation; `total` counts all there are. */
export interface SearchPage { total: number; hits: SearchHit[] }

/** Search in what anyone may see of live records. */
export interface SearchStore {
  /**
   * @param signal one that is aborted before the search has begun keeps it from being run; its reason is thrown
   * @throws {import("../../errors.js").ServiceError} `QUERY_MEMORY`: {@link SearchQuery.near} needs more memory than VECTORS_MEMORY; without it the same search is answered
   */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage>;
}
