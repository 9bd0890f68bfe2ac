import type { IncomingMessage } from "node:http";
import { ServiceError, ValidationError } from "../../errors.js";
import { badStringItem, findBadString } from "../../model/strings.js";
import type { GraphNames } from "../../use-cases/sparql/dataset.js";
import type { Config } from "../../config.js";
import { formFields, hasBody, mediaType, readBytes } from "../body.js";

/** What a request of the SPARQL 1.1 Protocol asks; without a query it asks for the description of the service. */
export interface ProtocolRequest { query?: string; dataset: GraphNames }

const DATASET = ["default-graph-uri", "named-graph-uri"] as const;
const UPDATE = ["update", "using-graph-uri", "using-named-graph-uri"];

type PostLimits = Pick<Config, "MAX_FORM_FIELDS" | "SPARQL_MAX_QUERY_BYTES">;
/** A form writes a byte of its query as `%xx`. */
const ESCAPED = 3;
/** Bytes of a form beside its query: the graphs of the dataset. */
const DATASET_ROOM = 64 * 2 ** 10;

/** `GET ?query=` (SPARQL 1.1 Protocol, section 2.1.1). @throws ServiceError `BAD_REQUEST`, `UPDATE_REFUSED` */
export function readGet(target: string, limits: Pick<Config, "MAX_FORM_FIELDS">): ProtocolRequest {
  const parameters = parametersOf(queryOf(target), "query", limits);
  const dataset = datasetIn(parameters);
  const query = queryIn(parameters);
  if (query === undefined && dataset.default.length + dataset.named.length > 0) throw missing();
  return { dataset, ...(query !== undefined && { query }) };
}

/**
 * `POST` of a form, or of the query itself (sections 2.1.2 and 2.1.3); the dataset may stand in the URL with either.
 * @throws ServiceError `BAD_REQUEST`, `QUERY_SYNTAX` for what is no UTF-8, `UPDATE_REFUSED`, `UNSUPPORTED_MEDIA_TYPE`, `TOO_LARGE`
 */
export async function readPost(req: IncomingMessage, limits: PostLimits): Promise<ProtocolRequest & { query: string }> {
  const inUrl = parametersOf(queryOf(req.url ?? ""), "query", limits);
  if (!hasBody(req)) throw missing();
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(req.headers["content-type"] ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `A query is sent in UTF-8, not ${charset.slice(0, 40)}.`);
  const isForm = mediaType(req) !== "application/sparql-query";
  const body = utf8(await readBytes(req, isForm ? ESCAPED * limits.SPARQL_MAX_QUERY_BYTES + DATASET_ROOM : limits.SPARQL_MAX_QUERY_BYTES, "SPARQL_MAX_QUERY_BYTES"));
  const form = isForm ? parametersOf(body, "body", limits) : undefined;
  const parameters = new URLSearchParams([...inUrl, ...(form ?? [])]);
  const query = queryIn(parameters);
  if (form) {
    if (query === undefined) throw missing();
    return { query, dataset: datasetIn(parameters) };
  }
  if (query !== undefined) throw new ServiceError("BAD_REQUEST", "The query is sent twice, in the URL and as the body; send it once.");
  return { query: body, dataset: datasetIn(parameters) };
}

const missing = (): ServiceError => new ServiceError("BAD_REQUEST", "The parameter query is missing: send ?query=, a form with query, or the query itself as application/sparql-query.");

function queryOf(target: string): string {
  const mark = target.indexOf("?");
  return mark < 0 ? "" : target.slice(mark + 1);
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError("QUERY_SYNTAX", "The query is malformed: the body is not UTF-8.");
  }
}

/** @throws ServiceError `BAD_REQUEST` for escapes that are not UTF-8; ValidationError for text that no query may hold */
function parametersOf(encoded: string, place: "query" | "body", limits: Pick<Config, "MAX_FORM_FIELDS">): URLSearchParams {
  const parameters = formFields(encoded, limits);
  try {
    decodeURIComponent(encoded.replace(/%(?![0-9A-Fa-f]{2})/g, "%25"));
  } catch {
    throw new ServiceError("BAD_REQUEST", "A parameter holds a percent-escape that is not UTF-8.");
  }
  for (const [name, value] of parameters) if (findBadString(value)) throw new ValidationError([badStringItem([place, name])]);
  return parameters;
}

function queryIn(parameters: URLSearchParams): string | undefined {
  for (const name of UPDATE) {
    if (parameters.has(name)) throw new ServiceError("UPDATE_REFUSED", `The parameter ${name} belongs to an update; /sparql answers queries only. Records are changed through REST and GraphQL.`);
  }
  const queries = parameters.getAll("query");
  if (queries.length > 1) throw new ServiceError("BAD_REQUEST", "The parameter query is there more than once; send one query a request.");
  return queries[0];
}

const datasetIn = (parameters: URLSearchParams): GraphNames => ({ default: parameters.getAll(DATASET[0]), named: parameters.getAll(DATASET[1]) });
