import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../../errors.js";
import type { Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { hashOf, liveCredential, newSecret, noteUse } from "./credentials.js";

/** The session of a browser that has signed in. */
export interface Session {
  readonly caller: Caller;
  /** Pages send it with every request that changes something. */
  readonly csrf: string;
  /** ms since 1970; the session ends earlier when it is not used for SESSION_IDLE_TIME. */
  readonly expiresAt: number;
}

/** Uses are noted this many times within SESSION_IDLE_TIME. */
const NOTES = 10;

/**
 * Begins a session of an account. Past MAX_SESSIONS the account's oldest session ends.
 * @returns the session, and the secret that only the browser keeps
 */
export async function createSession(
  deps: Deps,
  { user, admin }: Caller,
  now = Date.now(),
): Promise<{ secret: string; session: Session }> {
  const { SESSION_LIFETIME, MAX_SESSIONS } = deps.config;
  const secret = newSecret();
  const expiresAt = now + SESSION_LIFETIME;
  await deps.records.storeCredential(
    {
      hash: hashOf(secret),
      id: randomUUID(),
      user,
      purpose: "session",
      name: null,
      createdAt: now,
      usedAt: null,
      expiresAt,
      scopes: null,
      boundTo: null,
    },
    { most: MAX_SESSIONS, replaces: true },
  );
  return { secret, session: { caller: { user, admin }, csrf: csrfOf(deps, secret), expiresAt } };
}

/** The session of a secret; `undefined` when it has ended, or never began. */
export async function verifySession(
  deps: Deps,
  secret: string,
  now = Date.now(),
): Promise<Session | undefined> {
  const found = await liveCredential(deps, secret, "session", now);
  if (!found) return undefined;
  const { credential, account } = found;
  const { SESSION_IDLE_TIME } = deps.config;
  if ((credential.usedAt ?? credential.createdAt) + SESSION_IDLE_TIME <= now) return undefined;
  noteUse(deps, credential, { now, every: SESSION_IDLE_TIME / NOTES });
  return {
    caller: { user: account.user, admin: account.admin },
    csrf: csrfOf(deps, secret),
    expiresAt: credential.expiresAt,
  };
}

/** Ends a session, on every node. */
export async function removeSession({ records }: Deps, secret: string): Promise<void> {
  await records.removeCredential({ hash: hashOf(secret) });
}

/**
 * Derived from the session's secret, with a key that only the nodes have: nothing more to store,
 * and worthless for another session.
 */
const csrfOf = ({ jwtSecret }: Deps, secret: string): string =>
  createHmac("sha256", jwtSecret).update(`csrf ${secret}`).digest("base64url");

/** @throws ServiceError `CSRF_REFUSED` */
export function assertCsrf({ csrf }: Session, sent: string | undefined): void {
  const [expected, got] = [Buffer.from(csrf), Buffer.from(sent ?? "")];
  if (got.length === expected.length && timingSafeEqual(got, expected)) return;
  throw new ServiceError(
    "CSRF_REFUSED",
    sent === undefined || sent === ""
      ? "The request has the session cookie, but no CSRF token: send it as X-CSRF-Token, or as " +
          "the field csrf of a form. GET /session returns it."
      : "The CSRF token is of another session: load the page again.",
  );
}

/** @throws ServiceError `CSRF_REFUSED` */
export function assertOwnPage(isOwn: boolean): void {
  if (isOwn) return;
  throw new ServiceError(
    "CSRF_REFUSED",
    "The request does not come from a page of this registry: neither Sec-Fetch-Site nor Origin " +
      "says so. Programs send a token instead of a cookie; for pages, BASE_URL has to be the " +
      "address that browsers use.",
  );
}
