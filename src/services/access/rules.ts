import { eventLoop } from "../../event-loop-budget.js";
import { ServiceError } from "../../errors.js";
import { type Ark, arkKey, keysAbove, referencedArk, sameArk } from "../../identifiers/ark.js";
import { instantOf } from "../../model/dates.js";
import { COLLECTIVES } from "../../model/kinds.js";
import type { Holder, RecordStore, StoredRecord } from "../../storage/records/port.js";
import { getOrInsert } from "../../get-or-insert.js";
import { isAnonymous, isReviewed } from "./review.js";
import type { Scoped } from "./scopes.js";

/** The store in which owners are looked up: groups, organizations and projects are never private. */
type Owners = Pick<RecordStore, "findMany">;
/** The same, and the grants of access. */
type Rights = Owners & Pick<RecordStore, "accessGrants">;

/**
 * True when the caller may act for this owner: is the owner, or owns or is a member of the owning
 * group, organization or project. `members` of that record decides membership; a user record grants
 * no right.
 */
export async function actsFor(
  records: Owners,
  caller: Pick<Caller, "user">,
  owner: string,
): Promise<boolean> {
  if (sameArk(owner, caller.user)) return true;
  const [found] = await records.findMany([owner]);
  if (!found || found.tombstone || !COLLECTIVES.has(found.kind)) return false;
  if (found.owner !== null && sameArk(found.owner, caller.user)) return true;
  const members = (
    JSON.parse(Buffer.from(found.document).toString("utf8")) as { members?: unknown }
  ).members;
  return Array.isArray(members) && members.some((member) => names(member, caller.user));
}

/** The entry of a member list, in any spelling, means this user. */
export function names(member: unknown, user: string): boolean {
  const named = typeof member === "string" ? referencedArk(member) : undefined;
  return named !== undefined && sameArk(named.stored, user);
}

/**
 * May the caller create a record with this owner, or transfer one to it?
 * @throws ServiceError `FORBIDDEN` or `NOT_AUTHENTICATED`
 */
export async function assertMayOwn(
  records: RecordStore,
  caller: Caller | null,
  { stored: owner }: Ark,
): Promise<void> {
  if (caller?.boundTo !== undefined && !sameArk(owner, caller.boundTo))
    throw new ServiceError("FORBIDDEN", `${boundSentence(caller)} It gives nothing to ${owner}.`);
  if (caller && (caller.admin || (await actsFor(records, caller, owner)))) return;
  const { user } = authenticated(caller);
  throw new ServiceError(
    "FORBIDDEN",
    `The owner ${owner} is neither you (${user}) nor a group, organization or ` +
      "project that you own or are a member of.",
  );
}

/** May the caller change, delete or publish this record? @throws ServiceError `FORBIDDEN` */
export async function assertMayChange(
  records: RecordStore,
  caller: Caller,
  record: StoredRecord,
): Promise<void> {
  if (await mayChange(records, caller, record)) return;
  if (caller.boundTo !== undefined)
    throw new ServiceError(
      "FORBIDDEN",
      `You may not change ${record.ark}: ${boundSentence(caller)}`,
    );
  const rule =
    record.kind === "user"
      ? "only the user itself or an administrator may change a user"
      : `only its owner ${record.owner ?? "(none)"}, members of the owning group, ` +
        "organization or project, and administrators may change it";
  throw new ServiceError("FORBIDDEN", `You may not change ${record.ark}: ${rule}.`);
}

/** May the caller change who the members are? @throws ServiceError `FORBIDDEN` */
export function assertMayChangeMembers(caller: Caller, record: StoredRecord): void {
  if (caller.boundTo !== undefined && !sameArk(record.ark, caller.boundTo))
    throw new ServiceError("FORBIDDEN", boundSentence(caller));
  if (caller.admin || (record.owner !== null && sameArk(record.owner, caller.user))) return;
  throw new ServiceError(
    "FORBIDDEN",
    `Only the owner of ${record.ark} or an administrator may change its members.`,
  );
}

export async function mayChange(
  records: Owners,
  caller: Caller | null,
  record: Pick<Holder, "ark" | "kind" | "owner">,
): Promise<boolean> {
  if (!caller) return false;
  if (caller.boundTo !== undefined && !(await isWithin(records, record, caller.boundTo)))
    return false;
  if (caller.admin) return true;
  if (record.kind === "user") return sameArk(record.ark, caller.user);
  return record.owner !== null && (await actsFor(records, caller, record.owner));
}

const boundSentence = ({ boundTo }: Caller): string =>
  `The token is bound to ${boundTo}, and has no right elsewhere.`;

/** Crates in crates that are followed. */
const MAX_NESTED = 20;

/** The record is the one named, is owned by it, or belongs to it, also by way of a nested crate. */
async function isWithin(
  records: Owners,
  { ark, owner }: Pick<Holder, "ark" | "owner">,
  outer: string,
): Promise<boolean> {
  if (owner !== null && sameArk(owner, outer)) return true;
  let next: string | null = ark;
  for (let level = 0; next !== null && level < MAX_NESTED; level++) {
    if (sameArk(next, outer)) return true;
    const [found]: (StoredRecord | undefined)[] = await records.findMany([next]);
    next = found?.crate ?? null;
  }
  return false;
}

/** Members of a crate that are checked before other requests may run. */
const PAGE = 2000;

/** The fields that decide who may read the content of a record. */
type Guarded = Pick<
  StoredRecord,
  "ark" | "kind" | "owner" | "publicationStatus" | "embargoedUntil" | "crate" | "private"
>;

/**
 * The content of a published record is public; otherwise only callers who may change the record may
 * read it, and those whom they granted access.
 * @throws ServiceError `FORBIDDEN` or `NOT_AUTHENTICATED`
 */
export async function assertMayReadContent(
  records: Rights,
  caller: Caller | null,
  record: Guarded,
  now = Date.now(),
): Promise<void> {
  if (await mayReadContent(records, caller, record, now)) return;
  const state = `The content of ${record.ark} is ${record.publicationStatus}`;
  if (!caller)
    throw new ServiceError(
      "NOT_AUTHENTICATED",
      `${state}: it is readable with the token of someone who may change the record, or who has ` +
        "access to it.",
    );
  throw new ServiceError(
    "FORBIDDEN",
    `${state}: until it is PUBLISHED it is readable by those who may change the record only, and ` +
      "by readers whom they grant access. Ask for it with POST /access-requests.",
  );
}

export const mayReadContent = async (
  records: Rights,
  caller: Caller | null,
  record: Guarded,
  now = Date.now(),
): Promise<boolean> =>
  (await mayReadUngranted(records, caller, record, now)) ||
  (await hasAccess(records, caller, record, now));

async function mayReadUngranted(
  records: Owners,
  caller: Caller | null,
  record: Guarded,
  now: number,
): Promise<boolean> {
  if (record.publicationStatus === "PUBLISHED" || (await mayChange(records, caller, record)))
    return true;
  if (await isReviewed(records, record)) return true;
  const embargoOver =
    !record.private &&
    record.publicationStatus === "EMBARGOED" &&
    record.embargoedUntil !== null &&
    (instantOf(record.embargoedUntil) ?? Infinity) <= now;
  return embargoOver && crateIsPublished(records, record);
}

/**
 * The caller has a grant for the record, or for its crate. It is a right to read content of open
 * records, and nothing else.
 */
async function hasAccess(
  records: Rights,
  caller: Caller | null,
  record: Guarded,
  now: number,
): Promise<boolean> {
  if (record.private) return false;
  const { ark, crate } = record;
  const granted = await grantedOf(records, caller, crate === null ? [ark] : [ark, crate], now);
  if (granted.has(ark)) return true;
  if (crate === null || !granted.has(crate)) return false;
  const [found] = await records.findMany([crate]);
  return found !== undefined && !found.tombstone && coversMember(found, record);
}

/** Those of the records for which the caller has a grant that has not expired. */
async function grantedOf(
  records: Rights,
  caller: Caller | null,
  arks: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  // A bound token has no rights elsewhere than where its account may change records.
  if (!caller || caller.boundTo !== undefined) return new Set();
  const grants = await records.accessGrants(caller.user, arks);
  return new Set(
    grants.flatMap(({ record, until }) => (until === null || until > now ? [record] : [])),
  );
}

/**
 * A grant for the crate is one for its member: for those that have its owner. A crate within a
 * crate opens by itself.
 */
const coversMember = (
  crate: Pick<Guarded, "owner">,
  { kind, owner, private: isPrivate }: Pick<Guarded, "kind" | "owner" | "private">,
): boolean =>
  kind !== "rocrate" &&
  !isPrivate &&
  owner !== null &&
  crate.owner !== null &&
  sameArk(crate.owner, owner);

/**
 * The archive of a crate as it was uploaded holds the bytes of all its members; only callers who
 * may read the content of the crate and of each member may read it.
 * @throws ServiceError `FORBIDDEN` or `NOT_AUTHENTICATED`
 */
export async function assertMayReadArchive(
  records: Rights & Pick<RecordStore, "closedMembers">,
  caller: Caller | null,
  crate: Guarded,
  now = Date.now(),
): Promise<void> {
  await assertMayReadContent(records, caller, crate, now);
  if (isAnonymous(records))
    throw new ServiceError(
      "FORBIDDEN",
      `The archive of ${crate.ark} as it was uploaded names its authors, which this link hides. ` +
        `GET ${withoutHidden(crate.ark)} returns the crate without names.`,
    );
  if (caller?.admin) return;
  const isGranted = (await grantedOf(records, caller, [crate.ark], now)).has(crate.ark);
  for await (const member of closedMembers(records, crate.ark)) {
    if (isGranted && coversMember(crate, member)) continue;
    // One stands for all members with the same owner and status: not what was granted for it alone.
    if (await mayReadUngranted(records, caller, member, now)) continue;
    const held = member.private
      ? "content that you may not read. "
      : `the content of ${member.ark}, which is ${member.publicationStatus} and which you may ` +
        "not read. ";
    throw new ServiceError(
      "FORBIDDEN",
      `The archive of ${crate.ark} as it was uploaded holds ${held}` +
        `GET ${withoutHidden(crate.ark)} returns the crate without what you may not read.`,
    );
  }
}

async function* closedMembers(
  records: Pick<RecordStore, "closedMembers">,
  crate: string,
): AsyncGenerator<Guarded> {
  let after: string | undefined;
  do {
    const page = await records.closedMembers(crate, {
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.items;
    after = page.next;
    if (after !== undefined) await eventLoop.nextTurn();
  } while (after !== undefined);
}

/** Address of a new archive of the crate, without the files that the caller may not read. */
export const withoutHidden = (crate: string): string => `/rocrate/${crate}?format=zip`;

/**
 * The end of an embargo publishes a crate's member only when the crate itself is published. A crate
 * within a crate opens by itself.
 */
async function crateIsPublished(records: Owners, record: Guarded): Promise<boolean> {
  if (record.crate === null || record.kind === "rocrate") return true;
  const [crate] = await records.findMany([record.crate]);
  return crate?.publicationStatus === "PUBLISHED";
}

/** The caller: the account behind a verified token. */
export interface Caller extends Scoped {
  /** ARK of the user record, stored form. */
  readonly user: string;
  readonly admin: boolean;
  /** An access token of a program says who it is, not a sign-in with the password. */
  readonly byAccessToken?: boolean;
}

/**
 * A leaked access token must not become the account: it makes no other credentials.
 * @param what it would do
 * @throws ServiceError `FORBIDDEN`
 */
export function assertSignedIn({ byAccessToken }: Caller, what: string): void {
  if (byAccessToken)
    throw new ServiceError(
      "FORBIDDEN",
      `An access token cannot ${what}: sign in with the password and use the token that you get.`,
    );
}

/** @throws ServiceError `NOT_AUTHENTICATED` */
export function authenticated(caller: Caller | null): Caller {
  if (caller) return caller;
  throw new ServiceError(
    "NOT_AUTHENTICATED",
    "This operation needs a token: send Authorization: Bearer <token>, obtained from POST /token.",
  );
}

/**
 * Records without their documents: by stored form, else by a key that exactly one record has.
 * @returns `undefined` where nothing is stored or the key is ambiguous
 */
export async function holdersOf(
  records: Pick<RecordStore, "holders">,
  arks: readonly string[],
): Promise<(Holder | undefined)[]> {
  const byArk = new Map<string, Holder>();
  const byKey = new Map<string, Holder | undefined>();
  for (const holder of await records.holders([...new Set(arks.map(arkKey))])) {
    byArk.set(holder.ark, holder);
    byKey.set(holder.key, byKey.has(holder.key) ? undefined : holder);
  }
  return arks.map((ark) => byArk.get(ark) ?? byKey.get(arkKey(ark)));
}

/**
 * Owners alone, of records as {@link holdersOf} finds them. A user is its own owner, and tombstones
 * preserve their owner.
 * @returns null for a record without an owner, `undefined` where no record is found
 */
export const ownersOf = async (
  records: Pick<RecordStore, "holders">,
  arks: readonly string[],
): Promise<(string | null | undefined)[]> =>
  (await holdersOf(records, arks)).map(
    (holder) => holder && (holder.kind === "user" ? holder.ark : holder.owner),
  );

/** Keys in one query: few enough not to delay readers. */
const BATCH = 500;

/**
 * Who may register identifiers: only a caller who may change a record, deleted or not, may register
 * an identifier below it. Each identifier above is looked up once, however many lie below it.
 */
export class Claims {
  /** Keys above: the record that prevents this caller's registration, if any. */
  readonly #known = new Map<string, Holder | undefined>();
  readonly #unheld = new Set<string>();
  readonly #owners = new Map<string, Promise<boolean>>();

  readonly #records: Pick<RecordStore, "holders" | "findMany">;
  readonly #caller: Caller | null;

  constructor(records: Pick<RecordStore, "holders" | "findMany">, caller: Caller | null) {
    this.#records = records;
    this.#caller = caller;
  }

  /** Keys above without a record: the commit fails if one of them has a record by then. */
  get unheld(): string[] {
    return [...this.#unheld];
  }

  /** For the key of each identifier, the record above it that the caller may not change. */
  async refusals(keys: readonly string[]): Promise<(Holder | undefined)[]> {
    const above = keys.map(keysAbove);
    await this.#ask([...new Set(above.flat())].filter((key) => !this.#known.has(key)));
    return above.map((keys) =>
      keys.map((key) => this.#known.get(key)).find((holder) => holder !== undefined),
    );
  }

  /** @throws ServiceError `FORBIDDEN` or `NOT_AUTHENTICATED` */
  async assertMayRegister({ stored, key }: Ark): Promise<void> {
    const [above] = await this.refusals([key]);
    if (!above) return;
    const sentence =
      `${stored} lies below ${above.ark}: only those who may change that record may ` +
      "register it. Choose another @id, or leave it out to have one minted.";
    throw this.#caller
      ? new ServiceError("FORBIDDEN", sentence)
      : new ServiceError("NOT_AUTHENTICATED", sentence);
  }

  async #ask(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += BATCH) {
      const batch = keys.slice(start, start + BATCH);
      for (const key of batch) {
        this.#known.set(key, undefined);
        this.#unheld.add(key);
      }
      for (const holder of await this.#records.holders(batch)) {
        this.#unheld.delete(holder.key);
        if (!(await this.#mayChange(holder))) this.#known.set(holder.key, holder);
      }
    }
  }

  /** Records share a few owners: the rule is evaluated once for each. */
  #mayChange(holder: Holder): Promise<boolean> {
    const name = rightOf(this.#caller, holder);
    return getOrInsert(this.#owners, name, () => mayChange(this.#records, this.#caller, holder));
  }
}

/**
 * Records with the same name share the answer of {@link mayChange}: those of one owner. A user may
 * change its own record; with a token that is bound to a crate, each record has its own answer.
 */
export const rightOf = (
  caller: Caller | null,
  { ark, kind, owner }: Pick<Holder, "ark" | "kind" | "owner">,
): string =>
  kind === "user" || caller?.boundTo !== undefined ? `record ${ark}` : `owner ${owner}`;
