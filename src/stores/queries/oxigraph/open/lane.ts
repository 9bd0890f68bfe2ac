import { ServiceError } from "../../../../errors.js";
import type { OpenAnswer, OpenQuestion } from "../../open-port.js";
import { Arrivals } from "../../arrivals.js";
import type { EngineLog } from "../../log.js";
import { ThreadHandle, type Loss } from "../thread-handle.js";
import type { OpenOptions } from "./options.js";

/** Why a lane is no more, for those who come after. */
export interface LaneLoss { reason: string; timedOut: boolean; outOfMemory: boolean; loaded: boolean }

export interface LaneEvents {
  /** It has loaded, or has answered: it can take a query. */
  onFree(lane: Lane): void;
  onLost(lane: Lane, loss: LaneLoss): void;
}

const FAILED = "The query engine failed while it answered the query, and is starting anew. If it fails again, write the query differently, and report it to the operator.";

/** One thread for strangers' queries: it takes one at a time, so that whatever ends it ends no other query. */
export class Lane {
  busy = false;
  readonly #handle: ThreadHandle;
  readonly #arrivals: Arrivals;
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: Required<OpenOptions>, private readonly events: LaneEvents, log: EngineLog) {
    this.#arrivals = new Arrivals(() => ({ state: this.loaded ? "ready" : "loading", sequence: this.#handle.sequence }));
    this.#handle = new ThreadHandle(options.openFeed(), options.pageSize, {
      onProgress: () => {},
      onReached: () => this.#reached(),
      onLost: (_handle, loss) => this.#lost(loss),
    }, log, options.memory);
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
    return this.#handle.rewrites >= this.options.rebuildAfter;
  }

  advance(sequence: number): void {
    // A thread in the middle of a query would only pile them up.
    if (this.free) this.#handle.advance(sequence);
  }

  /** @throws as {@link import("../../open-port.js").OpenQueries.ask} */
  async ask({ sequence, ...question }: OpenQuestion): Promise<OpenAnswer> {
    this.busy = true;
    clearTimeout(this.#idle);
    try {
      if (this.#handle.sequence < sequence) {
        this.#handle.advance(sequence);
        await this.#arrivals.wait(sequence, this.options.indexWait, () => new ServiceError("INDEX_LOADING", "The graph is being loaded; try again shortly."));
      }
      return await new Promise<OpenAnswer>((resolve, reject) => this.#handle.send({
        ask: { op: "ask", question, maxRows: this.options.maxRows, maxBytes: this.options.maxBytes },
        timeout: this.options.timeout, setting: "SPARQL_TIMEOUT", attempts: 0, reject, resolve: (reply) => resolve(reply as OpenAnswer),
      }));
    } finally {
      this.busy = false;
      this.#rest();
    }
  }

  /** Ends the query that runs, with the thread; false while none runs. */
  stop(error: Error): boolean {
    return this.#handle.stop(error);
  }

  async end(reason?: ServiceError): Promise<void> {
    clearTimeout(this.#idle);
    if (reason) this.#arrivals.close(reason);
    for (const job of await this.#handle.end()) if (reason) job.reject(reason);
  }

  #tooMuch(): ServiceError {
    const message = `The query needed more memory than its thread has (SPARQL_MEMORY=${this.options.memory} bytes) and was ended; ask for less at a time.`;
    return new ServiceError("QUERY_MEMORY", message, {}, { "Retry-After": "5" });
  }

  #reached(): void {
    this.#arrivals.arrived(this.#handle.sequence);
    if (this.busy) return;
    this.#rest();
    this.events.onFree(this);
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      void this.end();
      this.events.onLost(this, { reason: "idle", timedOut: false, outOfMemory: false, loaded: true });
    }, this.options.idle).unref();
  }

  #lost({ reason, timedOut, outOfMemory, guilty }: Loss): void {
    clearTimeout(this.#idle);
    const { loaded } = this;
    this.events.onLost(this, { reason, timedOut, outOfMemory, loaded });
    guilty?.reject(outOfMemory ? this.#tooMuch() : new ServiceError("QUERY_FAILED", FAILED, {}, { "Retry-After": "5" }));
    this.#arrivals.close(new ServiceError("INDEX_LOADING", "The graph is being loaded anew; try again shortly.", {}, { "Retry-After": "2" }));
  }
}
