import { createHash } from "node:crypto";
import { EXAMPLES } from "../../model/examples.js";
import type { JsonObject } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { BODY_REFUSALS, FIND_REFUSALS, WRITE_REFUSALS, json, schemaRef, type Content, type Operation } from "./operation.js";
import { IF_MATCH, arkPath } from "./parameters.js";
import { answerOf, bodyOf, recordExample } from "./schemas.js";

const KIND = KINDS.datadownload;
const RECORD = recordExample(KIND);
const ARK = RECORD["@id"] as string;
const HEADERS = ["ETag", "X-Publication-Status"] as const;

/** The file of the examples, and the record that comes with it in one request. */
const BYTES = "image,cells\nfov-001.tif,214\n";
const REGISTERED: JsonObject = {
  ...EXAMPLES.datadownload, "@id": "ark:99999/datadownload-counts.csv", name: "counts.csv", description: "Cells of each image.", encodingFormat: "text/csv",
  encodesCreativeWork: "ark:99999/dataset-cells",
};

/** A record as it is answered once its content is stored. */
const stored = (record: JsonObject): JsonObject => ({
  ...record, contentUrl: `https://registry.example/datadownload/${record["@id"] as string}/download`, contentSize: String(BYTES.length),
  sha256: createHash("sha256").update(BYTES).digest("hex"), uploadDate: "2024-05-03T08:00:00.000Z",
});

const bodies: Record<string, Content> = Object.fromEntries(["application/json", "application/ld+json"].map((type) => [type, { schema: bodyOf(KIND), example: EXAMPLES.datadownload, exampleName: KIND.typeName }]));
const UPLOADS = [...WRITE_REFUSALS, ...BODY_REFUSALS] as const;

/** File records: their metadata as of any kind, and the bytes that belong to them. */
export const DOWNLOADS: readonly Operation[] = [
  {
    method: "post", path: "/download", operationId: "create_download", tag: "files", summary: "Create the metadata record of a file",
    description: `${KIND.description} The content is uploaded afterwards; what the record says of its \`sha256\` and \`contentSize\` must then agree with it.`,
    body: bodies,
    answer: { description: "The created record.", content: json(answerOf(KIND), RECORD, "DataDownloadRecord"), headers: HEADERS },
    token: "required", refusals: [...UPLOADS, "DUPLICATE"],
  },
  {
    method: "post", path: "/register", operationId: "register_download", tag: "files", summary: "Create the record of a file together with its content",
    description: "A form with the record as JSON, as text or as an `application/json` part, and the file, in any order. A `sha256` or `contentSize` that does not agree with the bytes is refused, and nothing is kept.",
    body: { "multipart/form-data": { schema: schemaRef("Registration"), example: { download: REGISTERED, file: BYTES } } },
    answer: { description: "The created record, with what is known of the bytes.", content: json(answerOf(KIND), stored(recordOf(REGISTERED))), headers: HEADERS },
    token: "required", refusals: [...UPLOADS, "DUPLICATE"],
  },
  {
    method: "post", path: "/datadownload/ark:{NAAN}/{download_id}/upload", operationId: "upload_datadownload", tag: "files", summary: "Upload the content of a file",
    description: "Replaces the content so far; earlier revisions keep theirs. The same bytes again change nothing.",
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    body: { "multipart/form-data": { schema: schemaRef("FileUpload"), example: { file: BYTES } } },
    answer: { description: "The record, with what is known of the bytes.", content: json(answerOf(KIND), stored(RECORD)), headers: HEADERS },
    token: "required", refusals: [...UPLOADS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "put", path: "/datadownload/ark:{NAAN}/{download_id}", operationId: "update_datadownload", tag: "files", summary: "Replace the metadata of a file",
    description: "`@id` may be left out; another one than the path's is refused. While content is stored the record goes on to say of it what is so.",
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    body: bodies,
    answer: { description: "The updated record.", content: json(answerOf(KIND), RECORD, "DataDownloadRecord"), headers: HEADERS },
    token: "required", refusals: [...UPLOADS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "delete", path: "/datadownload/ark:{NAAN}/{download_id}", operationId: "delete_datadownload", tag: "files", summary: "Delete the stored content of a file",
    description: "The metadata is kept, with `contentUrl` null; downloads answer 410 `CONTENT_DELETED` until content is uploaded again. Where nothing is stored nothing changes.",
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    answer: { description: "The record without its content.", content: json(answerOf(KIND), RECORD, "DataDownloadRecord"), headers: HEADERS },
    token: "required", refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
];

/** As {@link recordExample}, of another body than the kind's example. */
function recordOf(body: JsonObject): JsonObject {
  return { ...RECORD, ...body };
}
