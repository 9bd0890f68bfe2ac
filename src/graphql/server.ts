/** The GraphQL interface over HTTP, with uploads by multipart requests. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestListener } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from "@apollo/server/plugin/disabled";
import busboy from "busboy";
import { type DocumentNode, execute, type GraphQLError, type GraphQLSchema } from "graphql";
import processRequest, { type FileUpload } from "graphql-upload/processRequest.mjs";
import Upload from "graphql-upload/Upload.mjs";
import type { Config } from "../config/config.js";
import { ServiceError, ValidationError } from "../errors.js";
import { checkBodyType, FormEnd, mediaType, readJson, secondFile, twice } from "../http/body.js";
import { credentialsOf } from "../http/browsers.js";
import { clientAddress, requestIdOf } from "../http/client.js";
import { notModified } from "../http/negotiation.js";
import { SAFE_HEADERS, sendBytes } from "../http/reply.js";
import type { JsonValue } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { findBadString } from "../model/strings.js";
import { authenticated, type Caller } from "../services/access/rules.js";
import type { Authenticator, SentCredentials } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { totalsByKind } from "../services/records/list.js";
import { Documents } from "./documents.js";
import { cutErrors, formatError, HttpTransport } from "./http.js";
import { beginSlice, type Context, contextOf, ValueTooLong } from "./resolvers/context.js";
import { graphqlSchema, schemaText } from "./schema.js";
import { eventStreamTransport, type Streaming, webSocketTransport } from "./subscriptions.js";

/**
 * Checks the parts of a multipart request while another parser reads them: that parser silently
 * drops a second file, and a second `operations` or `map`.
 */
function watchParts(req: IncomingMessage): FormEnd {
  const end = new FormEnd();
  const seen = new Set<string>();
  let parser: busboy.Busboy;
  try {
    parser = busboy({ headers: req.headers, limits: { fieldSize: 1 }, defParamCharset: "utf8" });
  } catch {
    // The other parser reports the error.
    end.reach();
    return end;
  }
  parser.on("field", (field) => {
    if (seen.has(field)) end.fail(twice(field));
    seen.add(field);
  });
  let files = 0;
  parser.on("file", (field, stream) => {
    stream.on("error", () => undefined).resume();
    files += 1;
    if (files > 1) end.fail(secondFile(field));
  });
  parser.on("error", () =>
    end.fail(new ServiceError("BAD_REQUEST", "The multipart form cannot be read.")),
  );
  parser.on("close", end.reach);
  req.once("close", () => {
    if (!req.readableEnded)
      end.fail(
        new ServiceError("BAD_REQUEST", "The upload ended before it was complete: send it again."),
      );
  });
  req.pipe(parser);
  return end;
}

/**
 * Headers that a page of another origin cannot send without a preflight request (CORS); any value
 * is accepted.
 */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];

/**
 * The operation of a GraphQL multipart request, its file in place. The file arrives while the
 * operation runs.
 * @throws ServiceError `BAD_REQUEST` without a preflight header or for a malformed form,
 * `NOT_AUTHENTICATED`, `TOO_LARGE`; ValidationError for a part that came twice
 */
async function readUpload(
  req: IncomingMessage,
  res: ServerResponse,
  caller: Caller | null,
  { MAX_UPLOAD_BYTES, MAX_JSON_DEPTH, MAX_JSON_VALUES, GRAPHQL_MAX_MESSAGE_BYTES }: Config,
): Promise<JsonValue> {
  if (!PREFLIGHT.some((name) => name in req.headers)) {
    throw new ServiceError(
      "BAD_REQUEST",
      `A multipart request needs the header ${PREFLIGHT[0]}: true, which shows that no page ` +
        "of another origin sent it.",
    );
  }
  authenticated(caller);
  if (Number(req.headers["content-length"] ?? 0) > MAX_UPLOAD_BYTES + 2 * GRAPHQL_MAX_MESSAGE_BYTES)
    throw new ServiceError(
      "TOO_LARGE",
      `The upload is larger than ${MAX_UPLOAD_BYTES} bytes (MAX_UPLOAD_BYTES).`,
    );
  const end = watchParts(req);
  let body: JsonValue;
  try {
    const read = processRequest(req, res, {
      maxFileSize: MAX_UPLOAD_BYTES,
      maxFiles: 1,
      maxFieldSize: GRAPHQL_MAX_MESSAGE_BYTES,
    });
    body = (await first(end, read)) as JsonValue;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { status, message } = error as { status?: number; message: string };
    // Only the map shows which limit was exceeded; the parser has one status for all of them.
    if (status === 413 && message.includes("max file uploads")) throw secondFile("map");
    throw new ServiceError(
      status === 413 ? "TOO_LARGE" : "BAD_REQUEST",
      status === undefined ? "The multipart form cannot be read." : message,
    );
  }
  assertStorable(body, MAX_JSON_DEPTH, MAX_JSON_VALUES);
  holdFiles(body, end);
  return body;
}

/** The result of the form parser, unless the form is refused before. */
function first<T>(end: FormEnd, parsed: Promise<T>): Promise<T> {
  return Promise.race([parsed, end.reached.then(() => parsed)]).catch((error) => {
    // Both read the same bytes; the parser's refusal may come first, and is less precise.
    throw end.failure ?? error;
  });
}

/**
 * An operation must not see the end of its file, and do its work, before the whole form has been
 * read.
 */
function holdFiles(value: unknown, end: FormEnd): void {
  if (value instanceof Upload) {
    const file: Promise<FileUpload> = first(end, value.promise).then((file) => ({
      ...file,
      createReadStream: (options) => end.hold(file.createReadStream(options)),
    }));
    file.catch(() => undefined);
    value.promise = file;
  } else if (value !== null && typeof value === "object") {
    for (const item of Object.values(value)) holdFiles(item, end);
  }
}

/**
 * The form's JSON was parsed leniently; values that no document may hold are refused as in a JSON
 * body. Without recursion: the client chooses the depth.
 * @throws ServiceError `TOO_LARGE` past MAX_JSON_VALUES; ValidationError
 */
function assertStorable(body: unknown, maxDepth: number, maxValues: number): void {
  const open: { value: unknown; loc: (string | number)[] }[] = [{ value: body, loc: ["body"] }];
  let values = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, loc } = next;
    if (++values > maxValues)
      throw new ServiceError(
        "TOO_LARGE",
        `The field operations holds more than MAX_JSON_VALUES=${maxValues} keys and values. ` +
          "Send fewer.",
      );
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw new ValidationError([
        {
          loc,
          msg: "Input should be a number that a double holds exactly",
          type: "number_precision",
        },
      ]);
    if (
      !Array.isArray(value) &&
      (value === null ||
        typeof value !== "object" ||
        Object.getPrototypeOf(value) !== Object.prototype)
    )
      continue;
    if (loc.length > maxDepth)
      throw new ValidationError([
        { loc, msg: "Input is nested too deep (MAX_JSON_DEPTH)", type: "too_deep" },
      ]);
    for (const [name, member] of Object.entries(value))
      open.push({ value: member, loc: [...loc, Array.isArray(value) ? Number(name) : name] });
    if (!Array.isArray(value)) values += Object.keys(value).length;
  }
  const bad = findBadString(body);
  if (bad)
    throw new ValidationError([
      {
        loc: ["body", ...bad],
        msg: "Input should be a valid string without NUL or lone surrogates",
        type: "string_unicode",
      },
    ]);
}

const METHODS = ["GET", "HEAD", "POST"];

/** What a GraphQL request asks for: one answer, a stream of answers, or the schema as text. */
export type GraphqlAddress = "answer" | "stream" | "schema";

/** GraphQL over HTTP, server-sent events and WebSocket, with the same schema, limits and errors. */
export interface GraphqlInterface {
  /** Answers one request; never rejects. */
  handle(
    req: IncomingMessage,
    res: ServerResponse,
    address: GraphqlAddress,
    search: string,
  ): Promise<void>;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The context of an operation that a page asks for. */
  context(req: IncomingMessage, caller: Caller | null): Context;
  /**
   * Executes a document of the web pages in this process: the same schema and resolvers, without
   * the limits on the documents of clients.
   * @throws what the first field that failed threw, unless only its value was too long: it is null
   */
  execute(
    req: IncomingMessage,
    caller: Caller | null,
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
  const schemaFile = new SchemaFile(schema);
  const addressOf = clientAddress(config.TRUSTED_PROXIES);
  const contextFor = async (
    credentials: SentCredentials,
    address: string,
    request?: string,
    isAbandoned?: () => boolean,
  ): Promise<Context> => {
    const callerNow = () => authenticator.caller(credentials);
    return contextOf(deps, await callerNow(), address, request, false, isAbandoned, callerNow);
  };
  const context = (req: IncomingMessage, caller: Caller | null): Context =>
    contextOf(deps, caller, addressOf(req), requestIdOf(req));
  const requests = new WeakMap<object, string>();
  const apollo = new ApolloServer<Context>({
    schema,
    introspection: true,
    // Multipart requests need a preflight header before their file is received; other requests are
    // not simple requests (CORS), or are queries.
    csrfPrevention: false,
    persistedQueries: { cache: documents.texts },
    documentStore: documents.parsed,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: config.GRAPHQL_MAX_TOKENS },
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginCacheControlDisabled(),
      errorsOfRequests(requests),
    ],
    formatError: (formatted, error) =>
      formatError(formatted, error, log, requests.get(error as object)),
    logger: {
      debug() {},
      info() {},
      warn: (message) => log.warn({}, String(message)),
      error: (message) => log.error({}, String(message)),
    },
  });
  await apollo.start();
  const streaming: Streaming = {
    schema,
    documents,
    log,
    contextFor,
    addressOf,
    base: deps,
    sendTimeout: config.GRAPHQL_SEND_TIMEOUT,
  };
  const http = new HttpTransport(apollo, documents, log);
  const events = eventStreamTransport(streaming);
  const sockets = webSocketTransport(streaming, {
    maxPayload: config.GRAPHQL_MAX_MESSAGE_BYTES,
    maxValues: config.MAX_JSON_VALUES,
    maxSubscriptions: config.GRAPHQL_MAX_SUBSCRIPTIONS,
  });

  const bodyOf = async (
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller | null,
  ): Promise<JsonValue | undefined> => {
    if (mediaType(req) === "multipart/form-data") return readUpload(req, res, caller, config);
    // As strict as REST: the same numbers and strings are refused.
    return readJson(req, deps);
  };
  return {
    async handle(req, res, address, search) {
      try {
        if (address === "schema") return schemaFile.send(req, res);
        if (!METHODS.includes(req.method ?? ""))
          throw new ServiceError(
            "METHOD_NOT_ALLOWED",
            `GraphQL does not support the method ${req.method}; use ${METHODS.join(", ")}.`,
            {},
            { Allow: METHODS.join(", ") },
          );
        checkBodyType(req, "either");
        const context = await contextFor(
          credentialsOf(req, deps),
          addressOf(req),
          requestIdOf(req),
          () => res.destroyed && !res.writableFinished,
        );
        const body = req.method === "POST" ? await bodyOf(req, res, context.caller) : undefined;
        beginSlice();
        if (address === "stream") await events.handle(req, res, body);
        else await http.answer(req, res, { search, body }, context);
      } catch (error) {
        http.fail(req, res, error);
      }
    },
    context,
    async execute(req, caller, document, variables) {
      const contextValue = context(req, caller);
      const variableValues = variables as Record<string, unknown>;
      const { data, errors } = await execute({ schema, document, variableValues, contextValue });
      // A page shows what it can of a record with a value of megabytes.
      const error = errors?.find(({ originalError }) => !(originalError instanceof ValueTooLong));
      if (error) throw error.originalError ?? error;
      return data;
    },
    upgrade: (req, socket, head) => sockets.upgrade(req, socket, head),
    async endStreams() {
      events.close();
      await sockets.close();
    },
    stop: () => apollo.stop(),
  };
}

/** Records that a page of each list can have: those of its kind; links lead to any kind. */
async function totalsByType(deps: Deps): Promise<ReadonlyMap<string, number>> {
  const totals = await totalsByKind(deps);
  const byType = new Map(
    [...totals].map(([kind, total]) => [`${KINDS[kind].typeName}Connection`, total]),
  );
  const all = [...totals.values()].reduce((sum, total) => sum + total, 0);
  return byType.set("RecordConnection", all).set("RecordListConnection", all);
}

/**
 * Errors are cut before Apollo formats each, and get the name of their request for the formatter,
 * which has no other access to it. One plugin: Apollo awaits each hook of each.
 */
const errorsOfRequests = (requests: WeakMap<object, string>): ApolloServerPlugin<Context> => {
  const hooks: GraphQLRequestListener<Context> = {
    didEncounterErrors: async ({ errors, contextValue: { request } }) => {
      cutErrors(errors as GraphQLError[]);
      if (request !== undefined) for (const error of errors) requests.set(error, request);
    },
  };
  return { requestDidStart: async () => hooks };
};

/** Caches ask again with If-None-Match: a new version may bring another schema at any time. */
const CACHE = "public, no-cache";

/** The schema as `graphql/schema.graphql` has it, for clients of this registry. */
class SchemaFile {
  readonly #schema: GraphQLSchema;
  #printed: { bytes: Buffer; etag: string } | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @throws ServiceError `METHOD_NOT_ALLOWED` */
  send(req: IncomingMessage, res: ServerResponse): void {
    if (req.method !== "GET" && req.method !== "HEAD")
      throw new ServiceError(
        "METHOD_NOT_ALLOWED",
        "The schema supports only GET and HEAD.",
        {},
        { Allow: "GET, HEAD" },
      );
    this.#printed ??= this.#print();
    const { bytes, etag } = this.#printed;
    const headers = { ETag: etag, "Cache-Control": CACHE };
    if (notModified(req, etag))
      return void res.writeHead(304, { ...SAFE_HEADERS, ...headers }).end();
    sendBytes(req, res, bytes, { type: "application/graphql; charset=utf-8", headers });
  }

  #print(): { bytes: Buffer; etag: string } {
    const bytes = Buffer.from(schemaText(this.#schema));
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
    // Weak: the compressed answers have it too.
    return { bytes, etag: `W/"${hash}"` };
  }
}
