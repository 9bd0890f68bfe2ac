import { ServiceError, ValidationError } from "../../errors.js";
import { CrateResolver } from "../../resolvers/crate-resolver.js";
import { KIND_RESOLVERS } from "../../resolvers/kind-resolver.js";
import type { Finding } from "../../model/finding.js";
import { authenticated } from "../../use-cases/access/caller.js";
import { statusOfFindings } from "../../use-cases/crates/findings.js";
import type { UploadOptions } from "../../use-cases/crates/named-crate.js";
import type { SubmissionView } from "../../use-cases/crates/submissions.js";
import { parseDocument } from "../../use-cases/records/view.js";
import { takeFile } from "../multipart.js";
import { NOT_STORED, sendJson } from "../reply.js";
import { readFlag, type Operations, type RestRequest } from "../request.js";

const crates = new CrateResolver();

/** Existing clients send the archive as `file`, or as `crate`. */
export const FIELDS = ["file", "crate"];

/** Whether an upload is an update, and of which crate. */
export const uploadOptions = (query: RestRequest["query"]): UploadOptions => ({ update: readFlag(query, "update"), crate: query["crate"] });

async function submit({ req, query, context }: RestRequest): Promise<SubmissionView> {
  authenticated(context.caller);
  const options = uploadOptions(query);
  return takeFile(req, FIELDS, (file) => crates.submit({ stream: file.stream, name: file.name || "crate.zip" }, options, context));
}

const inArchive = ({ file, pointer }: Finding): (string | number)[] => ["body", "file", file ?? "", pointer ?? ""];

/** What a failed intake answers over the synchronous route: the errors as a validation failure, or a limit or conflict of its own status; with the code of docs/crates.md in any case. */
function failure(view: SubmissionView, locOf: typeof inArchive): Error {
  const errors = view.error ?? [];
  const status = statusOfFindings(errors);
  const first = errors.find((error) => statusOfFindings([error]) === status);
  if (status !== 422) return new ServiceError(status === 413 ? "TOO_LARGE" : "DUPLICATE", first!.message, { submission: view, code: first!.code });
  return new ValidationError(errors.map((error) => ({ loc: locOf(error), msg: error.message, type: error.code })));
}

/**
 * Waits for the end of a submission and answers with the crate.
 * @param locOf where in the request a finding is
 */
export async function answerCrate({ req, res, context }: RestRequest, submitted: SubmissionView, locOf = inArchive): Promise<void> {
  const view = submitted.completed ? submitted : await crates.settled(submitted.submissionUUID, context);
  if (view.status === "failed") throw failure(view, locOf);
  if (view.rocrateIdentifier === null) return sendJson(req, res, { submission: view }, { headers: NOT_STORED });
  const crate = await KIND_RESOLVERS.rocrate.read(view.rocrateIdentifier, context);
  sendJson(req, res, { ...parseDocument(crate.bytes), submission: view }, { headers: NOT_STORED });
}

export const crateOperations: Operations = {
  upload_crate_async: async (request) => {
    sendJson(request.req, request.res, await submit(request), { headers: NOT_STORED });
  },
  upload_crate: async (request) => answerCrate(request, await submit(request)),
};
