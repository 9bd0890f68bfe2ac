import { ServiceError, ValidationError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateContentsResolver } from "../graphql/resolvers/crate-contents-resolver.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { KIND_RESOLVERS } from "../graphql/resolvers/kind-resolver.js";
import { takeFile } from "../http/body.js";
import {
  type EventStreams,
  NOT_STORED,
  SAFE_HEADERS,
  type ServerEvent,
  sendBytes,
  sendJson,
} from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import type { Finding } from "../model/findings.js";
import { KINDS } from "../model/kinds.js";
import { pathInUrl } from "../services/crates/export/contents.js";
import { statusOfFindings } from "../services/crates/findings.js";
import type { SubmissionView, UploadOptions } from "../services/crates/submissions.js";
import { rocrate } from "../services/formats/crate.js";
import { json as jsonForm, jsonld } from "../services/formats/documents.js";
import { askedArk } from "../services/records/find.js";
import { listParameters } from "../services/records/list.js";
import { parseDocument, viewOf } from "../services/records/view.js";
import { representations } from "./contract/record-rows.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  formatQuery,
  header,
  IF_MATCH,
  IF_NONE_MATCH,
  json,
  LIST,
  type MediaTypeObject,
  NOT_MODIFIED,
  path,
  query,
  RANGE,
  REVISION,
  schemaRef,
  TOMBSTONE,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { answerOf, recordExample } from "./contract/schemas.js";
import { CONTENT_HEADERS, CONTENT_REFUSALS, ELSEWHERE, PARTIAL } from "./files.js";
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

const EXAMPLE = recordExample(KINDS.rocrate);
const ARK = EXAMPLE["@id"] as string;
const ID = "5f0c2f0e-6b7a-4d57-9a44-3c1f8f3f9b1e";
export const QUEUED: JsonObject = {
  submissionUUID: ID,
  guid: ID,
  transactionFolder: ID,
  status: "queued",
  stage: null,
  progress: null,
  timeStarted: null,
  timeFinished: null,
  completed: false,
  success: false,
  error: null,
  warnings: [],
  identifiersMinted: 0,
  rocrateIdentifier: null,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};
export const FINISHED: JsonObject = {
  ...QUEUED,
  status: "finished",
  stage: "done",
  progress: { done: 3, total: 3, unit: "entities" },
  timeStarted: "2024-05-03T08:00:00Z",
  timeFinished: "2024-05-03T08:00:02Z",
  completed: true,
  success: true,
  identifiersMinted: 1,
  rocrateIdentifier: ARK,
};
const UPLOAD: Record<string, MediaTypeObject> = {
  "multipart/form-data": {
    schema: schemaRef("Upload"),
    example: { file: "(the bytes of crate.zip)" },
  },
};
const UPDATE = query(
  "update",
  "Updates a crate of yours (its root's `@id` is that crate's ARK, or `crate` names it) " +
    "atomically: changed records get a new revision, missing records are deleted, and " +
    "records that you deleted and that are described again are restored. Without it such " +
    "an upload fails with CRATE_EXISTS.",
  { type: "boolean", default: false },
);
export const EMPTY_LINKED = query(
  "emptyLinked",
  "Lets an update remove every statement of a crate within the crate that is registered by " +
    "itself. Without it such an upload fails with CRATE_EMPTIED.",
  { type: "boolean", default: false },
);
/** The crate that an upload updates. */
export const NAMED_CRATE = query(
  "crate",
  "Your crate that is updated, in any spelling of its ARK: for a crate whose root `@id` " +
    "does not name it. Implies `update=true`. A root `@id` that is the ARK of another " +
    "crate is refused (CRATE_MISMATCH).",
  { type: "string" },
);
const ARCHIVE: Record<string, MediaTypeObject> = { "application/zip": { schema: {} } };
const SUBMISSION = path(
  "submissionUUID",
  "The submissionUUID that the upload returned.",
  { type: "string" },
  ID,
);
const PAGE_PARAMETERS = [
  query("limit", "Items in one page.", {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 100,
  }),
  query("cursor", "Cursor of the page: take it from the `Link` header of the previous page.", {
    type: "string",
  }),
];
const WHOLE: JsonObject = {
  "@context": "https://w3id.org/ro/crate/1.2/context",
  "@graph": [
    {
      "@id": "ro-crate-metadata.json",
      "@type": "CreativeWork",
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" },
      about: { "@id": ARK },
    },
    {
      "@id": ARK,
      "@type": "Dataset",
      name: EXAMPLE["name"]!,
      hasPart: [{ "@id": `${ARK}/counts.csv` }],
    },
    { "@id": `${ARK}/counts.csv`, "@type": "File", name: "counts.csv" },
  ],
};
const METADATA: Record<string, MediaTypeObject> = Object.fromEntries(
  ["application/ld+json", "application/json"].map((type) => [
    type,
    { schema: schemaRef("WholeCrate"), example: WHOLE, exampleName: "WholeCrate" },
  ]),
);
const SUMMARY: JsonObject = {
  "@id": ARK,
  name: EXAMPLE["name"]!,
  total: 1,
  counts: { DataDownload: 1 },
  members: [{ "@id": `${ARK}/counts.csv`, kind: "DataDownload", name: "counts.csv" }],
  undescribed: {
    total: 1,
    files: [
      {
        name: "ro-crate-preview.html",
        contentUrl: `https://registry.example/${ARK}/ro-crate-preview.html`,
        contentSize: "5120",
        encodingFormat: "text/html",
        sha256: QUEUED["sha256"]!,
      },
    ],
  },
};
const FILE: JsonObject = {
  path: "counts.csv",
  size: 29,
  sha256: QUEUED["sha256"]!,
  mediaType: "text/csv",
  record: `${ARK}/counts.csv`,
  address: `https://registry.example/datadownload/${ARK}/counts.csv/download`,
  readable: true,
};
const UPLOAD_REFUSALS = [
  ...WRITE_REFUSALS,
  ...BODY_REFUSALS,
  "NOT_FOUND",
  "AMBIGUOUS",
  "BUSY",
  "SHUTTING_DOWN",
] as const;

export const CRATES: readonly ContractRow[] = [
  {
    method: "get",
    path: "/rocrate",
    operationId: "list_rocrate",
    tag: "crates",
    summary: "List of crates",
    description: "The root entity of every crate, without the entities it describes.",
    parameters: LIST,
    answer: {
      description: "The crates.",
      content: json({ type: "array", items: answerOf(KINDS.rocrate) }, [EXAMPLE]),
      headers: ["Link", "X-Total-Count"],
    },
  },
  {
    method: "get",
    path: "/rocrate/ark:{NAAN}/{postfix}",
    operationId: "get_rocrate",
    tag: "crates",
    summary: "One crate",
    description:
      "As JSON-LD the RO-Crate metadata of the whole crate, from the current version of " +
      "its records, in the version and with the context and descriptor that the crate " +
      "was given. `format=zip` (or `Accept: application/zip`) makes an archive of it " +
      "with the stored contents that the caller may read, which can be uploaded again; " +
      "`X-Not-Included` says how many files the caller may not read, which its " +
      "NOT-INCLUDED.txt names. Other forms, and `revision`, are those of the root " +
      "entity, which the resolver answers as a record.",
    parameters: [...arkPath(ARK), IF_NONE_MATCH, formatQuery("rocrate"), REVISION],
    answer: {
      description: "The crate.",
      headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"],
      content: { ...representations(KINDS.rocrate, EXAMPLE), ...METADATA },
    },
    also: NOT_MODIFIED,
    token: "optional",
    refusals: [...FIND_REFUSALS, "NOT_ACCEPTABLE"],
  },
  {
    method: "get",
    path: "/rocrate/summary/ark:{NAAN}/{postfix}",
    operationId: "summarize_crate",
    tag: "crates",
    summary: "What a crate consists of",
    description:
      "How many records of each kind it has, their names, and the files that no entity " +
      "describes: those are answered at the crate's identifier followed by their path.",
    parameters: [...arkPath(ARK), ...PAGE_PARAMETERS],
    answer: {
      description: "Records first, then files, in pages.",
      headers: ["Link", "X-Total-Count"],
      content: json(schemaRef("CrateSummary"), SUMMARY),
    },
    token: "optional",
    refusals: FIND_REFUSALS,
  },
  {
    method: "get",
    path: "/rocrate/files/ark:{NAAN}/{postfix}",
    operationId: "list_crate_files",
    tag: "crates",
    summary: "The stored files of a crate",
    description: "In the order of the records that describe them.",
    parameters: [
      ...arkPath(ARK),
      ...PAGE_PARAMETERS,
      query("minSize", "Only files of at least so many bytes.", { type: "integer", minimum: 0 }),
    ],
    answer: {
      description: "One page.",
      headers: ["Link"],
      content: json({ type: "array", items: schemaRef("CrateFile") }, [FILE]),
    },
    token: "optional",
    refusals: FIND_REFUSALS,
  },
  {
    method: "delete",
    path: "/rocrate/ark:{NAAN}/{postfix}",
    operationId: "delete_rocrate",
    tag: "crates",
    summary: "Delete a crate",
    description:
      "Also deletes the records that were minted for its members, and frees the archive and " +
      "contents that nobody else uses.",
    parameters: [...arkPath(ARK), IF_MATCH, ...TOMBSTONE],
    answer: { description: "The deleted crate.", content: json(answerOf(KINDS.rocrate), EXAMPLE) },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "post",
    path: "/rocrate/upload-async",
    operationId: "upload_crate_async",
    tag: "crates",
    summary: "Upload a crate and poll for its result",
    description:
      "Answers as soon as the archive is stored. Poll `GET " +
      "/rocrate/upload/status/{submissionUUID}` until `completed`. Sending the same " +
      "archive again returns the same submission.",
    parameters: [UPDATE, NAMED_CRATE, EMPTY_LINKED],
    body: UPLOAD,
    answer: { description: "The submission.", content: json(schemaRef("Submission"), QUEUED) },
    token: "required",
    refusals: UPLOAD_REFUSALS,
  },
  {
    method: "post",
    path: "/rocrate/upload",
    operationId: "upload_crate",
    tag: "crates",
    summary: "Upload a crate and wait for its result",
    description:
      "The same work as the asynchronous upload. What is wrong with the content is a 422 " +
      "with items at `body.file.<member>.<pointer>`; after UPLOAD_WAIT the running " +
      "submission is returned.",
    parameters: [UPDATE, NAMED_CRATE, EMPTY_LINKED],
    body: UPLOAD,
    answer: {
      description: "The crate.",
      content: json(schemaRef("UploadedCrate"), { ...EXAMPLE, submission: FINISHED }),
    },
    token: "required",
    refusals: [...UPLOAD_REFUSALS, "CRATE_EXISTS", "CHANGED_MEANWHILE", "DUPLICATE"],
  },
  {
    method: "get",
    path: "/rocrate/upload/status/{submissionUUID}",
    operationId: "upload_status",
    tag: "crates",
    summary: "Status of an upload",
    description:
      "For its uploader and administrators. With `Accept: text/event-stream` its " +
      "progress: an event `submission` now and after each change, until it has " +
      "completed; a comment in between is a heartbeat.",
    parameters: [
      SUBMISSION,
      header(
        "Last-Event-ID",
        "Sent by a client that reconnects. After the last event (`completed`) the answer is 204.",
        { type: "string" },
      ),
    ],
    answer: {
      description: "The submission.",
      content: {
        ...json(schemaRef("Submission"), FINISHED),
        "text/event-stream": {
          schema: { type: "string" },
          example: `event: submission\nid: completed\ndata: ${JSON.stringify(FINISHED)}\n\n`,
        },
      },
    },
    also: {
      "204": { description: "The client has already received the last event." },
    },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND", "TOO_MANY_REQUESTS"],
  },
  {
    method: "get",
    path: "/rocrate/upload/status",
    operationId: "list_submissions",
    tag: "crates",
    summary: "Your uploads",
    description: "Newest first; everybody's for administrators.",
    parameters: PAGE_PARAMETERS,
    answer: {
      description: "A page of submissions.",
      headers: ["Link"],
      content: json({ type: "array", items: schemaRef("Submission") }, [FINISHED]),
    },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN"],
  },
  {
    method: "delete",
    path: "/rocrate/upload/status/{submissionUUID}",
    operationId: "cancel_upload",
    tag: "crates",
    summary: "Cancel an upload",
    description:
      "Nothing of it is stored then. One that is running ends a moment later; one that has " +
      "ended stays as it is (409).",
    parameters: [SUBMISSION],
    answer: {
      description: "The submission.",
      content: json(schemaRef("Submission"), {
        ...QUEUED,
        status: "failed",
        completed: true,
        error: [
          {
            file: null,
            pointer: null,
            message: "The submission was cancelled before work on it began.",
            code: "CANCELLED",
          },
        ],
      }),
    },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND", "NOT_CANCELLABLE"],
  },
  {
    method: "post",
    path: "/rocrate/upload/status/{submissionUUID}",
    operationId: "retry_upload",
    tag: "crates",
    summary: "Retry a failed upload",
    description:
      "Submits the archive of a failed upload again, as a new submission of the same user: yours, " +
      "or any for administrators. Once the archive is not stored any more, it is refused (409): " +
      "send the archive again.",
    parameters: [SUBMISSION],
    answer: {
      description: "The new submission.",
      content: json(schemaRef("Submission"), QUEUED),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, "NOT_FOUND", "AMBIGUOUS", "BUSY", "NOT_RETRYABLE"],
  },
  ...(["archived/download", "download"] as const).map((route): ContractRow => ({
    method: "get",
    path: `/rocrate/${route}/ark:{NAAN}/{postfix}`,
    operationId: route === "download" ? "download_crate" : "download_archive",
    tag: "crates",
    summary: "The archive of a crate, byte for byte as it was uploaded",
    description:
      "For those who may read every member that came in it; others get a 403 that names " +
      "`/rocrate/ark:…?format=zip`, which leaves out what they may not read. Once " +
      "something in it was deleted, nobody can read it (410).",
    parameters: [...arkPath(ARK), RANGE, IF_NONE_MATCH],
    answer: { description: "A zip file.", content: ARCHIVE, headers: CONTENT_HEADERS },
    also: { ...PARTIAL(ARCHIVE), ...NOT_MODIFIED, ...ELSEWHERE },
    token: "optional",
    refusals: CONTENT_REFUSALS,
  })),
];

const crates = new CrateResolver();

/** Existing clients send the archive as `file`, or as `crate`. */
export const FIELDS = ["file", "crate"];

/** Whether an upload is an update, and of which crate. */
export const uploadOptions = (query: RestRequest["query"]): UploadOptions => ({
  update: readFlag(query, "update"),
  emptyLinked: readFlag(query, "emptyLinked"),
  crate: query["crate"] === undefined ? undefined : askedArk(query["crate"]),
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
  if (status !== 422)
    return new ServiceError(status === 413 ? "TOO_LARGE" : "DUPLICATE", first!.message, {
      submission: view,
      code: first!.code,
    });
  return new ValidationError(
    errors.map((error) => ({ loc: locOf(error), msg: error.message, type: error.code })),
  );
}

/**
 * Waits for the end of a submission and answers with the crate.
 * @param locOf where in the request a finding is
 */
export async function answerCrate(
  { req, res, context }: RestRequest,
  submitted: SubmissionView,
  locOf = inArchive,
): Promise<void> {
  const view = submitted.completed
    ? submitted
    : await crates.settled(submitted.submissionUUID, context);
  if (view.status === "failed") throw failure(view, locOf);
  if (view.rocrateIdentifier === null)
    return sendJson(req, res, { submission: view }, { headers: NOT_STORED });
  const record = await KIND_RESOLVERS.rocrate.read(askedArk(view.rocrateIdentifier), context);
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

const crateReads = new CrateResolver();
const contents = new CrateContentsResolver();
/** Default limit of a page of the summary. */
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
  const { page } = listParameters({
    limit: query["limit"] ?? String(DEFAULT_PAGE),
    cursor: query["cursor"],
  });
  const { root, counts, members, fileCount, files, next } = await crateReads.summary(
    arkOf(request),
    page!,
    context,
  );
  const base = context.deps.baseUrl();
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const link = next !== undefined && {
    Link: linkToNext(request, { limit: String(page!.limit), cursor: next }),
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
  const { page } = listParameters({
    limit: query["limit"] ?? String(DEFAULT_PAGE),
    cursor: query["cursor"],
  });
  const { minSize } = query;
  const { items, next } = await contents.filesOf(
    arkOf(request),
    { ...page!, ...(minSize === undefined ? {} : { minSize: Number(minSize) }) },
    context,
  );
  const link = next !== undefined && {
    Link: linkToNext(request, {
      limit: String(page!.limit),
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

const crateSubmissions = new CrateResolver();
const NOT_KEPT = { headers: { "Cache-Control": "no-store" } };
/** Default limit of a page of submissions. */
const PAGE = 100;
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
      const { limit, cursor } = query;
      const { page } = listParameters({ limit: limit ?? String(PAGE), cursor });
      const { items, next } = await crateSubmissions.list(page!, context);
      const link = next !== undefined && {
        Link: linkToNext(request, { limit: String(page!.limit), cursor: next }),
      };
      sendJson(req, res, items, { headers: { ...NOT_KEPT.headers, ...link } });
    },
    upload_status: async (request) => {
      const { req, res, params, context } = request;
      if (wantsEvents(request)) return follow(request, streams);
      sendJson(req, res, await crateSubmissions.submission(params["submissionUUID"]!, context), {
        headers: { ...NOT_KEPT.headers, Vary: "Accept" },
      });
    },
    cancel_upload: async ({ req, res, params, context }) => {
      sendJson(
        req,
        res,
        await crateSubmissions.cancelSubmission(params["submissionUUID"]!, context),
        NOT_KEPT,
      );
    },
    retry_upload: async ({ req, res, params, context }) => {
      sendJson(
        req,
        res,
        await crateSubmissions.retrySubmission(params["submissionUUID"]!, context),
        NOT_KEPT,
      );
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
  const changes = await crateSubmissions.follow(params["submissionUUID"]!, signedIn(context));
  if (req.headers["last-event-id"] === LAST) {
    await changes[Symbol.asyncIterator]().return?.();
    // Stops a browser's EventSource, which reconnects after every end, from reconnecting (HTML
    // Standard, section 9.2.3).
    return void res.writeHead(204, SAFE_HEADERS).end();
  }
  const { MAX_EVENT_STREAMS: most, EVENT_HEARTBEAT: heartbeat } = context.deps.config;
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
