import { ServiceError } from "../../errors.js";
import type { Asker, IndexState } from "./port.js";

/** @param what stops */
export const stopping = (what: "graph index" | "service"): ServiceError =>
  new ServiceError(
    "SHUTTING_DOWN",
    `The ${what} is stopping. Retry when the service has started again.`,
    {},
    { "Retry-After": "5" },
  );

interface FairLineOptions {
  /** Most queries that run at a time. */
  slots: number;
  /** How many may run now, where slots have to be started first. */
  ready?: () => number;
  /** SPARQL_QUEUE: most queries that wait. */
  queue: number;
  /** SPARQL_QUEUE_WAIT, ms. */
  queueWait: number;
  /** SPARQL_SLICE, ms; without it no running query gives way to another. */
  slice?: number;
  /** What queries wait for, in words of an error: a process, a connection. */
  what: string;
  /** The error of a query that waited too long. */
  late: () => ServiceError;
}

interface Caller {
  name: string;
  /** Several people may have this name. */
  shared: boolean;
  running: number;
  readonly waiting: Set<Waiting>;
}
interface Waiting {
  admit: Asker["admit"];
  begin(): void;
  reject(error: Error): void;
}
interface Running {
  caller: Caller;
  since: number;
  ending: AbortController;
}

/**
 * A concurrency limit for all queries and one for each caller, with a bounded queue. The caller
 * served last is served again after the others. A query that has run for a slice is ended when
 * others wait and no slot is free.
 */
export class FairLine {
  /** Those with queries that run or wait; the one served longest ago is the first. */
  readonly #callers = new Map<string, Caller>();
  /** In the order in which they began. */
  readonly #running = new Set<Running>();
  #clock: NodeJS.Timeout | undefined;

  readonly #options: FairLineOptions;

  constructor(options: FairLineOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  /** How many queries wait. */
  get length(): number {
    let length = 0;
    for (const { waiting } of this.#callers.values()) length += waiting.size;
    return length;
  }

  /**
   * Waits until the query may run, and runs it.
   * @param query holds its slot until its promise is settled; the signal ends it early
   * @throws ServiceError `SPARQL_BUSY`, the error of `late`; what the asker's `admit` throws; the
   * reason of the asker's signal while the query waits
   */
  async run<Answer>(
    asker: Asker,
    query: (ending: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const running = await this.#slot(asker);
    try {
      return await query(running.ending.signal);
    } finally {
      const { caller } = running;
      this.#running.delete(running);
      caller.running--;
      this.#moveLast(caller);
      this.serve();
    }
  }

  /** Begins the queries that may run now. */
  serve(): void {
    const { slots, ready = () => slots } = this.#options;
    while (this.#running.size < ready()) {
      const next = this.#next();
      if (!next) break;
      next.begin();
    }
    this.#relieve();
  }

  /** Refuses the waiting queries. */
  dismiss(error: Error): void {
    for (const { waiting } of this.#callers.values())
      for (const { reject } of waiting) reject(error);
  }

  /** Refuses the waiting queries, and ends those that run. */
  close(error: Error): void {
    this.dismiss(error);
    for (const { ending } of this.#running) ending.abort(error);
  }

  #slot({ caller: name = "", shared = name === "", signal, admit }: Asker): Promise<Running> {
    signal?.throwIfAborted();
    const caller = this.#callers.get(name) ?? { name, shared, running: 0, waiting: new Set() };
    this.#makeRoom(caller);
    this.#callers.set(name, caller);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(clock);
        signal?.removeEventListener("abort", leave);
        caller.waiting.delete(waiting);
      };
      const waiting: Waiting = {
        admit,
        begin: () => {
          settle();
          caller.running++;
          this.#moveLast(caller);
          const running = { caller, since: performance.now(), ending: new AbortController() };
          this.#running.add(running);
          resolve(running);
        },
        reject: (error) => {
          settle();
          if (caller.running + caller.waiting.size === 0) this.#callers.delete(name);
          reject(error);
        },
      };
      const leave = (): void => waiting.reject(signal?.reason as Error);
      const { queueWait, late } = this.#options;
      const clock = setTimeout(() => waiting.reject(late()), queueWait);
      signal?.addEventListener("abort", leave, { once: true });
      caller.waiting.add(waiting);
      this.serve();
    });
  }

  /** The query that waits longest, of the caller who was served longest ago. */
  #next(): Waiting | undefined {
    // Of several slots one stays free of each caller, so that a short query of another need not
    // wait for a long one.
    const most = Math.max(1, this.#options.slots - 1);
    for (const { shared, running, waiting } of this.#callers.values()) {
      if (!shared && running >= most) continue;
      for (const query of waiting) {
        try {
          query.admit?.();
          return query;
        } catch (error) {
          query.reject(error as Error);
        }
      }
    }
    return undefined;
  }

  #moveLast(caller: Caller): void {
    this.#callers.delete(caller.name);
    if (caller.running + caller.waiting.size > 0) this.#callers.set(caller.name, caller);
  }

  /** Where the queue is full, the caller with the most waiting queries gives way to others. */
  #makeRoom(caller: Caller): void {
    const { queue, what } = this.#options;
    if (this.length < queue) return;
    const full = new ServiceError(
      "SPARQL_BUSY",
      `More than ${queue} queries wait for a ${what} (SPARQL_QUEUE); try again shortly.`,
      {},
      { "Retry-After": "5" },
    );
    let longest: Waiting[] = [];
    for (const { waiting } of this.#callers.values())
      if (waiting.size > longest.length) longest = [...waiting];
    if (longest.length <= caller.waiting.size + 1) throw full;
    longest.at(-1)?.reject(full);
  }

  /** Ends the query that has run for longest, if that was a slice and others wait for its slot. */
  #relieve(): void {
    clearTimeout(this.#clock);
    const { slots, slice } = this.#options;
    const [longest] = this.#running;
    if (slice === undefined || !longest || this.#running.size < slots) return;
    const { caller, since, ending } = longest;
    const isAnother = (other: Caller): boolean => caller.shared || other !== caller;
    if (![...this.#callers.values()].some((one) => one.waiting.size > 0 && isAnother(one))) return;
    const left = since + slice - performance.now();
    if (left > 0) {
      this.#clock = setTimeout(() => this.#relieve(), left).unref();
      return;
    }
    const message =
      `The query ran longer than ${slice} ms (SPARQL_SLICE) while others waited, ` +
      "and was ended; ask for less at a time, or again later.";
    ending.abort(new ServiceError("QUERY_TIMEOUT", message, {}, { "Retry-After": "5" }));
  }
}

interface WaitingForSequence {
  sequence: number;
  resolve(): void;
  reject(error: Error): void;
  clock: NodeJS.Timeout;
}

/** The callers that wait for the index to reach a sequence. */
export class Arrivals {
  readonly #waiting = new Set<WaitingForSequence>();

  readonly #state: () => IndexState;

  constructor(state: () => IndexState) {
    this.#state = state;
  }

  /**
   * @param wait ms
   * @param unavailable the error when the index is not even loaded by then
   * @throws {ServiceError} `INDEX_BEHIND` when a loaded index has not reached it in time
   */
  wait(sequence: number, wait: number, unavailable: () => ServiceError): Promise<void> {
    return new Promise((resolve, reject) => {
      const clock = setTimeout(() => {
        this.#waiting.delete(entry);
        const { state, sequence: reached } = this.#state();
        reject(
          state !== "ready"
            ? unavailable()
            : new ServiceError(
                "INDEX_BEHIND",
                `The graph index has reached commit ${reached} and not yet ${sequence} ` +
                  `(INDEX_WAIT=${wait} ms); try again shortly.`,
                { sequence: reached },
                { "Retry-After": "1" },
              ),
        );
      }, wait);
      const entry: WaitingForSequence = { sequence, resolve, reject, clock };
      this.#waiting.add(entry);
    });
  }

  arrived(sequence: number): void {
    for (const entry of this.#waiting) {
      if (entry.sequence > sequence) continue;
      this.#settle(entry).resolve();
    }
  }

  close(error: ServiceError): void {
    for (const entry of this.#waiting) this.#settle(entry).reject(error);
  }

  #settle(entry: WaitingForSequence): WaitingForSequence {
    clearTimeout(entry.clock);
    this.#waiting.delete(entry);
    return entry;
  }
}
