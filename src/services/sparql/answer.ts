/**
 * Queries of users over SPARQL: checked in a thread before they are run, and answered or refused.
 */
import { LRUCache } from "lru-cache";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import { inferredGraph } from "../../model/provenance.js";
import { oneSpelling } from "../../rdf/terms.js";
import {
  type Asker,
  type GraphFormat,
  isIri,
  type OpenAnswer,
  type OpenQueries,
  type ResultFormat,
} from "../../storage/graph/port.js";
import { FairLine } from "../../storage/graph/waiting.js";
import type { RecordStore } from "../../storage/records/port.js";
import type { SharedMemory } from "../../storage/shared/port.js";
import type { CpuPool } from "../cpu-pool.js";
import type { Checked, CheckLimits, checkInThread, GuardReply } from "./guard/check.js";
import { type Hidden, inTotalOrder } from "./guard/rewrite.js";
import {
  offsetOf,
  type Place,
  plainTokens,
  type ScanLimits,
  type Scanned,
  scan,
  syntaxError,
} from "./guard/scan.js";

/**
 * The query with at most so many rows: one more than are shown, which reveals that there are more.
 */
function boundRows({ text, limit, values }: Scanned, rows: number): string {
  if (limit)
    return Number(text.slice(limit.from, limit.to)) <= rows
      ? text
      : `${text.slice(0, limit.from)}${rows}${text.slice(limit.to)}`;
  // On a line of its own: the last line may be a comment.
  return values === undefined
    ? `${text}\nLIMIT ${rows}`
    : `${text.slice(0, values)}\nLIMIT ${rows}\n${text.slice(values)}`;
}

export type GuardLimits = ScanLimits &
  CheckLimits &
  Pick<Config, "SPARQL_PARSE_TIMEOUT" | "SPARQL_QUEUE" | "SPARQL_QUEUE_WAIT">;

/** A query that may be run. */
interface GuardedQuery extends Checked {
  text: string;
  /** The same with at most so many rows; for SELECT. */
  bounded(rows: number): string;
  /** An error about the text that was run, with its place in the query as it was sent. */
  refusal(error: unknown, run: string): unknown;
}

/**
 * An error with a place in a text that was made from a query, as an error with the place in the
 * query. Where the text was rewritten no place of the query may be meant: the error has none.
 */
function replaced(error: unknown, text: string, { text: asked, placeOf }: Scanned): unknown {
  if (!(error instanceof ServiceError) || error.code !== "QUERY_SYNTAX") return error;
  const { line, column } = error.extra as Partial<Place>;
  if (line === undefined || column === undefined) return error;
  const what = error.message.replace(/^.*? at line \d+, column \d+: /s, "").replace(/\.$/, "");
  const offset = offsetOf(text, { line, column });
  let same = 0;
  while (same < asked.length && asked[same] === text[same]) same++;
  if (offset <= same || same === asked.length)
    return syntaxError(what, placeOf(Math.min(offset, asked.length)));
  const rest = text.length - offset;
  const isSameRest = rest > 0 && asked.endsWith(text.slice(offset));
  return syntaxError(what, isSameRest ? placeOf(asked.length - rest) : undefined);
}

/**
 * Most accepted queries in the cache, and the longest of them: programs send the same queries again
 * and again.
 */
const MAX_CACHED_QUERIES = 200;
const MAX_CACHED_QUERY_CHARS = 10_000;

/** A rewritten query is longer and deeper than the original, and is not untrusted text any more. */
const GENERATED: ScanLimits = { SPARQL_MAX_QUERY_BYTES: 2 ** 24, SPARQL_MAX_DEPTH: 1_000 };

/** With the columns in place of `*`: engines have their own order of columns. */
const named = ({ text, star }: Scanned, columns: readonly string[] | undefined): string =>
  columns === undefined || star === undefined
    ? text
    : `${text.slice(0, star)}${columns.map((name) => `?${name}`).join(" ")}${text.slice(star + 1)}`;

const JOB = { module: "src/services/sparql/guard/check", name: "checkInThread" };
/** Bytes of the heap of a thread that parses: of one tree, and the tables of the parser. */
const PARSER_MEMORY = 256 * 2 ** 20;

/**
 * Precedes the query engine: first a pass over the characters, which is safe for any input, then a
 * parser in a thread of its own, one query at a time.
 */
export class QueryGuard {
  #closed = false;
  readonly #line: FairLine;
  /** By base and text; the oldest first. */
  readonly #passed = new LRUCache<string, Checked>({ max: MAX_CACHED_QUERIES });

  readonly #limits: GuardLimits;
  readonly #cpu: CpuPool;
  readonly #hidden: Hidden | undefined;

  /** @param hidden data of the endpoint that no query may see */
  constructor(limits: GuardLimits, cpu: CpuPool, hidden?: Hidden) {
    this.#limits = limits;
    this.#cpu = cpu;
    this.#hidden = hidden;
    const { SPARQL_QUEUE: queue, SPARQL_QUEUE_WAIT: queueWait } = limits;
    const late = (): ServiceError =>
      new ServiceError(
        "SPARQL_BUSY",
        `The parser was busy for ${queueWait} ms (SPARQL_QUEUE_WAIT); try again shortly.`,
        {},
        { "Retry-After": "2" },
      );
    this.#line = new FairLine({ slots: 1, queue, queueWait, what: "parser", late });
  }

  /**
   * @param base IRI that relative ones are resolved against
   * @throws ServiceError `TOO_LARGE`, `QUERY_SYNTAX` with line and column, `QUERY_REFUSED`,
   * `UPDATE_REFUSED`, `SPARQL_BUSY`; what the asker's `admit` throws
   */
  async check(query: string, base: string, asker: Asker = {}): Promise<GuardedQuery> {
    const scanned = scan(query, this.#limits);
    if (this.#closed) throw stopping();
    const key = `${base} ${scanned.text}`;
    const checked =
      this.#passed.get(key) ??
      (await this.#parsed(scanned.text, base, asker).catch((error: unknown) => {
        throw replaced(error, scanned.text, scanned);
      }));
    if (scanned.text.length <= MAX_CACHED_QUERY_CHARS) this.#passed.set(key, checked);
    const { narrowed, columns } = checked;
    const shown = named(narrowed === undefined ? scanned : scan(narrowed, GENERATED), columns);
    const meant = inTotalOrder(plainTokens(shown, oneSpelling));
    const asked = meant === scanned.text ? scanned : scan(meant, GENERATED);
    return {
      ...checked,
      text: asked.text,
      bounded: (rows) => boundRows(asked, rows),
      refusal: (error, sent) => replaced(error, sent, scanned),
    };
  }

  close(): void {
    this.#closed = true;
    this.#line.close(stopping());
  }

  async #parsed(text: string, base: string, asker: Asker): Promise<Checked> {
    const reply = await this.#line.run(asker, (closing) => this.#inThread(text, base, closing));
    if ("checked" in reply) return reply.checked;
    throw new ServiceError(reply.refusal.code, reply.refusal.message, reply.refusal.extra);
  }

  async #inThread(text: string, base: string, closing: AbortSignal): Promise<GuardReply> {
    const {
      SPARQL_MAX_PATTERNS,
      SPARQL_MAX_OPERATORS,
      SPARQL_MAX_VALUES,
      SPARQL_MAX_CLOSURES,
      SPARQL_PARSE_TIMEOUT: most,
    } = this.#limits;
    // Its time begins in the thread: it is not to blame for the start of one.
    const began = new Float64Array(new SharedArrayBuffer(8));
    const late = new AbortController();
    const endWhenLate = (): void => {
      const [start = 0] = began;
      const left = start === 0 ? most : start + most - Date.now();
      if (left > 0) timer = setTimeout(endWhenLate, left).unref();
      else late.abort(tooMuch(`takes longer than ${most} ms to read (SPARQL_PARSE_TIMEOUT)`));
    };
    // An answer that came while this thread was busy is read first.
    let timer = setTimeout(() => setImmediate(endWhenLate), most).unref();
    try {
      return await this.#cpu.run<typeof checkInThread>(
        JOB,
        {
          text,
          base,
          limits: {
            SPARQL_MAX_PATTERNS,
            SPARQL_MAX_OPERATORS,
            SPARQL_MAX_VALUES,
            SPARQL_MAX_CLOSURES,
          },
          hidden: this.#hidden,
          began,
        },
        { memory: PARSER_MEMORY, signal: AbortSignal.any([closing, late.signal]) },
      );
    } catch (error) {
      throw error instanceof ServiceError ? error : tooMuch("is too large for the parser");
    } finally {
      clearTimeout(timer);
    }
  }
}

const tooMuch = (why: string): ServiceError =>
  new ServiceError("QUERY_REFUSED", `The query ${why}; write it shorter.`);

const stopping = (): ServiceError =>
  new ServiceError(
    "SHUTTING_DOWN",
    "The service is stopping. Retry when it has started again.",
    {},
    { "Retry-After": "5" },
  );

/** The graphs of a query, where they are not all. */
export interface GraphNames {
  default: readonly string[];
  named: readonly string[];
}

/** Parameters of the protocol that name graphs (SPARQL 1.1 Protocol, section 2.1.4). */
const GRAPH_PARAMETERS = ["default-graph-uri", "named-graph-uri"] as const;

/** The graphs that the parameters of a request name. */
export const graphsIn = (parameters: URLSearchParams): GraphNames => ({
  default: parameters.getAll(GRAPH_PARAMETERS[0]),
  named: parameters.getAll(GRAPH_PARAMETERS[1]),
});

/** The parameters that name graphs. */
export const graphParameters = (graphs: GraphNames): { [name: string]: readonly string[] } => ({
  [GRAPH_PARAMETERS[0]]: graphs.default,
  [GRAPH_PARAMETERS[1]]: graphs.named,
});

/**
 * The dataset of a query: the graphs that the protocol names, else the graphs of FROM and FROM
 * NAMED (SPARQL 1.1 Protocol, section 2.1.4), else `undefined`: the union of all graphs, with each
 * of them by name.
 * @param baseUrl address of this registry: its spelling of an identifier names the same graph
 * @throws ServiceError `QUERY_REFUSED` for text that is not an IRI
 */
function datasetOf(
  asked: GraphNames,
  from: GraphNames | undefined,
  baseUrl: string,
): GraphNames | undefined {
  const stated = asked.default.length + asked.named.length > 0 ? asked : from;
  if (!stated) return undefined;
  const graphs = (iris: readonly string[]) => [
    ...new Set(iris.map((iri) => graphName(iri, baseUrl))),
  ];
  return { default: graphs(stated.default), named: graphs(stated.named) };
}

const INFERRED = inferredGraph("");

function graphName(iri: string, baseUrl: string): string {
  if (!isIri(iri))
    throw new ServiceError(
      "QUERY_REFUSED",
      `A graph of the dataset is not an IRI: ${iri.slice(0, 300)}; write the ARK of a record.`,
    );
  const local = iri.startsWith(`${baseUrl}/`) ? iri.slice(baseUrl.length + 1) : iri;
  if (!/^ark:/i.test(local)) return iri;
  const inferred = local.endsWith(INFERRED);
  const ark = parseArk(inferred ? local.slice(0, -INFERRED.length) : local)?.stored;
  return ark === undefined ? iri : inferred ? inferredGraph(ark) : ark;
}

interface SparqlDeps {
  records: Pick<RecordStore, "sequence">;
  openQueries: OpenQueries;
  guard: QueryGuard;
  penalties: Penalties;
  config: Pick<Config, "SPARQL_MAX_ROWS">;
  baseUrl: () => string;
}

export interface SparqlRequest {
  query: string;
  /** Graphs that the protocol names; they replace those of FROM. */
  dataset: GraphNames;
  /** Who sent the query: the user, or the address. */
  caller: string;
  /** Other clients may share the address: nobody is penalised for the queries of one of them. */
  shared: boolean;
  /** The caller is an address, behind which there may be several people. */
  anonymous: boolean;
  /**
   * Chooses the form of the answer after the form of the query is known.
   * @throws ServiceError `NOT_ACCEPTABLE`
   */
  formatFor(form: Checked["form"]): ResultFormat | GraphFormat;
  /**
   * Rows of a SELECT that the caller uses; `SPARQL_MAX_ROWS` bounds them too. One more row follows
   * where there are more.
   */
  rows?: number | undefined;
  /** Ends the wait when the caller has left. */
  signal?: AbortSignal;
}

/**
 * Errors that a caller's queries may cause repeatedly, and the weight of each. An engine that fails
 * may itself be at fault: a few such failures are not held against an account, and none against an
 * address, where somebody else may have sent the queries. The fair queue still serves the others
 * between two failures.
 */
const STRIKES: ReadonlyMap<string, number> = new Map([
  ["QUERY_TIMEOUT", 1],
  ["QUERY_MEMORY", 1],
  ["QUERY_FAILED", 0.25],
]);

/**
 * Answers a query of any caller about public data. The answer includes every write that was
 * answered before the query arrived.
 * @throws ServiceError as {@link QueryGuard.check} and {@link OpenQueries.ask}; `TOO_MANY_REQUESTS`
 */
export async function answerQuery(
  { query, dataset, caller, shared, anonymous, formatFor, rows, signal }: SparqlRequest,
  deps: SparqlDeps,
): Promise<OpenAnswer> {
  const admit = (): void => {
    if (!shared) deps.penalties.check(caller);
  };
  if (!shared) await deps.penalties.learn(caller);
  admit();
  const base = `${deps.baseUrl()}/sparql`;
  const asker: Asker = { caller, shared, admit, ...(signal && { signal }) };
  const guarded = await deps.guard.check(query, base, asker);
  const format = formatFor(guarded.form);
  const graphs = datasetOf(dataset, guarded.from, deps.baseUrl());
  const sequence = await deps.records.sequence();
  const most = Math.min(rows ?? Infinity, deps.config.SPARQL_MAX_ROWS);
  const text = guarded.form === "SELECT" ? guarded.bounded(most + 1) : guarded.text;
  const graph = guarded.form === "CONSTRUCT" || guarded.form === "DESCRIBE";
  try {
    return await deps.openQueries.ask(
      { query: text, format, graph, base, sequence, ...(graphs && { dataset: graphs }) },
      asker,
    );
  } catch (error) {
    const weight = error instanceof ServiceError ? STRIKES.get(error.code) : undefined;
    if (weight !== undefined && !shared && (weight === 1 || !anonymous))
      deps.penalties.strike(caller, weight);
    throw guarded.refusal(error, text);
  }
}

/** Time in which a second query that exceeded a limit counts as a repetition. */
const MEMORY = 600_000;
/** Queries of that kind that are tolerated. */
const LENIENCE = 1;
const LONGEST = 3_600_000;
const MAX_CALLERS = 10_000;

interface Record {
  strikes: number;
  last: number;
  until: number;
}

/** Callers who must wait because their queries exceeded a limit repeatedly, on any node. */
export class Penalties {
  /**
   * Drops the caller without an offence for the longest time: a flood of addresses must not free a
   * caller who must wait. Looking a caller up is no offence.
   */
  readonly #callers = new LRUCache<string, Record>({ max: MAX_CALLERS });

  readonly #penalty: number;
  readonly #memory: SharedMemory;

  /** @param penalty SPARQL_PENALTY, ms */
  constructor(penalty: number, memory: SharedMemory) {
    this.#penalty = penalty;
    this.#memory = memory;
  }

  /** Loads the data of other nodes about a caller; {@link check} uses the data of this node. */
  async learn(caller: string): Promise<void> {
    const note = await this.#memory.recall(`penalty ${caller}`);
    const theirs = note === null ? undefined : (JSON.parse(note) as Record);
    if (theirs && theirs.last > (this.#callers.peek(caller)?.last ?? Number.NEGATIVE_INFINITY))
      this.#callers.set(caller, theirs);
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  check(caller: string, now = Date.now()): void {
    const until = this.#callers.peek(caller)?.until ?? 0;
    if (until <= now) return;
    const seconds = Math.ceil((until - now) / 1000);
    throw new ServiceError(
      "TOO_MANY_REQUESTS",
      "Your queries exceeded a limit more than once (SPARQL_PENALTY): try again in " +
        `${seconds} s, and ask for less at a time.`,
      {},
      { "Retry-After": String(seconds) },
    );
  }

  /**
   * A query of the caller exceeded a limit.
   * @param weight 1, or less where the caller may not be to blame
   */
  strike(caller: string, weight = 1, now = Date.now()): void {
    const known = this.#callers.peek(caller);
    const strikes =
      known && now - known.last < MEMORY + this.#penalty ? known.strikes + weight : weight;
    const until =
      strikes <= LENIENCE
        ? 0
        : now + Math.min(this.#penalty * 2 ** (Math.ceil(strikes) - LENIENCE - 1), LONGEST);
    this.#callers.set(caller, { strikes, last: now, until });
    void this.#memory.remember(
      `penalty ${caller}`,
      JSON.stringify({ strikes, last: now, until } satisfies Record),
      Math.max(until - now, 0) + MEMORY + this.#penalty,
    );
  }
}
