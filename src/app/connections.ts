import type { Server } from "node:http";
import { isIP, type Socket } from "node:net";
import { blockList, networkOf, plainAddress } from "../config/client.js";
import type { Config } from "../config/config.js";

type ConnectionSettings = Pick<
  Config,
  | "MAX_CONNECTIONS"
  | "MAX_CONNECTIONS_PER_ADDRESS"
  | "HEADERS_TIMEOUT"
  | "KEEP_ALIVE_TIMEOUT"
  | "TRUSTED_PROXIES"
>;

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
      const left = (open.get(client) ?? 0) - 1;
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
