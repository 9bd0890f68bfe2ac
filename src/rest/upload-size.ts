import type { IncomingMessage } from "node:http";
import type { Config } from "../config.js";
import { ServiceError } from "../errors.js";

/**
 * Refuses an upload by the length it announces, before any of it is read. A form adds less than a mebibyte to the
 * file, and a record at most MAX_BODY_BYTES: a longer body cannot hold a file that is small enough.
 * @throws ServiceError `TOO_LARGE`
 */
export function assertUploadSize(req: IncomingMessage, { MAX_UPLOAD_BYTES, MAX_BODY_BYTES }: Pick<Config, "MAX_UPLOAD_BYTES" | "MAX_BODY_BYTES">): void {
  if (Number(req.headers["content-length"] ?? 0) <= MAX_UPLOAD_BYTES + MAX_BODY_BYTES + 2 ** 20) return;
  throw new ServiceError("TOO_LARGE", `The upload is larger than ${MAX_UPLOAD_BYTES} bytes (MAX_UPLOAD_BYTES).`);
}
