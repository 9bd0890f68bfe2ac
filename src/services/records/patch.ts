/** What a patch makes of a record's document. */
import { isDeepStrictEqual } from "node:util";
import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import {
  type Field,
  isObject,
  type JsonObject,
  type JsonValue,
  listOf,
} from "../../model/field.js";
import { applyJsonPatch, mergePatch, readJsonPatch } from "../../model/json/patch.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { entryKey } from "./view.js";

/** Entries that come to a list, and entries that leave it. */
export interface ListChange {
  add?: readonly string[];
  remove?: readonly string[];
}

/** What a client wants to be different, in one of three forms. */
export type RecordPatch =
  /** JSON Merge Patch (RFC 7396). */
  | { merge: JsonValue | undefined }
  /** JSON Patch (RFC 6902). */
  | { operations: JsonValue | undefined }
  /**
   * Fields by name: null clears, other values replace. `more` is a merge patch of the members that
   * the kind does not declare.
   */
  | { fields: JsonObject; lists: Readonly<Record<string, ListChange>>; more: JsonObject };

/** The patch as a function. @throws ValidationError when it is none */
export function patchFunction(
  patch: RecordPatch,
  { config }: Pick<Deps, "config">,
): (document: JsonObject, kind: Kind) => JsonValue {
  if ("merge" in patch) {
    const { merge } = patch;
    if (merge === undefined)
      throw new ValidationError([{ loc: ["body"], msg: "Field required", type: "missing" }]);
    return (document) => mergePatch(document, merge);
  }
  if ("operations" in patch) {
    const operations = readJsonPatch(patch.operations, config.MAX_JSON_DEPTH);
    const limits = {
      maxDepth: config.MAX_JSON_DEPTH,
      maxValues: config.MAX_JSON_VALUES,
      // What is added may be removed again.
      maxCharacters: 2 * config.MAX_BODY_BYTES,
    };
    return (document) => applyJsonPatch(document, operations, limits);
  }
  return (document, kind) => withFields(document, kind, patch);
}

function withFields(
  document: JsonObject,
  kind: Kind,
  { fields, lists, more }: Extract<RecordPatch, { fields: JsonObject }>,
): JsonObject {
  const members = new Map(Object.entries(document));
  for (const [name, value] of Object.entries(fields)) {
    const field = kind.fields[name];
    if (value !== null) members.set(name, oneOrMany(field, value));
    // Where null means "nothing", it is what is stored; elsewhere the member goes.
    else if (field?.nullable) members.set(name, null);
    else members.delete(name);
  }
  for (const [name, change] of Object.entries(lists))
    members.set(name, oneOrMany(kind.fields[name], changedList(members.get(name), change)));
  return mergePatch(Object.fromEntries(members), more) as JsonObject;
}

/** The contract has a string where a record has one type or names one dataset; several are a list. */
export function oneOrMany(field: Field | undefined, value: JsonValue): JsonValue {
  const mayBeString = field?.json === "types" || (field?.json === "stringOrList" && field.link);
  const [first, ...others] = mayBeString && Array.isArray(value) ? value : [];
  return first !== undefined && others.length === 0 ? first : value;
}

/** An entry is there once: an identifier counts in any spelling. */
function changedList(
  value: JsonValue | undefined,
  { add = [], remove = [] }: ListChange,
): JsonValue[] {
  const removed = new Set(remove.map(entryKey));
  const list = listOf(value).filter((entry) => !removed.has(entryKey(entry)));
  const present = new Set(list.map(entryKey));
  for (const entry of add) {
    if (present.has(entryKey(entry))) continue;
    present.add(entryKey(entry));
    list.push(entry);
  }
  return list;
}

/**
 * A patched record may be no larger than a body, or than it was: else many small patches would make
 * a document of any size.
 */
export function assertFits(
  { config }: Pick<Deps, "config">,
  record: StoredRecord,
  after: JsonValue,
): void {
  const most = Math.max(config.MAX_BODY_BYTES, record.document.length);
  if (Buffer.byteLength(JSON.stringify(after)) > most)
    throw new ServiceError(
      "TOO_LARGE",
      `The patched record would be larger than ${config.MAX_BODY_BYTES} bytes (MAX_BODY_BYTES). ` +
        "Add less.",
    );
}

/** A patch keeps what the record is: its identifier and its type. */
export function identityProblems(
  kind: Kind,
  before: JsonObject,
  after: JsonValue,
): ValidationItem[] {
  // Another value is refused as no record at all.
  if (!isObject(after)) return [];
  const same = (name: string): boolean =>
    Object.hasOwn(before, name) === Object.hasOwn(after, name) &&
    isDeepStrictEqual(before[name], after[name]);
  const id = after["@id"];
  const sameId =
    same("@id") || (typeof id === "string" && entryKey(id) === entryKey(before["@id"]));
  // A crate may have stated another type than the kind demands of clients: they may set it right.
  const sameType =
    same("@type") ||
    (after["@type"] !== undefined && after["@type"] === kind.fields["@type"]?.const);
  const stays = (name: string, what: string): ValidationItem => ({
    loc: ["body", name],
    msg: `Value error, a patch cannot change or remove the ${what} of a record: leave ${name} out`,
    type: "value_error",
  });
  return [
    ...(sameId ? [] : [stays("@id", "identifier")]),
    ...(sameType ? [] : [stays("@type", "type")]),
  ];
}

/** Secrets are not in the document that the patch applies to, so their removal would be lost. */
export function lostSecrets(patch: RecordPatch, { kind }: StoredRecord): ValidationItem[] {
  const sent = "merge" in patch ? patch.merge : "fields" in patch ? patch.fields : undefined;
  if (!isObject(sent)) return [];
  return Object.entries(KINDS[kind].fields)
    .filter(([name, field]) => field.secret && Object.hasOwn(sent, name) && sent[name] === null)
    .map(([name]) => ({
      loc: ["body", name],
      msg: "Value error, it cannot be removed: leave it out, or send another",
      type: "value_error",
    }));
}
