import type { JsonObject, JsonValue } from "../../model/field.js";

/** One step of a JSON pointer (RFC 6901). */
export const step = (key: string | number): string => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

export const isObject = (value: JsonValue | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
export const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);

/** Identifiers that a value refers to: texts, and `@id` of objects. */
export function referencesIn(value: JsonValue | undefined): string[] {
  return listOf(value).flatMap((item) => (typeof item === "string" ? [item] : isObject(item) && typeof item["@id"] === "string" ? [item["@id"]] : []));
}

/** An object like this one whose values may be changed; a key `__proto__` stays a key. */
export const objectFrom = (entries: Iterable<readonly [string, JsonValue]>): JsonObject => Object.fromEntries(entries) as JsonObject;
