import { createHash } from "node:crypto";
import { ValidationError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { DownloadResolver } from "../graphql/resolvers/download-resolver.js";
import { KIND_RESOLVERS } from "../graphql/resolvers/kind-resolver.js";
import { RecordResolver } from "../graphql/resolvers/record-resolver.js";
import { checkedJson, readJson, readMultipart, takeFile } from "../http/body.js";
import { expectedRevision } from "../http/negotiation.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import type { StagedFile } from "../services/records/stored-content.js";
import { checked } from "../services/records/create.js";
import { PATCH_BODIES, PATCH_DESCRIPTION, PATCH_REFUSALS } from "./contract/record-rows.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  IF_MATCH,
  json,
  type MediaTypeObject,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { answerOf, bodyOf, recordExample } from "./contract/schemas.js";
import { sendWritten } from "./record-forms.js";
import { patchRecord } from "./records.js";
import { arkOf, type Handler, type Handlers, type RestRequest } from "./request.js";

const KIND = KINDS.datadownload;
const RECORD = recordExample(KIND);
const ARK = RECORD["@id"] as string;
const HEADERS = ["ETag", "X-Publication-Status"] as const;

/** The file of the examples, and its record, which the same request sends. */
const BYTES = "image,cells\nfov-001.tif,214\n";
const REGISTERED: JsonObject = {
  ...EXAMPLES.datadownload,
  "@id": "ark:99999/datadownload-counts.csv",
  name: "counts.csv",
  description: "Cells of each image.",
  encodingFormat: "text/csv",
  encodesCreativeWork: "ark:99999/dataset-cells",
};

/** A record as it is answered after its content is stored. */
const stored = (record: JsonObject): JsonObject => ({
  ...record,
  contentUrl: `https://registry.example/datadownload/${record["@id"] as string}/download`,
  contentSize: String(BYTES.length),
  sha256: createHash("sha256").update(BYTES).digest("hex"),
  uploadDate: "2024-05-03T08:00:00.000Z",
});

const bodies: Record<string, MediaTypeObject> = Object.fromEntries(
  ["application/json", "application/ld+json"].map((type) => [
    type,
    { schema: bodyOf(KIND), example: EXAMPLES.datadownload, exampleName: KIND.typeName },
  ]),
);
const UPLOADS = [...WRITE_REFUSALS, ...BODY_REFUSALS] as const;

/** File records: their metadata as of any kind, and their bytes. */
export const DOWNLOADS: readonly ContractRow[] = [
  {
    method: "post",
    path: "/download",
    operationId: "create_download",
    tag: "files",
    summary: "Create the metadata record of a file",
    description:
      `${KIND.description} The content is uploaded afterwards; its \`sha256\` and ` +
      "`contentSize` in the record must then match the content.",
    body: bodies,
    answer: {
      description: "The created record.",
      content: json(answerOf(KIND), RECORD, "DataDownloadRecord"),
      headers: HEADERS,
    },
    token: "required",
    refusals: [...UPLOADS, "DUPLICATE"],
  },
  {
    method: "post",
    path: "/register",
    operationId: "register_download",
    tag: "files",
    summary: "Create the record of a file together with its content",
    description:
      "A form with the record as JSON, as text or as an `application/json` part, and the " +
      "file, in any order. A `sha256` or `contentSize` that does not agree with the " +
      "bytes is refused, and nothing is stored.",
    body: {
      "multipart/form-data": {
        schema: schemaRef("Registration"),
        example: { download: REGISTERED, file: BYTES },
      },
    },
    answer: {
      description: "The created record, with what is known of the bytes.",
      content: json(answerOf(KIND), stored(recordOf(REGISTERED))),
      headers: HEADERS,
    },
    token: "required",
    refusals: [...UPLOADS, "DUPLICATE"],
  },
  {
    method: "post",
    path: "/datadownload/ark:{NAAN}/{download_id}/upload",
    operationId: "upload_datadownload",
    tag: "files",
    summary: "Upload the content of a file",
    description:
      "Replaces the current content; earlier revisions keep theirs. The same bytes again " +
      "change nothing.",
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    body: { "multipart/form-data": { schema: schemaRef("FileUpload"), example: { file: BYTES } } },
    answer: {
      description: "The record, with what is known of the bytes.",
      content: json(answerOf(KIND), stored(RECORD)),
      headers: HEADERS,
    },
    token: "required",
    refusals: [...UPLOADS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "put",
    path: "/datadownload/ark:{NAAN}/{download_id}",
    operationId: "update_datadownload",
    tag: "files",
    summary: "Replace the metadata of a file",
    description:
      "`@id` may be left out; another one than the path's is refused. While content is " +
      "stored, the record keeps the measured values of the content.",
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    body: bodies,
    answer: {
      description: "The updated record.",
      content: json(answerOf(KIND), RECORD, "DataDownloadRecord"),
      headers: HEADERS,
    },
    token: "required",
    refusals: [...UPLOADS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "patch",
    path: "/datadownload/ark:{NAAN}/{download_id}",
    operationId: "patch_datadownload",
    tag: "files",
    summary: "Change parts of the metadata of a file",
    description: `${PATCH_DESCRIPTION} While content is stored, its measured values stay too.`,
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    body: PATCH_BODIES,
    answer: {
      description: "The changed record.",
      content: json(answerOf(KIND), RECORD, "DataDownloadRecord"),
      headers: HEADERS,
    },
    token: "required",
    refusals: PATCH_REFUSALS,
  },
  {
    method: "delete",
    path: "/datadownload/ark:{NAAN}/{download_id}",
    operationId: "delete_datadownload",
    tag: "files",
    summary: "Delete the stored content of a file",
    description:
      "The metadata is preserved, with `contentUrl` null; downloads return 410 " +
      "`CONTENT_DELETED` until content is uploaded again. Where nothing is stored " +
      "nothing changes.",
    parameters: [...arkPath(ARK, "download_id"), IF_MATCH],
    answer: {
      description: "The record without its content.",
      content: json(answerOf(KIND), RECORD, "DataDownloadRecord"),
      headers: HEADERS,
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
];

/** As {@link recordExample}, for another body than the kind's example. */
function recordOf(body: JsonObject): JsonObject {
  return { ...RECORD, ...body };
}

const downloads = new DownloadResolver();
const records = new RecordResolver();

/** The place of the record in a registration. */
const FIELD = "download";
const AT = ["body", FIELD];

/**
 * A form with the record and the file, in either order: a file that comes first is staged until its
 * record arrives.
 */
const register: Handler = async (request) => {
  const { req } = request;
  const context = signedIn(request.context);
  const { config } = context.deps;
  const read = (text: Uint8Array): Promise<JsonValue> => checkedJson(text, context.deps, AT);
  let staged: StagedFile | undefined;
  try {
    const form = await readMultipart(
      req,
      {
        file: ["file"],
        texts: [FIELD],
        textLimit: { bytes: config.MAX_BODY_BYTES, setting: "MAX_BODY_BYTES" },
      },
      async (file, texts) => {
        // A record that came first is validated before the bytes are received.
        const text = texts.get(FIELD);
        if (text) checked("datadownload", await read(new Uint8Array(text)), AT);
        return (staged = await downloads.stage(file, context));
      },
    );
    const text = form.texts.get(FIELD);
    const problems = [
      ...(text ? [] : [{ loc: AT, msg: "Field required", type: "missing" }]),
      ...(form.file ? [] : [form.missing]),
    ];
    if (problems.length > 0) throw new ValidationError(problems);
    const document = await read(text!);
    const file = staged!;
    staged = undefined;
    sendWritten(request, await downloads.register(document, file, context, AT));
  } finally {
    await staged?.object.discard();
  }
};

const upload: Handler = async (request) => {
  const { req } = request;
  const context = signedIn(request.context);
  const expected = expectedRevision(req);
  const ark = arkOf(request);
  sendWritten(
    request,
    await takeFile(req, ["file"], (file) => downloads.upload(ark, file, expected, context)),
  );
};

async function update(request: RestRequest): Promise<void> {
  const { req } = request;
  const context = signedIn(request.context);
  sendWritten(
    request,
    await records.replaceAt(
      arkOf(request),
      await readJson(req, context.deps),
      { kind: "datadownload", expectedRevision: expectedRevision(req) },
      context,
    ),
  );
}

export const downloadOperations: Handlers = {
  create_download: async (request) => {
    const { req } = request;
    const context = signedIn(request.context);
    sendWritten(
      request,
      await KIND_RESOLVERS.datadownload.create(await readJson(req, context.deps), context),
    );
  },
  register_download: register,
  upload_datadownload: upload,
  update_datadownload: update,
  patch_datadownload: (request) => patchRecord(request, "datadownload"),
  delete_datadownload: async (request) => {
    const context = signedIn(request.context);
    sendWritten(
      request,
      await downloads.removeContent(arkOf(request), expectedRevision(request.req), context),
    );
  },
};
