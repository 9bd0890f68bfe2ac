import type { KindName, PublicationStatus } from "../../../model/kind.js";
import type { StoredRecord, Viewer } from "./record.js";

/** Times in ms since 1970, UTC: from `since` on, up to but without `before`. */
export interface TimeRange {
  since?: number;
  before?: number;
}

/**
 * Records that the record of a key links to by a predicate of `out`, or that link to it by one of
 * `in`: what a connection of the model leads to.
 */
export interface LinkedTo {
  key: string;
  out: readonly string[];
  in: readonly string[];
  /** Kinds of records that count where they link to it; absent: any. */
  inKinds?: readonly KindName[];
}

/**
 * Records that link by a predicate of `out` to a live record that meets the filter, or that such a
 * record links to by one of `in`. A filter of `keys` alone is about the links: it finds those to
 * identifiers without a record too.
 */
export interface RelatedTo {
  out: readonly string[];
  in: readonly string[];
  /** Kinds of the other records that count where they state the link; absent: any. */
  inKinds?: readonly KindName[];
  filter: RecordFilter;
}

/** Per cent of a score: from `atLeast` on, up to but without `below`. */
export interface ScoreRange {
  atLeast?: number;
  below?: number;
}

/**
 * Conditions on live records, or on deleted ones where {@link RecordFilter.deleted} is given. All
 * that are given must hold; of a list of values any one. A record without the value does not meet
 * the condition, and meets its `not`. An empty `and` or `not: {}` is about every record, an empty
 * `or` and an empty list of values about none.
 */
export interface RecordFilter {
  and?: readonly RecordFilter[];
  or?: readonly RecordFilter[];
  not?: RecordFilter;
  /** Keys of ARKs ({@link import("../../../identifiers/ark.js").arkKey}). */
  keys?: readonly string[];
  kinds?: readonly KindName[];
  /** The whole name; this and the next two without case. A record without a name has "". */
  nameIs?: string;
  nameContains?: string;
  nameStartsWith?: string;
  /** Compared without case. */
  keywords?: readonly string[];
  /** Keys of ARKs. */
  owners?: readonly string[];
  /** Stored forms of crates that the records were minted for. */
  crates?: readonly string[];
  linked?: LinkedTo;
  related?: RelatedTo;
  /** Media types of the stored content, compared without case. */
  formats?: readonly string[];
  statuses?: readonly PublicationStatus[];
  /** As `licenceName` of `model/licences.ts` makes them; empty: none is stated. */
  licences?: readonly string[];
  /** Crates with a stored score in the range; it may be older than the crate. */
  score?: ScoreRange;
  /**
   * Records that hold every part of a query ({@link import("../../../model/search-query.js").parseQuery})
   * and nothing that it excludes; none where it only excludes. No other spellings are tried.
   */
  text?: string;
  /** Key of a group: records that it owns, or that one of its members owns. */
  group?: string;
  /** Stored form of a crate: records that were minted for it, or that it uses. */
  describedBy?: string;
  created?: TimeRange;
  modified?: TimeRange;
  /** The stated day of publication, else the first act of publication here. */
  published?: TimeRange;
  /**
   * Records that are no DRAFT, or were none at some time: of these a feed tells. Deleted records
   * have the status that they had.
   */
  disclosed?: true;
  /** Records whose last document holds this text; each document is read, so only of few records. */
  mentions?: string;
  /**
   * Selects deleted records, by the time, in place of live ones. Only in the outermost filter, or
   * in its `and`.
   */
  deleted?: TimeRange;
}

/**
 * Links of records in both directions, with the meaning that the options have in `linksFrom` and
 * `linksTo` of the store: without predicates, links by any.
 */
export interface LinkCountQuery {
  /** Links that private records state count for those who see them. */
  viewer?: Viewer | undefined;
  arks: readonly string[];
  from: { predicates?: readonly string[]; distinct?: boolean };
  to: {
    predicates?: readonly string[];
    kinds?: readonly KindName[];
    distinct?: boolean;
    unlessBack?: readonly string[];
  };
}

/**
 * Bands of AI-readiness scores: from so many per cent on, up to the next one; the highest band
 * first.
 */
export const SCORE_BANDS = [
  ["FROM_80", 80],
  ["FROM_60", 60],
  ["FROM_40", 40],
  ["FROM_20", 20],
  ["BELOW_20", 0],
] as const;
export type ScoreBand = (typeof SCORE_BANDS)[number][0];

/**
 * Whole per cent of a score, rounded down: criteria that are met count whole, those that are met in
 * part half. Null where none applies.
 */
export const percentOf = ({
  met,
  partly,
  total,
}: {
  met: number;
  partly: number;
  total: number;
}): number | null => (total === 0 ? null : Math.floor((100 * met + 50 * partly) / total));

/**
 * Order of a selection. `created` is the order in which the registry stored the records, `size`
 * that of the bytes of their stored content, `score` that of the per cent of their stored score.
 * Records without content, score or date of publication come last in both directions.
 */
export interface RecordOrder {
  by: "created" | "modified" | "published" | "name" | "size" | "score";
  descending: boolean;
}

export interface Selection {
  viewer?: Viewer | undefined;
  filter: RecordFilter;
  /** Kinds that are left out, whatever the filter says. Positions do not depend on them. */
  without?: readonly KindName[];
  /** Identifiers with this end are left out too; few of the selected records have it. */
  notEndingWith?: string;
}

export interface SelectionQuery extends Selection {
  order: RecordOrder;
  /** Positions of the same filter and order: only records between them are selected. */
  after?: string;
  before?: string;
  /** Reads the page from its end: the last records before `before`. */
  backward?: boolean;
  limit: number;
  /** The page ends before a record that brings it to more bytes of documents; it holds one at least. */
  bytes?: number;
}

/**
 * What statistics group records by: the month of creation (UTC, `2026-01`), the year of
 * publication (`2026`), the owner's stored form, the media type of the stored content in lower case, the name of the
 * licence, the {@link ScoreBand} of a crate's stored score, the stored forms of the crate that the
 * record was minted for and of the projects that it belongs to (`OF_PROJECT` of the model). A record
 * without the value is in the group of null; one without keywords or projects is in no group by
 * these, one with several in several.
 */
export const STATISTICS_KEYS = [
  "kind",
  "month",
  "publicationYear",
  "owner",
  "keyword",
  "status",
  "format",
  "licence",
  "scoreBand",
  "crate",
  "project",
] as const;
export type StatisticsKey = (typeof STATISTICS_KEYS)[number];

export interface StatisticsQuery extends Selection {
  by: readonly StatisticsKey[];
  /** Adds up bytes and scores too, which takes longer; 0 and null without it. */
  sizes?: boolean;
  limit: number;
}

/** Kinds whose addresses are left out. */
interface AddressesOf {
  without: readonly KindName[];
}

/**
 * Records by the number that each gets when it is created, in ranges of `size`: a range holds at
 * most as many records, and always the same ones.
 */
export interface AddressRangesQuery extends AddressesOf {
  size: number;
}

/** A range with at least one live record that is no DRAFT. */
export interface AddressRange {
  /** 0 is the range of the first records. */
  range: number;
  records: number;
  /** Of the record that changed last. */
  modifiedAt: number;
}

/** Records with a number above `after`, up to `upTo`, in order; `limit` is at least 1. */
export interface AddressesQuery extends AddressesOf {
  after: number;
  upTo: number;
  limit: number;
}

/** A live record that is no DRAFT. */
export interface Address {
  /** Stored form. */
  ark: string;
  modifiedAt: number;
}

/** `next`: number to go on after; absent on the last page. */
export interface AddressPage {
  items: Address[];
  next?: number;
}

/** Records that agree in the values; `values[i]` is of `by[i]`. */
export interface StatisticsGroup {
  values: (string | null)[];
  records: number;
  /** Of the stored content. */
  bytes: number;
  /** Of the records that have stored content; null where none has. */
  averageBytes: number | null;
  /** Per cent, of the crates that have a stored score; null where none has. */
  averageScore: number | null;
}

/** The groups with the most records first; equal ones by their values, null first. */
export interface Statistics {
  groups: StatisticsGroup[];
  more: boolean;
}

/** Records in the requested order, in both directions; `positions[i]` is that of `items[i]`. */
export interface SelectionPage {
  items: StoredRecord[];
  positions: string[];
  /** There are more in the direction of reading. */
  more: boolean;
}

/** Records by filter. */
export interface SelectionStore {
  /**
   * @param signal an abort before the read has begun prevents it; its reason is thrown
   * @throws {import("../../../errors.js").ServiceError} `BAD_REQUEST` for a position of another filter
   * or order, or that no selection returned
   */
  select(query: SelectionQuery, signal?: AbortSignal): Promise<SelectionPage>;
  countSelected(selection: Selection, signal?: AbortSignal): Promise<number>;
  /** How many links of each record `linksFrom` and `linksTo` list together, in all pages. */
  countLinks(query: LinkCountQuery, signal?: AbortSignal): Promise<number[]>;
  /** Counts by the values of some keys; with one key, a facet. */
  statistics(query: StatisticsQuery, signal?: AbortSignal): Promise<Statistics>;
  /** Ranges in which there are records to list, in order. */
  addressRanges(query: AddressRangesQuery, signal?: AbortSignal): Promise<AddressRange[]>;
  /** Identifiers alone, without documents: a hundred thousand take less than a second. */
  addresses(query: AddressesQuery, signal?: AbortSignal): Promise<AddressPage>;
}
