import type { IncomingMessage, ServerResponse } from "node:http";
import type { ExecutionArgs, ExecutionResult } from "graphql";
import { createHandler, type ExecutionResult as StreamedResult, type RequestParams } from "graphql-sse";
import { ServiceError } from "../errors.js";
import { requestIdOf } from "../request-id.js";
import { NOT_STORED, SAFE_HEADERS } from "../rest/reply.js";
import type { Context } from "../resolvers/context.js";
import { formatted, prepared, type Streaming } from "./streamed.js";

/** Streams open at a time. */
const MOST_STREAMS = 1_000;

export interface EventStreamDoor {
  /** Answers one operation with a stream of its results, until it ends or the client leaves. @throws ServiceError before anything is sent */
  handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void>;
  /** Ends every stream. */
  close(): void;
}

/**
 * Operations over server-sent events (GraphQL over SSE, distinct connections): POST or GET with
 * `Accept: text/event-stream`, one operation a request.
 */
export function eventStreamDoor(streaming: Streaming): EventStreamDoor {
  const open = new Set<ServerResponse>();
  const handler = createHandler<IncomingMessage, undefined, Context & Record<PropertyKey, unknown>>({
    // Without a token of its own a stream is answered where it was asked for, and the server keeps nothing.
    authenticate: () => null,
    async onSubscribe({ raw }, params: RequestParams) {
      const args = prepared(streaming, params);
      if (!("document" in args)) return once({ errors: args });
      return { ...args, contextValue: await streaming.contextFor(raw.headers.authorization, streaming.addressOf(raw), requestIdOf(raw)) } as ExecutionArgs & { contextValue: Context & Record<PropertyKey, unknown> };
    },
    // The document was held to schema and limits before.
    validate: () => [],
    onNext: (_context, { raw }, result) => formatted(result as ExecutionResult, streaming.log, requestIdOf(raw)) as StreamedResult,
  });

  return {
    async handle(req, res, body) {
      if (!/text\/event-stream|\*\/\*/.test(req.headers.accept ?? "*/*")) throw new ServiceError("NOT_ACCEPTABLE", "This address answers with text/event-stream; ask /graphql for one answer as JSON.");
      if (open.size >= MOST_STREAMS) throw new ServiceError("TOO_MANY_REQUESTS", `${MOST_STREAMS} streams are open; come back later.`);
      const [answer, { status, headers }] = await handler({
        method: req.method ?? "GET", url: req.url ?? "/", raw: req, context: undefined, body: body as Record<PropertyKey, unknown> | null,
        headers: { get: (name) => (name === "accept" ? "text/event-stream" : String(req.headers[name] ?? "")) },
      });
      const { connection: _connection, ...sent } = (headers ?? {}) as Record<string, string>;
      res.writeHead(status, { ...SAFE_HEADERS, ...sent, ...NOT_STORED });
      if (answer === null || typeof answer === "string") return void res.end(answer ?? undefined);
      open.add(res);
      res.once("close", () => {
        open.delete(res);
        void answer.return(undefined);
      });
      for await (const event of answer) if (res.destroyed || !(await written(res, event))) break;
      res.end();
    },
    close() {
      for (const res of open) res.end();
    },
  };
}

function written(res: ServerResponse, text: string): Promise<boolean> {
  return new Promise((resolve) => res.write(text, (error) => resolve(!error)));
}

async function* once(result: ExecutionResult): AsyncGenerator<StreamedResult> {
  yield result as StreamedResult;
}
