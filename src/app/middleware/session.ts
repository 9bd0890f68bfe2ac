/** Requests with the cookie of a browser's session. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { secretIn } from "../../http/browsers.js";
import type { Deps } from "../../services/deps.js";

/**
 * Keeps answers of a session private. Who the caller is each API asks itself: it refuses a wrong
 * token in its own form, after what it checks before.
 */
export const sessions =
  (base: Pick<Deps, "baseUrl">): RequestHandler =>
  (req, res, next) => {
    if (secretIn(req, base) !== undefined) keepPrivate(res);
    next();
  };

/**
 * Answers to a request with the session cookie are for that browser alone: no shared cache stores
 * them, and the browser's own cache does not use them after a sign-out.
 */
function keepPrivate(res: ServerResponse): void {
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
