import { finished } from "node:stream/promises";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { ServiceError } from "../errors.js";
import type { IncomingFile } from "../use-cases/files/staged-file.js";
import type { Context } from "./context.js";

/** Hands the file of a multipart request to `use` while it arrives; whatever happens, its stream is ended. @throws ServiceError `TOO_LARGE`, or as `use` */
export async function withUpload<T>(upload: Promise<FileUpload>, context: Context, use: (file: IncomingFile) => Promise<T>): Promise<T> {
  const { createReadStream, filename, mimetype } = await upload;
  const stream = createReadStream();
  try {
    return await use({ stream, name: filename, mediaType: mimetype });
  } catch (error) {
    // The parser of the form counts as well, and may be the first to see that it is too much.
    if ((error as { status?: number }).status !== 413 || error instanceof ServiceError) throw error;
    throw new ServiceError("TOO_LARGE", `The upload is larger than ${context.deps.config.MAX_UPLOAD_BYTES} bytes (MAX_UPLOAD_BYTES).`);
  } finally {
    stream.destroy();
    await finished(stream).catch(() => undefined);
  }
}
