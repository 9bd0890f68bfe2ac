/**
 * Questions about evidence whose answer is no graph: what a record supports, in numbers, and the
 * shortest path to a record.
 */
import { eventLoop } from "../../event-loop-budget.js";
import { getOrInsert } from "../../get-or-insert.js";
import { type Ark, looksLikeArk } from "../../identifiers/ark.js";
import type { KindName } from "../../model/kind.js";
import type { ProvenanceName } from "../../model/provenance.js";
import type { AssertedBy } from "../../model/provenance.js";
import type { Holder, StoredRecord } from "../../storage/records/port.js";
import { holdersOf } from "../access/rules.js";
import { inParts } from "../in-parts.js";
import { type GraphReader, describe, holderOf } from "./descriptions.js";
import { graphReaderOf, fieldsStatedBy, upToDate } from "./evidence-graph.js";
import { EdgeList, type OneWay, stepOf, supportOf } from "./edges.js";
import { nodesOf, ofRecord } from "./nodes.js";
import type { Assertion, EvidenceDeps, EvidenceNode, Statement } from "./types.js";
import { Assertions, discover, nearEnd, type Seeds, seedsOf, subjectOf, walk } from "./walk.js";

export interface KindCount {
  kind: KindName;
  count: number;
}
/**
 * `owner` is null for records without one, `name` for an owner without a name or without a record
 * here.
 */
export interface OwnerCount {
  owner: string | null;
  name: string | null;
  count: number;
  kinds: KindCount[];
}

/**
 * The records that depend on a record: they are invalid if it is. A crate's own parts are not
 * counted.
 */
export interface Impact {
  "@id": string;
  /** Records that depend on it, directly or through others. */
  total: number;
  /** Records that depend on it directly. */
  direct: number;
  /** Steps to the furthest of them. */
  furthest: number;
  /** Largest first. */
  byKind: KindCount[];
  /** Largest first. */
  byOwner: OwnerCount[];
  /** Identifiers that depend on it, and that no record here describes. */
  unresolved: number;
  /** Omitted edges of third parties, if the request omits them. */
  hidden?: { thirdParty: number };
  /** Commit that the answer is as of. */
  asOf: number;
}

/** Records in one read. */
const BATCH = 500;

/**
 * Counts the records that depend on a record, by kind and by owner.
 * @param assertedBy as in {@link import("./types.js").EvidenceRequest}
 * @throws ServiceError as `evidenceGraph`
 */
export async function impactOf(
  ark: Ark,
  deps: EvidenceDeps,
  assertedBy: AssertedBy = "anyone",
): Promise<Impact> {
  const record = await upToDate(ark, deps);
  const ask = graphReaderOf(deps);
  const seeds = await seedsOf(ask, record, deps.records);
  const assertions = new Assertions(ask, deps.records, subjectOf(record, seeds));
  const { near, thirdParty } = await walk(ask, seeds, assertions, {
    direction: "downstream",
    depth: Number.POSITIVE_INFINITY,
    assertedBy,
  });
  const steps = await stepsByRecord(assertions, near);
  steps.delete(record.ark);
  const owners = new Map<string | null, Map<KindName, number>>();
  const kinds = new Map<KindName, number>();
  let total = 0;
  let direct = 0;
  for await (const { ark: found, kind, owner } of live([...steps.keys()], deps)) {
    total++;
    if (steps.get(found) === 1) direct++;
    add(kinds, kind);
    add(
      getOrInsert(owners, owner, () => new Map<KindName, number>()),
      kind,
    );
  }
  const names = await namesOf(
    [...owners.keys()].filter((owner) => owner !== null),
    deps,
  );
  return {
    "@id": record.ark,
    total,
    direct,
    furthest: [...steps.values()].reduce((most, step) => Math.max(most, step), 0),
    byKind: inOrder(kinds),
    byOwner: [...owners]
      .map(([owner, counts]): OwnerCount => ({
        owner,
        name: owner === null ? null : (names.get(owner) ?? null),
        count: [...counts.values()].reduce((sum, count) => sum + count, 0),
        kinds: inOrder(counts),
      }))
      .toSorted((a, b) => b.count - a.count || ((a.owner ?? "") < (b.owner ?? "") ? -1 : 1)),
    unresolved: steps.size - total,
    ...(assertedBy === "owner" && { hidden: { thirdParty } }),
    asOf: ask.oldest,
  };
}

/**
 * Steps to each record: an object inside a record counts as the record, a URL as the records that
 * stand for it.
 */
async function stepsByRecord(
  assertions: Assertions,
  near: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const reach = (ark: string, step: number): unknown =>
    found.set(ark, Math.min(step, found.get(ark) ?? step));
  const removed: [string, number][] = [];
  const urls: string[] = [];
  for await (const some of inParts(near))
    for (const [node, step] of some) {
      if (step === 0) continue;
      removed.push([node, step]);
      if (holderOf(node) === undefined && !looksLikeArk(node)) urls.push(node);
    }
  const records = new Map<string, string[]>(urls.map((url) => [url, []]));
  for (const [url, ark] of await assertions.describers(urls)) records.get(url)?.push(ark);
  for await (const some of inParts(removed))
    for (const [node, step] of some) {
      const behind = records.get(node);
      if (!behind) reach(holderOf(node) ?? node, step);
      else if (behind.length === 0) reach(node, step);
      else for (const ark of behind) reach(ark, step);
    }
  // Records that are the start under another name are removed.
  for (const [node, step] of near) if (step === 0) found.delete(holderOf(node) ?? node);
  return found;
}

/** Live records, without their documents. */
async function* live(arks: readonly string[], { records }: EvidenceDeps): AsyncGenerator<Holder> {
  for (let start = 0; start < arks.length; start += BATCH) {
    for (const holder of await holdersOf(records, arks.slice(start, start + BATCH)))
      if (holder && !holder.deleted) yield holder;
  }
}

async function namesOf(
  arks: readonly string[],
  { records }: EvidenceDeps,
): Promise<Map<string, string | null>> {
  const names = new Map<string, string | null>();
  for (let start = 0; start < arks.length; start += BATCH) {
    for (const record of await records.findMany(arks.slice(start, start + BATCH)))
      if (record && !record.tombstone) names.set(record.ark, record.name);
  }
  return names;
}

const add = (counts: Map<KindName, number>, kind: KindName): unknown =>
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
const inOrder = (counts: ReadonlyMap<KindName, number>): KindCount[] =>
  [...counts]
    .map(([kind, count]) => ({ kind, count }))
    .toSorted((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));

/** One statement on the path, as it was made: its subject may be either end. */
export interface PathEdge {
  source: string;
  name: ProvenanceName;
  target: string;
  /** Only third parties state it. */
  thirdParty?: true;
  statedBy: (Statement & Omit<Assertion, "record" | "thirdParty"> & { thirdParty?: true })[];
}

/** A shortest path of support from one record to another. */
export interface SupportPath {
  from: string;
  to: string;
  /**
   * `upstream`: `to` supports `from`; `downstream`: the other way; null when neither supports the
   * other.
   */
  direction: OneWay | null;
  /** Steps; null when there is no path. */
  length: number | null;
  /** From `from` to `to`; for a crate the part at which the path begins or ends. */
  nodes: EvidenceNode[];
  edges: PathEdge[];
  /** Commit that the answer is as of. */
  asOf: number;
}

/**
 * Searches upstream first, then downstream. Of several shortest paths the first by identifier.
 * @throws ServiceError as `evidenceGraph`, for either record
 */
export async function supportPath(
  from: Ark,
  to: Ark,
  deps: EvidenceDeps,
  assertedBy: AssertedBy = "anyone",
): Promise<SupportPath> {
  const start = await upToDate(from, deps);
  const end = await upToDate(to, deps);
  const ask = graphReaderOf(deps);
  const starts = await seedsOf(ask, start, deps.records);
  const ends = await seedsOf(ask, end, deps.records);
  const assertions = new Assertions(ask, deps.records, subjectOf(start, starts));
  for (const way of ["upstream", "downstream"] as const) {
    const edgeList = new EdgeList();
    const nodes = await shortest(
      ask,
      edgeList,
      all(starts),
      new Set(all(ends)),
      way,
      assertions,
      assertedBy === "owner",
    );
    if (!nodes) continue;
    const shown = await reported(
      ask,
      edgeList,
      nodes,
      way,
      { records: [start, end], assertions },
      deps,
    );
    return {
      from: start.ark,
      to: end.ark,
      direction: way,
      length: nodes.length - 1,
      ...shown,
      asOf: ask.oldest,
    };
  }
  return {
    from: start.ark,
    to: end.ark,
    direction: null,
    length: null,
    nodes: [],
    edges: [],
    asOf: ask.oldest,
  };
}

const all = ({ self, parts }: Seeds): string[] => [...self, ...parts];

async function shortest(
  ask: GraphReader,
  edgeList: EdgeList,
  starts: readonly string[],
  ends: ReadonlySet<string>,
  way: OneWay,
  assertions: Assertions,
  only: boolean,
): Promise<string[] | undefined> {
  const next = new Map<string, string[]>();
  const found = starts.find((node) => ends.has(node));
  if (found !== undefined) return [found];
  // The shortest path may include edges of third parties; then another one is searched for.
  await discover(ask, edgeList, starts, way, {
    depth: Number.POSITIVE_INFINITY,
    ...(only ? {} : { until: ends }),
  });
  await assertions.trace(edgeList, starts, way);
  if (only)
    await assertions.dropThirdParties(
      edgeList,
      nearEnd(way, () => 0),
    );
  for await (const some of inParts(edgeList))
    for (const edge of some) {
      const [a, b] = stepOf(edge, way);
      getOrInsert(next, a, (): string[] => []).push(b);
    }
  const before = new Map<string, string | undefined>(starts.map((node) => [node, undefined]));
  let visited = 0;
  // A map is walked in the order of its entries, those that are added meanwhile included.
  for (const from of before.keys()) {
    if (++visited % 500 === 0) await eventLoop.nextTurn();
    for (const node of (next.get(from) ?? []).toSorted()) {
      if (before.has(node)) continue;
      before.set(node, from);
      if (ends.has(node)) return wayTo(node, before);
    }
  }
  return undefined;
}

function wayTo(end: string, before: ReadonlyMap<string, string | undefined>): string[] {
  const nodes: string[] = [];
  for (let node: string | undefined = end; node !== undefined; node = before.get(node))
    nodes.push(node);
  return nodes.toReversed();
}

async function reported(
  ask: GraphReader,
  edgeList: EdgeList,
  nodes: readonly string[],
  way: OneWay,
  { records, assertions }: { records: readonly StoredRecord[]; assertions: Assertions },
  deps: EvidenceDeps,
): Promise<Pick<SupportPath, "nodes" | "edges">> {
  const places = new Map(nodes.map((node, index) => [node, index]));
  const placeOf = (node: string): number => places.get(node) ?? Infinity;
  const edges = edgeList.edgesOf(nodes).filter((edge) => {
    const [supported, supporting] = supportOf(edge);
    return placeOf(supporting) - placeOf(supported) === (way === "upstream" ? 1 : -1);
  });
  const claimed = await assertions.of(
    edges,
    nearEnd(way, () => 0),
  );
  const fieldsOf = await fieldsStatedBy(
    edges.map(({ graph }) => graph),
    deps,
  );
  const described = await describe(ask, nodes, assertions);
  for (const record of records)
    if (nodes.includes(record.ark) && !described.has(record.ark))
      described.set(record.ark, ofRecord(record));
  const known = new Map(
    nodesOf(nodes, described, [], { root: "", aliases: [] }).map((node) => [node["@id"], node]),
  );
  const once = new Map<string, PathEdge>();
  for await (const some of inParts(claimed))
    for (const { edge: stated, claim } of some) {
      const { subject: source, name, object: target } = stated;
      const edge = getOrInsert(once, `${source} ${name} ${target}`, (): PathEdge => ({
        source,
        name,
        target,
        statedBy: [],
      }));
      const { record, thirdParty, ...owns } = claim;
      for (const field of fieldsOf(stated))
        edge.statedBy.push({ record, field, ...owns, ...(thirdParty && { thirdParty }) });
    }
  for (const edge of once.values()) {
    edge.statedBy = edge.statedBy
      .toSorted((a, b) => (a.record < b.record ? -1 : Number(a.record > b.record)))
      .filter(
        (each, place, every) =>
          each.record !== every[place - 1]?.record || each.field !== every[place - 1]?.field,
      );
    if (edge.statedBy.every(({ thirdParty }) => thirdParty)) edge.thirdParty = true;
  }
  return {
    nodes: nodes.map((node) => known.get(node) ?? { "@id": node, "@type": [] }),
    edges: [...once.values()].toSorted(
      (a, b) =>
        Math.min(placeOf(a.source), placeOf(a.target)) -
          Math.min(placeOf(b.source), placeOf(b.target)) || (a.name < b.name ? -1 : 1),
    ),
  };
}
