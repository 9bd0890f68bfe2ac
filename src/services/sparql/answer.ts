/**
 * Queries of users over SPARQL: checked in a thread before they are run, and answered or refused.
 */
import { Worker } from "node:worker_threads";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import { inferredGraph } from "../../model/provenance.js";
import { threadModule } from "../../package-root.js";
import { oneSpelling } from "../../rdf/terms.js";
import {
  type GraphFormat,
  isIri,
  type OpenAnswer,
  type OpenQueries,
  type ResultFormat,
} from "../../storage/graph/port.js";
import type { RecordStore } from "../../storage/records/port.js";
import type { SharedMemory } from "../../storage/shared/port.js";
import type { Checked, CheckLimits, GuardData, GuardReply, GuardRequest } from "./guard/check.js";
import { type Hidden, inTotalOrder } from "./guard/rewrite.js";
import { plainTokens, type ScanLimits, type Scanned, scan } from "./guard/scan.js";

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
  Pick<Config, "SPARQL_PARSE_TIMEOUT" | "SPARQL_QUEUE" | "SPARQL_IDLE">;

/** A query that may be run. */
interface GuardedQuery extends Checked {
  text: string;
  /** The same with at most so many rows; for SELECT. */
  bounded(rows: number): string;
}

/**
 * Most accepted queries in the cache, and the longest of them: programs send the same queries again
 * and again.
 */
const REMEMBERED = 200;
const LONGEST_REMEMBERED = 10_000;

/** A rewritten query is longer and deeper than the original, and is not untrusted text any more. */
const GENERATED: ScanLimits = { SPARQL_MAX_QUERY_BYTES: 2 ** 24, SPARQL_MAX_DEPTH: 1_000 };

/** With the columns in place of `*`: engines have their own order of columns. */
const named = ({ text, star }: Scanned, columns: readonly string[] | undefined): string =>
  columns === undefined || star === undefined
    ? text
    : `${text.slice(0, star)}${columns.map((name) => `?${name}`).join(" ")}${text.slice(star + 1)}`;

interface Waiting {
  request: GuardRequest;
  resolve(checked: Checked): void;
  reject(error: Error): void;
}

/**
 * Precedes the query engine: first a pass over the characters, which is safe for any input, then a
 * parser in a separate thread, started at the first query and ended when idle.
 */
export class QueryGuard {
  #worker: Worker | undefined;
  #running: Waiting | undefined;
  #clock: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #waiting: Waiting[] = [];
  /** By base and text; the oldest first. */
  readonly #passed = new Map<string, Checked>();

  readonly #limits: GuardLimits;
  readonly #hidden: Hidden | undefined;

  /** @param hidden data of the endpoint that no query may see */
  constructor(limits: GuardLimits, hidden?: Hidden) {
    this.#limits = limits;
    this.#hidden = hidden;
  }

  /**
   * @param base IRI that relative ones are resolved against
   * @throws ServiceError `TOO_LARGE`, `QUERY_SYNTAX` with line and column, `QUERY_REFUSED`,
   * `UPDATE_REFUSED`, `SPARQL_BUSY`
   */
  async check(query: string, base: string): Promise<GuardedQuery> {
    const scanned = scan(query, this.#limits);
    if (this.#closed)
      throw new ServiceError(
        "SHUTTING_DOWN",
        "The service is stopping. Retry when it has started again.",
      );
    const key = `${base} ${scanned.text}`;
    const checked = this.#passed.get(key) ?? (await this.#parsed({ text: scanned.text, base }));
    if (scanned.text.length <= LONGEST_REMEMBERED) this.#remember(key, checked);
    const { narrowed, columns } = checked;
    const shown = named(narrowed === undefined ? scanned : scan(narrowed, GENERATED), columns);
    const meant = inTotalOrder(plainTokens(shown, oneSpelling));
    const asked = meant === scanned.text ? scanned : scan(meant, GENERATED);
    return { ...checked, text: asked.text, bounded: (rows) => boundRows(asked, rows) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const stopping = new ServiceError(
      "SHUTTING_DOWN",
      "The service is stopping. Retry when it has started again.",
      {},
      { "Retry-After": "5" },
    );
    for (const { reject } of this.#waiting.splice(0)) reject(stopping);
    await this.#end(stopping);
  }

  #remember(key: string, checked: Checked): void {
    this.#passed.delete(key);
    this.#passed.set(key, checked);
    if (this.#passed.size > REMEMBERED) this.#passed.delete(this.#passed.keys().next().value!);
  }

  #parsed(request: GuardRequest): Promise<Checked> {
    if (this.#waiting.length >= this.#limits.SPARQL_QUEUE)
      return Promise.reject(
        new ServiceError(
          "SPARQL_BUSY",
          `More than ${this.#limits.SPARQL_QUEUE} queries wait to be read (SPARQL_QUEUE); ` +
            "try again shortly.",
          {},
          { "Retry-After": "2" },
        ),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running || this.#closed) return;
    clearTimeout(this.#clock);
    const next = this.#waiting.shift();
    if (!next) {
      this.#clock = setTimeout(() => void this.#end(), this.#limits.SPARQL_IDLE).unref();
      return;
    }
    this.#running = next;
    const { SPARQL_PARSE_TIMEOUT: limit } = this.#limits;
    this.#clock = setTimeout(
      () => this.#lost(`takes longer than ${limit} ms to read (SPARQL_PARSE_TIMEOUT)`),
      limit,
    ).unref();
    this.#thread().postMessage(next.request);
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const { SPARQL_MAX_PATTERNS, SPARQL_MAX_OPERATORS, SPARQL_MAX_VALUES, SPARQL_MAX_CLOSURES } =
      this.#limits;
    const worker = new Worker(threadModule("src/services/sparql/guard/thread"), {
      workerData: {
        SPARQL_MAX_PATTERNS,
        SPARQL_MAX_OPERATORS,
        SPARQL_MAX_VALUES,
        SPARQL_MAX_CLOSURES,
        hidden: this.#hidden,
      } satisfies GuardData,
      name: "sparql-guard",
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 8 },
    });
    const current = (act: () => void) => {
      if (worker === this.#worker) act();
    };
    worker.on("message", (reply: GuardReply) => current(() => this.#answered(reply)));
    worker.on("error", () => current(() => this.#lost("is too large for the parser")));
    worker.on("exit", () => current(() => this.#lost("ended its parser")));
    return (this.#worker = worker);
  }

  #answered(reply: GuardReply): void {
    const asked = this.#running;
    this.#running = undefined;
    clearTimeout(this.#clock);
    if ("checked" in reply) asked?.resolve(reply.checked);
    else
      asked?.reject(
        new ServiceError(reply.refusal.code, reply.refusal.message, reply.refusal.extra),
      );
    this.#next();
  }

  /** The query that was being parsed is refused; the others get a new thread. */
  #lost(why: string): void {
    void this.#end(new ServiceError("QUERY_REFUSED", `The query ${why}; write it shorter.`));
    this.#next();
  }

  async #end(reason?: Error): Promise<void> {
    const worker = this.#worker;
    const running = this.#running;
    this.#worker = undefined;
    this.#running = undefined;
    clearTimeout(this.#clock);
    if (reason) running?.reject(reason);
    await worker?.terminate();
  }
}

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
  const guarded = await deps.guard.check(query, base);
  const format = formatFor(guarded.form);
  const graphs = datasetOf(dataset, guarded.from, deps.baseUrl());
  const sequence = await deps.records.sequence();
  const most = Math.min(rows ?? Infinity, deps.config.SPARQL_MAX_ROWS);
  const text = guarded.form === "SELECT" ? guarded.bounded(most + 1) : guarded.text;
  const graph = guarded.form === "CONSTRUCT" || guarded.form === "DESCRIBE";
  try {
    return await deps.openQueries.ask(
      { query: text, format, graph, base, sequence, ...(graphs && { dataset: graphs }) },
      { caller, shared, admit, ...(signal && { signal }) },
    );
  } catch (error) {
    const weight = error instanceof ServiceError ? STRIKES.get(error.code) : undefined;
    if (weight !== undefined && !shared && (weight === 1 || !anonymous))
      deps.penalties.strike(caller, weight);
    throw error;
  }
}

/** Time in which a second query that exceeded a limit counts as a repetition. */
const MEMORY = 600_000;
/** Queries of that kind that are tolerated. */
const LENIENCE = 1;
const LONGEST = 3_600_000;
const MOST_CALLERS = 10_000;

interface Record {
  strikes: number;
  last: number;
  until: number;
}

/** Callers who must wait because their queries exceeded a limit repeatedly, on any node. */
export class Penalties {
  readonly #callers = new Map<string, Record>();

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
    if (theirs && theirs.last > (this.#callers.get(caller)?.last ?? Number.NEGATIVE_INFINITY))
      this.#keep(caller, theirs);
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  check(caller: string, now = Date.now()): void {
    const until = this.#callers.get(caller)?.until ?? 0;
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
    const known = this.#callers.get(caller);
    const strikes =
      known && now - known.last < MEMORY + this.#penalty ? known.strikes + weight : weight;
    const until =
      strikes <= LENIENCE
        ? 0
        : now + Math.min(this.#penalty * 2 ** (Math.ceil(strikes) - LENIENCE - 1), LONGEST);
    this.#keep(caller, { strikes, last: now, until });
    void this.#memory.remember(
      `penalty ${caller}`,
      JSON.stringify({ strikes, last: now, until } satisfies Record),
      Math.max(until - now, 0) + MEMORY + this.#penalty,
    );
  }

  #keep(caller: string, record: Record): void {
    this.#callers.delete(caller);
    // Drops the caller without an offence for the longest time: a flood of addresses must not free
    // a caller who must wait.
    if (this.#callers.size >= MOST_CALLERS)
      this.#callers.delete(this.#callers.keys().next().value!);
    this.#callers.set(caller, record);
  }
}
