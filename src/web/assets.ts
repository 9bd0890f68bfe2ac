import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageRoot } from "../package-root.js";

/** Where the build writes the files of the GraphQL explorer (`scripts/copy-graphiql.mjs`). */
export const EXPLORER_FOLDER = join(packageRoot, "dist", "web", "graphiql");
const EXPLORER_FILES: readonly string[] = [
  "react.production.min.js",
  "react-dom.production.min.js",
  "graphiql.min.js",
  "graphiql.min.css",
];

/** A file that pages load. */
export interface Asset {
  bytes: Buffer;
  type: string;
  hash: string;
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  ico: "image/x-icon",
  txt: "text/plain; charset=utf-8",
};
const SWAGGER_FILES = ["swagger-ui-bundle.js", "swagger-ui.css"];

/** Where each asset is, by its name below `/assets/`; no other file of these folders is served. */
const places: ReadonlyMap<string, () => string> = new Map([
  ...readdirSync(join(packageRoot, "src", "web", "assets")).map((name): [string, () => string] => [
    name,
    () => join(packageRoot, "src", "web", "assets", name),
  ]),
  ...SWAGGER_FILES.map((name): [string, () => string] => [
    `swagger-ui/${name}`,
    () =>
      join(dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")), name),
  ]),
  ...EXPLORER_FILES.map((name): [string, () => string] => [
    `graphiql/${name}`,
    () => join(EXPLORER_FOLDER, name),
  ]),
]);
/** Names of all assets. */
export const assetNames = (): string[] => [...places.keys()];

/**
 * Where the build writes the compressed forms of assets, by hash (`scripts/compress-assets.mjs`).
 */
export const COMPRESSED_FOLDER = join(packageRoot, "dist", "web", "compressed");

const loaded = new Map<string, Asset>();

/** @param name below `/assets/`, without a hash; files are read once, on the first request */
export function asset(name: string): Asset | undefined {
  const known = loaded.get(name);
  if (known) return known;
  const place = places.get(name);
  if (!place) return undefined;
  let bytes: Buffer;
  try {
    bytes = readFileSync(place());
  } catch (error) {
    // The explorer's files exist only if the build had the explorer.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const made = {
    bytes,
    type: TYPES[name.split(".").at(-1)!] ?? "application/octet-stream",
    hash: createHash("sha256").update(bytes).digest("hex").slice(0, 12),
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
