import type { KindName } from "../../../../model/kind.js";
import type { FoundLink, Page, RecordStore } from "../../port.js";
import { readNumbers } from "../../positions.js";
import { isStorableText } from "../../storable.js";
import { type Database, statement } from "../statement.js";

type From = [asked: number, source: string, kind: string, position: number, predicate: string, target: string, targetKey: string];
type To = [asked: number, sequence: number, sourceId: number, position: number, predicate: string, kind: string, target: string, targetKey: string, source: string];

const FROM = statement<From>(`
  SELECT asked.place, r.ark, r.kind, l.position, v.predicate, l.target, l.target_key
  FROM unnest($1::text[]) WITH ORDINALITY AS asked (ark, place) JOIN record AS r ON r.ark = asked.ark
  CROSS JOIN LATERAL (
    SELECT page.position, page.via, page.target, page.target_key FROM link AS page WHERE page.source = r.id AND page.position > $2
      AND ($3::text[] IS NULL OR page.via IN (SELECT id FROM via WHERE predicate = ANY($3)))
      AND ($5 = 0 OR (
        SELECT 1 FROM link AS earlier WHERE earlier.source = page.source AND earlier.position < page.position AND earlier.target_key = page.target_key
          AND ($3 IS NULL OR earlier.via IN (SELECT id FROM via WHERE predicate = ANY($3))) LIMIT 1) IS NULL)
    ORDER BY page.position LIMIT $4) AS l
  JOIN via AS v ON v.id = l.via
  ORDER BY asked.place, l.position`);

// The distinct pairs of predicate and kind are hopped over in the index, then each is read up to the limit: a target
// of 100,000 links is not read whole for the few of them that are asked for. For the same reason what must not exist is
// asked for as a value: PostgreSQL would make a join of all of it out of NOT EXISTS. The few links of a source are looked
// at rather than the many of a target: what is compared with `|| ''` is not looked up in an index.
const TO = statement<To>(`
  WITH RECURSIVE pair (place, target_key, via) AS (
    SELECT asked.place, asked.target_key, (SELECT l.via FROM link AS l WHERE l.target_key = asked.target_key ORDER BY l.via LIMIT 1)
    FROM unnest($1::text[]) WITH ORDINALITY AS asked (target_key, place)
    UNION ALL
    SELECT pair.place, pair.target_key, (SELECT l.via FROM link AS l WHERE l.target_key = pair.target_key AND l.via > pair.via ORDER BY l.via LIMIT 1) FROM pair WHERE pair.via IS NOT NULL)
  SELECT pair.place, l.sequence, l.source, l.position, v.predicate, v.kind, l.target, l.target_key, r.ark
  FROM pair
  JOIN via AS v ON v.id = pair.via AND ($2::text[] IS NULL OR v.predicate = ANY($2)) AND ($3::text[] IS NULL OR v.kind = ANY($3))
  CROSS JOIN LATERAL (
    SELECT page.sequence, page.source, page.position, page.target, page.target_key FROM link AS page
    WHERE page.target_key = pair.target_key AND page.via = pair.via AND (page.sequence, page.source, page.position) > ($4::bigint, $5::bigint, $6::int)
      AND ($8 = 0 OR (
        SELECT 1 FROM link AS earlier WHERE earlier.source = page.source AND earlier.target_key || '' = page.target_key AND (earlier.sequence, earlier.position) < (page.sequence, page.position)
          AND ($2 IS NULL OR earlier.via IN (SELECT id FROM via WHERE predicate = ANY($2))) LIMIT 1) IS NULL)
      AND ($9::text[] IS NULL OR (
        SELECT 1 FROM link AS back WHERE back.target_key = (SELECT key FROM record WHERE id = page.source)
          AND back.via IN (SELECT id FROM via WHERE predicate = ANY($9))
          AND back.source IN (SELECT id FROM record WHERE key = page.target_key) LIMIT 1) IS NULL)
    ORDER BY page.sequence, page.source, page.position LIMIT $7) AS l
  JOIN record AS r ON r.id = l.source`);

/** Links in both directions: one statement each, however many records are asked for. */
export class LinkReads {
  constructor(private readonly database: Database) {}

  async linksFrom(arks: readonly string[], { predicates, distinct, after, limit }: Parameters<RecordStore["linksFrom"]>[1]): Promise<Page<FoundLink>[]> {
    const pages = arks.map((): From[] => []);
    const start = after === undefined ? -1 : readNumbers(after, 1)[0]!;
    for (const row of await this.database.query(FROM, [listOf(arks), start, predicates ? listOf(predicates) : null, limit + 1, Number(distinct === true)])) pages[row[0] - 1]!.push(row);
    return pages.map((rows) => pageOf(rows, limit, ([, source, kind, position, predicate, target, targetKey]) =>
      ({ source, sourceKind: kind as KindName, position: String(position), predicate, target, targetKey })));
  }

  async linksTo(keys: readonly string[], { predicates, kinds, distinct, unlessBack, after, limit }: Parameters<RecordStore["linksTo"]>[1]): Promise<Page<FoundLink>[]> {
    const pages = keys.map((): To[] => []);
    const start = after === undefined ? [0, 0, 0] : readNumbers(after, 3);
    const rows = await this.database.query(TO, [listOf(keys), predicates ? listOf(predicates) : null, kinds ? listOf(kinds) : null, ...start, limit + 1, Number(distinct === true), unlessBack ? listOf(unlessBack) : null]);
    for (const row of rows) pages[row[0] - 1]!.push(row);
    return pages.map((page) => pageOf(page.toSorted(oldestFirst), limit, ([, sequence, sourceId, position, predicate, kind, target, targetKey, source]) =>
      ({ source, sourceKind: kind as KindName, position: `${sequence}.${sourceId}.${position}`, predicate, target, targetKey })));
  }
}

/** What cannot be stored is asked for as an empty string, which nothing has, so that places in the list stay. */
const listOf = (values: readonly string[]): string[] => values.map((value) => (isStorableText(value) ? value : ""));

const oldestFirst = (a: To, b: To): number => a[1] - b[1] || a[2] - b[2] || a[3] - b[3];

function pageOf<R>(rows: readonly R[], limit: number, link: (row: R) => FoundLink): Page<FoundLink> {
  const items = rows.slice(0, limit).map(link);
  return rows.length > limit ? { items, next: items.at(-1)!.position } : { items };
}
