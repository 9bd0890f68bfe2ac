import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { ServiceError, ValidationError } from "../errors.js";
import { mediaType } from "./body.js";

/** A file of a multipart form while it arrives. */
export interface UploadedFile { stream: Readable; name: string; mediaType: string }

/**
 * Hands the first file in one of the named fields to `take` while it arrives, and answers what `take` answers.
 * What else the form holds is read over. Nothing is left unhandled when the client hangs up: the file's
 * stream then fails, and `take` with it.
 * @throws ValidationError `missing` at `body.<field>` when there is no such file; ServiceError `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST`
 */
export async function takeFile<T>(req: IncomingMessage, fields: readonly string[], take: (file: UploadedFile) => Promise<T>): Promise<T> {
  if (mediaType(req) !== "multipart/form-data") {
    if (Number(req.headers["content-length"] ?? 0) === 0 && req.headers["transfer-encoding"] === undefined) throw missing(fields);
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `Send the file as multipart/form-data, in the field ${fields[0]}.`);
  }
  let parser: busboy.Busboy;
  try {
    parser = busboy({ headers: req.headers, limits: { files: 20, fields: 100, fieldSize: 1 << 20, parts: 200 }, defParamCharset: "utf8" });
  } catch (error) {
    throw new ServiceError("BAD_REQUEST", `The multipart form cannot be read: ${(error as Error).message}.`);
  }
  let taken: Promise<T> | undefined;
  parser.on("file", (field, stream, info) => {
    // Without a listener an error of a skipped file would end the process.
    stream.on("error", () => undefined);
    if (taken || !fields.includes(field)) return void stream.resume();
    taken = take({ stream, name: info.filename ?? "upload", mediaType: info.mimeType });
    // When the taker gives up (the file is too large) the refusal does not wait for the rest.
    taken.catch((error: unknown) => {
      stream.resume();
      gaveUp(error);
    });
  });
  let gaveUp: (error: unknown) => void = () => undefined;
  await new Promise<void>((resolve, reject) => {
    gaveUp = reject;
    const broken = () => {
      const error = new ServiceError("BAD_REQUEST", "The upload broke off before its end: send it again.");
      parser.destroy(error);
      reject(error);
    };
    req.on("aborted", broken).on("error", broken);
    parser.on("error", (error) => reject(error instanceof ServiceError ? error : new ServiceError("BAD_REQUEST", `The multipart form cannot be read: ${(error as Error).message}.`)));
    parser.on("close", resolve);
    req.pipe(parser);
  }).catch(async (error) => {
    req.unpipe(parser);
    await taken?.catch(() => undefined);
    throw error;
  });
  if (!taken) throw missing(fields);
  return taken;
}

const missing = (fields: readonly string[]) => new ValidationError([{ loc: ["body", fields[0]!], msg: "Field required", type: "missing" }]);
