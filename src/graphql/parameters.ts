/** The parameters of a GraphQL request, the same over every transport. */
import type { Request } from "express";
import { ServiceError } from "../errors.js";

/** The operation that a request asks for. */
export interface Parameters {
  /** Absent where the request names a document by its hash. */
  query?: string | undefined;
  operationName?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  extensions?: { persistedQuery?: { sha256Hash: string } } | undefined;
}

const HASH = /^[0-9a-f]{64}$/;
const AN_OBJECT = "a JSON object, where it is sent";

const malformed = (name: string, expected: string): ServiceError =>
  new ServiceError("BAD_REQUEST", `The request is not an operation: ${name} must be ${expected}.`);

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * The parameters of a request over HTTP, from its body or from its address.
 * @throws ServiceError `BAD_REQUEST`
 */
export const parametersOf = ({ method, url, body }: Request): Parameters =>
  checkedParameters(method === "POST" ? body : inSearch(url.split("?").slice(1).join("?")));

/**
 * Checks the form of parameters. Null is as good as absent.
 * @throws ServiceError `BAD_REQUEST`
 */
export function checkedParameters(sent: unknown): Parameters {
  if (Array.isArray(sent))
    throw new ServiceError(
      "BAD_REQUEST",
      "The body is a list: operations are not answered in batches. Send each in a request of its own.",
    );
  if (!isObject(sent)) throw malformed("the body", "a JSON object with the member query");
  const { query, operationName, variables, extensions } = sent;
  if (query != null && typeof query !== "string")
    throw malformed("query", "the text of a GraphQL document");
  if (operationName != null && typeof operationName !== "string")
    throw malformed("operationName", "a string, where it is sent");
  if (variables != null && !isObject(variables)) throw malformed("variables", AN_OBJECT);
  if (extensions != null && !isObject(extensions)) throw malformed("extensions", AN_OBJECT);
  const hash = persistedQueryIn(extensions ?? {});
  if (!query && hash === undefined) throw malformed("query", "the text of a GraphQL document");
  return {
    ...(query ? { query } : {}),
    ...(operationName == null ? {} : { operationName }),
    ...(variables == null ? {} : { variables }),
    ...(extensions == null ? {} : { extensions }),
  };
}

/** The SHA-256 by which a document is named (Apollo's automatic persisted queries). */
function persistedQueryIn({ persistedQuery }: Record<string, unknown>): string | undefined {
  if (persistedQuery == null) return undefined;
  const { version, sha256Hash } = isObject(persistedQuery) ? persistedQuery : {};
  if (version !== 1) throw malformed("extensions.persistedQuery.version", "1");
  if (typeof sha256Hash !== "string" || !HASH.test(sha256Hash))
    throw malformed(
      "extensions.persistedQuery.sha256Hash",
      "a SHA-256 in 64 lower-case hexadecimals",
    );
  return sha256Hash;
}

/** @throws ServiceError `BAD_REQUEST` */
function inSearch(search: string): Record<string, unknown> {
  const parameters = new URLSearchParams(search);
  const sent: Record<string, unknown> = {};
  for (const name of ["query", "operationName", "variables", "extensions"]) {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw malformed(name, "one parameter, not several");
    sent[name] = value;
  }
  for (const name of ["variables", "extensions"])
    try {
      sent[name] = JSON.parse((sent[name] as string | undefined) ?? "null");
    } catch {
      throw malformed(name, AN_OBJECT);
    }
  return sent;
}
