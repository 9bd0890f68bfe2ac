import { ServiceError } from "../errors.js";

/** Lets a few pieces of heavy work run at a time; a few more wait, and the rest is refused at once. */
export class Turns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param setting name of the setting that holds `atOnce`; as many again may wait */
  constructor(private readonly atOnce: number, private readonly setting: string) {}

  /** @throws ServiceError `BUSY` when as many wait as may */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.atOnce) {
      if (this.#waiting.length >= this.atOnce * WAITING) {
        throw new ServiceError("BUSY", `The service does ${this.atOnce} of these at a time (${this.setting}) and ${this.#waiting.length} wait; try again in a moment.`, {}, { "Retry-After": "2" });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      // The turn is handed on, or given back.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/** Times the number that run: so many may wait. */
const WAITING = 8;
