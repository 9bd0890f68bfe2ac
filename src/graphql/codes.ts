import { type ErrorCode, ERRORS } from "../errors.js";

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

export const isGraphqlCode = (code: unknown): code is GraphqlCode =>
  typeof code === "string" && Object.hasOwn(GRAPHQL_CODES, code);
export const isOurs = (code: unknown): code is ErrorCode =>
  typeof code === "string" && Object.hasOwn(ERRORS, code);

/** The code by which Apollo's clients and servers know the class of an error. */
export function apolloCode(code: ErrorCode | GraphqlCode): string {
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
    "sign in with the mutation login, and send its token",
  ],
  [/obtain a new one from POST \/token\b/, "obtain a new one with the mutation login"],
  [/\(PUT \/group\)/, "(mutation updateGroup)"],
  [/\(PUT \/publish\)/, "(mutation publish)"],
  [/: ask for \/(?:[a-z]+\/)?(ark:[^\s"]+?)\.$/, ': ask for record(id: "$1").'],
];

/** The sentence of an error without the words of REST. */
export const forGraphql = (message: string): string =>
  WORDING.reduce((text, [words, instead]) => text.replace(words, instead), message);
