/** Changes of a record: by a patch, and back to an earlier revision. */
import { isDeepStrictEqual } from "node:util";
import { eventLoop } from "../../event-loop-budget.js";
import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, referencedArk } from "../../identifiers/ark.js";
import type { Field, JsonObject, JsonValue } from "../../model/field.js";
import { applyJsonPatch, mergePatch, readJsonPatch } from "../../model/json/patch.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { assertMayChange, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { checked } from "./create.js";
import { findLive } from "./find.js";
import { readRevision } from "./read.js";
import { mismatch, replaceFound, type ReplaceOptions, unlessChanged } from "./replace.js";
import { parseDocument, type RecordView, viewOf } from "./view.js";

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

/**
 * Changes parts of a record and leaves the rest. The patch applies to the record as the caller
 * reads it; the result goes the way of a whole replacement. A patch that changes nothing makes no
 * revision.
 * @param options.kind when the path or mutation names one
 * @throws ValidationError; ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `FORBIDDEN`,
 * `REVISION_MISMATCH`, `PATCH_CONFLICT`, `TOO_LARGE`
 */
export async function updateRecord(
  deps: Deps,
  ark: Ark,
  patch: RecordPatch,
  who: Caller,
  options: ReplaceOptions & { kind?: KindName | undefined } = {},
): Promise<RecordView> {
  const { kind: kindName, expectedRevision, attempts } = options;
  const change = changeOf(patch, deps);
  return unlessChanged(ark, expectedRevision, async () => {
    const record = await findLive(deps, ark, kindName);
    await assertMayChange(deps.records, who, record);
    if (expectedRevision !== undefined && expectedRevision !== record.revision)
      throw mismatch(record, expectedRevision);
    const { bytes } = await viewOf(deps, record, who);
    const before = parseDocument(bytes);
    await eventLoop.turnFor(bytes.length);
    // Parsed again: a JSON Patch changes the document that it is given.
    const start = "operations" in patch ? parseDocument(bytes) : before;
    const after = change(start, KINDS[record.kind]);
    assertFits(deps, record, after);
    await eventLoop.turnFor(bytes.length);
    const { document } = checked(record.kind, after, ["body"], {
      secretsStay: true,
      changed: before,
      broken: [
        ...identityProblems(KINDS[record.kind], before, after),
        ...lostSecrets(patch, record),
      ],
    });
    // What a caller reads may leave out what is stored: a stored answer about deleted records.
    if (isDeepStrictEqual(before, document)) return viewOf(deps, record, who);
    return replaceFound(deps, record, document, who, { patched: before, attempts });
  });
}

/** The patch as a function. @throws ValidationError when it is none */
function changeOf(
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

/** The contract has a string where a record names one dataset; several are a list. */
export const oneOrMany = (field: Field | undefined, value: JsonValue): JsonValue =>
  field?.json === "stringOrList" && field.link && Array.isArray(value) && value.length === 1
    ? value[0]!
    : value;

/** An entry is there once: an identifier counts in any spelling. */
function changedList(
  value: JsonValue | undefined,
  { add = [], remove = [] }: ListChange,
): JsonValue[] {
  const gone = new Set(remove.map(keyOf));
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  const left = list.filter((entry) => typeof entry !== "string" || !gone.has(keyOf(entry)));
  const there = new Set(left.map((entry) => (typeof entry === "string" ? keyOf(entry) : entry)));
  for (const entry of add) {
    if (there.has(keyOf(entry))) continue;
    there.add(keyOf(entry));
    left.push(entry);
  }
  return left;
}

const keyOf = (entry: string): string => referencedArk(entry)?.key ?? entry;

/**
 * A patched record may be no larger than a body, or than it was: else many small patches would make
 * a document of any size.
 */
function assertFits(
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
function identityProblems(kind: Kind, before: JsonObject, after: JsonValue): ValidationItem[] {
  // Another value is refused as no record at all.
  if (after === null || typeof after !== "object" || Array.isArray(after)) return [];
  const same = (name: string): boolean =>
    Object.hasOwn(before, name) === Object.hasOwn(after, name) &&
    isDeepStrictEqual(before[name], after[name]);
  const id = after["@id"];
  const sameId =
    same("@id") || (typeof id === "string" && keyOf(id) === keyOf(before["@id"] as string));
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
function lostSecrets(patch: RecordPatch, { kind }: StoredRecord): ValidationItem[] {
  const sent = "merge" in patch ? patch.merge : "fields" in patch ? patch.fields : undefined;
  if (sent === null || typeof sent !== "object" || Array.isArray(sent)) return [];
  return Object.entries(KINDS[kind].fields)
    .filter(([name, field]) => field.secret && Object.hasOwn(sent, name) && sent[name] === null)
    .map(([name]) => ({
      loc: ["body", name],
      msg: "Value error, it cannot be removed: leave it out, or send another",
      type: "value_error",
    }));
}

/**
 * Makes an earlier revision of a record its next one. The rules of today apply to it; a revision
 * that says what the record says now makes no new one.
 * @throws as `updateRecord`; ServiceError `NOT_FOUND` for a revision that there is not
 */
export async function restoreRevision(
  deps: Deps,
  ark: Ark,
  revision: number,
  who: Caller,
  expectedRevision?: number,
): Promise<RecordView> {
  await assertMayChange(deps.records, who, await findLive(deps, ark));
  const { bytes } = await readRevision(deps, ark, revision, who);
  const whole = { op: "replace", path: "", value: parseDocument(bytes) };
  return updateRecord(deps, ark, { operations: [whole] }, who, { expectedRevision });
}
