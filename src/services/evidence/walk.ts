/** The walk over provenance edges, and who states each of them. */
import { eventLoop } from "../../event-loop-budget.js";
import { getOrInsert } from "../../get-or-insert.js";
import { arkKey } from "../../identifiers/ark.js";
import { ENTITY } from "../../identifiers/entity-ids.js";
import {
  PROVENANCE,
  type ProvenanceName,
  SUPPORTED_BY,
  statedAs,
  type AssertedBy,
  type Direction,
} from "../../model/provenance.js";
import {
  eachCell,
  iriColumn,
  iriIn,
  iriTerm,
  type QueryEngine,
  rowsIn,
  textIn,
} from "../../storage/graph/port.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import { inParts } from "../in-parts.js";
import { actsFor, ownersOf } from "../access/rules.js";
import { describedCrate } from "../crates/layout.js";
import { type GraphReader, holderOf, recordsOfUrls, textsOf } from "./descriptions.js";
import {
  type Edge,
  EdgeList,
  isUrl,
  NAME_OF_IRI,
  type OneWay,
  stepOf,
  supportOf,
} from "./edges.js";
import { type Assertion, type EvidenceDeps, IRIS } from "./types.js";
import { pairs } from "../../pairs.js";
import { pagesOf } from "../records/pages.js";

/**
 * The record that the evidence is about, by its ARK and by the URLs that its crate uses for it;
 * `crate`: the one that it came with, or is.
 */
export interface Subject {
  root: string;
  aliases: readonly string[];
  crate: string | null;
}

export const subjectOf = (record: StoredRecord, { self }: Seeds): Subject => ({
  root: record.ark,
  aliases: self.slice(1),
  crate: record.kind === "rocrate" ? record.ark : record.crate,
});
/** Nodes in one query for owners. */
const BATCH = 2_000;
/** Nodes that are visited before other requests may run. */
const NODES = 500;
/** Edges that are processed before other requests may run. */
const EDGES = 10_000;

/** Records that state something about one URL of which the crates are looked up. */
const STATING = 1_000;

/** What leads from the requested record to a URL, without third parties. */
interface Lead {
  /** Records that state it, and their owners; the empty string where a record has none. */
  records: Set<string>;
  owners: Set<string>;
}

/**
 * Determines who states each edge. The owner of the record that states an edge has a right over a
 * node when the record is the node's own, when both have one owner, or when that owner may change
 * the node's record as a member or owner of the group, organization or project that owns it.
 *
 * Anybody can describe a URL. So of the records about one only those count whose owners' statements
 * led to it from the requested record: what somebody else says about a URL neither names it in the
 * evidence of others, nor gives a right over it.
 */
export class Assertions {
  /** Records that are about a URL. */
  readonly #ofUrls = new Map<string, string[]>();
  readonly #leads = new Map<string, Lead>();
  /** By record; `undefined` where nothing is stored. */
  readonly #owners = new Map<string, string | null | undefined>();
  readonly #rights = new Map<string, boolean>();

  readonly #ask: GraphReader;
  readonly #records: EvidenceDeps["records"];
  readonly #subject: Subject;

  constructor(ask: GraphReader, records: EvidenceDeps["records"], subject: Subject) {
    this.#ask = ask;
    this.#records = records;
    this.#subject = subject;
  }

  /**
   * In the order of the edges.
   * @param near which end of an edge the walk comes from
   */
  async of(
    edges: readonly Edge[],
    near: (edge: Edge) => string,
  ): Promise<{ edge: Edge; claim: Assertion }[]> {
    if (edges.length === 0) return [];
    await this.#learn(edges);
    const found: { edge: Edge; claim: Assertion }[] = [];
    for (const edge of edges) {
      const { subject, object, graph } = edge;
      const isSourceNear = near(edge) === subject;
      const ownsSource = this.#owns(graph, subject, isSourceNear);
      const ownsTarget = this.#owns(graph, object, !isSourceNear);
      const thirdParty = !(isSourceNear ? ownsSource : ownsTarget);
      const owner = this.#owners.get(graph) ?? null;
      found.push({ edge, claim: { record: graph, owner, ownsSource, ownsTarget, thirdParty } });
    }
    return found;
  }

  /**
   * Follows the edges from the start, but not those of third parties, to find out whose statements
   * lead to URLs. Before the other methods are called with these edges.
   */
  async trace(edgeList: EdgeList, starts: readonly string[], way: OneWay): Promise<void> {
    if (!edgeList.hasUrls()) return;
    for await (const some of inParts(edgeList)) await this.#learn(some);
    const steps = edgeList.steps(way);
    const queue = [...new Set(starts)];
    const reached = new Set(queue);
    for (const start of starts) if (isUrl(start)) this.#lead(start, this.#subject.root);
    let visited = 0;
    for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
      if (++visited % NODES === 0) await eventLoop.nextTurn();
      for (const { subject, object, graph } of steps.get(node) ?? []) {
        if (!this.#owns(graph, node, true)) continue;
        const next = subject === node ? object : subject;
        // Of a URL that another owner leads to, other edges count as well.
        const isNew = isUrl(next) ? this.#lead(next, graph) : !reached.has(next);
        reached.add(next);
        if (isNew) queue.push(next);
      }
    }
  }

  /** Notes that a record leads to a URL. @returns whether it is the first one of its owner */
  #lead(url: string, graph: string): boolean {
    const lead = getOrInsert(this.#leads, url, () => ({ records: new Set(), owners: new Set() }));
    lead.records.add(graph);
    const known = lead.owners.size;
    return lead.owners.add(this.#owners.get(graph) ?? "").size > known;
  }

  /**
   * The records whose descriptions of URLs count, as `[url, record]`: those of the requested
   * record's crate; else of the crates whose records led to the URL; else of the owners of these.
   * Where several are left, the requested record's owner comes first.
   */
  async describers(urls: readonly string[]): Promise<[string, string][]> {
    await this.#learnUrls(urls);
    const found: [string, string][] = [];
    for (const url of urls)
      for (const record of await this.#describersOf(url)) found.push([url, record]);
    return found;
  }

  async #describersOf(url: string): Promise<readonly string[]> {
    const { root, aliases, crate } = this.#subject;
    if (aliases.includes(url)) return [root];
    const candidates = this.#ofUrls.get(url);
    const lead = this.#leads.get(url);
    if (!lead || !candidates || candidates.length === 0) return [];
    const ownerOf = (record: string): string => this.#owners.get(record) ?? "";
    const led = candidates.filter((record) => lead.owners.has(ownerOf(record)));
    if (new Set(candidates.map(crateOfEntity)).size === 1) return led;
    const here = candidates.filter((record) => crate !== null && crateOfEntity(record) === crate);
    if (here.length > 0) return here;
    const crates = await this.#cratesOf([...lead.records].toSorted().slice(0, STATING));
    const beside = candidates.filter((record) => crates.has(crateOfEntity(record) ?? record));
    const chosen = beside.length > 0 ? beside : led;
    const own = chosen.filter((record) => ownerOf(record) === ownerOf(root));
    return own.length > 0 ? own : chosen;
  }

  /** The crates that records came with, and the records themselves. */
  async #cratesOf(arks: readonly string[]): Promise<Set<string>> {
    const found = await this.#records.findMany(arks);
    return new Set([...arks, ...found.flatMap((record) => record?.crate ?? [])]);
  }

  /** Removes the edges of third parties; returns them. */
  async dropThirdParties(edgeList: EdgeList, near: (edge: Edge) => string): Promise<Edge[]> {
    const dropped: Edge[] = [];
    const edges = [...edgeList];
    for (let start = 0; start < edges.length; start += EDGES) {
      const batch = edges.slice(start, start + EDGES);
      for (const { edge, claim } of await this.of(batch, near))
        if (claim.thirdParty) dropped.push(edge);
    }
    edgeList.remove(new Set(dropped));
    return dropped;
  }

  async #learn(edges: readonly Edge[]): Promise<void> {
    const urls = new Set<string>();
    for (const { subject, object } of edges) for (const end of [subject, object]) urls.add(end);
    await this.#learnUrls([...urls]);
    const records = new Set([this.#subject.root]);
    for (const { subject, object, graph } of edges) {
      records
        .add(graph)
        .add(this.#homeOf(subject) ?? graph)
        .add(this.#homeOf(object) ?? graph);
    }
    await this.#learnOwners(records);
    await this.#settle(edges);
  }

  /** Looks up the records that are about URLs, and their owners; other nodes are ignored. */
  async #learnUrls(nodes: readonly string[]): Promise<void> {
    const urls = nodes.filter(
      (node) => isUrl(node) && this.#homeOf(node) === undefined && !this.#ofUrls.has(node),
    );
    if (urls.length === 0) return;
    for (const url of urls) this.#ofUrls.set(url, []);
    const about = await recordsOfUrls(this.#ask, urls);
    for (const [url, record] of about) this.#ofUrls.get(url)?.push(record);
    await this.#learnOwners(new Set(about.map(([, record]) => record)));
  }

  async #learnOwners(records: ReadonlySet<string>): Promise<void> {
    const asked = [...records].filter((record) => !this.#owners.has(record));
    for (let start = 0; start < asked.length; start += BATCH) {
      const some = asked.slice(start, start + BATCH);
      for (const [record, owner] of pairs(some, await ownersOf(this.#records, some)))
        this.#owners.set(record, owner);
    }
  }

  /**
   * The record that a node is, or is part of; `undefined` for a URL, which any number of records
   * may be about.
   */
  #homeOf(node: string): string | undefined {
    if (node.startsWith("ark:")) return holderOf(node) ?? node;
    return this.#subject.aliases.includes(node) ? this.#subject.root : undefined;
  }

  /** Owners of the records that a node stands for; the empty string where a record has none. */
  #ownersOf(node: string): string[] {
    const home = this.#homeOf(node);
    const records = home === undefined ? (this.#ofUrls.get(node) ?? []) : [home];
    const owners = new Set<string>();
    for (const record of records) {
      const owner = this.#owners.get(record);
      if (owner !== undefined) owners.add(owner ?? "");
    }
    return [...owners];
  }

  /** Looks up members of groups where two owners differ: each pair once. */
  async #settle(edges: readonly Edge[]): Promise<void> {
    for (const { subject, object, graph } of edges) {
      const user = this.#owners.get(graph);
      if (user === undefined || user === null) continue;
      for (const end of [subject, object]) {
        if (this.#isPlainlyOwned(user, end)) continue;
        for (const owner of this.#ownersOf(end)) {
          if (owner === "" || owner === user || this.#rights.has(`${user} ${owner}`)) continue;
          this.#rights.set(
            `${user} ${owner}`,
            arkKey(user) === arkKey(owner) || (await actsFor(this.#records, { user }, owner)),
          );
        }
      }
    }
  }

  /** Whether the node is a record with this owner, as most are. */
  #isPlainlyOwned(user: string | null, node: string): boolean {
    const home = this.#homeOf(node);
    return home !== undefined && this.#owners.get(home) === user;
  }

  /** @param isNear whether the walk comes from the node */
  #owns(graph: string, node: string, isNear: boolean): boolean {
    const user = this.#owners.get(graph);
    if (user === undefined) return false;
    if (this.#isPlainlyOwned(user, node)) return true;
    const led = isNear && this.#homeOf(node) === undefined ? this.#leads.get(node)?.owners : null;
    return this.#ownersOf(node).some(
      (owner) =>
        (led === null || led?.has(owner) === true) &&
        (owner === (user ?? "") || this.#rights.get(`${user} ${owner}`) === true),
    );
  }
}

/** The crate of a record that intake made for an entity with a URL. */
function crateOfEntity(ark: string): string | undefined {
  const at = ark.indexOf(ENTITY);
  return at > 0 ? ark.slice(0, at) : undefined;
}

/**
 * The end of an edge that a walk comes from: the supported end upstream, the supporting end
 * downstream, and for both directions the nearer end.
 * @param distance steps of a node from the requested record, for both directions
 */
export function nearEnd(
  direction: Direction,
  distance: (node: string) => number,
): (edge: Edge) => string {
  if (direction !== "both") return (edge) => nearOn(direction, edge);
  return (edge) => {
    const [supported, supporting] = supportOf(edge);
    return distance(supporting) < distance(supported) ? supporting : supported;
  };
}

const nearOn = (way: OneWay, { subject, name, object }: Edge): string =>
  (PROVENANCE[name].support === "object") === (way === "upstream") ? subject : object;

const known = new WeakMap<QueryEngine, { sequence: number; names: ProvenanceName[] }>();

/** Tests for each property whether anything states it: one index lookup each. */
const QUESTION = `SELECT ?p {
    ${(Object.keys(PROVENANCE) as ProvenanceName[])
      .map((name) => iriTerm(statedAs(name)))
      .map((term) => `{ SELECT (${term} AS ?p) { ?s ${term} ?o } LIMIT 1 }`)
      .join(" UNION ")}
    }`;

/**
 * The provenance properties in use: few of all names, and each one in a query takes time. Cached
 * until the next commit.
 */
async function namesInUse(ask: GraphReader): Promise<readonly ProvenanceName[]> {
  const before = known.get(ask.engine);
  if (before && before.sequence === ask.engine.state().sequence) {
    ask.note(before.sequence);
    return before.names;
  }
  const { tsv, sequence } = await ask.answer(QUESTION);
  const names = [...iriColumn(tsv)].flatMap((iri) => NAME_OF_IRI.get(iri) ?? []);
  known.set(ask.engine, { sequence, names });
  return names;
}

const SUPPORT = iriTerm(SUPPORTED_BY);
/**
 * With so few ends left and so many steps to go, one property path is faster than a query per step:
 * 10 ms against 60 for 1000 steps.
 */
const MAX_ENDS_FOR_PATH = 2;
const MIN_STEPS_FOR_PATH = 16;

/**
 * Up to this number, one query reads all edges, and finds the nodes by itself; some megabytes of
 * text.
 */
const MAX_EDGES_PER_QUERY = 25_000;

/**
 * `texts`: the statements of records among the nodes about themselves, requested while the edges
 * were read.
 */
interface Discovered {
  texts?: Promise<string>;
}
interface Discovery {
  /** Steps from the seeds. */
  depth: number;
  /** Nodes at the depth and beyond it from which to go one step more. */
  expanded?: ReadonlySet<string>;
  /** Nodes at which to stop, including all nodes as near as the first of them. */
  until?: ReadonlySet<string>;
  /** Up to this number of edges the descriptions of all nodes will be needed. */
  describe?: number;
}

/**
 * Every edge on the way from the seeds in one direction, and the edges that lead beyond the depth.
 * Cycles end by themselves: no node is queried twice.
 */
export async function discover(
  ask: GraphReader,
  edgeList: EdgeList,
  seeds: readonly string[],
  way: OneWay,
  { depth, expanded = new Set(), until, describe = 0 }: Discovery,
): Promise<Discovered> {
  const seen = new Set(seeds);
  let frontier = [...seen];
  const hasPrivate = await ask.hidden.any();
  for (let step = 0; frontier.length > 0; step++) {
    // A path through the engine misses what leads through private records.
    if (!hasPrivate && frontier.length <= MAX_ENDS_FOR_PATH && depth - step > MIN_STEPS_FOR_PATH) {
      const described = frontier.length === 1 && step === 0 ? describe : 0;
      let found: Discovered = {};
      for (const start of frontier) found = await addClosure(ask, edgeList, start, way, described);
      return found;
    }
    const next: string[] = [];
    await readEdges(ask, edgeList, frontier, way, (node, from) => {
      if (seen.has(node) || (step >= depth && !expanded.has(from))) return;
      seen.add(node);
      next.push(node);
    });
    frontier = next;
    if (until && frontier.some((node) => until.has(node))) break;
  }
  return {};
}

/** Adds every edge from one node on, at any distance. */
async function addClosure(
  ask: GraphReader,
  edgeList: EdgeList,
  start: string,
  way: OneWay,
  describe: number,
): Promise<Discovered> {
  const nodes = closure(start, way);
  if (await isLone(ask, start, way)) return {};
  const properties = await directedProperties(ask, way);
  if (properties.length === 0) return {};
  const tsv = await ask.table(
    `${edgesQuestion(`{ ${nodes} }`, properties)} LIMIT ${MAX_EDGES_PER_QUERY}`,
  );
  const rows = rowsIn(tsv);
  if (rows === 0) return {};
  if (rows < MAX_EDGES_PER_QUERY) {
    // Requested before the edges are read, so that the engine works in parallel.
    const texts = rows <= describe ? textsOf(ask, `{ ${nodes} }`, rows + 1) : undefined;
    texts?.catch(() => {});
    addEdges(edgeList, tsv, properties);
    return texts ? { texts } : {};
  }
  const found: string[] = [];
  for await (const some of inParts(iriColumn(await ask.table(nodes))))
    for (const node of some) found.push(node);
  await readEdges(ask, edgeList, found, way);
  return {};
}

/**
 * Whether a node has no edge in one direction. Every edge has its inferred one, except edges of a
 * node to itself. A fifth of the time of the query for the edges, and many requested records have
 * no support.
 */
async function isLone(ask: GraphReader, start: string, way: OneWay): Promise<boolean> {
  const node = iriTerm(start);
  const edge = way === "upstream" ? `${node} ${SUPPORT} ?o` : `?o ${SUPPORT} ${node}`;
  const tsv = await ask.table(`SELECT ?o { { ${edge} } UNION { ${node} ?o ${node} } } LIMIT 1`);
  return rowsIn(tsv) === 0;
}

/** A node and all nodes beyond it, at any distance. One end of the path is always bound. */
const closure = (start: string, way: OneWay): string =>
  `SELECT DISTINCT ?n {
    ${way === "upstream" ? `${iriTerm(start)} ${SUPPORT}* ?n` : `?n ${SUPPORT}* ${iriTerm(start)}`}
    }`;

/** One way to state that a node depends on another, or another on it; `forward`: as the subject. */
interface DirectedProperty {
  name: ProvenanceName;
  forward: boolean;
}

const directedProperties = async (ask: GraphReader, way: OneWay): Promise<DirectedProperty[]> =>
  (await namesInUse(ask))
    .filter((name) => !ask.hidden.hides(name))
    .map((name) => ({
      name,
      forward: (PROVENANCE[name].support === "object") === (way === "upstream"),
    }));

/**
 * With the record that states each edge, and a column for each property: its IRI in every row would
 * cost as much as the rest of the row.
 */
function edgesQuestion(pattern: string, properties: readonly DirectedProperty[]): string {
  const union = properties.map(({ name, forward }, index) =>
    forward
      ? `{ GRAPH ?g { ?n ${iriTerm(statedAs(name))} ?o${index} } }`
      : `{ GRAPH ?g { ?o${index} ${iriTerm(statedAs(name))} ?n } }`,
  );
  return `SELECT ?n ?g ${properties.map((_, index) => `?o${index}`).join(" ")} { ${pattern} {
      ${union.join(" UNION ")} } }`;
}

function addEdges(
  edgeList: EdgeList,
  tsv: string,
  properties: readonly DirectedProperty[],
  each?: (node: string, from: string) => void,
): void {
  let last = "";
  let from: string | undefined;
  let lastGraph = "";
  let graph = "";
  eachCell(tsv, 2, (key, second, index, cell) => {
    if (key !== last) [last, from] = [key, iriIn(key)];
    if (second !== lastGraph) [lastGraph, graph] = [second, textIn(second)];
    // Text in place of an identifier is not an edge.
    const to = iriIn(cell);
    const property = properties[index];
    if (from === undefined || to === undefined || !property) return;
    const { name, forward } = property;
    const [subject, object] = forward ? [from, to] : [to, from];
    edgeList.add({ subject, name, object, graph });
    each?.(to, from);
  });
}

/**
 * Adds the statements, in any record, by which nodes depend on others (`upstream`) or others on
 * them.
 * @param each called with every node that one of them leads to, and that one
 */
async function readEdges(
  ask: GraphReader,
  edgeList: EdgeList,
  nodes: readonly string[],
  way: OneWay,
  each?: (node: string, from: string) => void,
): Promise<void> {
  for (const edge of await ask.hidden.edges(nodes, way)) {
    edgeList.add(edge);
    const [from, to] = stepOf(edge, way);
    each?.(to, from);
  }
  const properties = await directedProperties(ask, way);
  if (properties.length === 0) return;
  for await (const tsv of ask.tables(nodes, (values) =>
    edgesQuestion(`VALUES (?n) { ${values} }`, properties),
  ))
    addEdges(edgeList, tsv, properties, each);
}

interface Walk {
  /** Steps from the requested record, which itself is not included; a crate's parts are at 0. */
  near: Map<string, number>;
  /** Every edge among them and the requested record. */
  edgeList: EdgeList;
  /**
   * The statements about themselves of records among them, and perhaps of others; requested during
   * the walk where that was faster.
   */
  texts?: Promise<string>;
  /** The number of nodes one step beyond the depth. */
  beyond: number;
  /** The same nodes, by the node that leads to them. */
  further: BeyondByNode;
  /** Omitted edges of third parties, of nodes that were reached. */
  thirdParty: number;
}

/** Nodes beyond the depth by the node among the others that leads to them, in each direction. */
export type BeyondByNode = Readonly<Record<OneWay, ReadonlyMap<string, ReadonlySet<string>>>>;

interface WalkOptions {
  direction: Direction;
  depth: number;
  /** Nodes from which to go one step more than the depth, in the direction in which they are. */
  expanded?: ReadonlySet<string>;
  /** `owner`: edges of third parties are omitted, and the nodes that only these edges lead to. */
  assertedBy?: AssertedBy | undefined;
  describe?: number;
}

/**
 * All nodes within the depth, in one direction or in both.
 * @param options describe: up to this number of edges the descriptions of all nodes will be needed
 */
export async function walk(
  ask: GraphReader,
  seeds: Seeds,
  assertions: Assertions,
  { direction, depth, expanded = new Set(), assertedBy, describe = 0 }: WalkOptions,
): Promise<Walk> {
  const only = assertedBy === "owner";
  const starts = [...seeds.self, ...seeds.parts];
  const edgeList = new EdgeList();
  const near = new Map<string, number>();
  const further: NextNodes = { upstream: new Map(), downstream: new Map() };
  const dropped: Edge[] = [];
  const across = new EdgeList();
  let texts: Promise<string> | undefined;
  const nearOf = nearEnd(direction, (node) => near.get(node) ?? Infinity);
  const oneWay = async (way: OneWay): Promise<ReturnType<EdgeList["distances"]>> => {
    // Nodes that are nearest by the edges of third parties may be further away without them: each
    // direction is walked by itself.
    const found = only ? new EdgeList() : edgeList;
    ({ texts } = await discover(ask, found, starts, way, {
      depth,
      expanded,
      describe: direction === "both" ? 0 : describe,
    }));
    await assertions.trace(found, starts, way);
    if (only) {
      const nearest = nearEnd(way, () => 0);
      for (const edge of await assertions.dropThirdParties(found, nearest)) dropped.push(edge);
      addTo(edgeList, found);
    }
    await eventLoop.nextTurn();
    return found.distances(starts, way, depth, expanded);
  };
  const ways: OneWay[] = direction === "both" ? ["upstream", "downstream"] : [direction];
  for (const way of ways) {
    // The other direction added supports as well: no step in this direction uses one that was not
    // found in it.
    const found = await oneWay(way);
    for (const [node, steps] of found.near)
      near.set(node, Math.min(steps, near.get(node) ?? steps));
    further[way] = found.beyond;
    // A node that depends on the record may also depend on something upstream of it by another
    // path.
    if (way === "downstream" && direction === "both")
      await readEdges(ask, only ? across : edgeList, [...found.near.keys()], "upstream");
  }
  await eventLoop.nextTurn();
  if (only && direction === "both") {
    across.keepBetween((node) => near.has(node));
    for (const edge of await assertions.dropThirdParties(across, nearOf)) dropped.push(edge);
    addTo(edgeList, across);
  }
  edgeList.keepBetween((node) => near.has(node));
  await eventLoop.nextTurn();
  const thirdParty =
    dropped.length === 0
      ? 0
      : leftOut(
          edgeList,
          dropped.filter((edge) => near.has(nearOf(edge))),
        );
  // Parts without edges in either direction are not evidence.
  if (seeds.parts.length > 0) {
    const linked = edgeList.linked();
    for (const part of seeds.parts) if (!linked.has(part)) near.delete(part);
  }
  const beyond = countBeyond(further, near);
  near.delete(seeds.root);
  return {
    near,
    edgeList,
    beyond,
    further,
    thirdParty,
    ...(texts && { texts }),
  };
}

/** For each direction, the nodes one step further than the depth, by the node that leads there. */
type NextNodes = Record<OneWay, ReturnType<EdgeList["distances"]>["beyond"]>;

/** How many nodes lie behind the depth; those that the other direction reaches do not. */
function countBeyond(further: NextNodes, reached: ReadonlyMap<string, number>): number {
  const beyond = new Set<string>();
  for (const leading of Object.values(further))
    for (const next of leading.values())
      for (const node of next)
        if (reached.has(node)) next.delete(node);
        else beyond.add(node);
  return beyond.size;
}

function addTo(edgeList: EdgeList, other: EdgeList): void {
  for (const edge of other) edgeList.add(edge);
}

/** The number of relations among these that nobody else states. */
function leftOut(edgeList: EdgeList, dropped: readonly Edge[]): number {
  const keyOf = ({ subject, name, object }: Edge): string => `${subject} ${name} ${object}`;
  const left = new Set(dropped.map(keyOf));
  for (const edge of edgeList) left.delete(keyOf(edge));
  return left.size;
}

/** Where the walk begins. */
export interface Seeds {
  root: string;
  /** IRIs that stand for the record itself: its ARK, and the URL that a crate used for it. */
  self: string[];
  /**
   * For a crate: all its parts, including those of crates within it, and everything in its archive.
   * They hold its evidence.
   */
  parts: string[];
}

/** Members in one read, with their documents: other requests are served between two reads. */
const MEMBERS = 100;

export async function seedsOf(
  ask: GraphReader,
  record: StoredRecord,
  records: Pick<RecordStore, "select">,
): Promise<Seeds> {
  const root = record.ark;
  const self = [root];
  const parts = new Set<string>();
  if (record.crate !== null) {
    const node = iriTerm(root);
    const tsv = await ask.table(
      `SELECT DISTINCT ?u { GRAPH ${node} { ${node} ${iriTerm(IRIS.sameAs)} ?u . ?u
        ${iriTerm(IRIS.type)} ?t } }`,
    );
    for (const url of iriColumn(tsv)) self.push(url);
  }
  if (record.kind === "rocrate") {
    const hasPart = iriTerm(IRIS.hasPart);
    const tsv = await ask.table(
      `SELECT ?w ?g ?n { ${iriTerm(root)} ${hasPart}* ?w GRAPH ?g { ?w ${hasPart} ?n }
        FILTER(ISIRI(?n)) }`,
    );
    for (const part of partsIn(tsv, root)) parts.add(part);
    // Older crates name no parts, and seldom include actions.
    const members = { filter: { crates: [root] } };
    for await (const page of pagesOf(records, members, { limit: MEMBERS }))
      for (const { ark } of page) if (describedCrate(ark) === undefined) parts.add(ark);
  }
  parts.delete(root);
  return { root, self, parts: [...parts] };
}

/**
 * The parts of a crate, and of its parts, as they state them themselves: what a record of somebody
 * else says of their parts does not count. Of a URL the crates among them may state it.
 */
function partsIn(tsv: string, root: string): Set<string> {
  const stated = new Map<string, { graph: string; part: string }[]>();
  eachCell(tsv, 2, (whole, graph, _, part) =>
    getOrInsert(stated, textIn(whole), (): { graph: string; part: string }[] => []).push({
      graph: textIn(graph),
      part: textIn(part),
    }),
  );
  const parts = new Set<string>();
  const wholes = new Set([root]);
  for (const whole of wholes)
    for (const { graph, part } of stated.get(whole) ?? []) {
      const isOwn = isUrl(whole)
        ? wholes.has(crateOfEntity(graph) ?? "")
        : graph === (holderOf(whole) ?? whole);
      if (!isOwn) continue;
      parts.add(part);
      wholes.add(part);
    }
  return parts;
}
