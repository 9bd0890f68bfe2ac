/** Operations over server-sent events, by the protocol GraphQL over SSE. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Request, Response } from "express";
import type { ExecutionArgs, ExecutionResult } from "graphql";
import type { ExecutionResult as StreamedResult } from "graphql-sse";
import { createHandler } from "graphql-sse/lib/use/express";
import { eventLoop } from "../event-loop-budget.js";
import { ServiceError } from "../errors.js";
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

/** Streams open at a time. */
const MAX_STREAMS = 1_000;

export interface EventStreams {
  /**
   * Answers one operation with a stream of its results, until it ends or the client leaves.
   * @throws ServiceError before anything is sent
   */
  handle(req: Request, res: Response): Promise<void>;
  /** Ends every stream. */
  close(): void;
}

export function eventStreams(streaming: Streaming): EventStreams {
  const { log, sendTimeout } = streaming;
  const open = new Set<Response>();
  const prices = new WeakMap<object, Price>();
  const handler = createHandler<Context & Record<PropertyKey, unknown>>({
    // Without a stream token the stream is the answer to this request: one operation a request.
    authenticate: () => null,
    async onSubscribe({ raw, context: { res } }, params) {
      try {
        const found = await prepared(streaming, params);
        if (!("document" in found)) return once({ errors: found });
        const { price, ...args } = found;
        prices.set(raw, price);
        const contextValue = await streaming.contextFor(
          credentialsOf(raw, streaming.base),
          streaming.addressOf(raw),
          requestIdOf(raw),
          () => res.destroyed,
        );
        return { ...args, contextValue } as ExecutionArgs & {
          contextValue: Context & Record<PropertyKey, unknown>;
        };
      } catch (error) {
        return once({ errors: [asGraphQLError(error)] });
      }
    },
    // The document was checked against schema and limits before.
    validate: () => [],
    onOperation(_context, { raw, context: { res } }, _args, result) {
      containEnd(result as Parameters<typeof containEnd>[0], log, requestIdOf(raw));
      const ended = watchClient(
        () => res.writableLength,
        sendTimeout,
        () => {
          endSlow(res, sendTimeout);
          if ("return" in result) void result.return(undefined);
        },
      );
      res.once("close", ended);
    },
    // Errors have the same form as in JSON.
    async onNext(_context, { raw, context: { res } }, result) {
      await accepted(res);
      return formatted(result as ExecutionResult, log, requestIdOf(raw), prices.get(raw)) as object;
    },
  });

  return {
    async handle(req, res) {
      if (!/text\/event-stream|\*\/\*/.test(req.headers.accept ?? "*/*"))
        throw new ServiceError(
          "NOT_ACCEPTABLE",
          "This address answers only with text/event-stream; send the operation to " +
            "/graphql for one answer as JSON.",
        );
      if (open.size >= MAX_STREAMS)
        throw new ServiceError(
          "TOO_MANY_REQUESTS",
          `Too many streams are open (${MAX_STREAMS}). Retry later.`,
        );
      open.add(res);
      res.once("close", () => open.delete(res));
      // The handler knows no other value.
      req.headers.accept = "text/event-stream";
      keepUnstored(res);
      await handler(req, res);
    },
    close() {
      for (const res of open) res.end();
    },
  };
}

/** The library lets caches store a stream (`no-cache`): its results are for one user. */
function keepUnstored(res: Response): void {
  const writeHead = res.writeHead.bind(res) as (...sent: unknown[]) => Response;
  res.writeHead = (status: number, text: unknown, headers?: unknown) =>
    writeHead(status, text, { ...(headers as object), "cache-control": "no-store" });
}

/** ms between two looks at whether a client has accepted what was sent. */
const ACCEPTED = 50;

/**
 * Waits until the client has accepted the event before: the library asks for results without
 * waiting, and queues them without limit.
 */
async function accepted(res: Response): Promise<void> {
  await eventLoop.nextTurn();
  while (res.writableLength > 0 && !res.destroyed) await sleep(ACCEPTED);
}

function endSlow(res: Response, timeout: number): void {
  const errors = [{ message: tooSlow(timeout), extensions: { code: "CLIENT_TOO_SLOW" } }];
  res.end(`event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`);
  setTimeout(() => res.destroy(), SLOW_FAREWELL).unref();
}

async function* once(result: ExecutionResult): AsyncGenerator<StreamedResult> {
  yield result;
}
