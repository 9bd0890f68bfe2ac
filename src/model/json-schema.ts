/** What clients may send of a kind: the JSON Schema of its documents, and their defaults. */
import type { Field, JsonObject, JsonValue } from "./field.js";
import type { Kind } from "./kind.js";

/** A JSON Schema of the 2020-12 dialect. */
type JsonSchema = { [keyword: string]: JsonValue };

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
function fieldSchema(field: Field): JsonSchema {
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

/**
 * A client's body in the form that is validated and stored: an owner in the compact form (`{"@id":
 * …}`) becomes its identifier, and fields that only the service fills in are left out. A value that
 * is no object is returned unchanged.
 */
export function normalizeInput(kind: Kind, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const computed = Object.keys(value).some((name) => fieldOf(kind, name)?.computed);
  const owner =
    fieldOf(kind, "owner") && Object.hasOwn(value, "owner")
      ? compactId((value as JsonObject)["owner"])
      : undefined;
  if (!computed && owner === undefined) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !fieldOf(kind, name)?.computed)
      .map(([name, member]) => [name, name === "owner" && owner !== undefined ? owner : member]),
  );
}

/**
 * The document with the kind's defaults for absent keys, after what the client sent; an absent
 * `@context` or `@id` goes first.
 * @param id stored form of the identifier; takes the place of the spelling that the client sent
 */
export function withDefaults(kind: Kind, document: JsonObject, id?: string): JsonObject {
  const missing = defaultsOf(kind).filter(([name]) => !Object.hasOwn(document, name));
  const context = missing.find(([name]) => name === "@context")?.[1];
  const whole = headed(
    document,
    context && copyOf(context),
    Object.hasOwn(document, "@id") ? undefined : id,
  );
  // A value that the client sent stays in its place.
  if (id !== undefined) whole["@id"] = id;
  for (const [name, value] of missing) if (name !== "@context") whole[name] = copyOf(value);
  return whole;
}

/**
 * Literals that end with a spread: one with members after the spread takes ten times as long, in
 * every write.
 */
function headed(
  document: JsonObject,
  context: JsonValue | undefined,
  id: string | undefined,
): JsonObject {
  if (context === undefined) return id === undefined ? { ...document } : { "@id": id, ...document };
  return id === undefined
    ? { "@context": context, ...document }
    : { "@context": context, "@id": id, ...document };
}

const defaults = new WeakMap<Kind, [name: string, value: JsonValue][]>();
/** The kind's fields with a default; read for each record that is written. */
function defaultsOf(kind: Kind): readonly [name: string, value: JsonValue][] {
  let known = defaults.get(kind);
  if (!known)
    defaults.set(
      kind,
      (known = Object.entries(kind.fields).flatMap(
        ([name, { default: value }]): [string, JsonValue][] =>
          value === undefined ? [] : [[name, value]],
      )),
    );
  return known;
}

/** structuredClone would take longer than all else here. */
function copyOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copyOf);
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]))
    : value;
}

/** The document without the field that is never stored or answered: a password. */
export function withoutSecrets(kind: Kind, document: JsonObject): JsonObject {
  if (!Object.keys(document).some((name) => fieldOf(kind, name)?.secret)) return document;
  return Object.fromEntries(
    Object.entries(document).filter(([name]) => !fieldOf(kind, name)?.secret),
  );
}

/** The declared field of that name; `constructor` and `__proto__` are names like any other. */
function fieldOf(kind: Kind, name: string): Field | undefined {
  return Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
}

function compactId(owner: JsonValue | undefined): string | undefined {
  if (
    typeof owner !== "object" ||
    owner === null ||
    Array.isArray(owner) ||
    !Object.hasOwn(owner, "@id")
  )
    return undefined;
  const id = owner["@id"];
  return typeof id === "string" ? id : undefined;
}
