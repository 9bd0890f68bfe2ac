/** The errors of GraphQL, as clients see them over every transport. */
import { randomUUID } from "node:crypto";
import { unwrapResolverError } from "@apollo/server/errors";
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { cutMessage, ERRORS, type ErrorCode, ServiceError, ValidationError } from "../errors.js";
import { type Log, reportDamage } from "../log.js";
import { REST_PLACES } from "./resolvers/types/inputs.js";

/**
 * Codes of errors that only GraphQL has, by the names that Apollo's clients know, with their
 * meaning. They are in `extensions.code`, where all other errors have the code of `src/errors.ts`.
 */
export const GRAPHQL_CODES = {
  GRAPHQL_PARSE_FAILED: "The document is not GraphQL; `locations` says where.",
  GRAPHQL_VALIDATION_FAILED: "The document does not fit the schema.",
  OPERATION_RESOLUTION_FAILURE: "The document has no operation of this name, or several.",
  BAD_USER_INPUT: "An argument does not fit its type.",
  PERSISTED_QUERY_NOT_FOUND:
    "No document is stored under this hash: send it again with the document.",
  PERSISTED_QUERY_HASH_MISMATCH: "The hash is not the SHA-256 of the document.",
  DOCUMENT_NOT_TRUSTED: "The registry answers listed documents only (GRAPHQL_TRUSTED_DOCUMENTS).",
  CLIENT_TOO_SLOW: "The client of a subscription accepted nothing for GRAPHQL_SEND_TIMEOUT.",
} as const satisfies Readonly<Record<string, string>>;

export type GraphqlCode = keyof typeof GRAPHQL_CODES;

const isGraphqlCode = (code: unknown): code is GraphqlCode =>
  typeof code === "string" && Object.hasOwn(GRAPHQL_CODES, code);
const isOurs = (code: unknown): code is ErrorCode =>
  typeof code === "string" && Object.hasOwn(ERRORS, code);

/** The code by which Apollo's clients and servers know the class of an error. */
function apolloCode(code: ErrorCode | GraphqlCode): string {
  if (isGraphqlCode(code)) return code.startsWith("GRAPHQL_") ? code : (ALIKE[code] ?? code);
  if (code === "BAD_REQUEST") return code;
  const { status } = ERRORS[code];
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 403) return "FORBIDDEN";
  return status >= 500 ? "INTERNAL_SERVER_ERROR" : "BAD_USER_INPUT";
}

/** Codes of our own that Apollo has under another name. */
const ALIKE: Readonly<Partial<Record<GraphqlCode, string>>> = {
  PERSISTED_QUERY_HASH_MISMATCH: "BAD_REQUEST",
  DOCUMENT_NOT_TRUSTED: "FORBIDDEN",
  CLIENT_TOO_SLOW: "BAD_REQUEST",
};

/** What services say for REST, as it is over GraphQL. */
const WORDING: readonly [RegExp, string][] = [
  [
    /send Authorization: Bearer <token>, obtained from POST \/token\b/,
    "sign in with the mutation signIn, and send its token",
  ],
  [/obtain a new one from POST \/token\b/, "obtain a new one with the mutation signIn"],
  [/\(PUT \/group\)/, "(mutation updateGroup)"],
  [/\(PUT \/publish\)/, "(mutation publishRecord)"],
  [/with POST \/access-requests\b/, "with the mutation requestAccess"],
  [/use the submissionUUID that the upload answered/, "use the id of the submission"],
  [/: ask for \/(?:[a-z]+\/)?(ark:[^\s"]+?)\.$/, ': ask for record(id: "$1").'],
];

/** The sentence of an error without the words of REST. */
export const forGraphql = (message: string): string =>
  WORDING.reduce((text, [words, instead]) => text.replace(words, instead), message);

/** Why variables do not fit, without their values: one of them may be a password. */
const COERCION = /^Variable "\$([^"]+)" (?:has|got) invalid value /;

/** What the execution adds to the reasons of variables when it stops listing them. */
const MORE_MISFITS = "Too many errors processing variables";

/**
 * The error a client sees, over every transport: codes of the shared table, or those of GraphQL, in
 * `extensions.code`, the name of Apollo's for either in `extensions.apolloCode`, and the items of a
 * validation failure in `extensions.detail`. An internal fault is masked: the client gets an id that
 * is also in the log.
 *
 * @param request its name in the log
 */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
  request?: string,
): GraphQLFormattedError {
  const { message, extensions, ...place } = coded(formatted, error, log, request);
  const code = extensions?.["code"];
  return {
    message: forGraphql(message),
    ...place,
    extensions: {
      ...extensions,
      ...(isOurs(code) || isGraphqlCode(code) ? { apolloCode: apolloCode(code) } : {}),
    },
  };
}

/** What the libraries say without a code of ours, and what clients read instead. */
const LIBRARIES: readonly [RegExp, GraphqlCode | ErrorCode, string][] = [
  [
    /^Syntax Error: Document contains more that (\d+) tokens.*/,
    "QUERY_TOO_COSTLY",
    "The document has more than $1 tokens (GRAPHQL_MAX_TOKENS). Send values as variables, or ask " +
      "in several requests.",
  ],
  [
    /^Maximum call stack size exceeded$/,
    "GRAPHQL_PARSE_FAILED",
    "Syntax Error: the document nests too deep to be read.",
  ],
  [
    /^(provided sha does not match query)$/,
    "PERSISTED_QUERY_HASH_MISMATCH",
    "$1: sha256Hash is not the SHA-256 of the document.",
  ],
];

function coded(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
  request?: string,
): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  reportDamage(log, cause);
  const place = {
    ...(formatted.locations ? { locations: formatted.locations } : {}),
    ...(formatted.path && formatted.path.length > 0 ? { path: formatted.path } : {}),
  };
  if (cause instanceof ServiceError) {
    // Before an operation runs, the body of the request is at fault, not an argument.
    const shown = "path" in place ? withArguments(cause) : cause;
    return { message: cutMessage(shown.message), ...place, extensions: extensionsOf(shown) };
  }
  for (const [pattern, code, words] of LIBRARIES)
    if (cause instanceof GraphQLError && pattern.test(formatted.message))
      return { message: formatted.message.replace(pattern, words), ...place, extensions: { code } };
  if (cause instanceof GraphQLError && formatted.message.startsWith(MORE_MISFITS))
    return { ...moreMisfits(), ...place };
  // Found before the execution as well: Apollo Server takes what a plugin throws for internal.
  const variable = cause instanceof GraphQLError && COERCION.exec(formatted.message)?.[1];
  if (variable) return { ...uncoercible(formatted.message, variable), ...place };
  const code = formatted.extensions?.["code"];
  if (cause instanceof GraphQLError && code !== "INTERNAL_SERVER_ERROR")
    return {
      message: cutMessage(formatted.message),
      ...place,
      extensions: requestExtensions(cause, code),
    };
  const fault = randomUUID();
  log.error(
    { err: cause, fault, ...(request === undefined ? {} : { request }) },
    "a GraphQL request failed with an internal error",
  );
  return {
    message: `Internal error of the service; its log has the details under ${fault}.`,
    ...place,
    extensions: { code: "INTERNAL" },
  };
}

/** @param formattedCode where the error itself has none */
function requestExtensions(
  { extensions }: GraphQLError,
  formattedCode: unknown,
): Record<string, unknown> {
  const { code = formattedCode, detail, cost } = extensions;
  if (!isOurs(code) && !isGraphqlCode(code)) return { code: "BAD_REQUEST" };
  return {
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(cost === undefined ? {} : { cost }),
  };
}

/** An error of a transport, before any field is resolved, as a GraphQL error. */
export function asGraphQLError(error: unknown): GraphQLError {
  return error instanceof GraphQLError
    ? error
    : new GraphQLError((error as Error).message, { originalError: error as Error, path: [] });
}

/** Most errors in one answer: each record of a page may fail in each of its fields. */
const MAX_ERRORS = 100;

/**
 * Drops errors past the limit, in place, before each is formatted; a last error states that some
 * were dropped.
 */
export function cutErrors(errors: GraphQLError[]): void {
  if (errors.length <= MAX_ERRORS) return;
  const dropped = errors.length - MAX_ERRORS;
  errors.length = MAX_ERRORS;
  errors.push(
    new GraphQLError(`${dropped} more errors are not listed.`, {
      extensions: { code: "BAD_REQUEST" },
    }),
  );
}

/** A refusal of what a field was asked, whose places begin with the name of an argument. */
function withArguments(cause: ServiceError): ServiceError {
  if (!(cause instanceof ValidationError)) return cause;
  return new ValidationError(
    cause.items.map((item) =>
      REST_PLACES.includes(item.loc[0]) ? { ...item, loc: item.loc.slice(1) } : item,
    ),
  );
}

function extensionsOf(cause: ServiceError): Record<string, unknown> {
  return cause instanceof ValidationError
    ? { code: cause.code, detail: cause.items }
    : { code: cause.code, ...cause.extra };
}

/**
 * `Variable "$input" got invalid value {…} at "input.name"; String cannot represent a non string value: {…}`,
 * without the values.
 */
function uncoercible(message: string, variable: string): GraphQLFormattedError {
  const end = message.lastIndexOf("; ");
  const path = / at "([^"]*)"$/.exec(message.slice(0, Math.max(end, 0)))?.[1];
  const why = (end < 0 ? "it is of another type" : message.slice(end + 2))
    .replace(/(\bvalue|\benum\b[^:]*): .*$/s, "$1")
    .replace(/^(Value) ".*" (does not exist)/s, "$1 $2");
  const reported = cutMessage(why);
  const loc = [
    "variables",
    ...(path ?? variable)
      .split(/[.[\]]+/)
      .filter((part) => part !== "")
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  ];
  const [item] = new ValidationError([{ loc, msg: reported, type: "value_error" }]).items;
  return {
    message: cutMessage(
      `Variable "$${variable}"${path === undefined ? "" : ` at "${path}"`}: ${reported}`,
    ),
    extensions: { code: "VALIDATION", detail: [item] },
  };
}

function moreMisfits(): GraphQLFormattedError {
  const msg = "More values of the variables do not fit their types; only the first are listed.";
  const [item] = new ValidationError([{ loc: ["variables"], msg, type: "value_error" }]).items;
  return { message: msg, extensions: { code: "VALIDATION", detail: [item] } };
}
