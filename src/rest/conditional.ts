import type { IncomingMessage } from "node:http";

/** True when If-None-Match names this representation (weak comparison, RFC 9110 section 13.1.2). */
export function notModified(req: IncomingMessage, etag: string): boolean {
  const header = req.headers["if-none-match"];
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const bare = etag.replace(/^W\//, "");
  return header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === bare);
}

/** A revision that no record has: an If-Match that names nothing of ours matches nothing (RFC 9110, section 13.1.1). */
const NONE = 0;

/**
 * The revision that If-Match demands; `undefined` without the header or with `*`. The part after the hyphen
 * (newest back-link) is not compared: it changes without a write to the record. Of a list the last revision
 * counts: the others were before it, and a record never goes back.
 */
export function expectedRevision(req: IncomingMessage): number | undefined {
  const header = req.headers["if-match"]?.trim();
  if (header === undefined || header === "" || header === "*") return undefined;
  return Math.max(...header.split(",").map((tag) => Number(/^(?:W\/)?"?(\d{1,9})(?:-[0-9a-z-]*)?"?$/.exec(tag.trim())?.[1] ?? NONE)));
}
