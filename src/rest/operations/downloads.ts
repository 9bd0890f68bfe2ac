import { ValidationError } from "../../errors.js";
import type { JsonValue } from "../../model/field.js";
import { DownloadResolver } from "../../resolvers/download-resolver.js";
import { KIND_RESOLVERS } from "../../resolvers/kind-resolver.js";
import { RecordResolver } from "../../resolvers/record-resolver.js";
import { authenticated } from "../../use-cases/access/caller.js";
import type { StagedFile } from "../../use-cases/files/staged-file.js";
import { checked } from "../../use-cases/records/create.js";
import { checkedJson, readJson } from "../body.js";
import { expectedRevision } from "../conditional.js";
import { readMultipart, takeFile } from "../multipart.js";
import { arkOf, type Operation, type Operations, type RestRequest } from "../request.js";
import { sendWritten } from "../written.js";

const downloads = new DownloadResolver();
const records = new RecordResolver();

/** Where a registration holds the record. */
const FIELD = "download";
const AT = ["body", FIELD];

/** A form with the record and the file, in either order: the file waits, staged, for a record that comes after it. */
const register: Operation = async (request) => {
  const { req, context } = request;
  const { config } = context.deps;
  authenticated(context.caller);
  const read = (text: Uint8Array): Promise<JsonValue> => checkedJson(text, context.deps, AT);
  let staged: StagedFile | undefined;
  try {
    const form = await readMultipart(req, { file: ["file"], texts: [FIELD], textLimit: { bytes: config.MAX_BODY_BYTES, setting: "MAX_BODY_BYTES" } }, async (file, texts) => {
      // A record that came first is judged before the bytes are received.
      const text = texts.get(FIELD);
      if (text) checked("datadownload", await read(new Uint8Array(text)), AT);
      return (staged = await downloads.stage(file, context));
    });
    const text = form.texts.get(FIELD);
    const problems = [...(text ? [] : [{ loc: AT, msg: "Field required", type: "missing" }]), ...(form.file ? [] : [form.missing])];
    if (problems.length > 0) throw new ValidationError(problems);
    const document = await read(text!);
    const file = staged!;
    staged = undefined;
    sendWritten(request, await downloads.register(document, file, context, AT));
  } finally {
    await staged?.object.discard();
  }
};

const upload: Operation = async (request) => {
  const { req, context } = request;
  authenticated(context.caller);
  const expected = expectedRevision(req);
  sendWritten(request, await takeFile(req, ["file"], (file) => downloads.upload(arkOf(request), file, expected, context)));
};

async function update(request: RestRequest): Promise<void> {
  const { req, context } = request;
  authenticated(context.caller);
  sendWritten(request, await records.replaceAt(arkOf(request), await readJson(req, context.deps), { kind: "datadownload", expectedRevision: expectedRevision(req) }, context));
}

export const downloadOperations: Operations = {
  create_download: async (request) => {
    const { req, context } = request;
    authenticated(context.caller);
    sendWritten(request, await KIND_RESOLVERS.datadownload.create(await readJson(req, context.deps), context));
  },
  register_download: register,
  upload_datadownload: upload,
  update_datadownload: update,
  delete_datadownload: async (request) => {
    authenticated(request.context.caller);
    sendWritten(request, await downloads.removeContent(arkOf(request), expectedRevision(request.req), request.context));
  },
};
