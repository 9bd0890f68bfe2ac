import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { note } from "./render.js";

/** A failure whose message is written for the person at the terminal. */
export class Failure extends Error {}

/** Any error as one line without a stack. */
export function failureLine(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const place = path === undefined ? "" : `${path}: `;
  if (code === "ENOENT") return `${place}there is no such file or folder`;
  if (code === "EACCES" || code === "EPERM") return `${place}permission denied`;
  if (code === "EADDRINUSE") return "the address is in use: set PORT to another one";
  return (message ?? String(error)).replaceAll(/\s*\n\s*/g, " ");
}

/** The exit status that programs use after Ctrl+C. */
const INTERRUPTED = 130;

/**
 * Handles Ctrl+C while a command runs: it ends the operation, and one line says how to continue.
 */
export class Interruptible {
  readonly #ended = new AbortController();
  /** The line to print; a command changes it with its progress. */
  hint: string;

  constructor(hint: string) {
    this.hint = hint;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Runs an operation that observes {@link signal}. */
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

/**
 * The error of opening a file for writing. If its folder is missing, the error says so and how to
 * fix it.
 */
export async function writeFailure(target: string, error: unknown): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR") return error;
  const folder = dirname(target);
  // Any part of the path may be a file.
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found && !found.isDirectory())
      return new Failure(`${at}: it is a file, not a folder; write to another path`, {
        cause: error,
      });
    if (found || at === dirname(at)) break;
  }
  if (await stat(folder).catch(() => undefined)) return error;
  return new Failure(
    `${folder}: there is no such folder; create it first (mkdir -p), or write to another path`,
    { cause: error },
  );
}
