/** So many things at a time; the others wait for their turn in the order they came. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Runs `work` when there is a place. @throws the signal's reason when that comes first; what `work` throws */
  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #take(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(signal.reason as Error);
      };
      const next = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      this.#waiting.push(next);
      signal.addEventListener("abort", abort, { once: true });
    });
  }
}
