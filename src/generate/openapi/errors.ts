/** The refusals of the OpenAPI document, from the table of errors. */
import { STATUS_CODES } from "node:http";
import { ERRORS, type ErrorCode } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { FINDING_CODES } from "../../services/crates/findings.js";

/** Names of the shared responses by status. */
const NAMES: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
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
const statusesOf = (codes: readonly ErrorCode[]): number[] =>
  [...new Set(codes.map((code) => ERRORS[code].status))].toSorted((a, b) => a - b);

/** References to the responses that refuse with these codes, by status. */
export const refusalsOf = (codes: readonly ErrorCode[]): JsonObject =>
  Object.fromEntries(
    statusesOf(codes).map((status) => [
      String(status),
      { $ref: `#/components/responses/${nameOf(status)}` },
    ]),
  );

/**
 * `components.responses`: one per status of the table of errors, but for 405, which no described
 * operation answers.
 */
export const errorResponses = (): JsonObject =>
  Object.fromEntries(
    statusesOf(CODES)
      .filter((status) => status !== 405)
      .map((status) => [nameOf(status), responseOf(status)]),
  );

/** `components.schemas.Refusal`. */
export const REFUSAL_SCHEMA: JsonObject = {
  type: "object",
  required: ["detail", "code"],
  properties: {
    detail: { type: "string", description: "One sentence that names the place and the fix." },
    code: { type: "string", description: "Stable; see docs/errors.md." },
  },
};

/** `components.schemas.Problem`: the same in the form of RFC 9457. */
export const PROBLEM_SCHEMA: JsonObject = {
  type: "object",
  required: ["title", "status", "detail", "code"],
  properties: {
    title: { type: "string", description: "The status in words." },
    status: { type: "integer" },
    detail: { type: "string", description: "One sentence that names the place and the fix." },
    code: { type: "string", description: "Stable; see docs/errors.md." },
    errors: {
      type: "array",
      description: "Of 422: every broken rule.",
      items: { $ref: "#/components/schemas/ValidationError" },
    },
  },
};
/** An error as a problem, by the example of its plain form. */
const problem = (status: number, example: JsonObject): JsonObject => ({
  "application/problem+json": {
    schema: { $ref: "#/components/schemas/Problem" },
    example: { title: STATUS_CODES[status]!, status, ...example },
  },
});

const header = (name: string, description: string, type = "string"): JsonObject => ({
  headers: { [name]: { description, schema: { type } } },
});
const RETRY_AFTER = header("Retry-After", "Seconds to wait.", "integer");
const HEADERS: Readonly<Record<number, JsonObject>> = {
  401: header("WWW-Authenticate", "`Bearer`."),
  415: header("Accept-Patch", "Media types of patches, where the operation is PATCH."),
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

function responseOf(status: number): JsonObject {
  if (status === 422)
    return {
      description: ERRORS.VALIDATION.meaning,
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/HTTPValidationError" },
          example: { detail: BROKEN },
        },
        ...problem(status, {
          detail:
            "body.name: Field required; body.description: String should have at least 5 characters",
          code: "VALIDATION",
          errors: BROKEN,
        }),
      },
    };
  const codes = CODES.filter((code) => ERRORS[code].status === status);
  // The refusal of a crate has its own code; see docs/crates.md.
  const ofCrates = Object.entries(FINDING_CODES)
    .filter(([, finding]) => finding.severity === "REQUIRED" && finding.status === status)
    .map(([code]) => code);
  const lines = codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`);
  if (ofCrates.length > 0)
    lines.push("Of a crate: the code of what is wrong with it, as in docs/crates.md.");
  return {
    description: lines.join("\n\n"),
    ...HEADERS[status],
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Refusal" },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: { detail: ERRORS[code].meaning, code } }]),
        ),
      },
      ...problem(status, { detail: ERRORS[codes[0]!].meaning, code: codes[0]! }),
    },
  };
}

const BROKEN: JsonValue = [
  { loc: ["body", "name"], msg: "Field required", type: "missing" },
  {
    loc: ["body", "description"],
    msg: "String should have at least 5 characters",
    type: "string_too_short",
    ctx: { min_length: 5 },
  },
];
