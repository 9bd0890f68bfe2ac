/** What the OpenAPI document says of each kind of record: schemas, examples and operations. */
import type { ErrorCode } from "../../errors.js";
import { EXAMPLES } from "../../model/examples.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import {
  inputSchema,
  recordSchema,
  withDefaults,
  withoutSecrets,
} from "../../model/json-schema.js";
import { type Kind, publicView } from "../../model/kind.js";
import { COLLECTIVES, KINDS } from "../../model/kinds.js";
import { refusalsOf } from "./errors.js";

const ref = (
  kind: "schemas" | "parameters" | "headers" | "examples",
  name: string,
): JsonObject => ({
  $ref: `#/components/${kind}/${name}`,
});
const parameter = (name: string): JsonObject => ref("parameters", name);

/** Kinds with a path have operations; the others come with crates, and have their list only. */
const WITH_OPERATIONS = [
  KINDS.user,
  KINDS.group,
  KINDS.software,
  KINDS.dataset,
  KINDS.computation,
  KINDS.evidencegraph,
  KINDS.schema,
  KINDS.project,
  KINDS.organization,
];
const WITH_PATH = Object.values(KINDS).filter(({ path }) => path !== null);
const LISTED = [
  ...WITH_OPERATIONS,
  KINDS.datadownload,
  ...Object.values(KINDS).filter(({ path }) => path === null),
];

/** A record of the kind, as it is answered. */
const answered = (kind: Kind): JsonObject =>
  withDefaults(kind, withoutSecrets(kind, EXAMPLES[kind.name]));

export const kindSchemas = (): JsonObject =>
  Object.fromEntries(
    Object.values(KINDS).flatMap((kind) => {
      const record = titled(`${kind.typeName}Record`, recordSchema(kind));
      return kind.loose ? [record] : [titled(`${kind.typeName}Input`, inputSchema(kind)), record];
    }),
  );

const titled = (title: string, schema: JsonObject): [string, JsonObject] => [
  title,
  published({ ...schema, title }),
];

/**
 * Members of table schemas that generators of clients confuse with `@type`, or with a member that
 * each of their classes has. They stay additional properties.
 */
const CLASHING = ["type", "additionalProperties"];
function published({ properties, ...schema }: JsonObject): JsonObject {
  const required = ((schema["required"] ?? []) as string[]).filter(
    (name) => !CLASHING.includes(name),
  );
  return {
    ...schema,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      Object.entries(properties as JsonObject).filter(([name]) => !CLASHING.includes(name)),
    ),
  };
}

export const kindExamples = (): JsonObject => ({
  ...Object.fromEntries(
    LISTED.map((kind) => [`${kind.typeName}List`, { value: [publicView(kind, answered(kind))] }]),
  ),
  ...Object.fromEntries(
    [...WITH_OPERATIONS, KINDS.datadownload].flatMap((kind): [string, JsonObject][] => [
      [kind.typeName, { value: EXAMPLES[kind.name] }],
      [`${kind.typeName}Record`, { value: answered(kind) }],
      ...(kind.closed
        ? [
            [`Public${kind.typeName}`, { value: publicView(kind, answered(kind)) }] as [
              string,
              JsonObject,
            ],
          ]
        : []),
    ]),
  ),
});

/** The operations of all kinds, by path. */
export function kindPaths(): Record<string, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  const add = (path: string, method: string, operation: JsonObject): void =>
    void ((paths[path] ??= {})[method] = operation);
  for (const kind of LISTED) add(`/${kind.path ?? kind.name}`, "get", listOperation(kind));
  for (const kind of WITH_OPERATIONS) {
    const one = `/${kind.path}/ark:{NAAN}/{postfix}`;
    add(`/${kind.path}`, "post", createOperation(kind));
    add(`/${kind.path}`, "put", updateOperation(kind));
    add(one, "patch", patchOperation(kind));
    add(one, "get", getOperation(kind));
    add(one, "delete", deleteOperation(kind));
  }
  for (const kind of WITH_PATH)
    add(`/${kind.path}/ark:{NAAN}/{${lastOf(kind)}}/history`, "get", historyOperation(kind));
  return paths;
}

const lastOf = ({ name }: Kind): string => (name === "datadownload" ? "download_id" : "postfix");

/** `EvidenceGraph` → `evidence graph`, `MLModel` → `ML model`. */
const labelOf = (kind: Kind): string =>
  kind.typeName
    .replace(/(?<=[a-z]|^ML)(?=[A-Z])/g, " ")
    .toLowerCase()
    .replace(/^ml /, "ML ");
const withArticle = (kind: Kind): string =>
  `${/^[aeio]/i.test(kind.typeName) ? "an" : "a"} ${labelOf(kind)}`;

/** Records of some kinds come from crates, and hold what their crate states. */
function answerSchema(kind: Kind): JsonObject {
  const record = ref("schemas", `${kind.typeName}Record`);
  return kind.fromCrates && !kind.loose
    ? { anyOf: [record, ref("schemas", "EntityRecord")] }
    : record;
}

const content = (schema: JsonObject, example: string): JsonObject => ({
  schema,
  examples: { [example]: ref("examples", example) },
});

/** The record that an operation leaves. */
const recordContent = (kind: Kind): JsonObject => ({
  "application/json": content(answerSchema(kind), `${kind.typeName}Record`),
});

const bodyOf = (kind: Kind, limit?: string): JsonObject => {
  const body = content(ref("schemas", `${kind.typeName}Input`), kind.typeName);
  return {
    required: true,
    content: { "application/json": body },
    ...(limit ? { "x-limit": limit } : {}),
  };
};

/** The two parts of an identifier in a path, with those of an example. */
const arkOf = (kind: Kind): JsonObject[] => [
  parameter("NAAN"),
  {
    name: lastOf(kind),
    in: "path",
    required: true,
    description:
      "The rest of the identifier. It may hold slashes and dots, written as they are; the " +
      "path is percent-decoded once.",
    schema: { type: "string" },
    example: (EXAMPLES[kind.name]["@id"] as string).replace(/^[^/]*\//, ""),
  },
];

/** The contract declares the header on operations of projects and organizations. */
const authorization = ({ name }: Kind, isList = false): JsonObject[] =>
  name === "project" || (name === "organization" && !isList) ? [parameter("Authorization")] : [];

interface Described {
  operationId: string;
  tag?: string;
  summary: string;
  description: string;
  parameters?: JsonObject[];
  requestBody?: JsonObject;
  answer: JsonObject;
  headers?: readonly string[];
  refusals: readonly ErrorCode[];
  token: "required" | "optional" | "none";
  isWrite?: boolean;
  more?: JsonObject;
}

const SCHEME: JsonObject = { OAuth2PasswordBearer: [] };
const SECURITY = { required: [SCHEME], optional: [{}, SCHEME], none: [] };

function operation(described: Described): JsonObject {
  const { operationId, tag = "records", summary, description, headers = [] } = described;
  const { parameters = [], requestBody, answer, refusals, token, isWrite, more } = described;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      "200": {
        ...answer,
        ...(headers.length > 0
          ? { headers: Object.fromEntries(headers.map((name) => [name, ref("headers", name)])) }
          : {}),
      },
      ...refusalsOf([
        "BAD_REQUEST",
        "VALIDATION",
        "INTERNAL",
        "STORE_UNAVAILABLE",
        // A token sent where none is needed must still be valid.
        "INVALID_TOKEN",
        ...(isWrite ? (["CSRF_REFUSED"] as const) : []),
        ...refusals,
      ]),
      ...more,
    },
    security: SECURITY[token],
  };
}

const WRITE = ["NOT_AUTHENTICATED", "FORBIDDEN", "TOO_MANY_REQUESTS"] as const;
const BODY = ["BODY_TIMEOUT", "TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;
const FIND = ["NOT_FOUND", "AMBIGUOUS", "GONE"] as const;
const STATE = ["ETag", "X-Publication-Status", "X-Visibility"] as const;
/** A new password needs the current one. */
const password = ({ name }: Kind): readonly ErrorCode[] =>
  name === "user" ? ["BAD_CREDENTIALS"] : [];

const listOperation = (kind: Kind): JsonObject =>
  operation({
    operationId: `list_${kind.name}`,
    summary: `List of records: ${labelOf(kind)}`,
    description: "Without `limit` the whole list. Deleted records are left out.",
    parameters: [
      ...["limit", "cursor", "name", "owner", "keyword", "order"].map(parameter),
      ...authorization(kind, true),
    ],
    answer: {
      description: "The records.",
      content: {
        "application/json": content(
          { type: "array", items: answerSchema(kind) },
          `${kind.typeName}List`,
        ),
      },
    },
    headers: ["Link", "X-Total-Count"],
    refusals: kind.name === "user" ? ["NOT_AUTHENTICATED"] : [],
    token: kind.name === "user" ? "required" : "none",
  });

const createOperation = (kind: Kind): JsonObject =>
  operation({
    operationId: `create_${kind.name}`,
    summary: `Create ${withArticle(kind)}`,
    description:
      `${kind.description} Without \`@id\` an identifier is minted.` +
      (kind.fields["owner"]
        ? " `owner` may also be given in compact form, as an object with `@id`; its `@id` is stored."
        : ""),
    parameters: [
      ...(kind.name === "user" || COLLECTIVES.has(kind.name) ? [] : [parameter("Visibility")]),
      ...authorization(kind),
    ],
    requestBody: bodyOf(kind, kind.name === "user" ? "MAX_LOGIN_BYTES" : undefined),
    answer: {
      description: "The created record.",
      content: {
        "application/json": content(
          ref("schemas", `${kind.typeName}Record`),
          `${kind.typeName}Record`,
        ),
      },
    },
    headers: STATE,
    refusals: [...WRITE, ...BODY, "DUPLICATE"],
    token: kind.name === "user" ? "none" : "required",
    isWrite: true,
  });

const updateOperation = (kind: Kind): JsonObject =>
  operation({
    operationId: `update_${kind.name}`,
    summary: `Replace ${withArticle(kind)}`,
    description:
      "Replaces the whole record that the body's `@id` names: absent fields get their " +
      "default or are removed. A body that changes nothing creates no revision.",
    parameters: [parameter("If-Match"), ...authorization(kind)],
    requestBody: bodyOf(kind),
    answer: { description: "The updated record.", content: recordContent(kind) },
    headers: STATE,
    refusals: [...WRITE, ...BODY, ...FIND, "WRONG_KIND", "REVISION_MISMATCH", ...password(kind)],
    token: "required",
    isWrite: true,
  });

const patchOperation = (kind: Kind): JsonObject =>
  operation({
    operationId: `patch_${kind.name}`,
    summary: `Change parts of ${withArticle(kind)}`,
    description:
      "Changes what the patch names and leaves the rest. The patch applies to the record as " +
      "`GET` answers it; the result is stored as `PUT` would store it. `@id` and `@type` stay. A " +
      "patch that changes nothing creates no revision.",
    parameters: [...arkOf(kind), parameter("If-Match"), ...authorization(kind)],
    requestBody: {
      required: true,
      content: {
        "application/merge-patch+json": content(ref("schemas", "MergePatch"), "MergePatch"),
        "application/json": content(ref("schemas", "MergePatch"), "MergePatch"),
        "application/json-patch+json": content(ref("schemas", "JsonPatch"), "JsonPatch"),
      },
    },
    answer: { description: "The changed record.", content: recordContent(kind) },
    headers: STATE,
    refusals: [
      ...WRITE,
      ...BODY,
      ...FIND,
      "PATCH_CONFLICT",
      "REVISION_MISMATCH",
      ...password(kind),
    ],
    token: "required",
    isWrite: true,
  });

function getOperation(kind: Kind): JsonObject {
  const example = kind.closed ? `Public${kind.typeName}` : `${kind.typeName}Record`;
  const record = content(answerSchema(kind), example);
  return operation({
    operationId: `get_${kind.name}`,
    summary: `One record: ${labelOf(kind)}`,
    description: kind.closed
      ? "Anyone sees the declared public fields; the account itself and administrators see the rest."
      : "Lists that other records imply are filled in when the record is read.",
    parameters: [
      ...arkOf(kind),
      parameter("If-None-Match"),
      parameter("If-Modified-Since"),
      {
        name: "format",
        in: "query",
        required: false,
        description: "Format of the answer; takes precedence over `Accept`.",
        schema: { type: "string", "x-formats": kind.name },
      },
      parameter("revision"),
      parameter("backlinks"),
      ...authorization(kind),
    ],
    answer: {
      description: "The record.",
      content: {
        "application/ld+json": record,
        "application/json": record,
        "x-formats": kind.name,
      },
    },
    headers: [...STATE, "Last-Modified", "Link", "Content-Location"],
    refusals: [...FIND, "NOT_ACCEPTABLE"],
    token: "optional",
    more: {
      "304": { description: "The client has the current state." },
    },
  });
}

const deleteOperation = (kind: Kind): JsonObject =>
  operation({
    operationId: `delete_${kind.name}`,
    summary: `Delete ${withArticle(kind)}`,
    description:
      "Leaves a tombstone: the identifier is not used again, and reading it returns 410.",
    parameters: [
      ...arkOf(kind),
      ...["If-Match", "reason", "successor"].map(parameter),
      ...authorization(kind),
    ],
    answer: { description: "The deleted record.", content: recordContent(kind) },
    refusals: [
      ...WRITE,
      ...FIND,
      ...(COLLECTIVES.has(kind.name) ? (["OWNS_RECORDS"] as const) : []),
      "REVISION_MISMATCH",
    ],
    token: "required",
    isWrite: true,
  });

const historyOperation = (kind: Kind): JsonObject =>
  operation({
    operationId: `history_${kind.name}`,
    tag: "identifiers",
    summary: "States of a record, newest first",
    description:
      "`changed` names what differs from the state before, as JSON pointers; of a user, private " +
      "fields are named to the user itself and administrators only. Each state is read with " +
      "`?revision=`. Those of a deleted record are for its owner and administrators.",
    parameters: [
      ...arkOf(kind),
      parameter("before"),
      {
        name: "limit",
        in: "query",
        required: false,
        description: "Revisions in one answer.",
        schema: { type: "integer", minimum: 1, maximum: 1000, default: 1000 },
      },
    ],
    answer: {
      description: 'The history; with `Link: rel="next"` when there is more.',
      content: {
        "application/json": { schema: ref("schemas", "History"), example: exampleHistory(kind) },
      },
    },
    headers: ["Link"],
    refusals: FIND,
    token: "optional",
  });

function exampleHistory(kind: Kind): JsonValue {
  const by = EXAMPLES.user["@id"]!;
  return {
    "@id": EXAMPLES[kind.name]["@id"]!,
    revisions: [
      { revision: 2, at: "2024-05-04T10:00:00.000Z", by, action: "update", changed: ["/name"] },
      { revision: 1, at: "2024-05-03T08:00:00.000Z", by, action: "create", changed: [] },
    ],
  };
}
