import express, { type Express } from "express";
import type { RequestObserver } from "./metrics.js";
import type { GraphqlInterface } from "../graphql/server.js";
import type { EventStreams } from "../http/reply.js";
import { operations, restApi } from "../rest/api.js";
import { openApiDocument } from "../rest/document.js";
import type { Authenticator } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";
import { SiteFiles } from "../web/assets.js";
import { Site } from "../web/site.js";
import { ContainedRequest, ContainedResponse } from "./faults.js";
import { bodyClock } from "./middleware/body-clock.js";
import { crossOrigin } from "./middleware/cors.js";
import { errors, nothingHere } from "./middleware/errors.js";
import { graphqlApi } from "./middleware/graphql.js";
import { metrics } from "./middleware/metrics.js";
import { requestId } from "./middleware/request-id.js";
import { sessions } from "./middleware/session.js";
import { traced } from "./middleware/tracing.js";
import { siteAccess } from "./site-access.js";

/** What the application needs beside the stores. */
interface AppParts {
  authenticator: Authenticator;
  graphql: GraphqlInterface;
  streams: EventStreams;
  /** Notified of every request. */
  observer: RequestObserver | undefined;
}

/** The Express application: every request passes through these middlewares in this order. */
export async function createApp(deps: Deps, parts: AppParts): Promise<Express> {
  const { authenticator, graphql, streams, observer } = parts;
  const contract = openApiDocument();
  const site = new Site(deps, siteAccess(deps, parts, contract));
  const rest = await restApi(deps, contract, operations(contract, streams), authenticator, site);

  const app = express();
  app.disable("x-powered-by").disable("etag");
  // Express's guide "Overriding the Express API": requests and responses keep their own classes.
  Object.setPrototypeOf(Object.getPrototypeOf(app.request), ContainedRequest.prototype);
  Object.setPrototypeOf(Object.getPrototypeOf(app.response), ContainedResponse.prototype);

  app.use(requestId);
  app.use(bodyClock(deps.config, deps.log));
  if (observer) app.use(metrics(observer));
  if (deps.tracing) app.use(traced(deps.tracing));
  app.use(crossOrigin(deps.config.CORS_ORIGINS));
  app.use(new SiteFiles(deps.config, deps.baseUrl).router());
  app.use(sessions(deps));
  app.use(graphqlApi(graphql));
  app.use(site.pages);
  app.use(rest);
  app.use(nothingHere);
  app.use(errors(site));
  return app;
}
