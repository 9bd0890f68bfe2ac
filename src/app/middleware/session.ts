/** Requests with the cookie of a browser's session, or with a reviewer's link. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { reviewIn, secretIn } from "../../http/browsers.js";
import { REVIEW_PREFIX } from "../../services/accounts/review-secrets.js";
import type { Deps } from "../../services/deps.js";

/**
 * Keeps answers of a session private. Who the caller is each API asks itself: it refuses a wrong
 * token in its own form, after what it checks before.
 */
export const sessions =
  (base: Pick<Deps, "baseUrl">): RequestHandler =>
  (req, res, next) => {
    if (isReviewed(req, base)) keepPrivate(res, REVIEWED);
    else if (secretIn(req, base) !== undefined) keepPrivate(res);
    next();
  };

/** Whether the request has the secret of a link: as its token, in its cookie, or in its address. */
const isReviewed = (req: IncomingMessage, base: Pick<Deps, "baseUrl">): boolean =>
  reviewIn(req, base) !== undefined ||
  req.headers.authorization?.includes(REVIEW_PREFIX) === true ||
  req.url?.startsWith("/review/") === true;

/** What a link shows is in no cache and no index, and other sites do not learn where it was. */
const REVIEWED = {
  "Cache-Control": "private, no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "no-referrer",
} as const;

/**
 * Answers to a request with the session cookie are for that browser alone: no shared cache stores
 * them, and the browser's own cache does not use them after a sign-out.
 */
function keepPrivate(res: ServerResponse, more: OutgoingHttpHeaders = {}): void {
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
    for (const name of Object.keys(more)) read(name.toLowerCase());
    const headers = {
      ...given,
      Vary: withCookie(read("vary")),
      "Cache-Control": privately(read("cache-control")),
      ...more,
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
