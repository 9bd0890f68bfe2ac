import type { ErrorCode } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";

/** One operation of the REST door, as a row of a table; {@link import("./document.js").openApiDocument} prints it. */
export interface Operation {
  readonly method: "get" | "post" | "put" | "delete";
  /** Template below the base URL. `{postfix}` may hold slashes. */
  readonly path: string;
  /** Stable: the router and generated clients name operations by it. */
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly JsonObject[];
  /** Media type → content of the request body. */
  readonly body?: Readonly<Record<string, Content>>;
  /** Setting that bounds a JSON body, when it is not MAX_BODY_BYTES. */
  readonly bodyLimit?: "MAX_METADATA_BYTES" | "MAX_LOGIN_BYTES";
  /** What status 200 answers. */
  readonly answer: { readonly description: string; readonly content: Readonly<Record<string, Content>>; readonly headers?: readonly HeaderName[] };
  /** Further answers that are no refusals, by status: `302`, `304`. */
  readonly also?: Readonly<Record<string, JsonObject>>;
  /** Refusals beside those that every operation has. */
  readonly refusals?: readonly ErrorCode[];
  /** `required`: refused without a token; `optional`: a token shows more. */
  readonly token?: "required" | "optional";
}

/** Refusals of every write by someone with a token. */
export const WRITE_REFUSALS = ["NOT_AUTHENTICATED", "INVALID_TOKEN", "FORBIDDEN", "TOO_MANY_REQUESTS"] as const satisfies readonly ErrorCode[];
/** Refusals of a JSON body. */
export const BODY_REFUSALS = ["BODY_TIMEOUT", "TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const satisfies readonly ErrorCode[];
/** Refusals where an identifier must lead to a record. */
export const FIND_REFUSALS = ["NOT_FOUND", "AMBIGUOUS", "GONE"] as const satisfies readonly ErrorCode[];

export interface Content {
  readonly schema: JsonObject;
  /** Left out where the content is bytes. */
  readonly example?: JsonValue;
  /** Where several operations show the same example: its name in `components.examples`. */
  readonly exampleName?: string;
}

export const TAGS = {
  service: "Pages, health and this description.",
  accounts: "Tokens.",
  records: "Records by kind.",
  crates: "Research-object crates.",
  files: "Stored content.",
  publication: "Whether content is open.",
  identifiers: "Any record by its identifier.",
  evidence: "Provenance.",
  sparql: "Queries over all that is public.",
  search: "Search in all records.",
} as const;
export type Tag = keyof typeof TAGS;

/** Headers of answers; `components.headers` defines them. */
export const HEADERS = {
  ETag: { description: "Revision of the record and its newest derived link, or the hash of the content.", schema: { type: "string" } },
  Link: { description: "`rel=\"next\"`: the next page. For single records, signposting links to metadata, content and licence.", schema: { type: "string" } },
  "X-Total-Count": { description: "How many records the whole list has.", schema: { type: "integer" } },
  "X-Publication-Status": { description: "Whether the content is open to anyone.", schema: { type: "string", enum: ["DRAFT", "PUBLISHED", "EMBARGOED", "ARCHIVED"] } },
  "Content-Location": { description: "The stored form of the identifier, when the path spelled it otherwise.", schema: { type: "string" } },
  "Content-Range": { description: "Which bytes the answer holds.", schema: { type: "string" } },
  "X-Truncated": { description: "There only when the answer was cut: the setting that cut it, with its value.", schema: { type: "string" } },
  "X-As-Of": { description: "Commit that the answer is as of; no write that was answered before the request is missing.", schema: { type: "integer" } },
  "Accept-Ranges": { description: "`bytes`.", schema: { type: "string" } },
} as const satisfies Record<string, JsonObject>;
export type HeaderName = keyof typeof HEADERS;

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const headerRefs = (names: readonly HeaderName[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
export const json = (schema: JsonObject, example: JsonValue, exampleName?: string): Record<string, Content> => ({
  "application/json": { schema, example, ...(exampleName ? { exampleName } : {}) },
});
export const html = (example: string): Content => ({ schema: { type: "string" }, example });

export const NOT_MODIFIED: Readonly<Record<string, JsonObject>> = { "304": { description: "The record is still as `If-None-Match` names it." } };
