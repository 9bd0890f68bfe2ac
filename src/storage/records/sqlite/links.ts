import type { KindName } from "../../../model/kind.js";
import {
  endsOf,
  type LinkFromRow,
  type LinkToRow,
  pagesFrom,
  pagesTo,
  storable,
} from "../link-rows.js";
import type { FoundLink, Page, RecordStore } from "../port.js";
import { restate } from "../rows.js";
import { seenSql, viewerKey } from "../visibility.js";
import type { LinkCountQuery } from "../port/selection.js";
import { checkDeadline, type LinkChange, type Projection, type Step } from "./requests.js";
import { arkArray, type Connection, type Statement, textArray } from "./statement.js";

/** The record that states a link is one that the viewer sees. */
const isSeen = (source: string, viewer: string): string =>
  `(${viewer} IS NULL OR (SELECT ${seenSql("p", viewer)} FROM record AS p WHERE p.id = ${source}))`;

/**
 * Counts the links that the two statements of {@link LinkReads} list. Each side either counts its
 * links, or the distinct records at their other end.
 */
const countSql = (
  distinctTargets: boolean,
  distinctSources: boolean,
  fromAnyPredicate: boolean,
): string =>
  `SELECT ( SELECT count(${distinctTargets ? "DISTINCT l.target_key" : "*"})
      FROM record AS r CROSS JOIN link AS l ON l.source = r.id
      WHERE r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1 AND (?2 IS NULL OR l.via IN (SELECT id
      FROM via WHERE predicate IN (SELECT value FROM json_each(?2))))) + (
      SELECT count(${distinctSources ? "DISTINCT l.source" : "*"})
      FROM via AS v CROSS JOIN link AS l INDEXED BY link_target
      ON l.target_key = asked.value ->> 0 AND l.via = v.id
      WHERE ${fromAnyPredicate ? "?3 IS NULL" : "v.predicate IN (SELECT value FROM json_each(?3))"}
      AND ${isSeen("l.source", "?6")} AND (?4 IS NULL OR v.kind IN (SELECT value
      FROM json_each(?4))) AND (?5 IS NULL OR NOT EXISTS ( SELECT 1
      FROM link AS back INDEXED BY link_target WHERE back.target_key = (SELECT key
      FROM record WHERE id = l.source) AND back.via IN (SELECT id FROM via
      WHERE predicate IN (SELECT value FROM json_each(?5))) AND back.source IN (SELECT id
      FROM record WHERE key = l.target_key))))
      FROM json_each(?1) AS asked ORDER BY asked.key`;

const fromSql = (backward: boolean): string =>
  `SELECT asked.key, r.ark, r.kind, l.position, v.predicate, l.target, l.target_key
    FROM json_each(?1) AS asked CROSS JOIN record AS r
    ON r.key = asked.value ->> 0 AND r.ark = asked.value ->> 1 CROSS JOIN link AS l
    ON l.source = r.id AND l.position IN ( SELECT position FROM link AS page
    WHERE page.source = r.id AND page.position > ?2 AND page.position < ?6 AND
    (?3 IS NULL OR page.via IN (SELECT id FROM via WHERE predicate IN (SELECT value
    FROM json_each(?3)))) AND (?5 = 0 OR NOT EXISTS ( SELECT 1 FROM link AS earlier
    WHERE earlier.source = page.source AND earlier.position < page.position AND
    earlier.target_key = page.target_key AND (?3 IS NULL OR earlier.via IN (SELECT id
    FROM via WHERE predicate IN (SELECT value FROM json_each(?3))))))
    ORDER BY page.position ${backward ? "DESC" : ""} LIMIT ?4) CROSS JOIN via AS v ON v.id = l.via
    ORDER BY asked.key, l.position`;

/**
 * The query hops over the distinct pairs of predicate and kind in the index, then reads each up to
 * the limit: it does not read all 100,000 links of a target for the few that the caller asked for.
 */
const toSql = (backward: boolean): string => {
  const direction = backward ? " DESC" : "";
  return `WITH RECURSIVE pair (asked, target_key, via) AS ( SELECT key, value, (SELECT min(via)
    FROM link WHERE target_key = value) FROM json_each(?1) UNION ALL
    SELECT asked, target_key, (SELECT min(via) FROM link
    WHERE target_key = pair.target_key AND via > pair.via) FROM pair
    WHERE via IS NOT NULL) SELECT pair.asked, l.sequence, l.source, l.position, v.predicate,
    v.kind, l.target, l.target_key, r.ark FROM pair CROSS JOIN via AS v
    ON v.id = pair.via AND (?2 IS NULL OR v.predicate IN (SELECT value
    FROM json_each(?2))) AND (?3 IS NULL OR v.kind IN (SELECT value FROM json_each(?3)))
    CROSS JOIN link AS l ON (l.source, l.position) IN ( SELECT page.source, page.position
    FROM link AS page INDEXED BY link_target WHERE page.target_key = pair.target_key AND
    page.via = pair.via AND ${isSeen("page.source", "?13")} AND
    (page.sequence, page.source, page.position) > (?4, ?5, ?6) AND
    (page.sequence, page.source, page.position) < (?10, ?11, ?12) AND (?8
    = 0 OR NOT EXISTS ( SELECT 1 FROM link AS earlier
    WHERE earlier.source = page.source AND earlier.target_key = page.target_key AND
    (earlier.sequence, earlier.position) < (page.sequence, page.position) AND (?2 IS NULL OR
    earlier.via IN (SELECT id FROM via WHERE predicate IN (SELECT value
    FROM json_each(?2)))))) AND (?9 IS NULL OR NOT EXISTS ( SELECT 1
    FROM link AS back INDEXED BY link_target WHERE back.target_key = (SELECT key
    FROM record WHERE id = page.source) AND back.via IN (SELECT id FROM via
    WHERE predicate IN (SELECT value FROM json_each(?9))) AND back.source IN (SELECT id
    FROM record WHERE key = page.target_key)))
    ORDER BY page.sequence${direction}, page.source${direction}, page.position${direction}
    LIMIT ?7) CROSS JOIN record AS r ON r.id = l.source`;
};

/** Links in both directions: one statement each, for any number of records. */
export class LinkReads {
  readonly #from;
  readonly #to;
  readonly #counts = new Map<string, Statement<[number]>>();
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#from = [false, true].map((back) => connection.prepare<LinkFromRow>(fromSql(back)));
    this.#to = [false, true].map((back) => connection.prepare<LinkToRow>(toSql(back)));
  }

  linksFrom(
    arks: readonly string[],
    options: Parameters<RecordStore["linksFrom"]>[1],
  ): Page<FoundLink>[] {
    const { predicates, distinct, backward, limit } = options;
    const [after, before] = endsOf(options, 1) as [number, number];
    const rows = this.#from[Number(backward === true)]!.all([
      arkArray(arks.map(storable)),
      after,
      predicates ? listOf(predicates) : null,
      limit + 1,
      Number(distinct === true),
      before,
    ]);
    return pagesFrom(rows, arks.length, options);
  }

  linksTo(
    keys: readonly string[],
    options: Parameters<RecordStore["linksTo"]>[1],
  ): Page<FoundLink>[] {
    const { predicates, kinds, distinct, unlessBack, backward, limit, viewer } = options;
    const ends = endsOf(options, 3);
    const rows = this.#to[Number(backward === true)]!.all([
      listOf(keys),
      predicates ? listOf(predicates) : null,
      kinds ? listOf(kinds) : null,
      ...ends.slice(0, 3),
      limit + 1,
      Number(distinct === true),
      unlessBack ? listOf(unlessBack) : null,
      ...ends.slice(3),
      viewerKey(viewer),
    ]);
    return pagesTo(rows, keys.length, options);
  }

  /** Links of each record in both directions: one statement for all of them. */
  count({ arks, from, to, viewer }: LinkCountQuery): number[] {
    const text = countSql(
      from.distinct === true,
      to.distinct === true,
      to.predicates === undefined,
    );
    let statement = this.#counts.get(text);
    if (!statement) this.#counts.set(text, (statement = this.#connection.prepare(text)));
    return statement
      .all([
        arkArray(arks.map(storable)),
        from.predicates ? listOf(from.predicates) : null,
        to.predicates ? listOf(to.predicates) : null,
        to.kinds ? listOf(to.kinds) : null,
        to.unlessBack ? listOf(to.unlessBack) : null,
        viewerKey(viewer),
      ])
      .map(([links]) => links);
  }
}

const listOf = (values: readonly string[]): string => textArray(values.map(storable));

/**
 * Stores the links of a commit's records. Runs after all its records are written, so that a link
 * finds its target whichever of the two comes first in the commit.
 */
export class LinkWrites {
  readonly #vias = new Map<string, number>();
  readonly #viaOf;
  readonly #addVia;
  readonly #linksOf;
  readonly #add;
  readonly #change;
  readonly #drop;
  readonly #waiting;
  readonly #waitingForOne;
  readonly #sourcesOf;
  readonly #arrive;

  readonly #projection: Projection;

  constructor(connection: Connection, projection: Projection) {
    this.#projection = projection;

    this.#viaOf = connection.prepare<[number]>(
      "SELECT id FROM via WHERE predicate = ? AND kind = ?",
    );
    this.#addVia = connection.prepare<[number]>(
      "INSERT INTO via (predicate, kind) VALUES (?, ?) RETURNING id",
    );
    this.#linksOf = connection.prepare<[number, number, string, string, number]>(
      `SELECT position, via, target, target_key, sequence FROM link WHERE source = ?
        ORDER BY position`,
    );
    this.#add = connection.prepare(
      `INSERT INTO link (source, position, via, target, target_key, sequence)
        VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#change = connection.prepare(
      `UPDATE link SET via = ?3, target = ?4, target_key = ?5, sequence = ?6
        WHERE source = ?1 AND position = ?2`,
    );
    this.#drop = connection.prepare("DELETE FROM link WHERE source = ? AND position >= ?");
    this.#waiting = connection.prepare<[string, number]>(
      `SELECT asked.value, max(l.sequence) FROM json_each(?) AS asked CROSS JOIN link AS l
        ON l.target_key = asked.value CROSS JOIN record AS r ON r.id = l.source
        WHERE (r.private = 0 OR ?2) GROUP BY asked.value`,
    );
    this.#waitingForOne = connection.prepare<[number | null]>(
      `SELECT max(l.sequence) FROM link AS l CROSS JOIN record AS r ON r.id = l.source
        WHERE l.target_key = ?1 AND (r.private = 0 OR ?2)`,
    );
    this.#sourcesOf = connection.prepare<[number]>(
      "SELECT DISTINCT source FROM link WHERE target_key = ?1 AND (?3 OR target <> ?2)",
    );
    this.#arrive = connection.prepare(
      "UPDATE record SET newest_backlink = max(newest_backlink, ?) WHERE id = ?",
    );
  }

  /** Numbers given in a transaction that was rolled back are void. */
  forget(): void {
    this.#vias.clear();
  }

  apply(step: Step): void {
    const arrivals = this.#meetWaiting(step);
    for (const change of step.links) {
      checkDeadline(step);
      this.#write(change, step);
    }
    for (const { source, quads, links, state } of step.links) {
      if (quads !== null) this.#projection.project(state, quads, links);
      arrivals.delete(source);
    }
    // Sources of earlier commits, whose links now have a target that is spelled otherwise.
    for (const source of arrivals)
      if (this.#projection.projectAgain(source)) step.changed.add(source);
  }

  /** The links of a record that becomes open count from now on. */
  open(source: number, { touched }: Step): void {
    for (const [, , , targetKey] of this.#linksOf.all([source])) touched.add(targetKey);
  }

  /**
   * A new record that earlier links point to: their newest counts, and the links of their sources
   * may have to be spelled again.
   */
  #meetWaiting(step: Step): Set<number> {
    const sources = new Set<number>();
    if (step.arrived.length === 0) return sources;
    const keysOf = (isPrivate: boolean): string[] =>
      step.arrived.filter((arrival) => arrival.isPrivate === isPrivate).map(({ key }) => key);
    const waiting = {
      open: this.#waitingFor(keysOf(false), false),
      private: this.#waitingFor(keysOf(true), true),
    };
    for (const arrival of step.arrived) {
      const { id, ark, key, sharesKey, isPrivate } = arrival;
      const newest = waiting[isPrivate ? "private" : "open"].get(key);
      if (newest === undefined) continue;
      arrival.newest = newest;
      this.#arrive.put([newest, id]);
      for (const [source] of this.#sourcesOf.all([key, ark, sharesKey ? 1 : 0]))
        sources.add(source);
    }
    return sources;
  }

  /**
   * Key → newest of the links that waited for it. One statement for a whole crate; a plainer,
   * faster one for one record.
   * @param isPrivate whether links that private records state count
   */
  #waitingFor(keys: readonly string[], isPrivate: boolean): Map<string, number> {
    const those = Number(isPrivate);
    if (keys.length === 0) return new Map();
    if (keys.length > 1) return new Map(this.#waiting.all([textArray([...new Set(keys)]), those]));
    const newest = this.#waitingForOne.one([keys[0]!, those])[0];
    return new Map(newest === null ? [] : [[keys[0]!, newest]]);
  }

  /** Writes the positions that differ. A link that was stated before keeps its age. */
  #write(
    { source, key, kind, links, isNew, isPrivate }: LinkChange,
    { sequence, linked, touched, touchedPrivately }: Step,
  ): void {
    const touch = (target: string): void => {
      if (target !== key && !linked.has(target))
        (isPrivate ? touchedPrivately : touched).add(target);
    };
    const before = isNew
      ? []
      : this.#linksOf
          .all([source])
          .map(([, via, target, targetKey, age]) => ({ via, target, targetKey, sequence: age }));
    const now = restate(
      before,
      links.map(({ predicate, target, targetKey }) => ({
        via: this.#via(predicate, kind),
        target,
        targetKey,
      })),
      sequence,
      touch,
    );
    for (const [position, link] of now.entries()) {
      const old = before[position];
      if (
        old &&
        link.sequence === old.sequence &&
        link.via === old.via &&
        link.target === old.target &&
        link.targetKey === old.targetKey
      )
        continue;
      (old ? this.#change : this.#add).put([
        source,
        position,
        link.via,
        link.target,
        link.targetKey,
        link.sequence,
      ]);
    }
    if (before.length > links.length) this.#drop.put([source, links.length]);
  }

  #via(predicate: string, kind: KindName): number {
    const name = `${kind} ${predicate}`;
    let id = this.#vias.get(name);
    if (id === undefined) {
      id = (this.#viaOf.get([predicate, kind]) ?? this.#addVia.get([predicate, kind]))![0];
      this.#vias.set(name, id);
    }
    return id;
  }
}
