/** The GraphQL interface over HTTP, with uploads by multipart requests. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { finished } from "node:stream/promises";
import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestListener } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from "@apollo/server/plugin/disabled";
import { type DocumentNode, execute, type GraphQLError, type GraphQLSchema } from "graphql";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import Upload from "graphql-upload/Upload.mjs";
import { ServiceError } from "../errors.js";
import {
  checkBodyType,
  checkedJson,
  endedEarly,
  mediaType,
  readJson,
  readMultipart,
  secondFile,
  type UploadedFile,
} from "../http/body.js";
import { credentialsOf } from "../http/browsers.js";
import { clientAddress, requestIdOf } from "../config/client.js";
import { notModified } from "../http/negotiation.js";
import { SAFE_HEADERS, sendBytes } from "../http/reply.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
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
 * Headers that a page of another origin cannot send without a preflight request (CORS); any value
 * is accepted.
 */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];

/**
 * The operation of a GraphQL multipart request, its file in place. The file arrives while the
 * operation runs.
 * @throws ServiceError `BAD_REQUEST` without a preflight header, for a malformed form, or a map that
 * does not lead to a variable; `NOT_AUTHENTICATED`, `TOO_LARGE`; ValidationError for a part that came
 * twice, and as {@link checkedJson}
 */
function readUpload(
  req: IncomingMessage,
  res: ServerResponse,
  caller: Caller | null,
  deps: Pick<Deps, "config" | "documents">,
): Promise<JsonValue> {
  const { MAX_UPLOAD_BYTES, GRAPHQL_MAX_MESSAGE_BYTES } = deps.config;
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
  const fields = {
    texts: ["operations", "map"],
    textLimit: { bytes: GRAPHQL_MAX_MESSAGE_BYTES, setting: "GRAPHQL_MAX_MESSAGE_BYTES" },
  };
  return new Promise((resolve, reject) => {
    const take = async ({ field, stream, name, mediaType: type }: UploadedFile, texts: Texts) => {
      const upload = new Upload();
      const body = await operationIn(texts, deps, { field, upload });
      // Nothing reads it after the answer; then the rest of the form is skipped.
      res.once("close", () => stream.destroy(endedEarly()));
      const file: Omit<FileUpload, "capacitor"> = {
        filename: name,
        mimetype: type,
        encoding: "",
        createReadStream: () => stream,
      };
      upload.resolve(file);
      resolve(body);
      await finished(stream).catch(() => undefined);
    };
    readMultipart(req, fields, take)
      .then(async ({ texts, file }) => file ?? resolve(await operationIn(texts, deps)))
      .catch(reject);
  });
}

type Texts = ReadonlyMap<string, Uint8Array>;

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
const shown = (name: string): string => JSON.stringify(cut(name));

const malformedForm = (message: string): ServiceError =>
  new ServiceError(
    "BAD_REQUEST",
    `${message} See https://github.com/jaydenseric/graphql-multipart-request-spec.`,
  );

/**
 * The JSON of the field `operations`, with the file where `map` says.
 * @throws ServiceError `BAD_REQUEST`, `TOO_LARGE`; ValidationError
 */
async function operationIn(
  texts: Texts,
  deps: Pick<Deps, "config" | "documents">,
  file?: { field: string; upload: Upload },
): Promise<JsonValue> {
  const read = async (name: string): Promise<JsonObject> => {
    const text = texts.get(name);
    if (!text)
      throw malformedForm(
        `The form has no field ${name}${file ? " before its file" : ""}: send operations, map ` +
          "and then the file.",
      );
    const value = await checkedJson(new Uint8Array(text), deps, ["body", name]);
    if (value === null || typeof value !== "object" || Array.isArray(value))
      throw malformedForm(`The field ${name} must be a JSON object.`);
    return value;
  };
  const operations = await read("operations");
  const entries = Object.entries(await read("map"));
  if (entries.length > 1) throw secondFile("map");
  const other = entries.find(([name]) => name !== file?.field)?.[0];
  if (other !== undefined)
    throw malformedForm(
      `The map has the entry ${shown(other)}, but the form has no file of that name` +
        `${file ? `: its file is ${shown(file.field)}` : ""}.`,
    );
  if (!file) return operations;
  const places = entries[0]?.[1];
  if (!Array.isArray(places) || places.length === 0)
    throw malformedForm(
      `The map must have an entry ${shown(file.field)} with a list of variables, such as ` +
        `{${JSON.stringify(file.field.slice(0, 40))}: ["variables.file"]}.`,
    );
  for (const place of places) put(operations, place, file);
  return operations;
}

/** Replaces a variable that is null, and is named by a path such as `variables.file`, by the file. */
function put(
  operations: JsonObject,
  place: JsonValue,
  { field, upload }: { field: string; upload: Upload },
): void {
  const steps = typeof place === "string" ? place.split(".") : [];
  const last = steps.pop();
  let holder: JsonValue | undefined = operations;
  for (const step of steps) holder = memberOf(holder, step);
  if (steps[0] !== "variables" || memberOf(holder, last!) !== null)
    throw malformedForm(
      `The entry ${shown(field)} of the map names ${cut(JSON.stringify(place))}, where the field ` +
        "operations has no variable with the value null: name one, such as variables.file.",
    );
  Object.defineProperty(holder, last!, { value: upload });
}

const memberOf = (holder: JsonValue | undefined, name: string): JsonValue | undefined =>
  holder !== null && typeof holder === "object" && Object.hasOwn(holder, name)
    ? (holder as JsonObject)[name]
    : undefined;

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
    if (mediaType(req) === "multipart/form-data") return readUpload(req, res, caller, deps);
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
