/** Signing in, and the password of the one who is signed in. */
import { ServiceError, ValidationError } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import type { Account, StoredRecord } from "../../storage/records/port.js";
import { record, recordRefusal } from "../access/audit.js";
import { assertSignedIn, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { checkPassword, hashPassword, verifyPassword } from "./passwords.js";
import { issueWithRefresh, OFFLINE } from "./refresh.js";
import { issueToken, type TokenAnswer } from "./tokens.js";
import {
  assertCurrent,
  type Attempts,
  nextValidFrom,
  normalizeEmail,
  sha256,
} from "./user-account.js";

/**
 * Credentials are hashed, folded and compared: over GraphQL they may be as long as a body.
 * @throws ServiceError `TOO_LARGE`
 */
function assertShort(
  { config: { MAX_LOGIN_BYTES: most } }: Deps,
  { username, password }: Credentials,
): void {
  if (username.length + password.length > most)
    throw new ServiceError(
      "TOO_LARGE",
      `User name and password have more than ${most} characters together (MAX_LOGIN_BYTES). ` +
        "Choose shorter ones.",
    );
}

/** @throws ServiceError `FORBIDDEN` where people sign in at issuers only */
export function assertPasswords({ config }: Pick<Deps, "config">): void {
  if (config.PASSWORD_SIGN_IN === "off")
    throw new ServiceError(
      "FORBIDDEN",
      "This registry has no passwords: sign in at its page /signin, or with arkgraph login --web.",
    );
}

/** The credentials of a token request (OAuth 2.0 password grant). */
interface Credentials {
  username: string;
  password: string;
  /** Asks for a refresh token too. */
  offline?: boolean;
}

/** Every broken rule of a token request. @throws ValidationError */
export function checkedCredentials(input: JsonValue | undefined): Credentials {
  const form = input !== null && typeof input === "object" && !Array.isArray(input) ? input : {};
  const problems = ["username", "password"].flatMap((name) => {
    const value = form[name];
    if (value === undefined || value === null)
      return [{ loc: ["body", name], msg: "Field required", type: "missing" }];
    return typeof value === "string"
      ? []
      : [{ loc: ["body", name], msg: "Input should be a valid string", type: "string_type" }];
  });
  const grant = form["grant_type"];
  if (
    grant !== undefined &&
    grant !== null &&
    grant !== "" &&
    (typeof grant !== "string" || !/^password$/.test(grant))
  ) {
    problems.push({
      loc: ["body", "grant_type"],
      msg: "String should match pattern '^password$'",
      type: "string_pattern_mismatch",
      ctx: { pattern: "^password$" },
    } as (typeof problems)[number]);
  }
  if (problems.length > 0) throw new ValidationError(problems);
  const { scope } = form;
  return {
    username: form["username"] as string,
    password: form["password"] as string,
    offline: typeof scope === "string" && scope.split(" ").includes(OFFLINE),
  };
}

/**
 * The account of a user, named by e-mail address or `@id`.
 * @param attempts counts attempts by account, however the account is spelled
 * @throws ServiceError `BAD_CREDENTIALS`, in the same time and words whether the user exists or
 * not; `FORBIDDEN` for an account that is disabled; `TOO_MANY_REQUESTS`
 */
export async function signIn(
  deps: Deps,
  { username, password }: Credentials,
  attempts?: (account: string) => Promise<void>,
): Promise<Account> {
  assertPasswords(deps);
  assertShort(deps, { username, password });
  const account = await accountNamed(deps, username);
  try {
    const now = await verified(deps, account, { username, password }, attempts);
    await record(deps, "SIGNED_IN", { actor: now.user, detail: { way: "password" } });
    return now;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500)
      await recordRefusal(deps, { way: "password", name: username, account: account?.user });
    throw error;
  }
}

/** @throws as {@link signIn} */
async function verified(
  deps: Deps,
  account: Account | undefined,
  { username, password }: Credentials,
  attempts?: Attempts,
): Promise<Account> {
  await attempts?.(account?.user ?? sha256(normalizeEmail(username)));
  const matches = await verifyPassword(
    account?.deleted ? undefined : account?.passwordHash,
    password,
  );
  // The password may have been changed while it was verified; a token issued now would remain valid
  // after that change.
  const now = account && (await deps.records.accountOf(account.user));
  if (!matches || !now || now.deleted || now.passwordHash !== account.passwordHash) {
    throw new ServiceError(
      "BAD_CREDENTIALS",
      "The user name or the password is wrong: check both.",
    );
  }
  if (now.disabled)
    throw new ServiceError(
      "FORBIDDEN",
      "The account is disabled: ask an administrator of the registry.",
    );
  // Nobody is kept from signing in because the store cannot note it.
  await deps.records
    .noteSignIn(now.user, Date.now())
    .catch((error: unknown) => deps.log.warn({ err: error }, "a sign-in was not noted"));
  return now;
}

/** A token for a user. @throws as {@link signIn} */
export async function login(
  deps: Deps,
  credentials: Credentials,
  attempts?: (account: string) => Promise<void>,
): Promise<TokenAnswer> {
  const account = await signIn(deps, credentials, attempts);
  const [person] = await deps.records.findMany([account.user]);
  const name = person?.name ?? null;
  return credentials.offline === true
    ? issueWithRefresh(deps, account, name)
    : issueToken(deps, account, name);
}

async function accountNamed(deps: Deps, username: string): Promise<Account | undefined> {
  if (username.includes("\0") || !username.isWellFormed()) return undefined;
  const ark = lookupArk(username);
  if (ark === undefined) return deps.records.accountByEmail(normalizeEmail(username));
  const found = await deps.records.find(ark);
  return found && "record" in found ? deps.records.accountOf(found.record.ark) : undefined;
}

/**
 * Sets a new password of the caller, who knows the current one. All tokens and sessions of the
 * account from before end; the caller begins a new one.
 * @param attempts counts attempts by account
 * @throws ValidationError; ServiceError `BAD_CREDENTIALS`, `FORBIDDEN` to an access token,
 * `TOO_MANY_REQUESTS`
 */
export async function changePassword(
  deps: Deps,
  { current, next }: { current: string; next: string },
  caller: Caller,
  attempts?: Attempts,
): Promise<TokenAnswer> {
  const { user } = caller;
  assertPasswords(deps);
  assertShort(deps, { username: current, password: next });
  assertSignedIn(caller, "change a password");
  await attempts?.(user);
  const account = await assertCurrent(deps, await deps.records.accountOf(user), current);
  checkPassword(next, deps.config.PASSWORD_MIN_LENGTH, ["body", "newPassword"]);
  const tokensValidFrom = nextValidFrom(account);
  await deps.records.commit({
    by: user,
    at: Date.now(),
    from: deps.client,
    records: [],
    account: { op: "update", user, passwordHash: await hashPassword(next), tokensValidFrom },
  });
  const [person] = await deps.records.findMany([user]);
  return issueToken(deps, { ...account, tokensValidFrom }, person?.name ?? null);
}

/**
 * The user who signs in with this e-mail address. Only the whole address finds one: parts of it
 * would give away those of others.
 */
export async function userByEmail(deps: Deps, email: string): Promise<StoredRecord | undefined> {
  const account = await deps.records.accountByEmail(normalizeEmail(email));
  return account && userOf(deps, account);
}

/** The record of a caller; absent after the record was deleted. */
export async function userOf(
  deps: Deps,
  { user }: Pick<Caller, "user">,
): Promise<StoredRecord | undefined> {
  const [person] = await deps.records.findMany([user]);
  return person;
}
