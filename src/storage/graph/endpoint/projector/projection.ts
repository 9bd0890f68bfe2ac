import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type MessagePort, Worker } from "node:worker_threads";
import { threadModule } from "../../../../package-root.js";
import type { LeaseStore } from "../../../records/port.js";
import type { EngineLog } from "../../port.js";
import type { EndpointAddress, Position, ProjectionOptions, WholeOptions } from "../client.js";
import type { Watch } from "../watch.js";

/** ms before a thread that was lost is started again. */
const RESTART = 1_000;

interface HandleOptions {
  openFeed: () => MessagePort;
  address: EndpointAddress;
  source: string;
  options: ProjectionOptions;
  log: EngineLog;
}

/** The projector's thread from outside; it is started anew whenever it ends. */
class ProjectorHandle {
  #worker: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  readonly #setting: HandleOptions;
  readonly #onReply: (reply: ProjectorReply) => void;
  readonly #onStart: () => void;

  /** @param onStart a thread has begun, and knows of no lease */
  constructor(
    setting: HandleOptions,
    onReply: (reply: ProjectorReply) => void,
    onStart: () => void,
  ) {
    this.#setting = setting;
    this.#onReply = onReply;
    this.#onStart = onStart;

    this.#start();
  }

  post(request: ProjectorRequest): void {
    this.#worker?.postMessage(request);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    await this.#worker?.terminate();
  }

  #start(): void {
    const { openFeed, log, ...data } = this.#setting;
    let worker: Worker;
    try {
      const feed = openFeed();
      worker = new Worker(threadModule("src/storage/graph/endpoint/projector/thread"), {
        workerData: { feed, ...data },
        transferList: [feed],
        name: "projector",
      });
    } catch (error) {
      return this.#again((error as Error).message);
    }
    this.#worker = worker;
    let reason = "it ended";
    worker.on("message", (reply: ProjectorReply) => {
      if (reply.op === "log") log[reply.level](reply.fields, reply.message);
      else this.#onReply(reply);
    });
    worker.on("error", (error) => (reason = error.message));
    worker.once("exit", () => {
      if (!this.#closed) this.#again(reason);
    });
    this.#onStart();
  }

  #again(reason: string): void {
    this.#setting.log.error(
      { reason },
      "the projector's thread ended unexpectedly; a new one starts after a pause",
    );
    this.#restart = setTimeout(() => this.#start(), RESTART);
  }
}

/** The start data of the projector's thread; the port is moved to it. */
export interface ProjectorData {
  feed: MessagePort;
  address: EndpointAddress;
  source: string;
  options: ProjectionOptions;
}

export type ProjectorRequest =
  | { op: "advance"; sequence: number }
  /** The lease is held until then, by {@link clock}. */
  | { op: "lead"; fence: number; until: number }
  | { op: "resign" };

export type ProjectorReply =
  | { op: "position"; position: Position }
  | { op: "progress"; done: number; total: number }
  | { op: "problem"; problem: string | undefined }
  /** Another node may hold the lease: asks whether this node still does. */
  | { op: "confirm" }
  | { op: "log"; level: "info" | "warn" | "error"; message: string; fields: object };

/** ms on a clock that all threads share and that is never set. */
export const clock = (): number => performance.timeOrigin + performance.now();

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
    const asked = clock();
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

/** ms before records that did not answer are asked again. */
const AGAIN = 1_000;

/**
 * This node's part in keeping an endpoint up: it asks for the lease, and projects while it has it.
 */
export class Projection {
  /** Of the filling of the endpoint: records sent, and all there are. */
  progress = { done: 0, total: 0 };
  #projector: ProjectorHandle | undefined;
  #leadership: Leadership | undefined;
  #announced = 0;
  #closed = false;

  readonly #options: WholeOptions;
  readonly #watch: Watch;

  constructor(options: WholeOptions, watch: Watch) {
    this.#options = options;
    this.#watch = watch;
  }

  /** Takes part once the records have answered. */
  async start(): Promise<void> {
    const {
      openFeed,
      leases,
      lease,
      batch,
      poll,
      timeout,
      pageSize,
      log,
      queryUrl,
      updateUrl,
      user,
      password,
    } = this.#options;
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
    const leadership = new Leadership(
      leases,
      lease,
      {
        onLead: (fence, until) => this.#projector?.post({ op: "lead", fence, until }),
        onLost: () => this.#projector?.post({ op: "resign" }),
      },
      log,
    );
    this.#leadership = leadership;
    const address = {
      queryUrl,
      updateUrl,
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
    };
    this.#projector = new ProjectorHandle(
      { openFeed, address, source, options: { batch, lease, poll, timeout, pageSize }, log },
      (reply) => {
        if (reply.op === "position") this.#watch.note(reply.position);
        else if (reply.op === "progress") this.progress = { done: reply.done, total: reply.total };
        else if (reply.op === "problem") this.#watch.problem = reply.problem;
        else if (reply.op === "confirm") void leadership.ask();
      },
      () => {
        void Promise.resolve().then(() => {
          if (this.#announced > 0)
            this.#projector?.post({ op: "advance", sequence: this.#announced });
          return leadership.ask();
        });
      },
    );
  }

  /** The record store has reached this sequence. */
  advance(sequence: number): void {
    this.#announced = Math.max(this.#announced, sequence);
    this.#projector?.post({ op: "advance", sequence });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#projector?.close();
    await this.#leadership?.close();
  }
}
