import type { JsonObject, JsonValue } from "../model/field.js";

const BLANK = /\s/;
const encode = (text: string): string => text.replace(/\s/g, encodeURIComponent);

/**
 * The document with blanks in keys and in `@id` percent-encoded: jsonld.js drops a term with a blank and tears
 * an id apart, although people write both. A context's terms are keys too, so that they still meet.
 * @param untouched keys of the first level whose values are JSON literals, not JSON-LD
 */
export function encodeBlanks(document: JsonObject, untouched: (key: string) => boolean): JsonObject {
  return members(document, (key, value) => (untouched(key) ? value : encoded(value)));
}

function encoded(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(encoded);
  if (value === null || typeof value !== "object") return value;
  return members(value, (key, member) => (key === "@value" ? member : encoded(member)));
}

function members(object: JsonObject, map: (key: string, value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [
    BLANK.test(key) ? encode(key) : key, key === "@id" && typeof value === "string" && BLANK.test(value) ? encode(value) : map(key, value),
  ]));
}
