import type { MessagePort } from "node:worker_threads";
import { ServiceError } from "../../../../errors.js";
import {
  type Asker,
  type EngineLog,
  type OpenAnswer,
  type OpenQueries,
  type OpenQuestion,
  silent,
} from "../../port.js";
import { Arrivals, FairLine, stopping } from "../../waiting.js";
import { type Loss, ThreadHandle } from "../thread-handle.js";
import { EngineProcess } from "./engine-process.js";

/** Why a lane has ended, for later queries. */
interface LaneLoss {
  reason: string;
  timedOut: boolean;
  outOfMemory: boolean;
  loaded: boolean;
}

interface LaneEvents {
  /** It has loaded, or has answered: it can take a query. */
  onFree(lane: Lane): void;
  onLost(lane: Lane, loss: LaneLoss): void;
}

const FAILED =
  "The query engine failed while it answered the query, and is restarting. If it fails " +
  "again, write the query differently, and report it to the operator.";

/**
 * One process for users' queries: it runs one query at a time, so that the end of one query ends no
 * other.
 */
class Lane {
  busy = false;
  readonly #handle: ThreadHandle;
  readonly #arrivals: Arrivals;
  #idle: NodeJS.Timeout | undefined;

  readonly #options: Whole;
  readonly #events: LaneEvents;

  constructor(options: Whole, events: LaneEvents, log: EngineLog) {
    this.#options = options;
    this.#events = events;

    this.#arrivals = new Arrivals(() => ({
      state: this.loaded ? "ready" : "loading",
      sequence: this.#handle.sequence,
    }));
    const { openFeed, pageSize, memory } = options;
    this.#handle = new ThreadHandle(
      new EngineProcess(openFeed(), { pageSize, memory }),
      {
        onProgress: () => {},
        onReached: () => this.#reached(),
        onLost: (_handle, loss) => this.#lost(loss),
      },
      log,
    );
  }

  get loaded(): boolean {
    return this.#handle.loaded;
  }

  get free(): boolean {
    return this.loaded && !this.busy;
  }

  get progress(): { done: number; total: number } {
    return { done: this.#handle.done, total: this.#handle.total };
  }

  /** Rewritten so often that its memory is mostly waste. */
  get worn(): boolean {
    return this.#handle.isWorn(this.#options.rebuildAfter);
  }

  advance(sequence: number): void {
    // A process in the middle of a query would only pile them up.
    if (this.free) this.#handle.advance(sequence);
  }

  /**
   * @param ending ends the query, with its process if it runs already
   * @throws as {@link import("../../port.js").OpenQueries.ask}
   */
  async ask({ sequence, ...question }: OpenQuestion, ending: AbortSignal): Promise<OpenAnswer> {
    this.busy = true;
    clearTimeout(this.#idle);
    this.#idle = undefined;
    const end = (): void => this.#handle.stop(ending.reason as Error);
    ending.addEventListener("abort", end, { once: true });
    try {
      if (this.#handle.sequence < sequence) {
        this.#handle.advance(sequence);
        await this.#arrivals.wait(
          sequence,
          this.#options.indexWait,
          () => new ServiceError("INDEX_LOADING", "The graph is being loaded; try again shortly."),
        );
      }
      ending.throwIfAborted();
      return await new Promise<OpenAnswer>((resolve, reject) =>
        this.#handle.send({
          ask: {
            op: "ask",
            question,
            maxRows: this.#options.maxRows,
            maxBytes: this.#options.maxBytes,
          },
          timeout: this.#options.timeout,
          setting: "SPARQL_TIMEOUT",
          attempts: 0,
          reject,
          resolve: (reply) => resolve(reply as OpenAnswer),
        }),
      );
    } finally {
      ending.removeEventListener("abort", end);
      this.busy = false;
      this.#rest();
    }
  }

  async end(reason?: ServiceError): Promise<void> {
    clearTimeout(this.#idle);
    if (reason) this.#arrivals.close(reason);
    for (const job of await this.#handle.end()) if (reason) job.reject(reason);
  }

  #tooMuch(): ServiceError {
    const message =
      `The query needed more memory than its process has (SPARQL_MEMORY=${this.#options.memory} ` +
      "bytes) and was ended; ask for less at a time.";
    return new ServiceError("QUERY_MEMORY", message, {}, { "Retry-After": "5" });
  }

  #reached(): void {
    this.#arrivals.arrived(this.#handle.sequence);
    if (this.busy) return;
    this.#rest();
    this.#events.onFree(this);
  }

  /** From the last answer on: commits meanwhile are no reason to stay. */
  #rest(): void {
    this.#idle ??= setTimeout(() => {
      void this.end();
      this.#events.onLost(this, {
        reason: "idle",
        timedOut: false,
        outOfMemory: false,
        loaded: true,
      });
    }, this.#options.idle).unref();
  }

  #lost({ reason, timedOut, outOfMemory, guilty }: Loss): void {
    clearTimeout(this.#idle);
    const { loaded } = this;
    this.#events.onLost(this, { reason, timedOut, outOfMemory, loaded });
    guilty?.reject(
      outOfMemory
        ? this.#tooMuch()
        : new ServiceError("QUERY_FAILED", FAILED, {}, { "Retry-After": "5" }),
    );
    this.#arrivals.close(
      new ServiceError(
        "INDEX_LOADING",
        "The graph is being reloaded; try again shortly.",
        {},
        { "Retry-After": "2" },
      ),
    );
  }
}

/**
 * ms before a graph that did not fit is tried again, and ms before a retry when the record store
 * could not be read.
 */
const OUTGROWN_FOR = 300_000;
const UNREADABLE_FOR = 2_000;
const unreadable = (): ServiceError =>
  new ServiceError(
    "STORE_UNAVAILABLE",
    "The records cannot be read for queries now; try again shortly.",
    {},
    { "Retry-After": "2" },
  );

/**
 * {@link OpenQueries} on Oxigraph: processes of its own, started when a query comes and none is free,
 * ended when idle. Queries wait here and not in a process, so the end of one costs a waiting
 * query nothing but time.
 */
export class OpenEngine implements OpenQueries {
  readonly #options: Whole;
  readonly #lanes = new Set<Lane>();
  readonly #line: FairLine;
  #sequence = 0;
  #closed = false;
  #barred: { until: number; error: ServiceError } | undefined;

  constructor(options: OpenOptions) {
    this.#options = {
      log: silent,
      needs: () => 0,
      pageSize: 500,
      ...options,
    };
    this.#line = new FairLine({
      ...options,
      slots: options.threads,
      ready: () => this.#loaded(),
      what: "process",
      late: () => this.#late(),
    });
  }

  async ask(question: OpenQuestion, asker: Asker = {}): Promise<OpenAnswer> {
    const refused = this.#refuses();
    if (refused) throw refused;
    const answer = this.#line.run(asker, (ending) => this.#answer(question, ending));
    this.#serve();
    try {
      return await answer;
    } finally {
      this.#serve();
    }
  }

  advance(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
    for (const lane of this.#lanes) lane.advance(this.#sequence);
  }

  state(): { threads: number; waiting: number } {
    return { threads: this.#lanes.size, waiting: this.#line.length };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const reason = stopping("service");
    this.#line.dismiss(reason);
    await Promise.all([...this.#lanes].map((lane) => lane.end(reason)));
    this.#lanes.clear();
  }

  #refuses(): ServiceError | undefined {
    if (this.#closed) return stopping("service");
    if (this.#barred && this.#barred.until > Date.now()) return this.#barred.error;
    // A process that takes a query has the graph, whatever the estimate is.
    if (
      this.#options.needs() > this.#options.memory &&
      ![...this.#lanes].some(({ loaded }) => loaded)
    )
      return this.#outgrown();
    return undefined;
  }

  #outgrown(): ServiceError {
    const message =
      `The graph does not fit into ${this.#options.memory} bytes (SPARQL_MEMORY). The operator ` +
      "of this registry can set GRAPH_ENGINE=oxigraph.";
    return new ServiceError("SPARQL_NEEDS_ENDPOINT", message, {}, { "Retry-After": "300" });
  }

  #late(): ServiceError {
    const wait = `SPARQL_QUEUE_WAIT=${this.#options.queueWait} ms`;
    const loading = [...this.#lanes].find((lane) => !lane.loaded);
    if (!loading)
      return new ServiceError(
        "SPARQL_BUSY",
        `All processes for queries were busy for ${wait}; try again shortly.`,
        {},
        { "Retry-After": "5" },
      );
    const { done, total } = loading.progress;
    return new ServiceError(
      "INDEX_LOADING",
      `The graph is being loaded (${done} of ${total} records) and was not ready within ` +
        `${wait}; try again shortly.`,
      { done, total },
      { "Retry-After": "5" },
    );
  }

  #loaded(): number {
    let loaded = 0;
    for (const lane of this.#lanes) if (lane.loaded) loaded++;
    return loaded;
  }

  async #answer(question: OpenQuestion, ending: AbortSignal): Promise<OpenAnswer> {
    // The line begins no more queries than there are processes that have loaded.
    const lane = [...this.#lanes].find(({ free }) => free)!;
    try {
      return await lane.ask(question, ending);
    } finally {
      if (this.#lanes.has(lane) && lane.worn) {
        this.#lanes.delete(lane);
        void lane.end();
      } else {
        lane.advance(this.#sequence);
      }
    }
  }

  /** Lets queries begin, and starts a process when none can take those that wait. */
  #serve(): void {
    if (this.#closed) return;
    this.#line.serve();
    const loading = this.#lanes.size - this.#loaded();
    if (this.#line.length > loading && this.#lanes.size < this.#options.threads) this.#start();
  }

  #start(): void {
    try {
      this.#lanes.add(
        new Lane(
          this.#options,
          {
            onFree: () => this.#serve(),
            onLost: (lane, loss) => this.#lost(lane, loss),
          },
          this.#options.log,
        ),
      );
    } catch (error) {
      this.#bar(UNREADABLE_FOR, unreadable(), (error as Error).message);
    }
  }

  #lost(lane: Lane, { reason, timedOut, outOfMemory, loaded }: LaneLoss): void {
    if (!this.#lanes.delete(lane) || reason === "idle") return;
    if (loaded) {
      this.#options.log.warn(
        { reason },
        `a process for open queries was ${timedOut ? "ended" : "lost"}; the next query starts one`,
      );
    } else if (!outOfMemory) {
      this.#bar(UNREADABLE_FOR, unreadable(), reason);
    } else {
      this.#bar(OUTGROWN_FOR, this.#outgrown(), reason);
    }
    this.#serve();
  }

  /** No query can be answered for a while: all waiting queries fail now. */
  #bar(time: number, error: ServiceError, reason: string): void {
    this.#options.log.error({ reason }, "open queries cannot be answered");
    this.#barred = { until: Date.now() + time, error };
    this.#line.dismiss(error);
  }
}

export interface OpenOptions {
  /** Opens a feed of the record store; called for every process that is started. */
  openFeed: () => MessagePort;
  /** SPARQL_TIMEOUT, ms. */
  timeout: number;
  /** SPARQL_MAX_ROWS and SPARQL_MAX_BYTES. */
  maxRows: number;
  maxBytes: number;
  /** SPARQL_MEMORY: resident bytes of a process. */
  memory: number;
  /**
   * Bytes that the graph is known to take at the least; above SPARQL_MEMORY none is started.
   */
  needs?: () => number;
  /** SPARQL_THREADS. */
  threads: number;
  /** SPARQL_IDLE, ms. */
  idle: number;
  /** SPARQL_QUEUE and SPARQL_QUEUE_WAIT, ms. */
  queue: number;
  queueWait: number;
  /** SPARQL_SLICE, ms. */
  slice: number;
  /** INDEX_WAIT, ms. */
  indexWait: number;
  log?: EngineLog;
  /** Graphs rewritten before a process is replaced, whatever it holds. */
  rebuildAfter?: number;
  /** Graphs read at a time. */
  pageSize?: number;
}

type Whole = Required<Omit<OpenOptions, "rebuildAfter">> & Pick<OpenOptions, "rebuildAfter">;
