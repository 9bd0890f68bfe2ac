import { type Format, negotiate, notModified, VARIANT } from "../http/negotiation.js";
import { NOT_STORED, sendBytes } from "../http/reply.js";
import type { Deps } from "../services/deps.js";
import { kernelMetadata } from "../services/records/attribution.js";
import { rdfText } from "../services/records/links.js";
import { landmarksOf } from "../services/records/list.js";
import { type RecordView, writeBacklinkCursor } from "../services/records/view.js";
import { recordPage } from "../web/pages/record/record.js";
import { askedAddress, landingLinks, linkHeader, linkset, type Place } from "../web/signposting.js";
import { linkToNext, type RestRequest } from "./request.js";

/** Sends a record in the requested form, with its signposts; or 304. */
export async function sendRecord(
  request: RestRequest,
  view: RecordView,
  location?: string,
): Promise<void> {
  const {
    req,
    res,
    context: { deps, caller },
    query,
    inflection,
  } = request;
  const { record } = view;
  const landmarks = landmarksOf(record);
  const place = {
    base: deps.baseUrl(),
    asked: askedAddress(deps.baseUrl(), req.url ?? "/", record.ark),
  };
  const format = inflection ? undefined : negotiate(req.headers.accept, query["format"]);
  const variant = format ? VARIANT[format] : "-erc";
  const etag = view.etag.replace(/"$/, `${variant}"`);
  const headers: Record<string, string> = {
    ETag: etag,
    Vary: "Accept, Authorization, Cookie",
    "X-Publication-Status": record.publicationStatus,
    "Cache-Control": "no-cache",
    // With a token, a user may get the private view of their own record.
    ...(record.kind === "user" && caller !== null && NOT_STORED),
    Link: [linkHeader(landingLinks(place, landmarks)), ...nextLink(request, view)].join(", "),
    ...(location === undefined ? {} : { "Content-Location": location }),
  };
  if (format !== "text/html" && notModified(req, etag))
    return void res.writeHead(304, headers).end();
  if (!format) {
    const text = await kernelMetadata(deps, record);
    return sendBytes(req, res, Buffer.from(text), {
      type: "text/plain; charset=utf-8",
      headers: {
        ...headers,
        "THUMP-Status": "0.6 200 OK",
        Link: `</${encodeURI(record.ark)}>; rel="describes"`,
      },
    });
  }
  if (format === "text/html")
    return request.site.page(req, res, async (page) => ({
      ...(await recordPage(page, view, place)),
      // The page shows more than the record: its ETag is made of its bytes.
      headers,
    }));
  sendBytes(req, res, await bytesOf(deps, view, format, place), {
    headers,
    type: format.startsWith("text/") ? `${format}; charset=utf-8` : format,
  });
}

async function bytesOf(
  deps: Deps,
  view: RecordView,
  format: Exclude<Format, "text/html">,
  place: Place,
): Promise<Uint8Array> {
  switch (format) {
    case "application/ld+json":
    case "application/json":
      return view.bytes;
    case "application/linkset+json":
      return Buffer.from(JSON.stringify(linkset(place, landmarksOf(view.record))));
    default:
      return Buffer.from(await rdfText(deps, view, format));
  }
}

/** Where truncated derived lists continue. */
const nextLink = (request: RestRequest, { next }: RecordView): string[] =>
  next ? [linkToNext(request, { backlinks: writeBacklinkCursor(next) })] : [];

/** A record as the answer to a write. */
export function sendWritten({ req, res }: RestRequest, view: RecordView): void {
  const {
    etag,
    record: { kind, publicationStatus },
  } = view;
  // The record of a user shows the address and the fields of the account.
  sendBytes(req, res, view.bytes, {
    headers: {
      ETag: etag,
      "X-Publication-Status": publicationStatus,
      ...(kind === "user" && NOT_STORED),
    },
  });
}
