/**
 * A SPARQL endpoint: its settings, requests to it, and its answers, which are read within limits.
 */
import type { IncomingMessage } from "node:http";
import type { MessagePort } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { isFault, isWell, KeptConnections, type PoolLoad } from "../../connections.js";
import type { LeaseStore } from "../../records/port.js";
import type { EngineLog } from "../port.js";

/**
 * Address of a SPARQL 1.1 endpoint, and how to speak to it. It comes from the operator's settings,
 * never from users' data.
 */
export interface EndpointAddress {
  /** SPARQL_QUERY_URL and SPARQL_UPDATE_URL; query parameters in them are sent along. */
  queryUrl: string;
  updateUrl: string;
  /** SPARQL_USER and SPARQL_PASSWORD: HTTP Basic authentication. */
  user?: string;
  password?: string;
  /** Of a server that the registry runs itself. */
  server?: ServerCare;
}

/** What a server of the registry's own is told, and tells. */
interface ServerCare {
  /** A connection was closed before its answer was complete; the server may not notice. */
  givenUp(): void;
  /** Resolves once a server that was ended on purpose answers again; otherwise `undefined`. */
  replaced(): Promise<void> | undefined;
}

/** Settings of the projection. */
export interface ProjectionOptions {
  /** PROJECTION_BATCH: bytes of one update. */
  batch: number;
  /** PROJECTION_LEASE: ms that a node holds the projection after its last heartbeat. */
  lease: number;
  /**
   * PROJECTION_POLL: ms between polls of the endpoint and of the change log when no commit is
   * announced.
   */
  poll: number;
  /** PROJECTION_TIMEOUT: ms after which an update without an answer counts as lost. */
  timeout: number;
  /** Graphs read from the feed at a time. */
  pageSize: number;
}

export interface EndpointOptions extends EndpointAddress, Partial<ProjectionOptions> {
  /** Opens a feed of the record store. */
  openFeed: () => MessagePort;
  leases: LeaseStore;
  /**
   * Permanent name of the record store: an endpoint filled from another record store is not
   * changed.
   */
  source: () => Promise<string>;
  /** SPARQL_POOL: connections at a time. */
  pool?: number;
  /** INDEX_WAIT and QUERY_TIMEOUT, ms. */
  indexWait?: number;
  queryTimeout?: number;
  log?: EngineLog;
}

export const DEFAULTS = {
  batch: 2 ** 20,
  lease: 10_000,
  poll: 250,
  timeout: 120_000,
  pageSize: 500,
  pool: 8,
  indexWait: 2_000,
  queryTimeout: 30_000,
};
/** All options; defaults stand in for absent ones. */
export type WholeOptions = Required<Omit<EndpointOptions, "user" | "password" | "server">> &
  EndpointOptions;

/**
 * The endpoint's own bookkeeping beside the graphs: one statement, in a graph of its own, holds the
 * position of the projection. Every update names the position that it expects, does nothing when it
 * finds another one, and otherwise replaces it by the next. So an update that arrives twice, or
 * from a node that has lost the projection, has no effect.
 */
export interface Position {
  /** Name of the record store that the graphs are made from. */
  source: string;
  /** Of the lease under which it was written. */
  fence: number;
  /** `fill` and `catch`: not to be read yet. `done`: holds every commit up to the sequence. */
  phase: "clear" | "fill" | "catch" | "done";
  sequence: number;
  /** While filling: position of the feed after which to go on. */
  after: number;
  /**
   * Number of updates already made of those that lead to the next position; 0 at a commit's end.
   */
  part: number;
}

/** IRIs of the service's own, which no record and no query may use. */
export const RESERVED = "urn:arkgraph:projection";
export const POSITION_GRAPH = RESERVED;
const POSITION_PREDICATE = `${RESERVED}:at`;
/** Hidden from users' queries. */
export const BOOKKEEPING = {
  prefix: RESERVED,
  predicate: POSITION_PREDICATE,
  graph: POSITION_GRAPH,
};
const VALUE = `${RESERVED}:is:`;

/** The position as an IRI: a literal might come back rewritten. */
const iriOf = ({ source, fence, phase, sequence, after, part }: Position): string =>
  `${VALUE}${source}:${fence}:${phase}:${sequence}:${after}:${part}`;

function positionOf(iri: string): Position | undefined {
  const [source, fence, phase, sequence, after, part] = iri.slice(VALUE.length).split(":");
  if (!iri.startsWith(VALUE) || source === undefined || part === undefined) return undefined;
  return {
    source,
    fence: Number(fence),
    phase: phase as Position["phase"],
    sequence: Number(sequence),
    after: Number(after),
    part: Number(part),
  };
}

export const samePosition = (one: Position | undefined, other: Position | undefined): boolean =>
  (one && iriOf(one)) === (other && iriOf(other));

/** The block that a WHERE, a DELETE or an INSERT holds a position in. */
export const positionBlock = (position: Position | "?any"): string =>
  `GRAPH <${POSITION_GRAPH}> { <${POSITION_GRAPH}> <${POSITION_PREDICATE}> ` +
  `${position === "?any" ? position : `<${iriOf(position)}>`} }`;

/**
 * Asks for the position of the projection, and whether the default graph shows the statements of
 * the named graphs.
 */
export const LOOK = `SELECT ?at ?seen { ${positionBlock("?any").replace("?any", "?at")}
    OPTIONAL { <${POSITION_GRAPH}> <${POSITION_PREDICATE}> ?seen } }`;

/** The result of one poll of the endpoint. */
export interface Sight {
  /**
   * More than one: two updates collided, and the content of the graphs is unknown. None: the
   * endpoint was never filled, or was emptied.
   */
  positions: Position[];
  /** False: the default graph is not the union of the named ones. */
  union: boolean;
}

/** @param json results of {@link LOOK} */
export function sightIn(json: string): Sight {
  const { bindings } = (
    JSON.parse(json) as {
      results: { bindings: { at?: { value: string }; seen?: { value: string } }[] };
    }
  ).results;
  const positions = new Map(
    bindings.map(({ at }) => [at?.value ?? "", positionOf(at?.value ?? "")]),
  );
  return {
    positions: [...positions.values()].filter((position) => position !== undefined),
    union: bindings.every(({ seen }) => seen !== undefined),
  };
}

/**
 * Requests to a SPARQL endpoint, and its answers, which are read in part or whole within limits.
 */

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
  readonly #server: ServerCare | undefined;

  constructor({ queryUrl, updateUrl, user, password, server }: EndpointAddress, pool: number) {
    this.#server = server;
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
  text(query: string, asked: Asked): Promise<string> {
    return this.whole(async () => {
      const parts: Buffer[] = [];
      for await (const part of this.query(query, asked)) parts.push(part);
      return Buffer.concat(parts).toString("utf8");
    });
  }

  /** Reads an answer, and once more when the server was ended because of another query. */
  async whole<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const replaced = this.#server?.replaced();
      if (!replaced || !(error instanceof ServiceError) || error.code !== "STORE_UNAVAILABLE")
        throw error;
      await replaced;
      return await read();
    }
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
    const abort = (): void => ending.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    let complete = false;
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
      complete = true;
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason as Error;
      throw isFault(error) ? away(`it cannot be reached (${error.code})`) : error;
    } finally {
      clearTimeout(clock);
      signal?.removeEventListener("abort", abort);
      // A caller that stops reading does not want the rest: the connection is closed. A server that
      // notices it ends the query.
      ending.abort(away("its answer is no longer needed"));
      if (!complete) this.#server?.givenUp();
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
