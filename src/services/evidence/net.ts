import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";

/** `graph`: the record that states it. */
export interface Edge {
  subject: string;
  name: ProvenanceName;
  object: string;
  graph: string;
}
export type OneWay = "upstream" | "downstream";

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
   * Steps of each node from the nearest seed, at most `depth`.
   * @returns `beyond`: nodes one step further
   */
  distances(
    seeds: readonly string[],
    way: OneWay,
    depth: number,
  ): { near: Map<string, number>; beyond: Set<string> } {
    const start = seeds.map((seed) => this.#number(seed));
    const [from, to] = this.#along(way);
    const { starts, edges } = this.#runs(from);
    const steps = new Int32Array(this.#iris.length).fill(-1);
    for (const seed of start) steps[seed] = 0;
    const near = new Map(seeds.map((seed) => [seed, 0]));
    const beyond = new Set<string>();
    const queue = [...new Set(start)];
    for (let head = 0; head < queue.length; head++) {
      const node = queue[head]!;
      const step = steps[node]! + 1;
      for (let place = starts[node]!; place < starts[node + 1]!; place++) {
        const target = to[edges[place]!]!;
        if (steps[target] !== -1) continue;
        if (step > depth) {
          beyond.add(this.#iris[target]!);
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
