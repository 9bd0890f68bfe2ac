import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ExecutionResult } from "graphql";
import { CloseCode, handleProtocols, makeServer } from "graphql-ws";
import { WebSocketServer, type RawData, type WebSocket } from "ws";
import { ServiceError } from "../errors.js";
import { countValues } from "../model/json/bounded-json.js";
import { requestIdOf } from "../http/client.js";
import { socketCredentials } from "../http/session.js";
import type { SentCredentials } from "../services/accounts/tokens.js";
import type { Price } from "./documents.js";
import { asGraphQLError, formatError } from "./http.js";
import { formatted, prepared, SLOW_FAREWELL, type Streaming, tooSlow } from "./event-stream.js";

/** A client that answers no ping for this time (ms) is disconnected. */
const KEEP_ALIVE = 12_000;
/** How long (ms) clients may take to close after the server's close frame. */
const FAREWELL = 1_000;
/** WebSockets open at a time. */
const MOST_SOCKETS = 1_000;

/** Statuses of credentials that are refused: the connection is closed as forbidden. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);

interface Extra extends Record<PropertyKey, unknown> {
  request: IncomingMessage;
}

/**
 * Name of an operation in the log: that of the connection's request, and the client's own id of the
 * operation where it is a valid name.
 */
const nameOf = ({ request }: Extra, id: string): string =>
  /^[\w-]{1,64}$/.test(id) ? `${requestIdOf(request)}/${id}` : requestIdOf(request);

export interface WebSocketTransport {
  /** Takes over a connection that requests an upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every connection and accepts no more. */
  close(): Promise<void>;
}

/**
 * Operations over a WebSocket, by the protocol graphql-transport-ws. The token is `Authorization`
 * in the connection's parameters, or in the header of its request; pages of the registry have their
 * session instead. Either is verified again for each operation.
 */
export function webSocketTransport(
  streaming: Streaming,
  options: { maxPayload: number; maxValues: number; maxSubscriptions: number },
): WebSocketTransport {
  const { log } = streaming;
  /** By context of the operation. */
  const prices = new WeakMap<object, Price>();
  const sentWith = (
    params: Readonly<Record<string, unknown>> | undefined,
    { request }: Extra,
  ): SentCredentials => {
    const given = params?.["Authorization"] ?? params?.["authorization"];
    const token = typeof given === "string" ? given : undefined;
    return socketCredentials(request, streaming.base, token);
  };
  const server = makeServer<Record<string, unknown>, Extra>({
    async onConnect({ connectionParams, extra }) {
      try {
        await streaming.contextFor(sentWith(connectionParams, extra), "");
      } catch (error) {
        if (error instanceof ServiceError && REFUSED.has(error.status)) return false;
        throw error;
      }
      return true;
    },
    async onSubscribe({ connectionParams, extra, subscriptions }, id, payload) {
      try {
        const { maxSubscriptions } = options;
        if (Object.keys(subscriptions).length > maxSubscriptions)
          throw new ServiceError(
            "TOO_MANY_REQUESTS",
            `A connection has at most ${maxSubscriptions} operations open at a time ` +
              "(GRAPHQL_MAX_SUBSCRIPTIONS).",
          );
        const found = await prepared(streaming, payload);
        if (!("document" in found)) return found;
        const { price, ...args } = found;
        const contextValue = await streaming.contextFor(
          sentWith(connectionParams, extra),
          streaming.addressOf(extra.request),
          nameOf(extra, id),
        );
        if (price) prices.set(contextValue, price);
        return { ...args, contextValue };
      } catch (error) {
        return [asGraphQLError(error)];
      }
    },
    onNext: ({ extra }, id, _payload, { contextValue }, result) =>
      formatted(
        result as ExecutionResult,
        log,
        nameOf(extra, id),
        prices.get(contextValue as object),
      ) as never,
    onError: ({ extra }, id, _payload, errors) =>
      errors.map((error) => formatError(error.toJSON(), error, log, nameOf(extra, id))),
  });

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxPayload,
    handleProtocols,
  });
  sockets.on("headers", (headers, request) =>
    headers.push(`X-Request-Id: ${requestIdOf(request)}`),
  );
  sockets.on("connection", (socket: WebSocket, request: IncomingMessage) => {
    const closed = server.opened(
      {
        protocol: socket.protocol,
        send: (text) =>
          new Promise((resolve, reject) => {
            if (socket.readyState !== socket.OPEN) return resolve();
            const clock = setTimeout(() => {
              // 1013 is "try again later": clients of the protocol connect again.
              socket.close(1013, tooSlow(streaming.sendTimeout));
              setTimeout(() => socket.terminate(), SLOW_FAREWELL).unref();
            }, streaming.sendTimeout);
            socket.send(text, (error) => {
              clearTimeout(clock);
              if (error) reject(error);
              else resolve();
            });
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) =>
          socket.on("message", (data: RawData) => {
            // 1009 is "message too big" (RFC 6455, section 7.4.1), also for a message of too many
            // bytes.
            if (countValues(data as Buffer, options.maxValues) > options.maxValues)
              return socket.close(1009, "Too many values (MAX_JSON_VALUES)");
            take(String(data as Buffer)).catch((error: unknown) => {
              log.warn(
                { err: error, request: requestIdOf(request) },
                "a message over a WebSocket could not be answered",
              );
              socket.close(CloseCode.InternalServerError, "Internal server error");
            });
          }),
      },
      { request },
    );
    const alive = keepAlive(socket);
    // A client error (a message too long, a broken frame) ends its connection and nothing else.
    socket.on("error", () => socket.terminate());
    socket.on("close", (code, reason) => {
      clearInterval(alive);
      closed(code, String(reason)).catch((error: unknown) =>
        log.error(
          { err: error, request: requestIdOf(request) },
          "an operation over a WebSocket did not end",
        ),
      );
    });
  });

  let closing = false;
  return {
    upgrade(request, socket, head) {
      socket.on("error", () => socket.destroy());
      if (closing || sockets.clients.size >= MOST_SOCKETS)
        return refuse(socket, "503 Service Unavailable");
      sockets.handleUpgrade(request, socket, head, (client) =>
        sockets.emit("connection", client, request),
      );
    },
    async close() {
      closing = true;
      for (const client of sockets.clients) client.close(1001, "Going away");
      const timer = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, FAREWELL);
      await new Promise((resolve) => sockets.close(resolve));
      clearTimeout(timer);
    },
  };
}

/** Ends a socket that requested another address, or that exceeds the limit. */
export function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  );
}

function keepAlive(socket: WebSocket): NodeJS.Timeout {
  let answered = true;
  socket.on("pong", () => (answered = true));
  return setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, KEEP_ALIVE);
}
