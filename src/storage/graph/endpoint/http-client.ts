import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../../errors.js";
import { isFault, isWell, KeptConnections, type PoolLoad } from "../../connections.js";
import type { EndpointAddress } from "./options.js";

/** The endpoint has read a request and refuses it: sent again it would be refused again. */
export class EndpointRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "EndpointRefusal";
  }
}

const AGAIN = { "Retry-After": "5" };

/** @param reason for the log's reader and the caller alike: it names settings, no hosts */
export const away = (reason: string): ServiceError =>
  new ServiceError(
    "STORE_UNAVAILABLE",
    `The SPARQL endpoint cannot be used: ${reason}. Records, lists and writes still ` +
      "work; try again later.",
    {},
    AGAIN,
  );

const late = (timeout: number, setting = "QUERY_TIMEOUT"): ServiceError =>
  new ServiceError(
    "QUERY_TIMEOUT",
    `The query ran longer than ${timeout} ms (${setting}) and was ended; ask for less at a time.`,
    {},
    { "Retry-After": "1" },
  );

/** Limits of the endpoint's own, in its own words. */
const TIMED_OUT = /time[d -]{0,2}out|time limit|cancelled/i;

/**
 * The meaning of an answer that is not 2xx.
 * @param body the beginning of the answer
 */
function refusalOf(status: number, body: string): Error {
  const words = body.replaceAll(/\s+/g, " ").trim().slice(0, 300);
  if (status === 401 || status === 403)
    return away(`it answers ${status}; see SPARQL_USER and SPARQL_PASSWORD`);
  if (status === 404 || status === 405)
    return away(`it answers ${status}; see SPARQL_QUERY_URL and SPARQL_UPDATE_URL`);
  if (status >= 300 && status < 400)
    return away(
      `it answers ${status}, a redirect, which is not followed; set SPARQL_QUERY_URL and ` +
        "SPARQL_UPDATE_URL to its target",
    );
  if (status === 408 || (status >= 500 && TIMED_OUT.test(words)))
    return new ServiceError(
      "QUERY_TIMEOUT",
      "The SPARQL endpoint ended the query by a time limit of its own; ask for less at a time.",
      {},
      { "Retry-After": "1" },
    );
  if (status === 429 || status >= 500) return away(`it answers ${status}`);
  return new EndpointRefusal(status, words);
}

/** Bytes of an error's body that are read. */
const REASON = 2048;

interface Asked {
  /** Media type of the answer. */
  accept: string;
  /** ms until the last byte. */
  timeout: number;
  /** The setting it comes from, for the error. */
  setting?: string;
  signal?: AbortSignal;
  dataset?: { default: readonly string[]; named: readonly string[] };
}

/**
 * SPARQL 1.1 Protocol over a pool of connections. A request whose caller has gone, or that is too
 * late, is ended with its connection.
 */
export class SparqlHttp {
  readonly #connections: KeptConnections;
  readonly #query;
  readonly #update;
  readonly #authorization: string | undefined;

  constructor({ queryUrl, updateUrl, user, password }: EndpointAddress, pool: number) {
    this.#query = new URL(queryUrl);
    this.#update = new URL(updateUrl);
    this.#connections = new KeptConnections(pool);
    this.#authorization =
      user === undefined
        ? undefined
        : `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
  }

  /**
   * The bytes of an answer, as they come.
   * @throws ServiceError `STORE_UNAVAILABLE`, `QUERY_TIMEOUT`; EndpointRefusal; the reason of the
   * signal
   */
  async *query(
    text: string,
    { dataset, ...asked }: Asked,
  ): AsyncGenerator<Buffer, void, undefined> {
    const url = new URL(this.#query);
    for (const iri of dataset?.default ?? []) url.searchParams.append("default-graph-uri", iri);
    for (const iri of dataset?.named ?? []) url.searchParams.append("named-graph-uri", iri);
    yield* this.#send(url, "application/sparql-query; charset=utf-8", text, asked);
  }

  /** The whole of an answer as text. @throws as {@link query} */
  async text(query: string, asked: Asked): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.query(query, asked)) parts.push(part);
    return Buffer.concat(parts).toString("utf8");
  }

  /**
   * Resolves once the endpoint reports that the update is done. The caller has to find out what an
   * error means for the data.
   * @throws as {@link query}
   */
  async update(text: string, asked: Pick<Asked, "timeout" | "signal">): Promise<void> {
    for await (const _ of this.#send(
      this.#update,
      "application/sparql-update; charset=utf-8",
      text,
      { accept: "*/*", setting: "PROJECTION_TIMEOUT", ...asked },
    ))
      void _;
  }

  /** How its connections are used. */
  load(): PoolLoad {
    return this.#connections.load();
  }

  close(): void {
    this.#connections.close();
  }

  async *#send(
    url: URL,
    contentType: string,
    text: string,
    { accept, timeout, setting, signal }: Asked,
  ): AsyncGenerator<Buffer, void, undefined> {
    const body = Buffer.from(text, "utf8");
    const ending = new AbortController();
    const clock = setTimeout(() => ending.abort(late(timeout, setting)), timeout);
    const abort = (): void => ending.abort(signal!.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const headers = {
        Accept: accept,
        "Content-Type": contentType,
        "Content-Length": String(body.length),
        ...(this.#authorization !== undefined && { Authorization: this.#authorization }),
      };
      const options = { method: "POST", headers, signal: ending.signal };
      const answer = await this.#connections.send(url, options, body);
      if (!isWell(answer)) throw refusalOf(answer.statusCode!, await beginning(answer));
      for await (const part of answer) yield part as Buffer;
      if (!answer.complete) throw away("its answer ended early");
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason as Error;
      throw isFault(error) ? away(`it cannot be reached (${error.code})`) : error;
    } finally {
      clearTimeout(clock);
      signal?.removeEventListener("abort", abort);
      // A caller that stops reading does not want the rest: the connection is closed. A server that
      // notices it ends the query.
      ending.abort(away("its answer is no longer needed"));
    }
  }
}

async function beginning(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of answer) {
    text += (part as Buffer).toString("utf8");
    if (text.length > REASON) break;
  }
  return text;
}
