import { Ajv2020 as Ajv, type ValidateFunction } from "ajv/dist/2020.js";
import type { ValidationItem } from "../errors.js";
import { dateProblem } from "./dates.js";
import { arkExample } from "./examples.js";
import type { Field } from "./field.js";
import { Findings } from "./findings.js";
import { ARK_PATTERN, inputSchema } from "./json-schema.js";
import type { Kind } from "./kind.js";

type Loc = readonly (string | number)[];

const ARK = new RegExp(ARK_PATTERN, "u");

/**
 * Checks one value against its field; wording and places are pydantic 2's.
 * @param example an ARK that would be right, shown where one is expected
 */
function checkValue(
  field: Field,
  value: unknown,
  loc: Loc,
  findings: Findings,
  example: string,
): void {
  if (field.const !== undefined) return checkLiteral(field.const, value, loc, findings);
  if (value === null && field.nullable) return;
  switch (field.json) {
    case "string":
    case "types":
      return checkText(field, value, loc, findings, example);
    case "stringList":
      return checkTexts(field, value, loc, findings, example);
    case "stringOrList":
      return checkUnion(field, value, loc, findings);
    case "list":
      if (!Array.isArray(value)) findings.add(loc, "list_type", "Input should be a valid list");
      return;
    case "object":
    case "stringMap":
      return checkObject(field, value, loc, findings);
    case "boolean":
      if (typeof value !== "boolean")
        findings.add(loc, "bool_type", "Input should be a valid boolean");
  }
}

function checkLiteral(expected: string, value: unknown, loc: Loc, findings: Findings): void {
  if (value !== expected)
    findings.add(loc, "literal_error", `Input should be '${expected}'`, {
      expected: `'${expected}'`,
    });
}

function checkText(
  field: Field,
  value: unknown,
  loc: Loc,
  findings: Findings,
  example: string,
): void {
  if (field.date) return checkDate(value, loc, findings);
  if (typeof value !== "string")
    return findings.add(loc, "string_type", "Input should be a valid string");
  const { minLength: least, maxLength: most } = field;
  if (least !== undefined && codePoints(value, least) < least) {
    findings.add(loc, "string_too_short", `String should have at least ${characters(least)}`, {
      min_length: least,
    });
  } else if (most !== undefined && codePoints(value, most + 1) > most) {
    findings.add(loc, "string_too_long", `String should have at most ${characters(most)}`, {
      max_length: most,
    });
  } else if (field.ark && !ARK.test(value)) {
    findings.add(
      loc,
      "string_pattern_mismatch",
      `String should match pattern '${ARK_PATTERN}'; for example ${example}`,
      { pattern: ARK_PATTERN },
    );
  }
}

function checkDate(value: unknown, loc: Loc, findings: Findings): void {
  if (typeof value !== "string")
    return findings.add(loc, "datetime_type", "Input should be a valid datetime");
  const error = dateProblem(value);
  if (error !== undefined)
    findings.add(
      loc,
      "datetime_from_date_parsing",
      `Input should be a valid datetime or date, ${error}`,
      { error },
    );
}

function checkTexts(
  field: Field,
  value: unknown,
  loc: Loc,
  findings: Findings,
  example: string,
): void {
  if (!Array.isArray(value)) return findings.add(loc, "list_type", "Input should be a valid list");
  for (let index = 0; index < value.length && !findings.full; index++)
    checkText(field, value[index], [...loc, index], findings, example);
}

/**
 * Neither a string nor a list of strings: both faults are reported, as for a union of types. The
 * contract has references as strings, and its clients expect the error of a string; lists came later.
 */
function checkUnion(field: Field, value: unknown, loc: Loc, findings: Findings): void {
  if (field.link)
    return Array.isArray(value)
      ? checkTexts(field, value, loc, findings, "")
      : checkText(field, value, loc, findings, "");
  if (
    typeof value === "string" ||
    (Array.isArray(value) && value.every((item) => typeof item === "string"))
  )
    return;
  checkText(field, value, [...loc, "str"], findings, "");
  checkTexts(field, value, [...loc, "list[str]"], findings, "");
}

function checkObject(field: Field, value: unknown, loc: Loc, findings: Findings): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return findings.add(loc, "dict_type", "Input should be a valid dictionary");
  if (field.json !== "stringMap") return;
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== "string")
      findings.add([...loc, key], "string_type", "Input should be a valid string");
    if (findings.full) return;
  }
}

const characters = (count: number): string => `${count} character${count === 1 ? "" : "s"}`;

/** Length in Unicode code points, counted no further than `enough`. */
function codePoints(text: string, enough: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count < enough; count++)
    at += Number(text.codePointAt(at)) > 0xffff ? 2 : 1;
  return count;
}

/** Stops at the first error: a list of a million numbers makes one, not a million. */
const ajv = new Ajv({
  allErrors: false,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false,
});
ajv.addFormat("existing-day", (text: string) => dateProblem(text) === undefined);

const validators = new Map<Kind, ValidateFunction>();
/**
 * The validator of the published schema. What no schema states is added: `@id` is a string, and the
 * day of a date exists. It is compiled at the first body of its kind, so that the start is not slower.
 */
function validatorOf(kind: Kind): ValidateFunction {
  let validator = validators.get(kind);
  if (!validator) {
    const dates = kind.loose ? [] : Object.entries(kind.fields).filter(([, { date }]) => date);
    const day = { type: ["string", "null"], format: "existing-day" };
    const unpublished = {
      type: "object",
      properties: {
        "@id": { type: "string" },
        ...Object.fromEntries(dates.map(([name]) => [name, day])),
      },
    };
    validator = ajv.compile({ allOf: [inputSchema(kind), unpublished] });
    validators.set(kind, validator);
  }
  return validator;
}

/**
 * Every rule of the kind that a body breaks, in the order of the contract's fields; an empty list
 * when it may be stored. Ajv decides by {@link inputSchema}; only a refused body is walked.
 * @param at where the body is, for `loc`
 * @throws Error when Ajv refuses a body in which {@link brokenRules} finds nothing
 */
export function validateRecord(
  kind: Kind,
  value: unknown,
  at: readonly (string | number)[] = ["body"],
): ValidationItem[] {
  const accepts = validatorOf(kind);
  if (accepts(value)) return [];
  const items = brokenRules(kind, value, at);
  if (items.length === 0)
    throw new Error(`no words for ${ajv.errorsText(accepts.errors)} of a ${kind.name}`);
  return items;
}

/**
 * The broken rules as pydantic 2 words them. The tables are walked instead of wording Ajv's errors:
 * Ajv would gather a million of them (half a gigabyte) for a list of a million numbers; here
 * {@link import("./findings.js").MAX_FINDINGS} end the search.
 */
export function brokenRules(
  kind: Kind,
  value: unknown,
  at: readonly (string | number)[],
): ValidationItem[] {
  const findings = new Findings(at);
  if (value === undefined || value === null) findings.add([], "missing", "Field required");
  else if (typeof value !== "object" || Array.isArray(value)) {
    findings.add(
      [],
      "model_attributes_type",
      "Input should be a valid dictionary or object to extract fields from",
    );
  } else checkFields(kind, value as Record<string, unknown>, findings);
  return findings.items;
}

const IDENTIFIER: Field = {
  json: "string",
  term: "",
  description: "",
  required: false,
  nullable: false,
};

function checkFields(kind: Kind, body: Record<string, unknown>, findings: Findings): void {
  // Not a declared field, but the one additional property that the service reads.
  if (has(body, "@id")) checkValue(IDENTIFIER, body["@id"], ["@id"], findings, "");
  if (kind.loose) return;
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.computed) continue;
    if (has(body, name))
      checkValue(field, body[name], [name], findings, field.ark ? arkExample(kind.name, name) : "");
    else if (field.required) findings.add([name], "missing", "Field required");
  }
}

/** Own keys only: a body may lack `constructor` and must not inherit it. */
function has(body: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(body, name) && body[name] !== undefined;
}
