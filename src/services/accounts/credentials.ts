/** Secrets that stand for an account, and the access tokens of programs among them. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { instantOf } from "../../model/dates.js";
import type { Account, Credential, CredentialPurpose } from "../../storage/records/port.js";
import { lookupArk } from "../../identifiers/ark.js";
import { COLLECTIVES } from "../../model/kinds.js";
import { record } from "../access/audit.js";
import { actsFor, assertSignedIn, type Caller, mayChange } from "../access/rules.js";
import { type Scope, SCOPES, scopesIn } from "../access/scopes.js";
import type { Deps } from "../deps.js";

/** 256 random bits, as 43 characters. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Access tokens begin with it: programs that look for leaked secrets recognise them. */
export const ACCESS_TOKEN_PREFIX = "arkgraph_";

/** Form in which secrets are stored; a secret of 256 bits needs no slow hash. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/**
 * The credential that a secret stands for, with its account, while both are valid. A new password,
 * and disabling or deleting the account, end all credentials from before.
 */
export async function liveCredential(
  { records }: Pick<Deps, "records">,
  secret: string,
  purpose: CredentialPurpose,
  now: number,
): Promise<{ credential: Credential; account: Account } | undefined> {
  const found = await records.credential(hashOf(secret));
  if (!found || found.credential.purpose !== purpose) return undefined;
  const { credential, account } = found;
  const ended =
    credential.expiresAt <= now ||
    credential.createdAt < account.tokensValidFrom ||
    account.deleted ||
    account.disabled;
  return ended ? undefined : found;
}

/** Notes a use now and then; the caller's request does not wait for the disk, nor fail with it. */
export function noteUse(
  { records, log }: Pick<Deps, "records" | "log">,
  { hash, purpose, usedAt, createdAt }: Credential,
  { now, every }: { now: number; every: number },
): void {
  // The first use of a token is always noted.
  if (now - (usedAt ?? (purpose === "session" ? createdAt : 0)) < every) return;
  records
    .useCredential(hash, now)
    .catch((error: unknown) => log.warn({ err: error }, "the use of a credential was not noted"));
}

/** An access token as its owner sees it; the secret is shown once, when it is made. */
export interface AccessToken {
  id: string;
  name: string;
  createdAt: Date;
  usedAt: Date | null;
  expiresAt: Date;
  scopes: Scope[];
  /** ARK of the crate, project or group that it is bound to. */
  boundTo: string | null;
}

/** Most characters of a name. */
const MAX_NAME_CHARS = 100;

/** What a client asks for; all may be of any type. */
interface Asked {
  name?: unknown;
  /** Date or date-time; absent: as late as allowed. */
  expiresAt?: unknown;
  /** Absent: all. `read` is always one of them. */
  scopes?: unknown;
  /** Absent: not bound. */
  boundTo?: unknown;
}

/**
 * Makes an access token for programs.
 * @returns the token's secret, which cannot be read again
 * @throws ValidationError; ServiceError `FORBIDDEN` to an access token, `TOO_MANY_REQUESTS` past
 * MAX_ACCESS_TOKENS
 */
export async function createAccessToken(
  deps: Deps,
  asked: Asked,
  caller: Caller,
  now = Date.now(),
): Promise<{ secret: string; token: AccessToken }> {
  assertSignedIn(caller, "make tokens");
  const { user } = caller;
  const { name, expiresAt, scopes } = checked(asked, now, deps.config.ACCESS_TOKEN_LIFETIME);
  const boundTo = await boundRecord(deps, asked.boundTo, caller);
  const secret = ACCESS_TOKEN_PREFIX + newSecret();
  const credential: Credential = {
    hash: hashOf(secret),
    id: randomUUID(),
    user,
    purpose: "token",
    name,
    createdAt: now,
    usedAt: null,
    expiresAt,
    scopes: scopes.join(" "),
    boundTo,
  };
  const { MAX_ACCESS_TOKENS: most } = deps.config;
  if (!(await deps.records.storeCredential(credential, { most, replaces: false })))
    throw new ServiceError(
      "TOO_MANY_REQUESTS",
      `You have ${most} access tokens, which is the most (MAX_ACCESS_TOKENS). Revoke one first.`,
    );
  const { id } = credential;
  await record(deps, "TOKEN_CREATED", {
    actor: user,
    subject: boundTo,
    detail: { token: id, name, scopes: scopes.join(" ") },
  });
  return { secret, token: shown(credential) };
}

function checked(
  { name, expiresAt, scopes }: Asked,
  now: number,
  longest: number,
): { name: string; expiresAt: number; scopes: Scope[] } {
  const problems: ValidationItem[] = [];
  const problem = (field: string, msg: string, type = "value_error") =>
    void problems.push({ loc: ["body", field], msg, type });
  const given = typeof name === "string" ? name.trim() : "";
  if (typeof name !== "string") problem("name", "Input should be a valid string", "string_type");
  else if (given === "" || given.length > MAX_NAME_CHARS)
    problem("name", `Value error, a name has 1 to ${MAX_NAME_CHARS} characters`);
  let at = now + longest;
  if (expiresAt !== undefined && expiresAt !== null) {
    at = (typeof expiresAt === "string" ? instantOf(expiresAt) : undefined) ?? Number.NaN;
    if (Number.isNaN(at)) problem("expiresAt", "Input should be a valid datetime or date");
    else if (at <= now) problem("expiresAt", "Value error, the time has passed: name a later one");
    else if (at > now + longest)
      problem(
        "expiresAt",
        `Value error, a token is valid for at most ${Math.floor(longest / 86_400_000)} days ` +
          "(ACCESS_TOKEN_LIFETIME)",
      );
  }
  if (scopes !== undefined && scopes !== null) {
    const isKnown = (scope: unknown) => (SCOPES as readonly unknown[]).includes(scope);
    if (!Array.isArray(scopes)) problem("scopes", "Input should be a valid list", "list_type");
    else if (!scopes.every(isKnown))
      problem("scopes", `Value error, the scopes are ${SCOPES.join(", ")}`);
  }
  if (problems.length > 0) throw new ValidationError(problems);
  const chosen = scopes as Scope[] | null | undefined;
  return {
    name: given,
    expiresAt: at,
    scopes: SCOPES.filter((scope) => scope === "read" || (chosen ?? SCOPES).includes(scope)),
  };
}

const BINDS: ReadonlySet<string> = new Set(["rocrate", ...COLLECTIVES]);

/**
 * The crate, project or group that a token is bound to: one that its maker may change or acts for.
 * @throws ValidationError
 */
async function boundRecord(
  { records }: Pick<Deps, "records">,
  asked: unknown,
  caller: Caller,
): Promise<string | null> {
  if (asked === undefined || asked === null) return null;
  const ark = typeof asked === "string" ? lookupArk(asked) : undefined;
  const found = ark && (await records.find(ark));
  const target = found && "record" in found ? found.record : undefined;
  const mayBind =
    target &&
    !target.tombstone &&
    BINDS.has(target.kind) &&
    ((await mayChange(records, caller, target)) || (await actsFor(records, caller, target.ark)));
  if (mayBind) return target.ark;
  throw invalid(
    ["body", "boundTo"],
    "Value error, not the identifier of a crate, group, organization or project that you may change",
  );
}

const shown = ({
  id,
  name,
  createdAt,
  usedAt,
  expiresAt,
  scopes,
  boundTo,
}: Credential): AccessToken => ({
  id,
  name: name ?? "",
  createdAt: new Date(createdAt),
  usedAt: usedAt === null ? null : new Date(usedAt),
  expiresAt: new Date(expiresAt),
  scopes: scopes === null ? [...SCOPES] : scopesIn(scopes),
  boundTo,
});

/** The caller's access tokens that are valid, the newest first. */
export async function listAccessTokens(
  { records }: Deps,
  { user }: Caller,
  now = Date.now(),
): Promise<AccessToken[]> {
  const [stored, account] = await Promise.all([
    records.credentialsOf(user, "token"),
    records.accountOf(user),
  ]);
  return stored
    .filter(
      ({ expiresAt, createdAt }) => expiresAt > now && createdAt >= (account?.tokensValidFrom ?? 0),
    )
    .map(shown);
}

/** Ends an access token of the caller's, on every node. @throws ServiceError `NOT_FOUND` */
export async function revokeAccessToken(
  deps: Deps,
  id: string,
  { user }: Caller,
): Promise<AccessToken> {
  if (!/^[\w-]{1,64}$/.test(id)) throw invalid(["path", "id"], "Input should be the id of a token");
  const { records } = deps;
  const token = (await records.credentialsOf(user, "token")).find((each) => each.id === id);
  if (!token || !(await records.removeCredential({ user, purpose: "token", id })))
    throw new ServiceError("NOT_FOUND", `You have no access token with the id ${id}.`);
  await record(deps, "TOKEN_REVOKED", {
    actor: user,
    subject: token.boundTo,
    detail: { token: id, name: token.name ?? "" },
  });
  return shown(token);
}
