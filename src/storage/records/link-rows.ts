/** Pages of links from the rows that either database finds. */
import type { KindName } from "../../model/kind.js";
import type { FoundLink, Page } from "./port.js";
import { readNumbers } from "./rows.js";
import { isStorableText } from "./text.js";

/** `asked`: place of the record in the list that was asked for, from 0. */
export type LinkFromRow = [
  asked: number,
  source: string,
  kind: string,
  position: number,
  predicate: string,
  target: string,
  targetKey: string,
];
export type LinkToRow = [
  asked: number,
  sequence: number,
  sourceId: number,
  position: number,
  predicate: string,
  kind: string,
  target: string,
  targetKey: string,
  source: string,
];

/** What a page of links is asked for with. */
interface PageOptions {
  after?: string;
  before?: string;
  backward?: boolean;
  limit: number;
}
/** Behind the last link. */
const END = Number.MAX_SAFE_INTEGER;

/** The numbers of both ends of a page. @param parts numbers of a position */
export const endsOf = ({ after, before }: PageOptions, parts: 1 | 3): number[] => [
  ...(after === undefined ? [-1, 0, 0].slice(0, parts) : readNumbers(after, parts)),
  ...(before === undefined ? [END, 0, 0].slice(0, parts) : readNumbers(before, parts)),
];

/** @param asked how many records were asked for */
export const pagesFrom = (
  rows: readonly LinkFromRow[],
  asked: number,
  options: PageOptions,
): Page<FoundLink>[] =>
  byPlace(rows, asked).map((page) =>
    pageOf(page, options, ([, source, kind, position, predicate, target, targetKey]) => ({
      source,
      sourceKind: kind as KindName,
      position: String(position),
      predicate,
      target,
      targetKey,
    })),
  );

/** @param asked how many targets were asked for */
export const pagesTo = (
  rows: readonly LinkToRow[],
  asked: number,
  options: PageOptions,
): Page<FoundLink>[] =>
  byPlace(rows, asked).map((page) =>
    pageOf(
      page.toSorted((a, b) => a[1] - b[1] || a[2] - b[2] || a[3] - b[3]),
      options,
      ([, sequence, sourceId, position, predicate, kind, target, targetKey, source]) => ({
        source,
        sourceKind: kind as KindName,
        position: `${sequence}.${sourceId}.${position}`,
        predicate,
        target,
        targetKey,
      }),
    ),
  );

function byPlace<R extends [asked: number, ...rest: unknown[]]>(
  rows: readonly R[],
  asked: number,
): R[][] {
  const pages = Array.from({ length: asked }, (): R[] => []);
  for (const row of rows) pages[row[0]]!.push(row);
  return pages;
}

function pageOf<R>(
  rows: readonly R[],
  { limit, backward = false }: PageOptions,
  link: (row: R) => FoundLink,
): Page<FoundLink> {
  const items = (backward ? rows.slice(-limit) : rows.slice(0, limit)).map(link);
  const end = items.at(backward ? 0 : -1);
  return end && rows.length > limit ? { items, next: end.position } : { items };
}

/**
 * A text that cannot be stored is replaced by an empty string, which no record has, so that places
 * in the list stay.
 */
export const storable = (value: string): string => (isStorableText(value) ? value : "");
