import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { LeaseStore } from "../../../records/lease-port.js";
import type { EngineLog } from "../../log.js";
import { clock } from "./messages.js";

const NAME = "projection";
/** Times a lease is renewed before it would run out, and ms between attempts to get one that another node may have left. */
const RENEWALS = 3;
const SOONEST = 20;
/** ms that a stop waits for the lease to be given back. */
const PATIENCE = 1_000;

/** Tries for the lease of the projection as long as the service runs: one node has it, the others stand by. */
export class Leadership {
  readonly #holder = randomUUID();
  #clock: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;
  #stopped = false;
  #told = false;

  /**
   * @param ttl ms
   * @param onLead the lease is held until then; told again with each renewal
   * @param onLost somebody else has it
   */
  constructor(
    private readonly leases: LeaseStore, private readonly ttl: number,
    private readonly events: { onLead(fence: number, until: number): void; onLost(): void }, private readonly log: EngineLog,
  ) {}

  /** Asks now, and from then on by itself. */
  ask(): Promise<void> {
    clearTimeout(this.#clock);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      if (!this.#stopped) this.#clock = setTimeout(() => void this.ask(), Math.max(SOONEST, this.ttl / RENEWALS)).unref();
    });
    return this.#asking;
  }

  /** Gives the lease back, so that another node need not wait for its end. */
  async close(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#clock);
    // Records that are away must not keep the service from ending.
    const patience = new AbortController();
    const leaving = (async () => {
      await this.#asking;
      await this.leases.releaseLease(NAME, this.#holder);
    })().catch((error: Error) => this.log.warn({ reason: error.message }, "the lease of the projection could not be given back; it runs out by itself"));
    await Promise.race([leaving, pause(PATIENCE, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    clearTimeout(this.#clock);
  }

  async #ask(): Promise<void> {
    // Counted from before the question: the store's own time begins later.
    const asked = clock();
    try {
      const lease = await this.leases.lease(NAME, this.#holder, this.ttl);
      this.#told = false;
      if (lease) this.events.onLead(lease.fence, asked + this.ttl);
      else this.events.onLost();
    } catch (error) {
      if (!this.#told) this.log.warn({ reason: (error as Error).message }, "the records do not answer for the lease of the projection; asking again");
      this.#told = true;
    }
  }
}
