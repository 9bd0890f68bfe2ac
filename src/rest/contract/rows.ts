import type { ErrorCode } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { FORMATS, formatsOf } from "../../services/formats/table.js";

/**
 * One operation of the REST API, as a row of a table;
 * {@link import("./document.js").openApiDocument} prints it.
 */
export interface ContractRow {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Template below the base URL. `{postfix}` may hold slashes. */
  readonly path: string;
  /** Stable: the router and generated clients use it as the name of the operation. */
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly JsonObject[];
  /** Media type → content of the request body. */
  readonly body?: Readonly<Record<string, MediaTypeObject>>;
  /** Setting that bounds a JSON body, when it is not MAX_BODY_BYTES. */
  readonly bodyLimit?: "MAX_METADATA_BYTES" | "MAX_LOGIN_BYTES";
  /** The answer with status 200. */
  readonly answer: {
    readonly description: string;
    readonly content: Readonly<Record<string, MediaTypeObject>>;
    readonly headers?: readonly HeaderName[];
  };
  /** Further answers that are not refusals, by status: `302`, `304`. */
  readonly also?: Readonly<Record<string, JsonObject>>;
  /** Refusals besides the common ones of every operation. */
  readonly refusals?: readonly ErrorCode[];
  /** `required`: refused without a token; `optional`: a token shows more. */
  readonly token?: "required" | "optional";
}

/** Refusals of every write by a caller with a token. */
export const WRITE_REFUSALS = [
  "NOT_AUTHENTICATED",
  "INVALID_TOKEN",
  "FORBIDDEN",
  "TOO_MANY_REQUESTS",
] as const satisfies readonly ErrorCode[];
/** Refusals of a JSON body. */
export const BODY_REFUSALS = [
  "BODY_TIMEOUT",
  "TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
] as const satisfies readonly ErrorCode[];
/** Refusals where an identifier must lead to a record. */
export const FIND_REFUSALS = [
  "NOT_FOUND",
  "AMBIGUOUS",
  "GONE",
] as const satisfies readonly ErrorCode[];

export interface MediaTypeObject {
  readonly schema: JsonObject;
  /** Absent where the content is bytes. */
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
  harvesting: "Feeds and catalogues for harvesters and search engines.",
} as const;
type Tag = keyof typeof TAGS;

/** Headers of answers; `components.headers` defines them. */
export const HEADERS = {
  ETag: {
    description: "Revision of the record and its newest derived link, or the hash of the content.",
    schema: { type: "string" },
  },
  Link: {
    description:
      '`rel="next"`: the next page. For single records, signposting links to metadata, ' +
      "content and licence; above 2 KiB `cite-as` and `linkset` only.",
    schema: { type: "string" },
  },
  "X-Total-Count": {
    description: "How many records the whole list has.",
    schema: { type: "integer" },
  },
  "X-Publication-Status": {
    description: "Whether the content is open to anyone.",
    schema: { type: "string", enum: ["DRAFT", "PUBLISHED", "EMBARGOED", "ARCHIVED"] },
  },
  "Content-Location": {
    description: "The stored form of the identifier, when the path spelled it otherwise.",
    schema: { type: "string" },
  },
  "Content-Range": { description: "Which bytes the answer holds.", schema: { type: "string" } },
  "X-Truncated": {
    description:
      "Present only when the answer was truncated: the setting that limited it, with its " +
      "value.",
    schema: { type: "string" },
  },
  "X-As-Of": {
    description:
      "Commit that the answer reflects; it includes every write that was confirmed " +
      "before the request.",
    schema: { type: "integer" },
  },
  "Accept-Ranges": { description: "`bytes`.", schema: { type: "string" } },
} as const satisfies Record<string, JsonObject>;
export type HeaderName = keyof typeof HEADERS;

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const headerRefs = (names: readonly HeaderName[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
export const json = (
  schema: JsonObject,
  example: JsonValue,
  exampleName?: string,
): Record<string, MediaTypeObject> => ({
  "application/json": { schema, example, ...(exampleName ? { exampleName } : {}) },
});
export const html = (example: string): MediaTypeObject => ({ schema: { type: "string" }, example });

export const NOT_MODIFIED: Readonly<Record<string, JsonObject>> = {
  "304": { description: "The record still has the `ETag` in `If-None-Match`." },
};

const declare = (
  place: "path" | "query" | "header",
  name: string,
  description: string,
  schema: JsonObject,
  example?: JsonValue,
): JsonObject => ({
  name,
  in: place,
  required: place === "path",
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});
export const query = (
  name: string,
  description: string,
  schema: JsonObject,
  example?: JsonValue,
): JsonObject => declare("query", name, description, schema, example);
export const header = (
  name: string,
  description: string,
  schema: JsonObject,
  example?: JsonValue,
): JsonObject => declare("header", name, description, schema, example);
export const path = (
  name: string,
  description: string,
  schema: JsonObject,
  example: JsonValue,
): JsonObject => declare("path", name, description, schema, example);

const NAAN = path(
  "NAAN",
  "Name Assigning Authority Number: who the identifier belongs to.",
  { type: "string" },
  "99999",
);

/** The two parts of an ARK in a path, with those of an example. */
export function arkPath(ark: string, last = "postfix"): JsonObject[] {
  return [
    shared("NAAN"),
    path(
      last,
      "The rest of the identifier. It may hold slashes and dots, written as they are; the " +
        "path is percent-decoded once.",
      { type: "string" },
      ark.slice(ark.indexOf("/") + 1),
    ),
  ];
}

const IF_MATCH_HEADER = header(
  "If-Match",
  "Revision that the caller knows, as an `ETag`; when the record has changed since: 412.",
  { type: "string" },
);
const IF_NONE_MATCH_HEADER = header(
  "If-None-Match",
  "`ETag` that the caller has; 304 when it is still current.",
  { type: "string" },
);
const RANGE_HEADER = header(
  "Range",
  "One range of bytes, as in RFC 9110 section 14.",
  { type: "string" },
  "bytes=0-1023",
);
const BACKLINKS_QUERY = query(
  "backlinks",
  "Continues derived lists that were truncated at BACKLINK_LIMIT: take it from the " +
    "`Link` header of the previous answer.",
  { type: "string" },
);
/** The formats of records of one kind, or of any. */
export const formatQuery = (kind?: KindName): JsonObject =>
  query("format", "Format of the answer; takes precedence over `Accept`.", {
    type: "string",
    enum: (kind === undefined ? FORMATS : formatsOf(kind)).map(({ name }) => name),
  });
const REVISION_QUERY = query(
  "revision",
  "Returns this revision of the record instead of the current one.",
  { type: "integer", minimum: 1 },
);
const REASON_QUERY = query("reason", "Why the record is deleted: the tombstone states it.", {
  type: "string",
});
const SUCCESSOR_QUERY = query(
  "successor",
  "ARK of the record to use instead; anything else is refused.",
  {
    type: "string",
  },
);
const BEFORE_QUERY = query("before", "Only revisions older than this one.", {
  type: "integer",
  minimum: 1,
  maximum: 999_999_999,
});
/** The contract declares these parameters beside the security scheme; the two mean the same. */
const AUTHORIZATION_HEADER = header("Authorization", "`Bearer <access token>`.", {
  type: ["string", "null"],
});

const LIST_QUERIES: readonly JsonObject[] = [
  query("limit", "Records in one page; the whole list when absent.", {
    type: "integer",
    minimum: 1,
    maximum: 1000,
  }),
  query("cursor", "Cursor of the page: take it from the `Link` header of the previous page.", {
    type: "string",
  }),
  query("name", "Only records of this name.", { type: "string" }),
  query("owner", "Only records of this owner: an ARK in any spelling.", { type: "string" }),
  query("keyword", "Only records with this keyword.", { type: "string" }),
  query("order", "Order of the list; records with the same time are ordered by identifier.", {
    type: "string",
    enum: ["created", "-created", "name"],
    default: "created",
  }),
];

/** `components.parameters`: parameters of many operations, by name. */
export const SHARED_PARAMETERS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  [
    NAAN,
    IF_MATCH_HEADER,
    IF_NONE_MATCH_HEADER,
    RANGE_HEADER,
    AUTHORIZATION_HEADER,
    BACKLINKS_QUERY,
    REVISION_QUERY,
    REASON_QUERY,
    SUCCESSOR_QUERY,
    BEFORE_QUERY,
    ...LIST_QUERIES,
  ].map((shared) => [shared["name"] as string, shared]),
);
const shared = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` });

export const BACKLINKS = shared("backlinks");
export const REVISION = shared("revision");
/** The answer for a tombstone. */
export const TOMBSTONE: readonly JsonObject[] = [shared("reason"), shared("successor")];
/** Parameters of a page of a history. */
export const HISTORY: readonly JsonObject[] = [
  shared("before"),
  query("limit", "Revisions in one answer.", {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 1000,
  }),
];
export const IF_MATCH = shared("If-Match");
export const IF_NONE_MATCH = shared("If-None-Match");
export const RANGE = shared("Range");
export const AUTHORIZATION = shared("Authorization");
/** Without them the answer is the whole list. */
export const LIST: readonly JsonObject[] = LIST_QUERIES.map((parameter) =>
  shared(parameter["name"] as string),
);
