import type { GraphDigest, IndexState, QueryEngine, QueryOptions, Row } from "../port.js";
import { Arrivals } from "../arrivals.js";
import { Threads } from "./threads.js";
import type { Job } from "./thread-handle.js";
import { silent } from "../log.js";
import { DEFAULTS, type OxigraphOptions } from "./options.js";

/** {@link QueryEngine} on Oxigraph in a thread of its own, which comes back by itself after whatever ends it. */
export class OxigraphEngine implements QueryEngine {
  readonly #options: Required<OxigraphOptions>;
  readonly #threads: Threads;
  readonly #arrivals: Arrivals;

  constructor(options: OxigraphOptions) {
    this.#options = { ...DEFAULTS, log: silent, ...options };
    this.#arrivals = new Arrivals(() => this.state());
    this.#threads = new Threads(this.#options, (sequence) => this.#arrivals.arrived(sequence));
  }

  /** Begins to load; until this is called every question is refused as while loading. */
  start(): void {
    this.#threads.start();
  }

  async select(query: string, options: QueryOptions = {}): Promise<{ rows: Row[]; sequence: number }> {
    const { text, sequence } = await this.text(query, "json", options);
    return { rows: (JSON.parse(text) as { results: { bindings: Row[] } }).results.bindings, sequence };
  }

  async table(query: string, options: QueryOptions = {}): Promise<{ tsv: string; sequence: number }> {
    const { text: tsv, sequence } = await this.text(query, "tsv", options);
    return { tsv, sequence };
  }

  /**
   * Any query, answered as text.
   * @param format `json`, `xml`, `csv`, `tsv` for SELECT and ASK; `nt`, `ttl` … for CONSTRUCT and DESCRIBE
   */
  async text(query: string, format: string, options: QueryOptions = {}): Promise<{ text: string; sequence: number }> {
    const reply = await this.#run({ op: "query", query, format }, options.timeout ?? this.#options.queryTimeout);
    return reply as Extract<typeof reply, { op: "answer" }>;
  }

  async digest(): Promise<GraphDigest> {
    const reply = await this.#run({ op: "digest" });
    const { digest, quads, sequence } = reply as Extract<typeof reply, { op: "digested" }>;
    return { digest, quads, sequence };
  }

  advance(sequence: number): void {
    this.#threads.commits.soon(sequence);
  }

  async reach(sequence: number, wait: number): Promise<void> {
    const { state, sequence: reached } = this.state();
    if (state === "ready" && reached >= sequence) return;
    if (state === "stopped") throw this.#threads.unavailable();
    // A small registry has loaded well within the wait: nobody is sent away for that.
    this.#threads.commits.now(sequence);
    await this.#arrivals.wait(sequence, wait, () => this.#threads.unavailable());
  }

  state(): IndexState {
    return this.#threads.state();
  }

  /** Bytes that the graph takes in an engine, as far as it has been loaded: what another engine needs at the least. */
  held(): number {
    return this.#threads.held();
  }

  async health(): Promise<void> {
    const { state } = this.state();
    // A loading index is healthy: records are served meanwhile.
    if (state === "stopped") throw this.#threads.unavailable();
    if (state === "ready") await this.text("ASK {}", "json");
  }

  async close(): Promise<void> {
    await this.#threads.close();
    this.#arrivals.close(this.#threads.unavailable());
  }

  #run(ask: Job["ask"], timeout?: number): Promise<Parameters<Job["resolve"]>[0]> {
    return new Promise((resolve, reject) => this.#threads.run({ ask, ...(timeout !== undefined && { timeout }), attempts: 0, resolve, reject }));
  }
}
