import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import { inferredGraph } from "../../../../model/provenance.js";
import type { FeedGraph } from "../../../records/port.js";
import { type EngineLog, iriTerm, isIri } from "../../port.js";
import {
  EndpointRefusal,
  type Position,
  type ProjectionOptions,
  positionBlock,
  type SparqlHttp,
  samePosition,
} from "../client.js";
import { graphsAmong, look } from "../watch.js";

/**
 * The update that takes the projection from one position to the next: it does nothing when the
 * projection is at another position. One request, so that servers with transactions do all of it or
 * nothing; on servers without transactions the position moves last.
 */
function stepUpdate(from: Position, to: Position, lot: readonly Chunk[]): string {
  const guard = positionBlock(from);
  const parts: string[] = [];
  for (const graph of lot.flatMap(({ emptied }) => emptied)) parts.push(emptying(graph, guard));
  // In one operation with the position: Oxigraph takes twice as long for the second one of a
  // request.
  parts.push(
    `DELETE { ${guard} } INSERT {\n${blocksOf(lot)}\n${positionBlock(to)} } WHERE { ${guard} }`,
  );
  return parts.join(";\n");
}

/** The statements to add, graph by graph. */
function blocksOf(lot: readonly Chunk[]): string {
  const added: string[] = [];
  let open = "";
  for (const { statements } of lot) {
    for (const { graph, triple } of statements) {
      if (graph !== open) added.push(`${open === "" ? "" : "}\n"}GRAPH ${iriTerm(graph)} {`);
      open = graph;
      added.push(triple);
    }
  }
  if (open !== "") added.push("}");
  return added.join("\n");
}

const emptying = (graph: string, guard: string): string =>
  `DELETE { GRAPH ${iriTerm(graph)} { ?s ?p ?o } } WHERE { ${guard}
    GRAPH ${iriTerm(graph)} { ?s ?p ?o } }`;

/** The first position of an endpoint that has none. */
export const beginUpdate = (to: Position): string =>
  `INSERT { ${positionBlock(to)} } WHERE { FILTER NOT EXISTS { ${positionBlock("?any")} } }`;

/** Puts the projection to a position, wherever it is. */
export const resetUpdate = (to: Position): string =>
  `DELETE { ${positionBlock("?any")} } WHERE { ${positionBlock("?any")} };\nINSERT DATA { ` +
  `${positionBlock(to)} }`;

/** Makes the projector begin anew with an endpoint that it empties first. No node has fence 0. */
export const rebuildUpdate = (source: string): string =>
  resetUpdate({ source, fence: 0, phase: "clear", sequence: 0, after: 0, part: 0 });

/** One statement of N-Quads without blank nodes, in its four terms. */
const LINE = new RegExp(
  String.raw`^<([^<>]*)> <([^<>]*)> (<([^<>]*)>|"((?:[^"\\\n\r]|\\.)*)"(@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*|` +
    String.raw`\^\^<([^<>]*)>)?) <([^<>]*)> \.$`,
  "s",
);
const CODEPOINT = /\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|(.))/gs;
/** STRING_LITERAL2 of SPARQL 1.1 (rule 157) holds anything but these. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\\n\r\b\f\t]/g;
const SHORT: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};
const NAMED: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r" };

/** A statement as an update writes it, and its graph. */
interface SparqlStatement {
  graph: string;
  triple: string;
}

/**
 * A line of N-Quads in SPARQL. The two differ in their escapes: SPARQL reads codepoint escapes
 * before anything else (section 19.2), so that the `\u0022` of a literal would end it.
 * @returns `undefined` for a line that SPARQL cannot hold
 */
export function statementOf(line: string): SparqlStatement | undefined {
  const [, subject, predicate, , iri, text = "", suffix = "", datatype, graph] =
    LINE.exec(line) ?? [];
  if (subject === undefined || predicate === undefined || graph === undefined) return undefined;
  for (const term of [subject, predicate, iri, datatype, graph])
    if (term !== undefined && !isIri(term)) return undefined;
  const lexical = datatype === DECIMAL ? decimal(text) : text;
  const object = iri === undefined ? `"${literal(lexical)}"${suffix}` : `<${iri}>`;
  return { graph, triple: `<${subject}> <${predicate}> ${object} .` };
}

const DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal";

/**
 * The same number in the canonical form of XSD 1.0 (part 2, section 3.2.3.2). Jena's TDB2 stores
 * the digits of any other form, returns the canonical one, and then finds nothing to delete under
 * it.
 */
function decimal(text: string): string {
  const [, sign = "", whole = "", fraction = ""] =
    /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (!/\d/.test(text) || (whole === "" && fraction === "" && !/^[+-]?[0.]+$/.test(text)))
    return text;
  return `${sign === "-" && whole + fraction !== "" ? "-" : ""}${whole || "0"}.${fraction || "0"}`;
}

function literal(text: string): string {
  if (!text.includes("\\")) return text;
  const value = text.replaceAll(CODEPOINT, (escape: string, named?: string) =>
    named === undefined
      ? String.fromCodePoint(Number.parseInt(escape.slice(2), 16))
      : (NAMED[named] ?? named),
  );
  return (
    value
      .replaceAll(ESCAPED, (found) => SHORT[found] ?? found)
      // A server that reads codepoint escapes first must not take a backslash before a u for one.
      .replaceAll("\\\\u", "\\\\\\u0075")
      .replaceAll("\\\\U", "\\\\\\u0055")
  );
}

/** Graphs to be emptied and statements to be added in one update. */
interface Chunk {
  ark: string;
  /** Emptied before anything is added. */
  emptied: string[];
  statements: SparqlStatement[];
}

/** Bytes that a statement takes besides its text. */
const SLACK = 2;

/** The graphs that a record may have. */
const graphsOf = (ark: string): string[] => (isIri(ark) ? [ark, inferredGraph(ark)] : []);

/**
 * The statements that bring records to their given state, in batches of about `bytes` at most. A
 * larger record comes in several batches; the first of them empties its graphs.
 * @param existing graphs that hold something
 * @param onRefused called with lines that SPARQL cannot hold
 */
export function* batchesOf(
  graphs: readonly FeedGraph[],
  existing: ReadonlySet<string>,
  bytes: number,
  onRefused: (ark: string, lines: number) => void,
): Generator<Chunk[], void, undefined> {
  let lot: Chunk[] = [];
  let size = 0;
  for (const [ark, text] of new Map(graphs.map(({ ark, nquads }) => [ark, nquads]))) {
    let chunk: Chunk = {
      ark,
      emptied: graphsOf(ark).filter((graph) => existing.has(graph)),
      statements: [],
    };
    lot.push(chunk);
    // Two statements and their guard; a batch of deletions is bounded too.
    size += 400 * chunk.emptied.length;
    let refused = 0;
    for (const line of text === null ? [] : text.split("\n")) {
      if (line === "") continue;
      const statement = statementOf(line);
      if (!statement) {
        refused++;
        continue;
      }
      if (size >= bytes) {
        yield lot;
        lot = [(chunk = { ark, emptied: [], statements: [] })];
        size = 0;
      }
      chunk.statements.push(statement);
      // UTF-8 takes at most three bytes a unit; most of it is ASCII.
      size += statement.triple.length + SLACK;
    }
    if (refused > 0) onRefused(ark, refused);
    if (size >= bytes) {
      yield lot;
      lot = [];
      size = 0;
    }
  }
  if (lot.length > 0) yield lot;
}

/** Splits a batch into two; `undefined` for one that cannot be split. */
function halves(lot: readonly Chunk[]): [Chunk[], Chunk[]] | undefined {
  if (lot.length > 1) return [lot.slice(0, lot.length / 2), lot.slice(lot.length / 2)];
  const [chunk] = lot;
  if (!chunk || chunk.statements.length < 2) return undefined;
  const middle = chunk.statements.length / 2;
  return [
    [{ ...chunk, statements: chunk.statements.slice(0, middle) }],
    [{ ...chunk, emptied: [], statements: chunk.statements.slice(middle) }],
  ];
}

/**
 * The projection is not where this projector left it, or no longer its own: begin again by looking.
 */
export class Displaced extends Error {}

/** ms before an unavailable endpoint is asked again; doubled up to the last. */
const FIRST_WAIT = 100;
export const LAST_WAIT = 1_000;

/** The lease as the projector sees it. */
export interface Held {
  fence: number;
  /** @throws Displaced once it may have run out */
  check(): void;
}

/**
 * The updates of one lease: each begins at the position that the endpoint was seen at, and is sent
 * until it is where the update leads.
 */
export class Steps {
  /**
   * The endpoint's position at the last answer; `undefined` before that, and while the position is
   * unknown.
   */
  seen: Position | undefined;

  readonly #http: SparqlHttp;
  readonly #options: Pick<ProjectionOptions, "timeout" | "batch">;
  readonly #onPosition: (position: Position) => void;
  readonly #log: EngineLog;

  constructor(
    http: SparqlHttp,
    readonly held: Held,
    options: Pick<ProjectionOptions, "timeout" | "batch">,
    onPosition: (position: Position) => void,
    log: EngineLog,
  ) {
    this.#http = http;
    this.#options = options;
    this.#onPosition = onPosition;
    this.#log = log;
  }

  /** The same, once the endpoint was seen. */
  get at(): Position {
    if (!this.seen) throw new Displaced("the endpoint was not seen yet");
    return this.seen;
  }

  /**
   * Brings records to their given state in as many updates as necessary; the last one arrives at
   * `to`.
   */
  async apply(graphs: readonly FeedGraph[], to: Position, fresh: boolean): Promise<void> {
    const existing = fresh
      ? new Set<string>()
      : await this.asked(() =>
          graphsAmong(
            this.#http,
            graphs.flatMap(({ ark }) => graphsOf(ark)),
            this.#options.timeout,
          ),
        );
    const refused = (ark: string, lines: number): void =>
      this.#log.error(
        { ark, lines },
        "graph lines that the SPARQL endpoint cannot store were left out",
      );
    let before: Chunk[] | undefined;
    for (const lot of batchesOf(graphs, existing, this.#options.batch, refused)) {
      if (before) await this.#apart(before, { ...this.at, part: this.at.part + 1 });
      before = lot;
    }
    await this.#apart(before ?? [], to);
  }

  /**
   * Sends one batch in one step, or in smaller steps where the endpoint refuses it: one bad line
   * must not cost the rest.
   */
  async #apart(lot: readonly Chunk[], to: Position): Promise<void> {
    try {
      return await this.step(to, lot);
    } catch (error) {
      if (!(error instanceof EndpointRefusal)) throw error;
      const two = halves(lot);
      if (two) {
        await this.#apart(two[0], { ...this.at, part: this.at.part + 1 });
        // The number of the first half's steps is known now.
        return this.#apart(two[1], to.part > 0 ? { ...to, part: this.at.part + 1 } : to);
      }
      const [chunk] = lot;
      if (!chunk || chunk.statements.length === 0) throw error;
      this.#log.error(
        { ark: chunk.ark, lines: chunk.statements.length, reason: error.message },
        "graph lines that the SPARQL endpoint cannot store were left out",
      );
      return this.step(
        to,
        lot.map((chunk) => ({ ...chunk, statements: [] })),
      );
    }
  }

  /**
   * Sends an update until the endpoint has reached the position it leads to: a lost answer does not
   * show whether the update was done.
   * @throws Displaced, EndpointRefusal
   */
  async step(to: Position, lot: readonly Chunk[], update?: string): Promise<void> {
    const text = update ?? stepUpdate(this.at, to, lot);
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LAST_WAIT)) {
      this.held.check();
      try {
        await this.#http.update(text, { timeout: this.#options.timeout });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        this.#log.warn(
          { reason: error.message },
          "an update of the SPARQL endpoint was not answered; checking whether it was applied",
        );
        await pause(wait);
      }
      const { positions } = await this.look();
      if (positions.length === 1 && samePosition(positions[0], to)) {
        this.seen = to;
        return this.#onPosition(to);
      }
      if (positions.length > 1 || !samePosition(positions[0], this.seen))
        throw new Displaced("another node has the projection, or the endpoint was replaced");
    }
  }

  look(): ReturnType<typeof look> {
    return this.asked(() => look(this.#http, this.#options.timeout));
  }

  /** Asks until the endpoint answers; logs once that it is unavailable. */
  async asked<T>(ask: () => Promise<T>): Promise<T> {
    for (let wait = FIRST_WAIT, reported = false; ; wait = Math.min(wait * 2, LAST_WAIT)) {
      this.held.check();
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (!reported)
          this.#log.warn(
            { reason: error.message },
            "the SPARQL endpoint does not answer; retrying",
          );
        reported = true;
        await pause(wait);
      }
    }
  }
}
