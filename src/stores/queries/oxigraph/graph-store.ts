import { Store, namedNode, type NamedNode } from "oxigraph";
import { inferredGraph } from "../../../model/provenance.js";
import type { FeedGraph } from "../../records/port.js";
import { QuadDigest } from "./quad-digest.js";
import { iriTerm, isIri } from "../iri.js";
import { rethrowFatal } from "./fatal.js";
import { type Lines, LotBytes, lotsOf } from "./lots.js";
import { arePlain } from "./plain-lines.js";

/** DROPs in one update: far below the sizes at which the parser of a WASM instance gives up. */
const DROPS_PER_UPDATE = 200;
const NQUADS = "application/n-quads";

/**
 * One Oxigraph store and the graphs of the records in it. Everything here is synchronous: no query in the same
 * thread ever sees a record between its old and its new state.
 */
export class GraphStore {
  /** Graphs replaced or removed; the memory of what they were is never given back. */
  rewrites = 0;
  readonly #store = new Store();
  readonly #arks = new Set<string>();
  readonly #bytes = new LotBytes();
  readonly #onRefused: (ark: string, lines: number, reason: string) => void;

  /** @param onRefused told of lines that the engine cannot hold; the rest of the record is kept */
  constructor(onRefused: (ark: string, lines: number, reason: string) => void = () => {}) {
    this.#onRefused = onRefused;
  }

  /** Brings each record's two graphs to the given state; new ones of a page arrive in one load. */
  apply(graphs: readonly FeedGraph[]): void {
    const latest = new Map(graphs.map((graph) => [graph.ark, graph.nquads]));
    this.#drop([...latest.keys()].filter((ark) => this.#arks.has(ark)));
    const plain: Lines[] = [];
    const others: Lines[] = [];
    for (const [ark, text] of latest) if (text !== null) (arePlain(text) ? plain : others).push({ ark, text: text.endsWith("\n") || text === "" ? text : `${text}\n` });
    for (const lot of lotsOf(plain)) this.#loadAll(lot, true);
    for (const lot of lotsOf(others)) this.#loadAll(lot, false);
  }

  #loadAll(lot: readonly Lines[], lenient: boolean): void {
    try {
      this.#load(lot, lenient);
      for (const { ark } of lot) this.#remember(ark);
    } catch (error) {
      rethrowFatal(error);
      // What was loaded before the bad line stays; loading it again changes nothing.
      for (const lines of lot) this.#loadWhatCan(lines);
    }
  }

  /**
   * @param format media type or short name of the results: `json` for SELECT and ASK, `nt` for CONSTRUCT …
   * @throws Error with the engine's message when the query is refused
   */
  query(query: string, format: string): string {
    return this.#store.query(query, { results_format: format, use_default_graph_as_union: true }) as string;
  }

  /**
   * A query over chosen graphs; FROM and FROM NAMED in it do not count then.
   * @throws as {@link query}
   */
  ask(query: string, format: string, base: string, dataset?: { default: readonly string[]; named: readonly string[] }): string {
    const names: NamedNode[] = [];
    const nodes = (iris: readonly string[]) => iris.map((iri) => {
      const node = namedNode(iri);
      names.push(node);
      return node;
    });
    try {
      return this.#store.query(query, {
        results_format: format, base_iri: base,
        ...(dataset ? { default_graph: nodes(dataset.default), named_graphs: nodes(dataset.named) } : { use_default_graph_as_union: true }),
      }) as string;
    } finally {
      for (const node of names) (node as unknown as { free(): void }).free();
    }
  }

  /** True when a graph of this name holds something. */
  holds(graph: string): boolean {
    return (JSON.parse(this.query(`ASK { GRAPH ${iriTerm(graph)} { ?s ?p ?o } }`, "json")) as { boolean: boolean }).boolean;
  }

  /** IRIs of all graphs that hold something, known or not. */
  graphs(): string[] {
    const answer = this.#store.query("SELECT DISTINCT ?g { GRAPH ?g {} }", { results_format: "json" }) as string;
    return (JSON.parse(answer) as { results: { bindings: { g: { value: string } }[] } }).results.bindings.map((row) => row.g.value);
  }

  /** Adds the quads of one graph to a digest, as N-Triples lines with the graph before them. */
  digestGraph(graph: string, digest: QuadDigest): void {
    const name = namedNode(graph);
    try {
      const text = this.#store.dump({ format: "application/n-triples", from_graph_name: name });
      for (const line of text.split("\n")) if (line !== "") digest.addLine(`<${graph}> ${line}`);
    } finally {
      (name as unknown as { free(): void }).free();
    }
  }

  /** Gives the store's memory back to the instance. */
  free(): void {
    (this.#store as unknown as { free(): void }).free();
  }

  #drop(arks: string[]): void {
    for (let start = 0; start < arks.length; start += DROPS_PER_UPDATE) {
      const some = arks.slice(start, start + DROPS_PER_UPDATE);
      this.#store.update(some.map((ark) => `DROP SILENT GRAPH ${iriTerm(ark)}; DROP SILENT GRAPH ${iriTerm(inferredGraph(ark))}`).join(";\n"));
    }
    for (const ark of arks) this.#arks.delete(ark);
    this.rewrites += arks.length;
  }

  /** What cannot be the name of a graph has none to be dropped, and would spoil the update for others. */
  #remember(ark: string): void {
    try {
      (namedNode(ark) as unknown as { free(): void }).free();
      if (isIri(ark)) this.#arks.add(ark);
    } catch (error) {
      rethrowFatal(error);
    }
  }

  /**
   * Without the engine's own transaction, which would hold every page twice: only this thread looks. As bytes: strings are copied by the character.
   *
   * @param lenient only their syntax is checked
   */
  #load(lot: readonly Pick<Lines, "text">[], lenient: boolean): void {
    const bytes = this.#bytes.of(lot);
    if (bytes.length > 0) this.#store.load(bytes, { format: NQUADS, no_transaction: true, lenient });
  }

  /** One bad record must not cost the index, nor one bad line the record. */
  #loadWhatCan({ ark, text }: Lines): void {
    try {
      this.#load([{ text }], false);
      this.#remember(ark);
      return;
    } catch (error) {
      rethrowFatal(error);
    }
    let refused = 0;
    let reason = "";
    for (const line of text.split("\n")) {
      try {
        this.#load([{ text: line }], false);
        if (line !== "") this.#remember(ark);
      } catch (error) {
        rethrowFatal(error);
        refused++;
        reason = (error as Error).message;
      }
    }
    this.#onRefused(ark, refused, reason);
  }
}
