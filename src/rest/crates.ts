import { ServiceError, ValidationError } from "../errors.js";
import { type Context, signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { takeFile } from "../http/body.js";
import {
  type EventStreams,
  NOT_STORED,
  SAFE_HEADERS,
  type ServerEvent,
  sendBytes,
  sendJson,
} from "../http/reply.js";
import type { Finding } from "../model/findings.js";
import { KINDS } from "../model/kinds.js";
import { visibilityParameter } from "../services/access/visibility.js";
import { crateFiles, pathInUrl } from "../services/crates/export/contents.js";
import { statusOfFindings } from "../services/crates/findings.js";
import {
  awaitSubmission,
  cancelSubmission,
  followSubmission,
  listSubmissions,
  type SubmissionView,
  type UploadOptions,
  viewNow,
} from "../services/crates/submissions.js";
import { readRecord } from "../services/evidence/stored/build.js";
import { rocrate } from "../services/formats/crate.js";
import { json as jsonForm, jsonld } from "../services/formats/documents.js";
import { crateSummary } from "../services/formats/read-crate.js";
import { askedArk } from "../services/records/find.js";
import { pageParameters } from "../services/records/list.js";
import { parseDocument, viewOf } from "../services/records/view.js";
import { formatAsked, sendFormat, sendRecord } from "./record-forms.js";
import { locationOf, viewAsked } from "./records.js";
import {
  arkOf,
  type Handler,
  type Handlers,
  linkToNext,
  type RestRequest,
  readFlag,
} from "./request.js";

const crates = new CrateResolver();

/** Existing clients send the archive as `file`, or as `crate`. */
export const FIELDS = ["file", "crate"];

/** Whether an upload is an update, and of which crate. */
export const uploadOptions = (query: RestRequest["query"]): UploadOptions => ({
  update: readFlag(query, "update"),
  emptyLinked: readFlag(query, "emptyLinked"),
  crate: query["crate"] === undefined ? undefined : askedArk(query["crate"]),
  visibility: visibilityParameter(query["visibility"]),
});

async function submit({ req, query, context: given }: RestRequest): Promise<SubmissionView> {
  const context = signedIn(given);
  const options = uploadOptions(query);
  return takeFile(req, FIELDS, (file) =>
    crates.submit({ stream: file.stream, name: file.name || "crate.zip" }, options, context),
  );
}

const inArchive = ({ file, pointer }: Finding): (string | number)[] => [
  "body",
  "file",
  file ?? "",
  pointer ?? "",
];

/**
 * The answer of a failed intake over the synchronous route: the errors as a validation failure, or
 * a limit or conflict with its own status; always with the code of docs/crates.md.
 */
function failure(view: SubmissionView, locOf: typeof inArchive): Error {
  const errors = view.error ?? [];
  const status = statusOfFindings(errors);
  const first = errors.find((error) => statusOfFindings([error]) === status);
  if (first && status !== 422)
    return new ServiceError(status === 413 ? "TOO_LARGE" : "DUPLICATE", first.message, {
      submission: view,
      code: first.code,
    });
  return new ValidationError(
    errors.map((error) => ({ loc: locOf(error), msg: error.message, type: error.code })),
  );
}

/** Waits for the end of a submission, at most UPLOAD_WAIT. */
const settled = async (id: string, { deps }: Context): Promise<SubmissionView> =>
  viewNow(deps, await awaitSubmission(deps, id, deps.config.UPLOAD_WAIT));

/**
 * Waits for the end of a submission and answers with the crate.
 * @param locOf where in the request a finding is
 */
export async function answerCrate(
  { req, res, context }: RestRequest,
  submitted: SubmissionView,
  locOf = inArchive,
): Promise<void> {
  const view = submitted.completed ? submitted : await settled(submitted.submissionUUID, context);
  if (view.status === "failed") throw failure(view, locOf);
  if (view.rocrateIdentifier === null)
    return sendJson(req, res, { submission: view }, { headers: NOT_STORED });
  const record = await readRecord(context.deps, askedArk(view.rocrateIdentifier), "rocrate");
  const crate = await viewOf(context.deps, record, context.caller);
  sendBytes(req, res, withSubmission(crate.bytes, view), { headers: NOT_STORED });
}

/** The document with one more member; a long one is not parsed for that, which blocks for long. */
function withSubmission(bytes: Uint8Array, submission: SubmissionView): Buffer {
  const document = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (document.includes('"submission"'))
    return Buffer.from(JSON.stringify({ ...parseDocument(bytes), submission }));
  const member = `,"submission":${JSON.stringify(submission)}}`;
  return Buffer.concat([document.subarray(0, document.lastIndexOf("}")), Buffer.from(member)]);
}

export const crateOperations: Handlers = {
  upload_crate_async: async (request) => {
    sendJson(request.req, request.res, await submit(request), { headers: NOT_STORED });
  },
  upload_crate: async (request) => answerCrate(request, await submit(request)),
};

/** Default limit of a page. */
const DEFAULT_PAGE = 100;

/**
 * The crate as a whole: `jsonld` and `json` are its metadata here. Earlier revisions and other
 * formats are those of its root entity.
 */
const read: Handler = async (request) => {
  const { query, inflection } = request;
  const view = await viewAsked(request, arkOf(request), "rocrate");
  const location = locationOf(request, view.record.ark);
  const format = inflection ? undefined : formatAsked(request, view);
  if (query["revision"] !== undefined || !(format === jsonld || format === jsonForm))
    return sendRecord(request, view, location);
  await sendFormat(request, view, rocrate, { location, type: format.mediaType });
};

const summary: Handler = async (request) => {
  const { req, res, query, context } = request;
  const page = pageParameters(query, DEFAULT_PAGE);
  const { root, counts, members, fileCount, files, next } = await crateSummary(
    context.deps,
    arkOf(request),
    page,
  );
  const base = context.deps.baseUrl();
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const link = next !== undefined && {
    Link: linkToNext(request, { limit: String(page.limit), cursor: next }),
  };
  sendJson(
    req,
    res,
    {
      "@id": root.ark,
      name: root.name,
      total,
      counts: Object.fromEntries(
        Object.entries(counts).map(([kind, count]) => [
          KINDS[kind as keyof typeof KINDS].typeName,
          count,
        ]),
      ),
      members: members.map(({ ark, kind, name }) => ({
        "@id": ark,
        kind: KINDS[kind].typeName,
        name,
      })),
      undescribed: {
        total: fileCount,
        files: files.map(({ name, size, mediaType, sha256 }) => ({
          name,
          contentUrl: `${base}/${encodeURI(root.ark)}/${pathInUrl(name)}`,
          contentSize: String(size),
          encodingFormat: mediaType,
          sha256,
        })),
      },
    },
    { headers: { "Cache-Control": "no-cache", "X-Total-Count": String(total), ...link } },
  );
};

const listFiles: Handler = async (request) => {
  const { req, res, query, context } = request;
  const page = pageParameters(query, DEFAULT_PAGE);
  const { minSize } = query;
  const { items, next } = await crateFiles(
    context.deps,
    arkOf(request),
    { ...page, ...(minSize === undefined ? {} : { minSize: Number(minSize) }) },
    context.caller,
  );
  const link = next !== undefined && {
    Link: linkToNext(request, {
      limit: String(page.limit),
      ...(minSize === undefined ? {} : { minSize }),
      cursor: next,
    }),
  };
  sendJson(
    req,
    res,
    items.map(({ record, ark: _ark, position: _position, ...file }) => ({
      ...file,
      record: record?.ark ?? null,
    })),
    { headers: { "Cache-Control": "no-cache", Vary: "Authorization, Cookie", ...link } },
  );
};

export const crateReadOperations: Handlers = {
  get_rocrate: read,
  summarize_crate: summary,
  list_crate_files: listFiles,
};

const NO_STORE = { headers: { "Cache-Control": "no-store" } };
/** Id of the last event: a client that reconnects with it has seen the end. */
const LAST = "completed";

/**
 * The caller's submissions: the list, a single submission with its progress, its cancellation and
 * its retry.
 */
export function submissionOperations(streams: EventStreams): Handlers {
  return {
    list_submissions: async (request) => {
      const { req, res, query } = request;
      const context = signedIn(request.context);
      const page = pageParameters(query, DEFAULT_PAGE);
      const { items, next } = await listSubmissions(context.deps, page, context.caller);
      const link = next !== undefined && {
        Link: linkToNext(request, { limit: String(page.limit), cursor: next }),
      };
      sendJson(req, res, items, { headers: { ...NO_STORE.headers, ...link } });
    },
    upload_status: async (request) => {
      const { req, res, params, context } = request;
      if (wantsEvents(request)) return follow(request, streams);
      sendJson(req, res, await crates.submission(params.submissionUUID, context), {
        headers: { ...NO_STORE.headers, Vary: "Accept" },
      });
    },
    cancel_upload: async ({ req, res, params, context }) => {
      const { deps, caller } = signedIn(context);
      sendJson(req, res, await cancelSubmission(deps, params.submissionUUID, caller), NO_STORE);
    },
    retry_upload: async ({ req, res, params, context }) => {
      sendJson(req, res, await crates.retry(params.submissionUUID, signedIn(context)), NO_STORE);
    },
  };
}

const wantsEvents = ({ req }: RestRequest): boolean =>
  req.method === "GET" &&
  /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(req.headers.accept ?? "");

async function follow(
  { req, res, params, context }: RestRequest,
  streams: EventStreams,
): Promise<void> {
  const { deps, caller } = signedIn(context);
  const changes = await followSubmission(deps, params.submissionUUID, caller);
  if (req.headers["last-event-id"] === LAST) {
    await changes[Symbol.asyncIterator]().return?.();
    // Stops a browser's EventSource, which reconnects after every end, from reconnecting (HTML
    // Standard, section 9.2.3).
    return void res.writeHead(204, SAFE_HEADERS).end();
  }
  const { MAX_EVENT_STREAMS: most, EVENT_HEARTBEAT: heartbeat } = deps.config;
  await streams.send(res, eventsOf(changes), { most, heartbeat });
}

/** Not a generator: ending it must not wait for the next change. */
function eventsOf(changes: AsyncIterable<SubmissionView>): AsyncIterable<ServerEvent> {
  const source = changes[Symbol.asyncIterator]();
  let count = 0;
  const iterator: AsyncIterator<ServerEvent> = {
    async next() {
      const { done, value } = await source.next();
      if (done) return { done: true, value: undefined };
      return {
        done: false,
        value: {
          event: "submission",
          id: value.completed ? LAST : String(++count),
          data: JSON.stringify(value),
        },
      };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
