import { isDeepStrictEqual } from "node:util";
import { respell } from "../../../../rdf/terms.js";
import { packQuads, unpackLinks, unpackQuads } from "../../codecs.js";
import type { RecordWrite } from "../../port.js";
import { restate, type StatedLink } from "../../rows.js";
import { type Sending, statement } from "../statement.js";
import type { Held, RecordRow, Step } from "./records.js";
import { viaOf } from "./states.js";

const DROP = statement(
  `DELETE FROM link USING unnest($1::bigint[], $2::int[]) AS v (source, position)
    WHERE link.source = v.source AND link.position >= v.position`,
);
const PUT =
  statement(`INSERT INTO link (source, position, via, target, target_key, sequence) SELECT *
    FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bigint[])
    ON CONFLICT (source, position) DO UPDATE SET via = excluded.via, target = excluded.target,
    target_key = excluded.target_key, sequence = excluded.sequence`);
const TOUCH = statement(
  `UPDATE record SET newest_backlink = v.sequence
    FROM unnest($1::text[], $2::bigint[]) AS v (key, sequence)
    WHERE record.key = v.key AND record.newest_backlink < v.sequence`,
);

const TOUCH_PRIVATELY = statement(
  `UPDATE record SET newest_backlink = v.sequence
    FROM unnest($1::text[], $2::bigint[]) AS v (key, sequence)
    WHERE record.key = v.key AND record.private = 1 AND record.newest_backlink < v.sequence`,
);

const PROJECT = statement("UPDATE state SET projected = $2 WHERE id = $1");
/**
 * Targets that a record spells otherwise. OFFSET keeps the plan: each key is looked up in the index,
 * also before PostgreSQL has statistics of the table.
 */
const MISSPELT = statement<[target: string]>(
  `SELECT v.target FROM unnest($1::text[], $2::text[]) AS v (target, key)
    WHERE EXISTS (SELECT 1 FROM record WHERE key = v.key AND ark <> v.target OFFSET 0)`,
);
/**
 * Sources of links to records that have just come, where the link is spelled otherwise or the key
 * has several owners.
 */
const WAITING = statement<
  [source: number, sequence: number]
>(`SELECT l.source, max(v.sequence) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS
    v (key, ark, sequence) JOIN link AS l ON l.target_key = v.key
    WHERE l.target <> v.ark OR EXISTS (SELECT 1 FROM record WHERE key = v.key AND ark <> v.ark)
    GROUP BY l.source`);
const GRAPHS = statement<
  [record: number, state: number, quads: Uint8Array, projected: Uint8Array | null]
>(
  `SELECT r.id, s.id, s.quads, s.projected FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL`,
);
/** Targets whose keys have one owner, which spells them otherwise: members of a crate may share one. */
const SPELLINGS = statement<[source: number, target: string, ark: string]>(
  `SELECT l.source, l.target, min(r.ark)
    FROM (SELECT DISTINCT source, target, target_key FROM link WHERE source = ANY($1::bigint[])) AS l
    JOIN record AS r ON r.key = l.target_key
    GROUP BY l.source, l.target HAVING count(*) = 1 AND min(r.ark) <> l.target`,
);
/** Sources whose links are spelled at a time. */
const SOURCES_PER_STATEMENT = 500;

/** Links of records, and the graph as seen by the index. */
export class LinkWrites {
  /** Key → number of the newest commit that gave it a link, or took one. */
  readonly touched = new Map<string, number>();
  /** The same of links that private records state, which only private records notice. */
  readonly touchedPrivately = new Map<string, number>();
  /** Links before, of records that state others now. */
  readonly #before = new Map<Held, readonly StatedLink[]>();
  /** Records with a new state. */
  readonly #restated = new Map<number, Held>();

  readonly #vias: ReadonlyMap<string, number>;

  /** @param vias numbers of pairs of kind and predicate */
  constructor(vias: ReadonlyMap<string, number>) {
    this.#vias = vias;
  }

  /**
   * After all records of the commit, so that a link finds its target whichever of the two comes
   * first.
   */
  restate({ sequence }: Step, held: Held, write: RecordWrite): void {
    const { id, key, kind, private: isPrivate } = held.row;
    const links = "links" in write ? unpackLinks(write.links) : [];
    const now = links.map(({ predicate, target, targetKey }) => ({
      via: this.#vias.get(viaOf(kind, predicate))!,
      target,
      targetKey,
    }));
    if (!this.#before.has(held)) this.#before.set(held, held.links);
    held.links = restate(held.links, now, sequence, (targetKey) => {
      if (targetKey !== key)
        (isPrivate === 1 ? this.touchedPrivately : this.touched).set(targetKey, sequence);
    });
    if ("quads" in write) this.#restated.set(id, held);
  }

  /** The links of a record that becomes open count from now on. */
  open({ sequence }: Step, { row, links }: Held): void {
    for (const { targetKey } of links)
      if (targetKey !== row.key) this.touched.set(targetKey, sequence);
  }

  /** Writes the positions that differ, and updates the newest link of the targets. */
  async write(sending: Sending): Promise<void> {
    const dropped: [number, number][] = [];
    const put: unknown[][] = [];
    for (const [{ row, links }, before] of this.#before) {
      if (before.length > links.length) dropped.push([row.id, links.length]);
      for (const [position, link] of links.entries())
        if (!isDeepStrictEqual(before[position], link))
          put.push([row.id, position, link.via, link.target, link.targetKey, link.sequence]);
    }
    await sending.rows(DROP, dropped);
    await sending.rows(PUT, put);
    await sending.rows(TOUCH, [...this.touched]);
    await sending.rows(TOUCH_PRIVATELY, [...this.touchedPrivately]);
  }

  /**
   * The graph as seen by the index: link targets spelled as the records that own their keys spell
   * them. It is always made from the quads as written, so that it is the same whichever record came
   * first. Run when all else is written.
   *
   * @param arrived new records that links of earlier commits had waited for
   * @returns records that these commits do not write, whose graph one of them changed
   */
  async project(
    sending: Sending,
    arrived: readonly { row: RecordRow; sequence: number }[],
  ): Promise<[sequence: number, record: number][]> {
    const waiting =
      arrived.length === 0
        ? []
        : await sending.send(WAITING, [
            arrived.map(({ row }) => row.key),
            arrived.map(({ row }) => row.ark),
            arrived.map(({ sequence }) => sequence),
          ]);
    const others = new Map(waiting.filter(([source]) => !this.#restated.has(source)));
    for (const some of chunksOf(await this.#misspelling(sending))) await spell(sending, some);
    const changed: [sequence: number, record: number][] = [];
    for (const some of chunksOf([...others.keys()]))
      for (const id of await spell(sending, some)) changed.push([others.get(id)!, id]);
    return changed;
  }

  /** Records with a new state that links to a target by another spelling than its own. */
  async #misspelling(sending: Sending): Promise<number[]> {
    const restated = [...this.#restated.values()];
    const keys = new Map(
      restated.flatMap(({ links }) => links.map(({ target, targetKey }) => [target, targetKey])),
    );
    if (keys.size === 0) return [];
    const found = await sending.send(MISSPELT, [[...keys.keys()], [...keys.values()]]);
    const misspelt = new Set(found.flat());
    return restated
      .filter(({ links }) => links.some(({ target }) => misspelt.has(target)))
      .map(({ row }) => row.id);
  }
}

/** @returns those of the sources whose graph is another one now */
async function spell(sending: Sending, sources: readonly number[]): Promise<number[]> {
  const [graphs, spellings] = await Promise.all([
    sending.send(GRAPHS, [sources]),
    sending.send(SPELLINGS, [sources]),
  ]);
  const spelled = new Map<number, Map<string, string>>(sources.map((id) => [id, new Map()]));
  for (const [source, target, ark] of spellings) spelled.get(source)!.set(target, ark);
  const changed: number[] = [];
  for (const [record, state, written, before] of graphs) {
    const quads = unpackQuads(written);
    const now = respell(quads, spelled.get(record)!);
    if (now === (before ? unpackQuads(before) : quads)) continue;
    void sending.send(PROJECT, [state, now === quads ? null : packQuads(now)]);
    changed.push(record);
  }
  await sending.settle();
  return changed;
}

function* chunksOf(ids: readonly number[]): Generator<number[]> {
  for (let at = 0; at < ids.length; at += SOURCES_PER_STATEMENT)
    yield ids.slice(at, at + SOURCES_PER_STATEMENT);
}
