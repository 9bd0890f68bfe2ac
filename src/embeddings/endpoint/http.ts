import { setMaxListeners } from "node:events";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { EmbeddingsRefused } from "../port.js";
import { away, late, refusalOf } from "./refusals.js";

/** Bytes of an error's body that are read. */
const REASON = 8 * 2 ** 10;
/** ms that an idle connection is kept: shorter than servers do. */
const KEPT = 4_000;

export interface Call {
  /** Absent: GET. */
  json?: unknown;
  /** Bytes of the longest answer that is read. */
  longest: number;
  /** ms until the last byte. */
  timeout: number;
  /** Since when, by `performance.now()`, where this call is one of several that have the time together; by default from now on. */
  begun?: number;
  /** The setting it comes from, for the error. */
  setting: string;
  signal?: AbortSignal | undefined;
}

const isWell = ({ statusCode: status = 0 }: IncomingMessage): boolean => status >= 200 && status <= 299;

/** JSON over HTTP to one server, over a pool of connections, without following redirections. A call whose asker has gone, or is too late, is ended with its connection. */
export class EmbeddingsHttp {
  readonly #agent;
  readonly #closing = new AbortController();

  constructor(private readonly base: string, private readonly key: string | undefined, pool: number) {
    // One for each call that is under way.
    setMaxListeners(0, this.#closing.signal);
    const options = { keepAlive: true, maxSockets: pool, maxFreeSockets: pool, timeout: KEPT };
    this.#agent = new URL(base).protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** The text of a 2xx answer. @throws Outage, EmbeddingsRefused, the reason of the signal */
  async text(path: string, { json, longest, timeout, begun = performance.now(), setting, signal }: Call): Promise<string> {
    const ending = new AbortController();
    const clock = setTimeout(() => ending.abort(late(timeout, setting)), begun + timeout - performance.now());
    const signals = [this.#closing.signal, ...(signal ? [signal] : [])];
    const end = (): void => ending.abort(signals.find(({ aborted }) => aborted)!.reason);
    for (const one of signals) one.addEventListener("abort", end, { once: true });
    if (signals.some(({ aborted }) => aborted)) end();
    try {
      const answer = await this.#answer(path, json, ending.signal);
      if (!isWell(answer)) throw refusalOf(answer.statusCode!, await this.#reason(answer), this.key);
      return await gathered(answer, longest);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      throw isFault(error) ? away(`cannot be reached (${(error as NodeJS.ErrnoException).code})`) : error;
    } finally {
      clearTimeout(clock);
      for (const one of signals) one.removeEventListener("abort", end);
      // What was not read to its end is not wanted: the connection ends, and with it, where the server sees it, the work.
      ending.abort(away("is not listened to any more"));
    }
  }

  close(): void {
    this.#closing.abort(away("is not asked any more: the registry is stopping"));
    this.#agent.destroy();
  }

  /** A kept connection that the server has just closed is no fault: every call here may be sent twice. */
  async #answer(path: string, json: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json), "utf8");
    const headers = {
      Accept: "application/json", "Accept-Encoding": "identity",
      ...(body && { "Content-Type": "application/json", "Content-Length": String(body.length) }),
      ...(this.key !== undefined && { Authorization: `Bearer ${this.key}` }),
    };
    const options: RequestOptions = { method: body ? "POST" : "GET", headers, signal, agent: this.#agent };
    for (;;) {
      signal.throwIfAborted();
      let reused = false;
      try {
        return await new Promise<IncomingMessage>((resolve, reject) => {
          const request = (this.#agent instanceof HttpsAgent ? httpsRequest : httpRequest)(this.base + path, options, (answer) => {
            // Some servers refuse without reading what they were sent, and take that for the connection's next request.
            if (!isWell(answer)) request.shouldKeepAlive = false;
            resolve(answer);
          });
          request.on("error", (error) => {
            reused = request.reusedSocket;
            reject(error);
          });
          request.end(body);
        });
      } catch (error) {
        if (!reused || signal.aborted || !isFault(error)) throw error;
      }
    }
  }

  /** The beginning of an error's body; where it is cut, a part of the key might stand that would not be known as such. */
  async #reason(answer: IncomingMessage): Promise<string> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of answer) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size > REASON) return Buffer.concat(parts).subarray(0, REASON).toString("utf8").slice(0, -2 * (this.key?.length ?? 0) || undefined);
    }
    return Buffer.concat(parts).toString("utf8");
  }
}

async function gathered(answer: IncomingMessage, longest: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer) {
    parts.push(part as Buffer);
    if ((size += (part as Buffer).length) > longest) throw new EmbeddingsRefused(`the embeddings server answers nonsense: its answer is longer than ${longest} bytes`);
  }
  if (!answer.complete) throw away("broke off its answer");
  return Buffer.concat(parts).toString("utf8");
}

const isFault = (error: unknown): boolean => error instanceof Error && typeof (error as NodeJS.ErrnoException).code === "string";
