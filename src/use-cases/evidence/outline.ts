import { expandCurie } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import type { KindName } from "../../model/kind.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Asking } from "./asking.js";
import { Assertions, nearEnd } from "./assertions.js";
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
import type { Said } from "./said.js";
import { walk } from "./walk.js";

/** What is known of the nodes when it had to be read for all of them. */
export interface Known {
  described: ReadonlyMap<string, Description>;
  missing: ReadonlyMap<string, Dangling>;
  edges: readonly Edge[];
  /** Whose word each of them is. */
  said: readonly Said[];
}

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
  assertions: Assertions;
  /** The end of an edge that the walk comes from. */
  near: (edge: Edge) => string;
}

/** Up to so many nodes are read before an answer begins. */
export const AT_ONCE = 15_000;
/** A node has about so many edges: with fewer nodes than an answer may have, all are described. */
const EDGES_A_NODE = 3;

export async function outlineOf(ask: Asking, record: StoredRecord, request: EvidenceRequest, deps: EvidenceDeps): Promise<Outline> {
  const seeds = await seedsOf(ask, record, deps.records);
  const { root } = seeds;
  const aliases = seeds.self.slice(1);
  const assertions = new Assertions(ask, deps.records, { root, aliases });
  const { near, net, beyond, thirdParty, texts } = await walk(ask, seeds, {
    direction: request.direction, depth: request.depth ?? Number.POSITIVE_INFINITY, ...(request.assertedBy === "owner" && { only: assertions }),
    describe: request.cursor === undefined && request.depth === undefined ? Math.min(request.limit, AT_ONCE) * EDGES_A_NODE : 0,
  });
  // Before nodes are left out or grouped: steps are those of the walk.
  const steps = request.direction === "both" ? new Map(near) : near;
  const nearOf = nearEnd(request.direction, (node) => (node === root || aliases.includes(node) ? 0 : (steps.get(node) ?? Number.POSITIVE_INFINITY)));
  const outline = { record, root, aliases, net, assertions, near: nearOf, ...(texts && { texts }) };
  const kind = request.kinds ? await keepKinds(ask, near, request.kinds, texts) : 0;
  if (kind > 0) net.keep((end) => end === root || near.has(end));
  const hidden = { ...(beyond > 0 && { depth: beyond }), ...(kind > 0 && { kind }), ...(thirdParty > 0 && { thirdParty }) };
  if (request.collapse === undefined) return { ...outline, hidden, page: pageOf(root, near, request.limit, request.cursor) };

  const known = await knowAll(ask, [root, ...near.keys()], outline, deps);
  const groups = groupsOf({ root, nodes: [...near.keys()], distance: near, ...known }, request.collapse, new Set(request.expand));
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

async function knowAll(ask: Asking, nodes: readonly string[], { record, root, net, texts, assertions, near }: Omit<Outline, "page" | "hidden" | "known">, deps: EvidenceDeps): Promise<Known> {
  const described = await describe(ask, nodes, texts);
  if (!described.has(root)) described.set(root, ofRecord(record));
  const missing = await dangling(nodes.filter((node) => !described.has(node)), deps.records);
  const edges = [...net.edges()];
  return { described, missing: new Map(missing.map((each) => [each["@id"], each])), edges, said: await assertions.of(edges, near) };
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
    known: { described, missing, ...groupedEdges(known, at) },
  };
}

/** One edge for all between two groups that the same owner states. @param at where a node is now */
function groupedEdges({ edges, said }: Known, at: (iri: string) => string): Pick<Known, "edges" | "said"> {
  const found = new Map<string, { edge: Edge; said: Said }>();
  for (const [index, { subject, name, object, graph }] of edges.entries()) {
    const edge = { subject: at(subject), name, object: at(object), graph };
    const { record, ...by } = said[index]!;
    const isGroup = edge.subject !== subject || edge.object !== object;
    const key = [edge.subject, name, edge.object, ...(isGroup ? [by.owner, by.ownsSource, by.ownsTarget, by.thirdParty] : [record])].join(" ");
    const known = found.get(key);
    if (!known) found.set(key, { edge, said: { record, ...by } });
    else if (known.said.record !== record) known.said = { ...known.said, record: null };
  }
  const all = [...found.values()];
  return { edges: all.map(({ edge }) => edge), said: all.map((each) => each.said) };
}
