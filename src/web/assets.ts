import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
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
export interface Asset {
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
export function assetAt(path: string): { asset: Asset; fixed: boolean } | undefined {
  const [, stem, hash, extension] = /^(.+)\.([0-9a-f]{12})\.(\w+)$/.exec(path) ?? [];
  const named = stem === undefined ? undefined : asset(`${stem}.${extension}`);
  if (named) return named.hash === hash ? { asset: named, fixed: true } : undefined;
  const plain = asset(path);
  return plain && { asset: plain, fixed: false };
}
