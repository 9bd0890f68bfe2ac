import { ServiceError } from "../errors.js";

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
    this.#closing.abort(new ServiceError("SHUTTING_DOWN", "The service is stopping. Retry later."));
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
