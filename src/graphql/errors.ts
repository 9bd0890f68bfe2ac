import { randomUUID } from "node:crypto";
import { unwrapResolverError } from "@apollo/server/errors";
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { ERRORS, ServiceError, ValidationError, cutMessage, type ErrorCode } from "../errors.js";
import { reportDamage } from "../use-cases/damage.js";
import type { Log } from "../use-cases/deps.js";

/** Why variables do not fit, without their values: one of them may be a password. */
const COERCION = /^Variable "\$([^"]+)" (?:has|got) invalid value /;

/**
 * The error a client sees, at every transport: codes of the one table in `extensions.code`, the items of a
 * validation failure in `extensions.detail`. A fault is masked: it carries an id that stands in the log.
 *
 * @param request its name in the log
 */
export function formatError(formatted: GraphQLFormattedError, error: unknown, log: Log, request?: string): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  reportDamage(log, cause);
  const place = { ...(formatted.locations ? { locations: formatted.locations } : {}), ...(formatted.path && formatted.path.length > 0 ? { path: formatted.path } : {}) };
  if (cause instanceof ServiceError) return { message: cutMessage(cause.message), ...place, extensions: extensionsOf(cause) };
  if (cause instanceof GraphQLError && formatted.extensions?.["code"] !== "INTERNAL_SERVER_ERROR") {
    const variable = COERCION.exec(formatted.message);
    if (variable) return { ...uncoercible(formatted.message, variable[1]!), ...place };
    const { code, detail } = cause.extensions;
    return { message: cutMessage(formatted.message), ...place, extensions: isOurs(code) ? { code, ...(detail === undefined ? {} : { detail }) } : { code: "BAD_REQUEST" } };
  }
  const fault = randomUUID();
  log.error({ err: cause, fault, ...(request === undefined ? {} : { request }) }, "a GraphQL request ended in a fault");
  return { message: `A fault of the service; its log tells more under ${fault}.`, ...place, extensions: { code: "INTERNAL" } };
}

/** An error of a transport, before any field is resolved, in the shape GraphQL has for one. */
export function asGraphQLError(error: unknown): GraphQLError {
  return error instanceof GraphQLError ? error : new GraphQLError((error as Error).message, { originalError: error as Error, path: [] });
}

/** Errors of one answer: each record of a page may fail in each of its fields. */
const MOST_ERRORS = 100;

/** Drops errors past the number that is answered, in place, before each is formatted; a last one says so. */
export function cutErrors(errors: GraphQLError[]): void {
  if (errors.length <= MOST_ERRORS) return;
  const dropped = errors.length - MOST_ERRORS;
  errors.length = MOST_ERRORS;
  errors.push(new GraphQLError(`${dropped} more errors are not listed.`, { extensions: { code: "BAD_REQUEST" } }));
}

const isOurs = (code: unknown): code is ErrorCode => typeof code === "string" && Object.hasOwn(ERRORS, code);

function extensionsOf(cause: ServiceError): Record<string, unknown> {
  return cause instanceof ValidationError ? { code: cause.code, detail: cause.items } : { code: cause.code, ...cause.extra };
}

/** `Variable "$input" got invalid value {…} at "input.name"; String cannot represent a non string value: {…}`, without the values. */
function uncoercible(message: string, variable: string): GraphQLFormattedError {
  const end = message.lastIndexOf("; ");
  const path = / at "([^"]*)"$/.exec(message.slice(0, Math.max(end, 0)))?.[1];
  const why = (end < 0 ? "it is of another type" : message.slice(end + 2)).replace(/(\bvalue|\benum\b[^:]*): .*$/s, "$1").replace(/^(Value) ".*" (does not exist)/s, "$1 $2");
  const told = cutMessage(why);
  const loc = ["body", "variables", ...(path ?? variable).split(/[.[\]]+/).filter((part) => part !== "").map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
  const [item] = new ValidationError([{ loc, msg: told, type: "value_error" }]).items;
  return { message: cutMessage(`Variable "$${variable}"${path === undefined ? "" : ` at "${path}"`}: ${told}`), extensions: { code: "VALIDATION", detail: [item] } };
}
