import { createHash } from "node:crypto";

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
