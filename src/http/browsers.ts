/**
 * What is special about browsers: session cookies, CSRF tokens, and requests of pages from
 * elsewhere.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../services/access/rules.js";
import {
  assertOwnPage,
  createSession,
  removeSession,
  type Session,
  verifySession,
} from "../services/accounts/sessions.js";
import { clientAddress } from "../config/client.js";
import { isReviewSecret } from "../services/accounts/review-secrets.js";
import type { SentCredentials } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";

/**
 * Name of the session cookie. With the prefix browsers accept it only over https, for this host and
 * for all paths (RFC 6265bis, section 4.1.3).
 */
const nameOf = (isSecure: boolean): string => (isSecure ? "__Host-arkgraph" : "arkgraph");
const isSecure = ({ baseUrl }: Base): boolean => baseUrl().startsWith("https:");
const SECRET = /^[\w-]{43}$/;

type Base = Pick<Deps, "baseUrl">;
type Settings = Pick<Deps, "baseUrl" | "config">;

/** The secret in the session cookie, whether it is still valid or not. */
export const secretIn = (req: IncomingMessage, base: Base): string | undefined =>
  cookieIn(req, nameOf(isSecure(base)), (value) => SECRET.test(value));

function cookieIn(
  { headers: { cookie } }: IncomingMessage,
  called: string,
  isIt: (value: string) => boolean,
): string | undefined {
  if (cookie === undefined) return undefined;
  const name = `${called}=`;
  for (const part of cookie.split(";")) {
    const pair = part.trim();
    if (pair.startsWith(name) && isIt(pair.slice(name.length))) return pair.slice(name.length);
  }
  return undefined;
}

const reviewName = (base: Base): string => `${nameOf(isSecure(base))}-review`;

/** The secret of a reviewer's link in its cookie, whether it is still valid or not. */
export const reviewIn = (req: IncomingMessage, base: Base): string | undefined =>
  cookieIn(req, reviewName(base), isReviewSecret);

/** @param until when the link expires; null forgets it */
export function reviewCookie(base: Base, secret: string, until: number | null): string {
  const seconds = until === null ? 0 : Math.max(0, Math.floor((until - Date.now()) / 1000));
  // Lax: the browser comes from another site, for example that of a journal.
  return (
    `${reviewName(base)}=${secret}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax` +
    (isSecure(base) ? "; Secure" : "")
  );
}

/**
 * Whether a page of the registry made the request, by headers that pages cannot set themselves
 * (Fetch standard, section 3.2; Fetch Metadata).
 */
export function isFromOwnPage({ headers }: IncomingMessage, { baseUrl }: Base): boolean {
  if (headers["sec-fetch-site"] === "same-origin") return true;
  const { origin } = headers;
  return origin !== undefined && origin === new URL(baseUrl()).origin;
}

const SAFE: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * What a request sent to show who it is from. {@link import("../services/accounts/tokens.js").Authenticator}
 * decides about it, the same for every transport.
 * @param more.csrf the field of a page's form that was read already
 * @param more.address of the client
 */
export function credentialsOf(
  req: IncomingMessage,
  base: Settings,
  more: { readonly csrf?: string | undefined; readonly address?: string } = {},
): SentCredentials {
  const csrf = more.csrf ?? req.headers["x-csrf-token"];
  return {
    authorization: req.headers.authorization,
    session: secretIn(req, base),
    isFromOwnPage: isFromOwnPage(req, base),
    csrf: typeof csrf === "string" ? csrf : undefined,
    review: reviewIn(req, base),
    address: () => more.address ?? clientAddress(base.config.TRUSTED_PROXIES)(req),
    needs: SAFE.has(req.method) ? "nothing" : "csrf",
  };
}

/**
 * The same of a request that opens a WebSocket: browsers let pages of any site open one, and send
 * the cookie with it.
 * @param authorization the token in the connection's parameters
 */
export function socketCredentials(
  req: IncomingMessage,
  base: Settings,
  authorization: string | undefined,
): SentCredentials {
  const sent = credentialsOf(req, base);
  return { ...sent, needs: "origin", authorization: authorization ?? sent.authorization };
}

/** The session of a page's reader; `undefined` without one. For requests that change nothing. */
export async function sessionOf(deps: Deps, req: IncomingMessage): Promise<Session | undefined> {
  const secret = secretIn(req, deps);
  return secret === undefined ? undefined : verifySession(deps, secret);
}

/**
 * Signs a browser in: the answer sets the session cookie. An earlier session of the browser ends.
 * @throws ServiceError `CSRF_REFUSED` when the form is of another site, which could sign its readers
 * in with an account of its own
 */
export async function startSession(
  deps: Deps,
  req: IncomingMessage,
  res: ServerResponse,
  caller: Caller,
): Promise<Session> {
  assertOwnPage(isFromOwnPage(req, deps));
  return beginSession(deps, req, res, caller);
}

/** The same for a browser that comes from an issuer, and has shown that its sign-in began here. */
export async function beginSession(
  deps: Deps,
  req: IncomingMessage,
  res: ServerResponse,
  caller: Caller,
): Promise<Session> {
  const before = secretIn(req, deps);
  if (before !== undefined) await removeSession(deps, before);
  // Who signs in goes on as that account.
  if (reviewIn(req, deps) !== undefined)
    res.appendHeader("Set-Cookie", reviewCookie(deps, "", null));
  const { secret, session } = await createSession(deps, caller);
  setCookie(deps, res, secret, deps.config.SESSION_LIFETIME);
  return session;
}

/** Signs a browser out. The caller of this function has checked that the request is the browser's. */
export async function endSession(
  deps: Deps,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const secret = secretIn(req, deps);
  if (secret !== undefined) await removeSession(deps, secret);
  setCookie(deps, res, "", 0);
}

/** What a browser holds while its reader signs in at an issuer. */
const transactionName = (base: Base): string => `${nameOf(isSecure(base))}-signin`;

/** @param value null: the transaction has ended */
export function transactionCookie(base: Base, value: string | null): string {
  const secure = isSecure(base) ? "; Secure" : "";
  // Lax: the browser comes back from another site.
  return (
    `${transactionName(base)}=${value ?? ""}; Path=/; Max-Age=${value === null ? 0 : 600}; ` +
    `HttpOnly; SameSite=Lax${secure}`
  );
}

export function transactionIn({ headers: { cookie = "" } }: IncomingMessage, base: Base): string {
  const name = `${transactionName(base)}=`;
  const pair = cookie.split(";").find((part) => part.trim().startsWith(name));
  return pair === undefined ? "" : pair.trim().slice(name.length);
}

function setCookie(base: Base, res: ServerResponse, secret: string, lifetime: number): void {
  const secure = isSecure(base);
  res.appendHeader(
    "Set-Cookie",
    `${nameOf(secure)}=${secret}; Path=/; Max-Age=${Math.floor(lifetime / 1000)}; HttpOnly; ` +
      `SameSite=Lax${secure ? "; Secure" : ""}`,
  );
}
