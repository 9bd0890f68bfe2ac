/**
 * What is special about browsers: session cookies, CSRF tokens, and requests of pages from
 * elsewhere.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import cors from "cors";
import type { Caller } from "../services/access/rules.js";
import {
  assertOwnPage,
  createSession,
  removeSession,
  type Session,
  verifySession,
} from "../services/accounts/sessions.js";
import type { SentCredentials } from "../services/accounts/tokens.js";
import type { Deps } from "../services/deps.js";

const ALLOWED = [
  "Authorization",
  "Content-Type",
  "Accept",
  "If-Match",
  "If-None-Match",
  "If-Range",
  "Range",
  "X-Request-Id",
  "apollo-require-preflight",
];
const EXPOSED = [
  "Accept-Patch",
  "ETag",
  "Link",
  "Content-Location",
  "Content-Disposition",
  "Content-Range",
  "Accept-Ranges",
  "Retry-After",
  "WWW-Authenticate",
  "X-As-Of",
  "X-Publication-Status",
  "X-Request-Id",
  "X-Total-Count",
  "X-Truncated",
];

/**
 * Adds Origin to the Vary header of the answer; setting the header would replace the earlier value.
 */
function alwaysVaries(res: ServerResponse): void {
  const writeHead = res.writeHead.bind(res) as (
    status: number,
    ...rest: unknown[]
  ) => ServerResponse;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    const headers = rest.at(-1);
    if (headers !== null && typeof headers === "object" && !Array.isArray(headers)) {
      const name = Object.keys(headers).find((key) => key.toLowerCase() === "vary");
      const vary = name === undefined ? undefined : String((headers as OutgoingHttpHeaders)[name]);
      if (vary !== undefined && !/\borigin\b/i.test(vary))
        rest[rest.length - 1] = { ...headers, [name!]: `${vary}, Origin` };
    }
    return writeHead(status, ...rest);
  };
}

/**
 * Lets pages of other sites call the service (Fetch standard, CORS protocol). Never with
 * credentials of the browser: a token that the calling page holds itself is an ordinary header.
 * @param origins `*` for any, or the allowed origins; null for none
 * @returns true when the request was a preflight, which is answered then
 */
export function crossOrigin(
  origins: "*" | readonly string[] | null,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  if (origins === null) return () => false;
  const handle = cors({
    origin: origins === "*" ? "*" : [...origins],
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowedHeaders: ALLOWED,
    exposedHeaders: EXPOSED,
    credentials: false,
    maxAge: 7200,
    optionsSuccessStatus: 204,
  });
  return (req, res) => {
    if (req.headers.origin === undefined) {
      // A cache may return this answer to a page of another site.
      if (origins === "*") res.setHeader("Access-Control-Allow-Origin", "*");
      else res.setHeader("Vary", "Origin");
    }
    if (origins !== "*") alwaysVaries(res);
    if (req.headers.origin === undefined) return false;
    const preflight =
      req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined;
    let passed = false;
    // An OPTIONS request that is not a preflight gets the answer of its path.
    handle(
      { headers: req.headers, method: preflight ? "OPTIONS" : "GET" },
      res,
      () => (passed = true),
    );
    return preflight && !passed;
  };
}

/**
 * Name of the session cookie. With the prefix browsers accept it only over https, for this host and
 * for all paths (RFC 6265bis, section 4.1.3).
 */
const nameOf = (isSecure: boolean): string => (isSecure ? "__Host-arkgraph" : "arkgraph");
const isSecure = ({ baseUrl }: Base): boolean => baseUrl().startsWith("https:");
const SECRET = /^[\w-]{43}$/;

type Base = Pick<Deps, "baseUrl">;

/** The secret in the session cookie, whether it is still valid or not. */
function secretIn({ headers: { cookie } }: IncomingMessage, base: Base): string | undefined {
  if (cookie === undefined) return undefined;
  const name = `${nameOf(isSecure(base))}=`;
  for (const part of cookie.split(";")) {
    const pair = part.trim();
    if (pair.startsWith(name) && SECRET.test(pair.slice(name.length)))
      return pair.slice(name.length);
  }
  return undefined;
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
 * @param form fields of a page's form that was read already: `csrf` is one of them
 */
export function credentialsOf(
  req: IncomingMessage,
  base: Base,
  form: { readonly csrf?: string | undefined } = {},
): SentCredentials {
  const csrf = form.csrf ?? req.headers["x-csrf-token"];
  return {
    authorization: req.headers.authorization,
    session: secretIn(req, base),
    isFromOwnPage: isFromOwnPage(req, base),
    csrf: typeof csrf === "string" ? csrf : undefined,
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
  base: Base,
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
  const before = secretIn(req, deps);
  if (before !== undefined) await removeSession(deps, before);
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

function setCookie(base: Base, res: ServerResponse, secret: string, lifetime: number): void {
  const secure = isSecure(base);
  res.appendHeader(
    "Set-Cookie",
    `${nameOf(secure)}=${secret}; Path=/; Max-Age=${Math.floor(lifetime / 1000)}; HttpOnly; ` +
      `SameSite=Lax${secure ? "; Secure" : ""}`,
  );
}

/**
 * Answers to a request with the session cookie are for that browser alone: no shared cache stores
 * them, and the browser's own cache does not use them after a sign-out. Call it before anything is
 * sent.
 */
export function keepPrivate(req: IncomingMessage, res: ServerResponse, base: Base): void {
  if (secretIn(req, base) === undefined) return;
  const writeHead = res.writeHead.bind(res) as (...sent: unknown[]) => ServerResponse;
  res.writeHead = (status: number, first?: unknown, second?: unknown) => {
    const given: OutgoingHttpHeaders = isHeaders(first)
      ? { ...first }
      : isHeaders(second)
        ? { ...second }
        : {};
    const read = (name: string): string => {
      const key = Object.keys(given).find((one) => one.toLowerCase() === name);
      const value = key === undefined ? res.getHeader(name) : given[key];
      if (key !== undefined) delete given[key];
      return Array.isArray(value) ? value.join(", ") : String(value ?? "");
    };
    const headers = {
      ...given,
      Vary: withCookie(read("vary")),
      "Cache-Control": privately(read("cache-control")),
    };
    return typeof first === "string"
      ? writeHead(status, first, headers)
      : writeHead(status, headers);
  };
}

const isHeaders = (value: unknown): value is OutgoingHttpHeaders =>
  value !== null && typeof value === "object";

const withCookie = (vary: string): string =>
  /(?:^|[\s,])(?:cookie|\*)(?:[\s,]|$)/i.test(vary)
    ? vary
    : [vary, "Cookie"].filter((part) => part !== "").join(", ");

function privately(cacheControl: string): string {
  if (/\bno-store\b/i.test(cacheControl)) return cacheControl;
  const rest = cacheControl
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !/^(?:public|private|s-maxage=.*)$/i.test(part));
  return ["private", ...(rest.length > 0 ? rest : ["no-cache"])].join(", ");
}
