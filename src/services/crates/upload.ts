/** What an upload may be: its forms and limits, and the files that a crate is known by. */
import { createHash } from "node:crypto";
import type { Config } from "../../config/config.js";

/** Form of the upload: an archive, or a metadata file alone. */
export type CrateFormat = "zip" | "metadata";

/** Settings that limit the cost of a crate. */
const LIMITS = [
  "MAX_CRATE_ENTRIES",
  "MAX_CRATE_INFLATED_BYTES",
  "MAX_CRATE_RATIO",
  "MAX_MEMBER_NAME_BYTES",
  "MAX_METADATA_BYTES",
  "MAX_ENTITY_BYTES",
  "MAX_JSON_DEPTH",
  "MAX_CRATE_ENTITIES",
  "MAX_CRATE_CONTEXTS",
  "MAX_CRATE_TERMS",
  "MAX_CRATE_REFERENCES",
  "MAX_CRATE_NESTING",
  "MAX_CRATE_RECORD_BYTES",
] as const satisfies (keyof Config)[];
export type CrateLimits = Pick<Config, (typeof LIMITS)[number]>;

/** Most bytes of an upload that are received. */
export function uploadLimit(
  config: Config,
  format: CrateFormat,
): { limit: number; limitName: string } {
  const limitName = format === "zip" ? "MAX_UPLOAD_BYTES" : "MAX_METADATA_BYTES";
  return { limit: config[limitName], limitName };
}

/** The limits alone: the data passed to a thread holds no secret. */
export function crateLimits(config: Config): CrateLimits {
  return Object.fromEntries(LIMITS.map((name) => [name, config[name]])) as unknown as CrateLimits;
}

/**
 * Files that a crate is known by: documents of metadata by their names, and the preview page that
 * exports write.
 */

const DATA_PACKAGE = /(?:^|\/)datapackage\.json$/;
/** Common names of Croissant documents. */
const CROISSANT =
  /(?:^|\/)(?:croissant|metadata|croissant-metadata|[^/]+[._-]croissant)\.json(?:ld)?$/i;
/** Files of an archive without RO-Crate metadata whose beginning is looked at. */
const MAX_FILES_LOOKED_AT = 8;

/** Files of an archive that may be documents to convert, outermost first. */
export const convertible = (files: readonly string[]): string[] =>
  files
    .filter((file) => DATA_PACKAGE.test(file) || CROISSANT.test(file))
    .toSorted((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1))
    .slice(0, MAX_FILES_LOOKED_AT);

const MARK = Buffer.from("mlcommons.org/croissant");

/** Whether a file with this name and these bytes is worth reading as one of them. */
export const mayConvert = (file: string, bytes: Uint8Array): boolean =>
  DATA_PACKAGE.test(file) ||
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(MARK);

/** The page by which a crate describes itself (RO-Crate 1.3, RO-Crate website). */
export const PREVIEW_PAGE = "ro-crate-preview.html";

const START = "<!doctype html>\n<!-- Written by a registry from ro-crate-metadata.json; sha256 ";
const SIGNED = new RegExp(`^${START.replaceAll(/[.()]/g, String.raw`\$&`)}([0-9a-f]{64}) -->\n`);

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * A page for an archive that has none of its own. Its hash is in it, so that intake recognises the
 * page while nobody has changed it.
 * @param html the document after its doctype
 */
export const previewPage = (html: string): string => `${START}${digestOf(html)} -->\n${html}`;

/** Whether a page was written by {@link previewPage} and not changed since. */
export function isWrittenPage(page: Uint8Array): boolean {
  const text = Buffer.from(page).toString("utf8");
  const [start, digest] = SIGNED.exec(text) ?? [];
  return start !== undefined && digestOf(text.slice(start.length)) === digest;
}
