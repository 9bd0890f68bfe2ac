/**
 * Writes of clients, which all go one way: validate the document, compare it with what is stored,
 * check who may do this, commit. To create a record is to write where nothing is stored; a patch
 * computes the whole document from the stored one, and a restored revision is a whole document.
 */
import { isDeepStrictEqual } from "node:util";
import { ServiceError, ValidationError } from "../../errors.js";
import { eventLoop } from "../../event-loop-budget.js";
import { type Ark, mintArk, sameArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { withDefaults, withoutSecrets } from "../../model/json-schema.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { plainLine, textOf } from "../../model/texts.js";
import type {
  AccountChange,
  CommittedRecord,
  Identity,
  ObjectReference,
  RecordState,
  RecordWrite,
  StoredRecord,
} from "../../storage/records/port.js";
import {
  assertMayChange,
  assertMayChangeMembers,
  assertMayOwn,
  authenticated,
  type Caller,
  Claims,
} from "../access/rules.js";
import { accountChange, assertMayHaveAccount, type Attempts } from "../accounts/user-account.js";
import { wholeStoreOf } from "../access/seen.js";
import { isPrivate, type Visibility } from "../access/visibility.js";
import type { Deps } from "../deps.js";
import { describe, findLive, pathOf } from "./find.js";
import {
  assertFits,
  identityProblems,
  lostSecrets,
  patchFunction,
  type RecordPatch,
} from "./patch.js";
import { readRevision } from "./read.js";
import { refuseUnknownContexts } from "./reserved.js";
import { creationOf, revisionOf } from "./state.js";
import { withStoredContent } from "./stored-content.js";
import { checked, ownerOf } from "./validate.js";
import { parseDocument, type RecordView, viewOf, withoutDerived } from "./view.js";
import { queuedWrite, retried } from "./write-queue.js";

/** Additional steps of the creation of a file record. */
export interface CreateOptions {
  /** Where the document is in the client's request, for `loc`. */
  at?: readonly (string | number)[];
  /** Called once, when the rules allow the record and before anything of it is stored. */
  prepare?(document: JsonObject): Promise<void>;
  /**
   * The whole document, and the objects that the record refers to, once its identifier is known.
   */
  complete?(
    document: JsonObject,
    ark: string,
  ): { document: JsonObject; objects: ObjectReference[] };
  /** For users: made by whom an issuer vouches for, also with REGISTRATION=admin. */
  invited?: boolean;
  /** For users: the account at an issuer that is linked with it. */
  identity?: Omit<Identity, "user">;
  /** For users: counts guesses of secrets. */
  attempts?: Attempts;
  /** Who sees it until it is published; absent: as DEFAULT_VISIBILITY says. */
  visibility?: Visibility | undefined;
}

/**
 * Most attempts when a minted identifier is taken, or a record above a given one appears; then it
 * is a fault.
 */
const MAX_CREATE_ATTEMPTS = 5;

/**
 * Creates a record of a kind from a client's document. The caller chooses the kind, which is never
 * derived from `@type`.
 * @throws ValidationError with all broken rules; ServiceError `NOT_AUTHENTICATED`, `FORBIDDEN`,
 * `DUPLICATE`, `EMAIL_TAKEN`
 */
export async function createRecord(
  deps: Deps,
  kindName: KindName,
  input: JsonValue | undefined,
  caller: Caller | null,
  { at, prepare, complete, attempts, visibility, invited = false, identity }: CreateOptions = {},
): Promise<RecordView> {
  const kind = KINDS[kindName];
  const hidden = isPrivate(deps.config, kindName, visibility);
  if (kindName === "user" && !invited) assertMayHaveAccount(deps, input, caller);
  const { document, ark: given } = checked(kindName, input, at, { isNew: true });
  const { own, unheld, account } = await allowed(deps, kind, document, caller, { given, attempts });
  await prepare?.(document);
  const name = plainLine(textOf(document["name"]) ?? "");
  const conflict = given ? "CHANGED_MEANWHILE" : "DUPLICATE";
  const create = async (attempt: number): Promise<RecordView> => {
    const ark = given ?? mintArk(deps.config.ARK_NAAN, kindName, name);
    const filled = withDefaults(kind, own, ark.stored);
    const whole = complete?.(filled, ark.stored) ?? { document: filled };
    const write = {
      ...(await creationOf(deps, kind, ark.stored, whole.document)),
      ...("objects" in whole ? { objects: whole.objects } : {}),
      private: hidden,
    };
    // Who creates an account without a token acts as that account.
    const by = caller ?? (account ? { user: ark.stored, admin: false } : null);
    const now = Date.now();
    const { records } = await deps.records.commit({
      by: by?.user ?? null,
      at: now,
      from: deps.client,
      records: [write],
      unheld: attempt === 1 ? unheld : await mayRegister(deps, caller, given),
      ...(account
        ? { account: { ...account, user: ark.stored, ...(identity ? { identity } : {}) } }
        : {}),
    });
    return viewOf(deps, storedAs(write, records[0]!, now), by);
  };
  return retried([conflict], create, MAX_CREATE_ATTEMPTS);
}

/** What the rules of access allow, ready to be stored. */
interface Allowed {
  /** The document without secrets and derived entries. */
  own: JsonObject;
  /** Keys above the identifier of a new record without a record. */
  unheld: readonly string[];
  /** Of the record of a user. */
  account: Awaited<ReturnType<typeof accountChange>> | undefined;
}

/**
 * Compares a client's document with what is stored, and checks who may state this.
 * @param options.record what is stored; absent: nothing yet
 * @param options.given the identifier that the client chose for a new record
 * @throws ValidationError; ServiceError `FORBIDDEN`, `NOT_AUTHENTICATED`, and as
 * {@link accountChange}
 */
async function allowed(
  deps: Deps,
  kind: Kind,
  document: JsonObject,
  caller: Caller | null,
  {
    record,
    patched,
    given,
    attempts,
  }: {
    record?: StoredRecord;
    patched?: JsonObject | undefined;
    given?: Ark | undefined;
    attempts?: Attempts | undefined;
  },
): Promise<Allowed> {
  refuseUnknownContexts(kind, document, record && (() => parseDocument(record.document)));
  const sent = withoutSecrets(kind, document);
  const own = record ? await withoutDerived(deps, record, sent, patched) : sent;
  const isUser = kind.name === "user";
  if (!isUser) await assertMayState(deps, kind, caller, own, record);
  const unheld = await mayRegister(deps, caller, given);
  const account = isUser
    ? await accountChange(deps, record?.ark, document, caller, attempts)
    : undefined;
  return { own, unheld, account };
}

/**
 * A new owner must be one that the caller could create records for; only the owner or an
 * administrator changes members.
 */
async function assertMayState(
  { records }: Deps,
  kind: Kind,
  caller: Caller | null,
  next: JsonObject,
  record: StoredRecord | undefined,
): Promise<void> {
  const owner = ownerOf(kind, next);
  if (!record) return assertMayOwn(records, caller, owner!);
  if (owner && (record.owner === null || !sameArk(owner.stored, record.owner)))
    await assertMayOwn(records, caller, owner);
  if (!Object.hasOwn(kind.fields, "members")) return;
  const before = parseDocument(record.document);
  if (!isDeepStrictEqual(before["members"] ?? [], next["members"] ?? []))
    assertMayChangeMembers(authenticated(caller), record);
}

/**
 * @returns the keys above the identifier without a record, for the commit.
 * @throws ServiceError `FORBIDDEN`, `NOT_AUTHENTICATED`
 */
async function mayRegister(
  { records }: Deps,
  caller: Caller | null,
  given: Ark | undefined,
): Promise<readonly string[]> {
  if (!given) return [];
  const claims = new Claims(wholeStoreOf(records), caller);
  await claims.assertMayRegister(given);
  return claims.unheld;
}

/** The record as the store has it now: another read would return the same. */
function storedAs(
  {
    ark,
    key,
    kind,
    name,
    owner,
    document,
    private: hidden,
  }: { ark: string; key: string; private: boolean } & RecordState,
  { revision, newestBacklink = 0 }: CommittedRecord,
  at: number,
): StoredRecord {
  return {
    ark,
    key,
    kind,
    name,
    owner,
    document,
    revision,
    newestBacklink,
    createdAt: at,
    modifiedAt: at,
    publicationStatus: "DRAFT",
    embargoedUntil: null,
    private: hidden,
    crate: null,
    tombstone: null,
    archived: null,
  };
}

interface ReplaceOptions {
  /** From If-Match or `expectedRevision`; `undefined` when the client named none. */
  expectedRevision?: number | undefined;
  /** For users: counts guesses of secrets. */
  attempts?: Attempts | undefined;
}

/**
 * Replaces the whole record that the document's `@id` names; absent fields get their default or are
 * removed.
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `WRONG_KIND`, `FORBIDDEN`,
 * `REVISION_MISMATCH`
 */
export async function replaceRecord(
  deps: Deps,
  kindName: KindName,
  input: JsonValue | undefined,
  who: Caller,
  { expectedRevision, attempts }: ReplaceOptions = {},
): Promise<RecordView> {
  const { document, ark } = checked(kindName, input);
  if (!ark)
    throw new ValidationError([{ loc: ["body", "@id"], msg: "Field required", type: "missing" }]);
  const assertMay = async (record: StoredRecord): Promise<void> => {
    await assertMayChange(deps.records, who, record);
    if (record.kind !== kindName)
      throw new ServiceError(
        "WRONG_KIND",
        `${record.ark} is ${describe(record.kind)}: send it to ` +
          `${pathOf(record).replace(/\/ark:.*/, "") || "its own path"}.`,
      );
  };
  return changeRecord(deps, ark, who, { expectedRevision, assertMay }, (record) =>
    replaceFound(deps, record, document, who, { attempts }),
  );
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
  { kind, expectedRevision, attempts }: ReplaceOptions & { kind?: KindName } = {},
): Promise<RecordView> {
  const kindName = kind ?? (await findLive(deps, path)).kind;
  const { document } = checked(kindName, input, ["body"], { path });
  return changeRecord(deps, path, who, { kind: kindName, expectedRevision }, (record) =>
    replaceFound(deps, record, document, who, { attempts }),
  );
}

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
  { kind, expectedRevision, attempts }: ReplaceOptions & { kind?: KindName | undefined } = {},
): Promise<RecordView> {
  const apply = patchFunction(patch, deps);
  return changeRecord(deps, ark, who, { kind, expectedRevision }, async (record) => {
    const { bytes } = await viewOf(deps, record, who);
    const before = parseDocument(bytes);
    await eventLoop.turnFor(bytes.length);
    // Parsed again: a JSON Patch changes the document that it is given.
    const start = "operations" in patch ? parseDocument(bytes) : before;
    const after = apply(start, KINDS[record.kind]);
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

/** The record that a caller changes, as the request describes it. */
export interface ChangeOptions {
  kind?: KindName | undefined;
  expectedRevision?: number | undefined;
  /** Throws when the caller may not do this to the record; by default as {@link assertMayChange}. */
  assertMay?(record: StoredRecord): Promise<void> | void;
}

/**
 * The record that the caller is about to change.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `REVISION_MISMATCH`, and what `assertMay`
 * throws
 */
export async function findChangeable(
  deps: Pick<Deps, "records">,
  ark: Ark,
  who: Caller,
  { kind, expectedRevision, assertMay }: ChangeOptions = {},
): Promise<StoredRecord> {
  const record = await findLive(deps, ark, kind);
  if (assertMay) await assertMay(record);
  else await assertMayChange(deps.records, who, record);
  if (expectedRevision !== undefined && expectedRevision !== record.revision)
    throw new ServiceError(
      "REVISION_MISMATCH",
      `${record.ark} is at revision ${record.revision}, not ` +
        `${expectedRevision === 0 ? "at the one asked for" : expectedRevision}: read it again ` +
        "and repeat the change on its current version.",
      { revision: record.revision },
    );
  return record;
}

/**
 * Changes the record. `change` is called again when another write came between, unless the client
 * named the revision that it knows.
 * @throws as {@link findChangeable}, and what `change` throws
 */
export const changeRecord = <T>(
  deps: Pick<Deps, "records">,
  ark: Ark,
  who: Caller,
  options: ChangeOptions,
  change: (record: StoredRecord) => Promise<T>,
): Promise<T> =>
  queuedWrite(ark, options.expectedRevision, async () =>
    change(await findChangeable(deps, ark, who, options)),
  );

/** The next state of a record. */
interface Amendment {
  document: JsonObject;
  /** The objects that the record refers to from now on; absent: as before. */
  objects?: ObjectReference[];
  /** Removes the current objects from earlier revisions too. */
  dropObjects?: boolean;
}

/**
 * Changes one part of a record for the caller, who did not write its document.
 * @param amend the next state; `undefined` leaves the record unchanged, without a new revision
 * @throws as {@link changeRecord}
 */
export function amendRecord(
  deps: Deps,
  ark: Ark,
  who: Caller,
  options: ChangeOptions,
  amend: (record: StoredRecord, document: JsonObject) => Promise<Amendment | undefined>,
): Promise<RecordView> {
  return changeRecord(deps, ark, who, options, async (record) => {
    const amendment = await amend(record, parseDocument(record.document));
    if (!amendment) return viewOf(deps, record, who);
    const { document, ...objects } = amendment;
    const write = await revisionOf(deps, record, document);
    // New objects are a change even where the document's statements about them stay the same.
    if (write.changed.length === 0 && objects.objects) write.changed.push("/contentUrl");
    return commitRevision(deps, { ...write, ...objects }, who);
  });
}

/**
 * Stores a client's document as the next state of a record. {@link checked} has accepted it, and
 * the caller may change the record.
 * @param options.patched the document that the caller changed in part, where it was read for this
 * write. What is a crate's record stays one then: its own context defines its terms, it gets no
 * defaults, and it belongs to its uploader without stating so
 */
async function replaceFound(
  deps: Deps,
  record: StoredRecord,
  document: JsonObject,
  who: Caller,
  { patched, attempts }: { patched?: JsonObject; attempts?: Attempts | undefined },
): Promise<RecordView> {
  const kind = KINDS[record.kind];
  const staysOfCrate = patched !== undefined && record.crate !== null;
  const { own, account } = await allowed(deps, kind, document, who, { record, patched, attempts });
  const whole = staysOfCrate ? own : withDefaults(kind, own, record.ark);
  const content =
    kind.name === "datadownload" ? await withStoredContent(deps, record, whole) : undefined;
  const write = await revisionOf(
    deps,
    record,
    content?.document ?? whole,
    kind.loose === true || staysOfCrate,
  );
  const next = content ? { ...write, objects: content.objects } : write;
  return commitRevision(deps, next, who, account && { ...account, user: record.ark });
}

async function commitRevision(
  deps: Deps,
  write: Extract<RecordWrite, { op: "replace" }>,
  who: Caller,
  account?: AccountChange,
): Promise<RecordView> {
  await deps.records.commit({
    by: who.user,
    at: Date.now(),
    from: deps.client,
    records: [write],
    ...(account ? { account } : {}),
  });
  const [after] = await deps.records.findMany([write.ark]);
  return viewOf(deps, after!, who);
}
