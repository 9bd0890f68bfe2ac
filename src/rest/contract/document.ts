import { ERRORS, type ErrorCode } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { FINDING_CODES } from "../../services/crates/findings.js";
import { ACCOUNTS, CREDENTIALS, GROUPS, SESSIONS } from "../accounts.js";
import { ADMINISTRATION } from "../administration.js";
import { BULK } from "../bulk.js";
import { CRATE_PLANS } from "../crate-plans.js";
import { CRATES } from "../crates.js";
import { DOIS } from "../dois.js";
import { DOWNLOADS } from "../downloads.js";
import { EVIDENCE } from "../evidence.js";
import { FILES } from "../files.js";
import { HARVEST } from "../harvest.js";
import { IDENTIFIERS } from "../identifiers.js";
import { HISTORIES, PUBLICATION } from "../records.js";
import { COMPUTATIONS, LINEAGE } from "../runs.js";
import { SCORES } from "../scores.js";
import { SEARCH, SELECTIONS } from "../search.js";
import { SERVICE } from "../service.js";
import { SPARQL } from "../sparql.js";
import { TABLES, VALIDATION } from "../validation.js";
import { LISTS, ORGANIZATIONS, PROJECTS, RECORDS } from "./record-rows.js";
import {
  type ContractRow,
  HEADERS,
  headerRefs,
  type MediaTypeObject,
  SHARED_PARAMETERS,
  schemaRef,
  TAGS,
} from "./rows.js";
import { componentSchemas } from "./schemas.js";

/** Names of the shared error responses by status. */
const NAMES: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  408: "RequestTimeout",
  409: "Conflict",
  410: "Gone",
  412: "PreconditionFailed",
  413: "TooLarge",
  415: "UnsupportedMediaType",
  416: "RangeNotSatisfiable",
  422: "ValidationFailed",
  429: "TooManyRequests",
  500: "InternalError",
  503: "Unavailable",
};
const CODES = Object.keys(ERRORS) as ErrorCode[];
const nameOf = (status: number): string => {
  const name = NAMES[status];
  if (!name) throw new Error(`no name for the responses of status ${status}`);
  return name;
};

/** Refusals that any operation may answer. */
const EVERYWHERE: readonly ErrorCode[] = [
  "BAD_REQUEST",
  "VALIDATION",
  "INTERNAL",
  "STORE_UNAVAILABLE",
];

/** References to the responses that refuse with these codes, by status. */
function refusalsOf(codes: readonly ErrorCode[]): JsonObject {
  const statuses = new Set([...EVERYWHERE, ...codes].map((code) => ERRORS[code].status));
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => [String(status), { $ref: `#/components/responses/${nameOf(status)}` }]),
  );
}

/** `components.responses`: one per status of the table of errors. */
function errorResponses(): JsonObject {
  const statuses = [...new Set(CODES.map((code) => ERRORS[code].status))].toSorted((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [nameOf(status), responseOf(status)]));
}

function responseOf(status: number): JsonObject {
  const codes = CODES.filter((code) => ERRORS[code].status === status);
  if (status === 422) {
    return {
      description: ERRORS.VALIDATION.meaning,
      content: {
        "application/json": {
          schema: schemaRef("HTTPValidationError"),
          example: VALIDATION_EXAMPLE,
        },
      },
    };
  }
  // The refusal of a crate has its own code; see docs/crates.md.
  const ofCrates = Object.entries(FINDING_CODES)
    .filter(([, finding]) => finding.severity === "REQUIRED" && finding.status === status)
    .map(([code]) => code);
  return {
    description:
      codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join("\n\n") +
      (ofCrates.length > 0
        ? "\n\nOf a crate: the code of what is wrong with it, as in docs/crates.md."
        : ""),
    ...(status === 401
      ? {
          headers: { "WWW-Authenticate": { description: "`Bearer`.", schema: { type: "string" } } },
        }
      : {}),
    ...(status === 405
      ? { headers: { Allow: { description: "Methods of the path.", schema: { type: "string" } } } }
      : {}),
    ...(status === 415
      ? {
          headers: {
            "Accept-Patch": {
              description: "Media types of patches, where the operation is PATCH.",
              schema: { type: "string" },
            },
          },
        }
      : {}),
    ...(status === 429 || status === 503
      ? {
          headers: {
            "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } },
          },
        }
      : {}),
    content: {
      "application/json": {
        schema: {
          allOf: [
            schemaRef("Error"),
            { properties: { code: { enum: [...new Set<string>([...codes, ...ofCrates])] } } },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: { detail: ERRORS[code].meaning, code } }]),
        ),
      },
    },
  };
}

const VALIDATION_EXAMPLE: JsonValue = {
  detail: [
    { loc: ["body", "name"], msg: "Field required", type: "missing" },
    {
      loc: ["body", "description"],
      msg: "String should have at least 5 characters",
      type: "string_too_short",
      ctx: { min_length: 5 },
    },
  ],
};

/** Version of the interface; the contract states it. */
export const API_VERSION = "0.1.0";
const SCHEME = "OAuth2PasswordBearer";

/** Every operation of the REST API. */
export const OPERATIONS: readonly ContractRow[] = [
  ...SERVICE,
  ...ACCOUNTS,
  ...SESSIONS,
  ...CREDENTIALS,
  ...ADMINISTRATION,
  ...BULK,
  ...RECORDS,
  ...LISTS,
  ...SELECTIONS,
  ...GROUPS,
  ...COMPUTATIONS,
  ...PROJECTS,
  ...ORGANIZATIONS,
  ...CRATES,
  ...CRATE_PLANS,
  ...SCORES,
  ...FILES,
  ...DOWNLOADS,
  ...PUBLICATION,
  ...DOIS,
  ...EVIDENCE,
  ...LINEAGE,
  ...SPARQL,
  ...VALIDATION,
  ...IDENTIFIERS,
  ...HISTORIES,
  ...SEARCH,
  ...HARVEST,
  ...TABLES,
];

/** The OpenAPI 3.1 description of the REST API, printed from the tables. */
export function openApiDocument(): JsonObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Arkgraph",
      version: API_VERSION,
      summary: "A registry for research objects, their files and their provenance.",
      description: [
        "Records are JSON-LD under ARK identifiers. Typical work: get a token, upload a " +
          "crate, poll its status, fetch by identifier.",
        "Every success is 200. Broken rules of the input are 422 with all of them at once; " +
          "every other refusal carries one sentence and a stable code.",
        "The last part of an identifier in a path (`{postfix}`) may hold slashes. Every " +
          "path also answers below `/api`, and with or without a slash at the end.",
      ].join("\n\n"),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [
      { url: "/", description: "This registry." },
      { url: "/api", description: "The same." },
    ],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathItems(),
    components: {
      schemas: componentSchemas(),
      parameters: SHARED_PARAMETERS,
      examples: sharedExamples(),
      responses: errorResponses(),
      headers: HEADERS,
      securitySchemes: {
        [SCHEME]: { type: "oauth2", flows: { password: { tokenUrl: "token", scopes: {} } } },
      },
    },
  };
}

function pathItems(): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of OPERATIONS)
    (paths[operation.path] ??= {})[operation.method] = operationObject(operation);
  return paths;
}

function operationObject(operation: ContractRow): JsonObject {
  const { answer, body, token } = operation;
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    ...(operation.parameters?.length ? { parameters: [...operation.parameters] } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: contentOf(body),
            ...(operation.bodyLimit ? { "x-limit": operation.bodyLimit } : {}),
          },
        }
      : {}),
    responses: {
      "200": {
        description: answer.description,
        ...(answer.headers?.length ? { headers: headerRefs(answer.headers) } : {}),
        content: contentOf(answer.content),
      },
      // A token sent where none is needed must still be valid, except where one is obtained.
      ...refusalsOf([
        ...(operation.refusals ?? []),
        ...(operation.refusals?.includes("BAD_CREDENTIALS") ? [] : ["INVALID_TOKEN" as const]),
        ...(operation.method === "get" ? [] : ["CSRF_REFUSED" as const]),
      ]),
      ...operation.also,
    },
    // An empty list states that no token is needed; a missing list would leave that open.
    security:
      token === "required"
        ? [{ [SCHEME]: [] }]
        : token === "optional"
          ? [{}, { [SCHEME]: [] }]
          : [],
  };
}

function contentOf(content: Readonly<Record<string, MediaTypeObject>>): JsonObject {
  return Object.fromEntries(
    Object.entries(content).map(
      ([mediaType, { schema, example, exampleName }]): [string, JsonObject] => {
        if (exampleName)
          return [
            mediaType,
            {
              schema,
              examples: { [exampleName]: { $ref: `#/components/examples/${exampleName}` } },
            },
          ];
        return [mediaType, { schema, ...(example === undefined ? {} : { example }) }];
      },
    ),
  );
}

/** @throws Error when two different examples have one name */
function sharedExamples(): JsonObject {
  const found: Record<string, { value: JsonValue }> = {};
  for (const { body, answer } of OPERATIONS) {
    for (const { example, exampleName } of [
      ...Object.values(body ?? {}),
      ...Object.values(answer.content),
    ]) {
      if (!exampleName || example === undefined) continue;
      const known = (found[exampleName] ??= { value: example });
      if (JSON.stringify(known.value) !== JSON.stringify(example))
        throw new Error(`two examples are called ${exampleName}`);
    }
  }
  return found;
}
