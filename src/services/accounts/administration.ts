import { randomUUID } from "node:crypto";
import { invalid, ServiceError } from "../../errors.js";
import { type Ark, sameArk } from "../../identifiers/ark.js";
import type { ListedAccount } from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { totalsByKind } from "../records/list.js";
import { checkPassword, hashPassword } from "./accounts.js";
import { hashOf, liveCredential, newSecret } from "./credentials.js";

/** @throws ServiceError `FORBIDDEN` */
function assertAdmin({ admin }: Caller): void {
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

/** What an administrator changes of an account; absent: as before. */
export interface AccountSettings {
  admin?: boolean | undefined;
  disabled?: boolean | undefined;
}

/**
 * Gives or takes the rights of an administrator, and disables or enables an account. Disabling ends
 * its tokens and sessions for good. Nobody can lock themselves out: another administrator has to.
 * @throws ServiceError `FORBIDDEN`, `NOT_FOUND`
 */
export async function setAccount(
  deps: Deps,
  ark: Ark,
  { admin, disabled }: AccountSettings,
  caller: Caller,
): Promise<void> {
  assertAdmin(caller);
  const user = await accountOf(deps, ark);
  if (sameArk(user, caller.user) && (admin === false || disabled === true))
    throw new ServiceError(
      "FORBIDDEN",
      "You cannot disable your own account, or give up its rights: ask another administrator.",
    );
  const now = Date.now();
  await deps.records.commit({
    by: caller.user,
    at: now,
    records: [],
    account: {
      op: "update",
      user,
      ...(admin === undefined ? {} : { admin }),
      ...(disabled === undefined ? {} : { disabled }),
      ...(disabled === true ? { tokensValidFrom: now } : {}),
    },
  });
}

/** @throws ServiceError `NOT_FOUND` */
async function accountOf({ records }: Deps, ark: Ark): Promise<string> {
  const found = await records.find(ark);
  const account =
    found && "record" in found ? await records.accountOf(found.record.ark) : undefined;
  if (!account || account.deleted)
    throw new ServiceError("NOT_FOUND", `There is no account of ${ark.stored}.`);
  return account.user;
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
  const user = await accountOf(deps, ark);
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
    },
    { most: 1, replaces: true },
  );
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
  attempts?: (account: string) => Promise<void>,
  now = Date.now(),
): Promise<string> {
  if (token.length + password.length > deps.config.MAX_LOGIN_BYTES)
    throw new ServiceError("TOO_LARGE", "Token and password are too long (MAX_LOGIN_BYTES).");
  await attempts?.("password reset");
  const refused = () =>
    new ServiceError(
      "BAD_CREDENTIALS",
      "The token was used, has expired or is not valid: ask an administrator for another.",
    );
  const found = await liveCredential(deps, token, "reset", now);
  if (!found) throw refused();
  // Checked before the token is used up: the user may try another password.
  checkPassword(password, deps.config.PASSWORD_MIN_LENGTH);
  const passwordHash = await hashPassword(password);
  if (!(await deps.records.removeCredential({ hash: hashOf(token) }))) throw refused();
  const { user } = found.account;
  await deps.records.commit({
    by: user,
    at: now,
    records: [],
    account: { op: "update", user, passwordHash, tokensValidFrom: now },
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
  /** When the oldest job that waits was submitted. */
  waitingSince: Date | null;
}

/** @throws ServiceError `FORBIDDEN` */
export async function registryFigures(deps: Deps, caller: Caller): Promise<RegistryFigures> {
  assertAdmin(caller);
  const [accounts, totals, unfinished] = await Promise.all([
    deps.records.countAccounts(),
    totalsByKind(deps),
    deps.records.unfinished(),
  ]);
  const waiting = unfinished.filter(({ status }) => status === "queued");
  return {
    accounts,
    records: [...totals.values()].reduce((sum, total) => sum + total, 0),
    queued: waiting.length,
    running: unfinished.length - waiting.length,
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
