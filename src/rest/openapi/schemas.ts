import { ERRORS } from "../../errors.js";
import { withDefaults, withoutSecrets } from "../../model/defaults.js";
import { EXAMPLES } from "../../model/examples.js";
import type { JsonObject } from "../../model/field.js";
import { inputSchema, recordSchema } from "../../model/json-schema.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { CRATE_PLAN_SCHEMAS } from "./crate-plan-schemas.js";
import { schemaRef } from "./operation.js";
import { SERVICE_SCHEMAS } from "./service-schemas.js";

/** Schema of a body of the kind. */
export const bodyOf = (kind: Kind): JsonObject => schemaRef(kind.typeName);

/** Schema of an answered record. Crates bring records of some kinds, and those hold what their crate states. */
export function answerOf(kind: Kind): JsonObject {
  const record = schemaRef(`${kind.typeName}Record`);
  return kind.fromCrates && !kind.loose ? { anyOf: [record, schemaRef("EntityRecord")] } : record;
}

/** A record of the kind, as it is answered. */
export const recordExample = (kind: Kind): JsonObject => withDefaults(kind, withoutSecrets(kind, EXAMPLES[kind.name]));

/** `components.schemas`. */
export function componentSchemas(): JsonObject {
  const schemas: JsonObject = {};
  for (const kind of Object.values(KINDS)) {
    if (!kind.loose) schemas[kind.typeName] = inputSchema(kind);
    schemas[`${kind.typeName}Record`] = { ...recordSchema(kind), title: `${kind.typeName}Record` };
  }
  return { ...schemas, ...SERVICE_SCHEMAS, ...CRATE_PLAN_SCHEMAS, ...ERROR_SCHEMAS };
}

/** Names of the validation schemas are those that clients of such services were generated from. */
const ERROR_SCHEMAS: JsonObject = {
  Error: {
    type: "object", required: ["detail", "code"],
    properties: {
      detail: { type: "string", description: "One sentence that names the place and the fix." },
      code: { type: "string", enum: Object.keys(ERRORS), description: "Stable; see docs/errors.md." },
    },
  },
  ValidationError: {
    title: "ValidationError", type: "object", required: ["loc", "msg", "type"],
    properties: {
      loc: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] }, description: "Where: `body`, `query`, `path` or `header`, then keys and indexes." },
      msg: { type: "string" },
      type: { type: "string", description: "The broken rule, in the vocabulary of pydantic 2." },
      ctx: { type: "object", description: "The limit that was broken." },
    },
  },
  HTTPValidationError: {
    title: "HTTPValidationError", type: "object", required: ["detail"],
    properties: { detail: { type: "array", items: schemaRef("ValidationError") } },
  },
};
