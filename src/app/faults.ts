/** Errors that no code has caught: each ends its request or is logged, and the process goes on. */
import { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../log.js";

type Emitted = Parameters<IncomingMessage["emit"]>;

/**
 * A request whose listeners may throw. A body is read in callbacks, and nobody else catches what
 * those throw.
 */
export class ContainedRequest extends IncomingMessage {
  /** Answers the request with the error. */
  onFault: ((error: unknown) => void) | undefined;

  override emit(...emitted: Emitted): boolean {
    try {
      return super.emit(...emitted);
    } catch (error) {
      if (!this.onFault) throw error;
      this.onFault(error);
      return true;
    }
  }
}

/** The same for the answer. */
export class ContainedResponse extends ServerResponse<ContainedRequest> {
  override emit(...emitted: Emitted): boolean {
    try {
      return super.emit(...emitted);
    } catch (error) {
      if (!this.req.onFault) throw error;
      this.req.onFault(error);
      return true;
    }
  }
}

/**
 * Logs what is thrown in a timer or a thread, and rejections that nobody handles: neither is worth
 * the requests and jobs of everybody else. Only for a process that is the registry alone.
 */
export function surviveFaults(log: Log): void {
  process
    .on("uncaughtException", (error) => reportFault(log, error))
    .on("unhandledRejection", (reason) => reportFault(log, reason));
}

/** Logs an error without its further members, which may hold what a client sent. */
export function reportFault(log: Log, error: unknown): void {
  const err =
    error instanceof Error
      ? { type: error.name, message: error.message, stack: error.stack }
      : { type: typeof error, message: String(error).slice(0, 500) };
  log.error({ err }, "an error was caught by no code; the registry goes on");
}
