import { pipeline } from "node:stream/promises";
import { type ErrorCode, ServiceError } from "../errors.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { notModified, parseRange } from "../http/negotiation.js";
import { SAFE_HEADERS } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import type { KindName } from "../model/kind.js";
import { KINDS } from "../model/kinds.js";
import type { Content } from "../services/files/content.js";
import type { ObjectReference } from "../storage/records/port.js";
import { representations } from "./contract/record-rows.js";
import {
  arkPath,
  type ContractRow,
  formatQuery,
  type HeaderName,
  headerRefs,
  IF_NONE_MATCH,
  type MediaTypeObject,
  NOT_MODIFIED,
  RANGE,
  REVISION,
} from "./contract/rows.js";
import { recordExample } from "./contract/schemas.js";
import { arkOf, type Handler, type Handlers, type RestRequest } from "./request.js";

const EXAMPLE = recordExample(KINDS.datadownload);
const ARK = EXAMPLE["@id"] as string;

/** Bytes in the media type that the record names. */
export const BYTES: Record<string, MediaTypeObject> = {
  "*/*": { schema: {}, example: "image,cells\nfov-001.tif,214\n" },
};
export const CONTENT_HEADERS: readonly HeaderName[] = ["ETag", "Accept-Ranges"];
export const CONTENT_REFUSALS: readonly ErrorCode[] = [
  "NOT_AUTHENTICATED",
  "INVALID_TOKEN",
  "FORBIDDEN",
  "NOT_FOUND",
  "AMBIGUOUS",
  "GONE",
  "CONTENT_DELETED",
  "RANGE_NOT_SATISFIABLE",
];

/** The answer to a request with `Range`. */
export const PARTIAL = (
  content: Readonly<Record<string, MediaTypeObject>>,
): Record<string, JsonObject> => ({
  "206": {
    description: "The bytes that `Range` asks for.",
    headers: headerRefs([...CONTENT_HEADERS, "Content-Range"]),
    content: content as unknown as JsonObject,
  },
});

/** Where S3_PRESIGNED is set. */
export const ELSEWHERE: Record<string, JsonObject> = {
  "307": {
    description:
      "The bytes are at the address in `Location`, which is valid for a limited time and " +
      "needs no token; send a `Range` there too.",
    headers: { ...headerRefs(["ETag"]), Location: { schema: { type: "string", format: "uri" } } },
  },
};

const contentOperation = (
  path: string,
  operationId: string,
  summary: string,
  parameters: JsonObject[],
): ContractRow => ({
  method: "get",
  path,
  operationId,
  tag: "files",
  summary,
  description:
    "Open to anyone once the record is published; before that to those who may change it. A " +
    "crate is its archive as it was uploaded, which is for those who may read every member.",
  parameters: [...parameters, RANGE, IF_NONE_MATCH],
  answer: { description: "The stored bytes.", content: BYTES, headers: CONTENT_HEADERS },
  also: { ...PARTIAL(BYTES), ...NOT_MODIFIED, ...ELSEWHERE },
  token: "optional",
  refusals: CONTENT_REFUSALS,
});

export const FILES: readonly ContractRow[] = [
  {
    method: "get",
    path: "/datadownload/ark:{NAAN}/{download_id}",
    operationId: "get_datadownload",
    tag: "files",
    summary: "The metadata of a file",
    parameters: [
      ...arkPath(ARK, "download_id"),
      IF_NONE_MATCH,
      formatQuery("datadownload"),
      REVISION,
    ],
    answer: {
      description: "The record.",
      content: representations(KINDS.datadownload, EXAMPLE),
      headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"],
    },
    also: NOT_MODIFIED,
    refusals: ["NOT_FOUND", "AMBIGUOUS", "GONE", "NOT_ACCEPTABLE"],
  },
  contentOperation(
    "/datadownload/ark:{NAAN}/{download_id}/download",
    "download_datadownload",
    "The content of a file",
    arkPath(ARK, "download_id"),
  ),
  contentOperation(
    "/dataset/download/ark:{NAAN}/{postfix}",
    "download_dataset",
    "The content of a dataset",
    arkPath("ark:99999/dataset-cells"),
  ),
  contentOperation(
    "/software/download/ark:{NAAN}/{postfix}",
    "download_software",
    "The content of software",
    arkPath("ark:99999/software-segment"),
  ),
  contentOperation(
    "/download/ark:{NAAN}/{postfix}",
    "download_content",
    "The content of any record, as an attachment",
    arkPath(ARK),
  ),
  {
    method: "get",
    path: "/rocrate/page/ark:{NAAN}/{postfix}",
    operationId: "view_crate_page",
    tag: "files",
    summary: "The page that came with a crate",
    description:
      "The crate's own `ro-crate-preview.html`, to be shown in an `<iframe>`. It is sent in a " +
      "sandbox without scripts, forms or an origin, and loads nothing.",
    parameters: [...arkPath(recordExample(KINDS.rocrate)["@id"] as string), IF_NONE_MATCH],
    answer: {
      description: "The page.",
      content: { "text/html": { schema: { type: "string" }, example: "<h1>Cells</h1>" } },
      headers: ["ETag"],
    },
    also: NOT_MODIFIED,
    token: "optional",
    refusals: CONTENT_REFUSALS.filter((code) => code !== "RANGE_NOT_SATISFIABLE"),
  },
  contentOperation(
    "/view/ark:{NAAN}/{postfix}",
    "view_content",
    "The content of any record, for display",
    arkPath(ARK),
  ),
];

const crates = new CrateResolver();

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
  return async (request) =>
    sendContent(
      request,
      await crates.content(arkOf(request), options, request.context),
      options.inline,
    );
}

/** How a file is offered for download, in both spellings of its name (RFC 6266, section 4.3). */
export function disposition(name: string, type: "inline" | "attachment" = "attachment"): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${name.replace(/[^\w.-]/g, "_")}"; filename*=UTF-8''${encoded}`;
}

/** Sends stored bytes, or the requested range of them. */
export async function sendContent(
  { req, res }: RestRequest,
  { object, open, address }: Content,
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
    "Content-Security-Policy":
      "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; sandbox",
    ETag: etag,
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Type": as.type,
    "Content-Disposition": as.disposition,
  };
  if (notModified(req, etag)) return void res.writeHead(304, headers).end();
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
    const { object, open } = await crates.page(arkOf(request), context);
    const etag = `"${object.sha256}"`;
    const headers = {
      ...SAFE_HEADERS,
      "Content-Security-Policy": CRATE_PAGE_POLICY,
      ETag: etag,
      "Cache-Control": "private, no-cache",
      "Content-Type": "text/html",
    };
    if (notModified(req, etag)) return void res.writeHead(304, headers).end();
    res.writeHead(200, { ...headers, "Content-Length": object.size });
    if (req.method === "HEAD") return void res.end();
    // Never from the address of another server, which would send it without the policy.
    await pipeline(await open(), res).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    });
  },
};
