import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { expressMiddleware } from "@as-integrations/express5";
import { Router, type RequestHandler } from "express";
import graphqlUploadExpress from "graphql-upload/graphqlUploadExpress.mjs";
import { contextOf, type Context } from "../resolvers/context.js";
import { readJson } from "../rest/body.js";
import type { Authenticator } from "../use-cases/accounts/tokens.js";
import type { Deps } from "../use-cases/deps.js";
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
    plugins: [ApolloServerPluginLandingPageDisabled()],
    formatError: (formatted, error) => formatError(formatted, error, deps.log),
    logger: { debug() {}, info() {}, warn: (message) => deps.log.warn({}, String(message)), error: (message) => deps.log.error({}, String(message)) },
  });
  await server.start();
  const router = Router();
  router.use(graphqlUploadExpress({ maxFileSize: deps.config.MAX_UPLOAD_BYTES, maxFiles: 1, maxFieldSize: 1 << 20 }));
  // Bodies are read as strictly as over REST: the same numbers and strings are refused.
  router.use((req, _res, next) => {
    if (req.method !== "POST" || req.body !== undefined) return next();
    readJson(req, deps.config).then((body) => {
      req.body = body ?? {};
      next();
    }, next);
  });
  router.use(expressMiddleware(server, {
    context: async ({ req }) => contextOf(deps, await authenticator.caller(req.headers.authorization), req.socket.remoteAddress ?? ""),
  }));
  return { router, stop: () => server.stop() };
}
