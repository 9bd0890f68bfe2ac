import { randomUUID } from "node:crypto";
import type { Deps } from "../use-cases/deps.js";
import { sweepRuns } from "../use-cases/computations/sweep.js";
import { sweepObjects } from "../use-cases/objects/sweep.js";

/** Name of the lease: nodes take turns, since one look at all objects is enough. */
const LEASE = "sweep";

/**
 * Removes objects that nothing refers to, every SWEEP_INTERVAL, on one node at a time; and at the start as well what runs of
 * computations left on this node's container engine.
 */
export class Sweeper {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(private readonly deps: Pick<Deps, "config" | "records" | "objects" | "containers" | "log">) {}

  start(): void {
    if (this.deps.containers) this.#begin(() => this.#sweepRuns());
    this.#timer = setInterval(() => this.#begin(() => this.#sweep()), this.deps.config.SWEEP_INTERVAL).unref();
  }

  /** Begins no further one and ends the one that runs, between two objects. */
  async close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  #begin(work: () => Promise<void>): void {
    this.#running ??= work().catch((err: unknown) => this.deps.log.error({ err }, "the sweep failed")).finally(() => (this.#running = undefined));
  }

  /** No lease: nodes may have engines of their own. */
  async #sweepRuns(): Promise<void> {
    const { containers } = this.deps;
    if (containers) await sweepRuns(this.deps, containers).catch((err: unknown) => this.deps.log.warn({ err }, "the container engine could not be swept"));
  }

  async #sweep(): Promise<void> {
    await this.#sweepRuns();
    const { config, records, objects, log } = this.deps;
    if (!(await records.lease(LEASE, this.#node, config.SWEEP_INTERVAL))) return;
    const { removed, stale } = await sweepObjects({ objects, records, intentLifetime: config.INTENT_LIFETIME, signal: this.#stopping.signal });
    if (removed + stale > 0) log.info({ removed, stale }, "removed objects that nothing refers to");
  }
}
