import { ValidationError } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { DownloadResolver } from "../graphql/resolvers/download-resolver.js";
import { KIND_RESOLVERS } from "../graphql/resolvers/kind-resolver.js";
import { RecordResolver } from "../graphql/resolvers/record-resolver.js";
import { checkedJson, readJson, readMultipart, takeFile } from "../http/body.js";
import { expectedRevision } from "../http/negotiation.js";
import type { JsonValue } from "../model/field.js";
import { registerDownload } from "../services/files/content.js";
import type { StagedFile } from "../services/records/stored-content.js";
import { visibilityParameter } from "../services/access/visibility.js";
import { checked } from "../services/records/validate.js";
import { sendWritten } from "./record-forms.js";
import { patchRecord } from "./records.js";
import { arkOf, type Handler, type Handlers, type RestRequest } from "./request.js";

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
  const visibility = visibilityParameter(request.query["visibility"]);
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
    if (!text || !staged) throw new ValidationError(problems);
    const document = await read(text);
    const file = staged;
    staged = undefined;
    const { deps, caller } = context;
    sendWritten(
      request,
      await registerDownload(deps, document, file, caller, { at: AT, visibility }),
    );
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
      await KIND_RESOLVERS.datadownload.create(
        await readJson(req, context.deps),
        context,
        visibilityParameter(request.query["visibility"]),
      ),
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
