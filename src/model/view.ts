import type { Field, JsonObject } from "./field.js";
import type { Kind } from "./kind.js";

/** True for fields that anyone may see. */
export const isPublic = (field: Field): boolean => !field.secret && !field.private;

/** What of a document anyone may see: resolver, lists, graph, search and GraphQL show no more than this. */
export function publicView(kind: Kind, document: JsonObject): JsonObject {
  if (isOpen(kind)) return document;
  // Keys are the client's: `constructor` and `__proto__` must find no field and must not set a prototype.
  return Object.fromEntries(Object.entries(document).filter(([name]) => isPublicName(kind, name)));
}

const open = new WeakMap<Kind, boolean>();
/** Whether everything a record of the kind says is public: asked for each record that is shown. */
function isOpen(kind: Kind): boolean {
  let known = open.get(kind);
  if (known === undefined) open.set(kind, (known = !kind.closed && Object.values(kind.fields).every(isPublic)));
  return known;
}

/** True when anyone may see what a document says under this name. */
export function isPublicName(kind: Kind, name: string): boolean {
  if (name === "@id") return true;
  const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  return field ? isPublic(field) : !kind.closed;
}
