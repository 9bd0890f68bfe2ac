import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { ServiceError } from "../errors.js";
import { notModified } from "../http/negotiation.js";
import {
  acceptedEncoding,
  encoded,
  type Encoding,
  isText,
  LEAST_BYTES,
  SAFE_HEADERS,
  sendBytes,
  varying,
} from "../http/reply.js";
import { type Asset, assetAt } from "./assets.js";

const smallestGzip = promisify(gzip);
const FOREVER = "public, max-age=31536000, immutable";
const HOUR = "public, max-age=3600";
/** How long (ms) a copy of security.txt is valid (RFC 9116, section 2.5.5: less than a year). */
const SECURITY_LIFETIME = 180 * 86_400_000;

/** Crawlers may read records and pages, but not the unlimited space of queries and searches. */
const ROBOTS =
  "User-agent: *\nDisallow: /sparql\nDisallow: /graphql\nDisallow: /search/\nDisallow: " +
  "/evidencegraph/query/\nDisallow: /api/\nDisallow: /oai\n";

/**
 * Files of the site rather than the API: assets of pages, and files that browsers and crawlers
 * request by default.
 */
export class SiteFiles {
  /** Cache of compressed assets: assets are few and never change. */
  readonly #compressed = new Map<string, Promise<Buffer>>();

  readonly #config: { readonly SECURITY_CONTACT: string | null };
  readonly #baseUrl: () => string;

  constructor(config: { readonly SECURITY_CONTACT: string | null }, baseUrl: () => string) {
    this.#config = config;
    this.#baseUrl = baseUrl;
  }

  /** Whether a request target is one of these files. */
  has(target: string): boolean {
    return /^\/(?:assets\/|(?:favicon\.ico|robots\.txt|\.well-known\/security\.txt)(?:\?|$))/.test(
      target,
    );
  }

  /** @throws ServiceError `NOT_FOUND` for a file that is not there, `METHOD_NOT_ALLOWED` */
  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? "/").split("?", 1)[0]!;
    if (req.method !== "GET" && req.method !== "HEAD")
      throw new ServiceError(
        "METHOD_NOT_ALLOWED",
        `${path.slice(0, 200)} supports only GET and HEAD.`,
        {},
        { Allow: "GET, HEAD" },
      );
    if (path.startsWith("/assets/")) await this.#asset(req, res, path.slice("/assets/".length));
    else if (path === "/favicon.ico") await this.#asset(req, res, "favicon.ico");
    else
      sendBytes(
        req,
        res,
        Buffer.from(path === "/robots.txt" ? this.#robots() : this.#securityText()),
        {
          type: "text/plain; charset=utf-8",
          headers: { "Cache-Control": HOUR },
        },
      );
  }

  async #asset(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    const found = assetAt(path);
    if (!found)
      throw new ServiceError(
        "NOT_FOUND",
        `There is no file ${path.slice(0, 200)}; the pages link to all files.`,
      );
    const { bytes, type, hash } = found.asset;
    const encoding =
      bytes.byteLength >= LEAST_BYTES && isText(type) ? acceptedEncoding(req) : undefined;
    const etag = `"${hash}${encoding === undefined ? "" : `-${encoding}`}"`;
    const headers = {
      ETag: etag,
      "Cache-Control": found.fixed ? FOREVER : HOUR,
      Vary: varying(res),
    };
    if (notModified(req, etag))
      return void res.writeHead(304, { ...SAFE_HEADERS, ...headers }).end();
    const sent = encoding === undefined ? bytes : await this.#smaller(found.asset, encoding);
    res.writeHead(200, {
      ...SAFE_HEADERS,
      ...headers,
      "Content-Type": type,
      "Content-Length": sent.byteLength,
      ...(encoding && { "Content-Encoding": encoding }),
    });
    res.end(req.method === "HEAD" ? undefined : sent);
  }

  #smaller({ hash, bytes, brotli }: Asset, encoding: Encoding): Promise<Buffer> {
    const key = `${hash}-${encoding}`;
    let made = this.#compressed.get(key);
    // What the build did not compress is compressed once, on the first request.
    if (!made) {
      if (encoding === "gzip") made = smallestGzip(bytes, { level: constants.Z_BEST_COMPRESSION });
      else made = brotli === undefined ? encoded(bytes, encoding) : readFile(brotli);
      this.#compressed.set(key, made);
    }
    return made;
  }

  #robots(): string {
    return `${ROBOTS}\nSitemap: ${this.#baseUrl()}/sitemap.xml\n`;
  }

  /** RFC 9116. */
  #securityText(): string {
    if (this.#config.SECURITY_CONTACT === null)
      throw new ServiceError(
        "NOT_FOUND",
        "This registry names no contact for security reports; its operator sets SECURITY_CONTACT.",
      );
    return (
      `Contact: ${this.#config.SECURITY_CONTACT}\nExpires: ` +
      `${new Date(Date.now() + SECURITY_LIFETIME).toISOString()}\nCanonical: ` +
      `${this.#baseUrl()}/.well-known/security.txt\nPreferred-Languages: en\n`
    );
  }
}
