import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { cutMessage, ServiceError, ValidationError } from "../errors.js";
import { type Log, reportDamage } from "../services/log.js";
import { SAFE_HEADERS } from "./reply.js";

/**
 * The error body and headers of anything thrown. An internal fault never shows its text: the client
 * gets an id that is also in the log.
 */
export function errorAnswer(
  error: unknown,
  log: Log,
  request?: string,
): { status: number; body: object; headers: Record<string, string> } {
  if (error instanceof ValidationError)
    return { status: 422, body: { detail: error.items }, headers: {} };
  reportDamage(log, error);
  if (error instanceof ServiceError) {
    const headers: Record<string, string> = { ...error.headers };
    if (error.status === 401) headers["WWW-Authenticate"] ??= "Bearer";
    if (error.status === 503) headers["Retry-After"] ??= "1";
    return {
      status: error.status,
      body: { detail: cutMessage(error.message), code: error.code, ...error.extra },
      headers,
    };
  }
  const id = randomUUID();
  log.error(
    { err: error, fault: id, ...(request === undefined ? {} : { request }) },
    "a request failed with an internal error",
  );
  return {
    status: 500,
    body: {
      detail: `Internal error of the service; its log has the details under ${id}.`,
      code: "INTERNAL",
    },
    headers: {},
  };
}

/** Unchanged where its escapes do not decode to text. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** How long a client may continue to send a refused body before the connection is closed. */
const LINGER = 2_000;

/**
 * Answers before the body has arrived. The rest of the body is read and discarded for a short time:
 * closing at once would reset the connection, and the client might never see the answer.
 */
export function refuseEarly(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string>,
): void {
  sendEarly(req, res, status, Buffer.from(JSON.stringify(body)), {
    "Content-Type": "application/json",
    ...headers,
  });
}

/** The same for any answer. */
export function sendEarly(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  bytes: Uint8Array,
  headers: Record<string, string>,
): void {
  res.writeHead(status, {
    ...SAFE_HEADERS,
    "Content-Length": bytes.length,
    ...headers,
    Connection: "close",
  });
  res.write(bytes);
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER).unref();
  req.on("end", end).on("error", end).on("close", end).resume();
}
