import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import express, { type NextFunction, type Request, type Response } from "express";
import { ServiceError } from "./errors.js";
import { graphqlDoor } from "./graphql/server.js";
import { contractRouter } from "./rest/backend.js";
import { sendError } from "./rest/errors.js";
import { restHandler } from "./rest/handler.js";
import { openApiDocument } from "./rest/openapi/document.js";
import { operations } from "./rest/operations/index.js";
import { PAGE_POLICY } from "./rest/page-policy.js";
import { Authenticator } from "./use-cases/accounts/tokens.js";
import type { Deps } from "./use-cases/deps.js";
import { assets } from "./web/assets.js";
import { consolePage } from "./web/console-page.js";

/**
 * All doors on one HTTP server: REST by the contract, `/graphql`, and the pages' files.
 * The server does not listen yet.
 */
export async function httpDoors(deps: Deps): Promise<{ server: Server; stop(): Promise<void> }> {
  const authenticator = new Authenticator(deps);
  // The tables that openapi.yaml is printed from, rather than the file: parsing it takes a fifth of the start.
  const contract = openApiDocument();
  const rest = restHandler(deps, await contractRouter(contract, operations(contract)), authenticator);
  const graphql = await graphqlDoor(deps, authenticator);

  const app = express();
  app.disable("x-powered-by").disable("etag");
  app.use("/assets", assets());
  app.get("/graphql", (req, res, next) => {
    if (req.headers.accept?.includes("text/html") !== true || "query" in req.query) return next();
    res.set("Content-Security-Policy", PAGE_POLICY).type("html").send(consolePage());
  });
  app.use("/graphql", graphql.router);
  app.use((req: Request, res: Response) => {
    sendError(req, res, new ServiceError("NOT_FOUND", `There is no ${req.path.slice(0, 200)} here; see /docs for every path.`), deps.log);
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => sendError(req, res, asServiceError(error), deps.log));

  // REST first: what the contract names does not pass through Express and its middleware.
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    rest(req, res).then((answered) => {
      if (!answered) app(req, res);
    }, (error: unknown) => sendError(req, res, error, deps.log));
  });
  server.headersTimeout = 30_000;
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  return { server, stop: graphql.stop };
}

/** Errors of Express and its middleware that are the client's. */
function asServiceError(error: unknown): unknown {
  const { status, message } = error as { status?: number; message?: string };
  if (error instanceof ServiceError || typeof status !== "number" || status < 400 || status >= 500) return error;
  return new ServiceError(status === 413 ? "TOO_LARGE" : status === 404 ? "NOT_FOUND" : "BAD_REQUEST", message ?? "The request is malformed.");
}
