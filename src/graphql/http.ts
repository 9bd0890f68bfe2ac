import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest } from "@apollo/server";
import { unwrapResolverError } from "@apollo/server/errors";
import {
  GraphQLError,
  type GraphQLFormattedError,
  getOperationAST,
  OperationTypeNode,
} from "graphql";
import { cutMessage, ServiceError, ValidationError } from "../errors.js";
import { mediaType } from "../http/body.js";
import { preferred } from "../http/negotiation.js";
import { LEAST_BYTES, sendBytes, sendEarly, sendPlain } from "../http/reply.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { type Log, reportDamage } from "../log.js";
import { apolloCode, type Documents, forGraphql, isGraphqlCode, isOurs } from "./documents.js";
import { type Context, pause } from "./resolvers/context.js";

/** Why variables do not fit, without their values: one of them may be a password. */
const COERCION = /^Variable "\$([^"]+)" (?:has|got) invalid value /;

/** What the execution adds to the reasons of variables when it stops listing them. */
const MORE_MISFITS = "Too many errors processing variables";

/**
 * The error a client sees, over every transport: codes of the shared table, or those of GraphQL, in
 * `extensions.code`, the name of Apollo's for either in `extensions.apolloCode`, and the items of a
 * validation failure in `extensions.detail`. An internal fault is masked: the client gets an id that
 * is also in the log.
 *
 * @param request its name in the log
 */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
  request?: string,
): GraphQLFormattedError {
  const { message, extensions, ...place } = coded(formatted, error, log, request);
  const code = extensions!["code"];
  return {
    message: forGraphql(message),
    ...place,
    extensions: {
      ...extensions,
      ...(isOurs(code) || isGraphqlCode(code) ? { apolloCode: apolloCode(code) } : {}),
    },
  };
}

function coded(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
  request?: string,
): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  reportDamage(log, cause);
  const place = {
    ...(formatted.locations ? { locations: formatted.locations } : {}),
    ...(formatted.path && formatted.path.length > 0 ? { path: formatted.path } : {}),
  };
  if (cause instanceof ServiceError)
    return { message: cutMessage(cause.message), ...place, extensions: extensionsOf(cause) };
  if (cause instanceof GraphQLError && formatted.message.startsWith(MORE_MISFITS))
    return { ...moreMisfits(), ...place };
  if (cause instanceof GraphQLError && formatted.extensions?.["code"] !== "INTERNAL_SERVER_ERROR") {
    const variable = COERCION.exec(formatted.message);
    if (variable) return { ...uncoercible(formatted.message, variable[1]!), ...place };
    const { code = formatted.extensions?.["code"], detail, cost } = cause.extensions;
    return {
      message: cutMessage(formatted.message),
      ...place,
      extensions:
        isOurs(code) || isGraphqlCode(code)
          ? {
              code,
              ...(detail === undefined ? {} : { detail }),
              ...(cost === undefined ? {} : { cost }),
            }
          : { code: "BAD_REQUEST" },
    };
  }
  const fault = randomUUID();
  log.error(
    { err: cause, fault, ...(request === undefined ? {} : { request }) },
    "a GraphQL request failed with an internal error",
  );
  return {
    message: `Internal error of the service; its log has the details under ${fault}.`,
    ...place,
    extensions: { code: "INTERNAL" },
  };
}

/** An error of a transport, before any field is resolved, as a GraphQL error. */
export function asGraphQLError(error: unknown): GraphQLError {
  return error instanceof GraphQLError
    ? error
    : new GraphQLError((error as Error).message, { originalError: error as Error, path: [] });
}

/** Most errors in one answer: each record of a page may fail in each of its fields. */
const MOST_ERRORS = 100;

/**
 * Drops errors past the limit, in place, before each is formatted; a last error states that some
 * were dropped.
 */
export function cutErrors(errors: GraphQLError[]): void {
  if (errors.length <= MOST_ERRORS) return;
  const dropped = errors.length - MOST_ERRORS;
  errors.length = MOST_ERRORS;
  errors.push(
    new GraphQLError(`${dropped} more errors are not listed.`, {
      extensions: { code: "BAD_REQUEST" },
    }),
  );
}

function extensionsOf(cause: ServiceError): Record<string, unknown> {
  return cause instanceof ValidationError
    ? { code: cause.code, detail: cause.items }
    : { code: cause.code, ...cause.extra };
}

/**
 * `Variable "$input" got invalid value {…} at "input.name"; String cannot represent a non string value: {…}`,
 * without the values.
 */
function uncoercible(message: string, variable: string): GraphQLFormattedError {
  const end = message.lastIndexOf("; ");
  const path = / at "([^"]*)"$/.exec(message.slice(0, Math.max(end, 0)))?.[1];
  const why = (end < 0 ? "it is of another type" : message.slice(end + 2))
    .replace(/(\bvalue|\benum\b[^:]*): .*$/s, "$1")
    .replace(/^(Value) ".*" (does not exist)/s, "$1 $2");
  const reported = cutMessage(why);
  const loc = [
    "body",
    "variables",
    ...(path ?? variable)
      .split(/[.[\]]+/)
      .filter((part) => part !== "")
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  ];
  const [item] = new ValidationError([{ loc, msg: reported, type: "value_error" }]).items;
  return {
    message: cutMessage(
      `Variable "$${variable}"${path === undefined ? "" : ` at "${path}"`}: ${reported}`,
    ),
    extensions: { code: "VALIDATION", detail: [item] },
  };
}

function moreMisfits(): GraphQLFormattedError {
  const msg = "More values of the variables do not fit their types; only the first are listed.";
  const [item] = new ValidationError([{ loc: ["body", "variables"], msg, type: "value_error" }])
    .items;
  return { message: msg, extensions: { code: "VALIDATION", detail: [item] } };
}

const RESPONSE = "application/graphql-response+json";
const LEGACY = "application/json";

/** Media type of an answer: the one of GraphQL over HTTP for clients that name it, else JSON. */
function mediaTypeFor(accept: string | undefined): string {
  return `${isModern(accept) ? RESPONSE : LEGACY}; charset=utf-8`;
}

/**
 * Status of an answer without data. In JSON it is always 200: an intermediary may send JSON as
 * well, so its status is ambiguous; only GraphQL servers answer with the newer type.
 */
export function legacyStatus(accept: string | undefined): 200 | 400 {
  return isModern(accept) ? 400 : 200;
}

function isModern(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes(RESPONSE)) return false;
  return qualityOf(accept, RESPONSE) >= Math.max(qualityOf(accept, LEGACY), Number.MIN_VALUE);
}

function qualityOf(accept: string, type: string): number {
  const range = accept
    .split(",")
    .map((part) =>
      part
        .trim()
        .split(";")
        .map((chunk) => chunk.trim().toLowerCase()),
    )
    .find(([name]) => name === type);
  if (!range) return 0;
  const quality = Number(range.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
  return Number.isFinite(quality) ? quality : 0;
}

/** A request as it was received: the operation is in the one or the other. */
interface Received {
  search: string;
  body: JsonValue | undefined;
}

/** The operation that a request asks for. */
interface Parameters {
  /** Absent where the request names a document by its hash. */
  query: string | undefined;
  operationName: string | undefined;
  variables: JsonObject | undefined;
  extensions: JsonObject | undefined;
}

/**
 * What Apollo needs to know of a request: its method, because GET does not change anything. The rest
 * is read here. No media type is accepted, or it would look for those of answers in parts.
 */
const head = (method: "GET" | "POST"): HTTPGraphQLRequest => ({
  method,
  headers: new HeaderMap([["accept", ""]]),
  search: "",
  body: undefined,
});
const HEADS = { GET: head("GET"), POST: head("POST") };

/**
 * GraphQL over HTTP: reads the request, checks the document against limits and schema, has Apollo
 * execute it, and sends the answer with the status that GraphQL over HTTP has for its media type.
 */
export class HttpTransport {
  readonly #server: ApolloServer<Context>;
  readonly #documents: Documents;
  readonly #log: Log;

  constructor(server: ApolloServer<Context>, documents: Documents, log: Log) {
    this.#server = server;
    this.#documents = documents;
    this.#log = log;
  }

  /**
   * @throws ServiceError `BAD_REQUEST` for a request without an operation; `NOT_ACCEPTABLE`;
   * `UNSUPPORTED_MEDIA_TYPE`
   */
  async answer(
    req: IncomingMessage,
    res: ServerResponse,
    { search, body }: Received,
    context: Context,
  ): Promise<void> {
    const method = req.method === "POST" ? "POST" : "GET";
    const asked = method === "GET" ? inSearch(search) : inBody(body);
    if (method === "GET" && !["", LEGACY].includes(mediaType(req)))
      throw new ServiceError(
        "UNSUPPORTED_MEDIA_TYPE",
        `An operation in the address has no body of type ${mediaType(req).slice(0, 100)}: send no Content-Type.`,
      );
    const { operationName, variables, extensions } = asked;
    const found = this.#documents.find(asked.query, extensions);
    if ("error" in found) return this.refuse(req, res, [found.error]);
    const { query } = found;
    if (query === undefined) throw malformed("query", "the text of a GraphQL document");
    const checked = await this.#documents.check(query, operationName, variables);
    if ("errors" in checked) return this.refuse(req, res, checked.errors);
    this.#documents.persist(query, extensions);
    if (
      getOperationAST(checked.document, operationName)?.operation === OperationTypeNode.SUBSCRIPTION
    )
      return this.refuse(req, res, [subscriptionOverHttp()], 400);
    const misfit = isLarge(req)
      ? this.#documents.misfit(checked.document, operationName, variables ?? {})
      : undefined;
    if (misfit) return this.refuse(req, res, [misfit]);
    const { accept } = req.headers;
    // Before the operation: it may change something.
    preferred(accept, [LEGACY, RESPONSE]);
    const { hash: sha256Hash } = checked;
    const answered = await this.#server.executeOperation(
      {
        // Under its hash, which Apollo would compute each time.
        ...(sha256Hash === undefined
          ? { query }
          : { extensions: { persistedQuery: { version: 1, sha256Hash } } }),
        http: HEADS[method],
        ...(operationName === undefined ? {} : { operationName }),
        ...(variables === undefined ? {} : { variables }),
      },
      { contextValue: context },
    );
    if (answered.body.kind !== "single")
      throw new Error("an answer in parts: the schema has no @defer");
    const { errors, data, extensions: others } = answered.body.singleResult;
    const { price } = checked;
    const text = await textOf(
      { errors, data, extensions: price ? { ...others, cost: price } : others },
      data ? context.loaders.weight : 0,
    );
    const { status = 200, headers } = answered.http;
    // Variables that do not fit: as JSON they have the status of every answer.
    send(req, res, status === 400 ? legacyStatus(accept) : status, text, headers);
  }

  /** Errors in the shape of a GraphQL answer. */
  refuse(
    req: IncomingMessage,
    res: ServerResponse,
    errors: readonly GraphQLError[],
    status: number = legacyStatus(req.headers.accept),
  ): void {
    const body = JSON.stringify({
      errors: errors.map((error) => formatError(error.toJSON(), error, this.#log)),
    });
    send(req, res, status, body);
  }

  /** The same for errors before there is an operation. */
  fail(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    if (res.headersSent || res.destroyed) return void res.destroy();
    const known = error instanceof ServiceError ? error : undefined;
    const headers: Record<string, string> = { ...known?.headers };
    if (known?.status === 401) headers["WWW-Authenticate"] ??= "Bearer";
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    // For GraphQL over HTTP a body that is not JSON is a malformed request, not invalid input.
    const isNoJson =
      known instanceof ValidationError && known.items.some(({ type }) => type === "json_invalid");
    this.refuse(req, res, [asGraphQLError(error)], isNoJson ? 400 : (known?.status ?? 500));
  }
}

function send(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  body: string,
  more: Iterable<[string, string]> = [],
): void {
  const type = mediaTypeFor(req.headers.accept);
  const headers: Record<string, string> = { "Cache-Control": "no-store" };
  for (const [name, value] of more) headers[name] = value;
  // The client may still be sending a refused upload.
  if (!req.complete && req.method === "POST")
    return sendEarly(req, res, status, Buffer.from(body), { "Content-Type": type, ...headers });
  if (body.length < LEAST_BYTES) sendPlain(req, res, body, { status, type, headers });
  else sendBytes(req, res, Buffer.from(body), { status, type, headers });
}

/** One answer cannot hold the events of a subscription. */
const subscriptionOverHttp = (): GraphQLError =>
  new GraphQLError(
    "Subscriptions have two transports: a WebSocket at /graphql (protocol " +
      "graphql-transport-ws), and server-sent events from /graphql/stream (protocol " +
      "graphql-sse). Send the operation over one of them.",
  );

/** Whether a body may hold large variables; such variables are checked twice. */
const isLarge = ({ method, headers }: IncomingMessage): boolean =>
  method === "POST" && !(Number(headers["content-length"]) <= 2 ** 14);

const malformed = (name: string, expected: string): ServiceError =>
  new ServiceError("BAD_REQUEST", `The request is not an operation: ${name} must be ${expected}.`);

const AN_OBJECT = "a JSON object, where it is sent";

/** @throws ServiceError `BAD_REQUEST` */
function inBody(body: JsonValue | undefined): Parameters {
  if (Array.isArray(body))
    throw new ServiceError(
      "BAD_REQUEST",
      "The body is a list: operations are not answered in batches. Send each in a request of its own.",
    );
  if (!isObject(body)) throw malformed("the body", "a JSON object with the member query");
  const { query, operationName, variables, extensions } = body;
  if (query != null && typeof query !== "string")
    throw malformed("query", "the text of a GraphQL document");
  if (operationName != null && typeof operationName !== "string")
    throw malformed("operationName", "a string, where it is sent");
  return {
    query: query ?? undefined,
    operationName: operationName ?? undefined,
    variables: objectNamed("variables", variables),
    extensions: objectNamed("extensions", extensions),
  };
}

/** @throws ServiceError `BAD_REQUEST` */
function inSearch(search: string): Parameters {
  const parameters = new URLSearchParams(search);
  const once = (name: string): string | undefined => {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw malformed(name, "one parameter, not several");
    return value;
  };
  const json = (name: string): JsonObject | undefined => {
    let value: JsonValue;
    try {
      value = JSON.parse(once(name) ?? "null") as JsonValue;
    } catch (error) {
      throw error instanceof ServiceError ? error : malformed(name, AN_OBJECT);
    }
    return objectNamed(name, value);
  };
  return {
    query: once("query"),
    operationName: once("operationName"),
    variables: json("variables"),
    extensions: json("extensions"),
  };
}

function objectNamed(name: string, value: JsonValue | undefined): JsonObject | undefined {
  if (value != null && !isObject(value)) throw malformed(name, AN_OBJECT);
  return value ?? undefined;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Larger answers are written in slices. */
const LARGE = 128 * 2 ** 10;

/** The text of an answer of about this size. */
async function textOf(answer: object, size: number): Promise<string> {
  if (size < LARGE) return JSON.stringify(answer);
  const text: string[] = [];
  let pieces = 0;
  for (const piece of piecesOf(answer)) {
    text.push(piece);
    if (++pieces % 64 === 0) await pause();
  }
  return text.join("");
}

/** JSON text, piece by piece: each of values that hold no objects themselves. */
function* piecesOf(value: unknown): Generator<string> {
  if (value === null || typeof value !== "object" || isFlat(value)) {
    yield JSON.stringify(value) ?? "null";
    return;
  }
  let first = true;
  if (Array.isArray(value)) {
    yield "[";
    for (const item of value) {
      if (!first) yield ",";
      first = false;
      yield* piecesOf(item);
    }
    yield "]";
    return;
  }
  yield "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${first ? "" : ","}${JSON.stringify(key)}:`;
    first = false;
    yield* piecesOf(member);
  }
  yield "}";
}

const isFlat = (value: object): boolean =>
  "toJSON" in value ||
  Object.values(value).every((member) => member === null || typeof member !== "object");
