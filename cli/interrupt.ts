import { note } from "./render/terminal-progress.js";

/** Ctrl+C as other programs end by it. */
const INTERRUPTED = 130;

/** What Ctrl+C means while a command works: it ends the work, and one line tells how to go on. */
export class Interruptible {
  readonly #ended = new AbortController();
  /** What to tell; a command changes it as it gets on. */
  hint: string;

  constructor(hint: string) {
    this.hint = hint;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Runs work that heeds {@link signal}. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    const stop = (): void => this.#ended.abort();
    process.once("SIGINT", stop).once("SIGTERM", stop);
    try {
      return await work();
    } catch (error) {
      if (!this.signal.aborted) throw error;
      note(this.hint);
      process.exitCode = INTERRUPTED;
      return undefined;
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    }
  }
}
