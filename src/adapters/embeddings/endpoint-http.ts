import { setMaxListeners } from "node:events";
import type { IncomingMessage } from "node:http";
import { Outage } from "../../errors.js";
import { isFault, isWell, KeptConnections } from "../../storage/connections.js";
import { EmbeddingsRefused } from "./port.js";

/** The server refuses the texts: it may accept fewer or shorter ones. */
export class InputRefused extends EmbeddingsRefused {}

/** Characters of the server's own words that are passed on. */
const LONGEST_WORDS = 300;
/** Answers that may be others in a while. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** Statuses of servers that do not have the call at all, and will not soon. */
const UNABLE: ReadonlySet<number> = new Set([501, 505]);
/** Statuses for texts, or lists of texts, that are longer than the server accepts. */
const TOO_MUCH: ReadonlySet<number> = new Set([400, 413, 422]);
/** The advice for an operator about a status. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: "check EMBEDDINGS_KEY",
  403: "check EMBEDDINGS_KEY",
  404: "check EMBEDDINGS_URL, to which /embeddings is appended, and EMBEDDINGS_MODEL",
  405: "check EMBEDDINGS_URL, to which /embeddings is appended",
  413: "check EMBEDDINGS_BATCH and EMBEDDINGS_MAX_TEXT",
};

/** @param reason names settings, no hosts */
export const unavailable = (reason: string): Outage =>
  new Outage(`the embeddings server ${reason}`);

/** @param setting where the time comes from */
const late = (timeout: number, setting: string): Outage =>
  unavailable(`did not answer within ${setting}=${timeout} ms`);

/**
 * The meaning of an answer that is not 2xx.
 * @param body the beginning of the answer
 */
function refusalOf(status: number, body: string, key: string | undefined): Error {
  const remedy =
    status >= 300 && status < 400
      ? "a redirect, which is not followed; set EMBEDDINGS_URL to its target"
      : REMEDIES[status];
  // Servers that refuse a key often repeat it, whole or in parts.
  const words = status === 401 || status === 403 ? "" : wordsOf(body, key);
  const message =
    "answers " +
    `${status}${remedy === undefined ? "" : `, ${remedy}`}${words === "" ? "" : `: ${words}`}`;
  if (PASSING.has(status) || (status >= 500 && !UNABLE.has(status))) return unavailable(message);
  return new (TOO_MUCH.has(status) ? InputRefused : EmbeddingsRefused)(
    `the embeddings server ${message}`,
  );
}

/** The server's message, in one line and without the key. */
function wordsOf(body: string, key: string | undefined): string {
  const stated = messageOf(body);
  const hidden =
    key === undefined
      ? stated
      : stated
          .replaceAll(key, "…")
          .replaceAll(key.replaceAll("/", "\\/"), "…")
          .replaceAll(JSON.stringify(key).slice(1, -1), "…");
  const line = hidden.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > LONGEST_WORDS ? `${line.slice(0, LONGEST_WORDS).toWellFormed()}…` : line;
}

/**
 * `error.message` as OpenAI's API has it, other members that servers put theirs into, else the body
 * as it is.
 */
function messageOf(body: string): string {
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    for (const stated of [
      (error as { message?: unknown } | undefined)?.message,
      error,
      message,
      detail,
    ])
      if (typeof stated === "string") return stated;
  } catch {
    // Not every proxy in front of a server speaks JSON.
  }
  return body;
}

/** Bytes of an error's body that are read. */
const REASON = 8 * 2 ** 10;

export interface Call {
  /** Absent: GET. */
  json?: unknown;
  /** Bytes of the longest answer that is read. */
  longest: number;
  /** ms until the last byte. */
  timeout: number;
  /**
   * Since when, by `performance.now()`, where this call is one of several that have the time
   * together; by default from now on.
   */
  begun?: number;
  /** The setting it comes from, for the error. */
  setting: string;
  signal?: AbortSignal | undefined;
}

/**
 * JSON over HTTP to one server, over a pool of connections, without following redirections. A call
 * whose caller has gone, or that is too late, is ended with its connection.
 */
export class EmbeddingsHttp {
  readonly #connections: KeptConnections;
  readonly #closing = new AbortController();

  readonly #base: string;
  readonly #key: string | undefined;

  constructor(base: string, key: string | undefined, pool: number) {
    this.#base = base;
    this.#key = key;

    // One for each call that is under way.
    setMaxListeners(0, this.#closing.signal);
    this.#connections = new KeptConnections(pool);
  }

  /** The text of a 2xx answer. @throws Outage, EmbeddingsRefused, the reason of the signal */
  async text(
    path: string,
    { json, longest, timeout, begun = performance.now(), setting, signal }: Call,
  ): Promise<string> {
    const ending = new AbortController();
    const clock = setTimeout(
      () => ending.abort(late(timeout, setting)),
      begun + timeout - performance.now(),
    );
    const signals = [this.#closing.signal, ...(signal ? [signal] : [])];
    const end = (): void => ending.abort(signals.find(({ aborted }) => aborted)!.reason);
    for (const one of signals) one.addEventListener("abort", end, { once: true });
    if (signals.some(({ aborted }) => aborted)) end();
    try {
      const answer = await this.#answer(path, json, ending.signal);
      if (!isWell(answer))
        throw refusalOf(answer.statusCode!, await this.#reason(answer), this.#key);
      return await gathered(answer, longest);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      throw isFault(error) ? unavailable(`cannot be reached (${error.code})`) : error;
    } finally {
      clearTimeout(clock);
      for (const one of signals) one.removeEventListener("abort", end);
      // A body that was not read to its end is not wanted: the connection is closed. A server that
      // notices it ends the computation.
      ending.abort(unavailable("is not listened to any more"));
    }
  }

  close(): void {
    this.#closing.abort(unavailable("is not used any more: the registry is stopping"));
    this.#connections.close();
  }

  #answer(path: string, json: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json), "utf8");
    const headers = {
      Accept: "application/json",
      "Accept-Encoding": "identity",
      ...(body && { "Content-Type": "application/json", "Content-Length": String(body.length) }),
      ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
    };
    const options = { method: body ? "POST" : "GET", headers, signal };
    return this.#connections.send(new URL(this.#base + path), options, body);
  }

  /**
   * The beginning of an error's body; a part of the key at the cut would not be recognised, so it
   * is left out.
   */
  async #reason(answer: IncomingMessage): Promise<string> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of answer) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size > REASON)
        return Buffer.concat(parts)
          .subarray(0, REASON)
          .toString("utf8")
          .slice(0, -2 * (this.#key?.length ?? 0) || undefined);
    }
    return Buffer.concat(parts).toString("utf8");
  }
}

async function gathered(answer: IncomingMessage, longest: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer) {
    parts.push(part as Buffer);
    if ((size += (part as Buffer).length) > longest)
      throw new EmbeddingsRefused(
        `the embeddings server sent an invalid answer: its answer is longer than ${longest} bytes`,
      );
  }
  if (!answer.complete) throw unavailable("ended its answer early");
  return Buffer.concat(parts).toString("utf8");
}
