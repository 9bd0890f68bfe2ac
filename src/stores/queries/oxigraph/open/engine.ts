import { ServiceError } from "../../../../errors.js";
import type { Asker, OpenAnswer, OpenQueries, OpenQuestion } from "../../open-port.js";
import { FairLine } from "../../fair-line.js";
import { silent } from "../../log.js";
import { REBUILD_AFTER_REWRITES } from "../options.js";
import { Lane, type LaneLoss } from "./lane.js";
import type { OpenOptions } from "./options.js";

/** ms before a graph that did not fit is tried again, and before one whose truth could not be read. */
const OUTGROWN_FOR = 300_000;
const UNREADABLE_FOR = 2_000;

/**
 * {@link OpenQueries} on Oxigraph: threads of its own, started when a query comes and none is free, ended when idle.
 * Who waits, waits here and not in a thread, and loses nothing but time by what ends one.
 */
export class OpenEngine implements OpenQueries {
  readonly #options: Required<OpenOptions>;
  readonly #lanes = new Set<Lane>();
  readonly #line: FairLine;
  #sequence = 0;
  #closed = false;
  #barred: { until: number; error: ServiceError } | undefined;

  constructor(options: OpenOptions) {
    this.#options = { log: silent, needs: () => 0, rebuildAfter: REBUILD_AFTER_REWRITES, pageSize: 500, ...options };
    this.#line = new FairLine({ ...options, slots: options.threads }, "thread", () => this.#late(), () => this.#relieve());
  }

  ask(question: OpenQuestion, asker: Asker = {}): Promise<OpenAnswer> {
    const refused = this.#refuses();
    return refused ? Promise.reject(refused) : this.#line.join(question, asker, () => this.#serve());
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
    const stopping = new ServiceError("SHUTTING_DOWN", "The service is stopping; ask again when it is back.", {}, { "Retry-After": "5" });
    this.#line.dismiss(stopping);
    await Promise.all([...this.#lanes].map((lane) => lane.end(stopping)));
    this.#lanes.clear();
  }

  #refuses(): ServiceError | undefined {
    if (this.#closed) return new ServiceError("SHUTTING_DOWN", "The service is stopping; ask again when it is back.", {}, { "Retry-After": "5" });
    if (this.#barred && this.#barred.until > Date.now()) return this.#barred.error;
    // A thread that takes a query has the graph, whatever is reckoned.
    if (this.#options.needs() > this.#options.memory && ![...this.#lanes].some(({ loaded }) => loaded)) return this.#outgrown();
    return undefined;
  }

  #outgrown(): ServiceError {
    const message = `The graph does not fit into ${this.#options.memory} bytes (SPARQL_MEMORY): this registry needs a SPARQL endpoint of its own, or a higher setting.`;
    return new ServiceError("SPARQL_NEEDS_ENDPOINT", message, {}, { "Retry-After": "300" });
  }

  #late(): ServiceError {
    const wait = `SPARQL_QUEUE_WAIT=${this.#options.queueWait} ms`;
    const loading = [...this.#lanes].find((lane) => !lane.loaded);
    if (!loading) return new ServiceError("SPARQL_BUSY", `All threads for queries were busy for ${wait}; try again shortly.`, {}, { "Retry-After": "5" });
    const { done, total } = loading.progress;
    return new ServiceError("INDEX_LOADING", `The graph is being loaded (${done} of ${total} records) and was not ready within ${wait}; try again shortly.`, { done, total }, { "Retry-After": "5" });
  }

  /** Gives waiting queries to free threads, and starts one when none can take them. */
  #serve(): void {
    if (this.#closed) return;
    for (;;) {
      const lane = [...this.#lanes].find(({ free }) => free);
      const waiting = lane && this.#line.next();
      if (!waiting) break;
      waiting.runs((error) => lane.stop(error));
      lane.ask(waiting.question).then(waiting.resolve, waiting.reject).finally(() => {
        waiting.finish();
        this.#freed(lane);
      });
    }
    const loading = [...this.#lanes].filter(({ loaded }) => !loaded).length;
    if (this.#line.ready > loading && this.#lanes.size < this.#options.threads) this.#start();
  }

  /** Makes room for who waits, unless a thread is about to be ready. */
  #relieve(): void {
    if ([...this.#lanes].every(({ loaded }) => loaded)) this.#line.relieve();
  }

  #start(): void {
    try {
      this.#lanes.add(new Lane(this.#options, { onFree: () => this.#serve(), onLost: (lane, loss) => this.#lost(lane, loss) }, this.#options.log));
    } catch (error) {
      this.#bar(UNREADABLE_FOR, new ServiceError("STORE_UNAVAILABLE", "The records cannot be read for queries now; try again shortly.", {}, { "Retry-After": "2" }), (error as Error).message);
    }
  }

  #freed(lane: Lane): void {
    if (this.#lanes.has(lane) && lane.worn) {
      this.#lanes.delete(lane);
      void lane.end();
    } else {
      lane.advance(this.#sequence);
    }
    this.#serve();
  }

  #lost(lane: Lane, { reason, timedOut, outOfMemory, loaded }: LaneLoss): void {
    if (!this.#lanes.delete(lane) || reason === "idle") return;
    if (loaded) {
      this.#options.log.warn({ reason }, `a thread for open queries was ${timedOut ? "ended" : "lost"}; the next query starts one`);
    } else if (!outOfMemory) {
      this.#bar(UNREADABLE_FOR, new ServiceError("STORE_UNAVAILABLE", "The records cannot be read for queries now; try again shortly.", {}, { "Retry-After": "2" }), reason);
    } else {
      this.#bar(OUTGROWN_FOR, this.#outgrown(), reason);
    }
    this.#serve();
  }

  /** Nothing can be answered for a while: those who wait are told now. */
  #bar(time: number, error: ServiceError, reason: string): void {
    this.#options.log.error({ reason }, "open queries cannot be answered");
    this.#barred = { until: Date.now() + time, error };
    this.#line.dismiss(error);
  }
}
