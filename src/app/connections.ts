import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isIP, type Socket } from "node:net";
import { blockList, networkOf, plainAddress } from "../config/client.js";
import type { Config } from "../config/config.js";
import { ServiceError } from "../errors.js";

type ConnectionSettings = Pick<
  Config,
  | "MAX_CONNECTIONS"
  | "MAX_CONNECTIONS_PER_ADDRESS"
  | "HEADERS_TIMEOUT"
  | "KEEP_ALIVE_TIMEOUT"
  | "TRUSTED_PROXIES"
>;
type BodySettings = Pick<Config, "BODY_TIMEOUT" | "BODY_MIN_RATE">;

/**
 * Limits the connections of a server, in total and per client, and the time that a connection may
 * be idle. A connection beyond a limit gets a 503 and is closed before its request is read.
 */
export function limitConnections(server: Server, settings: ConnectionSettings): void {
  const { MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS, TRUSTED_PROXIES } = settings;
  server.headersTimeout = settings.HEADERS_TIMEOUT;
  server.keepAliveTimeout = settings.KEEP_ALIVE_TIMEOUT;
  // Bodies have their own time limit: a large upload may take longer than any fixed time.
  server.requestTimeout = 0;
  const proxies = TRUSTED_PROXIES === null ? undefined : blockList(TRUSTED_PROXIES);
  const open = new Map<string, number>();
  let all = 0;
  // Replaces Node's own listener, which would read requests from a refused socket.
  const serveRequests = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? "");
    const isProxy =
      proxies !== undefined &&
      isIP(address) !== 0 &&
      proxies.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
    const client = isProxy ? undefined : networkOf(address);
    const ofClient = client === undefined ? 0 : (open.get(client) ?? 0);
    if (all >= MAX_CONNECTIONS)
      return refuse(
        socket,
        `The service has ${MAX_CONNECTIONS} connections open (MAX_CONNECTIONS). Retry later.`,
      );
    if (ofClient >= MAX_CONNECTIONS_PER_ADDRESS) {
      return refuse(
        socket,
        `Your address has ${MAX_CONNECTIONS_PER_ADDRESS} connections open ` +
          "(MAX_CONNECTIONS_PER_ADDRESS). Close some, or reuse them.",
      );
    }
    all++;
    if (client !== undefined) open.set(client, ofClient + 1);
    socket.once("close", () => {
      all--;
      if (client === undefined) return;
      const left = open.get(client)! - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
    for (const listener of serveRequests) listener.call(server, socket);
  });
}

/** A raw response: the request has not been read, so there is no response object. */
function refuse(socket: Socket, detail: string): void {
  const body = JSON.stringify({ detail, code: "TOO_MANY_CONNECTIONS" });
  // An error without a listener would end the process.
  socket.on("error", () => undefined);
  socket.end(
    `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: ` +
      `${Buffer.byteLength(body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

interface Watched {
  req: IncomingMessage;
  res: ServerResponse;
  /** Bytes of the connection when the period began. */ from: number;
  /** How long (ms) of the period the service was ready to read. */ waited: number;
}

/**
 * Ends requests whose body arrives too slowly. One rule applies to small and large bodies: in each
 * period of BODY_TIMEOUT the body must arrive at BODY_MIN_RATE, or end. A body smaller than
 * BODY_TIMEOUT times BODY_MIN_RATE therefore has BODY_TIMEOUT in total, and an upload may take as
 * long as it needs at that rate. Time in which the service itself does not read (a slow disk, a job
 * that waits for its slot) does not count.
 */
export class BodyClock {
  readonly #watched = new Set<Watched>();
  readonly #tick: number;
  #timer: NodeJS.Timeout | undefined;

  readonly #settings: BodySettings;
  readonly #expired: (req: IncomingMessage, res: ServerResponse, error: ServiceError) => void;

  /** @param expired responds with 408 to a request whose body took too long */
  constructor(
    settings: BodySettings,
    expired: (req: IncomingMessage, res: ServerResponse, error: ServiceError) => void,
  ) {
    this.#settings = settings;
    this.#expired = expired;

    this.#tick = Math.max(10, Math.min(1000, settings.BODY_TIMEOUT / 10));
  }

  watch(req: IncomingMessage, res: ServerResponse): void {
    const watched: Watched = { req, res, from: req.socket.bytesRead, waited: 0 };
    this.#watched.add(watched);
    req.once("close", () => this.#watched.delete(watched));
    // One timer for all bodies: most end before it fires.
    this.#timer ??= setInterval(() => this.#look(), this.#tick).unref();
  }

  #look(): void {
    const { BODY_TIMEOUT, BODY_MIN_RATE } = this.#settings;
    for (const watched of this.#watched) {
      const { req, res } = watched;
      if (req.complete || req.destroyed) {
        this.#watched.delete(watched);
        continue;
      }
      if (req.readableLength >= req.readableHighWaterMark) continue;
      watched.waited += this.#tick;
      if (watched.waited < BODY_TIMEOUT) continue;
      const received = req.socket.bytesRead - watched.from;
      if (received >= (BODY_MIN_RATE * BODY_TIMEOUT) / 1000) {
        watched.from = req.socket.bytesRead;
        watched.waited = 0;
        continue;
      }
      this.#watched.delete(watched);
      this.#expired(
        req,
        res,
        new ServiceError(
          "BODY_TIMEOUT",
          `The body arrived too slowly: ${received} bytes in ${BODY_TIMEOUT / 1000} s, and ` +
            `at least ${BODY_MIN_RATE} bytes a second must arrive (BODY_TIMEOUT, ` +
            "BODY_MIN_RATE). Send it again over a faster connection.",
        ),
      );
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
