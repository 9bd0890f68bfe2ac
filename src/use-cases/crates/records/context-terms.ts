import type { JsonObject, JsonValue } from "../../../model/field.js";
import { bundledTerms } from "../../../rdf/contexts.js";
import { isObject, listOf } from "../json-path.js";

/** What the service's own additions to a document mean, where the crate's context does not say. */
export const ADDED_TERMS: Readonly<Record<string, string>> = {
  sha256: "https://schema.org/sha256",
  contentSize: "https://schema.org/contentSize",
  contentUrl: "https://schema.org/contentUrl",
  sourceContentUrl: "https://w3id.org/EVI#sourceContentUrl",
  sameAs: "https://schema.org/sameAs",
};

/** Definitions of those of `keys` that no context explains, or undefined when all are explained. */
export function missingTerms(keys: Iterable<string>, contexts: readonly (JsonValue | undefined)[]): JsonObject | undefined {
  const missing = [...keys].filter((key) => Object.hasOwn(ADDED_TERMS, key) && !contexts.some((context) => listOf(context).some((part) => defines(part, key))));
  return missing.length === 0 ? undefined : Object.fromEntries(missing.map((key) => [key, ADDED_TERMS[key]!]));
}

function defines(context: JsonValue, term: string): boolean {
  if (typeof context === "string") return listOf(bundledTerms(context)).some((part) => typeof part === "object" && defines(part, term));
  return isObject(context) && (Object.hasOwn(context, term) || typeof context["@vocab"] === "string");
}
