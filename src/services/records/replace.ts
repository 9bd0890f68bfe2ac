/** A record's next revision, with the checks that every change goes through. */
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ServiceError, ValidationError } from "../../errors.js";
import { type Ark, arkKey, referencedArk, sameArk } from "../../identifiers/ark.js";
import { EntityIds } from "../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { withDefaults, withoutSecrets } from "../../model/json-schema.js";
import { step } from "../../model/json/pointer.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { linksByUrl, urlsIn } from "../../rdf/url-links.js";
import type {
  ObjectReference,
  RecordState,
  RecordWrite,
  StoredRecord,
} from "../../storage/records/port.js";
import {
  assertMayChange,
  assertMayChangeMembers,
  assertMayOwn,
  type Caller,
} from "../access/rules.js";
import { packLinks, unpackLinks, unpackQuads } from "../../storage/records/codecs.js";
import { accountToUpdate, type Attempts } from "../accounts/accounts.js";
import type { Deps } from "../deps.js";
import { withStoredContent } from "./stored-content.js";
import { checked, claimedState, ownerOf, stateOf } from "./create.js";
import { describe, findLive, findRecord, gone, pathOf } from "./find.js";
import { refuseUnknownContexts, reservedFields, withoutReserved } from "./reserved.js";
import { parseDocument, type RecordView, viewOf, viewsOf } from "./view.js";

/**
 * JSON pointers (RFC 6901) of the members that differ between two documents, at the first level.
 */
export function changedPointers(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter(
      (name) =>
        Object.hasOwn(before, name) !== Object.hasOwn(after, name) ||
        !isDeepStrictEqual(before[name], after[name]),
    )
    .map(step);
}

/** Size of two documents, in bytes, that the serving thread compares itself. */
const MAX_COMPARED_BYTES = 64 * 2 ** 10;

/** {@link changedPointers} of two stored documents; large ones are compared in another thread. */
export async function changedBetween(
  { documents }: Pick<Deps, "documents">,
  before: Uint8Array,
  after: Uint8Array,
): Promise<string[]> {
  if (before.length + after.length <= MAX_COMPARED_BYTES)
    return changedPointers(parseDocument(before), parseDocument(after));
  const copies = { before: new Uint8Array(before), after: new Uint8Array(after) };
  return documents.ask("changed", copies, [copies.before, copies.after]);
}

/**
 * Most attempts after conflicts with writes of other nodes, of a crate's commit and of clients that
 * name a revision; then the answer is the conflict itself.
 */
const RACES = 20;
/**
 * Longest pause after a conflict, in milliseconds; drawn at random each time, so that two nodes do
 * not collide repeatedly.
 */
const PAUSE = 10;
/**
 * How long a write waits in the queue, in milliseconds; then it runs without its turn, because
 * otherwise an unavailable store would make each write wait for all before it.
 */
const PATIENCE = 1000;

/** The last waiting write, by key of the identifier. */
const lines = new Map<string, Promise<void>>();

/**
 * Runs a write whose decision depends on what it read, and runs it again when another write came
 * between. A client that named the revision it knows gets an error instead. Writes to one record
 * are queued in this process: no number of simultaneous writes can make one of them fail.
 * @param attempt reads, decides and commits
 * @throws what `attempt` throws
 */
export async function unlessChanged<T>(
  ark: Ark,
  expectedRevision: number | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  if (expectedRevision !== undefined)
    return attempt().catch((error: unknown) =>
      isDeletedMeanwhile(error) ? attempt() : Promise.reject(error),
    );
  return inLine(ark.key, async () => {
    for (let race = 1; ; race++) {
      try {
        return await attempt();
      } catch (error) {
        if (
          race === RACES ||
          !(error instanceof ServiceError) ||
          !(error.code === "REVISION_MISMATCH" || isDeletedMeanwhile(error))
        )
          throw error;
        await pause(Math.random() * PAUSE);
      }
    }
  });
}

/**
 * The store refused to change a deleted record: the next read reports when and by whom it was
 * deleted.
 */
const isDeletedMeanwhile = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === "GONE" && !("deletedAt" in error.extra);

async function atMost(milliseconds: number, ended: Promise<void>): Promise<void> {
  const clock = new AbortController();
  await Promise.race([
    ended,
    pause(milliseconds, undefined, { signal: clock.signal }).catch(() => undefined),
  ]).finally(() => clock.abort());
}

async function inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = lines.get(key);
  let leave!: () => void;
  const mine = new Promise<void>((resolve) => (leave = resolve));
  lines.set(key, mine);
  try {
    if (before) await atMost(PATIENCE, before);
    return await work();
  } finally {
    if (lines.get(key) === mine) lines.delete(key);
    leave();
  }
}

export interface ReplaceOptions {
  /** From If-Match or `expectedRevision`; `undefined` when the client named none. */
  expectedRevision?: number | undefined;
  /** For users: counts guesses of secrets. */
  attempts?: Attempts | undefined;
}

/**
 * The same where the path holds the identifier: for the record's own kind, or for the kind that the
 * path names.
 * @throws as {@link replaceRecord}; ValidationError when the document names another record than the
 * path
 */
export async function replaceRecordAt(
  deps: Deps,
  path: Ark,
  input: JsonValue | undefined,
  who: Caller,
  options: ReplaceOptions & { kind?: KindName } = {},
): Promise<RecordView> {
  // Where the kind is known the body is validated first, as everywhere.
  if (options.kind !== undefined) checked(options.kind, input, ["body"], { path });
  const record = await findLive(deps, path, options.kind);
  return replaceRecord(deps, record.kind, input, who, { ...options, path });
}

/**
 * Replaces the whole record that the document's `@id` names; absent fields get their default or are
 * removed.
 * @param options.path the identifier in the path, where that names the record
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `WRONG_KIND`, `FORBIDDEN`,
 * `REVISION_MISMATCH`
 */
export async function replaceRecord(
  deps: Deps,
  kindName: KindName,
  input: JsonValue | undefined,
  who: Caller,
  { expectedRevision, attempts, path }: ReplaceOptions & { path?: Ark } = {},
): Promise<RecordView> {
  const { document, ark: named } = checked(kindName, input, ["body"], { path });
  const ark = path ?? named;
  if (!ark)
    throw new ValidationError([{ loc: ["body", "@id"], msg: "Field required", type: "missing" }]);

  return unlessChanged(ark, expectedRevision, async () => {
    const record = await findRecord(deps, ark);
    if (record.tombstone) throw gone(record);
    await assertMayChange(deps.records, who, record);
    if (record.kind !== kindName)
      throw new ServiceError(
        "WRONG_KIND",
        `${record.ark} is ${describe(record.kind)}: send it to ` +
          `${pathOf(record).replace(/\/ark:.*/, "") || "its own path"}.`,
      );
    if (expectedRevision !== undefined && expectedRevision !== record.revision)
      throw mismatch(record, expectedRevision);
    return replaceFound(deps, record, document, who, { attempts });
  });
}

/**
 * Stores a document as the next state of a record. {@link checked} has accepted the document, and
 * the caller may change the record.
 * @param options.patched the document that the caller changed in part, where it was read for this
 * write. What is a crate's record stays one then: its own context defines its terms, it gets no
 * defaults, and it belongs to its uploader without stating so
 * @throws ValidationError; ServiceError `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function replaceFound(
  deps: Deps,
  record: StoredRecord,
  document: JsonObject,
  who: Caller,
  { patched, attempts }: { patched?: JsonObject; attempts?: Attempts | undefined } = {},
): Promise<RecordView> {
  const ofCrate = patched !== undefined && record.crate !== null;
  const kind = KINDS[record.kind];
  refuseUnknownContexts(kind, document, () => parseDocument(record.document));
  const own = await withoutDerived(deps, record, withoutSecrets(kind, document), patched);
  const stored = ofCrate ? own : withDefaults(kind, own, record.ark);
  const owner = kind.name === "user" ? null : ownerOf(stored);
  if (kind.name !== "user") await assertOwnerAndMembers(deps, who, record, stored, owner);
  const account =
    kind.name === "user"
      ? await accountToUpdate(deps, record.ark, document, who, attempts)
      : undefined;
  const content =
    kind.name === "datadownload" ? await withStoredContent(deps, record, stored) : undefined;
  const state = await withStoredFacts(deps, kind, record, content?.document ?? stored, {
    owner,
    fromCrate: kind.loose === true || ofCrate,
  });
  await deps.records.commit({
    by: who.user,
    at: Date.now(),
    records: [
      {
        op: "replace",
        ark: record.ark,
        ifRevision: record.revision,
        changed: await changedBetween(deps, record.document, state.document),
        ...state,
        ...(kind.loose || ofCrate ? { owner: state.owner ?? record.owner } : {}),
        ...(content ? { objects: content.objects } : {}),
      },
    ],
    ...(account ? { account } : {}),
  });
  const [after] = await deps.records.findMany([record.ark]);
  return viewOf(deps, after!, who);
}

/** The next state. Fields that only the registry sets keep their current values, or stay absent. */
async function withStoredFacts(
  deps: Deps,
  kind: Kind,
  record: StoredRecord,
  document: JsonObject,
  { owner, fromCrate }: { owner: Ark | null; fromCrate: boolean },
): Promise<RecordState> {
  const claimed = await claimedState(deps, kind, record.ark, document, {
    fromCrate,
    owner,
    ownerBefore: record.owner,
  });
  if (claimed.reserved.length === 0 && reservedFields(kind).length === 0)
    return withUrlLinks(deps, record, claimed.state);
  const quads = (await deps.records.quads(record.ark)) ?? "";
  return withUrlLinks(
    deps,
    record,
    withoutReserved(kind, document, claimed, {
      document: parseDocument(record.document),
      quads,
      fromCrate: record.crate !== null,
    }),
  );
}

/** URLs of one record that are looked up among the entities of its crate. */
const MOST_URLS = 1000;
/** Statements that this thread unpacks for them, in bytes. */
const MOST_PACKED = 2 ** 20;

/** The state with links to the records of its crate that it names by URLs. */
async function withUrlLinks(
  { records }: Pick<Deps, "records">,
  { ark, kind, crate: holder }: StoredRecord,
  state: RecordState,
): Promise<RecordState> {
  const crate = holder ?? (kind === "rocrate" ? ark : null);
  if (crate === null || state.quads.length > MOST_PACKED) return state;
  const quads = typeof state.quads === "string" ? state.quads : unpackQuads(state.quads);
  const urls = urlsIn(quads, ark).slice(0, MOST_URLS);
  if (urls.length === 0) return state;
  const ids = new EntityIds(crate);
  const arks = new Map(
    urls.flatMap((url) => {
      const entity = ids.of(url, "");
      return entity.rule === "url" ? [[url, entity.ark] as const] : [];
    }),
  );
  const holders = await records.holders([...arks.values()].map(arkKey));
  const held = new Set(holders.flatMap((one) => (one.deleted ? [] : [one.ark])));
  const links = linksByUrl(quads, ark, (url) => {
    const target = arks.get(url);
    return target !== undefined && held.has(target) ? target : undefined;
  });
  return links.length === 0
    ? state
    : { ...state, links: packLinks([...unpackLinks(state.links), ...links]) };
}

export function mismatch(record: StoredRecord, expected: number): ServiceError {
  return new ServiceError(
    "REVISION_MISMATCH",
    `${record.ark} is at revision ${record.revision}, not ` +
      `${expected === 0 ? "at the one asked for" : expected}: read it again and repeat the ` +
      "change on its current version.",
    { revision: record.revision },
  );
}

/**
 * The new owner must be one that the caller could create records for; only the owner or an
 * administrator changes members.
 */
async function assertOwnerAndMembers(
  deps: Deps,
  caller: Caller,
  record: StoredRecord,
  next: JsonObject,
  owner: Ark | null,
): Promise<void> {
  if (owner && (record.owner === null || !sameArk(owner.stored, record.owner)))
    await assertMayOwn(deps.records, caller, owner);
  const members = (document: JsonObject) => JSON.stringify(document["members"] ?? []);
  if (!Object.hasOwn(KINDS[record.kind].fields, "members")) return;
  if (members(parseDocument(record.document)) !== members(next))
    assertMayChangeMembers(caller, record);
}

/**
 * Derived entries that a client sends back as it read them are not its own statements.
 * @param seen the record as it was read for this write; absent: it is read here
 */
async function withoutDerived(
  deps: Deps,
  record: StoredRecord,
  document: JsonObject,
  seen?: JsonObject,
): Promise<JsonObject> {
  const fields = Object.entries(KINDS[record.kind].fields).filter(
    ([name, field]) => field.backlink && Array.isArray(document[name]),
  );
  if (fields.length === 0 || record.newestBacklink === 0) return document;
  const stated = parseDocument(record.document);
  const shown = seen ?? (await everythingOf(deps, record));
  const own = { ...document };
  for (const [name] of fields) {
    const before = new Set(keys(stated[name]));
    const derived = new Set(keys(shown[name]).filter((key) => !before.has(key)));
    const left = (document[name] as JsonValue[]).filter((entry) => !derived.has(keyOf(entry)));
    // Only derived entries came back: the stored statement (null, for example) remains.
    const untouched =
      left.length === 0 &&
      left.length < (document[name] as JsonValue[]).length &&
      before.size === 0;
    own[name] = untouched && Object.hasOwn(stated, name) ? stated[name]! : left;
  }
  return own;
}

/** The record with derived entries and what only its account sees. */
async function everythingOf(deps: Deps, record: StoredRecord): Promise<JsonObject> {
  const [view] = await viewsOf(deps, [record], { user: record.ark, admin: true });
  return parseDocument(view!.bytes);
}

const keyOf = (entry: JsonValue): string => {
  const ark = typeof entry === "string" ? referencedArk(entry) : undefined;
  return ark?.key ?? JSON.stringify(entry);
};
const keys = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.map(keyOf) : [];

/** The next state of a record. */
interface Amendment {
  document: JsonObject;
  /** The objects that the record refers to from now on; absent: as before. */
  objects?: ObjectReference[];
  /** Removes the current objects from earlier revisions too. */
  dropObjects?: boolean;
}

/** The record as the client identifies it. */
interface AmendOptions {
  kind: KindName;
  expectedRevision?: number | undefined;
}

/**
 * Changes one part of a record and leaves the rest unchanged. `change` is called again when another
 * write came between, unless the client named the revision that it knows.
 * @param assertMay throws when the caller may not do this to the record
 * @param change the next state; `undefined` leaves the record unchanged, without a new revision
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `REVISION_MISMATCH`, and what the two
 * functions throw
 */
export async function amendRecord(
  deps: Deps,
  ark: Ark,
  who: Caller,
  { kind, expectedRevision }: AmendOptions,
  assertMay: (record: StoredRecord) => Promise<void> | void,
  change: (record: StoredRecord, document: JsonObject) => Promise<Amendment | undefined>,
): Promise<RecordView> {
  return unlessChanged(ark, expectedRevision, async () => {
    const record = await findLive(deps, ark, kind);
    await assertMay(record);
    if (expectedRevision !== undefined && expectedRevision !== record.revision)
      throw mismatch(record, expectedRevision);
    const before = parseDocument(record.document);
    const next = await change(record, before);
    if (!next) return viewOf(deps, record, who);
    const { document, ...objects } = next;
    const state = await withUrlLinks(
      deps,
      record,
      await stateOf(deps, KINDS[kind], record.ark, document, {
        fromCrate: record.crate !== null,
        ownerBefore: record.owner,
      }),
    );
    // New objects are a change even where the document's statements about them stay the same.
    const changed = await changedBetween(deps, record.document, state.document);
    if (changed.length === 0 && objects.objects) changed.push("/contentUrl");
    await deps.records.commit({
      by: who.user,
      at: Date.now(),
      // The document of a crate's member need not state its owner.
      records: [
        {
          op: "replace",
          ark: record.ark,
          ifRevision: record.revision,
          changed,
          ...state,
          owner: state.owner ?? record.owner,
          ...objects,
        },
      ],
    });
    const [after] = await deps.records.findMany([record.ark]);
    return viewOf(deps, after!, who);
  });
}

/**
 * The write that makes a document the next state of a record, for changes that the registry makes
 * itself: the document need not have every field that clients of the API must fill in. A document
 * of a crate stays one, whose own context defines its terms.
 */
export async function revisionOf(
  deps: Pick<Deps, "documents" | "records">,
  record: StoredRecord,
  document: JsonObject,
): Promise<RecordWrite> {
  const kind = KINDS[record.kind];
  const fromCrate = record.crate !== null;
  const claimed = await claimedState(deps, kind, record.ark, document, {
    fromCrate: kind.loose === true || fromCrate,
    ownerBefore: record.owner,
  });
  const state = await withUrlLinks(
    deps,
    record,
    claimed.reserved.length === 0 && reservedFields(kind).length === 0
      ? claimed.state
      : withoutReserved(kind, document, claimed, {
          document: parseDocument(record.document),
          quads: (await deps.records.quads(record.ark)) ?? "",
          fromCrate,
        }),
  );
  return {
    op: "replace",
    ark: record.ark,
    ifRevision: record.revision,
    changed: await changedBetween(deps, record.document, state.document),
    ...state,
    owner: state.owner ?? record.owner,
  };
}
