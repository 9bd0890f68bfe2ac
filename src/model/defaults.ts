import type { Field, JsonObject, JsonValue } from "./field.js";
import type { Kind } from "./kind.js";

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
