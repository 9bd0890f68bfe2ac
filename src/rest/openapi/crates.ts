import { KINDS } from "../../model/kinds/index.js";
import type { JsonObject } from "../../model/field.js";
import { BODY_REFUSALS, FIND_REFUSALS, NOT_MODIFIED, WRITE_REFUSALS, json, schemaRef, type Content, type Operation } from "./operation.js";
import { FORMAT, IF_MATCH, IF_NONE_MATCH, LIST, RANGE, REVISION, TOMBSTONE, arkPath, path } from "./parameters.js";
import { representations } from "./records.js";
import { answerOf, recordExample } from "./schemas.js";
import { CONTENT_HEADERS, CONTENT_REFUSALS, PARTIAL } from "./files.js";

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
const ARCHIVE: Record<string, Content> = { "application/zip": { schema: {} } };
const UPLOAD_REFUSALS = [...WRITE_REFUSALS, ...BODY_REFUSALS, "SHUTTING_DOWN"] as const;

export const CRATES: readonly Operation[] = [
  {
    method: "get", path: "/rocrate", operationId: "list_rocrate", tag: "crates", summary: "List of crates",
    description: "The root entity of every crate, without the entities it describes.",
    parameters: LIST,
    answer: { description: "The crates.", content: json({ type: "array", items: answerOf(KINDS.rocrate) }, [EXAMPLE]), headers: ["Link", "X-Total-Count"] },
  },
  {
    method: "get", path: "/rocrate/ark:{NAAN}/{postfix}", operationId: "get_rocrate", tag: "crates", summary: "One crate",
    description: "The root entity of the crate; the entities it describes are records of their own, which it names.",
    parameters: [...arkPath(ARK), IF_NONE_MATCH, FORMAT, REVISION],
    answer: { description: "The crate.", headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"], content: representations(KINDS.rocrate, EXAMPLE) },
    also: NOT_MODIFIED,
    token: "optional",
    refusals: [...FIND_REFUSALS, "NOT_ACCEPTABLE"],
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
    body: UPLOAD,
    answer: { description: "The submission.", content: json(schemaRef("Submission"), QUEUED) },
    token: "required", refusals: UPLOAD_REFUSALS,
  },
  {
    method: "post", path: "/rocrate/upload", operationId: "upload_crate", tag: "crates", summary: "Upload a crate and wait for its result",
    description: "The same work as the asynchronous upload. What is wrong with the content is a 422 with items at `body.file.<member>.<pointer>`; after UPLOAD_WAIT the running submission is answered.",
    body: UPLOAD,
    answer: { description: "The crate.", content: json(schemaRef("UploadedCrate"), { ...EXAMPLE, submission: FINISHED }) },
    token: "required", refusals: [...UPLOAD_REFUSALS, "CRATE_EXISTS"],
  },
  {
    method: "get", path: "/rocrate/upload/status/{submissionUUID}", operationId: "upload_status", tag: "crates", summary: "Status of an upload",
    description: "For its uploader and administrators.",
    parameters: [path("submissionUUID", "As the upload answered.", { type: "string" }, ID)],
    answer: { description: "The submission.", content: json(schemaRef("Submission"), FINISHED) },
    token: "required", refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND"],
  },
  ...(["archived/download", "download"] as const).map((route): Operation => ({
    method: "get", path: `/rocrate/${route}/ark:{NAAN}/{postfix}`, operationId: route === "download" ? "download_crate" : "download_archive", tag: "crates",
    summary: "The archive of a crate, byte for byte as it was uploaded",
    parameters: [...arkPath(ARK), RANGE, IF_NONE_MATCH],
    answer: { description: "A zip file.", content: ARCHIVE, headers: CONTENT_HEADERS },
    also: { ...PARTIAL(ARCHIVE), ...NOT_MODIFIED },
    token: "optional", refusals: CONTENT_REFUSALS,
  })),
];
