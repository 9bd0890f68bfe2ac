import { randomUUID } from "node:crypto";
import type { Deps } from "../use-cases/deps.js";
import { sweepObjects } from "../use-cases/objects/sweep.js";

/** Name of the lease: nodes take turns, since one look at all objects is enough. */
const LEASE = "sweep";

/** Removes objects that nothing refers to, every SWEEP_INTERVAL, on one node at a time. */
export class Sweeper {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(private readonly deps: Pick<Deps, "config" | "records" | "objects" | "log">) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.#sweep().catch((err: unknown) => this.deps.log.error({ err }, "the sweep failed")).finally(() => (this.#running = undefined));
    }, this.deps.config.SWEEP_INTERVAL).unref();
  }

  /** Begins no further one and ends the one that runs, between two objects. */
  async close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  async #sweep(): Promise<void> {
    const { config, records, objects, log } = this.deps;
    if (!(await records.lease(LEASE, this.#node, config.SWEEP_INTERVAL))) return;
    const { removed, stale } = await sweepObjects({ objects, records, intentLifetime: config.INTENT_LIFETIME, signal: this.#stopping.signal });
    if (removed + stale > 0) log.info({ removed, stale }, "removed objects that nothing refers to");
  }
}
