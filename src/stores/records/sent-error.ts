import { type ErrorCode, ServiceError } from "../../errors.js";
import { FenceLost } from "./fence.js";

/** An error on its way between threads, where classes are lost. */
export type SentError =
  | { type: "service"; code: ErrorCode; message: string; extra: Record<string, unknown>; headers: Record<string, string> }
  | { type: "fence"; submission: string; attempt: number; message: string }
  | { type: "fault"; message: string; stack: string | undefined };

/** @param asStoreError what a failure of the store is to whoever asked it */
export function asSent(cause: unknown, asStoreError: (error: unknown) => unknown): SentError {
  const error = asStoreError(cause);
  if (error instanceof ServiceError) return { type: "service", code: error.code, message: error.message, extra: { ...error.extra }, headers: { ...error.headers } };
  if (error instanceof FenceLost) return { type: "fence", submission: error.submission, attempt: error.attempt, message: error.message };
  return { type: "fault", message: (error as Error)?.message ?? String(error), stack: (error as Error)?.stack };
}

export function receiveError(sent: SentError): Error {
  if (sent.type === "service") return new ServiceError(sent.code, sent.message, sent.extra, sent.headers);
  if (sent.type === "fence") {
    const lost = new FenceLost(sent.submission, sent.attempt, "");
    lost.message = sent.message;
    return lost;
  }
  const fault = new Error(sent.message);
  if (sent.stack !== undefined) fault.stack = sent.stack;
  return fault;
}
