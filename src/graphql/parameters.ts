import { ServiceError } from "../errors.js";
import type { JsonObject, JsonValue } from "../model/field.js";

/** What one request asks for. */
export interface Parameters { query: string; operationName: string | undefined; variables: JsonObject | undefined }

const malformed = (message: string) => new ServiceError("BAD_REQUEST", message);

/** The parameters of GraphQL over HTTP, in the query string or the body; others are read over. @throws ServiceError `BAD_REQUEST` */
export function parametersOf({ search, body }: { search: string; body: JsonValue | undefined }, inSearch: boolean): Parameters {
  if (Array.isArray(body)) throw malformed("Send one operation a request: arrays of them (batches) are not answered.");
  const given = inSearch ? searched(search) : body;
  if (given === undefined || given === null || !isObject(given)) throw malformed('Send a JSON object such as {"query": "{ me { id } }"}.');
  const { query, operationName, variables, extensions } = given;
  if (typeof query !== "string") throw malformed("The request has no query: it is the GraphQL document, as a string.");
  if (operationName != null && typeof operationName !== "string") throw malformed("operationName is a string.");
  if (variables != null && !isObject(variables)) throw malformed("variables is an object.");
  if (extensions != null && !isObject(extensions)) throw malformed("extensions is an object.");
  return { query, operationName: operationName || undefined, variables: variables ?? undefined };
}

/** Objects stand in the query string as JSON. */
function searched(search: string): JsonObject {
  const given = new URLSearchParams(search);
  const found: JsonObject = {};
  for (const name of ["query", "operationName", "variables", "extensions"]) {
    const [text, ...more] = given.getAll(name);
    if (text === undefined) continue;
    if (more.length > 0) throw malformed(`${name} stands in the query string more than once.`);
    found[name] = name === "query" || name === "operationName" ? text : parsed(name, text);
  }
  return found;
}

function parsed(name: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw malformed(`${name} in the query string is no JSON.`);
  }
}

const isObject = (value: JsonValue | undefined): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);
