import { ServiceError, ValidationError } from "../../errors.js";
import { arkKey, lookupArk, referencedArk } from "../../identifiers/ark.js";
import { withDefaults, withoutSecrets } from "../../model/defaults.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import type { RecordState, StoredRecord } from "../../stores/records/port.js";
import { authenticated, type Caller } from "../access/caller.js";
import { assertMayChange, assertMayChangeMembers, assertMayOwn } from "../access/rules.js";
import { accountToUpdate } from "../accounts/accounts.js";
import type { Deps } from "../deps.js";
import { withStoredContent } from "../files/stored-content.js";
import { changedBetween } from "./changed-between.js";
import { unlessChanged } from "./contention.js";
import { checked } from "./create.js";
import { describe, findLive, findRecord, gone, pathOf } from "./find.js";
import { reservedFields, withoutReserved } from "./reserved.js";
import { claimedState, ownerOf } from "./state.js";
import { refuseUnknownContexts } from "./stated.js";
import { parseDocument, viewOf, viewsOf, type RecordView } from "./view.js";

/**
 * The same where the path holds the identifier: of its own kind, whatever that is, or of the one asked for.
 * @throws as {@link replaceRecord}; ValidationError when the document names another record than the path
 */
export async function replaceRecordAt(deps: Deps, id: string, input: JsonValue | undefined, caller: Caller | null, options: { kind?: KindName; expectedRevision?: number | undefined } = {}): Promise<RecordView> {
  authenticated(caller);
  const path = lookupArk(id) ?? id;
  // Where the kind is known the body is judged first, as it is everywhere.
  if (options.kind !== undefined) checked(options.kind, input, ["body"], { path });
  const record = await findLive(deps, id, options.kind);
  return replaceRecord(deps, record.kind, input, caller, options.expectedRevision, path);
}

/**
 * Replaces the whole record that the document's `@id` names; absent fields fall back to their default or vanish.
 * @param path the identifier in the path, where that names the record
 * @param expectedRevision from If-Match or `expectedRevision`; `undefined` when the client did not ask
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `WRONG_KIND`, `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function replaceRecord(deps: Deps, kindName: KindName, input: JsonValue | undefined, caller: Caller | null, expectedRevision?: number, path?: string): Promise<RecordView> {
  const who = authenticated(caller);
  const kind = KINDS[kindName];
  const document = checked(kindName, input, ["body"], { path });
  const id = path ?? document["@id"];
  if (typeof id !== "string") throw new ValidationError([{ loc: ["body", "@id"], msg: "Field required", type: "missing" }]);

  return unlessChanged(id, expectedRevision, async () => {
    const record = await findRecord(deps, id);
    if (record.tombstone) throw gone(record);
    await assertMayChange(deps.records, who, record);
    if (record.kind !== kindName) throw new ServiceError("WRONG_KIND", `${record.ark} is ${describe(record.kind)}: send it to ${pathOf(record).replace(/\/ark:.*/, "") || "its own path"}.`);
    if (expectedRevision !== undefined && expectedRevision !== record.revision) throw mismatch(record, expectedRevision);
    refuseUnknownContexts(kind, document, () => parseDocument(record.document));
    const own = await withoutDerived(deps, record, withoutSecrets(kind, document));
    const stored = withDefaults(kind, own, record.ark);
    if (kindName !== "user") await assertOwnerAndMembers(deps, who, record, stored);
    const account = kindName === "user" ? await accountToUpdate(deps, record.ark, document) : undefined;
    const content = kindName === "datadownload" ? await withStoredContent(deps, record, stored) : undefined;
    const state = await withStoredFacts(deps, kind, record, content?.document ?? stored);
    await deps.records.commit({
      by: who.user, at: Date.now(),
      records: [{ op: "replace", ark: record.ark, ifRevision: record.revision, changed: await changedBetween(deps, record.document, state.document), ...state, ...ownerOfLoose(kind, record, state), ...(content ? { objects: content.objects } : {}) }],
      ...(account ? { account } : {}),
    });
    const [after] = await deps.records.findMany([record.ark]);
    return viewOf(deps, after!, who);
  });
}

/** The next state. Fields that only the registry fills in say what they say now, or nothing. */
async function withStoredFacts(deps: Deps, kind: Kind, record: StoredRecord, document: JsonObject): Promise<RecordState> {
  const claimed = await claimedState(deps, kind, record.ark, document, kind.loose, record.owner);
  if (claimed.reserved.length === 0 && reservedFields(kind).length === 0) return claimed.state;
  const quads = (await deps.records.quads(record.ark)) ?? "";
  return withoutReserved(kind, document, claimed, { document: parseDocument(record.document), quads, fromCrate: record.crate !== null });
}

export function mismatch(record: StoredRecord, expected: number): ServiceError {
  return new ServiceError("REVISION_MISMATCH", `${record.ark} is at revision ${record.revision}, not ${expected === 0 ? "at the one asked for" : expected}: read it again and repeat the change on what it says now.`, { revision: record.revision });
}

/** Ownership may be given to someone the caller could create for; members are changed by the owner or an administrator. */
async function assertOwnerAndMembers(deps: Deps, caller: Caller, record: StoredRecord, next: JsonObject): Promise<void> {
  const owner = ownerOf(next);
  if (owner !== null && (record.owner === null || arkKey(owner) !== arkKey(record.owner))) await assertMayOwn(deps.records, caller, owner);
  const members = (document: JsonObject) => JSON.stringify(document["members"] ?? []);
  if (!Object.hasOwn(KINDS[record.kind].fields, "members")) return;
  if (members(parseDocument(record.document)) !== members(next)) assertMayChangeMembers(caller, record);
}

/** What a crate brought belongs to its uploader without saying so; a new statement that does not say so either leaves it there. */
const ownerOfLoose = (kind: Kind, record: StoredRecord, state: RecordState): { owner: string | null } => ({ owner: kind.loose ? (state.owner ?? record.owner) : state.owner });

/** Derived entries that a client sends back as it read them are no statement of its own. */
async function withoutDerived(deps: Deps, record: StoredRecord, document: JsonObject): Promise<JsonObject> {
  const fields = Object.entries(KINDS[record.kind].fields).filter(([name, field]) => field.backlink && Array.isArray(document[name]));
  if (fields.length === 0 || record.newestBacklink === 0) return document;
  const stated = parseDocument(record.document);
  const [view] = await viewsOf(deps, [record], { user: record.ark, admin: true });
  const shown = parseDocument(view!.bytes);
  const own = { ...document };
  for (const [name] of fields) {
    const before = new Set(keys(stated[name]));
    const derived = new Set(keys(shown[name]).filter((key) => !before.has(key)));
    const left = (document[name] as JsonValue[]).filter((entry) => !derived.has(keyOf(entry)));
    // Nothing but derived entries came back: what was stated (null, say) is stated still.
    const untouched = left.length === 0 && left.length < (document[name] as JsonValue[]).length && before.size === 0;
    own[name] = untouched && Object.hasOwn(stated, name) ? stated[name]! : left;
  }
  return own;
}

const keyOf = (entry: JsonValue): string => {
  const ark = typeof entry === "string" ? referencedArk(entry) : undefined;
  return ark === undefined ? JSON.stringify(entry) : arkKey(ark);
};
const keys = (value: JsonValue | undefined): string[] => (Array.isArray(value) ? value.map(keyOf) : []);
