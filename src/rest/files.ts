import { pipeline } from "node:stream/promises";
import { ServiceError } from "../errors.js";
import { lastModified, notModified, notModifiedSince, parseRange } from "../http/negotiation.js";
import { SAFE_HEADERS } from "../http/reply.js";
import type { KindName } from "../model/kind.js";
import { type Content, contentOf } from "../services/files/content.js";
import { cratePage } from "../services/formats/read-crate.js";
import type { ObjectReference, StoredRecord } from "../storage/records/port.js";
import { arkOf, type Handler, type Handlers, type RestRequest } from "./request.js";

/**
 * A valid media type for a header (RFC 9110, section 8.3.1); a crate's `encodingFormat` is any
 * text.
 */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+/:,-]*"))*$/;
/** Types that a browser displays without running any of their content. */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp|avif)|text\/(?:plain|csv|tab-separated-values)|application\/(?:json|ld\+json|pdf))$/;

/**
 * Serves stored bytes with Range. No file can act on behalf of the service: it is offered for
 * download, or shown in a sandbox without scripts, forms or an origin.
 */
function serve(options: {
  kind?: KindName;
  role?: ObjectReference["role"];
  inline?: boolean;
}): Handler {
  return async (request) => {
    const { deps, caller } = request.context;
    const content = await contentOf(deps, arkOf(request), caller, options);
    await sendContent(request, content, options.inline);
  };
}

/** How a file is offered for download, in both spellings of its name (RFC 6266, section 4.3). */
export function disposition(name: string, type: "inline" | "attachment" = "attachment"): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${name.replace(/[^\w.-]/g, "_")}"; filename*=UTF-8''${encoded}`;
}

/**
 * The state of content: whatever replaces it changes its record too. The digest is of the whole,
 * also where a range of it is sent (RFC 9530, section 3.1).
 */
const validatorsOf = ({ modifiedAt }: StoredRecord, { sha256 }: ObjectReference) => ({
  ETag: `"${sha256}"`,
  "Last-Modified": lastModified(modifiedAt),
  "Repr-Digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
});

/** Sends stored bytes, or the requested range of them. */
export async function sendContent(
  { req, res }: RestRequest,
  { record, object, open, address }: Content,
  inline = false,
): Promise<void> {
  const etag = `"${object.sha256}"`;
  const shown = inline && SHOWN.test(object.mediaType);
  const name = object.name.split("/").at(-1) ?? "content";
  const as = {
    type: MEDIA_TYPE.test(object.mediaType) ? object.mediaType : "application/octet-stream",
    disposition: disposition(name, shown ? "inline" : "attachment"),
  };
  const headers = {
    ...SAFE_HEADERS,
    ...validatorsOf(record, object),
    "Content-Security-Policy":
      "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; sandbox",
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Type": as.type,
    "Content-Disposition": as.disposition,
  };
  if (notModified(req, etag) || notModifiedSince(req, record.modifiedAt))
    return void res.writeHead(304, headers).end();
  // A range is for GET alone (RFC 9110, section 14.2).
  const current =
    req.method === "GET" &&
    (req.headers["if-range"] === undefined || req.headers["if-range"] === etag);
  const range = current ? parseRange(req.headers.range, object.size) : undefined;
  if (range === "unsatisfiable") {
    throw new ServiceError(
      "RANGE_NOT_SATISFIABLE",
      `The content has ${object.size} bytes; the range asked for lies outside.`,
      {},
      { "Content-Range": `bytes */${object.size}` },
    );
  }
  const length = range ? range.end - range.start + 1 : object.size;
  const partial = range
    ? { "Content-Range": `bytes ${range.start}-${range.end}/${object.size}` }
    : {};
  if (req.method === "HEAD")
    return void res.writeHead(200, { ...headers, "Content-Length": length }).end();
  // Our ETag means nothing to another server: conditional requests are answered here.
  const elsewhere = req.headers["if-range"] === undefined ? await address(as) : undefined;
  if (elsewhere !== undefined)
    return void res
      .writeHead(307, {
        ...SAFE_HEADERS,
        ETag: etag,
        "Cache-Control": "private, no-store",
        Location: elsewhere,
        "Content-Length": 0,
      })
      .end();
  const stream = await open(range);
  res.writeHead(range ? 206 : 200, { ...headers, ...partial, "Content-Length": length });
  await pipeline(stream, res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

/** The page of a crate comes from its uploader: no scripts, no origin, no requests. */
const CRATE_PAGE_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; " +
  "frame-ancestors 'self'";

export const fileOperations: Handlers = {
  download_archive: serve({ kind: "rocrate", role: "archive" }),
  download_crate: serve({ kind: "rocrate", role: "archive" }),
  download_datadownload: serve({ kind: "datadownload" }),
  download_dataset: serve({ kind: "dataset" }),
  download_software: serve({ kind: "software" }),
  download_content: serve({}),
  view_content: serve({ inline: true }),
  view_crate_page: async (request) => {
    const { req, res, context } = request;
    const { record, object, open } = await cratePage(context.deps, arkOf(request), context.caller);
    const headers = {
      ...SAFE_HEADERS,
      ...validatorsOf(record, object),
      "Content-Security-Policy": CRATE_PAGE_POLICY,
      "Cache-Control": "private, no-cache",
      "Content-Type": "text/html",
    };
    if (notModified(req, headers.ETag) || notModifiedSince(req, record.modifiedAt))
      return void res.writeHead(304, headers).end();
    res.writeHead(200, { ...headers, "Content-Length": object.size });
    if (req.method === "HEAD") return void res.end();
    // Never from the address of another server, which would send it without the policy.
    await pipeline(await open(), res).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    });
  },
};
