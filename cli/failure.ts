import { note } from "./render/terminal-progress.js";

/** A failure whose message is written for the person at the terminal. */
export class Failure extends Error {}

/** Any error as one line without a stack. */
export function failureLine(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const place = path === undefined ? "" : `${path}: `;
  if (code === "ENOENT") return `${place}there is no such file or folder`;
  if (code === "EACCES" || code === "EPERM") return `${place}permission denied`;
  if (code === "EADDRINUSE") return "the address is in use: set PORT to another one";
  return String(message ?? error).replaceAll(/\s*\n\s*/g, " ");
}

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
