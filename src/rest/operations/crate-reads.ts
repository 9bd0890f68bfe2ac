import type { OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { KINDS } from "../../model/kinds/index.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { CrateResolver } from "../../resolvers/crate-resolver.js";
import { listParameters } from "../../use-cases/records/list.js";
import { landmarksOf } from "../../use-cases/records/landmarks.js";
import { linkHeader, landingLinks } from "../../web/signposting.js";
import { notModified } from "../conditional.js";
import { SAFE_HEADERS, sendJson } from "../reply.js";
import { negotiate } from "../representations/negotiate.js";
import { arkOf, type Operation, type Operations, type RestRequest } from "../request.js";
import { disposition } from "./files.js";
import { getRecord, locationOf } from "./records.js";

const crates = new CrateResolver();
const JSON_FORMS: readonly string[] = ["application/ld+json", "application/json"];
const ZIP = "application/zip";
/** Members of a page of the summary when no limit is asked for. */
const PAGE = 100;

/** The crate as a whole: its metadata, or an archive of it. Other forms, and earlier revisions, are those of its root entity. */
const read: Operation = async (request) => {
  const { req, query, inflection } = request;
  if (query["format"] === "zip" || (query["format"] === undefined && wantsZip(req.headers.accept))) return sendArchive(request);
  const format = inflection || query["revision"] !== undefined ? undefined : negotiate(req.headers.accept, query["format"]);
  if (format === undefined || !JSON_FORMS.includes(format)) return getRecord(request, "rocrate");
  const metadata = await crates.metadata(arkOf(request), request.context);
  await sendStream(request, metadata.root, `${metadata.state}-crate`, { "Content-Type": format }, () => metadata.open());
};

/** Asked for, and nothing else that a crate is answered in. */
function wantsZip(accept: string | undefined): boolean {
  return accept !== undefined && /(?:^|,)\s*application\/zip\b/i.test(accept) && !/json|html|turtle|n-quads/i.test(accept);
}

async function sendArchive(request: RestRequest): Promise<void> {
  const archive = await crates.archive(arkOf(request), request.context);
  const { root, state, left } = archive;
  const name = `${(root.name ?? "").normalize("NFKD").replace(/[^\w.-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 80) || "crate"}.crate.zip`;
  await sendStream(request, root, `${state}-zip${left.length}`, { "Content-Type": ZIP, "Content-Disposition": disposition(name), "X-Not-Included": String(left.length) }, async () => archive.open());
}

/** Sends what is made while it is sent; a client that leaves ends the making. */
async function sendStream(request: RestRequest, root: StoredRecord, tag: string, more: OutgoingHttpHeaders, open: () => Promise<Readable>): Promise<void> {
  const { req, res, context } = request;
  const etag = `"${tag}"`;
  const location = locationOf(request, root.ark);
  const headers: OutgoingHttpHeaders = {
    ...SAFE_HEADERS, ETag: etag, Vary: "Accept, Authorization", "Cache-Control": "private, no-cache", "X-Publication-Status": root.publicationStatus,
    Link: linkHeader(landingLinks({ base: context.deps.baseUrl() }, landmarksOf(root))), ...(location === undefined ? {} : { "Content-Location": location }), ...more,
  };
  if (notModified(req, etag)) return void res.writeHead(304, headers).end();
  if (req.method === "HEAD") return void res.writeHead(200, headers).end();
  const stream = await open();
  res.writeHead(200, headers);
  await pipeline(stream, res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

const summary: Operation = async (request) => {
  const { req, res, query, path, context } = request;
  const { page } = listParameters({ limit: query["limit"] ?? String(PAGE), cursor: query["cursor"] });
  const { root, counts, members, fileCount, files, next } = await crates.summary(arkOf(request), page!, context);
  const base = context.deps.baseUrl();
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const link = next === undefined ? {} : { Link: `<${base}${encodeURI(path)}?${new URLSearchParams({ limit: String(page!.limit), cursor: next })}>; rel="next"` };
  sendJson(req, res, {
    "@id": root.ark, name: root.name, total,
    counts: Object.fromEntries(Object.entries(counts).map(([kind, count]) => [KINDS[kind as keyof typeof KINDS].typeName, count])),
    members: members.map(({ ark, kind, name }) => ({ "@id": ark, kind: KINDS[kind].typeName, name })),
    undescribed: {
      total: fileCount,
      files: files.map(({ name, size, mediaType, sha256 }) => ({ name, contentUrl: `${base}/${encodeURI(root.ark)}/${name.split("/").map(encodeURIComponent).join("/")}`, contentSize: String(size), encodingFormat: mediaType, sha256 })),
    },
  }, { headers: { "Cache-Control": "no-cache", "X-Total-Count": String(total), ...link } });
};

export const crateReadOperations: Operations = { get_rocrate: read, summarize_crate: summary };
