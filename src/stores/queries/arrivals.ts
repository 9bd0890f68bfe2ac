import { ServiceError } from "../../errors.js";
import type { IndexState } from "./port.js";

interface Waiting { sequence: number; resolve(): void; reject(error: Error): void; clock: NodeJS.Timeout }

/** Those who wait for the index to reach a sequence. */
export class Arrivals {
  readonly #waiting = new Set<Waiting>();

  constructor(private readonly state: () => IndexState) {}

  /**
   * @param wait ms
   * @param unavailable what to say when the index is not even loaded by then
   * @throws {ServiceError} `INDEX_BEHIND` when a loaded index has not reached it in time
   */
  wait(sequence: number, wait: number, unavailable: () => ServiceError): Promise<void> {
    return new Promise((resolve, reject) => {
      const clock = setTimeout(() => {
        this.#waiting.delete(entry);
        const { state, sequence: reached } = this.state();
        reject(state !== "ready" ? unavailable() : new ServiceError("INDEX_BEHIND",
          `The graph index has reached commit ${reached} and not yet ${sequence} (INDEX_WAIT=${wait} ms); try again shortly.`,
          { sequence: reached }, { "Retry-After": "1" }));
      }, wait);
      const entry: Waiting = { sequence, resolve, reject, clock };
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

  #settle(entry: Waiting): Waiting {
    clearTimeout(entry.clock);
    this.#waiting.delete(entry);
    return entry;
  }
}
