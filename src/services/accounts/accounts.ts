import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Algorithm, hash, verify } from "@node-rs/argon2";
import { invalid, ServiceError, ValidationError } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { packageRoot } from "../../package-root.js";
import type {
  Account,
  AccountChange,
  SpentSetting,
  StoredRecord,
} from "../../storage/records/port.js";
import { assertSignedIn, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { issueToken, type TokenAnswer } from "./tokens.js";

/** OWASP's argon2id parameters: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  algorithm: Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};

/** argon2id in PHC format. */
export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS);

/**
 * Characters of the longest password that the model accepts: no account has a longer password, so
 * it need not be hashed.
 */
const MAX_PASSWORD_CHARS = 1024;

/**
 * Refuses a new password that is easy to guess. The password is stored as it was sent; only the
 * comparison uses a folded form.
 * @param least PASSWORD_MIN_LENGTH, counted in code points of the composed form
 * @throws ValidationError at `at`; the password is not part of it
 */
export function checkPassword(
  password: string,
  least: number,
  at: readonly string[] = ["body", "password"],
): void {
  if ([...password.normalize("NFC")].length < least) {
    const message = `String should have at least ${least} characters (PASSWORD_MIN_LENGTH)`;
    throw invalid([...at], message, "string_too_short", { min_length: least });
  }
  if (!isCommon(password)) return;
  throw invalid(
    [...at],
    "Value error, this is one of the 10,000 most used passwords: choose another one",
  );
}

/** Lines with `#` say where the list comes from. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  readFileSync(join(packageRoot, "src/services/accounts/common-passwords.txt"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);

const isCommon = (password: string): boolean =>
  COMMON_PASSWORDS.has(password.normalize("NFKC").toLowerCase());

let decoy: Promise<string> | undefined;

/**
 * Takes the same time whether there is a hash to compare with or not, so that callers cannot
 * distinguish an unknown user from a wrong password.
 */
export async function verifyPassword(
  stored: string | undefined,
  password: string,
): Promise<boolean> {
  decoy ??= hashPassword("no account has this password");
  const tooLong = password.length > 2 * MAX_PASSWORD_CHARS;
  const matches = await verify(stored ?? (await decoy), tooLong ? "" : password).catch(() => false);
  return matches && stored !== undefined && !tooLong;
}

/**
 * Characters that are invisible: controls, format characters, spaces, unassigned and ignorable
 * ones, the blank of Braille.
 */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The first invisible character of an address; spaces around the address are not part of it. */
const invisibleIn = (email: string): string | undefined => {
  const bare = email.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  return (INVISIBLE.exec(bare) ?? INVISIBLE.exec(bare.normalize("NFKC")))?.[0];
};

/** Form in which e-mail addresses are compared: trimmed, NFKC, lower case. */
const normalizeEmail = (email: string): string => email.trim().normalize("NFKC").toLowerCase();

const ADMIN_TOKEN = "adminToken";
/**
 * The registry's token has 32 characters; a longer one is always wrong, and hashing megabytes is
 * slow.
 */
const LONGEST_ADMIN_TOKEN = 1000;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Lease of the node that announces the token: of several nodes that start an installation together
 * one announces it.
 */
const ANNOUNCING = "admin-token";
/**
 * ms after which another node takes the lease over if its holder has died; and ms between two
 * polls.
 */
const [TAKEOVER, LOOK] = [2_000, 50];

/**
 * Creates the one-time token of a new installation; `undefined` when one was created before. Only
 * its hash is stored.
 * @param announce gets the token before its hash is stored: if the process dies between the two,
 * the announced token is worthless, and the next start creates another
 */
export async function firstAdminToken(
  { records }: Pick<Deps, "records">,
  announce: (token: string) => void = () => {},
): Promise<string | undefined> {
  const wasMade = async (): Promise<boolean> => (await records.setting(ADMIN_TOKEN)) !== undefined;
  const node = randomUUID();
  for (;;) {
    if (await wasMade()) return undefined;
    if (await records.lease(ANNOUNCING, node, TAKEOVER)) break;
    await pause(LOOK);
  }
  try {
    // Another node may have completed both steps between the poll and the lease.
    if (await wasMade()) return undefined;
    const token = randomBytes(24).toString("base64url");
    announce(token);
    const kept = await records.setSetting(ADMIN_TOKEN, sha256(token), { ifAbsent: true });
    return kept === sha256(token) ? token : undefined;
  } finally {
    await records.releaseLease(ANNOUNCING, node);
  }
}

/**
 * Checks the token that the first start printed; it makes the account an administrator's. The
 * commit that stores the account spends the token, so that of two accounts that send it at the same
 * time one gets it.
 * @throws ServiceError `FORBIDDEN` for another token, `TOO_MANY_REQUESTS`
 */
async function adminRight(
  deps: Deps,
  sent: JsonValue | undefined,
  attempts: Attempts | undefined,
): Promise<{ admin: true; spends: SpentSetting } | undefined> {
  if (typeof sent !== "string") return undefined;
  await attempts?.(ADMIN_TOKEN);
  const kept = await deps.records.setting(ADMIN_TOKEN);
  const value = sha256(sent.slice(0, LONGEST_ADMIN_TOKEN));
  const matches =
    kept !== undefined && kept !== "" && timingSafeEqual(Buffer.from(kept), Buffer.from(value));
  if (!matches)
    throw new ServiceError(
      "FORBIDDEN",
      "The adminToken is not the one that the first start printed, or it has been used.",
    );
  return { admin: true, spends: { name: ADMIN_TOKEN, value } };
}

/** Counts attempts to guess a secret of what is named. @throws ServiceError `TOO_MANY_REQUESTS` */
export type Attempts = (guessed: string) => Promise<void>;

type NewAccount = Omit<Extract<AccountChange, { op: "create" }>, "user">;

/**
 * Account of a new user.
 * @throws ValidationError for a malformed address, and a password that is easy to guess
 */
export async function accountToCreate(
  deps: Deps,
  document: JsonObject,
  attempts?: Attempts,
): Promise<NewAccount> {
  const email = emailOf(document);
  checkPassword(document["password"] as string, deps.config.PASSWORD_MIN_LENGTH);
  const right = await adminRight(deps, document["adminToken"], attempts);
  return {
    op: "create",
    email,
    passwordHash: await hashPassword(document["password"] as string),
    ...(right ?? { admin: false }),
  };
}

/**
 * The account after an update: a password that matches the stored one leaves it unchanged; another
 * password replaces it and ends all tokens issued before, for who signed in and knows the current
 * one. Newer rules apply only to the values that change.
 * @throws ValidationError as {@link accountToCreate}; ServiceError `BAD_CREDENTIALS`, `FORBIDDEN`,
 * `TOO_MANY_REQUESTS`
 */
export async function accountToUpdate(
  deps: Deps,
  user: string,
  document: JsonObject,
  who: Caller,
  attempts?: Attempts,
): Promise<AccountChange> {
  const account = await deps.records.accountOf(user);
  // A patch leaves the password out.
  const sent = document["password"] as string | undefined;
  if (sent !== undefined) await attempts?.(user);
  const same = sent === undefined || (await verifyPassword(account?.passwordHash, sent));
  const password = same ? undefined : sent;
  const email = emailOf(document, account?.email);
  if (password !== undefined) {
    assertSignedIn(who, "change a password");
    checkPassword(password, deps.config.PASSWORD_MIN_LENGTH);
    // An administrator does not know the current one of somebody else.
    if (who.user === user) await assertCurrent(account, document["currentPassword"]);
  }
  const right = await adminRight(deps, document["adminToken"], attempts);
  return {
    op: "update",
    user,
    email,
    ...right,
    ...(password === undefined
      ? {}
      : { passwordHash: await hashPassword(password), tokensValidFrom: nextValidFrom(account) }),
  };
}

/** @throws ValidationError; ServiceError `BAD_CREDENTIALS` */
async function assertCurrent(
  account: Account | undefined,
  current: JsonValue | undefined,
): Promise<void> {
  if (typeof current !== "string")
    throw invalid(
      ["body", "currentPassword"],
      "Field required: the password differs from the current one, so send that one here to " +
        "replace it",
      "missing",
    );
  if (!(await verifyPassword(account?.passwordHash, current)))
    throw new ServiceError("BAD_CREDENTIALS", "The current password is wrong.");
}

/** Tokens of before end with each change, whichever clock set the time of the last one. */
export const nextValidFrom = (account: Account | undefined, now = Date.now()): number =>
  Math.max(now, (account?.tokensValidFrom ?? 0) + 1);

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

/** @param known the account's current address */
function emailOf(document: JsonObject, known?: string): string {
  const sent = document["email"] as string;
  const email = normalizeEmail(sent);
  if (email === known) return email;
  const invisible = invisibleIn(sent);
  if (invisible !== undefined) {
    const code = invisible.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    throw invalid(
      ["body", "email"],
      `Value error, the address holds a character that cannot be seen (U+${code}): leave it out`,
    );
  }
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new ValidationError([
      {
        loc: ["body", "email"],
        msg: "value is not a valid email address: it has the form name@host",
        type: "value_error",
      },
    ]);
  }
  return email;
}

/** The credentials of a token request (OAuth 2.0 password grant). */
interface Credentials {
  username: string;
  password: string;
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
  return { username: form["username"] as string, password: form["password"] as string };
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
  assertShort(deps, { username, password });
  const account = await accountNamed(deps, username);
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
  const [record] = await deps.records.findMany([account.user]);
  return issueToken(deps, account, record?.name ?? null);
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
  assertShort(deps, { username: current, password: next });
  assertSignedIn(caller, "change a password");
  await attempts?.(user);
  const account = await deps.records.accountOf(user);
  await assertCurrent(account, current);
  checkPassword(next, deps.config.PASSWORD_MIN_LENGTH, ["body", "newPassword"]);
  const tokensValidFrom = nextValidFrom(account);
  await deps.records.commit({
    by: user,
    at: Date.now(),
    records: [],
    account: { op: "update", user, passwordHash: await hashPassword(next), tokensValidFrom },
  });
  const [record] = await deps.records.findMany([user]);
  return issueToken(deps, { ...account!, tokensValidFrom }, record?.name ?? null);
}

/** The record of a caller; absent after the record was deleted. */
export async function userOf(deps: Deps, { user }: Caller): Promise<StoredRecord | undefined> {
  const [record] = await deps.records.findMany([user]);
  return record;
}
