/**
 * The files of the site: their addresses, which change with their bytes, and how they are sent.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompressSync, constants, gzip } from "node:zlib";
import { Router } from "express";
import { ServiceError } from "../errors.js";
import { notModified } from "../http/negotiation.js";
import {
  acceptedEncoding,
  type Encoding,
  encoded,
  isText,
  LEAST_BYTES,
  SAFE_HEADERS,
  sendBytes,
  varying,
} from "../http/reply.js";
import { packageRoot } from "../package-root.js";
import { PICTURE_STYLE } from "../services/evidence/picture/glyphs.js";

/**
 * Scripts of the pages and files of other packages: the GraphQL explorer and the API explorer. The
 * build stores them as Brotli (`scripts/web-assets.mjs`).
 */
const BUILT_FOLDER = join(packageRoot, "dist", "web");
const built: ReadonlySet<string> = new Set(
  existsSync(BUILT_FOLDER)
    ? readdirSync(BUILT_FOLDER, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".br"))
        .map((name) => name.slice(0, -".br".length).replaceAll("\\", "/"))
    : [],
);

/** A file that pages load. */
interface Asset {
  bytes: Buffer;
  type: string;
  hash: string;
  /** Path of its Brotli form, if the build made one. */
  brotli: string | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  ico: "image/x-icon",
  png: "image/png",
  txt: "text/plain; charset=utf-8",
};
const OWN_FOLDER = join(packageRoot, "src", "web", "assets");
/** Icons that browsers and phones ask for at these paths. */
const ICONS = ["/favicon.ico", "/apple-touch-icon.png"];
/** No other file of the folder is served. */
const own: ReadonlySet<string> = new Set(readdirSync(OWN_FOLDER));

const loaded = new Map<string, Asset>();

/** Style sheets that are made from the code: the colours of evidence pictures. */
const generated: Readonly<Record<string, string>> = { "picture.css": PICTURE_STYLE };

/** @param name below `/assets/`, without a hash; files are read once, on the first request */
export function asset(name: string): Asset | undefined {
  const known = loaded.get(name);
  if (known) return known;
  const text = Object.hasOwn(generated, name) ? generated[name] : undefined;
  const brotli = built.has(name) ? join(BUILT_FOLDER, `${name}.br`) : undefined;
  if (brotli === undefined && text === undefined && !own.has(name)) return undefined;
  const bytes =
    text !== undefined
      ? Buffer.from(text)
      : brotli === undefined
        ? readFileSync(join(OWN_FOLDER, name))
        : brotliDecompressSync(readFileSync(brotli));
  const made = {
    bytes,
    type: TYPES[name.split(".").at(-1)!] ?? "application/octet-stream",
    hash: createHash("sha256").update(bytes).digest("hex").slice(0, 12),
    brotli,
  };
  loaded.set(name, made);
  return made;
}

/**
 * Address of an asset with its hash in it: its content never changes, so browsers need not
 * revalidate.
 */
export function assetUrl(name: string): string {
  const found = asset(name);
  if (!found) throw new Error(`there is no asset ${name}`);
  return `/assets/${name.replace(/\.(\w+)$/, `.${found.hash}.$1`)}`;
}

/**
 * The asset that a path below `/assets/` names.
 * @returns `fixed` when the path holds the hash of the current content
 */
function assetAt(path: string): { asset: Asset; fixed: boolean } | undefined {
  const [, stem, hash, extension] = /^(.+)\.([0-9a-f]{12})\.(\w+)$/.exec(path) ?? [];
  const named = stem === undefined ? undefined : asset(`${stem}.${extension}`);
  if (named) return named.hash === hash ? { asset: named, fixed: true } : undefined;
  const plain = asset(path);
  return plain && { asset: plain, fixed: false };
}

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

  /**
   * Answers requests for these files.
   * @throws ServiceError `NOT_FOUND` for a file that is not there, `METHOD_NOT_ALLOWED`
   */
  router(): Router {
    const router = Router({ caseSensitive: true, strict: true });
    return router.all(
      ["/assets/*name", ...ICONS, "/robots.txt", "/.well-known/security.txt"],
      (req, res) => this.#answer(req, res, req.path),
    );
  }

  async #answer(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    if (req.method !== "GET" && req.method !== "HEAD")
      throw new ServiceError(
        "METHOD_NOT_ALLOWED",
        `${path.slice(0, 200)} supports only GET and HEAD.`,
        {},
        { Allow: "GET, HEAD" },
      );
    if (path.startsWith("/assets/")) await this.#asset(req, res, path.slice("/assets/".length));
    else if (ICONS.includes(path)) await this.#asset(req, res, path.slice(1));
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
