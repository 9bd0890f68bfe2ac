import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { ServiceError } from "../errors.js";

/** The current use of a pool of connections. */
export interface PoolLoad {
  /** Connections that are open, idle ones included. */
  total: number;
  idle: number;
  /** Requests that wait for a connection. */
  waiting: number;
}

/**
 * Loads of pools by name. Names are fixed, and letters and underscores only: they become labels of
 * metrics.
 */
export type PoolLoads = Readonly<Record<string, PoolLoad>>;

/** ms that an idle connection stays open: shorter than on common servers. */
const IDLE_MS = 4_000;

/** True for an error of the connection, such as ECONNREFUSED. */
export const isFault = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  !(error instanceof ServiceError) &&
  typeof (error as NodeJS.ErrnoException).code === "string";

/**
 * Requests over connections that are kept. Redirections are not followed. A pool of undici would
 * use a connection again after a refusal, and take the unread body for the next request.
 */
export class KeptConnections {
  readonly #http;
  readonly #https;

  /** @param most connections at a time */
  constructor(most: number) {
    const options = { keepAlive: true, maxSockets: most, maxFreeSockets: most, timeout: IDLE_MS };
    this.#http = new HttpAgent(options);
    this.#https = new HttpsAgent(options);
  }

  /**
   * Sends a request that may be sent twice: it is no fault when the server has just closed an idle
   * connection.
   */
  async send(
    url: URL,
    options: Pick<RequestOptions, "method" | "headers"> & { signal: AbortSignal },
    body?: Buffer,
  ): Promise<IncomingMessage> {
    const [request, agent] =
      url.protocol === "https:" ? [httpsRequest, this.#https] : [httpRequest, this.#http];
    for (;;) {
      options.signal.throwIfAborted();
      let reused = false;
      try {
        return await new Promise<IncomingMessage>((resolve, reject) => {
          const sent = request(url, { ...options, agent }, (answer) => {
            // Some servers refuse a request without reading its body, and take the body for the
            // connection's next request.
            if (!isWell(answer)) sent.shouldKeepAlive = false;
            resolve(answer);
          });
          sent.on("error", (error) => {
            reused = sent.reusedSocket;
            reject(error);
          });
          sent.end(body);
        });
      } catch (error) {
        if (!reused || options.signal.aborted || !isFault(error)) throw error;
      }
    }
  }

  load(): PoolLoad {
    const count = (lists: NodeJS.ReadOnlyDict<readonly unknown[]>): number =>
      Object.values(lists).reduce((sum, list) => sum + (list?.length ?? 0), 0);
    const load = { total: 0, idle: 0, waiting: 0 };
    for (const agent of [this.#http, this.#https]) {
      const idle = count(agent.freeSockets);
      load.total += count(agent.sockets) + idle;
      load.idle += idle;
      load.waiting += count(agent.requests);
    }
    return load;
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

export const isWell = ({ statusCode: status = 0 }: IncomingMessage): boolean =>
  status >= 200 && status <= 299;
