import type { JsonObject, JsonValue } from "../model/field.js";
import { keepContext, keepKey, keepType } from "./keep-terms.js";

const BLANK = /\s/;
const encode = (text: string): string => text.replace(/\s/g, encodeURIComponent);

/**
 * The document as the JSON-LD processor keeps all of it. Blanks in keys and in `@id` are percent-encoded: jsonld.js
 * drops a term with a blank and tears an id apart, although people write both. A context's terms are keys too, so
 * that they still meet. Terms without a meaning get one; see {@link keepContext} and {@link keepKey}.
 * @param untouched keys of the first level whose values are JSON literals, not JSON-LD
 */
export function keepAll(document: JsonObject, untouched: (key: string) => boolean): JsonObject {
  return members(document, (key, value) => (untouched(key) ? value : key === "@context" ? encodedContext(value) : key === "@type" ? encodedTypes(value) : encoded(value)));
}

const encodedContext = (context: JsonValue): JsonValue => keepContext(encodedTerms(context));

/** Contexts have keywords of their own, and their terms. */
function encodedTerms(context: JsonValue): JsonValue {
  if (Array.isArray(context)) return context.map(encodedTerms);
  if (context === null || typeof context !== "object") return context;
  return Object.fromEntries(Object.entries(context).map(([key, value]) => [BLANK.test(key) ? encode(key) : key, encodedTerms(value)]));
}

function encodedTypes(types: JsonValue): JsonValue {
  if (Array.isArray(types)) return types.map(encodedTypes);
  return typeof types === "string" ? keepType(types) : encoded(types);
}

function encoded(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(encoded);
  if (value === null || typeof value !== "object") return value;
  return members(value, (key, member) => (key === "@value" ? member : key === "@context" ? encodedContext(member) : key === "@type" ? encodedTypes(member) : encoded(member)));
}

function members(object: JsonObject, map: (key: string, value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [
    BLANK.test(key) ? encode(key) : key.startsWith("@") ? keepKey(key) : key, key === "@id" && typeof value === "string" && BLANK.test(value) ? encode(value) : map(key, value),
  ]));
}
