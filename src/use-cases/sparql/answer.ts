import { ServiceError } from "../../errors.js";
import type { Config } from "../../config.js";
import type { GraphFormat, OpenAnswer, OpenQueries, ResultFormat } from "../../stores/queries/open-port.js";
import type { RecordStore } from "../../stores/records/port.js";
import { datasetOf, type GraphNames } from "./dataset.js";
import type { Checked } from "./guard/check.js";
import type { QueryGuard } from "./guard/index.js";
import type { Penalties } from "./penalties.js";

export interface SparqlDeps {
  records: Pick<RecordStore, "sequence">;
  openQueries: OpenQueries;
  guard: QueryGuard;
  penalties: Penalties;
  config: Pick<Config, "SPARQL_MAX_ROWS">;
  baseUrl: () => string;
}

export interface SparqlRequest {
  query: string;
  /** Graphs that the protocol names; they take the place of FROM. */
  dataset: GraphNames;
  /** Whose query it is: the user, or the address. */
  caller: string;
  /** Others may come from the same address: nobody is penalised for what one of them asks. */
  shared: boolean;
  /** Chooses the form of the answer once the form of the query is known. @throws ServiceError `NOT_ACCEPTABLE` */
  formatFor(form: Checked["form"]): ResultFormat | GraphFormat;
  /** Ends the wait of a caller who has gone. */
  signal?: AbortSignal;
}

/**
 * What a caller's query may run into again and again, and how much it counts. An engine that fails may itself be at
 * fault: nobody is blamed for a few of those, but one caller must not end threads for ever.
 */
const STRIKES: ReadonlyMap<string, number> = new Map([["QUERY_TIMEOUT", 1], ["QUERY_MEMORY", 1], ["QUERY_FAILED", 0.25]]);

/**
 * Answers a query of anyone about what is public. Every write that was answered before the query came is seen.
 * @throws ServiceError as {@link QueryGuard.check} and {@link OpenQueries.ask}; `TOO_MANY_REQUESTS`
 */
export async function answerQuery({ query, dataset, caller, shared, formatFor, signal }: SparqlRequest, deps: SparqlDeps): Promise<OpenAnswer> {
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
  const text = guarded.form === "SELECT" ? guarded.bounded(deps.config.SPARQL_MAX_ROWS + 1) : guarded.text;
  const graph = guarded.form === "CONSTRUCT" || guarded.form === "DESCRIBE";
  try {
    return await deps.openQueries.ask({ query: text, format, graph, base, sequence, ...(graphs && { dataset: graphs }) }, { caller, shared, admit, ...(signal && { signal }) });
  } catch (error) {
    const weight = error instanceof ServiceError ? STRIKES.get(error.code) : undefined;
    if (!shared && weight !== undefined) deps.penalties.strike(caller, weight);
    throw error;
  }
}
