import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { expressMiddleware } from "@as-integrations/express5";
import { Router, type RequestHandler } from "express";
import { contextOf, type Context } from "../resolvers/context.js";
import { readJson } from "../rest/body.js";
import type { Authenticator } from "../use-cases/accounts/tokens.js";
import type { Deps } from "../use-cases/deps.js";
import { costLimit } from "./cost.js";
import { callerOf, identify, onlyItsMethods, readUpload, refuseBadToken } from "./door.js";
import { formatError } from "./errors.js";
import { MAX_TOKENS, limitRule } from "./limits.js";
import { graphqlSchema } from "./schema.js";

/** The GraphQL door: queries, mutations and multipart uploads at one address. */
export async function graphqlDoor(deps: Deps, authenticator: Authenticator): Promise<{ router: RequestHandler; stop(): Promise<void> }> {
  const server = new ApolloServer<Context>({
    schema: await graphqlSchema(),
    introspection: true,
    csrfPrevention: true,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [limitRule(deps.config)],
    plugins: [ApolloServerPluginLandingPageDisabled(), costLimit(deps.config)],
    formatError: (formatted, error) => formatError(formatted, error, deps.log),
    logger: { debug() {}, info() {}, warn: (message) => deps.log.warn({}, String(message)), error: (message) => deps.log.error({}, String(message)) },
  });
  await server.start();
  const router = Router();
  // What the headers tell is refused before a body is read: an upload is written to disk while it is parsed.
  router.use(onlyItsMethods, identify(authenticator), readUpload(deps.config));
  // Bodies are read as strictly as over REST: the same numbers and strings are refused.
  router.use((req, _res, next) => {
    if (req.body !== undefined) return next();
    const reading = req.method === "POST" ? readJson(req, deps.config) : Promise.resolve({});
    reading.then((body) => {
      req.body = body ?? {};
      next();
    }, next);
  });
  router.use(refuseBadToken, expressMiddleware(server, { context: async ({ req }) => contextOf(deps, callerOf(req), req.socket.remoteAddress ?? "") }));
  return { router, stop: () => server.stop() };
}
