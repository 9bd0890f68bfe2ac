import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connectionError } from "./connection-error.js";

export interface Sending {
  method?: string;
  headers?: Record<string, string>;
  /** A stream is sent as it comes; without a `Content-Length` among the headers in chunks. */
  body?: string | Buffer | Readable;
  signal?: AbortSignal;
}

/** How long a connection may be silent, in ms. */
const SILENCE = 60_000;

/**
 * One request. Answers when the status is there; the body is read from the answer.
 * @throws ConnectionError and Failure as {@link connectionError}; what a body that is a stream fails with; the signal's reason
 */
export async function exchange(url: URL, { method = "GET", headers = {}, body, signal }: Sending): Promise<IncomingMessage> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...(signal ? { signal } : {}) });
    const fail = (error: NodeJS.ErrnoException): void => reject(signal?.aborted === true ? (signal.reason as Error) : connectionError(url.origin, error));
    sent.setTimeout(SILENCE, () => sent.destroy(Object.assign(new Error(`silent for ${SILENCE / 1000} s`), { code: "ETIMEDOUT" })));
    // An early refusal comes before all is sent; what the socket says afterwards does not matter.
    sent.on("response", resolve);
    sent.on("error", fail);
    if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) sent.end(body);
    else {
      let broken: unknown;
      body.once("error", (error) => (broken = error));
      pipeline(body, sent).catch((error: NodeJS.ErrnoException) => {
        sent.destroy();
        if (broken !== undefined && broken === error) reject(error);
        else fail(error);
      });
    }
  });
}

/** The whole body of an answer. @throws ConnectionError when it breaks off */
export async function readText(answer: IncomingMessage, url: URL): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of answer) parts.push(part as Buffer);
  } catch (error) {
    throw connectionError(url.origin, error as NodeJS.ErrnoException);
  }
  return Buffer.concat(parts).toString("utf8");
}
