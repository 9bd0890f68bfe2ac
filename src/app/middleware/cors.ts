/** Requests of pages of other sites. */
import type { ServerResponse } from "node:http";
import cors from "cors";
import type { RequestHandler } from "express";

const ALLOWED = [
  "Authorization",
  "Content-Type",
  "Accept",
  "If-Match",
  "If-None-Match",
  "If-Range",
  "Range",
  "X-Request-Id",
  "X-GraphQL-Event-Stream-Token",
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
  "X-Visibility",
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
      const [name, vary] =
        Object.entries(headers).find(([key]) => key.toLowerCase() === "vary") ?? [];
      if (name !== undefined && !/\borigin\b/i.test(String(vary)))
        rest[rest.length - 1] = { ...headers, [name]: `${String(vary)}, Origin` };
    }
    return writeHead(status, ...rest);
  };
}

/**
 * Lets pages of other sites call the service (Fetch standard, CORS protocol). Never with
 * credentials of the browser: a token that the calling page holds itself is an ordinary header.
 * @param origins `*` for any, or the allowed origins; null for none
 */
export function crossOrigin(origins: "*" | readonly string[] | null): RequestHandler {
  if (origins === null) return (_req, _res, next) => next();
  const answer = cors({
    origin: origins === "*" ? "*" : [...origins],
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowedHeaders: ALLOWED,
    exposedHeaders: EXPOSED,
    credentials: false,
    maxAge: 7200,
    optionsSuccessStatus: 204,
  });
  return (req, res, next) => {
    if (origins !== "*") alwaysVaries(res);
    if (req.headers.origin === undefined) {
      // A cache may return this answer to a page of another site.
      if (origins === "*") res.setHeader("Access-Control-Allow-Origin", "*");
      else res.setHeader("Vary", "Origin");
      return next();
    }
    // An OPTIONS request that is not a preflight gets the answer of its path.
    const isPreflight =
      req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined;
    answer({ headers: req.headers, method: isPreflight ? "OPTIONS" : "GET" }, res, next);
  };
}
