import { randomUUID } from "node:crypto";
import { unwrapResolverError } from "@apollo/server/errors";
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { ServiceError, ValidationError } from "../errors.js";
import type { Log } from "../use-cases/deps.js";

/**
 * The error a client sees: codes of the one table in `extensions.code`, the items of a validation failure in
 * `extensions.detail`. A fault is masked: it carries an id that stands in the log.
 */
export function formatError(formatted: GraphQLFormattedError, error: unknown, log: Log): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  const place = { ...(formatted.locations ? { locations: formatted.locations } : {}), ...(formatted.path ? { path: formatted.path } : {}) };
  if (cause instanceof ValidationError) return { message: cause.message, ...place, extensions: { code: cause.code, detail: cause.items } };
  if (cause instanceof ServiceError) return { message: cause.message, ...place, extensions: { code: cause.code, ...cause.extra } };
  const code = formatted.extensions?.["code"];
  if (cause instanceof GraphQLError && code !== "INTERNAL_SERVER_ERROR") {
    return { message: formatted.message, ...place, extensions: code === undefined ? {} : { code } };
  }
  const fault = randomUUID();
  log.error({ err: cause, fault }, "a GraphQL field ended in a fault");
  return { message: `A fault of the service; its log tells more under ${fault}.`, ...place, extensions: { code: "INTERNAL" } };
}
