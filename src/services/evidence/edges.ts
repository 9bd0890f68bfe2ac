/** The edges of provenance that a walk found. */
import { getOrInsert } from "../../get-or-insert.js";
import { PROVENANCE, type ProvenanceName, statedAs } from "../../model/provenance.js";

/** `graph`: the record that states it. */
export interface Edge {
  subject: string;
  name: ProvenanceName;
  object: string;
  graph: string;
}
export type OneWay = "upstream" | "downstream";

const NAMES = Object.keys(PROVENANCE) as ProvenanceName[];

/** Property IRI as the graph states it → name. */
export const NAME_OF_IRI: ReadonlyMap<string, ProvenanceName> = new Map(
  NAMES.map((name) => [statedAs(name), name]),
);

/** The order of the names of provenance, in which the edges of a node are. */
export const compareNames = (a: ProvenanceName, b: ProvenanceName): number =>
  NAMES.indexOf(a) - NAMES.indexOf(b);

/** A node that is neither a record nor an object inside one: any number of records may be about it. */
export const isUrl = (node: string): boolean => !node.startsWith("ark:");

/** The roles of an edge's ends: `[supported, supporting]`. */
export const supportOf = ({
  subject,
  name,
  object,
}: Pick<Edge, "subject" | "name" | "object">): readonly [string, string] =>
  PROVENANCE[name].support === "object" ? [subject, object] : [object, subject];

/** Ends of an edge in the direction of a walk: where a step begins, and where it leads. */
export function stepOf(edge: Edge, way: OneWay): readonly [from: string, to: string] {
  const [supported, supporting] = supportOf(edge);
  return way === "upstream" ? [supported, supporting] : [supporting, supported];
}

/** Nodes that support others. */
export function supportersIn(edges: Iterable<Edge>): Set<string> {
  const found = new Set<string>();
  for (const edge of edges) {
    const [supported, supporting] = supportOf(edge);
    if (supported !== supporting) found.add(supporting);
  }
  return found;
}

function groupedBy(edges: Iterable<Edge>, keyOf: (edge: Edge) => string): Map<string, Edge[]> {
  const groups = new Map<string, Edge[]>();
  for (const edge of edges) getOrInsert(groups, keyOf(edge), (): Edge[] => []).push(edge);
  return groups;
}

/** Edges in the order in which they were found. One that was added twice is listed twice. */
export class EdgeList {
  #edges: Edge[] = [];
  /** Made when they are needed, until edges are added or removed. */
  #bySubject: Map<string, Edge[]> | undefined;
  #byObject: Map<string, Edge[]> | undefined;

  [Symbol.iterator](): IterableIterator<Edge> {
    return this.#edges.values();
  }

  add(edge: Edge): void {
    this.#edges.push(edge);
    this.#bySubject = this.#byObject = undefined;
  }

  /** Leaves only the edges between wanted nodes. */
  keepBetween(wanted: (node: string) => boolean): void {
    this.#keep(({ subject, object }) => wanted(subject) && wanted(object));
  }

  remove(edges: ReadonlySet<Edge>): void {
    if (edges.size > 0) this.#keep((edge) => !edges.has(edge));
  }

  #keep(isKept: (edge: Edge) => boolean): void {
    this.#edges = this.#edges.filter(isKept);
    this.#bySubject = this.#byObject = undefined;
  }

  /** The edges that nodes state, in the order of the nodes and then of the names of provenance. */
  edgesOf(subjects: Iterable<string>): Edge[] {
    this.#bySubject ??= groupedBy(this.#edges, ({ subject }) => subject);
    const found: Edge[] = [];
    for (const subject of subjects) {
      const edges = this.#bySubject.get(subject) ?? [];
      for (const edge of edges.toSorted((a, b) => compareNames(a.name, b.name))) found.push(edge);
    }
    return found;
  }

  /** The edges of one name that lead to nodes, in the order of the nodes. */
  edgesInto(objects: Iterable<string>, name: ProvenanceName): Edge[] {
    this.#byObject ??= groupedBy(this.#edges, ({ object }) => object);
    const found: Edge[] = [];
    for (const object of objects)
      for (const edge of this.#byObject.get(object) ?? []) if (edge.name === name) found.push(edge);
    return found;
  }

  /** The edges that a walk in one direction comes to, by the node from which it does. */
  steps(way: OneWay): ReadonlyMap<string, readonly Edge[]> {
    return groupedBy(this.#edges, (edge) => stepOf(edge, way)[0]);
  }

  /** Whether a node is something else than a record or an object inside one. */
  hasUrls(): boolean {
    return this.#edges.some(({ subject, object }) => isUrl(subject) || isUrl(object));
  }

  /** Nodes at the end of an edge. */
  linked(): Set<string> {
    return new Set(this.#edges.flatMap(({ subject, object }) => [subject, object]));
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
    const steps = this.steps(way);
    const near = new Map(seeds.map((seed) => [seed, 0]));
    const beyond = new Map<string, Set<string>>();
    // A map is walked in the order of its entries, those that are added meanwhile included.
    for (const [node, distance] of near) {
      const stops = distance >= depth && !expanded.has(node);
      for (const edge of steps.get(node) ?? []) {
        const [, next] = stepOf(edge, way);
        if (near.has(next)) continue;
        if (stops) getOrInsert(beyond, node, () => new Set<string>()).add(next);
        else near.set(next, distance + 1);
      }
    }
    return { near, beyond };
  }
}
