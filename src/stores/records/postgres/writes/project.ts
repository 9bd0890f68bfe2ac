import { respell } from "../../../../rdf/respell.js";
import { packQuads, unpackQuads } from "../../quads-codec.js";
import { statement } from "../statement.js";
import type { Ledger } from "./ledger.js";
import type { Sending } from "./sending.js";

const PUT = statement("UPDATE state SET projected = $2 WHERE id = $1");
/** Sources of links to records that have just come, where the link is spelled otherwise or the key has several owners. */
const SOURCES = statement<[source: number, sequence: number]>(`SELECT l.source, max(v.sequence) FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS v (key, ark, shares, sequence)
  JOIN link AS l ON l.target_key = v.key WHERE v.shares = 1 OR l.target <> v.ark GROUP BY l.source`);
const GRAPHS = statement<[record: number, state: number, quads: Uint8Array, projected: Uint8Array | null]>("SELECT r.id, s.id, s.quads, s.projected FROM record AS r JOIN state AS s ON s.id = r.state WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL");
const TARGETS = statement<[source: number, target: string, targetKey: string]>("SELECT DISTINCT source, target, target_key FROM link WHERE source = ANY($1::bigint[])");
const OWNERS = statement<[key: string, ark: string]>("SELECT DISTINCT r.key, r.ark FROM record AS r WHERE r.key IN (SELECT target_key FROM link WHERE source = ANY($1::bigint[]))");

/** Sources that are spelled anew at a time. */
const AT_ONCE = 500;

/**
 * The graph as seen by the index: link targets spelled as the records that own their keys spell them. It is always
 * made from the quads as written, so that it is the same whichever record came first. Run when all else is written.
 */
export async function project(sending: Sending, ledger: Ledger): Promise<void> {
  for (const record of ledger.byArk.values()) {
    const quads = ledger.quads.get(record.id);
    if (quads === undefined || record.deletedAt !== null) continue;
    const projected = respell(quads, spelling(ledger.links.get(record.id) ?? [], (key) => ledger.ownersOf(key)));
    if (projected !== quads) void sending.send(PUT, [record.state, packQuads(projected)]);
  }
  await sending.breathe();
  if (ledger.arrived.length > 0) await projectWaiting(sending, ledger);
}

/** Sources of earlier commits, whose links now have a target that is spelled otherwise: they are changed, without a revision. */
async function projectWaiting(sending: Sending, ledger: Ledger): Promise<void> {
  const { arrived } = ledger;
  const found = await sending.send(SOURCES, [arrived.map(({ record }) => record.key), arrived.map(({ record }) => record.ark), arrived.map(({ sharesKey }) => (sharesKey ? 1 : 0)), arrived.map(({ sequence }) => sequence)]);
  const sources = new Map(found.filter(([source]) => !ledger.quads.has(source)));
  const ids = [...sources.keys()];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const [graphs, targets, owned] = await Promise.all([sending.send(GRAPHS, [some]), sending.send(TARGETS, [some]), sending.send(OWNERS, [some])]);
    const owners = new Map<string, string[]>();
    for (const [key, ark] of owned) owners.set(key, [...(owners.get(key) ?? []), ark]);
    for (const [record, state, written, before] of graphs) {
      const quads = unpackQuads(written);
      const links = targets.filter(([source]) => source === record).map(([, target, targetKey]) => ({ target, targetKey }));
      const now = respell(quads, spelling(links, (key) => owners.get(key) ?? []));
      if (now === (before ? unpackQuads(before) : quads)) continue;
      void sending.send(PUT, [state, now === quads ? null : packQuads(now)]);
      ledger.log.push([sources.get(record)!, record]);
    }
    await sending.settle();
  }
}

/** As written → as owned. A key with several owners (members of one crate) is left as written. */
function spelling(links: readonly { target: string; targetKey: string }[], ownersOf: (key: string) => readonly string[]): Map<string, string> {
  const spelled = new Map<string, string>();
  for (const { target, targetKey } of links) {
    const owners = ownersOf(targetKey);
    if (owners.length === 1 && owners[0] !== target) spelled.set(target, owners[0]!);
  }
  return spelled;
}
