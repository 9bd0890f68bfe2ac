/** Edges between numbered nodes, and the nodes of an answer that are made of them. */
import { looksLikeArk } from "../../identifiers/ark.js";
import { expandCurie } from "../../model/field.js";
import { KINDS } from "../../model/kinds.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import type { Description } from "./descriptions.js";
import {
  type Assertion,
  compactType,
  type Dangling,
  type EvidenceNode,
  type Reference,
  type StatedEdge,
} from "./types.js";

/** `graph`: the record that states it. */
export interface Edge {
  subject: string;
  name: ProvenanceName;
  object: string;
  graph: string;
}
export type OneWay = "upstream" | "downstream";

/** A node that is neither a record nor an object inside one: any number of records may be about it. */
export const isUrl = (node: string): boolean => !node.startsWith("ark:");

const NAMES = Object.keys(PROVENANCE) as ProvenanceName[];
const PLACES = new Map(NAMES.map((name, place) => [name, place]));
/** By index of the name: whether the object supports the subject. */
const OBJECT_SUPPORTS = NAMES.map((name) => PROVENANCE[name].support === "object");

/** For each number a run in `edges`: those from `starts[number]` up to `starts[number + 1]`. */
interface Runs {
  starts: Int32Array;
  edges: Int32Array;
}
interface Latest {
  iri?: string;
  number: number;
}

/**
 * Edges between nodes that are numbered, so that 100,000 nodes with theirs take some ten megabytes.
 * An edge that was added twice is stored twice.
 */
export class Net {
  readonly #numbers = new Map<string, number>();
  readonly #iris: string[] = [];
  #subjects = new Int32Array(256);
  #objects = new Int32Array(256);
  #graphs = new Int32Array(256);
  #places = new Uint8Array(256);
  #size = 0;
  /** Edges are added node by node: many share an end with the previous one. */
  readonly #latest: { readonly subject: Latest; readonly object: Latest; readonly graph: Latest } =
    { subject: { number: -1 }, object: { number: -1 }, graph: { number: -1 } };
  #bySubject: Runs | undefined;
  #byObject: Runs | undefined;

  add(subject: string, name: ProvenanceName, object: string, graph: string): void {
    if (this.#size === this.#subjects.length) this.#grow();
    const from = this.#numberAgain(subject, this.#latest.subject);
    const to = this.#numberAgain(object, this.#latest.object);
    this.#subjects[this.#size] = from;
    this.#objects[this.#size] = to;
    // Most edges are stated by the record at one of their ends.
    this.#graphs[this.#size] =
      graph === subject
        ? from
        : graph === object
          ? to
          : this.#numberAgain(graph, this.#latest.graph);
    this.#places[this.#size++] = PLACES.get(name)!;
    this.#bySubject = this.#byObject = undefined;
  }

  /**
   * Numbers a node that may have edges; returns the stored string. If that was cut from a list of
   * nodes, it holds that list in memory, but not every table of edges.
   */
  know(node: string): string {
    return this.#iris[this.#number(node)]!;
  }

  /** Returns a predicate for nodes that support others. */
  supporters(): (node: string) => boolean {
    const [supported, supporting] = this.#along("upstream");
    const found = new Uint8Array(this.#iris.length);
    for (let edge = 0; edge < this.#size; edge++)
      if (supported[edge] !== supporting[edge]) found[supporting[edge]!] = 1;
    return (node) => {
      const number = this.#numbers.get(node);
      return number !== undefined && found[number] === 1;
    };
  }

  /** Removes all edges except those between wanted nodes. */
  keep(wanted: (iri: string) => boolean): void {
    const stays = new Uint8Array(this.#iris.length);
    for (let number = 0; number < stays.length; number++)
      stays[number] = Number(wanted(this.#iris[number]!));
    if (!stays.includes(0)) return;
    this.#retain((edge) => stays[this.#subjects[edge]!] === 1 && stays[this.#objects[edge]!] === 1);
  }

  /** Removes the edges at these places of {@link edges}. */
  drop(places: ReadonlySet<number>): void {
    if (places.size > 0) this.#retain((edge) => !places.has(edge));
  }

  #retain(stays: (edge: number) => boolean): void {
    let kept = 0;
    for (let edge = 0; edge < this.#size; edge++) {
      if (!stays(edge)) continue;
      this.#subjects[kept] = this.#subjects[edge]!;
      this.#objects[kept] = this.#objects[edge]!;
      this.#graphs[kept] = this.#graphs[edge]!;
      this.#places[kept++] = this.#places[edge]!;
    }
    this.#size = kept;
    this.#bySubject = this.#byObject = undefined;
  }

  /** The edges that nodes state, in the order of the nodes and then of the names of provenance. */
  edgesOf(subjects: Iterable<string>): Edge[] {
    return this.#edgesAt(subjects, (this.#bySubject ??= this.#runs(this.#subjects, true)));
  }

  /** The edges of one name that lead to nodes, in the order of the nodes. */
  edgesInto(objects: Iterable<string>, name: ProvenanceName): Edge[] {
    return this.#edgesAt(objects, (this.#byObject ??= this.#runs(this.#objects)), PLACES.get(name));
  }

  #edgesAt(nodes: Iterable<string>, { starts, edges }: Runs, place?: number): Edge[] {
    const found: Edge[] = [];
    for (const node of nodes) {
      const number = this.#numbers.get(node);
      if (number === undefined) continue;
      for (let at = starts[number]!; at < starts[number + 1]!; at++) {
        if (place === undefined || this.#places[edges[at]!] === place)
          found.push(this.#edge(edges[at]!));
      }
    }
    return found;
  }

  /** The edges that a walk in one direction comes to from a node. */
  stepsFrom(way: OneWay): (node: string) => Edge[] {
    const { starts, edges } = this.#runs(this.#along(way)[0]);
    return (node) => {
      const number = this.#numbers.get(node);
      return number === undefined
        ? []
        : Array.from(edges.subarray(starts[number], starts[number + 1]), (edge) =>
            this.#edge(edge),
          );
    };
  }

  /** Whether a node is something else than a record or an object inside one. */
  hasUrls(): boolean {
    return this.#iris.some(isUrl);
  }

  *edges(): Generator<Edge, void, undefined> {
    for (let edge = 0; edge < this.#size; edge++) yield this.#edge(edge);
  }

  /** Nodes at the end of an edge. */
  linked(): Set<string> {
    const ends = new Set<number>();
    for (let edge = 0; edge < this.#size; edge++)
      ends.add(this.#subjects[edge]!).add(this.#objects[edge]!);
    return new Set(Array.from(ends, (number) => this.#iris[number]!));
  }

  /**
   * Steps of each node from the nearest seed, at most `depth`, and one more from each of `expanded`.
   * @returns `beyond`: the nodes one step further, by the node that leads to them
   */
  distances(
    seeds: readonly string[],
    way: OneWay,
    depth: number,
    expanded: ReadonlySet<string> = new Set(),
  ): { near: Map<string, number>; beyond: Map<string, Set<string>> } {
    const start = seeds.map((seed) => this.#number(seed));
    const [from, to] = this.#along(way);
    const { starts, edges } = this.#runs(from);
    const steps = new Int32Array(this.#iris.length).fill(-1);
    for (const seed of start) steps[seed] = 0;
    const near = new Map(seeds.map((seed) => [seed, 0]));
    const beyond = new Map<string, Set<string>>();
    const queue = [...new Set(start)];
    for (let head = 0; head < queue.length; head++) {
      const node = queue[head]!;
      const step = steps[node]! + 1;
      const stops = step > depth && !expanded.has(this.#iris[node]!);
      for (let place = starts[node]!; place < starts[node + 1]!; place++) {
        const target = to[edges[place]!]!;
        if (steps[target] !== -1) continue;
        if (stops) {
          const from = this.#iris[node]!;
          const next = beyond.get(from) ?? beyond.set(from, new Set()).get(from)!;
          next.add(this.#iris[target]!);
          continue;
        }
        steps[target] = step;
        near.set(this.#iris[target]!, step);
        queue.push(target);
      }
    }
    return { near, beyond };
  }

  /** Ends of each edge in the direction of a walk: where a step begins, and where it leads. */
  #along(way: OneWay): [from: Int32Array, to: Int32Array] {
    const from = new Int32Array(this.#size);
    const to = new Int32Array(this.#size);
    for (let edge = 0; edge < this.#size; edge++) {
      const forward = OBJECT_SUPPORTS[this.#places[edge]!] === (way === "upstream");
      from[edge] = (forward ? this.#subjects : this.#objects)[edge]!;
      to[edge] = (forward ? this.#objects : this.#subjects)[edge]!;
    }
    return [from, to];
  }

  /** Sorts the edges by the node at one end, by counting; `named`: and then by their names. */
  #runs(ends: Int32Array, named = false): Runs {
    const starts = new Int32Array(this.#iris.length + 1);
    for (let edge = 0; edge < this.#size; edge++) starts[ends[edge]! + 1]!++;
    for (let number = 0; number < this.#iris.length; number++)
      starts[number + 1]! += starts[number]!;
    const next = starts.slice();
    const edges = new Int32Array(this.#size);
    for (let edge = 0; edge < this.#size; edge++) edges[next[ends[edge]!]!++] = edge;
    if (!named) return { starts, edges };
    // Most nodes state few edges, already in order.
    for (let number = 0; number < this.#iris.length; number++) {
      for (let at = starts[number]! + 1; at < starts[number + 1]!; at++) {
        if (this.#places[edges[at - 1]!]! <= this.#places[edges[at]!]!) continue;
        edges
          .subarray(starts[number], starts[number + 1])
          .sort((a, b) => this.#places[a]! - this.#places[b]! || a - b);
        break;
      }
    }
    return { starts, edges };
  }

  #edge(edge: number): Edge {
    return {
      subject: this.#iris[this.#subjects[edge]!]!,
      name: NAMES[this.#places[edge]!]!,
      object: this.#iris[this.#objects[edge]!]!,
      graph: this.#iris[this.#graphs[edge]!]!,
    };
  }

  #numberAgain(iri: string, latest: Latest): number {
    if (iri !== latest.iri) {
      latest.number = this.#number(iri);
      latest.iri = iri;
    }
    return latest.number;
  }

  #number(iri: string): number {
    let number = this.#numbers.get(iri);
    if (number === undefined) {
      this.#numbers.set(iri, (number = this.#iris.length));
      this.#iris.push(iri);
    }
    return number;
  }

  #grow(): void {
    const larger = <T extends Int32Array | Uint8Array>(before: T, after: T): T => {
      after.set(before);
      return after;
    };
    const length = this.#subjects.length * 2;
    this.#subjects = larger(this.#subjects, new Int32Array(length));
    this.#objects = larger(this.#objects, new Int32Array(length));
    this.#graphs = larger(this.#graphs, new Int32Array(length));
    this.#places = larger(this.#places, new Uint8Array(length));
  }
}

/** The roles of an edge's ends: `[supported, supporting]`. */
export const supportOf = ({
  subject,
  name,
  object,
}: Pick<Edge, "subject" | "name" | "object">): readonly [string, string] =>
  PROVENANCE[name].support === "object" ? [subject, object] : [object, subject];

/**
 * Who states an edge; `record` is null where the members of a group have different records.
 * `fields`: the fields that state the edge. `derived`: they state the inverse.
 */
export interface Claim extends Omit<Assertion, "record"> {
  record: string | null;
  fields?: readonly (string | null)[];
  derived?: true;
}

const ORDER = new Map(
  (Object.keys(PROVENANCE) as ProvenanceName[]).map((name, place) => [name, place]),
);

/** The rows of a node for one edge: a row for each field where fields were requested. */
function statedEdges(
  { name, object }: Edge,
  { record, owner, ownsSource, ownsTarget, thirdParty, fields, derived }: Claim,
): StatedEdge[] {
  const row = (field?: { field: string | null }): StatedEdge => ({
    property: name,
    object,
    record,
    ...field,
    owner,
    ownsSource,
    ownsTarget,
    ...(thirdParty && { thirdParty }),
    ...(derived && { derived }),
  });
  return fields ? fields.map((field) => row({ field })) : [row()];
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * Statements of actions about their results, as if the results stated them: programs follow
 * `generatedBy` from node to node, and many crates state `result` of the action only. Statements
 * that a result has itself are left out.
 * @param edges `generated`, with `said` in their order
 * @param stated edges of the results
 */
export function inverted(
  edges: readonly Edge[],
  claims: readonly Claim[],
  stated: readonly Edge[],
): { edges: Edge[]; claims: Claim[] } {
  const known = new Set(
    stated.flatMap(({ subject, name, object }) =>
      name === "generatedBy" ? [`${subject} ${object}`] : [],
    ),
  );
  const left = edges.flatMap(({ subject, object }, index) =>
    subject === object || known.has(`${object} ${subject}`) ? [] : [index],
  );
  return {
    edges: left.map((index) => ({
      subject: edges[index]!.object,
      name: "generatedBy",
      object: edges[index]!.subject,
      graph: edges[index]!.graph,
    })),
    claims: left.map((index) => ({
      ...claims[index]!,
      ownsSource: claims[index]!.ownsTarget,
      ownsTarget: claims[index]!.ownsSource,
      derived: true,
    })),
  };
}

/** An order that does not depend on how the graph was read, each row once. */
function edgesInOrder(rows: StatedEdge[]): StatedEdge[] {
  if (rows.length < 2) return rows;
  const sorted = rows.toSorted(
    (a, b) =>
      ORDER.get(a.property)! - ORDER.get(b.property)! ||
      compare(a.object, b.object) ||
      compare(a.record ?? "", b.record ?? "") ||
      compare(a.owner ?? "", b.owner ?? "") ||
      compare(a.field ?? "", b.field ?? ""),
  );
  return sorted.filter((each, index) => index === 0 || !isSame(each, sorted[index - 1]!));
}

const isSame = (a: StatedEdge, b: StatedEdge): boolean =>
  a.object === b.object &&
  a.property === b.property &&
  a.record === b.record &&
  a.owner === b.owner &&
  a.derived === b.derived &&
  a.field === b.field &&
  a.thirdParty === b.thirdParty;

export const reference = (iri: string): Reference => ({ "@id": iri });

/** For a record whose statements are all about the URL it stands for. */
export function ofRecord(record: StoredRecord): Description {
  return {
    types: [compactType(expandCurie(KINDS[record.kind].rdfClass))],
    records: [],
    ...(record.name !== null && { name: record.name }),
  };
}

/**
 * Nodes in the requested order; nodes without a description are left out.
 * @param aliases URLs that a crate uses for the requested record
 * @param said who states each edge, in their order
 */
export function nodesOf(
  order: readonly string[],
  described: ReadonlyMap<string, Description>,
  edges: readonly Edge[],
  { root, aliases }: { root: string; aliases: readonly string[] },
  claims: readonly Claim[],
): EvidenceNode[] {
  const nodes = new Map<string, EvidenceNode>();
  for (const iri of order) {
    const known = described.get(iri);
    if (!known) continue;
    const node: EvidenceNode = {
      "@id": iri,
      "@type": known.types.length === 1 ? known.types : known.types.toSorted(),
    };
    if (known.name !== undefined) node.name = known.name;
    if (known.description !== undefined) node.description = known.description;
    if (known.group) Object.assign(node, { count: known.group.count, group: known.group.group });
    const sameAs = iri === root ? aliases : known.records;
    if (sameAs.length > 0) node.sameAs = sameAs.toSorted().map(reference);
    nodes.set(iri, node);
  }
  const several = new Set<EvidenceNode>();
  let latest: string | undefined;
  let node: EvidenceNode | undefined;
  for (let index = 0; index < edges.length; index++) {
    const { subject, name, object } = edges[index]!;
    // Edges are in the order of their nodes.
    if (subject !== latest) [latest, node] = [subject, nodes.get(subject)];
    if (!node) continue;
    for (const edge of statedEdges(edges[index]!, claims[index]!))
      (node.statements ??= []).push(edge);
    const objects = node[name];
    if (!objects) node[name] = [reference(object)];
    else {
      objects.push(reference(object));
      several.add(node);
    }
  }
  for (const node of several)
    for (const name of Object.keys(PROVENANCE) as ProvenanceName[])
      if (node[name]) node[name] = inOrder(node[name]);
  for (const node of nodes.values())
    if (node.statements) node.statements = edgesInOrder(node.statements);
  return [...nodes.values()];
}

/** Sorted, each once. */
const inOrder = (references: readonly Reference[]): Reference[] =>
  references
    .toSorted((a, b) => (a["@id"] < b["@id"] ? -1 : Number(a["@id"] > b["@id"])))
    .filter((each, index, all) => each["@id"] !== all[index - 1]?.["@id"]);

/** Determines for each of these references why no stored record matches it. */
export async function dangling(
  iris: readonly string[],
  records: Pick<RecordStore, "findMany">,
): Promise<Dangling[]> {
  const arks = iris.filter(looksLikeArk);
  const stored = arks.length === 0 ? [] : await records.findMany(arks);
  const deleted = new Set(arks.filter((_, i) => stored[i]?.tombstone));
  return iris.map((iri) => ({
    "@id": iri,
    reason: deleted.has(iri) ? "deleted" : looksLikeArk(iri) ? "unknown" : "external",
  }));
}
