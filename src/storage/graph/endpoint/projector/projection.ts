import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { LeaseStore } from "../../../records/port.js";
import type { EngineLog } from "../../port.js";
import { FeedReader } from "../../follower.js";
import { SparqlHttp, type WholeOptions } from "../client.js";
import type { Watch } from "../watch.js";
import { Projector } from "./projector.js";
import { Displaced } from "./updates.js";

const NAME = "projection";
/**
 * Times a lease is renewed before it would run out, and ms between attempts to get one that another
 * node may have left.
 */
const RENEWALS = 3;
const SOONEST = 20;
/** ms that a stop waits for the lease to be given back. */
const PATIENCE = 1_000;

/**
 * Tries for the lease of the projection as long as the service runs: one node has it, the others
 * stand by.
 */
class Leadership {
  readonly #holder = randomUUID();
  #clock: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;
  #stopped = false;
  #reported = false;

  readonly #leases: LeaseStore;
  readonly #ttl: number;
  readonly #events: { onLead(fence: number, until: number): void; onLost(): void };
  readonly #log: EngineLog;

  /**
   * @param ttl ms
   * @param onLead this node holds the lease until then; called again with each renewal
   * @param onLost another node holds the lease
   */
  constructor(
    leases: LeaseStore,
    ttl: number,
    events: { onLead(fence: number, until: number): void; onLost(): void },
    log: EngineLog,
  ) {
    this.#leases = leases;
    this.#ttl = ttl;
    this.#events = events;
    this.#log = log;
  }

  /** Asks now, and from then on by itself. */
  ask(): Promise<void> {
    clearTimeout(this.#clock);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      if (!this.#stopped)
        this.#clock = setTimeout(
          () => void this.ask(),
          Math.max(SOONEST, this.#ttl / RENEWALS),
        ).unref();
    });
    return this.#asking;
  }

  /** Gives the lease back, so that another node need not wait for its end. */
  async close(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#clock);
    // An unavailable record store must not keep the service from ending.
    const limit = new AbortController();
    const leaving = (async () => {
      await this.#asking;
      await this.#leases.releaseLease(NAME, this.#holder);
    })().catch((error: Error) =>
      this.#log.warn(
        { reason: error.message },
        "the lease of the projection could not be released; it expires by itself",
      ),
    );
    await Promise.race([
      leaving,
      pause(PATIENCE, undefined, { signal: limit.signal }).catch(() => {}),
    ]);
    limit.abort();
    clearTimeout(this.#clock);
  }

  async #ask(): Promise<void> {
    // Counted from before the question: the store's own time begins later.
    const asked = performance.now();
    try {
      const lease = await this.#leases.lease(NAME, this.#holder, this.#ttl);
      this.#reported = false;
      if (lease) this.#events.onLead(lease.fence, asked + this.#ttl);
      else this.#events.onLost();
    } catch (error) {
      if (!this.#reported)
        this.#log.warn(
          { reason: (error as Error).message },
          "the record store does not answer about the lease of the projection; retrying",
        );
      this.#reported = true;
    }
  }
}

/** ms before records that did not answer, or a projection that failed, are asked again. */
const AGAIN = 1_000;

/** `until` by `performance.now()`. */
interface Lease {
  fence: number;
  until: number;
}

/**
 * This node's part in keeping an endpoint up: it asks for the lease, and projects while it has it.
 */
export class Projection {
  /** Of the filling of the endpoint: records sent, and all there are. */
  progress = { done: 0, total: 0 };
  #projector: Projector | undefined;
  #leadership: Leadership | undefined;
  #lease: Lease | undefined;
  #leaseChanged: () => void = () => {};
  #announced = 0;
  #closed = false;
  /** Ends what the projector waits for. */
  #endRun: () => void = () => {};

  readonly #options: WholeOptions;
  readonly #watch: Watch;

  constructor(options: WholeOptions, watch: Watch) {
    this.#options = options;
    this.#watch = watch;
  }

  /** Takes part once the records have answered. */
  async start(): Promise<void> {
    const { leases, lease, log } = this.#options;
    let source: string | undefined;
    while (source === undefined) {
      if (this.#closed) return;
      try {
        source = await this.#options.source();
      } catch (error) {
        log.warn(
          { reason: (error as Error).message },
          "the record store does not answer; the projection starts later",
        );
        await pause(AGAIN);
      }
    }
    if (this.#closed) return;
    const setLease = (held: Lease | undefined): void => {
      this.#lease = held;
      this.#leaseChanged();
    };
    this.#leadership = new Leadership(
      leases,
      lease,
      { onLead: (fence, until) => setLease({ fence, until }), onLost: () => setLease(undefined) },
      log,
    );
    void this.#leadership.ask();
    void this.#runAlways(source);
  }

  /** The record store has reached this sequence. */
  advance(sequence: number): void {
    this.#announced = Math.max(this.#announced, sequence);
    this.#projector?.advance(sequence);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#lease = undefined;
    this.#leaseChanged();
    this.#endRun();
    this.#projector?.advance(this.#announced);
    await this.#leadership?.close();
  }

  /** A feed that was closed is opened again. */
  async #runAlways(source: string): Promise<void> {
    const { log } = this.#options;
    while (!this.#closed) {
      try {
        const feed = new FeedReader(this.#options.openFeed(), (reason) =>
          log.warn({ reason }, "the record store did not answer the projection; retrying"),
        );
        await this.#follow(feed, source);
      } catch (error) {
        if (this.#closed) return;
        log.error(
          { reason: (error as Error).message },
          "the records can no longer be followed; they are read again after a pause",
        );
      }
      await pause(AGAIN, undefined, { ref: false });
    }
  }

  /** Projects until the feed is closed. */
  async #follow(feed: FeedReader, source: string): Promise<void> {
    const { log } = this.#options;
    const http = new SparqlHttp(this.#options, 2);
    this.#endRun = () => {
      feed.close();
      http.close();
    };
    this.#projector = new Projector(
      http,
      feed,
      source,
      this.#options,
      {
        onPosition: (position) => this.#watch.note(position),
        onProgress: (done, total) => (this.progress = { done, total }),
        onProblem: (problem) => (this.#watch.problem = problem),
      },
      log,
    );
    this.#projector.advance(this.#announced);
    try {
      while (!this.#closed) await this.#lead(this.#projector, feed);
    } finally {
      this.#endRun();
    }
  }

  /** Projects for as long as this node has the lease. */
  async #lead(projector: Projector, feed: FeedReader): Promise<void> {
    const { log } = this.#options;
    while (!this.#lease || this.#lease.until <= performance.now()) {
      await new Promise<void>((resolve) => (this.#leaseChanged = resolve));
      if (this.#closed) return;
    }
    const { fence } = this.#lease;
    const check = (): void => {
      if (!this.#lease || this.#lease.fence !== fence || this.#lease.until <= performance.now())
        throw new Displaced("the lease of the projection expired");
    };
    try {
      await projector.run({ fence, check });
    } catch (error) {
      if (this.#closed) return;
      if (error instanceof Displaced) {
        log.info({ reason: error.message }, "the projection restarts from its stored position");
        // Only after the record store has confirmed that this node still holds the lease.
        this.#lease = undefined;
        void this.#leadership!.ask();
      } else {
        if (feed.closed) throw error;
        log.error(
          { reason: (error as Error).message },
          "the projection failed; it restarts after a pause",
        );
        await pause(AGAIN, undefined, { ref: false });
      }
    }
  }
}
