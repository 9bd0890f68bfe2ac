/** What only users have: an account, which is written with the record of the user. */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { invalid, ServiceError, ValidationError } from "../../errors.js";
import { codePointName } from "../../identifiers/ark.js";
import { isObject, type JsonObject, type JsonValue } from "../../model/field.js";
import type { Account, AccountChange, SpentSetting } from "../../storage/records/port.js";
import { recordRefusal } from "../access/audit.js";
import { assertSignedIn, authenticated, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { checkPassword, hashPassword, verifyPassword } from "./passwords.js";

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
export const normalizeEmail = (email: string): string =>
  email.trim().normalize("NFKC").toLowerCase();

const ADMIN_TOKEN = "adminToken";
/**
 * The registry's token has 32 characters; a longer one is always wrong, and hashing megabytes is
 * slow.
 */
const MAX_ADMIN_TOKEN_CHARS = 1000;
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Lease of the node that announces the token: of several nodes that start an installation together
 * one announces it.
 */
const ANNOUNCEMENT_LEASE = "admin-token";
/** After which another node takes the lease over if its holder has died. */
const LEASE_MS = 2_000;
const POLL_INTERVAL_MS = 50;

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
    if (await records.lease(ANNOUNCEMENT_LEASE, node, LEASE_MS)) break;
    await pause(POLL_INTERVAL_MS);
  }
  try {
    // Another node may have completed both steps between the poll and the lease.
    if (await wasMade()) return undefined;
    const token = randomBytes(24).toString("base64url");
    announce(token);
    const kept = await records.setSetting(ADMIN_TOKEN, sha256(token), { ifAbsent: true });
    return kept === sha256(token) ? token : undefined;
  } finally {
    await records.releaseLease(ANNOUNCEMENT_LEASE, node);
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
  const value = sha256(sent.slice(0, MAX_ADMIN_TOKEN_CHARS));
  const matches =
    kept !== undefined && kept !== "" && timingSafeEqual(Buffer.from(kept), Buffer.from(value));
  if (!matches) {
    await recordRefusal(deps, { way: "adminToken" });
    throw new ServiceError(
      "FORBIDDEN",
      "The adminToken is not the one that the first start printed, or it has been used.",
    );
  }
  return { admin: true, spends: { name: ADMIN_TOKEN, value } };
}

/** Counts attempts to guess a secret of what is named. @throws ServiceError `TOO_MANY_REQUESTS` */
export type Attempts = (guessed: string) => Promise<void>;

/**
 * Accounts are created without a token, unless REGISTRATION says otherwise. Where it does, the
 * one-time token creates the first administrator; it is checked with the account.
 * @throws ServiceError `FORBIDDEN`, `NOT_AUTHENTICATED`
 */
export function assertMayHaveAccount(
  { config }: Pick<Deps, "config">,
  input: JsonValue | undefined,
  caller: Caller | null,
): void {
  const bringsAdminToken = isObject(input) && typeof input[ADMIN_TOKEN] === "string";
  if (config.REGISTRATION !== "admin" || bringsAdminToken || authenticated(caller).admin) return;
  throw new ServiceError(
    "FORBIDDEN",
    "Accounts are created by administrators only (REGISTRATION=admin).",
  );
}

type NewAccount = Omit<Extract<AccountChange, { op: "create" }>, "user">;
type ChangedAccount = Omit<Extract<AccountChange, { op: "update" }>, "user">;

/**
 * What the document of a user makes of its account, without the identifier of the user.
 * @param user the stored user; absent: it is created
 * @throws ValidationError for a malformed address, and a password that is easy to guess;
 * ServiceError `BAD_CREDENTIALS`, `FORBIDDEN`, `TOO_MANY_REQUESTS`
 */
export async function accountChange(
  deps: Deps,
  user: string | undefined,
  document: JsonObject,
  caller: Caller | null,
  attempts?: Attempts,
): Promise<NewAccount | ChangedAccount> {
  return user === undefined
    ? newAccount(deps, document, attempts)
    : changedAccount(deps, user, document, authenticated(caller), attempts);
}

async function newAccount(
  deps: Deps,
  document: JsonObject,
  attempts?: Attempts,
): Promise<NewAccount> {
  const email = emailOf(document);
  const password = document["password"] as string;
  checkPassword(password, deps.config.PASSWORD_MIN_LENGTH);
  const right = await adminRight(deps, document[ADMIN_TOKEN], attempts);
  const passwordHash = await hashPassword(password);
  return { op: "create", email, passwordHash, ...(right ?? { admin: false }) };
}

/**
 * A password that matches the stored one leaves the account unchanged; another password replaces it
 * and ends all tokens issued before, for who signed in and knows the current one. Newer rules apply
 * only to the values that change.
 */
async function changedAccount(
  deps: Deps,
  user: string,
  document: JsonObject,
  who: Caller,
  attempts?: Attempts,
): Promise<ChangedAccount> {
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
    if (who.user === user) await assertCurrent(deps, account, document["currentPassword"]);
  }
  const right = await adminRight(deps, document[ADMIN_TOKEN], attempts);
  return {
    op: "update",
    ...(email === account?.email ? {} : { email }),
    ...right,
    ...(password === undefined
      ? {}
      : { passwordHash: await hashPassword(password), tokensValidFrom: nextValidFrom(account) }),
  };
}

/** @returns the account; @throws ValidationError; ServiceError `BAD_CREDENTIALS` */
export async function assertCurrent(
  deps: Deps,
  account: Account | undefined,
  current: JsonValue | undefined,
): Promise<Account> {
  if (typeof current !== "string")
    throw invalid(
      ["body", "currentPassword"],
      "Field required: the password differs from the current one, so send that one here to " +
        "replace it",
      "missing",
    );
  // Without an account too, so that the time does not show whether there is one.
  const isRight = await verifyPassword(account?.passwordHash, current);
  if (!account || !isRight) {
    await recordRefusal(deps, { way: "change", account: account?.user });
    throw new ServiceError("BAD_CREDENTIALS", "The current password is wrong.");
  }
  return account;
}

/** Tokens of before end with each change, whichever clock set the time of the last one. */
export const nextValidFrom = (account: Account | undefined, now = Date.now()): number =>
  Math.max(now, (account?.tokensValidFrom ?? 0) + 1);

/** @param known the account's current address */
function emailOf(document: JsonObject, known?: string): string {
  const sent = document["email"] as string;
  const email = normalizeEmail(sent);
  if (email === known) return email;
  const invisible = invisibleIn(sent);
  if (invisible !== undefined)
    throw invalid(
      ["body", "email"],
      `Value error, the address holds a character that cannot be seen (${codePointName(invisible)}): leave it out`,
    );
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
