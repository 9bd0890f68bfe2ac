/** The graph index: the interfaces of its engines, and RDF terms in questions and answers. */
import { ServiceError } from "../../errors.js";
import type { PoolLoads } from "../connections.js";

/**
 * Characters that may not stand between the angle brackets in IRIREF of SPARQL 1.1 (rule 139); a
 * text without a scheme is no IRI here.
 */
// eslint-disable-next-line no-control-regex
const ABSOLUTE_IRI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|^`\\\u007f]*$/;

/**
 * True for text that can be written into a query as an IRI and ends where it should. An engine may
 * still refuse it.
 */
export function isIri(text: string): boolean {
  return ABSOLUTE_IRI.test(text) && text.isWellFormed();
}

/**
 * `<iri>` for a query or an update: the only way an identifier gets into one.
 * @throws {ServiceError} `BAD_REQUEST` for text that an IRI cannot hold; an IRI has no escape for
 * it
 */
export function iriTerm(iri: string): string {
  if (!isIri(iri))
    throw new ServiceError(
      "BAD_REQUEST",
      "The identifier holds characters that an IRI cannot; percent-encode them.",
    );
  return `<${iri}>`;
}

// SPARQL 1.1 results in TSV: a quarter of the text of the JSON form, and no object a term.

/** How many rows there are. */
export function rowsIn(tsv: string): number {
  let lines = 0;
  for (let at = tsv.indexOf("\n"); at !== -1; at = tsv.indexOf("\n", at + 1)) lines++;
  return lines - 1;
}

/** Cells of each row, as they are written; a variable that is not bound is an empty cell. */
export function* tsvRows(tsv: string): Generator<string[], void, undefined> {
  // The first line names the variables.
  for (let start = tsv.indexOf("\n") + 1; start > 0 && start < tsv.length;) {
    const end = tsv.indexOf("\n", start);
    yield tsv.slice(start, end === -1 ? tsv.length : end).split("\t");
    if (end === -1) return;
    start = end + 1;
  }
}

/** The IRIs of the first column. */
export function* iriColumn(tsv: string): Generator<string, void, undefined> {
  for (const [cell] of tsvRows(tsv)) {
    const iri = iriIn(cell);
    if (iri !== undefined) yield iri;
  }
}

/**
 * Visits the bound cells in rows that begin with one or two keys: the place of each cell after the
 * keys, and its text. Empty cells cost no allocation.
 */
export function eachCell(
  tsv: string,
  keys: 1 | 2,
  visit: (key: string, second: string, place: number, cell: string) => void,
): void {
  let key = "\n";
  for (let start = tsv.indexOf("\n") + 1; start > 0 && start < tsv.length;) {
    let end = tsv.indexOf("\n", start);
    if (end === -1) end = tsv.length;
    if (tsv.charCodeAt(start + key.length) !== TAB || !tsv.startsWith(key, start))
      key = tsv.slice(start, tsv.indexOf("\t", start));
    const first = start + key.length;
    const before = keys === 1 ? first : tsv.indexOf("\t", first + 1);
    const second = keys === 1 ? "" : tsv.slice(first + 1, before);
    for (let place = 0, at = before + 1; at < end; place++, at++) {
      if (tsv.charCodeAt(at) === TAB) continue;
      const tab = tsv.indexOf("\t", at);
      const stop = tab === -1 || tab > end ? end : tab;
      visit(key, second, place, tsv.slice(at, stop));
      at = stop;
    }
    start = end + 1;
  }
}

const TAB = 9;

/** The IRI in a cell; `undefined` for a literal or an empty cell. */
export const iriIn = (cell: string | undefined): string | undefined =>
  cell?.startsWith("<") ? cell.slice(1, -1) : undefined;

/** The text of a cell without its datatype or language. */
export function textIn(cell: string): string {
  if (cell.startsWith("<")) return cell.slice(1, -1);
  // Numbers and booleans may stand bare.
  if (!cell.startsWith('"')) return cell;
  const text = cell.slice(1, cell.lastIndexOf('"'));
  return text.includes("\\")
    ? text.replaceAll(
        ESCAPE,
        (escape: string, named: string) =>
          ESCAPED[named] ?? String.fromCodePoint(Number.parseInt(escape.slice(2), 16)),
      )
    : text;
}

const ESCAPE = /\\([tbnrf"'\\]|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8})/g;
const ESCAPED: Readonly<Record<string, string>> = {
  t: "\t",
  b: "\b",
  n: "\n",
  r: "\r",
  f: "\f",
  '"': '"',
  "'": "'",
  "\\": "\\",
};

/** One row of a SELECT: variable → term in SPARQL 1.1 JSON results form. */
export type Term =
  | { type: "uri"; value: string }
  | { type: "bnode"; value: string }
  | { type: "literal"; value: string; datatype?: string; "xml:lang"?: string };
export type Row = Record<string, Term>;

export interface IndexState {
  state: "loading" | "ready" | "stopped";
  /** What the operator should set, where the engine holds more than it is meant for. */
  advice?: string;
  /** The index holds every commit up to this one. */
  sequence: number;
  /** While loading: graphs done and in all. */
  done?: number;
  total?: number;
}

/**
 * The projection: it reads changes itself from the feed it was opened with; everything in it can be
 * rebuilt from the record store.
 *
 * @throws {import("../../errors.js").ServiceError} `INDEX_LOADING`, `INDEX_BEHIND`,
 * `QUERY_TIMEOUT`, `STORE_UNAVAILABLE`.
 */
export interface GraphIndex {
  /** Announces that the record store has reached this sequence; cheap, returns at once. */
  advance(sequence: number): void;
  /**
   * Resolves when the index has loaded and reached the sequence.
   * @throws `INDEX_LOADING`, `INDEX_BEHIND` after `wait` ms
   */
  reach(sequence: number, wait: number): Promise<void>;
  state(): IndexState;
  /** How its connections are used; absent where it has none. */
  pools?(): PoolLoads;
  health(): Promise<void>;
  close(): Promise<void>;
}

/**
 * All statements: one named graph per record (its IRI is the record's ARK) and its inferred graph.
 */
export interface QueryEngine extends GraphIndex {
  /**
   * SELECT. The default graph is the union of all graphs. Returns SPARQL 1.1 TSV, which
   * {@link tsvRows} reads row by row, and the sequence of the state that it comes from. A statement
   * that two graphs hold may come twice: say DISTINCT where that matters.
   */
  table(query: string, options?: QueryOptions): Promise<{ tsv: string; sequence: number }>;
  /** Digest of every stored quad, independent of order; compare with that of the record store. */
  digest(): Promise<GraphDigest>;
}

export interface QueryOptions {
  /** ms after which the query is ended for certain; the engine comes back by itself. */
  timeout?: number;
}

/** The digest of a set of quads: 64 hexadecimal digits that do not depend on order. */
export interface GraphDigest {
  digest: string;
  quads: number;
  /** Commit it is as of. */
  sequence: number;
}

/**
 * Digests the record store as an engine would store it (engines rewrite some literals), for
 * comparison with {@link QueryEngine.digest}.
 */
export interface RecordsDigester {
  /**
   * As of a commit not before `atLeast`. `leftOut`: lines of the record store that the engine
   * cannot hold.
   */
  digest(atLeast: number): Promise<GraphDigest & { leftOut: number }>;
  close(): Promise<void>;
}

/** Results of SELECT and ASK, and graphs of CONSTRUCT and DESCRIBE. */
export type ResultFormat = "json" | "xml" | "csv" | "tsv";
export type GraphFormat = "nt" | "ttl" | "jsonld" | "rdfxml";

/** A user's query, checked. */
export interface OpenQuestion {
  query: string;
  format: ResultFormat | GraphFormat;
  /** True for CONSTRUCT and DESCRIBE. */
  graph: boolean;
  /** IRI that relative ones are resolved against. */
  base: string;
  /** The requested dataset; without it the default graph is the union of all. */
  dataset?: { default: readonly string[]; named: readonly string[] };
  /** Commit that the answer must not be older than. */
  sequence: number;
}

/** The caller of a query. */
export interface Asker {
  /** The caller's name: the caller served last is served again after the others. */
  caller?: string;
  /** Other callers may have the same name: it is that of a proxy, say. */
  shared?: boolean;
  /** Called when the query is about to run; an error it throws becomes the answer. */
  admit?(): void;
  /** Drops the query while it waits; a running query goes on to its end or its time-out. */
  signal?: AbortSignal;
}

export interface OpenAnswer {
  bytes: Uint8Array;
  /** The setting that cut the answer. */
  truncated: "SPARQL_MAX_ROWS" | "SPARQL_MAX_BYTES" | null;
  /** Commit that it is as of. */
  sequence: number;
}

/**
 * Answers users' queries, apart from the {@link QueryEngine} that the service itself asks: a query
 * here never affects that engine.
 */
export interface OpenQueries {
  /**
   * @throws {import("../../errors.js").ServiceError} `QUERY_SYNTAX`, `QUERY_REFUSED`,
   * `QUERY_TIMEOUT`, `QUERY_MEMORY`, `QUERY_FAILED`, `SPARQL_BUSY`, `INDEX_LOADING`,
   * `INDEX_BEHIND`, `SPARQL_NEEDS_ENDPOINT`, `SHUTTING_DOWN`
   */
  ask(question: OpenQuestion, asker?: Asker): Promise<OpenAnswer>;
  /** Announces that the record store has reached this sequence; cheap, returns at once. */
  advance(sequence: number): void;
  /** Processes that are up, and queries that wait. */
  state(): { threads: number; waiting: number };
  /** How its connections are used; absent where it has none. */
  pools?(): PoolLoads;
  close(): Promise<void>;
}

/** The engine's log; pino's loggers fit. */
export interface EngineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silent: EngineLog = { info() {}, warn() {}, error() {} };
