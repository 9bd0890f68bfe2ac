import type { ValidationItem } from "../errors.js";
import { arkExample } from "./examples.js";
import type { Field } from "./field.js";
import { Findings } from "./findings.js";
import type { Kind } from "./kind.js";
import { checkValue } from "./check-value.js";

/**
 * Every rule of the kind that a body breaks, in the order of the contract's fields; an empty list when it may be
 * stored. The rules are those of {@link import("./json-schema.js").inputSchema}, in the vocabulary of pydantic 2.
 * They are walked rather than handed to a schema compiler: a list of a million numbers would make a compiler
 * gather a million errors (half a gigabyte), here {@link import("./findings.js").MAX_FINDINGS} end the search.
 * @param at where the body is, for `loc`
 */
export function validateRecord(kind: Kind, value: unknown, at: readonly (string | number)[] = ["body"]): ValidationItem[] {
  const findings = new Findings(at);
  if (value === undefined || value === null) findings.add([], "missing", "Field required");
  else if (typeof value !== "object" || Array.isArray(value)) {
    findings.add([], "model_attributes_type", "Input should be a valid dictionary or object to extract fields from");
  } else checkFields(kind, value as Record<string, unknown>, findings);
  return findings.items;
}

const IDENTIFIER: Field = { json: "string", term: "", description: "", required: false, nullable: false };

function checkFields(kind: Kind, body: Record<string, unknown>, findings: Findings): void {
  // Not a declared field, but the one additional property that the service reads.
  if (has(body, "@id")) checkValue(IDENTIFIER, body["@id"], ["@id"], findings, "");
  if (kind.loose) return;
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.computed) continue;
    if (has(body, name)) checkValue(field, body[name], [name], findings, field.ark ? arkExample(kind.name, name) : "");
    else if (field.required) findings.add([name], "missing", "Field required");
  }
}

/** Own keys only: a body may lack `constructor` and must not inherit it. */
function has(body: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(body, name) && body[name] !== undefined;
}
