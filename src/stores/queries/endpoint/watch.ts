import type { ServiceError } from "../../../errors.js";
import type { SparqlHttp } from "./http-client.js";
import { look } from "./projector/looks.js";
import type { Position, Sight } from "./position.js";
import { away } from "./refusals.js";

const NO_UNION = "its default graph does not show what its named graphs hold. Oxigraph: start it with --union-default-graph, or end SPARQL_QUERY_URL with ?union-default-graph; Fuseki: set tdb2:unionDefaultGraph true";

/** What is known of the endpoint: where its graphs stand, and whether it can be asked at all. */
export class Watch {
  #position: Position | undefined;
  #seenAt = 0;
  #error: Error | undefined;
  #problem: string | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** @param onSeen told after each look, and what the projector tells */
  constructor(private readonly http: SparqlHttp, private readonly timeout: number, private readonly onSeen: () => void) {}

  /** As it was seen last; `undefined` before the first look and while it holds nothing of ours. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** ms since it was seen. */
  get age(): number {
    return performance.now() - this.#seenAt;
  }

  /** True when the graphs may be read. */
  get filled(): boolean {
    return this.#position?.phase === "done";
  }

  /** Why it cannot be asked: it was away at the last look, or is not as it must be. */
  get error(): ServiceError | undefined {
    if (this.#error) return this.#error.name === "ServiceError" ? this.#error as ServiceError : away("it does not understand a simple query");
    return this.#problem === undefined ? undefined : away(this.#problem);
  }

  /** What the projector found, which only it can tell. */
  set problem(problem: string | undefined) {
    this.#problem = problem;
    this.onSeen();
  }

  /** The projector has seen it there. */
  note(position: Position): void {
    this.#position = position;
    this.#seenAt = performance.now();
    this.onSeen();
  }

  /** Looks from now on: a look that is under way does not count. Never throws; see {@link error}. */
  look(): Promise<void> {
    if (!this.#running) return (this.#running = this.#look().finally(() => (this.#running = undefined)));
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.look();
    });
    return this.#next;
  }

  async #look(): Promise<void> {
    let sight: Sight;
    try {
      sight = await look(this.http, this.timeout);
    } catch (error) {
      this.#error = error as Error;
      return this.onSeen();
    }
    this.#error = sight.union ? undefined : away(NO_UNION);
    this.#position = sight.positions.length === 1 ? sight.positions[0] : undefined;
    this.#seenAt = performance.now();
    this.onSeen();
  }
}
