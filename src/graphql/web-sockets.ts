/** Operations over WebSockets, by the protocol graphql-transport-ws. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ExecutionResult } from "graphql";
import { CloseCode } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { WebSocket, WebSocketServer } from "ws";
import { ServiceError } from "../errors.js";
import { socketCredentials } from "../http/browsers.js";
import { requestIdOf } from "../config/client.js";
import { countValues } from "../model/json/scan.js";
import type { SentCredentials } from "../services/accounts/tokens.js";
import type { Price } from "./documents.js";
import { asGraphQLError, formatError } from "./errors.js";
import {
  containEnd,
  formatted,
  prepared,
  type Streaming,
  tooSlow,
  watchClient,
} from "./operations.js";

/** How long (ms) clients may take to close after the server's close frame. */
const FAREWELL = 1_000;
/** WebSockets open at a time. */
const MAX_SOCKETS = 1_000;
/** Messages of one WebSocket in a second; a client that sends more is disconnected. */
const MAX_MESSAGES = 200;

/** Codes of close frames: "message too big" and "try again later" of RFC 6455, section 7.4.1. */
const [TOO_BIG, LATER] = [1009, 1013];
/** "Too many requests", of the codes that applications choose. */
const TOO_MANY = 4429;

/** Statuses of credentials that are refused: the connection is closed as forbidden. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** What the library knows of a connection. */
interface Extra {
  request: IncomingMessage;
  socket: WebSocket;
}

/**
 * Name of an operation in the log: that of the connection's request, and the client's own id of the
 * operation where it is a valid name.
 */
const nameOf = ({ request }: Extra, id: string): string =>
  /^[\w-]{1,64}$/.test(id) ? `${requestIdOf(request)}/${id}` : requestIdOf(request);

export interface WebSockets {
  /** Takes over a connection that requests an upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every connection and accepts no more. */
  close(): Promise<void>;
}

/**
 * The token is `Authorization` in the connection's parameters, or in the header of its request;
 * pages of the registry have their session instead. Either is verified again for each operation.
 */
export function webSockets(
  streaming: Streaming,
  options: { maxPayload: number; maxValues: number; maxSubscriptions: number },
): WebSockets {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxPayload,
    WebSocket: limitedSocket(options.maxValues),
    // One message in each turn of the event loop, however many arrived together.
    allowSynchronousEvents: false,
  });
  sockets.on("headers", (headers, request) =>
    headers.push(`X-Request-Id: ${requestIdOf(request)}`),
  );
  sockets.on("connection", (socket) => {
    const ended = watchClient(
      () => socket.bufferedAmount,
      streaming.sendTimeout,
      () => {
        socket.close(LATER, tooSlow(streaming.sendTimeout));
      },
    );
    socket.once("close", ended);
  });
  const server = useServer<Record<string, unknown>, Partial<Extra>>(
    operationsOf(streaming, options.maxSubscriptions),
    sockets,
  );

  let closing = false;
  return {
    upgrade(request, socket, head) {
      socket.on("error", () => socket.destroy());
      if (closing || sockets.clients.size >= MAX_SOCKETS)
        return refuse(socket, "503 Service Unavailable");
      sockets.handleUpgrade(request, socket, head, (client) =>
        sockets.emit("connection", client, request),
      );
    },
    async close() {
      closing = true;
      const timer = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, FAREWELL);
      await server.dispose();
      clearTimeout(timer);
    },
  };
}

/** What graphql-ws asks of a connection and of each operation. */
function operationsOf(
  streaming: Streaming,
  maxSubscriptions: number,
): Parameters<typeof useServer<Record<string, unknown>, Partial<Extra>>>[0] {
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
  return {
    // The reason of a close frame never holds the text of an internal error.
    isProd: true,
    async onConnect({ connectionParams, extra }) {
      try {
        await streaming.contextFor(sentWith(connectionParams, extra), "");
        return true;
      } catch (error) {
        if (error instanceof ServiceError && REFUSED.has(error.status)) return false;
        const request = requestIdOf(extra.request);
        log.warn({ err: error, request }, "a WebSocket could not be opened");
        extra.socket.close(CloseCode.InternalServerError, "Internal server error");
        return false;
      }
    },
    async onSubscribe({ connectionParams, extra, subscriptions }, id, payload) {
      try {
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
          () => extra.socket.readyState !== extra.socket.OPEN,
        );
        prices.set(contextValue, price);
        return { ...args, contextValue };
      } catch (error) {
        return [asGraphQLError(error)];
      }
    },
    onOperation: ({ extra }, id, _payload, _args, result) =>
      containEnd(result as Parameters<typeof containEnd>[0], log, nameOf(extra, id)),
    onNext: ({ extra }, id, _payload, { contextValue }, result) =>
      formatted(
        result as ExecutionResult,
        log,
        nameOf(extra, id),
        prices.get(contextValue as object),
      ) as never,
    onError: ({ extra }, id, _payload, errors) =>
      errors.map((error) =>
        formatError(asGraphQLError(error).toJSON(), error, log, nameOf(extra, id)),
      ),
  };
}

/** A class of sockets that pass on only messages within the limits, and end at any other. */
const limitedSocket = (maxValues: number) =>
  class extends WebSocket {
    #since = 0;
    #messages = 0;

    override emit(...emitted: Parameters<WebSocket["emit"]>): boolean {
      const [event, data] = emitted;
      if (event === "message") return this.#accepts(data as Buffer) && super.emit(...emitted);
      if (event !== "error") return super.emit(...emitted);
      // An error of the client (a message too long, a broken frame) ends its connection and nothing
      // else.
      this.terminate();
      return true;
    }

    #accepts(data: Buffer): boolean {
      if (this.readyState !== this.OPEN) return false;
      const now = performance.now();
      if (now - this.#since > 1_000) [this.#since, this.#messages] = [now, 0];
      if (++this.#messages > MAX_MESSAGES) {
        this.close(TOO_MANY, `More than ${MAX_MESSAGES} messages in a second. Send fewer.`);
        return false;
      }
      if (countValues(data, maxValues) <= maxValues) return true;
      this.close(TOO_BIG, "Too many values (MAX_JSON_VALUES)");
      return false;
    }
  };

/** Ends a socket that requested another address, or that exceeds the limit. */
export function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  );
}
