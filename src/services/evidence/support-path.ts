import type { Ark } from "../../identifiers/ark.js";
import type { ProvenanceName } from "../../model/provenance.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { Assertions, nearEnd } from "./assertions.js";
import { type Asking, describe } from "./descriptions.js";
import { askingOf, upToDate } from "./evidence-graph.js";
import { Net, type OneWay, supportOf } from "./net.js";
import { nodesOf, ofRecord } from "./nodes.js";
import { fieldsOf } from "./read-nodes.js";
import type { AssertedBy, Assertion, EvidenceDeps, EvidenceNode, Statement } from "./types.js";
import { discover, type Seeds, seedsOf } from "./walk.js";

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
  const ask = askingOf(deps);
  const starts = await seedsOf(ask, start, deps.records);
  const ends = await seedsOf(ask, end, deps.records);
  const assertions = new Assertions(ask, deps.records, {
    root: start.ark,
    aliases: starts.self.slice(1),
  });
  for (const way of ["upstream", "downstream"] as const) {
    const net = new Net();
    const nodes = await shortest(
      ask,
      net,
      all(starts),
      new Set(all(ends)),
      way,
      assertedBy === "owner" ? assertions : undefined,
    );
    if (!nodes) continue;
    const shown = await reported(ask, net, nodes, way, { records: [start, end], assertions }, deps);
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
  ask: Asking,
  net: Net,
  starts: readonly string[],
  ends: ReadonlySet<string>,
  way: OneWay,
  only?: Assertions,
): Promise<string[] | undefined> {
  const next = new Map<string, string[]>();
  const found = starts.find((node) => ends.has(node));
  if (found !== undefined) return [found];
  // The shortest path may include edges of third parties; then another one is searched for.
  await discover(ask, net, starts, way, {
    depth: Number.POSITIVE_INFINITY,
    ...(only ? {} : { until: ends }),
  });
  await only?.dropThirdParties(
    net,
    nearEnd(way, () => 0),
  );
  for (const edge of net.edges()) {
    const [supported, supporting] = supportOf(edge);
    const [a, b] = way === "upstream" ? [supported, supporting] : [supporting, supported];
    (next.get(a) ?? next.set(a, []).get(a)!).push(b);
  }
  const before = new Map<string, string | undefined>(starts.map((node) => [node, undefined]));
  const queue = [...before.keys()];
  for (let head = 0; head < queue.length; head++) {
    for (const node of (next.get(queue[head]!) ?? []).toSorted()) {
      if (before.has(node)) continue;
      before.set(node, queue[head]);
      if (ends.has(node)) return wayTo(node, before);
      queue.push(node);
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
  ask: Asking,
  net: Net,
  nodes: readonly string[],
  way: OneWay,
  { records, assertions }: { records: readonly StoredRecord[]; assertions: Assertions },
  deps: EvidenceDeps,
): Promise<Pick<SupportPath, "nodes" | "edges">> {
  const place = new Map(nodes.map((node, index) => [node, index]));
  const edges = net.edgesOf(nodes).filter((edge) => {
    const [supported, supporting] = supportOf(edge).map((end) => place.get(end));
    return (
      supported !== undefined &&
      supporting !== undefined &&
      supporting - supported === (way === "upstream" ? 1 : -1)
    );
  });
  const claims = await assertions.of(
    edges,
    nearEnd(way, () => 0),
  );
  const fields = await fieldsOf(edges, deps.records);
  const described = await describe(ask, nodes);
  for (const record of records)
    if (nodes.includes(record.ark) && !described.has(record.ark))
      described.set(record.ark, ofRecord(record));
  const known = new Map(
    nodesOf(nodes, described, [], { root: "", aliases: [] }, []).map((node) => [node["@id"], node]),
  );
  const once = new Map<string, PathEdge>();
  for (const [index, { subject, name, object }] of edges.entries()) {
    const key = `${subject} ${name} ${object}`;
    const edge =
      once.get(key) ??
      once.set(key, { source: subject, name, target: object, statedBy: [] }).get(key)!;
    const { record, thirdParty, ...owns } = claims[index]!;
    for (const field of fields[index]!)
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
        Math.min(place.get(a.source)!, place.get(a.target)!) -
          Math.min(place.get(b.source)!, place.get(b.target)!) || (a.name < b.name ? -1 : 1),
    ),
  };
}
