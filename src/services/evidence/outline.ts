import { createHash } from "node:crypto";
import { getOrInsert } from "../../get-or-insert.js";
import { expandCurie } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { type GraphReader, type Description, describe } from "./descriptions.js";
import type { Edge, EdgeList } from "./edges.js";
import { type ClaimedEdge, dangling, ofRecord } from "./nodes.js";
import {
  compactType,
  type Dangling,
  type EvidenceDeps,
  type EvidenceRequest,
  expandedIn,
  type FurtherNodes,
  type GroupMarks,
  type Hidden,
  type NodePage,
  pageOf,
} from "./types.js";
import { Assertions, type BeyondByNode, nearEnd, seedsOf, subjectOf, walk } from "./walk.js";

/** Similar siblings that one node represents. */
interface Group extends GroupMarks {
  iri: string;
  members: string[];
  /** Name of the group that they would be part of without the steps added to single records. */
  before: string;
}

/** Similar nodes. */
type Class = [string, ...string[]];

/** Facts about the nodes that may be grouped. */
interface Siblings {
  root: string;
  nodes: readonly string[];
  claimed: readonly ClaimedEdge[];
  described: ReadonlyMap<string, Description>;
  missing: ReadonlyMap<string, Dangling>;
  /** Steps of each node from the root. */
  distance: ReadonlyMap<string, number>;
  /** Steps that the answer has without those added to single records. */
  depth: number;
}

/**
 * Most rounds in which nodes are distinguished by their neighbours; fan-outs of real workflows take
 * two or three.
 */
const ROUNDS = 64;

/** A relation of a node, and the node at its other end. */
interface Relation {
  relation: string;
  other: string;
}

/**
 * Groups of nodes of one kind that have the same relations to the same neighbours, or to neighbours
 * that are similar themselves: 500 images that one computation used, eight runs on one input and
 * the result of each. The name of a group is derived from its kind and its neighbours, so that it
 * is the same in the next answer; neighbours that a step added to a record do not count, so that an
 * open group stays open.
 * @param expanded nodes that represent themselves
 */
function groupsOf(
  siblings: Siblings,
  atLeast: number,
  open: ReadonlySet<string>,
  expanded: ReadonlySet<string>,
): Group[] {
  const around = relationsOf(siblings);
  const opened = new Set(expanded);
  for (;;) {
    const groups = named(classesOf(siblings, around, atLeast, opened), siblings, around);
    const asked = groups.filter(
      ({ group, before }) => open.has(group) || (expanded.size > 0 && open.has(before)),
    );
    if (asked.length === 0) return groups;
    // Members of an open group distinguish their neighbours.
    for (const { members } of asked) for (const member of members) opened.add(member);
  }
}

function relationsOf({ claimed }: Siblings): Map<string, Relation[]> {
  const around = new Map<string, Map<string, Relation>>();
  const relate = (node: string, relation: string, other: string): void => {
    const known = getOrInsert(around, node, () => new Map<string, Relation>());
    known.set(`${relation} ${other}`, { relation, other });
  };
  for (const { edge, claim } of claimed) {
    const { subject, name, object } = edge;
    // A statement of a third party makes a node differ from nodes with the same statement by their
    // owner.
    const by = claim.thirdParty ? ` by ${claim.owner}` : "";
    relate(subject, `> ${name}${by}`, object);
    relate(object, `< ${name}${by}`, subject);
  }
  return new Map([...around].map(([node, relations]) => [node, [...relations.values()]]));
}

/**
 * Classes of at least so many similar nodes: nodes begin in one class when they have the same kind
 * and distance, and are divided by the classes of their neighbours until the classes are stable
 * (colour refinement). A class that is too small is dropped: its nodes represent themselves.
 */
function classesOf(
  { root, nodes, described, missing, distance }: Siblings,
  around: ReadonlyMap<string, Relation[]>,
  atLeast: number,
  opened: ReadonlySet<string>,
): Class[] {
  let classOf = new Map<string, string>();
  const sorted = (keys: ReadonlyMap<string, string>): Class[] => {
    const members = new Map<string, Class>();
    for (const [node, key] of keys) {
      const known = members.get(key);
      if (known) known.push(node);
      else members.set(key, [node]);
    }
    const large = [...members.values()].filter(({ length }) => length >= atLeast);
    classOf = new Map(
      large.flatMap((some, index) =>
        some.map((node): [string, string] => [node, `class ${index}`]),
      ),
    );
    return large;
  };
  const candidates = nodes.filter((node) => node !== root && !opened.has(node) && around.has(node));
  let classes = sorted(
    new Map(
      candidates.map((node) => [node, `${distance.get(node)} ${kindOf(node, described, missing)}`]),
    ),
  );
  for (let round = 0; round < ROUNDS; round++) {
    const before = [classes.length, classOf.size];
    const keys = new Map<string, string>();
    for (const [node, own] of classOf) {
      const relations = (around.get(node) ?? []).map(
        ({ relation, other }) => `${relation} ${classOf.get(other) ?? other}`,
      );
      // Hashed, since a hub is related to thousands.
      keys.set(node, hash(`${own}\n${relations.toSorted().join("\n")}`));
    }
    classes = sorted(keys);
    if (classes.length === before[0] && classOf.size === before[1]) break;
  }
  return classes;
}

function named(
  classes: readonly Class[],
  { root, described, missing, distance, depth }: Siblings,
  around: ReadonlyMap<string, Relation[]>,
): Group[] {
  const grouped = new Set(classes.flat());
  const seen = new Map<string, number>();
  const stepsTo = (node: string): number => distance.get(node) ?? 0;
  return classes.map((members) => {
    const [first] = members;
    const kind = kindOf(first, described, missing);
    const within = Math.max(depth, stepsTo(first));
    const relations = (around.get(first) ?? [])
      .filter(({ other }) => stepsTo(other) <= within)
      .map(
        ({ relation, other }) =>
          `${relation} ${grouped.has(other) ? kindOf(other, described, missing) : other}`,
      );
    const name = hash(`${kind}\n${[...new Set(relations)].toSorted().join("\n")}`);
    // Classes that differ only further away.
    const twins = seen.get(name) ?? 0;
    seen.set(name, twins + 1);
    const group = twins === 0 ? name : hash(`${name} ${twins}`);
    return { iri: `${root}#group-${group}`, group, count: members.length, members, before: name };
  });
}

const kindOf = (
  node: string,
  described: Siblings["described"],
  missing: Siblings["missing"],
): string =>
  described.get(node)?.types.toSorted().join() ?? `not here: ${missing.get(node)?.reason}`;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Facts about the nodes when all of them had to be read. */
export interface Known {
  described: ReadonlyMap<string, Description>;
  missing: ReadonlyMap<string, Dangling>;
  claimed: readonly ClaimedEdge[];
}

/** The nodes of an answer, before they are described. */
export interface Outline {
  record: StoredRecord;
  root: string;
  aliases: string[];
  /** Every edge among them, on this page or another. */
  edgeList: EdgeList;
  /**
   * The statements about themselves of the records among the nodes, and perhaps of others, where
   * they were requested already.
   */
  texts?: Promise<string>;
  page: NodePage;
  hidden: Hidden;
  /** By node what it leads to beyond the depth, where that was requested. */
  further?: ReadonlyMap<string, FurtherNodes>;
  known?: Known;
  assertions: Assertions;
  /** The end of an edge that the walk comes from. */
  near: (edge: Edge) => string;
}

/** Nodes that are read before an answer begins. */
export const MAX_NODES_READ_AT_ONCE = 15_000;
/** Expected edges per node: with fewer nodes than an answer may have, all are described. */
const EDGES_A_NODE = 3;

export async function outlineOf(
  ask: GraphReader,
  record: StoredRecord,
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<Outline> {
  const seeds = await seedsOf(ask, record, deps.records);
  const { root } = seeds;
  const aliases = seeds.self.slice(1);
  const assertions = new Assertions(ask, deps.records, subjectOf(record, seeds));
  const { depth = Number.POSITIVE_INFINITY } = request;
  const { groups: openGroups, records: expanded } = expandedIn(request.expand);
  const { near, edgeList, beyond, further, thirdParty, texts } = await walk(
    ask,
    seeds,
    assertions,
    {
      direction: request.direction,
      depth,
      expanded,
      assertedBy: request.assertedBy,
      describe:
        request.cursor === undefined && request.depth === undefined
          ? Math.min(request.limit, MAX_NODES_READ_AT_ONCE) * EDGES_A_NODE
          : 0,
    },
  );
  // Before nodes are left out or grouped: steps are those of the walk.
  const steps = request.direction === "both" ? new Map(near) : near;
  const nearOf = nearEnd(request.direction, (node) =>
    node === root || aliases.includes(node) ? 0 : (steps.get(node) ?? Number.POSITIVE_INFINITY),
  );
  const outline = {
    record,
    root,
    aliases,
    edgeList,
    assertions,
    near: nearOf,
    ...(texts && { texts }),
    ...(request.further && { further: await furtherOf(ask, further, assertions, request.kinds) }),
  };
  const kind = request.kinds ? await keepKinds(ask, near, assertions, request.kinds, texts) : 0;
  if (kind > 0) edgeList.keepBetween((end) => end === root || near.has(end));
  const hidden = {
    ...(beyond > 0 && { depth: beyond }),
    ...(kind > 0 && { kind }),
    ...(thirdParty > 0 && { thirdParty }),
  };
  const { above = 0, upTo = Number.POSITIVE_INFINITY } = request.collapseBetween ?? {};
  if (request.collapse === undefined || near.size < above || near.size >= upTo)
    return { ...outline, hidden, page: pageOf(root, near, request.limit, request.cursor) };

  const known = await knowAll(ask, [root, ...near.keys()], outline, deps);
  const groups = groupsOf(
    { root, nodes: [...near.keys()], distance: near, depth, ...known },
    request.collapse,
    openGroups,
    expanded,
  );
  const collapsed = grouped(near, known, groups);
  const removed = groups.reduce((sum, { count }) => sum + count, 0);
  return {
    ...outline,
    known: collapsed.known,
    hidden: { ...hidden, ...(removed > 0 && { collapsed: removed }) },
    page: pageOf(root, collapsed.near, request.limit, request.cursor),
  };
}

/** Removes nodes of other kinds; returns their number. */
async function keepKinds(
  ask: GraphReader,
  near: Map<string, number>,
  assertions: Assertions,
  kinds: readonly KindName[],
  texts?: Promise<string>,
): Promise<number> {
  let removed = 0;
  for (const node of await ofOtherKinds(ask, [...near.keys()], assertions, kinds, texts))
    if (near.delete(node)) removed++;
  return removed;
}

/** A node that no record here describes has no kind and is not among them. */
async function ofOtherKinds(
  ask: GraphReader,
  nodes: readonly string[],
  assertions: Assertions,
  kinds: readonly KindName[],
  texts?: Promise<string>,
): Promise<Set<string>> {
  const classes = kinds.map((name) => compactType(expandCurie(KINDS[name].rdfClass)));
  const others = new Set<string>();
  for (const [node, { types }] of await describe(ask, nodes, assertions, texts))
    if (!classes.some((name) => types.includes(name))) others.add(node);
  return others;
}

/** Counts the nodes beyond the depth to which each node leads, of the requested kinds. */
async function furtherOf(
  ask: GraphReader,
  { upstream, downstream }: BeyondByNode,
  assertions: Assertions,
  kinds?: readonly KindName[],
): Promise<Map<string, FurtherNodes>> {
  const beyond = new Set(
    [...upstream.values(), ...downstream.values()].flatMap((next) => [...next]),
  );
  const others = kinds
    ? await ofOtherKinds(ask, [...beyond], assertions, kinds)
    : new Set<string>();
  const counts = new Map<string, FurtherNodes>();
  const count = (side: keyof FurtherNodes, leading: BeyondByNode["upstream"]): void => {
    for (const [node, next] of leading) {
      const shown = [...next].filter((each) => !others.has(each)).length;
      const known = counts.get(node) ?? { support: 0, use: 0 };
      if (shown > 0) counts.set(node, { ...known, [side]: shown });
    }
  };
  count("support", upstream);
  count("use", downstream);
  return counts;
}

async function knowAll(
  ask: GraphReader,
  nodes: readonly string[],
  { record, root, edgeList, texts, assertions, near }: Omit<Outline, "page" | "hidden" | "known">,
  deps: EvidenceDeps,
): Promise<Known> {
  const described = await describe(ask, nodes, assertions, texts);
  if (!described.has(root)) described.set(root, ofRecord(record));
  const missing = await dangling(
    nodes.filter((node) => !described.has(node)),
    deps.records,
  );
  return {
    described,
    missing: new Map(missing.map((each) => [each["@id"], each])),
    claimed: await assertions.of([...edgeList], near),
  };
}

const ALIKE = " alike, such as ";

/** The member that the name of a group mentions. */
export const sampleOf = (groupName: string): string =>
  groupName.slice(groupName.indexOf(ALIKE) + ALIKE.length);

/** The same nodes and edges with each group as one node, at the distance of its nearest member. */
function grouped(
  near: ReadonlyMap<string, number>,
  known: Known,
  groups: readonly Group[],
): { near: Map<string, number>; known: Known } {
  const home = new Map(
    groups.flatMap((group) => group.members.map((member): [string, string] => [member, group.iri])),
  );
  const at = (iri: string): string => home.get(iri) ?? iri;
  const nearer = new Map<string, number>();
  for (const [node, steps] of near)
    nearer.set(at(node), Math.min(steps, nearer.get(at(node)) ?? steps));
  const described = new Map(known.described);
  const missing = new Map(known.missing);
  for (const { iri, count, group, members } of groups) {
    // The same one, however the graph was read.
    const example = members.reduce((least, member) => (member < least ? member : least));
    const absent = known.missing.get(example);
    const present = known.described.get(example);
    if (absent) missing.set(iri, { "@id": iri, reason: absent.reason, count, group });
    else if (present)
      described.set(iri, {
        types: present.types,
        records: [],
        name: `${count}${ALIKE}${present.name ?? example}`,
        group: { count, group },
      });
  }
  return {
    near: nearer,
    known: { described, missing, claimed: groupedEdges(known, at) },
  };
}

/**
 * One edge for all between two groups that the same owner states. @param at current place of a node
 */
function groupedEdges({ claimed }: Known, at: (iri: string) => string): ClaimedEdge[] {
  const found = new Map<string, ClaimedEdge>();
  for (const { edge: before, claim } of claimed) {
    const { name, graph } = before;
    const edge = { subject: at(before.subject), name, object: at(before.object), graph };
    const { record, ...by } = claim;
    const isGroup = edge.subject !== before.subject || edge.object !== before.object;
    const key = [
      edge.subject,
      name,
      edge.object,
      ...(isGroup ? [by.owner, by.ownsSource, by.ownsTarget, by.thirdParty] : [record]),
    ].join(" ");
    const known = found.get(key);
    if (!known) found.set(key, { edge, claim });
    else if (known.claim.record !== record) known.claim = { ...known.claim, record: null };
  }
  return [...found.values()];
}
