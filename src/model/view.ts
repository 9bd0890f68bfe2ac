import type { Field, JsonObject } from "./field.js";
import type { Kind } from "./kind.js";

/** True for fields that anyone may see. */
export const isPublic = (field: Field): boolean => !field.secret && !field.private;

/** What of a document anyone may see: resolver, lists, graph, search and GraphQL show no more than this. */
export function publicView(kind: Kind, document: JsonObject): JsonObject {
  if (!Object.values(kind.fields).some((field) => !isPublic(field)) && !kind.closed) return document;
  const view: JsonObject = {};
  for (const [name, value] of Object.entries(document)) {
    const field = kind.fields[name];
    if (name === "@id" || (field ? isPublic(field) : !kind.closed)) view[name] = value;
  }
  return view;
}
