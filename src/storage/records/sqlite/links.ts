import type { KindName } from "../../../model/kind.js";
import { restate } from "../rows.js";
import { checkDeadline, type LinkChange, type Projection, type Step } from "./requests.js";
import { type Connection, textArray } from "./statement.js";

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
