/** One stream of server-sent events by the protocol GraphQL over SSE, with its operations. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Request, Response } from "express";
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from "graphql";
import { type ExecutionResult as StreamedResult, print } from "graphql-sse";
import { createHandler } from "graphql-sse/lib/use/express";
import { eventLoop } from "../event-loop-budget.js";
import { credentialsOf } from "../http/browsers.js";
import { requestIdOf } from "../config/client.js";
import type { Price } from "./documents.js";
import { asGraphQLError } from "./errors.js";
import {
  containEnd,
  formatted,
  prepared,
  SLOW_FAREWELL,
  type Streaming,
  tooSlow,
  watchClient,
} from "./operations.js";
import type { Context } from "./resolvers/context.js";

type OperationContext = Context & Record<PropertyKey, unknown>;

interface Operation {
  /** The client's name of it; empty where the stream is of one operation only. */
  id: string;
  price?: Price;
  results?: Parameters<typeof containEnd>[0];
}

export class EventStream {
  /** Operations that have not completed, by their requests. */
  readonly #operations = new Map<Request, Operation>();
  readonly #streaming: Streaming;
  readonly #onEnd: () => void;
  readonly #handler: ReturnType<typeof createHandler<OperationContext>>;
  #res: Response | undefined;
  #isEnded = false;

  /**
   * @param token of the reservation; null for a stream of one operation, which is the answer to its
   *   request
   */
  constructor(streaming: Streaming, token: string | null, onEnd = (): void => undefined) {
    this.#streaming = streaming;
    this.#onEnd = onEnd;
    // A handler for each stream: the library forgets a reservation only when its stream closes.
    this.#handler = createHandler<OperationContext>({
      authenticate: () => token,
      onSubscribe: ({ raw }, params) => this.#prepare(raw, params),
      // The document was checked against schema and limits before.
      validate: () => [],
      onOperation: (_context, { raw }, _args, results) =>
        this.#started(raw, results as Parameters<typeof containEnd>[0]),
      onNext: async (_context, { raw }, result) => {
        await this.#accepted();
        const price = this.#operations.get(raw)?.price;
        const { log } = streaming;
        // Errors have the same form as in JSON.
        return formatted(result as ExecutionResult, log, requestIdOf(raw), price) as object;
      },
      onComplete: (_context, { raw }) => void this.#operations.delete(raw),
    });
  }

  get isOpen(): boolean {
    return this.#res !== undefined;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Number of operations that have not completed. */
  get size(): number {
    return this.#operations.size;
  }

  has(id: string): boolean {
    return [...this.#operations.values()].some((operation) => operation.id === id);
  }

  /** Answers with the token. */
  async reserve(req: Request, res: Response): Promise<void> {
    await this.#handle(req, res, "*/*");
  }

  /** Answers with the results of the operations, until the client leaves or the stream ends. */
  async open(req: Request, res: Response): Promise<void> {
    this.#res = res;
    const { sendTimeout } = this.#streaming;
    const ended = watchClient(
      () => res.writableLength,
      sendTimeout,
      () =>
        this.end(
          new GraphQLError(tooSlow(sendTimeout), { extensions: { code: "CLIENT_TOO_SLOW" } }),
        ),
    );
    res.once("close", () => {
      ended();
      this.end();
    });
    correctHeaders(res);
    await this.#handle(req, res, "text/event-stream");
  }

  /** Answers one operation with a stream of its results. */
  async answer(req: Request, res: Response): Promise<void> {
    this.#operations.set(req, { id: "" });
    await this.open(req, res);
  }

  /** Begins an operation of a reservation: 202, its results go to the open stream. */
  async begin(req: Request, res: Response, id: string): Promise<void> {
    this.#operations.set(req, { id });
    try {
      await this.#handle(req, res, "*/*");
    } finally {
      if (res.statusCode !== 202) this.#operations.delete(req);
    }
  }

  /** Ends the operation that the request names. */
  async complete(req: Request, res: Response): Promise<void> {
    await this.#handle(req, res, "*/*");
  }

  /** Ends the stream and its operations. @param error the last result of each operation */
  end(error?: GraphQLError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const res = this.#res;
    res?.end(error ? [...this.#operations.values()].map(lastOf(error)).join("") : "");
    if (res) setTimeout(() => res.destroy(), SLOW_FAREWELL).unref();
    for (const { results } of this.#operations.values()) endResults(results);
    this.#onEnd();
  }

  /** @param accept the one value that the library knows */
  async #handle(req: Request, res: Response, accept: string): Promise<void> {
    req.headers.accept = accept;
    await this.#handler(req, res);
  }

  async #prepare(
    req: Request,
    params: unknown,
  ): Promise<
    (ExecutionArgs & { contextValue: OperationContext }) | AsyncGenerator<StreamedResult>
  > {
    const streaming = this.#streaming;
    try {
      const found = await prepared(streaming, params);
      if (!("document" in found)) return once({ errors: found });
      const { price, ...args } = found;
      const operation = this.#operations.get(req);
      if (operation) operation.price = price;
      const contextValue = await streaming.contextFor(
        credentialsOf(req, streaming.base),
        streaming.addressOf(req),
        requestIdOf(req),
        () => this.#isEnded,
      );
      return { ...args, contextValue: contextValue as OperationContext };
    } catch (error) {
      return once({ errors: [asGraphQLError(error)] });
    }
  }

  #started(req: Request, results: Parameters<typeof containEnd>[0]): void {
    containEnd(results, this.#streaming.log, requestIdOf(req));
    const operation = this.#operations.get(req);
    if (operation) operation.results = results;
    // The client may leave while the operation is prepared.
    if (this.#isEnded || !operation) endResults(results);
  }

  /**
   * Waits until the client has accepted the event before: the library asks for results without
   * waiting, and queues them without limit.
   */
  async #accepted(): Promise<void> {
    await eventLoop.nextTurn();
    while (this.#res?.writableLength !== 0 && !this.#isEnded) await sleep(ACCEPTED);
  }
}

/** ms between two checks of whether a client has accepted what was sent. */
const ACCEPTED = 50;

/** The last events of an operation. */
const lastOf =
  (error: GraphQLError) =>
  ({ id }: Operation): string => {
    const payload = { errors: [error] };
    return id === ""
      ? print({ event: "next", data: payload }) + print({ event: "complete", data: null })
      : print({ event: "next", data: { id, payload } }) +
          print({ event: "complete", data: { id } });
  };

function endResults(results: Operation["results"]): void {
  if (results && "return" in results) void results.return(undefined);
}

/**
 * The library lets caches store a stream (`no-cache`), although its results are for one user, and
 * holds the connection open (`keep-alive`), although the client may have asked to close it.
 */
function correctHeaders(res: Response): void {
  const writeHead = res.writeHead.bind(res) as (...sent: unknown[]) => Response;
  res.writeHead = (status: number, text: unknown, headers?: { connection?: string }) => {
    const { connection: _, ...others } = headers ?? {};
    return writeHead(status, text, { ...others, "cache-control": "no-store" });
  };
}

async function* once(result: ExecutionResult): AsyncGenerator<StreamedResult> {
  yield result;
}
