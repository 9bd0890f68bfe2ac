import { KINDS } from "../../model/kinds/index.js";
import type { JsonObject } from "../../model/field.js";
import { BODY_REFUSALS, FIND_REFUSALS, NOT_MODIFIED, WRITE_REFUSALS, json, schemaRef, type Content, type Operation } from "./operation.js";
import { IF_MATCH, IF_NONE_MATCH, LIST, RANGE, REVISION, TOMBSTONE, arkPath, header, path, query } from "./parameters.js";
import { representations } from "./records.js";
import { answerOf, recordExample } from "./schemas.js";
import { CONTENT_HEADERS, CONTENT_REFUSALS, ELSEWHERE, PARTIAL } from "./files.js";

const EXAMPLE = recordExample(KINDS.rocrate);
const ARK = EXAMPLE["@id"] as string;
const ID = "5f0c2f0e-6b7a-4d57-9a44-3c1f8f3f9b1e";
export const QUEUED: JsonObject = {
  submissionUUID: ID, guid: ID, transactionFolder: ID, status: "queued", stage: null, progress: null, timeStarted: null, timeFinished: null,
  completed: false, success: false, error: null, warnings: [], identifiersMinted: 0, rocrateIdentifier: null,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};
export const FINISHED: JsonObject = {
  ...QUEUED, status: "finished", stage: "done", progress: { done: 3, total: 3, unit: "entities" }, timeStarted: "2024-05-03T08:00:00Z",
  timeFinished: "2024-05-03T08:00:02Z", completed: true, success: true, identifiersMinted: 1, rocrateIdentifier: ARK,
};
const UPLOAD: Record<string, Content> = { "multipart/form-data": { schema: schemaRef("Upload"), example: { file: "(the bytes of crate.zip)" } } };
const UPDATE = query("update", "Brings a crate of yours that is here already (its root's `@id` is that crate's ARK, or `crate` names it) up to date, in one step: what says something else becomes the next revision, what is not there any more is deleted, what you deleted and is there again is revived. Without it such an upload fails with CRATE_EXISTS.", { type: "boolean", default: false });
/** The crate that an upload brings up to date. */
export const NAMED_CRATE = query("crate", "The crate of yours that is brought up to date, in any spelling of its ARK: for a crate whose root `@id` does not name it. Means `update=true`. A root `@id` that is the ARK of another crate is refused (CRATE_MISMATCH).", { type: "string" });
const ARCHIVE: Record<string, Content> = { "application/zip": { schema: {} } };
const SUBMISSION = path("submissionUUID", "As the upload answered.", { type: "string" }, ID);
const CRATE_FORMAT = query("format", "Form of the answer, before what `Accept` says.", { type: "string", enum: ["jsonld", "json", "zip", "html", "turtle", "nquads", "linkset"] });
const PAGE = [
  query("limit", "Items in one page.", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
  query("cursor", "Where the page begins: as the `Link` header of the page before says.", { type: "string" }),
];
const WHOLE: JsonObject = { "@context": "https://w3id.org/ro/crate/1.2/context", "@graph": [
  { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" }, about: { "@id": ARK } },
  { "@id": ARK, "@type": "Dataset", name: EXAMPLE["name"]!, hasPart: [{ "@id": `${ARK}/counts.csv` }] },
  { "@id": `${ARK}/counts.csv`, "@type": "File", name: "counts.csv" },
] };
const METADATA: Record<string, Content> = Object.fromEntries(["application/ld+json", "application/json"].map((type) => [type, { schema: schemaRef("WholeCrate"), example: WHOLE, exampleName: "WholeCrate" }]));
const SUMMARY: JsonObject = {
  "@id": ARK, name: EXAMPLE["name"]!, total: 1, counts: { DataDownload: 1 }, members: [{ "@id": `${ARK}/counts.csv`, kind: "DataDownload", name: "counts.csv" }],
  undescribed: { total: 1, files: [{ name: "ro-crate-preview.html", contentUrl: `https://registry.example/${ARK}/ro-crate-preview.html`, contentSize: "5120", encodingFormat: "text/html", sha256: QUEUED["sha256"]! }] },
};
const UPLOAD_REFUSALS = [...WRITE_REFUSALS, ...BODY_REFUSALS, "NOT_FOUND", "AMBIGUOUS", "BUSY", "SHUTTING_DOWN"] as const;

export const CRATES: readonly Operation[] = [
  {
    method: "get", path: "/rocrate", operationId: "list_rocrate", tag: "crates", summary: "List of crates",
    description: "The root entity of every crate, without the entities it describes.",
    parameters: LIST,
    answer: { description: "The crates.", content: json({ type: "array", items: answerOf(KINDS.rocrate) }, [EXAMPLE]), headers: ["Link", "X-Total-Count"] },
  },
  {
    method: "get", path: "/rocrate/ark:{NAAN}/{postfix}", operationId: "get_rocrate", tag: "crates", summary: "One crate",
    description: "As JSON-LD the RO-Crate metadata of the whole crate, from its records as they are now, in the version and with the context and descriptor that the crate was given. `format=zip` (or `Accept: application/zip`) makes an archive of it with the stored contents that the caller may read, which can be uploaded again; `X-Not-Included` says how many files the caller may not read, which its NOT-INCLUDED.txt names. Other forms, and `revision`, are those of the root entity, which the resolver answers as a record.",
    parameters: [...arkPath(ARK), IF_NONE_MATCH, CRATE_FORMAT, REVISION],
    answer: { description: "The crate.", headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"], content: { ...representations(KINDS.rocrate, EXAMPLE), ...METADATA, ...ARCHIVE } },
    also: NOT_MODIFIED,
    token: "optional",
    refusals: [...FIND_REFUSALS, "NOT_ACCEPTABLE"],
  },
  {
    method: "get", path: "/rocrate/summary/ark:{NAAN}/{postfix}", operationId: "summarize_crate", tag: "crates", summary: "What a crate consists of",
    description: "How many records of each kind it has, their names, and the files that no entity describes: those are answered at the crate's identifier followed by their path.",
    parameters: [...arkPath(ARK), ...PAGE],
    answer: { description: "Records first, then files, in pages.", headers: ["Link", "X-Total-Count"], content: json(schemaRef("CrateSummary"), SUMMARY) },
    token: "optional", refusals: FIND_REFUSALS,
  },
  {
    method: "delete", path: "/rocrate/ark:{NAAN}/{postfix}", operationId: "delete_rocrate", tag: "crates", summary: "Delete a crate",
    description: "Also deletes the records that were minted for its members, and frees the archive and contents that nobody else uses.",
    parameters: [...arkPath(ARK), IF_MATCH, ...TOMBSTONE],
    answer: { description: "The deleted crate.", content: json(answerOf(KINDS.rocrate), EXAMPLE) },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "post", path: "/rocrate/upload-async", operationId: "upload_crate_async", tag: "crates", summary: "Upload a crate and poll for its result",
    description: "Answers as soon as the archive is stored. Poll `GET /rocrate/upload/status/{submissionUUID}` until `completed`. The same archive again answers the same submission.",
    parameters: [UPDATE, NAMED_CRATE], body: UPLOAD,
    answer: { description: "The submission.", content: json(schemaRef("Submission"), QUEUED) },
    token: "required", refusals: UPLOAD_REFUSALS,
  },
  {
    method: "post", path: "/rocrate/upload", operationId: "upload_crate", tag: "crates", summary: "Upload a crate and wait for its result",
    description: "The same work as the asynchronous upload. What is wrong with the content is a 422 with items at `body.file.<member>.<pointer>`; after UPLOAD_WAIT the running submission is answered.",
    parameters: [UPDATE, NAMED_CRATE], body: UPLOAD,
    answer: { description: "The crate.", content: json(schemaRef("UploadedCrate"), { ...EXAMPLE, submission: FINISHED }) },
    token: "required", refusals: [...UPLOAD_REFUSALS, "CRATE_EXISTS", "CHANGED_MEANWHILE", "DUPLICATE"],
  },
  {
    method: "get", path: "/rocrate/upload/status/{submissionUUID}", operationId: "upload_status", tag: "crates", summary: "Status of an upload",
    description: "For its uploader and administrators. With `Accept: text/event-stream` its progress: an event `submission` now and after each change, until it has completed; a comment in between is a sign of life.",
    parameters: [SUBMISSION, header("Last-Event-ID", "Sent by a client that was cut off. After the last event (`completed`) the answer is 204.", { type: "string" })],
    answer: { description: "The submission.", content: { ...json(schemaRef("Submission"), FINISHED), "text/event-stream": { schema: { type: "string" }, example: `event: submission\nid: completed\ndata: ${JSON.stringify(FINISHED)}\n\n` } } },
    also: { "204": { description: "The last event was seen already: there is nothing to come back for." } },
    token: "required", refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND", "TOO_MANY_REQUESTS"],
  },
  {
    method: "get", path: "/rocrate/upload/status", operationId: "list_submissions", tag: "crates", summary: "Your uploads",
    description: "Newest first; everybody's for administrators.",
    parameters: PAGE,
    answer: { description: "A page of submissions.", headers: ["Link"], content: json({ type: "array", items: schemaRef("Submission") }, [FINISHED]) },
    token: "required", refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN"],
  },
  {
    method: "delete", path: "/rocrate/upload/status/{submissionUUID}", operationId: "cancel_upload", tag: "crates", summary: "Cancel an upload",
    description: "Nothing of it is stored then. One that is running ends a moment later; one that has ended stays as it is (409).",
    parameters: [SUBMISSION],
    answer: { description: "The submission.", content: json(schemaRef("Submission"), { ...QUEUED, status: "failed", completed: true, error: [{ file: null, pointer: null, message: "The submission was cancelled before work on it began.", code: "CANCELLED" }] }) },
    token: "required", refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND", "NOT_CANCELLABLE"],
  },
  ...(["archived/download", "download"] as const).map((route): Operation => ({
    method: "get", path: `/rocrate/${route}/ark:{NAAN}/{postfix}`, operationId: route === "download" ? "download_crate" : "download_archive", tag: "crates",
    summary: "The archive of a crate, byte for byte as it was uploaded",
    description: "For those who may read every member that came in it; others get a 403 that names `/rocrate/ark:…?format=zip`, which leaves out what they may not read. Once something in it was deleted it is gone for everybody (410).",
    parameters: [...arkPath(ARK), RANGE, IF_NONE_MATCH],
    answer: { description: "A zip file.", content: ARCHIVE, headers: CONTENT_HEADERS },
    also: { ...PARTIAL(ARCHIVE), ...NOT_MODIFIED, ...ELSEWHERE },
    token: "optional", refusals: CONTENT_REFUSALS,
  })),
];
