import { createHash } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { pipeline } from "node:stream/promises";
import { invalid } from "../errors.js";
import { eventLoop } from "../event-loop-budget.js";
import { lastModified, negotiate, notModified, notModifiedSince } from "../http/negotiation.js";
import { NOT_STORED, SAFE_HEADERS, sendBytes } from "../http/reply.js";
import {
  fullType,
  isStream,
  type Place,
  type RecordFormat,
  type WrittenStream,
} from "../services/formats/format.js";
import { askedAddress, landingLinks, linkHeader } from "../services/formats/signposting.js";
import { visibilityOf } from "../services/access/visibility.js";
import { formatsOf } from "../services/formats/table.js";
import { kernelMetadata } from "../services/formats/attribution.js";
import { landmarksOf } from "../services/records/list.js";
import { isPlain, type RecordView, writeBacklinkCursor } from "../services/records/view.js";
import type { StoredRecord } from "../storage/records/port.js";
import { recordPage } from "../web/pages/record/record.js";
import { linkToNext, type RestRequest } from "./request.js";

/** The format of a record that the request asks for. @throws as {@link negotiate} */
export function formatAsked({ req, query }: RestRequest, { record }: RecordView): RecordFormat {
  const format = negotiate(req.headers.accept, query["format"], formatsOf(record.kind));
  if (format.isWholeCrate && query["revision"] !== undefined)
    throw invalid(
      ["query", "revision"],
      `Value error, the format ${format.name} is that of the current version only: leave out ` +
        "revision, or ask for another format",
    );
  if (query["folder"] !== undefined && !format.hasFolders)
    throw invalid(
      ["query", "folder"],
      "Value error, a folder is answered as an archive: add format=zip, or leave out folder",
    );
  return format;
}

/** Sends a record in the requested form, with its signposts; or 304. */
export async function sendRecord(
  request: RestRequest,
  view: RecordView,
  location?: string,
): Promise<void> {
  if (!request.inflection)
    return sendFormat(request, view, formatAsked(request, view), { location });
  const { req, res, context } = request;
  const { record } = view;
  const etag = tagged(view, "-erc");
  const headers = headersOf(request, view, placeOf(request, view), location);
  if (notModified(req, etag)) return void res.writeHead(304, { ...headers, ETag: etag }).end();
  const text = await kernelMetadata(context.deps, record);
  sendBytes(req, res, Buffer.from(text), {
    type: "text/plain; charset=utf-8",
    headers: {
      ...headers,
      ETag: etag,
      "THUMP-Status": "0.6 200 OK",
      Link: `</${encodeURI(record.ark)}>; rel="describes"`,
    },
  });
}

/**
 * Sends a record in one format, with its signposts; or 304.
 * @param type media type, where it is not the format's own
 */
export async function sendFormat(
  request: RestRequest,
  view: RecordView,
  format: RecordFormat,
  { location, type = fullType(format) }: { location?: string | undefined; type?: string } = {},
): Promise<void> {
  const { req, res, context } = request;
  const { deps, caller } = context;
  const place = placeOf(request, view);
  await eventLoop.turnFor(view.bytes.length);
  const headers = headersOf(request, view, place, location);
  let etag = tagged(view, format.tag ?? `-${format.name}`);
  if (
    format.write &&
    !format.isDerived &&
    (notModified(req, etag) || (isDated(view) && notModifiedSince(req, view.record.modifiedAt)))
  )
    return void res.writeHead(304, { ...headers, ETag: etag }).end();
  if (!format.write)
    return request.site.page(req, res, async (page) => ({
      ...(await recordPage(page, view, place)),
      // The page shows more than the record: its ETag is made of its bytes.
      headers,
    }));
  await eventLoop.turnFor(view.bytes.length);
  const { folder } = request.query;
  const written = await format.write({ deps, view, place, caller, folder });
  if (isStream(written)) return sendStream(request, written, { ...headers, "Content-Type": type });
  if (format.isDerived) {
    etag = tagged(
      view,
      `-${format.name}-${createHash("sha256").update(written).digest("hex").slice(0, 16)}`,
    );
    if (notModified(req, etag)) return void res.writeHead(304, { ...headers, ETag: etag }).end();
  }
  sendBytes(req, res, typeof written === "string" ? Buffer.from(written) : written, {
    type: type.startsWith("text/") ? `${type}; charset=utf-8` : type,
    headers: {
      ...headers,
      ETag: etag,
      ...(format.mediaType === "text/html" && { "Content-Security-Policy": DOCUMENT_POLICY }),
    },
  });
}

/**
 * Whether the view changes only when its record does. Others change with records that link to
 * theirs: their date says when the record itself changed, and answers no condition.
 */
const isDated = (view: RecordView): boolean => isPlain(view.record) && view.past === undefined;

/** Documents that are HTML run nothing and load nothing. */
const DOCUMENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The record's ETag with a suffix that tells its forms apart. */
const tagged = ({ etag }: RecordView, suffix: string): string => etag.replace(/"$/, `${suffix}"`);

const placeOf = ({ req, context }: RestRequest, { record }: RecordView): Place => {
  const base = context.deps.baseUrl();
  return {
    base,
    asked: askedAddress(base, req.url ?? "/", record.ark),
    formats: formatsOf(record.kind),
  };
};

/** Who may read the content, and who sees the record. */
export const stateHeaders = (record: StoredRecord) => ({
  "X-Publication-Status": record.publicationStatus,
  "X-Visibility": visibilityOf(record),
});

function headersOf(
  request: RestRequest,
  view: RecordView,
  place: Place,
  location: string | undefined,
): OutgoingHttpHeaders {
  const { record } = view;
  return {
    Vary: "Accept, Authorization, Cookie",
    ...stateHeaders(record),
    "Cache-Control": "no-cache",
    ...(request.query["revision"] === undefined && {
      "Last-Modified": lastModified(record.modifiedAt),
    }),
    // With a token, a user may get the private view of their own record.
    ...(record.kind === "user" && request.context.caller !== null && NOT_STORED),
    Link: linkHeader(
      landingLinks(place, landmarksOf(record)),
      nextLink(request, view),
      location?.length,
    ),
    ...(location === undefined ? {} : { "Content-Location": location }),
  };
}

/** Sends a document while it is produced; when the client leaves, production ends. */
async function sendStream(
  { req, res }: RestRequest,
  { state, headers: own, open }: WrittenStream,
  given: OutgoingHttpHeaders,
): Promise<void> {
  const etag = `"${state}"`;
  const headers = {
    ...SAFE_HEADERS,
    ...given,
    ...own,
    ETag: etag,
    "Cache-Control": "private, no-cache",
  };
  if (notModified(req, etag)) return void res.writeHead(304, headers).end();
  if (req.method === "HEAD") return void res.writeHead(200, headers).end();
  const stream = await open();
  res.writeHead(200, headers);
  await pipeline(stream, res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

/** Where truncated derived lists continue. */
const nextLink = (request: RestRequest, { next }: RecordView): string[] =>
  next ? [linkToNext(request, { backlinks: writeBacklinkCursor(next) })] : [];

/** A record as the answer to a write. */
export function sendWritten({ req, res }: RestRequest, view: RecordView): void {
  const { etag, record } = view;
  // The record of a user shows the address and the fields of the account.
  sendBytes(req, res, view.bytes, {
    headers: {
      ETag: etag,
      ...stateHeaders(record),
      ...(record.kind === "user" && NOT_STORED),
    },
  });
}
