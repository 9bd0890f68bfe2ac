/** Links in both directions: one statement each, for any number of records. */
import { arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { FoundLink, Page, RecordStore } from "../port.js";
import type { LinkCountQuery } from "../port/selection.js";
import { readNumbers } from "../rows.js";
import type { Statement, Statements } from "../statements.js";
import { isStorableText } from "../text.js";
import { viewerKey } from "../visibility.js";

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
const endsOf = ({ after, before }: PageOptions, parts: 1 | 3): number[] => [
  ...(after === undefined ? [-1, 0, 0].slice(0, parts) : readNumbers(after, parts)),
  ...(before === undefined ? [END, 0, 0].slice(0, parts) : readNumbers(before, parts)),
];

/** @param asked how many records were asked for */
const pagesFrom = (
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
const pagesTo = (
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
const storable = (value: string): string => (isStorableText(value) ? value : "");
const listOf = (values: readonly string[] | undefined): string[] | null =>
  values ? values.map(storable) : null;

export interface LinkSql {
  /**
   * Forward and backward: links from the records `$1` behind position `$2` and before `$6`, by the
   * predicates `$3`, at most `$4` of each; only the first of those to one target where `$5` is 1.
   */
  readonly from: readonly [Statement<LinkFromRow>, Statement<LinkFromRow>];
  /**
   * Forward and backward: links to the keys `$1` by the predicates `$2`, from records of the kinds
   * `$3`, behind the position of `$4` to `$6` and before that of `$10` to `$12`, at most `$7` of
   * each; only the oldest of those from one source where `$8` is 1, none from a source that the
   * target links to by one of `$9`, and those that viewer `$13` sees.
   */
  readonly to: readonly [Statement<LinkToRow>, Statement<LinkToRow>];
  /**
   * Counts what the others list, together: from the records `$1`, whose keys are `$2`, by the
   * predicates `$3`, and to them as `$4` to `$7` say it like `$2`, `$3`, `$9` and `$13` above. Each
   * side counts its links, or the distinct records at their other end.
   * @param fromAnyPredicate `$4` is null
   */
  count(
    distinctTargets: boolean,
    distinctSources: boolean,
    fromAnyPredicate: boolean,
  ): Statement<[number]>;
}

export class Links {
  readonly #statements: Statements;
  readonly #sql: LinkSql;

  constructor(statements: Statements, sql: LinkSql) {
    this.#statements = statements;
    this.#sql = sql;
  }

  async linksFrom(
    arks: readonly string[],
    options: Parameters<RecordStore["linksFrom"]>[1],
  ): Promise<Page<FoundLink>[]> {
    const { predicates, distinct, backward, limit } = options;
    const [after, before] = endsOf(options, 1) as [number, number];
    const rows = await this.#statements.query(this.#sql.from[backward ? 1 : 0], [
      this.#statements.arkList(arks.map(storable)),
      after,
      listOf(predicates),
      limit + 1,
      Number(distinct === true),
      before,
    ]);
    return pagesFrom(rows, arks.length, options);
  }

  async linksTo(
    keys: readonly string[],
    options: Parameters<RecordStore["linksTo"]>[1],
  ): Promise<Page<FoundLink>[]> {
    const { predicates, kinds, distinct, unlessBack, backward, limit, viewer } = options;
    const ends = endsOf(options, 3);
    const rows = await this.#statements.query(this.#sql.to[backward ? 1 : 0], [
      listOf(keys),
      listOf(predicates),
      listOf(kinds),
      ...ends.slice(0, 3),
      limit + 1,
      Number(distinct === true),
      listOf(unlessBack),
      ...ends.slice(3),
      viewerKey(viewer),
    ]);
    return pagesTo(rows, keys.length, options);
  }

  /** Links of each record in both directions: one statement for all of them. */
  async countLinks({ arks, from, to, viewer }: LinkCountQuery): Promise<number[]> {
    const counting = this.#sql.count(
      from.distinct === true,
      to.distinct === true,
      to.predicates === undefined,
    );
    const asked = arks.map(storable);
    const rows = await this.#statements.query(counting, [
      this.#statements.arkList(asked),
      asked.map(arkKey),
      listOf(from.predicates),
      listOf(to.predicates),
      listOf(to.kinds),
      listOf(to.unlessBack),
      viewerKey(viewer),
    ]);
    return rows.map(([links]) => links);
  }
}
