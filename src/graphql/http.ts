import type { IncomingMessage, ServerResponse } from "node:http";
import { type ApolloServer, HeaderMap } from "@apollo/server";
import { getOperationAST, GraphQLError, OperationTypeNode } from "graphql";
import { ServiceError, ValidationError } from "../errors.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import type { Context } from "../resolvers/context.js";
import { sendEarly } from "../rest/errors.js";
import { LEAST_BYTES } from "../rest/encoding.js";
import { SAFE_HEADERS, sendBytes } from "../rest/reply.js";
import type { Log } from "../use-cases/deps.js";
import type { Documents } from "./documents.js";
import { asGraphQLError, formatError } from "./errors.js";
import { legacyStatus, mediaTypeFor } from "./media-type.js";

/** What one request asks for, as far as it can be told before its execution. */
export interface HttpOperation { search: string; body: JsonValue | undefined }

interface Parameters { query: string; operationName: string | undefined; variables: JsonObject | undefined }

/**
 * GraphQL over HTTP: checks the document against limits and schema, has Apollo execute it, and sends the answer
 * with the status that GraphQL over HTTP has for its media type.
 */
export class HttpDoor {
  constructor(private readonly server: ApolloServer<Context>, private readonly documents: Documents, private readonly log: Log) {}

  async answer(req: IncomingMessage, res: ServerResponse, { search, body }: HttpOperation, context: Context): Promise<void> {
    const method = req.method === "POST" ? "POST" : "GET";
    const parameters = method === "GET" ? inSearch(search) : inBody(body);
    if (parameters) {
      const checked = this.documents.check(parameters.query, parameters.operationName, parameters.variables);
      if ("errors" in checked) return this.refuse(req, res, checked.errors);
      if (getOperationAST(checked.document, parameters.operationName)?.operation === OperationTypeNode.SUBSCRIPTION) return this.refuse(req, res, [subscriptionOverHttp()], 400);
      const misfit = isLarge(req) ? this.documents.misfit(checked.document, parameters.operationName, parameters.variables ?? {}) : undefined;
      if (misfit) return this.refuse(req, res, [misfit]);
    }
    const headers = new HeaderMap();
    for (const name of ["accept", "content-type"]) if (typeof req.headers[name] === "string") headers.set(name, req.headers[name]);
    const answer = await this.server.executeHTTPGraphQLRequest({ httpGraphQLRequest: { method, headers, search, body: body ?? {} }, context: async () => context });
    if (answer.body.kind !== "complete") throw new Error("an answer in parts: the schema has no @defer");
    send(req, res, answer.status ?? 200, answer.headers, answer.body.string);
  }

  /** Errors in the shape of a GraphQL answer. */
  refuse(req: IncomingMessage, res: ServerResponse, errors: readonly GraphQLError[], status: number = legacyStatus(req.headers.accept)): void {
    const body = JSON.stringify({ errors: errors.map((error) => formatError(error.toJSON(), error, this.log)) });
    send(req, res, status, [["content-type", mediaTypeFor(req.headers.accept)]], body);
  }

  /** The same for what goes wrong before there is an operation. */
  fail(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    if (res.headersSent || res.destroyed) return void res.destroy();
    const known = error instanceof ServiceError ? error : undefined;
    const headers: Record<string, string> = { ...known?.headers };
    if (known?.status === 401) headers["WWW-Authenticate"] ??= "Bearer";
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    // A body that is no JSON is a malformed request to GraphQL over HTTP, not input that breaks rules.
    const isNoJson = known instanceof ValidationError && known.items.some(({ type }) => type === "json_invalid");
    this.refuse(req, res, [asGraphQLError(error)], isNoJson ? 400 : (known?.status ?? 500));
  }
}

function send(req: IncomingMessage, res: ServerResponse, status: number, headers: Iterable<[string, string]>, body: string): void {
  const all: Record<string, string> = { "Cache-Control": "no-store", ...Object.fromEntries(headers) };
  // An upload that was refused may still be arriving.
  if (!req.complete && req.method === "POST") return sendEarly(req, res, status, Buffer.from(body), all);
  const { "content-type": type, ...rest } = all;
  if (body.length >= LEAST_BYTES) return sendBytes(req, res, Buffer.from(body), { status, type: type ?? "application/json", headers: rest });
  res.writeHead(status, { ...SAFE_HEADERS, ...all, "Content-Length": Buffer.byteLength(body) });
  // As text it leaves in one piece with the headers; as bytes it would be a second one.
  res.end(req.method === "HEAD" ? undefined : body);
}

/** One answer cannot hold what a subscription says over time. */
const subscriptionOverHttp = (): GraphQLError => new GraphQLError("Subscriptions have two transports: a WebSocket at /graphql (protocol graphql-transport-ws), and server-sent events from /graphql/stream (protocol graphql-sse). Send the operation over one of them.");

/** Whether a body may hold large variables; they are looked at twice then. */
const isLarge = ({ method, headers }: IncomingMessage): boolean => method === "POST" && !(Number(headers["content-length"]) <= 2 ** 14);

/** The operation of a body; `undefined` when it has not the shape of one: Apollo says then what is wrong. */
function inBody(body: JsonValue | undefined): Parameters | undefined {
  if (!isObject(body) || typeof body["query"] !== "string") return undefined;
  const { query, operationName, variables } = body;
  if (operationName != null && typeof operationName !== "string") return undefined;
  if (variables != null && !isObject(variables)) return undefined;
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

function inSearch(search: string): Parameters | undefined {
  const parameters = new URLSearchParams(search);
  const query = parameters.get("query");
  if (query === null) return undefined;
  let variables: JsonValue = {};
  try {
    variables = JSON.parse(parameters.get("variables") ?? "{}") as JsonValue;
  } catch {
    return undefined;
  }
  return isObject(variables) ? { query, operationName: parameters.get("operationName") ?? undefined, variables } : undefined;
}

const isObject = (value: JsonValue | undefined): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);
