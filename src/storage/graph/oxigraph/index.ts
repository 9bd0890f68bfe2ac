/** The graph index in threads of this process: how they are started, asked and restarted. */
import { ServiceError } from "../../../errors.js";
import {
  type GraphDigest,
  type IndexState,
  type QueryEngine,
  type QueryOptions,
  silent,
} from "../port.js";
import { Arrivals, stopping } from "../waiting.js";
import {
  DEFAULTS,
  engineThread,
  type Job,
  LEAST_REWRITES,
  type Loss,
  type OxigraphOptions,
  type ThreadEvents,
  ThreadHandle,
  WASTE_PER_REWRITE,
} from "./thread-handle.js";

/** ms between two announcements: under a stream of commits they are read in batches. */
const EACH = 40;

/**
 * Announces the newest commit: at once when it is the first for a while or when a caller waits for
 * it, else soon.
 */
export class Announcements {
  latest = 0;
  #at = Number.NEGATIVE_INFINITY;
  #next: NodeJS.Timeout | undefined;

  readonly #report: (sequence: number) => void;

  constructor(report: (sequence: number) => void) {
    this.#report = report;
  }

  soon(sequence: number): void {
    this.latest = Math.max(this.latest, sequence);
    if (this.#next) return;
    const wait = this.#at + EACH - performance.now();
    if (wait > 0) this.#next = setTimeout(() => this.#announce(), wait).unref();
    else this.#announce();
  }

  now(sequence: number): void {
    this.latest = Math.max(this.latest, sequence);
    this.#announce();
  }

  close(): void {
    clearTimeout(this.#next);
  }

  #announce(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
    this.#at = performance.now();
    this.#report(this.latest);
  }
}

/** ms before a thread that was lost while loading is started again; doubled up to the last. */
const FIRST_BACKOFF = 200;
const LAST_BACKOFF = 30_000;
/** Lost threads that a query survives; the next one ends it too. */
const MAX_ATTEMPTS = 2;

type Whole = Required<Omit<OxigraphOptions, "rebuildAfter">> &
  Pick<OxigraphOptions, "rebuildAfter">;

/**
 * The thread that answers, the one that may be loading to replace it, and the queries that wait for
 * either.
 */
class Threads {
  everLoaded = false;
  #suggested = false;
  #current: ThreadHandle | undefined;
  #successor: ThreadHandle | undefined;
  /** The last one replaced; it may still be answering. */
  #retired: ThreadHandle | undefined;
  /** Highest sequence that any caller received from a thread that was replaced or lost. */
  #reported = 0;
  /** Rewrites from which a rebuild may be tried, after one that failed. */
  #rebuildFrom = 0;
  #backoff = 0;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #waiting = new Map<Job, NodeJS.Timeout>();
  /** Commits of the record store. */
  readonly commits = new Announcements((sequence) => {
    this.#current?.advance(sequence);
    this.#successor?.advance(sequence);
  });
  readonly #events: ThreadEvents = {
    onProgress: () => {},
    onReached: (handle) => this.#reached(handle),
    onLost: (handle, loss) => this.#lost(handle, loss),
  };

  readonly #options: Whole;
  readonly #onSequence: (sequence: number) => void;

  constructor(options: Whole, onSequence: (sequence: number) => void) {
    this.#options = options;
    this.#onSequence = onSequence;
  }

  /** Starts the first thread. Until then the index counts as loading. */
  start(): void {
    if (this.#closed || this.#current) return;
    this.#startCurrent();
  }

  run(job: Job): void {
    if (this.#closed) return job.reject(this.unavailable());
    if (this.#current?.loaded && !this.#isBehind(this.#current)) return this.#current.send(job);
    if (!this.everLoaded) return job.reject(this.unavailable());
    // The index is loading again, or a commit behind: most loads are shorter than a caller waits.
    this.#waiting.set(
      job,
      setTimeout(() => {
        this.#waiting.delete(job);
        job.reject(this.unavailable());
      }, this.#options.indexWait),
    );
  }

  state(): IndexState {
    if (this.#closed) return { state: "stopped", sequence: 0 };
    const handle = this.#current;
    const advice = this.#advice();
    return handle?.loaded
      ? { state: "ready", sequence: handle.sequence, ...advice }
      : {
          state: "loading",
          sequence: 0,
          done: handle?.done ?? 0,
          total: handle?.total ?? 0,
          ...advice,
        };
  }

  /** It names the one setting that helps, also while so many records are still being loaded. */
  #advice(): Pick<IndexState, "advice"> {
    const { loaded = false, records = 0, total = 0 } = this.#current ?? {};
    const held = loaded ? records : total;
    if (held <= this.#options.outgrown) return {};
    return {
      advice:
        `The embedded graph engine is meant for up to ${this.#options.outgrown} records and has ` +
        `${held}: set GRAPH_ENGINE=oxigraph to store the graph on disk.`,
    };
  }

  /** Why no query can be answered now. */
  unavailable(): ServiceError {
    const { state, done = 0, total = 0 } = this.state();
    if (state === "stopped") return stopping("graph index");
    return new ServiceError(
      "INDEX_LOADING",
      `The graph index is being loaded (${done} of ${total} records); try again shortly.`,
      { done, total },
      { "Retry-After": "2" },
    );
  }

  /**
   * Bytes of the whole graph in an Oxigraph store, as far as it has been read: without the memory
   * lost to rewrites and queries.
   */
  held(): number {
    const handle = this.#current;
    return handle ? handle.held - handle.rewrites * WASTE_PER_REWRITE : 0;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    this.commits.close();
    const stopping = this.unavailable();
    for (const [job, clock] of this.#waiting) {
      clearTimeout(clock);
      job.reject(stopping);
    }
    this.#waiting.clear();
    const left = await Promise.all([
      this.#current?.end(),
      this.#successor?.end(),
      this.#retired?.end(),
    ]);
    for (const job of left.flat()) job?.reject(stopping);
  }

  #startCurrent(): void {
    try {
      this.#current = this.#start();
    } catch (error) {
      this.#restartLater((error as Error).message);
    }
  }

  #start(): ThreadHandle {
    const { openFeed, pageSize, log } = this.#options;
    const handle = new ThreadHandle(engineThread(openFeed(), pageSize), this.#events, log);
    if (this.commits.latest > 0) handle.advance(this.commits.latest);
    return handle;
  }

  #reached(handle: ThreadHandle): void {
    if (handle === this.#successor && handle.sequence >= (this.#current?.reported ?? 0))
      this.#takeOver(handle);
    if (handle !== this.#current) return;
    this.#backoff = 0;
    if (!this.everLoaded)
      this.#options.log.info(
        { records: handle.done, sequence: handle.sequence },
        "graph index loaded",
      );
    this.everLoaded = true;
    this.#suggestServer();
    if (!this.#isBehind(handle)) {
      for (const [job, clock] of this.#waiting) {
        clearTimeout(clock);
        handle.send(job);
      }
      this.#waiting.clear();
    }
    this.#onSequence(handle.sequence);
    const { rebuildAfter } = this.#options;
    if (handle.isWorn(rebuildAfter) && handle.rewrites >= this.#rebuildFrom && !this.#successor)
      this.#rebuild(handle);
  }

  /**
   * A replaced thread may still answer questions that it received before. No caller may get an
   * older state after that.
   */
  #isBehind(handle: ThreadHandle): boolean {
    this.#reported = Math.max(this.#reported, this.#retired?.reported ?? 0);
    if (handle.reported >= this.#reported) return false;
    handle.advance(this.#reported);
    return true;
  }

  /** Once: the log is not the place to look for what holds all the time. */
  #suggestServer(): void {
    const { advice } = this.state();
    if (this.#suggested || advice === undefined) return;
    this.#suggested = true;
    this.#options.log.warn({ records: this.#current?.records }, advice);
  }

  #rebuild(worn: ThreadHandle): void {
    this.#options.log.info(
      { rewrites: worn.rewrites },
      "graph index is being rebuilt to release memory",
    );
    this.#rebuildFrom = worn.rewrites + (this.#options.rebuildAfter ?? LEAST_REWRITES);
    try {
      this.#successor = this.#start();
    } catch (error) {
      this.#options.log.warn(
        { reason: (error as Error).message },
        "graph index could not be rebuilt; the old one stays in use",
      );
    }
  }

  /** The old thread answers its open questions, then ends: no query is interrupted. */
  #takeOver(handle: ThreadHandle): void {
    const old = this.#current;
    this.#current = handle;
    this.#successor = undefined;
    this.#rebuildFrom = 0;
    this.#retired = old;
    old?.retire();
  }

  #lost(handle: ThreadHandle, { reason, timedOut, guilty, innocent }: Loss): void {
    if (this.#closed) {
      for (const job of [guilty, ...innocent]) job?.reject(this.unavailable());
      return;
    }
    if (handle === this.#current) {
      this.#reported = Math.max(this.#reported, handle.reported);
      // A successor that is loading already is further than a new thread would be.
      this.#current = this.#successor;
      this.#successor = undefined;
      this.#rebuildFrom = 0;
      if (this.#current) {
        this.#options.log.warn(
          { reason },
          "graph index thread ended unexpectedly; a new one takes over when it is loaded",
        );
      } else if (timedOut) {
        this.#options.log.warn({ reason }, "graph index thread was ended; a new one is loading");
        this.#startCurrent();
      } else {
        this.#restartLater(reason);
      }
    } else if (handle === this.#successor) {
      this.#successor = undefined;
      this.#options.log.warn(
        { reason },
        "graph index could not be rebuilt; the old one stays in use",
      );
    }
    if (!timedOut)
      guilty?.reject(
        new ServiceError(
          "STORE_UNAVAILABLE",
          "The query crashed the graph engine, which is restarting; ask for less at a time.",
          {},
          { "Retry-After": "2" },
        ),
      );
    for (const job of innocent) {
      if (++job.attempts < MAX_ATTEMPTS) this.run(job);
      else job.reject(this.unavailable());
    }
  }

  #restartLater(reason: string): void {
    this.#backoff = Math.min(this.#backoff === 0 ? FIRST_BACKOFF : this.#backoff * 2, LAST_BACKOFF);
    this.#options.log.error(
      { reason, again: this.#backoff },
      "graph index thread ended unexpectedly; a new one starts after a pause",
    );
    this.#restart = setTimeout(() => this.#startCurrent(), this.#backoff);
  }
}

/** {@link QueryEngine} on Oxigraph, in a thread that is started again whenever it ends. */
export class OxigraphEngine implements QueryEngine {
  readonly #queryTimeout: number;
  readonly #threads: Threads;
  readonly #arrivals: Arrivals;

  constructor(options: OxigraphOptions) {
    const whole = { ...DEFAULTS, log: silent, ...options };
    this.#queryTimeout = whole.queryTimeout;
    this.#arrivals = new Arrivals(() => this.state());
    this.#threads = new Threads(whole, (sequence) => this.#arrivals.arrived(sequence));
  }

  /** Begins to load; until this is called every question is refused as while loading. */
  start(): void {
    this.#threads.start();
  }

  advance(sequence: number): void {
    this.#threads.commits.soon(sequence);
  }

  async reach(sequence: number, wait: number): Promise<void> {
    const { state, sequence: reached } = this.state();
    if (state === "ready" && reached >= sequence) return;
    if (state === "stopped") throw this.#threads.unavailable();
    // A small registry loads well within the wait, so its callers get no error.
    this.#threads.commits.now(sequence);
    await this.#arrivals.wait(sequence, wait, () => this.#threads.unavailable());
  }

  state(): IndexState {
    return this.#threads.state();
  }

  /**
   * Bytes of the whole graph in an Oxigraph store, as far as it has been read: another one needs at
   * least as many.
   */
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

  async table(
    query: string,
    options: QueryOptions = {},
  ): Promise<{ tsv: string; sequence: number }> {
    const { text: tsv, sequence } = await this.text(query, "tsv", options);
    return { tsv, sequence };
  }

  /**
   * Any query, answered as text.
   * @param format `json`, `xml`, `csv`, `tsv` for SELECT and ASK; `nt`, `ttl` … for CONSTRUCT and
   * DESCRIBE
   */
  async text(
    query: string,
    format: string,
    options: QueryOptions = {},
  ): Promise<{ text: string; sequence: number }> {
    const reply = await this.#run(
      { op: "query", query, format },
      options.timeout ?? this.#queryTimeout,
    );
    return reply as Extract<typeof reply, { op: "answer" }>;
  }

  async digest(): Promise<GraphDigest> {
    const reply = await this.#run({ op: "digest" });
    const { digest, quads, sequence } = reply as Extract<typeof reply, { op: "digested" }>;
    return { digest, quads, sequence };
  }

  #run(ask: Job["ask"], timeout?: number): Promise<Parameters<Job["resolve"]>[0]> {
    return new Promise((resolve, reject) =>
      this.#threads.run({
        ask,
        ...(timeout !== undefined && { timeout }),
        attempts: 0,
        resolve,
        reject,
      }),
    );
  }
}

export { OpenEngine } from "./open/engine.js";
export { openRecordsDigester } from "./records-digester.js";
export type { OpenOptions } from "./open/engine.js";
export type { EngineLog } from "../port.js";
export type { OxigraphOptions } from "./thread-handle.js";

/**
 * Opens the graph index. Returns at once: loading goes on in its own thread, and until it is done
 * every question is refused with `INDEX_LOADING` and the progress.
 */
export async function openOxigraphEngine(options: OxigraphOptions): Promise<OxigraphEngine> {
  const engine = new OxigraphEngine(options);
  engine.start();
  return engine;
}
