import { invalid } from "../../errors.js";
import { expandCurie, type JsonObject } from "../../model/field.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import type { RecordState } from "../../stores/records/port.js";
import { unpackQuads } from "../../stores/records/quads-codec.js";

/** A state that a document comes to, with the lines of its quads that are for the registry alone to state. */
export interface ClaimedState { state: RecordState; reserved: readonly string[] }

/** Names of the fields of a kind that only the registry fills in. */
export const reservedFields = (kind: Kind): string[] => Object.keys(kind.fields).filter((name) => kind.fields[name]!.reserved);

const TERMS = [...new Set(Object.values(KINDS).flatMap((kind) => reservedFields(kind).map((name) => expandCurie(kind.fields[name]!.term))))];
const PROPERTY = /^(?:<[^>]*>|_:\S+) <([^>]*)> /;

/** Statements of such fields, whatever a document calls them. */
export function reservedIn(quads: string): string[] {
  if (!TERMS.some((term) => quads.includes(term))) return [];
  return quads.split("\n").filter((line) => TERMS.includes(PROPERTY.exec(line)?.[1] ?? ""));
}

/** The quads without these lines. */
export function withoutLines(quads: string, lines: readonly string[]): string;
export function withoutLines(quads: RecordState["quads"], lines: readonly string[]): RecordState["quads"];
export function withoutLines(quads: RecordState["quads"], lines: readonly string[]): RecordState["quads"] {
  if (lines.length === 0) return quads;
  const dropped = new Set(lines);
  return textOf(quads).split("\n").filter((line) => !dropped.has(line)).join("\n");
}

/** As text; those of large documents come packed. */
export const textOf = (quads: RecordState["quads"]): string => (typeof quads === "string" ? quads : unpackQuads(quads));

const refused = (name: string, stored: boolean): Error => invalid(
  ["body", name], `Value error, only a run of the computation in this registry fills containerDigest in: ${stored ? "send back what is stored, or " : ""}leave it out`,
);

/** The state that a client's document comes to is about to replace this one. */
interface Before { document: JsonObject; quads: string; fromCrate: boolean }

/**
 * Refuses what a client states of fields that only the registry fills in. What is stored may be sent back; a value that
 * a crate brought stays in the document, and is no statement.
 * @throws ValidationError
 */
export function withoutReserved(kind: Kind, document: JsonObject, { state, reserved }: ClaimedState, before?: Before): RecordState {
  for (const name of reservedFields(kind)) {
    if (Object.hasOwn(document, name) && document[name] !== before?.document[name]) throw refused(name, before !== undefined);
  }
  const stored = new Set(before ? reservedIn(before.quads) : []);
  const added = reserved.filter((line) => !stored.has(line));
  if (added.length === 0) return state;
  if (!before?.fromCrate) throw refused(Object.keys(document).find((name) => /[:#]containerDigest$/.test(name)) ?? "@context", before !== undefined);
  return { ...state, quads: withoutLines(state.quads, added) };
}
