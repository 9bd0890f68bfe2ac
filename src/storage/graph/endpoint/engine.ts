import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../errors.js";
import type { PoolLoads } from "../../connections.js";
import {
  type GraphDigest,
  type IndexState,
  type QueryEngine,
  type QueryOptions,
  silent,
} from "../port.js";
import { Arrivals, stopping } from "../waiting.js";
import {
  away,
  DEFAULTS,
  type EndpointOptions,
  EndpointRefusal,
  type Position,
  SparqlHttp,
  samePosition,
  type WholeOptions,
} from "./client.js";
import { digestEndpoint } from "./digest.js";
import { Projection } from "./projector/projection.js";
import { rebuildUpdate } from "./projector/updates.js";
import { Watch } from "./watch.js";

/** Times a query is repeated because the graphs changed under it. */
const TRIES = 3;
/** ms after which a poll is too old to depend on, and ms between polls while callers wait. */
const FRESH = 1_000;
const STEP = 20;

/** {@link QueryEngine} on a SPARQL 1.1 endpoint, which one node at a time keeps up to date. */
export class EndpointEngine implements QueryEngine {
  readonly #options: WholeOptions;
  readonly #http: SparqlHttp;
  readonly #polls: SparqlHttp;
  readonly #watch: Watch;
  readonly #arrivals: Arrivals;
  readonly #projection: Projection;
  #clock: NodeJS.Timeout | undefined;
  #reported: string | undefined;
  #closed = false;

  constructor(options: EndpointOptions) {
    this.#options = { ...DEFAULTS, log: silent, ...options };
    this.#http = new SparqlHttp(options, this.#options.pool);
    this.#arrivals = new Arrivals(() =>
      this.#watch.error && !this.#closed ? { state: "loading", sequence: 0 } : this.state(),
    );
    // Polls do not wait for the connections of queries.
    this.#polls = new SparqlHttp(options, 1);
    this.#watch = new Watch(this.#polls, this.#options.queryTimeout, () => this.#seen());
    this.#projection = new Projection(this.#options, this.#watch);
  }

  /** Begins to poll the endpoint, and to project when no other node does. */
  start(): void {
    void this.#look();
    void this.#projection.start();
  }

  pools(): PoolLoads {
    return { sparql: this.#http.load(), sparql_polls: this.#polls.load() };
  }

  async table(
    query: string,
    { timeout = this.#options.queryTimeout }: QueryOptions = {},
  ): Promise<{ tsv: string; sequence: number }> {
    const accept = "text/tab-separated-values";
    try {
      const { value: tsv, sequence } = await this.asOf(() =>
        this.#http.text(query, { accept, timeout }),
      );
      return { tsv, sequence };
    } catch (error) {
      if (error instanceof EndpointRefusal)
        throw new ServiceError("BAD_REQUEST", `The query was refused: ${error.message}`);
      throw error;
    }
  }

  /**
   * Asks the endpoint and returns the value with its sequence. The question is repeated while the
   * position differs before and after it. While commits come faster than answers, the sequence is
   * that of the last commit that the value holds for certain.
   * @param most times it is asked at the most
   */
  async asOf<T>(ask: () => Promise<T>, most = TRIES): Promise<{ value: T; sequence: number }> {
    for (let tries = 1; ; tries++) {
      const before = await this.#readable();
      const value = await ask();
      await this.#watch.look();
      const after = this.#readableNow();
      if ((before.part === 0 && samePosition(before, after)) || tries >= most)
        return { value, sequence: Math.min(before.sequence, after.sequence) };
    }
  }

  digest(): Promise<GraphDigest> {
    return digestEndpoint(this.#http, (ask) => this.asOf(ask));
  }

  advance(sequence: number): void {
    this.#projection.advance(sequence);
  }

  async reach(sequence: number, wait: number): Promise<void> {
    if (this.#closed) throw stopping("graph index");
    if (this.#reached() >= sequence && !this.#watch.error) return;
    this.advance(sequence);
    const arrived = this.#arrivals.wait(sequence, wait, () => this.#unavailable());
    let waiting = true;
    void (async () => {
      // The projecting node knows the new position at once. Other nodes poll for it, once for all
      // waiting callers.
      while (waiting && !this.#closed) {
        await this.#watch.look();
        await pause(STEP);
      }
    })();
    try {
      await arrived;
    } finally {
      waiting = false;
    }
  }

  state(): IndexState {
    if (this.#closed) return { state: "stopped", sequence: 0 };
    const { filled } = this.#watch;
    if (filled) return { state: "ready", sequence: filled.sequence };
    return { state: "loading", sequence: 0, ...this.#projection.progress };
  }

  async health(): Promise<void> {
    if (this.#closed) throw stopping("graph index");
    // What was seen a moment ago is as good as a poll of its own, which would wait for a busy
    // endpoint; one that answers late is busy, not unavailable.
    if (this.#watch.age > FRESH || this.#watch.error) await this.#watch.look();
    const { error } = this.#watch;
    if (error && error.code !== "QUERY_TIMEOUT") throw error;
  }

  /**
   * Empties the endpoint, including foreign data, and fills it from the record store; resolves when
   * that has begun.
   */
  async rebuild(): Promise<void> {
    const source = await this.#options.source();
    await this.#http.update(rebuildUpdate(source), { timeout: this.#options.timeout });
    await this.#watch.look();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#clock);
    this.#arrivals.close(stopping("graph index"));
    await this.#projection.close();
    this.#http.close();
    this.#polls.close();
  }

  #reached(): number {
    return this.#watch.filled?.sequence ?? -1;
  }

  #seen(): void {
    const { error, filled } = this.#watch;
    if (error?.message !== this.#reported) {
      if (error)
        this.#options.log.error(
          { reason: error.message },
          "the SPARQL endpoint cannot be used; records are served without it",
        );
      else this.#options.log.info({}, "the SPARQL endpoint answers");
      this.#reported = error?.message;
    }
    if (!error && filled) this.#arrivals.arrived(filled.sequence);
  }

  /** Polls at intervals, so that the reported state of the endpoint is close to its real state. */
  async #look(): Promise<void> {
    if (this.#watch.age > FRESH / 2 || this.#watch.error) await this.#watch.look();
    if (!this.#closed) this.#clock = setTimeout(() => void this.#look(), FRESH / 2).unref();
  }

  /**
   * The endpoint's position, once it may be read and, if that is soon, no commit is half applied.
   */
  async #readable(): Promise<Position> {
    const until = performance.now() + this.#options.indexWait;
    if (this.#watch.age > FRESH || this.#watch.error || !this.#watch.filled)
      await this.#watch.look();
    let position = this.#readableNow();
    while (position.part > 0 && performance.now() < until) {
      await pause(STEP);
      await this.#watch.look();
      position = this.#readableNow();
    }
    return position;
  }

  #readableNow(): Position {
    const { error, filled } = this.#watch;
    if (this.#closed || error || !filled) throw this.#unavailable();
    return filled;
  }

  #unavailable(): ServiceError {
    if (this.#closed) return stopping("graph index");
    if (this.#watch.error) return this.#watch.error;
    if (this.#watch.filled) return away("it is behind");
    const { done, total } = this.#projection.progress;
    return new ServiceError(
      "INDEX_LOADING",
      `The SPARQL endpoint is being filled (${done} of ${total} records); try again shortly.`,
      { done, total },
      { "Retry-After": "2" },
    );
  }
}
