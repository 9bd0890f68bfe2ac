import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import { inferredGraph } from "../../model/provenance.js";
import {
  type GraphFormat,
  isIri,
  type OpenAnswer,
  type OpenQueries,
  type ResultFormat,
} from "../../storage/graph/port.js";
import type { RecordStore } from "../../storage/records/port.js";
import type { SharedMemory } from "../../storage/shared/port.js";
import type { Checked } from "./guard/check.js";
import type { QueryGuard } from "./guard/guard.js";

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
 * may itself be at fault: a few such failures are not held against the caller, but one caller must
 * not end threads for ever.
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
  { query, dataset, caller, shared, formatFor, rows, signal }: SparqlRequest,
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
    if (!shared && weight !== undefined) deps.penalties.strike(caller, weight);
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
