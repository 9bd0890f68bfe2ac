/** New records: what is checked, and what of a document is stored. */
import { isDeepStrictEqual } from "node:util";
import { eventLoop } from "../../event-loop-budget.js";
import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, claimableArk, mintArk, parseArk, referencedArk } from "../../identifiers/ark.js";
import { type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import { normalizeInput, withDefaults, withoutSecrets } from "../../model/json-schema.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { plainLine, textOf } from "../../model/texts.js";
import { validateRecord } from "../../model/validate.js";
import type {
  CommittedRecord,
  ObjectReference,
  RecordState,
  StoredRecord,
} from "../../storage/records/port.js";
import { assertMayOwn, authenticated, type Caller, Claims } from "../access/rules.js";
import { accountToCreate, type Attempts } from "../accounts/accounts.js";
import type { Deps } from "../deps.js";
import {
  type ClaimedState,
  refuseUnknownContexts,
  type Stated,
  stated,
  withoutReserved,
} from "./reserved.js";
import { propertyProblems } from "./schema-properties.js";
import { documentBytes, type RecordView, viewOf } from "./view.js";

/** Bytes of a document up to which the serving thread may expand it itself. */
const MAX_EXPANDED_BYTES = 16 * 2 ** 10;
/** Values of a document of scalars, each of which costs 2 to 3 µs. */
const MOST_SCALARS = 2_000;
/** Values of one that holds objects, each of which costs the JSON-LD processor about 40 µs. */
const MOST_NESTED = 100;

/**
 * Whether a document is expanded in about 5 ms at most: this is usual, and starting a thread for it
 * would take longer. Contexts inside the document, and contexts that it only names, cost as much as
 * their terms.
 * @param size bytes of the document as JSON
 */
function isLight(document: JsonObject, size: number): boolean {
  if (size > MAX_EXPANDED_BYTES) return false;
  let values = 0;
  let nested = false;
  const open: object[] = [document];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const members: unknown[] = Array.isArray(holder) ? holder : Object.values(holder);
    values += members.length;
    if (values > (nested ? MOST_NESTED : MOST_SCALARS)) return false;
    if (
      holder !== document &&
      (Object.hasOwn(holder, "@context") || Object.hasOwn(holder, "@import"))
    )
      return false;
    for (const member of members) {
      if (typeof member !== "object" || member === null) continue;
      if (!Array.isArray(member) && member !== document["@context"]) nested = true;
      open.push(member);
    }
  }
  const context = document["@context"];
  return (
    values <= (nested ? MOST_NESTED : MOST_SCALARS) &&
    (context === undefined ||
      context === null ||
      (typeof context === "object" && !Array.isArray(context)))
  );
}

/** What decides about a document's statements besides the document. */
interface StateOptions {
  /** The document's context defines its terms. */
  fromCrate?: boolean | undefined;
  /** The document's owner, where it was read already. */
  owner?: Ark | null | undefined;
  /** Owner of the record where the document names none. */
  ownerBefore?: string | null;
}

/**
 * Everything that is stored for one state of a record: document, quads, links, search text. A large
 * document is expanded in a separate thread.
 * @throws ValidationError when the document is no valid JSON-LD; ServiceError as
 * `DocumentThread.ask`
 */
export async function stateOf(
  deps: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  options?: StateOptions,
): Promise<RecordState> {
  return (await claimedState(deps, kind, ark, document, options)).state;
}

/**
 * The same with the lines among its quads that only the registry may state.
 * @throws as {@link stateOf}
 */
export async function claimedState(
  { documents }: Pick<Deps, "documents">,
  kind: Kind,
  ark: string,
  document: JsonObject,
  {
    fromCrate = kind.loose === true,
    owner: read = kind.name === "user" ? null : ownerOf(document),
    ownerBefore = null,
  }: StateOptions = {},
): Promise<ClaimedState> {
  const bytes = documentBytes(document);
  const owner = read?.stored ?? null;
  const input = {
    ark,
    kind: kind.name,
    owner: owner ?? ownerBefore,
    ...(fromCrate ? { fromCrate } : {}),
  };
  let claimed: Stated;
  if (isLight(document, bytes.length))
    claimed = await stated({ ...input, document, known: read ?? undefined });
  else {
    // Writing and copying megabytes take a turn of the event loop each.
    await eventLoop.nextTurn();
    // A copy: the bytes are stored as well.
    const copy = new Uint8Array(bytes);
    claimed = await documents.ask("state", { ...input, document: copy }, [copy]);
  }
  const { reserved, ...rest } = claimed;
  return {
    state: { kind: kind.name, name: textOf(document["name"]), owner, document: bytes, ...rest },
    reserved,
  };
}

/** The owner that a document names. @throws ValidationError when the text holds no readable ARK */
export function ownerOf(document: JsonObject): Ark | null {
  const { owner } = document;
  if (typeof owner !== "string") return null;
  const ark = referencedArk(owner);
  if (ark === undefined)
    throw invalid(
      ["body", "owner"],
      "Value error, not a readable ARK; for example ark:99999/user-ada",
    );
  return ark;
}

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
  /** For users: counts guesses of secrets. */
  attempts?: Attempts;
}

/**
 * Most attempts when a minted identifier is taken, or a record above a given one appears; then it
 * is a fault.
 */
const MAX_ATTEMPTS = 5;

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
  options: CreateOptions = {},
): Promise<RecordView> {
  const kind = KINDS[kindName];
  if (kindName === "user") return createUser(deps, kind, input, caller, options);
  const { at, prepare, complete } = options;
  const { document, ark: given } = checked(kindName, input, at, { isNew: true });
  refuseUnknownContexts(kind, document);
  const owner = ownerOf(document);
  await assertMayOwn(deps.records, caller, owner!);
  const unheld = given === undefined ? [] : await mayRegister(deps, caller, given);
  await prepare?.(document);
  return register(deps, { kind, document, given, unheld, owner, complete }, caller);
}

/** Accounts are created without a token, unless REGISTRATION says otherwise, and own themselves. */
async function createUser(
  deps: Deps,
  kind: Kind,
  input: JsonValue | undefined,
  caller: Caller | null,
  { at, attempts }: CreateOptions,
): Promise<RecordView> {
  if (
    deps.config.REGISTRATION === "admin" &&
    !bringsAdminToken(input) &&
    !authenticated(caller).admin
  )
    throw new ServiceError(
      "FORBIDDEN",
      "Accounts are created by administrators only (REGISTRATION=admin).",
    );
  const { document, ark: given } = checked("user", input, at, { isNew: true });
  refuseUnknownContexts(kind, document);
  const unheld = given === undefined ? [] : await mayRegister(deps, caller, given);
  const account = await accountToCreate(deps, document, attempts);
  return register(deps, { kind, document, given, unheld, owner: null, account }, caller);
}

/** A record that the rules allow. */
interface NewRecord {
  kind: Kind;
  document: JsonObject;
  /** The identifier that the client chose; else one is minted. */
  given: Ark | undefined;
  /** Keys above it without a record. */
  unheld: readonly string[];
  owner: Ark | null;
  account?: Awaited<ReturnType<typeof accountToCreate>>;
  complete?: CreateOptions["complete"];
}

/** Stores it; once more where the identifier was taken, or what is above it changed, meanwhile. */
async function register(
  deps: Deps,
  { kind, document, given, unheld, owner, account, complete }: NewRecord,
  caller: Caller | null,
): Promise<RecordView> {
  const stored = withoutSecrets(kind, document);
  const name = plainLine(textOf(document["name"]) ?? "");
  for (let attempt = 1; ; attempt++) {
    const ark = given ?? mintArk(deps.config.ARK_NAAN, kind.name, name);
    const filled = withDefaults(kind, stored, ark.stored);
    const { document: whole, objects } = complete?.(filled, ark.stored) ?? { document: filled };
    const claimed = await claimedState(deps, kind, ark.stored, whole, { owner });
    const write = {
      op: "create" as const,
      ark: ark.stored,
      key: ark.key,
      ...withoutReserved(kind, whole, claimed),
      ...(objects ? { objects } : {}),
    };
    // Who creates an account without a token acts as that account.
    const by = caller ?? (account ? { user: ark.stored, admin: false } : null);
    const at = Date.now();
    try {
      const { records } = await deps.records.commit({
        by: by?.user ?? null,
        at,
        records: [write],
        unheld,
        ...(account ? { account: { ...account, user: ark.stored } } : {}),
      });
      return await viewOf(deps, storedAs(write, records[0]!, at), by);
    } catch (error) {
      const again = given === undefined ? "DUPLICATE" : "CHANGED_MEANWHILE";
      if (!(error instanceof ServiceError) || error.code !== again || attempt === MAX_ATTEMPTS)
        throw error;
      if (given !== undefined) unheld = await mayRegister(deps, caller, given);
    }
  }
}

/**
 * @returns the keys above it without a record, for the commit.
 * @throws ServiceError `FORBIDDEN`, `NOT_AUTHENTICATED`
 */
async function mayRegister(
  { records }: Deps,
  caller: Caller | null,
  ark: Ark,
): Promise<readonly string[]> {
  const claims = new Claims(records, caller);
  await claims.assertMayRegister(ark);
  return claims.unheld;
}

/** The record as the store has it now: another read would return the same. */
function storedAs(
  { ark, key, kind, name, owner, document }: { ark: string; key: string } & RecordState,
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
    crate: null,
    tombstone: null,
    archived: null,
  };
}

/**
 * No user exists that could create the first administrator: the one-time token is checked with the
 * account.
 */
const bringsAdminToken = (input: JsonValue | undefined): boolean =>
  isObject(input) && typeof input["adminToken"] === "string";

/** A document that complies with every rule of its kind, and the identifier that it names. */
interface Checked {
  document: JsonObject;
  ark: Ark | undefined;
}

/**
 * The input as a document that complies with every rule of its kind.
 * @param at where the document is in the client's request
 * @param options.path the identifier elsewhere in the request; the document's own must be the same
 * @param options.isNew the document's identifier is to be registered
 * @param options.secretsStay secrets that the document leaves out stay as they are
 * @param options.broken rules that were found broken before
 * @param options.changed the document that was changed into the input: a rule that it broke already
 * is no fault of the change where the field is as it was (a crate's record need not have every
 * field that clients must fill in)
 * @throws ValidationError
 */
export function checked(
  kind: KindName,
  input: JsonValue | undefined,
  at: readonly (string | number)[] = ["body"],
  {
    path,
    isNew = false,
    secretsStay = false,
    broken = [],
    changed,
  }: {
    path?: Ark | undefined;
    isNew?: boolean;
    secretsStay?: boolean;
    broken?: readonly ValidationItem[];
    changed?: JsonObject | undefined;
  } = {},
): Checked {
  const value = normalizeInput(KINDS[kind], input);
  const mayLack = ({ loc, type }: ValidationItem): boolean =>
    secretsStay && type === "missing" && KINDS[kind].fields[loc.at(-1)!]?.secret === true;
  const problems = [...broken, ...brokenRules(kind, value, at).filter((item) => !mayLack(item))];
  const id = isObject(value) ? value["@id"] : undefined;
  const ark = id === undefined || id === null ? undefined : identifierIn(id, isNew);
  if (typeof ark === "string")
    problems.push({ loc: [...at, "@id"], msg: `Value error, ${ark}`, type: "value_error" });
  else if (ark && path && ark.key !== path.key)
    problems.push({
      loc: [...at, "@id"],
      msg: `Value error, the path names ${path.stored}: leave @id out, or send the same`,
      type: "value_error",
    });
  const faults = changed ? withoutOlder(problems, kind, value, changed, at) : problems;
  if (faults.length > 0) throw new ValidationError(faults);
  return { document: value as JsonObject, ark: ark as Ark | undefined };
}

/** The rules of the kind that a document breaks. */
function brokenRules(
  kind: KindName,
  value: unknown,
  at: readonly (string | number)[],
): ValidationItem[] {
  const problems = validateRecord(KINDS[kind], value, at);
  if (kind === "schema" && isObject(value) && isObject(value["properties"]))
    // oxlint-disable-next-line arkgraph/spread-into-call -- ends after MAX_FINDINGS
    problems.push(...propertyProblems(value["properties"], [...at, "properties"]));
  return problems;
}

/**
 * The problems without those that a field had before and that nothing changed. Crates state
 * references where the model has texts: a reference may take the place of a reference.
 */
function withoutOlder(
  problems: readonly ValidationItem[],
  kind: KindName,
  value: unknown,
  changed: JsonObject,
  at: readonly (string | number)[],
): readonly ValidationItem[] {
  const before = normalizeInput(KINDS[kind], changed);
  if (problems.length === 0 || !isObject(value) || !isObject(before)) return problems;
  const wording = ({ loc, type, msg }: ValidationItem): string => JSON.stringify([loc, type, msg]);
  const older = new Set(brokenRules(kind, before, at).map(wording));
  const same = (name: string): boolean =>
    Object.hasOwn(before, name) === Object.hasOwn(value, name) &&
    isDeepStrictEqual(before[name], value[name]);
  const refersStill = (name: string): boolean =>
    areReferences(before[name]) && areReferences(value[name]);
  return problems.filter((item) => {
    const name = String(item.loc[at.length] ?? "");
    if (item.type.endsWith("_type") && refersStill(name)) return false;
    return !(older.has(wording(item)) && same(name));
  });
}

/** `{ "@id": … }`, or a list of such objects. */
function areReferences(value: JsonValue | undefined): boolean {
  const items = listOf(value);
  return (
    items.length > 0 &&
    items.every(
      (item) => isObject(item) && typeof item["@id"] === "string" && Object.keys(item).length === 1,
    )
  );
}

/** What stands against a text or another value as an identifier is a sentence. */
function identifierIn(id: JsonValue, isNew: boolean): Ark | string {
  if (typeof id !== "string") return "not an ARK; for example ark:99999/dataset-example";
  return (isNew ? undefined : parseArk(id)) ?? claimableArk(id);
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
