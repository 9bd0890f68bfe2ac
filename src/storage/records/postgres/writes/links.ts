import { respell } from "../../../../rdf/terms.js";
import { packQuads, unpackLinks, unpackQuads } from "../../codecs.js";
import type { RecordWrite } from "../../port.js";
import { restate, type StatedLink } from "../../rows.js";
import { type Sending, statement } from "../statement.js";
import type { Held } from "./records.js";
import { viaOf } from "./states.js";
import type { Step } from "./step.js";

const STORED = statement<
  [source: number, via: number, target: string, targetKey: string, sequence: number]
>(
  `SELECT l.source, l.via, l.target, l.target_key, l.sequence FROM record AS r JOIN link AS l
    ON l.source = r.id WHERE r.ark = ANY($1::text[]) ORDER BY l.source, l.position`,
);
const OWNERS = statement<[key: string, ark: string]>(
  "SELECT key, ark FROM record WHERE key = ANY($1::text[])",
);
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

const PROJECT = statement("UPDATE state SET projected = $2 WHERE id = $1");
/**
 * Sources of links to records that have just come, where the link is spelled otherwise or the key
 * has several owners.
 */
const SOURCES = statement<
  [source: number, sequence: number]
>(`SELECT l.source, max(v.sequence) FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS
    v (key, ark, shares, sequence) JOIN link AS l ON l.target_key = v.key
    WHERE v.shares = 1 OR l.target <> v.ark GROUP BY l.source`);
const GRAPHS = statement<
  [record: number, state: number, quads: Uint8Array, projected: Uint8Array | null]
>(
  `SELECT r.id, s.id, s.quads, s.projected FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL`,
);
const TARGETS = statement<[source: number, target: string, targetKey: string]>(
  "SELECT DISTINCT source, target, target_key FROM link WHERE source = ANY($1::bigint[])",
);
const TARGET_OWNERS = statement<[key: string, ark: string]>(
  `SELECT DISTINCT r.key, r.ark FROM record AS r WHERE r.key IN (SELECT target_key FROM link
    WHERE source = ANY($1::bigint[]))`,
);
/** Sources whose links are spelled again at a time. */
const SOURCES_PER_STATEMENT = 500;

/** The rows that commits concern, as they were before them. */
interface Loaded {
  /** Record → its links. */
  stored: ReadonlyMap<number, StatedLink[]>;
  /** Key of a link's target → the identifiers that own it. */
  owners: ReadonlyMap<string, string[]>;
}

export async function loadLinks(sending: Sending, writes: readonly RecordWrite[]): Promise<Loaded> {
  const [links, keys] = await Promise.all([
    sending.ask(
      STORED,
      writes.flatMap(({ op, ark }) => (op === "replace" || op === "delete" ? [ark] : [])),
    ),
    sending.ask(
      OWNERS,
      writes.flatMap((write) =>
        "links" in write ? unpackLinks(write.links).map(({ targetKey }) => targetKey) : [],
      ),
    ),
  ]);
  const stored = new Map<number, StatedLink[]>();
  for (const [source, via, target, targetKey, sequence] of links)
    append(stored, source, { via, target, targetKey, sequence });
  const owners = new Map<string, string[]>();
  for (const [key, ark] of keys) append(owners, key, ark);
  return { stored, owners };
}

/** Links of records, and the graph as seen by the index. */
export class LinkWrites {
  /** Key → number of the newest commit that gave it a link, or took one. */
  readonly touched = new Map<string, number>();
  readonly #now = new Map<number, StatedLink[]>();
  /** Quads as written, of records with a new state. */
  readonly #quads = new Map<Held, string | Uint8Array>();

  readonly #before: Loaded["stored"];
  readonly #owners: Loaded["owners"];
  readonly #vias: ReadonlyMap<string, number>;

  /** @param vias numbers of pairs of kind and predicate */
  constructor({ stored, owners }: Loaded, vias: ReadonlyMap<string, number>) {
    this.#before = stored;
    this.#owners = owners;
    this.#vias = vias;
  }

  /**
   * After all records of the commit, so that a link finds its target whichever of the two comes
   * first.
   */
  restate({ sequence }: Step, record: Held, write: RecordWrite): void {
    const links = "links" in write ? unpackLinks(write.links) : [];
    const now = links.map(({ predicate, target, targetKey }) => ({
      via: this.#vias.get(viaOf(record.kind, predicate))!,
      target,
      targetKey,
    }));
    const before = this.#now.get(record.id) ?? this.#before.get(record.id) ?? [];
    const touch = (key: string): void => {
      if (key !== record.key) this.touched.set(key, sequence);
    };
    this.#now.set(record.id, restate(before, now, sequence, touch));
    if ("quads" in write) this.#quads.set(record, write.quads);
  }

  /** Writes the positions that differ, and updates the newest link of the targets. */
  async write(sending: Sending): Promise<void> {
    const dropped: [number, number][] = [];
    const put: unknown[][] = [];
    for (const [source, links] of this.#now) {
      const before = this.#before.get(source) ?? [];
      if (before.length > links.length) dropped.push([source, links.length]);
      for (const [position, link] of links.entries())
        if (!isSame(before[position], link))
          put.push([source, position, link.via, link.target, link.targetKey, link.sequence]);
    }
    await sending.rows(DROP, dropped);
    await sending.rows(PUT, put);
    await sending.rows(TOUCH, [...this.touched]);
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
    arrived: readonly { record: Held; sequence: number }[],
    holdersOf: (key: string) => readonly Held[],
  ): Promise<[sequence: number, record: number][]> {
    const ownersOf = (key: string): string[] => {
      const stored = this.#owners.get(key) ?? [];
      const created = holdersOf(key).filter((holder) => !holder.stored);
      return [...stored, ...created.map(({ ark }) => ark)];
    };
    for (const [record, written] of this.#quads) {
      if (record.deletedAt !== null) continue;
      const spelled = spelling(this.#now.get(record.id)!, ownersOf);
      if (spelled.size === 0) continue;
      const quads = typeof written === "string" ? written : unpackQuads(written);
      const projected = respell(quads, spelled);
      if (projected !== quads) void sending.send(PROJECT, [record.state, packQuads(projected)]);
    }
    await sending.breathe();
    if (arrived.length === 0) return [];
    const found = await sending.send(SOURCES, [
      arrived.map(({ record }) => record.key),
      arrived.map(({ record }) => record.ark),
      arrived.map(({ record }) => (holdersOf(record.key).length > 1 ? 1 : 0)),
      arrived.map(({ sequence }) => sequence),
    ]);
    const own = new Set([...this.#quads.keys()].map(({ id }) => id));
    const sources = new Map(found.filter(([source]) => !own.has(source)));
    const ids = [...sources.keys()];
    const changed: number[] = [];
    for (let at = 0; at < ids.length; at += SOURCES_PER_STATEMENT) {
      const some = ids.slice(at, at + SOURCES_PER_STATEMENT);
      for (const id of await projectAgain(sending, some)) changed.push(id);
    }
    return changed.map((id) => [sources.get(id)!, id]);
  }
}

/** Sources of earlier commits, whose links now have a target that is spelled otherwise. */
async function projectAgain(sending: Sending, sources: readonly number[]): Promise<number[]> {
  const [graphs, targets, owned] = await Promise.all([
    sending.send(GRAPHS, [sources]),
    sending.send(TARGETS, [sources]),
    sending.send(TARGET_OWNERS, [sources]),
  ]);
  const owners = new Map<string, string[]>();
  for (const [key, ark] of owned) append(owners, key, ark);
  const links = new Map<number, { target: string; targetKey: string }[]>();
  for (const [source, target, targetKey] of targets) append(links, source, { target, targetKey });
  const changed: number[] = [];
  for (const [record, state, written, before] of graphs) {
    const quads = unpackQuads(written);
    const spelled = spelling(links.get(record) ?? [], (key) => owners.get(key) ?? []);
    const now = respell(quads, spelled);
    if (now === (before ? unpackQuads(before) : quads)) continue;
    void sending.send(PROJECT, [state, now === quads ? null : packQuads(now)]);
    changed.push(record);
  }
  await sending.settle();
  return changed;
}

/** As written → as owned. A key with several owners (members of one crate) is left as written. */
function spelling(
  links: readonly { target: string; targetKey: string }[],
  ownersOf: (key: string) => readonly string[],
): Map<string, string> {
  const spelled = new Map<string, string>();
  for (const { target, targetKey } of links) {
    const owners = ownersOf(targetKey);
    if (owners.length === 1 && owners[0] !== target) spelled.set(target, owners[0]!);
  }
  return spelled;
}

const isSame = (before: StatedLink | undefined, now: StatedLink): boolean =>
  before !== undefined &&
  before.via === now.via &&
  before.target === now.target &&
  before.targetKey === now.targetKey &&
  before.sequence === now.sequence;

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
