import type { JsonObject, JsonValue } from "../../model/field.js";

const declare = (place: "path" | "query" | "header", name: string, description: string, schema: JsonObject, example?: JsonValue): JsonObject => ({
  name, in: place, required: place === "path", description, schema, ...(example === undefined ? {} : { example }),
});
export const query = (name: string, description: string, schema: JsonObject, example?: JsonValue): JsonObject => declare("query", name, description, schema, example);
export const header = (name: string, description: string, schema: JsonObject, example?: JsonValue): JsonObject => declare("header", name, description, schema, example);
export const path = (name: string, description: string, schema: JsonObject, example: JsonValue): JsonObject => declare("path", name, description, schema, example);

const NAAN = path("NAAN", "Name Assigning Authority Number: who the identifier belongs to.", { type: "string" }, "99999");

/** The two parts of an ARK in a path, with those of an example. */
export function arkPath(ark: string, last = "postfix"): JsonObject[] {
  return [shared("NAAN"), path(last, "The rest of the identifier. It may hold slashes and dots, written as they are; the path is percent-decoded once.", { type: "string" }, ark.slice(ark.indexOf("/") + 1))];
}

const IF_MATCH_HEADER = header("If-Match", "Revision that the caller knows, as an `ETag`; when the record has changed since: 412.", { type: "string" });
const IF_NONE_MATCH_HEADER = header("If-None-Match", "`ETag` that the caller has; when it still holds: 304.", { type: "string" });
const RANGE_HEADER = header("Range", "One range of bytes, as in RFC 9110 section 14.", { type: "string" }, "bytes=0-1023");
const BACKLINKS_QUERY = query("backlinks", "Goes on with derived lists that were cut at BACKLINK_LIMIT: as the `Link` header of the answer before says.", { type: "string" });
const FORMAT_QUERY = query("format", "Form of the answer, before what `Accept` says.", { type: "string", enum: ["jsonld", "json", "html", "turtle", "nquads", "linkset"] });
const REVISION_QUERY = query("revision", "The state that the record had as this revision, not the present one.", { type: "integer", minimum: 1 });
const REASON_QUERY = query("reason", "Why the record is deleted: reading it tells that.", { type: "string" });
const SUCCESSOR_QUERY = query("successor", "Identifier of what takes the record's place.", { type: "string" });
const BEFORE_QUERY = query("before", "Only revisions older than this one.", { type: "integer", minimum: 1, maximum: 999_999_999 });
/** Declared by the contract beside the security scheme; the two mean the same. */
const AUTHORIZATION_HEADER = header("Authorization", "`Bearer <access token>`.", { type: ["string", "null"] });

const LIST_QUERIES: readonly JsonObject[] = [
  query("limit", "Records in one page; the whole list when absent.", { type: "integer", minimum: 1, maximum: 1000 }),
  query("cursor", "Where the page begins: as the `Link` header of the page before says.", { type: "string" }),
  query("name", "Only records of this name.", { type: "string" }),
  query("owner", "Only records of this owner: an ARK in any spelling.", { type: "string" }),
  query("keyword", "Only records with this keyword.", { type: "string" }),
  query("order", "Order of the list; records of one moment follow by identifier.", { type: "string", enum: ["created", "-created", "name"], default: "created" }),
];

/** `components.parameters`: what many operations take, by name. */
export const SHARED_PARAMETERS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  [NAAN, IF_MATCH_HEADER, IF_NONE_MATCH_HEADER, RANGE_HEADER, AUTHORIZATION_HEADER, FORMAT_QUERY, BACKLINKS_QUERY, REVISION_QUERY, REASON_QUERY, SUCCESSOR_QUERY, BEFORE_QUERY, ...LIST_QUERIES].map((shared) => [shared["name"] as string, shared]),
);
const shared = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` });

export const FORMAT = shared("format");
export const BACKLINKS = shared("backlinks");
export const REVISION = shared("revision");
/** What a tombstone tells. */
export const TOMBSTONE: readonly JsonObject[] = [shared("reason"), shared("successor")];
/** Which page of a history. */
export const HISTORY: readonly JsonObject[] = [shared("before"), query("limit", "Revisions in one answer.", { type: "integer", minimum: 1, maximum: 1000, default: 1000 })];
export const IF_MATCH = shared("If-Match");
export const IF_NONE_MATCH = shared("If-None-Match");
export const RANGE = shared("Range");
export const AUTHORIZATION = shared("Authorization");
/** Without them a list is whole. */
export const LIST: readonly JsonObject[] = LIST_QUERIES.map((parameter) => shared(parameter["name"] as string));
