import { Writer } from "n3";
import { type Format, negotiate, notModified, VARIANT } from "../http/negotiation.js";
import { NOT_STORED, PAGE_POLICY, sendBytes } from "../http/reply.js";
import { PREFIXES } from "../model/field.js";
import { parseNQuads } from "../rdf/nquads.js";
import type { Deps } from "../services/deps.js";
import { type Attribution, attributionOf } from "../services/records/attribution.js";
import { type Landmarks, landmarksOf } from "../services/records/list.js";
import { quadsOf } from "../services/records/links.js";
import { type RecordView, writeBacklinkCursor } from "../services/records/view.js";
import { recordPage } from "../web/record-page.js";
import {
  addressOf,
  askedAddress,
  landingLinks,
  linkHeader,
  linkset,
  type Place,
} from "../web/signposting.js";
import type { RestRequest } from "./request.js";

/** Kernel elements are one line each: ANVL cannot express a line break or a `|`. */
const line = (value: string): string => value.replace(/\s+/g, " ").replaceAll("|", "%7C").trim();

/**
 * Description and commitment of a record in ANVL, for the `?info` inflection of an ARK
 * (draft-kunze-ark, section 5; kernel elements who, what, when, where).
 */
function kernelMetadata(
  baseUrl: string,
  { record, name }: Landmarks,
  { authors, when }: Attribution,
): string {
  const who = authors.map((author) => author.name ?? author.id).join("; ");
  const where = addressOf(baseUrl, record.ark);
  return [
    "erc:",
    `who: ${who ? line(who) : "(:unkn)"}`,
    `what: ${name ? line(name) : "(:unkn)"}`,
    `when: ${line(when)}`,
    `where: ${where}`,
    "",
    "erc-support:",
    `who: the registry at ${baseUrl}`,
    "what: the identifier is kept and never given to another object; the metadata may " +
      "change, with its history; a deleted object leaves a tombstone",
    `when: ${new Date(record.modifiedAt).toISOString().slice(0, 10)}`,
    `where: ${where}`,
    "",
  ].join("\n");
}

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
    Vary: "Accept, Authorization",
    "X-Publication-Status": record.publicationStatus,
    "Cache-Control": "no-cache",
    // With a token, a user may get the private view of their own record.
    ...(record.kind === "user" && caller !== null && NOT_STORED),
    Link: [linkHeader(landingLinks(place, landmarks)), ...nextLink(request, view)].join(", "),
    ...(location === undefined ? {} : { "Content-Location": location }),
  };
  if (notModified(req, etag)) return void res.writeHead(304, headers).end();
  if (!format) {
    const text = kernelMetadata(deps.baseUrl(), landmarks, await attributionOf(deps, landmarks));
    return sendBytes(req, res, Buffer.from(text), {
      type: "text/plain; charset=utf-8",
      headers: {
        ...headers,
        "THUMP-Status": "0.6 200 OK",
        Link: `</${encodeURI(record.ark)}>; rel="describes"`,
      },
    });
  }
  if (format === "text/html") headers["Content-Security-Policy"] = PAGE_POLICY;
  sendBytes(req, res, await bytesOf(deps, view, format, place), {
    headers,
    type: format.startsWith("text/") ? `${format}; charset=utf-8` : format,
  });
}

async function bytesOf(
  deps: Deps,
  view: RecordView,
  format: Format,
  place: Place,
): Promise<Uint8Array> {
  switch (format) {
    case "application/ld+json":
    case "application/json":
      return view.bytes;
    case "text/html":
      return Buffer.from(await recordPage(deps, view, place));
    case "application/linkset+json":
      return Buffer.from(JSON.stringify(linkset(place, landmarksOf(view.record))));
    default:
      return Buffer.from(await statements(deps, view, format));
  }
}

/** Where truncated derived lists continue. */
function nextLink({ path, context }: RestRequest, { next }: RecordView): string[] {
  return next
    ? [
        `<${context.deps.baseUrl()}${encodeURI(path)}?backlinks=${writeBacklinkCursor(next)}>` +
          `; rel="next"`,
      ]
    : [];
}

/** The statements of the record in the graph, without inferred ones. */
async function statements(deps: Deps, view: RecordView, format: Format): Promise<string> {
  const graph = `<${view.record.ark}> .`;
  const lines = (await quadsOf(deps, view)).split("\n").filter((line) => line.endsWith(graph));
  if (format === "application/n-quads") return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  const writer = new Writer({ prefixes: PREFIXES });
  for (const quad of parseNQuads(lines.join("\n")))
    writer.addQuad(quad.subject, quad.predicate, quad.object);
  return new Promise((resolve, reject) =>
    writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
  );
}

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
