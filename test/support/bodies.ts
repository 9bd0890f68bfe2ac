import { EXAMPLES } from "../../src/model/examples.js";
import type { JsonValue } from "../../src/model/field.js";
import type { JsonObject } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";

/**
 * Kinds that clients create, replace and delete over one path each; users have rules of their own.
 */
export const WRITABLE = [
  "group",
  "organization",
  "project",
  "software",
  "dataset",
  "computation",
  "evidencegraph",
  "schema",
] as const satisfies readonly KindName[];

let counter = 0;
/** A body of the kind that the service accepts, under an identifier that no other test uses. */
export function bodyOf(kind: KindName, owner: string, more: JsonObject = {}): JsonObject {
  const { members: _members, ...example } = EXAMPLES[kind];
  return { ...example, "@id": `ark:99999/test-${kind}-${++counter}`, owner, ...more };
}

/** The same without `@id`, so that one is minted. */
export function unnamed(kind: KindName, owner: string, more: JsonObject = {}): JsonObject {
  const { "@id": _id, ...body } = bodyOf(kind, owner, more);
  return body;
}

/** The command of a computation as GraphQL takes it: a line for the shell, or arguments. */
export const commandOf = (command: JsonValue): JsonValue =>
  command === null ? null : { [Array.isArray(command) ? "list" : "text"]: command };
