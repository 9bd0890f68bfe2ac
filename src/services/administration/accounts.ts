/**
 * What some may do with the accounts of others: administrators with all, owners of groups with
 * their members.
 */
import { randomUUID } from "node:crypto";
import { statfs } from "node:fs/promises";
import { invalid, ServiceError } from "../../errors.js";
import { type Ark, lookupArk, sameArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Account, ListedAccount } from "../../storage/records/port.js";
import { record, recordRefusal } from "../access/audit.js";
import { assertMayChangeMembers, type Caller, names, assertSignedIn } from "../access/rules.js";
import { assertPasswords } from "../accounts/accounts.js";
import type { Deps } from "../deps.js";
import { findLive, NothingStored } from "../records/find.js";
import { totalsByKind } from "../records/list.js";
import { amendRecord, type ChangeOptions } from "../records/write.js";
import type { RecordView } from "../records/view.js";
import { checkPassword, hashPassword } from "../accounts/passwords.js";
import { nextValidFrom, type Attempts } from "../accounts/user-account.js";
import { hashOf, liveCredential, newSecret } from "../accounts/credentials.js";

/** @throws ServiceError `FORBIDDEN` */
export function assertAdmin({ admin }: Caller): void {
  if (!admin) throw new ServiceError("FORBIDDEN", "Only administrators may do this.");
}

/** All accounts, the newest first. @throws ServiceError `FORBIDDEN`, `BAD_REQUEST` */
export async function listAccounts(
  { records }: Deps,
  page: { limit: number; after?: string },
  caller: Caller,
): Promise<{ items: ListedAccount[]; positions: string[]; next?: string }> {
  assertAdmin(caller);
  return records.accounts(page);
}

/** How many accounts the list has. @throws ServiceError `FORBIDDEN` */
export async function countAccounts({ records }: Deps, caller: Caller): Promise<number> {
  assertAdmin(caller);
  return records.countAccounts();
}

/** One account of the list. @throws ServiceError `FORBIDDEN`, `NOT_FOUND` */
export async function readAccount(deps: Deps, ark: Ark, caller: Caller): Promise<ListedAccount> {
  assertAdmin(caller);
  const account = await deps.records.listedAccount((await accountOf(deps, ark)).user);
  if (!account) throw new NothingStored(`There is no account of ${ark.stored}.`);
  return account;
}

/** What an administrator changes of an account; absent: as before. */
export interface AccountSettings {
  admin?: boolean | undefined;
  disabled?: boolean | undefined;
}

/**
 * Gives or takes the rights of an administrator, and disables or enables an account. Disabling ends
 * its tokens and sessions for good. Nobody can lock themselves out: another administrator has to.
 * @returns what the account has from then on
 * @throws ServiceError `FORBIDDEN`, `NOT_FOUND`
 */
export async function setAccount(
  deps: Deps,
  ark: Ark,
  { admin, disabled }: AccountSettings,
  caller: Caller,
): Promise<Pick<ListedAccount, "admin" | "disabled">> {
  assertAdmin(caller);
  const before = await accountOf(deps, ark);
  const { user } = before;
  if (sameArk(user, caller.user) && (admin === false || disabled === true))
    throw new ServiceError(
      "FORBIDDEN",
      "You cannot disable your own account, or give up its rights: ask another administrator.",
    );
  const tokensValidFrom = nextValidFrom(before);
  await deps.records.commit({
    by: caller.user,
    at: Date.now(),
    from: deps.client,
    records: [],
    account: {
      op: "update",
      user,
      ...(admin === undefined || admin === before.admin ? {} : { admin }),
      ...(disabled === undefined || disabled === before.disabled ? {} : { disabled }),
      ...(disabled === true ? { tokensValidFrom } : {}),
    },
  });
  return { admin: admin ?? before.admin, disabled: disabled ?? before.disabled };
}

/** @throws ServiceError `NOT_FOUND` */
async function accountOf({ records }: Deps, ark: Ark): Promise<Account> {
  const found = await records.find(ark);
  const account =
    found && "record" in found ? await records.accountOf(found.record.ark) : undefined;
  if (!account || account.deleted) throw new NothingStored(`There is no account of ${ark.stored}.`);
  return account;
}

/** With it a user sets a new password once. */
export interface PasswordReset {
  user: string;
  token: string;
  expiresAt: Date;
}

/**
 * Makes the token with which a user sets a new password. The administrator hands it over; the
 * registry sends no mail. It is shown once, and replaces the one before.
 * @throws ServiceError `FORBIDDEN`, `NOT_FOUND`
 */
export async function createPasswordReset(
  deps: Deps,
  ark: Ark,
  caller: Caller,
  now = Date.now(),
): Promise<PasswordReset> {
  assertAdmin(caller);
  assertSignedIn(caller, "make tokens");
  const { user } = await accountOf(deps, ark);
  const token = newSecret();
  const expiresAt = now + deps.config.RESET_LIFETIME;
  await deps.records.storeCredential(
    {
      hash: hashOf(token),
      id: randomUUID(),
      user,
      purpose: "reset",
      name: null,
      createdAt: now,
      usedAt: null,
      expiresAt,
      scopes: null,
      boundTo: null,
    },
    { most: 1, replaces: true },
  );
  await record(deps, "PASSWORD_RESET_CREATED", { actor: caller.user, subject: user });
  return { user, token, expiresAt: new Date(expiresAt) };
}

/**
 * Sets a new password with the token that an administrator made, once. All tokens and sessions of
 * the account end.
 * @param attempts counts attempts
 * @throws ValidationError; ServiceError `BAD_CREDENTIALS`, `TOO_MANY_REQUESTS`
 * @returns ARK of the user
 */
export async function resetPassword(
  deps: Deps,
  { token, password }: { token: string; password: string },
  attempts?: Attempts,
  now = Date.now(),
): Promise<string> {
  assertPasswords(deps);
  if (token.length + password.length > deps.config.MAX_LOGIN_BYTES)
    throw new ServiceError("TOO_LARGE", "Token and password are too long (MAX_LOGIN_BYTES).");
  await attempts?.("password reset");
  const refused = async () => {
    await recordRefusal(deps, { way: "reset" });
    return new ServiceError(
      "BAD_CREDENTIALS",
      "The token was used, has expired or is not valid: ask an administrator for another.",
    );
  };
  const found = await liveCredential(deps, token, "reset", now);
  if (!found) throw await refused();
  // Checked before the token is used up: the user may try another password.
  checkPassword(password, deps.config.PASSWORD_MIN_LENGTH);
  const passwordHash = await hashPassword(password);
  if (!(await deps.records.removeCredential({ hash: hashOf(token) }))) throw await refused();
  const { user } = found.account;
  const tokensValidFrom = nextValidFrom(found.account, now);
  await deps.records.commit({
    by: user,
    at: now,
    from: deps.client,
    records: [],
    account: { op: "update", user, passwordHash, tokensValidFrom },
  });
  return user;
}

/** Figures of the registry for administrators. */
export interface RegistryFigures {
  accounts: number;
  records: number;
  /** Background jobs. */
  queued: number;
  running: number;
  /** Of the disk with DATA_DIR, of the node that answers; null where the system does not say. */
  freeBytes: number | null;
  /** When the oldest job that waits was submitted. */
  waitingSince: Date | null;
}

/** @throws ServiceError `FORBIDDEN` */
export async function registryFigures(deps: Deps, caller: Caller): Promise<RegistryFigures> {
  assertAdmin(caller);
  const [accounts, totals, unfinished, disk] = await Promise.all([
    deps.records.countAccounts(),
    totalsByKind(deps),
    deps.records.unfinished(),
    statfs(deps.config.DATA_DIR).catch(() => null),
  ]);
  const waiting = unfinished.filter(({ status }) => status === "queued");
  return {
    accounts,
    records: [...totals.values()].reduce((sum, total) => sum + total, 0),
    queued: waiting.length,
    running: unfinished.length - waiting.length,
    freeBytes: disk && disk.bavail * disk.bsize,
    waitingSince: waiting[0] ? new Date(waiting[0].timeCreated) : null,
  };
}

/** Fields of a request as text. @throws ValidationError for another type */
export function textIn(input: unknown, name: string): string {
  const value =
    input !== null && typeof input === "object" && Object.hasOwn(input, name)
      ? (input as Record<string, unknown>)[name]
      : undefined;
  if (typeof value === "string") return value;
  throw value === undefined
    ? invalid(["body", name], "Field required", "missing")
    : invalid(["body", name], "Input should be a valid string", "string_type");
}

export interface MembershipChange {
  group: Ark;
  /** The user, as the client sent it. */
  user: string | undefined;
  /** Where the client named the user: `loc` of an error about it. */
  at: (string | number)[];
  expectedRevision?: number | undefined;
}

/**
 * Makes a user a member of a group; for a user who is a member already, or owns the group, the
 * group stays unchanged.
 * @throws ValidationError for a user that is not an ARK; ServiceError `NOT_FOUND`, `GONE`,
 * `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function addGroupMember(
  deps: Deps,
  change: MembershipChange,
  who: Caller,
): Promise<RecordView> {
  const ark = userArk(change);
  return amendRecord(
    deps,
    change.group,
    who,
    membersOfGroup(change, who),
    async (group, document) => {
      const user = await findLive(deps, ark, "user");
      const members = membersOf(document);
      if (isOwner(group.owner, user.ark) || members.some((member) => names(member, user.ark)))
        return undefined;
      return { document: { ...document, members: [...members, user.ark] } };
    },
  );
}

/**
 * Ends a membership; for a user who never was a member the group stays unchanged. Any entry of the
 * member list can be removed: also a deleted user, or an identifier that never was a user.
 * @throws as {@link addGroupMember}; ServiceError `OWNER_STAYS`
 */
export async function removeGroupMember(
  deps: Deps,
  change: MembershipChange,
  who: Caller,
): Promise<RecordView> {
  const ark = userArk(change);
  return amendRecord(
    deps,
    change.group,
    who,
    membersOfGroup(change, who),
    async (group, document) => {
      if (isOwner(group.owner, ark.stored)) {
        throw new ServiceError(
          "OWNER_STAYS",
          `${group.owner} owns ${group.ark} and is therefore a member: transfer the ` +
            "group to another owner first (PUT /group).",
        );
      }
      const members = membersOf(document);
      const left = members.filter((member) => !names(member, ark.stored));
      if (left.length < members.length) return { document: { ...document, members: left } };
      await findLive(deps, ark, "user");
      return undefined;
    },
  );
}

const membersOfGroup = ({ expectedRevision }: MembershipChange, who: Caller): ChangeOptions => ({
  kind: "group",
  expectedRevision,
  assertMay: (group) => assertMayChangeMembers(who, group),
});

function userArk({ user, at }: MembershipChange): Ark {
  if (user === undefined) throw invalid(at, "Field required", "missing");
  const ark = lookupArk(user);
  if (ark === undefined)
    throw invalid(at, "Value error, not an ARK; for example ark:99999/user-ada");
  return ark;
}

const membersOf = ({ members }: JsonObject): JsonValue[] => (Array.isArray(members) ? members : []);
const isOwner = (owner: string | null, ark: string): boolean =>
  owner !== null && sameArk(owner, ark);
