import type { Field, JsonObject, JsonValue } from "./field.js";
import type { Kind } from "./kind.js";

/** A JSON Schema of the 2020-12 dialect. */
export type JsonSchema = { [keyword: string]: JsonValue };

/**
 * What an ARK-typed field must contain. Searched unanchored as the contract's `ark[0-9]{5}/.*` is,
 * so all that the contract accepts passes; the colon and the old slash are optional, so real ARKs
 * and resolver URLs pass too.
 */
export const ARK_PATTERN = "ark:?/?[0-9]{5,}/.*";

const TIME = "[Tt ]([0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?|[0-9]{4}([0-9]{2}([.,][0-9]+)?)?)";
const ZONE = "([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)";
/**
 * Form of a date or date-time (RFC 3339, ISO 8601 calendar dates); that the day exists is checked
 * beside it. No group is `(?:`, which SPARQL's regular expressions (and so SHACL's) do not know.
 */
export const DATE_PATTERN = `^([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})(${TIME}${ZONE}?)?$`;

/**
 * Schema of the body that creates or replaces a record: additional properties are welcome, secrets
 * are part of it, fields that only the service fills in are not.
 */
export function inputSchema(kind: Kind): JsonSchema {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.computed) continue;
    properties[name] = kind.loose ? { description: field.description } : fieldSchema(field);
    if (field.required && !kind.loose) required.push(name);
  }
  return objectSchema(kind, properties, required);
}

/**
 * Schema of a record in an answer: defaults are filled in, secrets are never there, fields that
 * only its owner may see may be absent.
 */
export function recordSchema(kind: Kind): JsonSchema {
  const properties: JsonObject = {
    "@id": { type: "string", description: "Identifier of the record: an ARK in its stored form." },
  };
  const required = ["@id"];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.secret) continue;
    properties[name] = kind.loose ? { description: field.description } : fieldSchema(field);
    if (!kind.loose && !field.private && (field.required || field.default !== undefined))
      required.push(name);
  }
  return objectSchema(kind, properties, required);
}

function objectSchema(kind: Kind, properties: JsonObject, required: string[]): JsonSchema {
  return {
    title: kind.typeName,
    description: kind.description,
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    properties,
    additionalProperties: true,
  };
}

/** Schema of one field's value. */
export function fieldSchema(field: Field): JsonSchema {
  return {
    description: field.description,
    ...typeSchema(field),
    ...(field.default === undefined ? {} : { default: structuredClone(field.default) }),
    ...(field.secret ? { writeOnly: true } : {}),
    ...(field.computed ? { readOnly: true } : {}),
  };
}

function typeSchema(field: Field): JsonSchema {
  const type = (name: string): JsonValue => (field.nullable ? [name, "null"] : name);
  switch (field.json) {
    case "string":
      return { type: type("string"), ...textLimits(field) };
    case "types":
      return field.const === undefined
        ? { type: type("string") }
        : { type: "string", const: field.const };
    case "stringList":
      return { type: type("array"), items: { type: "string", ...textLimits(field) } };
    case "stringOrList":
      return {
        anyOf: [
          { type: "string" },
          { type: "array", items: { type: "string" } },
          ...(field.nullable ? [{ type: "null" }] : []),
        ],
      };
    case "list":
      return { type: type("array"), items: {} };
    case "object":
      return { type: type("object") };
    case "stringMap":
      return { type: type("object"), additionalProperties: { type: "string" } };
    case "boolean":
      return { type: type("boolean") };
  }
}

function textLimits(field: Field): JsonSchema {
  return {
    ...(field.minLength === undefined ? {} : { minLength: field.minLength }),
    ...(field.maxLength === undefined ? {} : { maxLength: field.maxLength }),
    ...(field.ark ? { pattern: ARK_PATTERN } : {}),
    ...(field.date ? { pattern: DATE_PATTERN } : {}),
    ...(field.const === undefined ? {} : { const: field.const }),
  };
}
