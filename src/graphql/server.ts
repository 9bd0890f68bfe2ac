/** GraphQL over HTTP by Apollo Server, with subscriptions over server-sent events and WebSockets. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestContextWillSendResponse,
} from "@apollo/server";
import { unwrapResolverError } from "@apollo/server/errors";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from "@apollo/server/plugin/disabled";
import { InMemoryLRUCache } from "@apollo/utils.keyvaluecache";
import { expressMiddleware } from "@as-integrations/express5";
import { stringifyChunked } from "@discoveryjs/json-ext";
import {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from "express";
import {
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLSchema,
  OperationTypeNode,
} from "graphql";
import { ServiceError, ValidationError } from "../errors.js";
import { checkBodyType, mediaType, readJson } from "../http/body.js";
import { credentialsOf } from "../http/browsers.js";
import { clientAddress, requestIdOf } from "../config/client.js";
import { notModified, preferred } from "../http/negotiation.js";
import { NOT_STORED, SAFE_HEADERS, sendBytes, sendEarly } from "../http/reply.js";
import { KINDS } from "../model/kinds.js";
import type { Authenticator, Identity } from "../services/accounts/tokens.js";
import { readBy, seenBy } from "../services/access/seen.js";
import type { Deps } from "../services/deps.js";
import { totalsByKind } from "../services/records/list.js";
import { Documents, type Price } from "./documents.js";
import { asGraphQLError, cutErrors, formatError } from "./errors.js";
import { EventStreams, opensReserved } from "./event-streams.js";
import { assertFits, type Streaming } from "./operations.js";
import { parametersOf } from "./parameters.js";
import { ValueTooLong } from "./resolvers/answer-budget.js";
import { eventLoop } from "../event-loop-budget.js";
import { type Context, contextOf } from "./resolvers/context.js";
import { placed } from "./resolvers/types/inputs.js";
import { schemaText } from "./schema-text.js";
import { graphqlSchema } from "./schema.js";
import { readUpload } from "./uploads.js";
import { webSockets } from "./web-sockets.js";

const METHODS = ["GET", "HEAD", "POST"];
const STREAM_METHODS = [...METHODS, "PUT", "DELETE"];

/** GraphQL over HTTP, server-sent events and WebSocket, with the same schema, limits and errors. */
export interface GraphqlInterface {
  /** The endpoint at `/`, event streams at `/stream`, and the schema at `/schema.graphql`. */
  router: Router;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The context of an operation that a page asks for. */
  context(req: IncomingMessage, reader: Identity): Context;
  /**
   * Executes a document of the web pages in this process: the same schema and resolvers, without
   * the limits on the documents of clients.
   * @throws what the first field that failed threw, unless only its value was too long: it is null
   */
  execute(
    req: IncomingMessage,
    reader: Identity,
    document: DocumentNode,
    variables: object,
  ): Promise<unknown>;
  /** Ends long-lived operations: subscriptions. */
  endStreams(): Promise<void>;
  stop(): Promise<void>;
}

export async function openGraphql(
  deps: Deps,
  authenticator: Authenticator,
): Promise<GraphqlInterface> {
  const { config, log } = deps;
  const schema = await graphqlSchema();
  const documents = new Documents(schema, config, () => totalsByType(deps));
  const addressOf = clientAddress(config.TRUSTED_PROXIES);
  const contextFor: Streaming["contextFor"] = async (
    credentials,
    address,
    request,
    isAbandoned,
  ) => {
    const sent = { ...credentials, address: () => address };
    const callerNow = () => authenticator.caller(sent);
    const { caller, review } = await authenticator.identify(sent);
    const read = readBy(deps, review);
    return contextOf(read, caller, address, request, false, isAbandoned, callerNow);
  };
  const context = (req: IncomingMessage, { caller, review }: Identity): Context =>
    contextOf(readBy(deps, review), caller, addressOf(req), requestIdOf(req));
  const apollo = await openApollo(schema, documents, deps);
  const streaming: Streaming = {
    schema,
    documents,
    log,
    contextFor,
    addressOf,
    base: deps,
    sendTimeout: config.GRAPHQL_SEND_TIMEOUT,
  };
  const streams = new EventStreams(streaming, {
    maxOperations: config.GRAPHQL_MAX_SUBSCRIPTIONS,
    maxReservations: config.GRAPHQL_MAX_RESERVATIONS,
    reservationTime: config.GRAPHQL_RESERVATION_TIME,
  });
  const sockets = webSockets(streaming, {
    maxPayload: config.GRAPHQL_MAX_MESSAGE_BYTES,
    maxValues: config.MAX_JSON_VALUES,
    maxSubscriptions: config.GRAPHQL_MAX_SUBSCRIPTIONS,
  });

  const contexts = new WeakMap<Request, Context>();
  /** Of a request that was identified. */
  const identified = (req: Request): Context => contexts.get(req)!;
  /** Verifies the token. */
  const identify =
    (methods: readonly string[]): RequestHandler =>
    async (req, res, next) => {
      allowMethods(req, methods, "GraphQL does not support the method");
      checkBodyType(req, "either");
      const found = await contextFor(
        credentialsOf(req, deps),
        addressOf(req),
        requestIdOf(req),
        () => res.destroyed && !res.writableFinished,
      );
      contexts.set(req, found);
      next();
    };
  /** Reads the operation with its limits, before Apollo Server gets it. */
  const readOperation: RequestHandler = async (req, res, next) => {
    req.body = undefined;
    if (req.method === "POST")
      req.body =
        mediaType(req) === "multipart/form-data"
          ? await readUpload(req, res, identified(req).caller, deps)
          : // As strict as REST: the same numbers and strings are refused.
            await placed([], () => readJson(req, deps));
    const parameters = parametersOf(req);
    documents.admit(parameters);
    if (req.method === "POST") req.body = parameters;
    // Apollo Server knows no HEAD; Node sends no body for it.
    if (req.method === "HEAD") req.method = "GET";
    next();
  };
  /** Before the operation: it may change something. */
  const checkAccept: RequestHandler = (req, _res, next) => {
    preferred(req.headers.accept, [LEGACY, RESPONSE]);
    next();
  };
  const router = Router();
  router.use(answers);
  router.get("/schema.graphql", new SchemaFile(schema).handler);
  router.all("/schema.graphql", (req) => allowMethods(req, ["GET", "HEAD"], "The schema has no"));
  router.all("/stream", identify(STREAM_METHODS));
  router.put("/stream", (req, res) => streams.reserve(req, res, identified(req)));
  router.delete("/stream", (req, res) => streams.complete(req, res, identified(req)));
  router.get("/stream", (req, res, next) =>
    opensReserved(req) ? streams.openReserved(req, res, identified(req)) : next(),
  );
  router.all("/stream", readOperation, (req, res) => streams.handle(req, res, identified(req)));
  router.all(
    "/",
    identify(METHODS),
    readOperation,
    checkAccept,
    expressMiddleware(apollo, {
      context: async ({ req }) => {
        eventLoop.beginSlice();
        return identified(req);
      },
    }),
  );
  router.use(errorsOf(deps));

  return {
    router,
    context,
    async execute(req, reader, document, variables) {
      const contextValue = context(req, reader);
      const variableValues = variables as Record<string, unknown>;
      const { data, errors } = await execute({ schema, document, variableValues, contextValue });
      // A page shows what it can of a record with a value of megabytes.
      const error = errors?.find(({ originalError }) => !(originalError instanceof ValueTooLong));
      if (error) throw error.originalError ?? error;
      return data;
    },
    upgrade: (req, socket, head) => sockets.upgrade(req, socket, head),
    async endStreams() {
      streams.close();
      await sockets.close();
    },
    stop: () => apollo.stop(),
  };
}

/** Most characters of the documents that Apollo Server stores parsed; longer ones are not stored. */
const [MAX_CACHED_CHARACTERS, MAX_CACHED_DOCUMENT_CHARACTERS] = [2 ** 20, 20_000];

async function openApollo(
  schema: GraphQLSchema,
  documents: Documents,
  { config, log }: Deps,
): Promise<ApolloServer<Context>> {
  const requests = new WeakMap<object, string>();
  const apollo = new ApolloServer<Context>({
    schema,
    introspection: true,
    // Multipart requests need a preflight header before their file is received; other requests are
    // not simple requests (CORS), or are queries.
    csrfPrevention: false,
    persistedQueries: { cache: documents.persisted },
    documentStore: new InMemoryLRUCache<DocumentNode>({
      maxSize: MAX_CACHED_CHARACTERS,
      maxEntrySize: MAX_CACHED_DOCUMENT_CHARACTERS,
      sizeCalculation: ({ loc }) => loc?.source.body.length ?? 1,
    }),
    // `checks` validates: limits come before the rules of the specification, which are slow for
    // documents that exceed them.
    dangerouslyDisableValidation: true,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: config.GRAPHQL_MAX_TOKENS },
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginCacheControlDisabled(),
      checks(schema, documents, requests),
    ],
    formatError: (formatted, error) =>
      formatError(formatted, error, log, requests.get(error as object)),
    stringifyResult: async (answer) => {
      const text: string[] = [];
      for (const piece of stringifyChunked(answer)) {
        text.push(piece);
        await eventLoop.pause();
      }
      return text.join("");
    },
    logger: {
      debug() {},
      info() {},
      warn: (message) => log.warn({}, String(message)),
      error: (message) => log.error({}, String(message)),
    },
  });
  await apollo.start();
  return apollo;
}

/** Larger variables are checked twice. */
const LARGE_VARIABLES_BYTES = 2 ** 14;

/**
 * Checks an operation before it is executed, and completes its answer: with its price, with all
 * errors of its document, and with the status of its media type.
 * @param requests gets the name of the request of each error, for the formatter
 */
const checks = (
  schema: GraphQLSchema,
  documents: Documents,
  requests: WeakMap<object, string>,
): ApolloServerPlugin<Context> => ({
  async requestDidStart() {
    let cost: Price | undefined;
    let refused: readonly GraphQLError[] = [];
    return {
      async didResolveOperation({ document, operation, request }) {
        refused = documents.validate(document);
        if (refused[0]) throw refused[0];
        // The execution reports an operation that does not exist.
        if (!operation) return;
        if (operation.operation === OperationTypeNode.SUBSCRIPTION) throw subscriptionOverHttp();
        const { variables = {}, http } = request;
        if (
          !(
            Number(http?.headers.get("content-length") ?? LARGE_VARIABLES_BYTES + 1) <=
            LARGE_VARIABLES_BYTES
          )
        )
          assertFits(schema, operation, variables);
        try {
          cost = await documents.price(document, operation, variables);
        } catch (error) {
          throw asGraphQLError(error);
        }
      },
      async didEncounterErrors({ errors, contextValue: { request } }) {
        const listed = errors as GraphQLError[];
        for (const error of refused.slice(1)) listed.push(error);
        cutErrors(listed);
        if (request !== undefined) for (const error of listed) requests.set(error, request);
      },
      async willSendResponse(context) {
        complete(context, cost);
      },
    };
  },
});

function complete(
  { request, response, errors }: GraphQLRequestContextWillSendResponse<Context>,
  cost: Price | undefined,
): void {
  if (response.body.kind !== "single") return;
  const { singleResult } = response.body;
  if (cost) singleResult.extensions = { ...singleResult.extensions, cost };
  const accept = request.http?.headers.get("accept");
  response.http.headers.set("content-type", contentTypeFor(accept));
  const { status } = response.http;
  // GET with a mutation.
  if (singleResult.data !== undefined || status === 405) return;
  response.http.status = statusOf(errors?.[0], accept);
}

const RESPONSE = "application/graphql-response+json";
const LEGACY = "application/json";

/** Media type of an answer: the one of GraphQL over HTTP for clients that name it, else JSON. */
const contentTypeFor = (accept: string | undefined): string =>
  `${isModern(accept) ? RESPONSE : LEGACY}; charset=utf-8`;

function isModern(accept: string | undefined): boolean {
  if (!accept?.includes(RESPONSE)) return false;
  try {
    return preferred(accept, [RESPONSE, LEGACY]) === RESPONSE;
  } catch {
    // Neither is accepted: the error that says so is JSON.
    return false;
  }
}

/**
 * Status of an answer without data. In JSON that of errors of GraphQL is always 200: an intermediary
 * may send JSON as well, so its status is ambiguous; only GraphQL servers answer with the newer type.
 */
function statusOf(error: unknown, accept: string | undefined): number {
  const cause = unwrapResolverError(error);
  // For GraphQL over HTTP a body that is not JSON is a malformed request, not invalid input.
  if (cause instanceof ValidationError && cause.items.some(({ type }) => type === "json_invalid"))
    return 400;
  if (cause instanceof ServiceError) return cause.status;
  if (!(cause instanceof GraphQLError)) return 500;
  return isModern(accept) ? 400 : 200;
}

/** One answer cannot hold the events of a subscription. */
const subscriptionOverHttp = (): GraphQLError =>
  asGraphQLError(
    new ServiceError(
      "BAD_REQUEST",
      "Subscriptions have two transports: a WebSocket at /graphql (protocol " +
        "graphql-transport-ws), and server-sent events from /graphql/stream (protocol " +
        "graphql-sse). Send the operation over one of them.",
    ),
  );

/** @throws ServiceError `METHOD_NOT_ALLOWED` */
function allowMethods({ method }: Request, methods: readonly string[], message: string): void {
  if (methods.includes(method)) return;
  const allowed = methods.join(", ");
  throw new ServiceError(
    "METHOD_NOT_ALLOWED",
    `${message} ${method}; use ${allowed}.`,
    {},
    { Allow: allowed },
  );
}

/**
 * Has `res.send`, which Apollo's integration calls, answer like every other address: compressed,
 * and for an upload that is refused before its end.
 */
const answers: RequestHandler = (req, res, next) => {
  for (const [name, value] of Object.entries({ ...SAFE_HEADERS, ...NOT_STORED }))
    res.setHeader(name, value);
  res.send = (text: string) => {
    const bytes = Buffer.from(text);
    const type = String(res.getHeader("content-type") ?? contentTypeFor(req.headers.accept));
    if (!req.complete && req.method === "POST")
      sendEarly(req, res, res.statusCode, bytes, { "Content-Type": type });
    else sendBytes(req, res, bytes, { status: res.statusCode, type });
    return res;
  };
  next();
};

/** Errors before there is an operation, in the shape of a GraphQL answer. */
const errorsOf =
  ({ log }: Deps) =>
  (error: unknown, req: Request, res: Response, _next: NextFunction): void => {
    if (res.headersSent || res.destroyed) return void res.destroy();
    const { accept } = req.headers;
    const shown = asGraphQLError(error);
    if (error instanceof ServiceError) {
      for (const [name, value] of Object.entries(error.headers ?? {})) res.setHeader(name, value);
      if (error.status === 401 && !res.hasHeader("WWW-Authenticate"))
        res.setHeader("WWW-Authenticate", "Bearer");
    }
    res.statusCode = statusOf(shown, accept);
    res.setHeader("Content-Type", contentTypeFor(accept));
    const errors = [formatError(shown.toJSON(), shown, log, requestIdOf(req))];
    res.send(JSON.stringify({ errors }));
  };

/** Records that a page of each list can have: those of its kind; links lead to any kind. */
async function totalsByType(deps: Deps): Promise<ReadonlyMap<string, number>> {
  const totals = await totalsByKind(seenBy(deps, null));
  const byType = new Map(
    [...totals].map(([kind, total]) => [`${KINDS[kind].typeName}Connection`, total]),
  );
  const all = [...totals.values()].reduce((sum, total) => sum + total, 0);
  return byType.set("RecordConnection", all);
}

/** Caches ask again with If-None-Match: a new version may bring another schema at any time. */
const CACHE = "public, no-cache";

/** The schema as `graphql/schema.graphql` has it, for clients of this registry. */
class SchemaFile {
  readonly #schema: GraphQLSchema;
  #printed: { bytes: Buffer; etag: string } | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  readonly handler: RequestHandler = (req, res) => {
    this.#printed ??= this.#print();
    const { bytes, etag } = this.#printed;
    const headers = { ETag: etag, "Cache-Control": CACHE };
    if (notModified(req, etag))
      return void res.writeHead(304, { ...SAFE_HEADERS, ...headers }).end();
    sendBytes(req, res, bytes, { type: "application/graphql; charset=utf-8", headers });
  };

  #print(): { bytes: Buffer; etag: string } {
    const bytes = Buffer.from(schemaText(this.#schema));
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
    // Weak: the compressed answers have it too.
    return { bytes, etag: `W/"${hash}"` };
  }
}
