import { expandCurie } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import type { KindName } from "../../model/kind.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Asking } from "./asking.js";
import { groupsOf, type Group } from "./collapse.js";
import { compactType } from "./context.js";
import { dangling } from "./dangling.js";
import { describe, type Description } from "./descriptions.js";
import type { EvidenceDeps } from "./evidence-deps.js";
import type { Edge, Net } from "./net.js";
import { ofRecord } from "./nodes.js";
import { pageOf, type NodePage } from "./page.js";
import { seedsOf } from "./seeds.js";
import type { Dangling, EvidenceRequest, Hidden } from "./types.js";
import { walk } from "./walk.js";

/** What is known of the nodes when it had to be read for all of them. */
export interface Known { described: ReadonlyMap<string, Description>; missing: ReadonlyMap<string, Dangling>; edges: readonly Edge[] }

/** Which nodes an answer has, before they are described. */
export interface Outline {
  record: StoredRecord;
  root: string;
  aliases: string[];
  /** Every edge among them, on this page or another. */
  net: Net;
  /** What records among the nodes say of themselves, and perhaps others too, where it was asked for already. */
  texts?: Promise<string>;
  page: NodePage;
  hidden: Hidden;
  known?: Known;
}

/** Up to so many nodes are read before an answer begins. */
export const AT_ONCE = 15_000;
/** A node has about so many edges: with fewer nodes than an answer may have, all are described. */
const EDGES_A_NODE = 3;

export async function outlineOf(ask: Asking, record: StoredRecord, request: EvidenceRequest, deps: EvidenceDeps): Promise<Outline> {
  const seeds = await seedsOf(ask, record, deps.records);
  const { root } = seeds;
  const { near, net, beyond, texts } = await walk(ask, seeds, request.direction, request.depth ?? Number.POSITIVE_INFINITY, request.cursor === undefined && request.depth === undefined ? Math.min(request.limit, AT_ONCE) * EDGES_A_NODE : 0);
  const outline = { record, root, aliases: seeds.self.slice(1), net, ...(texts && { texts }) };
  const kind = request.kinds ? await keepKinds(ask, near, request.kinds, texts) : 0;
  if (kind > 0) net.keep((end) => end === root || near.has(end));
  const hidden = { ...(beyond > 0 && { depth: beyond }), ...(kind > 0 && { kind }) };
  if (request.collapse === undefined) return { ...outline, hidden, page: pageOf(root, near, request.limit, request.cursor) };

  const known = await knowAll(ask, [root, ...near.keys()], outline, deps);
  const groups = groupsOf({ root, nodes: [...near.keys()], ...known }, request.collapse, new Set(request.expand));
  const collapsed = grouped(near, known, groups);
  const away = groups.reduce((sum, { count }) => sum + count, 0);
  return {
    ...outline, known: collapsed.known, hidden: { ...hidden, ...(away > 0 && { collapsed: away }) },
    page: pageOf(root, collapsed.near, request.limit, request.cursor),
  };
}

/** Takes out what is of other kinds; answers how many. What nothing here describes has no kind and stays. */
async function keepKinds(ask: Asking, near: Map<string, number>, kinds: readonly KindName[], texts?: Promise<string>): Promise<number> {
  const classes = kinds.map((name) => compactType(expandCurie(KINDS[name].rdfClass)));
  let away = 0;
  for (const [node, { types }] of await describe(ask, [...near.keys()], texts)) {
    if (classes.some((name) => types.includes(name))) continue;
    if (near.delete(node)) away++;
  }
  return away;
}

async function knowAll(ask: Asking, nodes: readonly string[], { record, root, net, texts }: Pick<Outline, "record" | "root" | "net" | "texts">, deps: EvidenceDeps): Promise<Known> {
  const described = await describe(ask, nodes, texts);
  if (!described.has(root)) described.set(root, ofRecord(record));
  const missing = await dangling(nodes.filter((node) => !described.has(node)), deps.records);
  return { described, missing: new Map(missing.map((each) => [each["@id"], each])), edges: [...net.edges()] };
}

/** The same nodes and edges with each group as one node, as near as its nearest member. */
function grouped(near: ReadonlyMap<string, number>, known: Known, groups: readonly Group[]): { near: Map<string, number>; known: Known } {
  const home = new Map(groups.flatMap((group) => group.members.map((member): [string, string] => [member, group.iri])));
  const at = (iri: string): string => home.get(iri) ?? iri;
  const nearer = new Map<string, number>();
  for (const [node, steps] of near) nearer.set(at(node), Math.min(steps, nearer.get(at(node)) ?? steps));
  const described = new Map(known.described);
  const missing = new Map(known.missing);
  for (const { iri, count, group, members } of groups) {
    const absent = known.missing.get(members[0]!);
    if (absent) missing.set(iri, { "@id": iri, reason: absent.reason, count, group });
    else described.set(iri, { types: known.described.get(members[0]!)!.types, records: [], name: `${count} alike, such as ${known.described.get(members[0]!)!.name ?? members[0]!}`, group: { count, group } });
  }
  return {
    near: nearer,
    known: { described, missing, edges: known.edges.map(({ subject, name, object }) => ({ subject: at(subject), name, object: at(object) })) },
  };
}
