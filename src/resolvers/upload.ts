import { finished } from "node:stream/promises";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { ServiceError } from "../errors.js";
import type { IncomingFile } from "../use-cases/files/staged-file.js";
import type { Context } from "./context.js";

/** Hands the file of a multipart request to `use` while it arrives; whatever happens, its stream is ended. @throws ServiceError `TOO_LARGE`, `BAD_REQUEST` when it breaks off, or as `use` */
export async function withUpload<T>(upload: Promise<FileUpload>, context: Context, use: (file: IncomingFile) => Promise<T>): Promise<T> {
  try {
    const { createReadStream, filename, mimetype } = await upload;
    const stream = createReadStream();
    // Until the store reads from it nobody else listens; a client that hangs up just then would end the process.
    stream.on("error", () => undefined);
    try {
      return await use({ stream, name: filename, mediaType: mimetype });
    } finally {
      stream.destroy();
      await finished(stream).catch(() => undefined);
    }
  } catch (error) {
    throw uploadRefusal(error, context.deps.config.MAX_UPLOAD_BYTES);
  }
}

/** The parser of the form counts and watches as well, and may be the first to see that the file is too much or broken off. */
function uploadRefusal(error: unknown, limit: number): unknown {
  const { status } = error as { status?: number };
  if (error instanceof ServiceError || status === undefined || status < 400 || status >= 500) return error;
  if (status === 413) return new ServiceError("TOO_LARGE", `The upload is larger than ${limit} bytes (MAX_UPLOAD_BYTES).`);
  return new ServiceError("BAD_REQUEST", "The upload broke off before its end: send it again.");
}
