/** Refresh tokens of the command line: each is exchanged once for a new token and a new one of its own. */
import { randomUUID } from "node:crypto";
import { ServiceError } from "../../errors.js";
import type { Account } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { record, recordRefusal, recordTokenUse } from "../access/audit.js";
import { hashOf, liveCredential, newSecret } from "./credentials.js";
import { issueToken, type TokenAnswer } from "./tokens.js";

/** The word in `scope` of a token request that asks for a refresh token (OpenID Connect, section 11). */
export const OFFLINE = "offline_access";

/** Logins of one account that are remembered; the oldest makes place. */
const MOST = 20;

/** A token, and the refresh token that is exchanged for the next one. */
export async function issueWithRefresh(
  deps: Deps,
  account: Account,
  name: string | null,
  now = Date.now(),
): Promise<TokenAnswer> {
  const secret = newSecret();
  await deps.records.storeCredential(
    {
      hash: hashOf(secret),
      id: randomUUID(),
      user: account.user,
      purpose: "refresh",
      name: null,
      createdAt: now,
      usedAt: null,
      expiresAt: now + deps.config.REFRESH_LIFETIME,
      scopes: null,
      boundTo: null,
    },
    { most: MOST, replaces: true },
  );
  return { ...issueToken(deps, account, name, now), refresh_token: secret };
}

/** Exchanges a refresh token, which ends with that. @throws ServiceError `INVALID_TOKEN` */
export async function refresh(deps: Deps, secret: string, now = Date.now()): Promise<TokenAnswer> {
  const found = await liveCredential(deps, secret, "refresh", now);
  // Of two requests with one token, one gets the next.
  if (!found || !(await deps.records.removeCredential({ hash: hashOf(secret) }))) {
    await recordRefusal(deps, { way: "refreshToken" });
    throw new ServiceError(
      "INVALID_TOKEN",
      "The refresh token was used, has expired or was revoked: sign in again.",
    );
  }
  const { user } = found.account;
  await recordTokenUse(deps, { actor: user, kind: "refresh", token: `refresh ${user}` });
  const [person] = await deps.records.findMany([user]);
  return issueWithRefresh(deps, found.account, person?.name ?? null, now);
}

/** Ends a refresh token. An unknown one is as good as ended (RFC 7009, section 2.2). */
export async function endRefresh(deps: Deps, secret: string, now = Date.now()): Promise<void> {
  const found = await liveCredential(deps, secret, "refresh", now);
  if (found && (await deps.records.removeCredential({ hash: hashOf(secret) })))
    await record(deps, "TOKEN_REVOKED", {
      actor: found.account.user,
      detail: { kind: "refresh" },
    });
}
