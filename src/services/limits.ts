/** Limits that use cases share: bytes that are kept, and work that is done at a time. */
import { LRUCache } from "lru-cache";
import { ServiceError } from "../errors.js";

/** Bytes of a value as JSON: about what it takes in memory, where it is text for the most part. */
const jsonSize = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Values by text, up to a number of bytes in all, keys included. Those not used for longest are
 * dropped first, and one that needs more than a share of all is not stored.
 */
export class ByteCache<Value extends object> {
  /** The most bytes of a value with its key. */
  readonly largest: number;
  readonly #values: LRUCache<string, Value> | undefined;

  /**
   * @param bytes 0 stores nothing
   * @param share one value may take so small a part of it: 8 is an eighth
   */
  constructor(
    bytes: number,
    { sizeOf = jsonSize, share = 8 }: { sizeOf?: (value: Value) => number; share?: number } = {},
  ) {
    this.largest = Math.floor(bytes / share);
    // Without limits the package would store everything.
    if (this.largest === 0) return;
    this.#values = new LRUCache({
      maxSize: bytes,
      maxEntrySize: this.largest,
      sizeCalculation: (value, key) => sizeOf(value) + Buffer.byteLength(key),
    });
  }

  get(key: string): Value | undefined {
    return this.#values?.get(key);
  }

  set(key: string, value: Value): void {
    this.#values?.set(key, value);
  }

  clear(): void {
    this.#values?.clear();
  }
}

/**
 * A concurrency limit with a queue: a number of jobs run at a time; others wait in the queue, until
 * their signal ends the wait. When the queue is full, jobs are refused.
 */
export class ConcurrencyLimit {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();

  readonly #most: number;
  readonly #line: number;

  /**
   * @param most how many jobs run at a time
   * @param line how many jobs may wait
   */
  constructor(most: number, line = Infinity) {
    this.#most = most;
    this.#line = line;
  }

  /**
   * @param signal ends the wait, and is passed on to the job
   * @throws the signal's reason; ServiceError `BUSY` when the queue is full, `SHUTTING_DOWN` after
   * it is closed
   */
  async run<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    either.throwIfAborted();
    if (this.#running >= this.#most) {
      if (this.#waiting.length >= this.#line)
        throw new ServiceError(
          "BUSY",
          `Too many concurrent requests (${this.#running} running, ${this.#waiting.length} ` +
            "queued). Retry later.",
          {},
          { "Retry-After": "2" },
        );
      await this.#slot(either);
    } else this.#running++;
    try {
      return await work(either);
    } finally {
      const next = this.#waiting.shift();
      // The next job in the queue takes over the slot.
      if (next) next();
      else this.#running--;
    }
  }

  /** Number of running and of waiting jobs. */
  load(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length };
  }

  /** Ends the running and the waiting jobs. */
  close(): void {
    this.#closing.abort(
      new ServiceError(
        "SHUTTING_DOWN",
        "The service is stopping. Retry later.",
        {},
        { "Retry-After": "5" },
      ),
    );
  }

  #slot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(begin);
    });
  }
}
