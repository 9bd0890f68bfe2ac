import type { JsonObject, JsonValue } from "../../model/field.js";
import { ACCOUNTS } from "./accounts.js";
import { COMPUTATIONS } from "./computations.js";
import { CRATE_PLANS } from "./crate-plans.js";
import { CRATES } from "./crates.js";
import { DOWNLOADS } from "./downloads.js";
import { EVIDENCE } from "./evidence.js";
import { VALIDATION } from "./validation.js";
import { FILES } from "./files.js";
import { GROUPS } from "./groups.js";
import { HISTORIES } from "./history.js";
import { IDENTIFIERS } from "./identifiers.js";
import { HEADERS, TAGS, headerRefs, type Content, type Operation } from "./operation.js";
import { SHARED_PARAMETERS } from "./parameters.js";
import { ORGANIZATIONS, PROJECTS } from "./projects.js";
import { PUBLICATION } from "./publication.js";
import { RECORDS } from "./records.js";
import { errorResponses, refusalsOf } from "./responses.js";
import { componentSchemas } from "./schemas.js";
import { SCORES } from "./scores.js";
import { SEARCH } from "./search.js";
import { SERVICE } from "./service.js";
import { SPARQL } from "./sparql.js";
import { TABLES } from "./tables.js";

/** Version of the interface; the contract states it. */
export const API_VERSION = "0.1.0";
const SCHEME = "OAuth2PasswordBearer";

/** Every operation of the REST door. */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE, ...ACCOUNTS, ...RECORDS, ...GROUPS, ...COMPUTATIONS, ...PROJECTS, ...ORGANIZATIONS, ...CRATES, ...CRATE_PLANS, ...SCORES, ...FILES, ...DOWNLOADS, ...PUBLICATION, ...EVIDENCE, ...SPARQL, ...VALIDATION, ...IDENTIFIERS, ...HISTORIES,
  ...SEARCH, ...TABLES,
];

/** The OpenAPI 3.1 description of the REST door, printed from the tables. */
export function openApiDocument(): JsonObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Arkgraph",
      version: API_VERSION,
      summary: "A registry for research objects, their files and their provenance.",
      description: [
        "Records are JSON-LD under ARK identifiers. Typical work: get a token, upload a crate, poll its status, fetch by identifier.",
        "Every success is 200. Broken rules of the input are 422 with all of them at once; every other refusal carries one sentence and a stable code.",
        "The last part of an identifier in a path (`{postfix}`) may hold slashes. Every path also answers below `/api`, and with or without a slash at the end.",
      ].join("\n\n"),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This registry." }, { url: "/api", description: "The same." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathItems(),
    components: {
      schemas: componentSchemas(),
      parameters: SHARED_PARAMETERS,
      examples: sharedExamples(),
      responses: errorResponses(),
      headers: HEADERS,
      securitySchemes: { [SCHEME]: { type: "oauth2", flows: { password: { tokenUrl: "token", scopes: {} } } } },
    },
  };
}

function pathItems(): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of OPERATIONS) (paths[operation.path] ??= {})[operation.method] = operationObject(operation);
  return paths;
}

function operationObject(operation: Operation): JsonObject {
  const { answer, body, token } = operation;
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    ...(operation.parameters?.length ? { parameters: [...operation.parameters] } : {}),
    ...(body ? { requestBody: { required: true, content: contentOf(body), ...(operation.bodyLimit ? { "x-limit": operation.bodyLimit } : {}) } } : {}),
    responses: {
      "200": {
        description: answer.description,
        ...(answer.headers?.length ? { headers: headerRefs(answer.headers) } : {}),
        content: contentOf(answer.content),
      },
      // A token that is sent where it is not needed must still be good.
      ...refusalsOf([...(operation.refusals ?? []), ...(token === "optional" ? ["INVALID_TOKEN" as const] : [])]),
      ...operation.also,
    },
    // An empty list says that none is needed; a missing one would leave that open.
    security: token === "required" ? [{ [SCHEME]: [] }] : token === "optional" ? [{}, { [SCHEME]: [] }] : [],
  };
}

function contentOf(content: Readonly<Record<string, Content>>): JsonObject {
  return Object.fromEntries(Object.entries(content).map(([mediaType, { schema, example, exampleName }]): [string, JsonObject] => {
    if (exampleName) return [mediaType, { schema, examples: { [exampleName]: { $ref: `#/components/examples/${exampleName}` } } }];
    return [mediaType, { schema, ...(example === undefined ? {} : { example }) }];
  }));
}

/** @throws Error when two different examples have one name */
function sharedExamples(): JsonObject {
  const found: Record<string, { value: JsonValue }> = {};
  for (const { body, answer } of OPERATIONS) {
    for (const { example, exampleName } of [...Object.values(body ?? {}), ...Object.values(answer.content)]) {
      if (!exampleName || example === undefined) continue;
      const known = (found[exampleName] ??= { value: example });
      if (JSON.stringify(known.value) !== JSON.stringify(example)) throw new Error(`two examples are called ${exampleName}`);
    }
  }
  return found;
}
