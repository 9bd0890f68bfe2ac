/** Operations with many answers: over server-sent events, and over WebSockets. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
} from "graphql";
import {
  createHandler,
  type ExecutionResult as StreamedResult,
  type RequestParams,
} from "graphql-sse";
import { CloseCode, handleProtocols, makeServer } from "graphql-ws";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { ServiceError } from "../errors.js";
import { credentialsOf, socketCredentials } from "../http/browsers.js";
import { type ClientAddress, requestIdOf } from "../config/client.js";
import { NOT_STORED, SAFE_HEADERS } from "../http/reply.js";
import { countValues } from "../model/json/scan.js";
import type { SentCredentials } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import type { Log } from "../log.js";
import type { Documents, Price } from "./documents.js";
import { asGraphQLError, cutErrors, formatError } from "./http.js";
import { type Context, pause } from "./resolvers/context.js";

/**
 * The parts that transports with many answers (WebSocket, server-sent events) share with GraphQL
 * over HTTP.
 */
export interface Streaming {
  schema: GraphQLSchema;
  documents: Documents;
  log: Log;
  /**
   * A separate context for each operation.
   * @throws ServiceError `INVALID_TOKEN`, `NOT_AUTHENTICATED`, `CSRF_REFUSED`
   */
  contextFor(
    credentials: SentCredentials,
    address: string,
    request?: string,
    isAbandoned?: () => boolean,
  ): Promise<Context>;
  addressOf: ClientAddress;
  /** The registry's own address. */
  base: Pick<Deps, "baseUrl">;
  /** ms that a client may take to accept an event; setting GRAPHQL_SEND_TIMEOUT. */
  sendTimeout: number;
}

interface StreamedOperation {
  query: unknown;
  operationName?: unknown;
  variables?: unknown;
  extensions?: unknown;
}

/** An operation, ready for execution, and its price. */
type Prepared = Omit<ExecutionArgs, "contextValue"> & { price?: Price };

/**
 * An operation within the limits, ready for execution, or the reason why it is refused. Writes go
 * over HTTP, whose bodies are parsed strictly.
 */
async function prepared(
  { schema, documents }: Streaming,
  { query: sent, operationName, variables, extensions }: StreamedOperation,
): Promise<Prepared | readonly GraphQLError[]> {
  const refused = (message: string) => [new GraphQLError(message)];
  if (sent != null && typeof sent !== "string") return refused("query must be a string.");
  const found = documents.find(sent ?? undefined, extensions);
  if ("error" in found) return [found.error];
  const { query } = found;
  if (query === undefined) return refused("The operation has no query.");
  if (operationName != null && typeof operationName !== "string")
    return refused("operationName must be a string.");
  if (variables != null && (typeof variables !== "object" || Array.isArray(variables)))
    return refused("variables must be an object.");
  const checked = await documents.check(query, operationName, variables as Record<string, unknown>);
  if ("errors" in checked) return checked.errors;
  documents.persist(query, extensions);
  const operation = getOperationAST(checked.document, operationName);
  if (!operation)
    return [
      new GraphQLError("The document has no such operation, or several: set operationName.", {
        extensions: { code: "OPERATION_RESOLUTION_FAILURE" },
      }),
    ];
  if (operation.operation === OperationTypeNode.MUTATION)
    return refused(
      "Send mutations to /graphql over HTTP POST; this transport answers subscriptions and " +
        "queries.",
    );
  const misfit = documents.misfit(
    checked.document,
    operationName,
    (variables ?? {}) as Record<string, unknown>,
  );
  if (misfit) return [misfit];
  return {
    ...(checked.price ? { price: checked.price } : {}),
    schema,
    document: checked.document,
    operationName: operationName ?? null,
    variableValues: (variables ?? {}) as Record<string, unknown>,
  };
}

/** The answer with errors as clients see them. @param request name of the operation in the log */
function formatted(
  result: ExecutionResult,
  log: Log,
  request: string,
  price?: Price,
): { data?: unknown; errors?: GraphQLFormattedError[]; extensions?: object } {
  const { errors: all, ...answered } = result;
  const rest = price ? { ...answered, extensions: { cost: price } } : answered;
  const errors = all && [...all];
  if (errors) cutErrors(errors);
  return errors
    ? { ...rest, errors: errors.map((error) => formatError(error.toJSON(), error, log, request)) }
    : rest;
}

/** Streams open at a time. */
const MOST_STREAMS = 1_000;

interface EventStreamTransport {
  /**
   * Answers one operation with a stream of its results, until it ends or the client leaves.
   * @throws ServiceError before anything is sent
   */
  handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void>;
  /** Ends every stream. */
  close(): void;
}

/**
 * Operations over server-sent events (GraphQL over SSE, distinct connections): POST or GET with
 * `Accept: text/event-stream`, one operation a request.
 */
export function eventStreamTransport(streaming: Streaming): EventStreamTransport {
  const open = new Set<ServerResponse>();
  const gates = new WeakMap<IncomingMessage, Gate>();
  const prices = new WeakMap<IncomingMessage, Price>();
  const handler = createHandler<IncomingMessage, undefined, Context & Record<PropertyKey, unknown>>(
    {
      // Without a stream token the stream is the answer to this request, and the server stores
      // nothing.
      authenticate: () => null,
      async onSubscribe({ raw }, params: RequestParams) {
        const found = await prepared(streaming, params);
        if (!("document" in found)) return once({ errors: found });
        const { price, ...args } = found;
        if (price) prices.set(raw, price);
        return {
          ...args,
          contextValue: await streaming.contextFor(
            credentialsOf(raw, streaming.base),
            streaming.addressOf(raw),
            requestIdOf(raw),
            () => raw.socket.destroyed,
          ),
        } as ExecutionArgs & { contextValue: Context & Record<PropertyKey, unknown> };
      },
      // The document was checked against schema and limits before.
      validate: () => [],
      // Errors have the same form as in JSON. The library queues results without limit: the next
      // one is not asked for before the client has accepted the one before.
      async onNext(_context, { raw }, result) {
        await gates.get(raw)?.enter();
        const { log } = streaming;
        return formatted(
          result as ExecutionResult,
          log,
          requestIdOf(raw),
          prices.get(raw),
        ) as object;
      },
    },
  );

  return {
    async handle(req, res, body) {
      if (!/text\/event-stream|\*\/\*/.test(req.headers.accept ?? "*/*"))
        throw new ServiceError(
          "NOT_ACCEPTABLE",
          "This address answers only with text/event-stream; send the operation to " +
            "/graphql for one answer as JSON.",
        );
      if (open.size >= MOST_STREAMS)
        throw new ServiceError(
          "TOO_MANY_REQUESTS",
          `Too many streams are open (${MOST_STREAMS}). Retry later.`,
        );
      const gate = new Gate();
      gates.set(req, gate);
      const [answer, { status, headers }] = await handler({
        method: req.method ?? "GET",
        url: req.url ?? "/",
        raw: req,
        context: undefined,
        body: body as Record<PropertyKey, unknown> | null,
        headers: {
          get: (name) =>
            name === "accept" ? "text/event-stream" : String(req.headers[name] ?? ""),
        },
      });
      const { connection: _connection, ...sent } = (headers ?? {}) as Record<string, string>;
      res.writeHead(status, { ...SAFE_HEADERS, ...sent, ...NOT_STORED });
      if (answer === null || typeof answer === "string") return void res.end(answer ?? undefined);
      open.add(res);
      res.once("close", () => {
        open.delete(res);
        gate.open();
        void answer.return(undefined);
      });
      for await (const event of answer) {
        if (res.destroyed || !(await written(res, event, streaming.sendTimeout))) break;
        if (event.startsWith(RESULT)) gate.leave();
      }
      gate.open();
      res.end();
    },
    close() {
      for (const res of open) res.end();
    },
  };
}

/** How an event with a result begins; others are heartbeats, and the end. */
const RESULT = "event: next";

/** Lets one result in at a time, until it is opened for good. */
class Gate {
  #free: Promise<void> = Promise.resolve();
  #leave: () => void = () => undefined;
  #isOpen = false;

  async enter(): Promise<void> {
    await this.#free;
    if (!this.#isOpen) this.#free = new Promise((resolve) => (this.#leave = resolve));
  }
  leave(): void {
    this.#leave();
  }
  open(): void {
    this.#isOpen = true;
    this.#leave();
  }
}

/** Time (ms) in which a client that was too slow may still read why its stream ends. */
const SLOW_FAREWELL = 5_000;

/**
 * Sends an event, and waits until the connection has accepted it, so that no more than one event
 * waits in memory. Ends the stream of a client that does not accept it in time.
 * @returns false when the stream has ended
 */
function written(res: ServerResponse, text: string, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const clock = setTimeout(() => {
      const errors = [{ message: tooSlow(timeout), extensions: { code: "CLIENT_TOO_SLOW" } }];
      res.end(`event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`);
      setTimeout(() => res.destroy(), SLOW_FAREWELL).unref();
      resolve(false);
    }, timeout);
    res.write(text, (error) => {
      clearTimeout(clock);
      resolve(!error);
    });
  });
}

/** Why a slow client is disconnected; short enough for the reason of a WebSocket's close frame. */
const tooSlow = (timeout: number): string =>
  `The client accepted nothing for ${timeout / 1000} s (GRAPHQL_SEND_TIMEOUT). Subscribe again.`;

async function* once(result: ExecutionResult): AsyncGenerator<StreamedResult> {
  yield result;
}

/** A client that answers no ping for this time (ms) is disconnected. */
const KEEP_ALIVE = 12_000;
/** How long (ms) clients may take to close after the server's close frame. */
const FAREWELL = 1_000;
/** WebSockets open at a time. */
const MOST_SOCKETS = 1_000;

/** Messages of one WebSocket in a second; a client that sends more is disconnected. */
const MOST_MESSAGES = 200;
/** Messages of one WebSocket that wait for their turn; while there are more, none is read. */
const MOST_WAITING = 16;
/** "Too many requests", of the codes that applications choose. */
const TOO_MANY = 4429;

/** Statuses of credentials that are refused: the connection is closed as forbidden. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);

interface Extra extends Record<PropertyKey, unknown> {
  request: IncomingMessage;
  socket: WebSocket;
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
          () => extra.socket.readyState !== extra.socket.OPEN,
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
    // One message in each turn of the event loop, however many arrived together.
    allowSynchronousEvents: false,
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
          oneAtATime(socket, async (data) => {
            // 1009 is "message too big" (RFC 6455, section 7.4.1), also for a message of too many
            // bytes.
            if (countValues(data, options.maxValues) > options.maxValues)
              return socket.close(1009, "Too many values (MAX_JSON_VALUES)");
            try {
              await take(String(data));
            } catch (error) {
              log.warn(
                { err: error, request: requestIdOf(request) },
                "a message over a WebSocket could not be answered",
              );
              socket.close(CloseCode.InternalServerError, "Internal server error");
            }
          }),
      },
      { request, socket },
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

/**
 * Takes messages one after the other, with turns of the event loop for other requests between them,
 * and ends a socket that sends too many.
 * @param take begins what a message asks for; never rejects
 */
function oneAtATime(socket: WebSocket, take: (data: Buffer) => Promise<void>): void {
  let since = 0;
  let messages = 0;
  let waiting = 0;
  let turns = Promise.resolve();
  socket.on("message", (data: RawData) => {
    if (socket.readyState !== socket.OPEN) return;
    const now = performance.now();
    if (now - since > 1_000) [since, messages] = [now, 0];
    if (++messages > MOST_MESSAGES) {
      socket.close(TOO_MANY, `More than ${MOST_MESSAGES} messages in a second. Send fewer.`);
      return void setTimeout(() => socket.terminate(), SLOW_FAREWELL).unref();
    }
    if (++waiting > MOST_WAITING) socket.pause();
    turns = turns.then(pause).then(() => {
      if (--waiting === 0 && socket.isPaused) socket.resume();
      if (socket.readyState === socket.OPEN) void take(data as Buffer);
    });
  });
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
