import { pipeline } from "node:stream/promises";
import { ServiceError } from "../../errors.js";
import type { KindName } from "../../model/kind.js";
import { CrateResolver } from "../../resolvers/crate-resolver.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import type { Content } from "../../use-cases/files/content.js";
import { notModified } from "../conditional.js";
import { parseRange } from "../range.js";
import { SAFE_HEADERS } from "../reply.js";
import { arkOf, type Operation, type Operations, type RestRequest } from "../request.js";

const crates = new CrateResolver();

/** What a header may hold as a media type (RFC 9110, section 8.3.1); a crate's `encodingFormat` is any text. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+/:,-]*"))*$/;
/** Types a browser shows without running anything of them. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp|avif)|text\/(?:plain|csv|tab-separated-values)|application\/(?:json|ld\+json|pdf))$/;

/**
 * Serves stored bytes with Range. Whatever the file is, it does not act for the service: it is offered for
 * download, or shown in a sandbox without scripts, forms or an origin.
 */
function serve(options: { kind?: KindName; role?: ObjectReference["role"]; inline?: boolean }): Operation {
  return async (request) => sendContent(request, await crates.content(arkOf(request), options, request.context), options.inline);
}

/** How a file is offered for download, in both spellings of its name (RFC 6266, section 4.3). */
export function disposition(name: string, type: "inline" | "attachment" = "attachment"): string {
  return `${type}; filename="${name.replace(/[^\w.-]/g, "_")}"; filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

/** Sends stored bytes, or the range of them that is asked for. */
export async function sendContent({ req, res }: RestRequest, { object, open, address }: Content, inline = false): Promise<void> {
  const etag = `"${object.sha256}"`;
  const shown = inline && SHOWN.test(object.mediaType);
  const name = object.name.split("/").at(-1) ?? "content";
  const as = { type: MEDIA_TYPE.test(object.mediaType) ? object.mediaType : "application/octet-stream", disposition: disposition(name, shown ? "inline" : "attachment") };
  const headers = {
    ...SAFE_HEADERS, "Content-Security-Policy": "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; sandbox", ETag: etag, "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache",
    "Content-Type": as.type, "Content-Disposition": as.disposition,
  };
  if (notModified(req, etag)) return void res.writeHead(304, headers).end();
  const current = req.headers["if-range"] === undefined || req.headers["if-range"] === etag;
  const range = current ? parseRange(req.headers.range, object.size) : undefined;
  if (range === "unsatisfiable") {
    throw new ServiceError("RANGE_NOT_SATISFIABLE", `The content has ${object.size} bytes; the range asked for lies outside.`, {}, { "Content-Range": `bytes */${object.size}` });
  }
  const length = range ? range.end - range.start + 1 : object.size;
  const partial = range ? { "Content-Range": `bytes ${range.start}-${range.end}/${object.size}` } : {};
  if (req.method === "HEAD") return void res.writeHead(range ? 206 : 200, { ...headers, ...partial, "Content-Length": length }).end();
  // Our ETag means nothing elsewhere: what depends on it is answered here.
  const elsewhere = req.headers["if-range"] === undefined ? await address(as) : undefined;
  if (elsewhere !== undefined) return void res.writeHead(307, { ...SAFE_HEADERS, ETag: etag, "Cache-Control": "private, no-store", Location: elsewhere, "Content-Length": 0 }).end();
  const stream = await open(range);
  res.writeHead(range ? 206 : 200, { ...headers, ...partial, "Content-Length": length });
  await pipeline(stream, res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

export const fileOperations: Operations = {
  download_archive: serve({ kind: "rocrate", role: "archive" }),
  download_crate: serve({ kind: "rocrate", role: "archive" }),
  download_datadownload: serve({ kind: "datadownload" }),
  download_dataset: serve({ kind: "dataset" }),
  download_software: serve({ kind: "software" }),
  download_content: serve({}),
  view_content: serve({ inline: true }),
};
