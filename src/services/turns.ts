import { ServiceError } from "../errors.js";

/**
 * Lets a number of works run at a time; others wait in line, until their signal ends that. Past the
 * line's end they are refused.
 */
export class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly closing = new AbortController();

  /**
   * @param most how many run at a time
   * @param line how many may wait
   */
  constructor(
    private readonly most: number,
    private readonly line = Infinity,
  ) {}

  /**
   * @param signal ends the waiting, and is handed on to the work
   * @throws the signal's reason; ServiceError `BUSY` past the line's end, `SHUTTING_DOWN` once it
   * is closed
   */
  async run<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const either = AbortSignal.any([signal, this.closing.signal]);
    either.throwIfAborted();
    if (this.running >= this.most) {
      if (this.waiting.length >= this.line)
        throw new ServiceError(
          "BUSY",
          `${this.running} of these run and ${this.waiting.length} wait, which is all that ` +
            "may; try again in a moment.",
          {},
          { "Retry-After": "2" },
        );
      await this.turn(either);
    } else this.running++;
    try {
      return await work(either);
    } finally {
      const next = this.waiting.shift();
      // Whoever comes next takes over the place.
      if (next) next();
      else this.running--;
    }
  }

  /** How many run, and how many wait. */
  load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting.length };
  }

  /** Ends what runs and what waits. */
  close(): void {
    this.closing.abort(
      new ServiceError("SHUTTING_DOWN", "The service is stopping: ask again in a moment."),
    );
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.waiting.push(begin);
    });
  }
}
