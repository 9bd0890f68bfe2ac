import { type NamedNode, namedNode, Store } from "oxigraph";
import { inferredGraph } from "../../../model/provenance.js";
import type { FeedGraph } from "../../records/port.js";
import { iriTerm, isIri } from "../port.js";
import type { QuadDigest } from "../quad-digest.js";
import { NO_MEMORY } from "./thread-handle.js";

let panic: string | undefined;

/**
 * Stores the engine's panic message. The engine prints it before it ends with a bare `unreachable`;
 * without the message a fault of the engine and a lack of memory look the same.
 */
export function watchPanics(): void {
  // The engine has no other place to say it.
  // eslint-disable-next-line no-console
  const print = console.error;
  // eslint-disable-next-line no-console
  console.error = (...words: unknown[]) => {
    const text = String(words[0]);
    if (text.startsWith("panicked at"))
      panic = text
        .replace(/\n\nStack:.*/s, "")
        .replaceAll("\n", " ")
        .slice(0, 500);
    else print(...words);
  };
}

/**
 * After a WASM trap or a stack overflow the instance is broken for good; only a refusal may be
 * handled.
 */
export function rethrowFatal(error: unknown): void {
  if (error instanceof Error && error.name !== "RuntimeError" && !(error instanceof RangeError))
    return;
  if (panic !== undefined && !/capacity overflow|alloc/.test(panic))
    throw new Error(`the engine ${panic}`, { cause: error });
  if (error instanceof Error && error.name === "RuntimeError")
    throw new Error(`${NO_MEMORY} (${panic ?? error.message})`, { cause: error });
  throw error;
}

/** Characters of one load; a longer record is one by itself. */
const LOT_LENGTH = 300_000;
/** Bytes of UTF-8 that one UTF-16 unit takes at most. */
const WIDEST = 3;
const encoder = new TextEncoder();

/** The statements of one record, as N-Quads. */
interface Lines {
  ark: string;
  text: string;
}

/**
 * Loads of at most that many characters: a crate of 100,000 entities would not fit into one string.
 */
function* batchesOf(all: readonly Lines[]): Generator<Lines[]> {
  let batch: Lines[] = [];
  let length = 0;
  for (const lines of all) {
    if (length > 0 && length + lines.text.length > LOT_LENGTH) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(lines);
    length += lines.text.length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * The bytes of batches, each in the same memory: a new allocation for each load took a tenth of the
 * thread's time.
 */
class BatchBytes {
  #memory: Uint8Array | undefined;

  /** Valid until the next call. */
  of(batch: readonly Pick<Lines, "text">[]): Uint8Array {
    const [first] = batch;
    if (first && batch.length === 1 && first.text.length > LOT_LENGTH)
      return encoder.encode(first.text);
    const memory = (this.#memory ??= new Uint8Array(LOT_LENGTH * WIDEST));
    let length = 0;
    for (const { text } of batch)
      length += encoder.encodeInto(text, memory.subarray(length)).written;
    return memory.subarray(0, length);
  }
}

/**
 * The engine checks longer texts: a regular expression stores a place to go back to for each escape
 * of a literal.
 */
const MAX_CHARACTERS = 100_000;

/**
 * `http`, `https` and `ark` with plain characters, at most one fragment, and no port: every engine
 * accepts these.
 */
const CHARACTERS = "[\\w.~/?=&+,;:@!$'()*-]*";
const IRI = `<(?:https?://[\\w.-]+(?=[/#])|ark:(?!//))${CHARACTERS}(?:#${CHARACTERS})?>`;
/** Without a language, and without escapes by number. */
const LITERAL = `"[^"\\\\\\n\\r]*(?:\\\\[tbnrf"'\\\\][^"\\\\\\n\\r]*)*"(?:\\^\\^${IRI})?`;
const LINE = new RegExp(`${IRI} ${IRI} (?:${IRI}|${LITERAL}) ${IRI} \\.\\n`, "y");

/**
 * True for lines in the canonical form (RDFC-1.0, section 5) with terms of the common kinds. An
 * engine in lenient mode reads them with the same result, a quarter faster: readers can rely on the
 * absence of everything that the lenient mode does not check.
 */
export function arePlain(nquads: string): boolean {
  if (nquads.length > MAX_CHARACTERS) return false;
  for (let at = 0; at < nquads.length; at = LINE.lastIndex) {
    LINE.lastIndex = at;
    if (!LINE.test(nquads)) return false;
  }
  return true;
}

/** DROPs in one update: far below the sizes at which the parser of a WASM instance gives up. */
const DROPS_PER_UPDATE = 200;
const NQUADS = "application/n-quads";

/**
 * One Oxigraph store and the graphs of the records in it. Everything here is synchronous: no query
 * in the same thread ever sees a record between its old and its new state.
 */
export class GraphStore {
  /**
   * Number of graphs replaced or removed; the engine never gives the memory of the old ones back.
   */
  rewrites = 0;
  readonly #store = new Store();
  readonly #arks = new Set<string>();
  readonly #bytes = new BatchBytes();
  readonly #onRefused: (ark: string, lines: number, reason: string) => void;

  /**
   * @param onRefused called with lines that the engine cannot hold; the rest of the record is
   * stored
   */
  constructor(onRefused: (ark: string, lines: number, reason: string) => void = () => {}) {
    this.#onRefused = onRefused;
  }

  get records(): number {
    return this.#arks.size;
  }

  /** Brings each record's two graphs to the given state; new ones of a page arrive in one load. */
  apply(graphs: readonly FeedGraph[]): void {
    const latest = new Map(graphs.map((graph) => [graph.ark, graph.nquads]));
    this.#drop([...latest.keys()].filter((ark) => this.#arks.has(ark)));
    const plain: Lines[] = [];
    const others: Lines[] = [];
    for (const [ark, text] of latest)
      if (text !== null)
        (arePlain(text) ? plain : others).push({
          ark,
          text: text.endsWith("\n") || text === "" ? text : `${text}\n`,
        });
    for (const batch of batchesOf(plain)) this.#loadAll(batch, true);
    for (const batch of batchesOf(others)) this.#loadAll(batch, false);
  }

  #loadAll(batch: readonly Lines[], lenient: boolean): void {
    try {
      this.#load(batch, lenient);
      for (const { ark } of batch) this.#remember(ark);
    } catch (error) {
      rethrowFatal(error);
      // The lines loaded before the bad line stay; loading them again changes nothing.
      for (const lines of batch) this.#loadWhatCan(lines);
    }
  }

  /**
   * @param format media type or short name of the results: `json` for SELECT and ASK, `nt` for
   * CONSTRUCT …
   * @throws Error with the engine's message when the query is refused
   */
  query(query: string, format: string): string {
    return this.#store.query(query, {
      results_format: format,
      use_default_graph_as_union: true,
    }) as string;
  }

  /**
   * A query over chosen graphs; FROM and FROM NAMED in it do not count then.
   * @throws as {@link query}
   */
  ask(
    query: string,
    format: string,
    base: string,
    dataset?: { default: readonly string[]; named: readonly string[] },
  ): string {
    const names: NamedNode[] = [];
    const nodes = (iris: readonly string[]) =>
      iris.map((iri) => {
        const node = namedNode(iri);
        names.push(node);
        return node;
      });
    try {
      return this.#store.query(query, {
        results_format: format,
        base_iri: base,
        ...(dataset
          ? { default_graph: nodes(dataset.default), named_graphs: nodes(dataset.named) }
          : { use_default_graph_as_union: true }),
      }) as string;
    } finally {
      for (const node of names) (node as unknown as { free(): void }).free();
    }
  }

  /** True when a graph of this name holds something. */
  holds(graph: string): boolean {
    return (
      JSON.parse(this.query(`ASK { GRAPH ${iriTerm(graph)} { ?s ?p ?o } }`, "json")) as {
        boolean: boolean;
      }
    ).boolean;
  }

  /** IRIs of all graphs that hold something, known or not. */
  graphs(): string[] {
    const answer = this.#store.query("SELECT DISTINCT ?g { GRAPH ?g {} }", {
      results_format: "json",
    }) as string;
    return (
      JSON.parse(answer) as { results: { bindings: { g: { value: string } }[] } }
    ).results.bindings.map((row) => row.g.value);
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
      this.#store.update(
        some
          .map(
            (ark) =>
              `DROP SILENT GRAPH ${iriTerm(ark)}; DROP SILENT GRAPH ${iriTerm(inferredGraph(ark))}`,
          )
          .join(";\n"),
      );
    }
    for (const ark of arks) this.#arks.delete(ark);
    this.rewrites += arks.length;
  }

  /**
   * A text that cannot be the name of a graph has no graph to drop, and would spoil the update for
   * others.
   */
  #remember(ark: string): void {
    try {
      (namedNode(ark) as unknown as { free(): void }).free();
      if (isIri(ark)) this.#arks.add(ark);
    } catch (error) {
      rethrowFatal(error);
    }
  }

  /**
   * Without the engine's own transaction, which would hold every page twice: only this thread
   * reads. As bytes: strings are copied by the character.
   *
   * @param lenient only their syntax is checked
   */
  #load(batch: readonly Pick<Lines, "text">[], lenient: boolean): void {
    const bytes = this.#bytes.of(batch);
    if (bytes.length > 0)
      this.#store.load(bytes, { format: NQUADS, no_transaction: true, lenient });
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
