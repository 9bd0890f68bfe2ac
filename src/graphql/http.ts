import type { IncomingMessage, ServerResponse } from "node:http";
import { GraphQLError, OperationTypeNode, execute, getOperationAST, type GraphQLSchema } from "graphql";
import { ServiceError, ValidationError } from "../errors.js";
import type { JsonValue } from "../model/field.js";
import type { Context } from "../resolvers/context.js";
import { sendEarly } from "../rest/errors.js";
import { SAFE_HEADERS } from "../rest/reply.js";
import type { Log } from "../use-cases/deps.js";
import type { Documents } from "./documents.js";
import { asGraphQLError, formatError } from "./errors.js";
import { isAcceptable, legacyStatus, mediaTypeFor } from "./media-type.js";
import { parametersOf } from "./parameters.js";

/**
 * GraphQL over HTTP: one operation a request, checked against limits and schema, answered with the status that
 * the specification has for the media type.
 */
export class HttpDoor {
  constructor(private readonly schema: GraphQLSchema, private readonly documents: Documents, private readonly log: Log) {}

  /** @throws ServiceError for a request that is malformed, before there is an operation */
  async answer(req: IncomingMessage, res: ServerResponse, asked: { search: string; body: JsonValue | undefined }, context: Context): Promise<void> {
    const { accept } = req.headers;
    if (!isAcceptable(accept)) throw new ServiceError("NOT_ACCEPTABLE", "GraphQL is answered as application/graphql-response+json or application/json; name one of them in Accept.");
    const reads = req.method !== "POST";
    const { query, operationName, variables } = parametersOf(asked, reads);
    const checked = this.documents.check(query, operationName, variables);
    if ("errors" in checked) return this.refuse(req, res, checked.errors);
    const { document } = checked;
    const operation = getOperationAST(document, operationName)?.operation;
    if (operation === undefined) return this.refuse(req, res, [new GraphQLError(operationName === undefined ? "The document has several operations: say with operationName which is meant." : `The document has no operation named "${operationName}".`)]);
    if (operation === OperationTypeNode.SUBSCRIPTION) return this.refuse(req, res, [new GraphQLError("Subscriptions are answered at /graphql/stream (server-sent events) and over a WebSocket at /graphql.")]);
    if (reads && operation !== OperationTypeNode.QUERY) throw new ServiceError("METHOD_NOT_ALLOWED", "GET is for queries: send mutations with POST.", {}, { Allow: "POST" });

    const { errors, ...result } = await execute({ schema: this.schema, document, contextValue: context, operationName: operationName ?? null, variableValues: variables ?? {} });
    const body = errors ? { errors: errors.map((error) => formatError(error.toJSON(), error, this.log)), ...result } : result;
    send(req, res, result.data === undefined ? legacyStatus(accept) : 200, { "Content-Type": mediaTypeFor(accept) }, JSON.stringify(body));
  }

  /** Errors in the shape of a GraphQL answer. */
  refuse(req: IncomingMessage, res: ServerResponse, errors: readonly GraphQLError[], status: number = legacyStatus(req.headers.accept), headers: Readonly<Record<string, string>> = {}): void {
    const body = JSON.stringify({ errors: errors.map((error) => formatError(error.toJSON(), error, this.log)) });
    send(req, res, status, { ...headers, "Content-Type": mediaTypeFor(req.headers.accept) }, body);
  }

  /** The same for what goes wrong before there is an operation. */
  fail(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    if (res.headersSent || res.destroyed) return void res.destroy();
    const known = error instanceof ServiceError ? error : undefined;
    const headers: Record<string, string> = { ...known?.headers };
    if (known?.status === 401) headers["WWW-Authenticate"] ??= "Bearer";
    // A body that is no JSON is a malformed request to GraphQL over HTTP, not input that breaks rules.
    const isNoJson = known instanceof ValidationError && known.items.some(({ type }) => type === "json_invalid");
    this.refuse(req, res, [asGraphQLError(error)], isNoJson ? 400 : (known?.status ?? 500), headers);
  }
}

function send(req: IncomingMessage, res: ServerResponse, status: number, headers: Record<string, string>, body: string): void {
  const all = { "Cache-Control": "no-store", ...headers };
  // An upload that was refused may still be arriving.
  if (!req.complete && req.method === "POST") return sendEarly(req, res, status, Buffer.from(body), all);
  res.writeHead(status, { ...SAFE_HEADERS, ...all, "Content-Length": Buffer.byteLength(body) });
  // As text it leaves in one piece with the headers; as bytes it would be a second one.
  res.end(req.method === "HEAD" ? undefined : body);
}
