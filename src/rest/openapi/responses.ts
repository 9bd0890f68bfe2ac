import { ERRORS, type ErrorCode } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { FINDING_CODES } from "../../use-cases/crates/finding-codes.js";
import { schemaRef } from "./operation.js";

/** Names of the shared error responses by status. */
const NAMES: Readonly<Record<number, string>> = {
  400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed", 406: "NotAcceptable", 408: "RequestTimeout", 409: "Conflict",
  410: "Gone", 412: "PreconditionFailed", 413: "TooLarge", 415: "UnsupportedMediaType", 416: "RangeNotSatisfiable",
  422: "ValidationFailed", 429: "TooManyRequests", 500: "InternalError", 503: "Unavailable",
};
const CODES = Object.keys(ERRORS) as ErrorCode[];
const nameOf = (status: number): string => {
  const name = NAMES[status];
  if (!name) throw new Error(`no name for the responses of status ${status}`);
  return name;
};

/** Any operation may answer these. */
const EVERYWHERE: readonly ErrorCode[] = ["BAD_REQUEST", "VALIDATION", "INTERNAL", "STORE_UNAVAILABLE"];

/** References to the responses that refuse with these codes, by status. */
export function refusalsOf(codes: readonly ErrorCode[]): JsonObject {
  const statuses = new Set([...EVERYWHERE, ...codes].map((code) => ERRORS[code].status));
  return Object.fromEntries([...statuses].toSorted((a, b) => a - b).map((status) => [String(status), { $ref: `#/components/responses/${nameOf(status)}` }]));
}

/** `components.responses`: one per status of the table of errors. */
export function errorResponses(): JsonObject {
  const statuses = [...new Set(CODES.map((code) => ERRORS[code].status))].toSorted((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [nameOf(status), responseOf(status)]));
}

function responseOf(status: number): JsonObject {
  const codes = CODES.filter((code) => ERRORS[code].status === status);
  if (status === 422) {
    return { description: ERRORS.VALIDATION.meaning, content: { "application/json": { schema: schemaRef("HTTPValidationError"), example: VALIDATION_EXAMPLE } } };
  }
  // A crate is refused with a code of its own; see docs/crates.md.
  const ofCrates = Object.entries(FINDING_CODES).filter(([, finding]) => finding.severity === "REQUIRED" && finding.status === status).map(([code]) => code);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join("\n\n") + (ofCrates.length > 0 ? "\n\nOf a crate: the code of what is wrong with it, as in docs/crates.md." : ""),
    ...(status === 401 ? { headers: { "WWW-Authenticate": { description: "`Bearer`.", schema: { type: "string" } } } } : {}),
    ...(status === 405 ? { headers: { Allow: { description: "Methods of the path.", schema: { type: "string" } } } } : {}),
    ...(status === 429 || status === 503 ? { headers: { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } } } : {}),
    content: {
      "application/json": {
        schema: { allOf: [schemaRef("Error"), { properties: { code: { enum: [...new Set<string>([...codes, ...ofCrates])] } } }] },
        examples: Object.fromEntries(codes.map((code) => [code, { value: { detail: ERRORS[code].meaning, code } }])),
      },
    },
  };
}

const VALIDATION_EXAMPLE: JsonValue = {
  detail: [
    { loc: ["body", "name"], msg: "Field required", type: "missing" },
    { loc: ["body", "description"], msg: "String should have at least 5 characters", type: "string_too_short", ctx: { min_length: 5 } },
  ],
};
