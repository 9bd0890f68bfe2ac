import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import cors from "cors";

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
