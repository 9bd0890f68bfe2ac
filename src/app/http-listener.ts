import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import express, { type NextFunction, type Request, type Response } from "express";
import type { RequestObserver } from "../adapters/metrics.js";
import { ServiceError, ValidationError } from "../errors.js";
import { AccountResolver } from "../graphql/resolvers/account-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { SparqlResolver } from "../graphql/resolvers/query-resolver.js";
import { openGraphql } from "../graphql/server.js";
import { refuse } from "../graphql/web-sockets.js";
import { hasBody, readMultipart } from "../http/body.js";
import { credentialsOf, crossOrigin, keepPrivate } from "../http/browsers.js";
import { requestIdOf } from "../http/client.js";
import { decodedPath, EventStreams, errorAnswer } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { OPERATIONS, openApiDocument } from "../rest/contract/document.js";
import { presence } from "../rest/request.js";
import { contractRouter, operations, restHandler } from "../rest/router.js";
import type { Caller } from "../services/access/rules.js";
import { Authenticator } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { askedArk } from "../services/records/find.js";
import { SiteFiles } from "../web/assets.js";
import type { TypedDocumentString } from "../web/document.js";
import { sendError } from "../web/frame.js";
import type { SparqlAnswer } from "../web/page.js";
import { Site, UNREAD } from "../web/site.js";
import { BodyClock, limitConnections } from "./connections.js";
import { ContainedRequest, ContainedResponse, reportFault } from "./faults.js";

/** An HTTP server that does not listen yet. */
export interface HttpInterface {
  server: Server;
  /** Ends connections that would otherwise stay open forever. */
  endStreams(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * All HTTP interfaces on one server: REST as the contract specifies, `/graphql`, and the files of
 * the pages.
 * @param observer is called for every request
 */
export async function openHttpInterface(
  deps: Deps,
  observer?: RequestObserver,
): Promise<HttpInterface> {
  const authenticator = new Authenticator(deps);
  // Uses the tables that openapi.yaml is generated from, not the file: parsing it takes a fifth of
  // the start.
  const contract = openApiDocument();
  const streams = new EventStreams();
  const asked = new WeakMap<IncomingMessage, string>();
  const { tracing } = deps;
  const noted = observer !== undefined || tracing !== undefined;
  const graphql = await openGraphql(deps, authenticator);
  const graphqlRouter = express.Router().use(["/graphql", "/api/graphql"], graphql.router);
  const accounts = new AccountResolver();
  const crates = new CrateResolver();
  const sparql = new SparqlResolver();
  const site = new Site(deps, {
    identify: async (req, csrf) => {
      const sent =
        csrf === UNREAD
          ? { ...credentialsOf(req, deps), needs: "nothing" as const }
          : credentialsOf(req, deps, { csrf });
      const { caller, session } = await authenticator.identify(sent);
      return { caller, csrf: session?.csrf ?? null };
    },
    ask: async <Result, Variables extends object>(
      req: IncomingMessage,
      caller: Caller | null,
      document: TypedDocumentString<Result, Variables>,
      variables: Variables,
    ) => (await graphql.execute(req, caller, document.parsed, variables)) as Result,
    uploadCrate: async (req, { update, emptyLinked = false, crate }) => {
      const options = {
        update,
        emptyLinked,
        crate: crate === undefined ? undefined : askedArk(crate),
      };
      const fields = { file: ["file"], texts: ["csrf"] };
      const form = await readMultipart(req, fields, async ({ stream, name }, texts) => {
        // Before anything of the file is stored.
        const csrf = Buffer.from(texts.get("csrf") ?? "").toString("utf8");
        const caller = await authenticator.caller(credentialsOf(req, deps, { csrf }));
        const context = signedIn(graphql.context(req, caller));
        return crates.submit({ stream, name: name || "crate.zip" }, options, context);
      });
      if (!form.file) throw new ValidationError([form.missing]);
      return form.file.taken.submissionUUID;
    },
    sparql: async (req, res, caller, { query, dataset, as, rows }) => {
      let form: SparqlAnswer["form"] = "SELECT";
      const { bytes, truncated } = await sparql.query(
        {
          query,
          dataset,
          rows,
          signal: presence({ res }),
          formatFor(found) {
            form = found;
            if (found === "CONSTRUCT" || found === "DESCRIBE") return "ttl";
            return as === "csv" && found === "SELECT" ? "csv" : "json";
          },
        },
        graphql.context(req, caller),
      );
      const limit = truncated && `${truncated}=${deps.config[truncated]}`;
      return { form, text: Buffer.from(bytes).toString("utf8"), truncated: limit };
    },
    operations: OPERATIONS.map(({ method, path, tag, summary }) => ({
      method,
      path,
      tag,
      summary,
    })),
    signIn: (req, credentials) => accounts.signIn(credentials, graphql.context(req, null)),
  });
  const rest = restHandler(
    deps,
    await contractRouter(contract, operations(contract, streams)),
    authenticator,
    site,
    noted ? (req, operation) => asked.set(req, operation) : undefined,
  );

  const app = express();
  app.disable("x-powered-by").disable("etag");
  app.use((req: Request, res: Response) => {
    sendError(
      req,
      res,
      new ServiceError(
        "NOT_FOUND",
        `There is no ${decodedPath(req.path).slice(0, 200)} here; see /docs for every path.`,
      ),
      deps.log,
    );
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    sendError(req, res, asServiceError(error), deps.log),
  );

  const templates = tracing && routes(contract);
  // Requests to GraphQL and to operations of the contract do not pass through Express and its
  // middleware.
  const clock = new BodyClock(deps.config, (req, res, error) =>
    endSlowRequest(req, res, error, deps),
  );
  // Node checks timeouts at this interval, so that none is exceeded by much.
  const server = createServer(
    {
      connectionsCheckingInterval: Math.min(5_000, deps.config.HEADERS_TIMEOUT),
      IncomingMessage: ContainedRequest,
      ServerResponse: ContainedResponse,
    },
    (req: ContainedRequest, res: ServerResponse) => {
      req.onFault = (error) => {
        if (res.headersSent) reportFault(deps.log, error);
        sendError(req, res, error, deps.log);
      };
      try {
        begin(req, res);
      } catch (error) {
        req.onFault(error);
      }
    },
  );
  const begin = (req: IncomingMessage, res: ServerResponse): void => {
    res.setHeader("X-Request-Id", requestIdOf(req));
    if (hasBody(req)) clock.watch(req, res);
    const graph = graphqlAddress(req.url ?? "/");
    if (noted && graph) asked.set(req, OPERATION_OF[graph.address]);
    if (observer) observe(res, observer, () => asked.get(req) ?? "other");
    if (tracing)
      tracing.request(
        req,
        res,
        () => templates!.get(asked.get(req) ?? ""),
        () => answer(req, res, graph),
      );
    else answer(req, res, graph);
  };
  const answersPreflight = crossOrigin(deps.config.CORS_ORIGINS);
  const files = new SiteFiles(deps.config, deps.baseUrl);
  const answer = (
    req: IncomingMessage,
    res: ServerResponse,
    graph: ReturnType<typeof graphqlAddress>,
  ): void => {
    if (answersPreflight(req, res)) return;
    const isFile = !graph && files.has(req.url ?? "/");
    if (!isFile) keepPrivate(req, res, deps);
    if (graph && !(graph.address === "answer" && wantsPage(req, graph.search))) {
      graphqlRouter(req as Request, res as Response, (error) =>
        sendError(req, res, error, deps.log),
      );
      return;
    }
    const answered = isFile
      ? files.answer(req, res).then(() => true)
      : site.answer(req, res).then((done) => done || rest(req, res));
    answered
      .then((done) => {
        if (!done) app(req, res);
      })
      .catch((error: unknown) => sendError(req, res, error, deps.log));
  };
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (graphqlAddress(req.url ?? "/")?.address === "answer") graphql.upgrade(req, socket, head);
    else refuse(socket, "404 Not Found");
  });
  limitConnections(server, deps.config);
  const endStreams = async () => {
    streams.close();
    await graphql.endStreams();
  };
  return { server, endStreams, stop: graphql.stop };
}

/**
 * Responds with 408 if no response was sent yet, and closes the connection: the code that reads the
 * body gets an aborted stream.
 */
function endSlowRequest(
  req: IncomingMessage,
  res: ServerResponse,
  error: ServiceError,
  { log }: Deps,
): void {
  if (res.headersSent || res.destroyed) return void req.destroy();
  const { status, body } = errorAnswer(error, log);
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": bytes.length,
    Connection: "close",
  });
  res.end(bytes, () => req.destroy());
}

/** The path of every operation, as written in the contract. */
function routes({ paths }: JsonObject): ReadonlyMap<string, string> {
  const named = Object.entries(
    paths as Record<string, Record<string, { operationId?: string }>>,
  ).flatMap(([path, item]) =>
    Object.values(item).flatMap(({ operationId }) =>
      operationId === undefined ? [] : [[operationId, path] as const],
    ),
  );
  return new Map([
    ...named,
    ...Object.entries(ADDRESSES).map(
      ([path, address]) => [OPERATION_OF[address], `/graphql${path}`] as const,
    ),
  ]);
}

/** Reports a response when it has been sent, or when its client has disconnected. */
function observe(res: ServerResponse, observer: RequestObserver, operation: () => string): void {
  const began = performance.now();
  res.once("close", () => {
    const lasts = String(res.getHeader("content-type") ?? "").startsWith("text/event-stream");
    observer.answered(
      operation(),
      res.writableFinished ? String(res.statusCode) : "gone",
      lasts ? undefined : (performance.now() - began) / 1000,
    );
  });
}

/** What a GraphQL request asks for: one answer, a stream of answers, or the schema as text. */
type GraphqlAddress = "answer" | "stream" | "schema";

const ADDRESSES: Readonly<Record<string, GraphqlAddress>> = {
  "": "answer",
  "/stream": "stream",
  "/schema.graphql": "schema",
};
const OPERATION_OF: Readonly<Record<GraphqlAddress, string>> = {
  answer: "graphql",
  stream: "graphql_stream",
  schema: "graphql_schema",
};

/**
 * The GraphQL path of a request target, with its query string; like all paths, also under `/api`.
 */
function graphqlAddress(target: string): { address: GraphqlAddress; search: string } | undefined {
  const match = /^(?:\/api)?\/graphql(\/stream|\/schema\.graphql)?\/?(?:\?(.*))?$/s.exec(target);
  return match ? { address: ADDRESSES[match[1] ?? ""]!, search: match[2] ?? "" } : undefined;
}

/** A browser that opens the page, not a query. */
function wantsPage(req: IncomingMessage, search: string): boolean {
  return (
    (req.method === "GET" || req.method === "HEAD") &&
    req.headers.accept?.includes("text/html") === true &&
    !new URLSearchParams(search).has("query")
  );
}

/** Errors of Express and its middleware that the client caused. */
function asServiceError(error: unknown): unknown {
  const { status, message } = error as { status?: number; message?: string };
  if (error instanceof ServiceError || typeof status !== "number" || status < 400 || status >= 500)
    return error;
  return new ServiceError(
    status === 413 ? "TOO_LARGE" : status === 404 ? "NOT_FOUND" : "BAD_REQUEST",
    message ?? "The request is malformed.",
  );
}
