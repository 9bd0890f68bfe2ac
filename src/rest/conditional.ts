import type { IncomingMessage } from "node:http";
import { invalid } from "../errors.js";

/** True when If-None-Match names this representation (weak comparison, RFC 9110 section 13.1.2). */
export function notModified(req: IncomingMessage, etag: string): boolean {
  const header = req.headers["if-none-match"];
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const bare = etag.replace(/^W\//, "");
  return header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === bare);
}

/**
 * The revision that If-Match demands; `undefined` without the header or with `*`. The part after the hyphen
 * (newest back-link) is not compared: it changes without a write to the record.
 * @throws ValidationError at header.if-match
 */
export function expectedRevision(req: IncomingMessage): number | undefined {
  const header = req.headers["if-match"]?.trim();
  if (header === undefined || header === "" || header === "*") return undefined;
  const revision = /^(?:W\/)?"?(\d{1,9})(?:-[0-9a-z-]*)?"?$/.exec(header)?.[1];
  if (revision === undefined) throw invalid(["header", "if-match"], "Value error, not an ETag of this service; for example \"3-17\"");
  return Number(revision);
}
