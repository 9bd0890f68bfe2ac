import type { ServiceError } from "../../../errors.js";
import { iriTerm } from "../port.js";
import {
  away,
  LOOK,
  POSITION_GRAPH,
  type Position,
  type Sight,
  type SparqlHttp,
  sightIn,
} from "./client.js";

const JSON_RESULTS = "application/sparql-results+json";
/** IRIs of one question. */
const CHUNK = 500;

interface Rows {
  boolean?: boolean;
  results?: { bindings: { g: { value: string } }[] };
}

async function rows(http: SparqlHttp, query: string, timeout: number): Promise<Rows> {
  return JSON.parse(
    await http.text(query, { accept: JSON_RESULTS, timeout, setting: "PROJECTION_TIMEOUT" }),
  ) as Rows;
}

export const look = async (http: SparqlHttp, timeout: number): Promise<Sight> =>
  sightIn(await http.text(LOOK, { accept: JSON_RESULTS, timeout }));

/** True when any named graph holds anything. */
export const holdsAnything = async (http: SparqlHttp, timeout: number): Promise<boolean> =>
  (await rows(http, "ASK { GRAPH ?g { ?s ?p ?o } }", timeout)).boolean === true;

/** Returns those of the graphs that hold something. */
export async function graphsAmong(
  http: SparqlHttp,
  graphs: readonly string[],
  timeout: number,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (let start = 0; start < graphs.length; start += CHUNK) {
    const values = graphs
      .slice(start, start + CHUNK)
      .map(iriTerm)
      .join(" ");
    const { results } = await rows(
      http,
      `SELECT ?g { VALUES ?g { ${values} } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }`,
      timeout,
    );
    for (const { g } of results?.bindings ?? []) found.add(g.value);
  }
  return found;
}

/** Some of the graphs that hold something, the projection's own left out. */
export async function someGraphs(
  http: SparqlHttp,
  limit: number,
  timeout: number,
): Promise<string[]> {
  const { results } = await rows(
    http,
    `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(?g != <${POSITION_GRAPH}>) } LIMIT ${limit}`,
    timeout,
  );
  return (results?.bindings ?? []).map(({ g }) => g.value);
}

const NO_UNION =
  "its default graph does not show what its named graphs hold. Oxigraph: start it with " +
  "--union-default-graph, or end SPARQL_QUERY_URL with ?union-default-graph; Fuseki: set " +
  "tdb2:unionDefaultGraph true";

/**
 * The known state of the endpoint: the position of its graphs, and whether it can be queried at
 * all.
 */
export class Watch {
  #position: Position | undefined;
  #seenAt = 0;
  #error: Error | undefined;
  #problem: string | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  readonly #http: SparqlHttp;
  readonly #timeout: number;
  readonly #onSeen: () => void;

  /** @param onSeen called after each poll, and with each report of the projector */
  constructor(http: SparqlHttp, timeout: number, onSeen: () => void) {
    this.#http = http;
    this.#timeout = timeout;
    this.#onSeen = onSeen;
  }

  /**
   * The position at the last poll; `undefined` before the first poll and while the endpoint holds
   * no data of ours.
   */
  get position(): Position | undefined {
    return this.#position;
  }

  /** ms since it was seen. */
  get age(): number {
    return performance.now() - this.#seenAt;
  }

  /** The position while the graphs may be read. */
  get filled(): Position | undefined {
    return this.#position?.phase === "done" ? this.#position : undefined;
  }

  /**
   * Why it cannot be queried: it was unavailable at the last poll, or is not set up as required.
   */
  get error(): ServiceError | undefined {
    if (this.#error)
      return this.#error.name === "ServiceError"
        ? (this.#error as ServiceError)
        : away("it does not understand a simple query");
    return this.#problem === undefined ? undefined : away(this.#problem);
  }

  /** A problem that only the projector can find. */
  set problem(problem: string | undefined) {
    this.#problem = problem;
    this.#onSeen();
  }

  /** The projector has seen it there. */
  note(position: Position): void {
    this.#position = position;
    this.#seenAt = performance.now();
    this.#onSeen();
  }

  /**
   * Begins a new poll: one that is already under way does not count. Never throws; see
   * {@link error}.
   */
  look(): Promise<void> {
    if (!this.#running)
      return (this.#running = this.#look().finally(() => (this.#running = undefined)));
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.look();
    });
    return this.#next;
  }

  async #look(): Promise<void> {
    let sight: Sight;
    try {
      sight = await look(this.#http, this.#timeout);
    } catch (error) {
      this.#error = error as Error;
      return this.#onSeen();
    }
    this.#error = sight.union ? undefined : away(NO_UNION);
    this.#position = sight.positions.length === 1 ? sight.positions[0] : undefined;
    this.#seenAt = performance.now();
    this.#onSeen();
  }
}
