import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import busboy from "busboy";
import { ServiceError, ValidationError, type ValidationItem } from "../errors.js";
import { FormEnd, mediaType, secondFile, twice } from "./body.js";

/** A file of a multipart form while it arrives. */
export interface UploadedFile {
  stream: Readable;
  name: string;
  mediaType: string;
}

export interface FormFields {
  /** Accepted names of the file part; errors show the first. */
  file: readonly string[];
  /** Names of parts that are read into memory, as text or as a file of any type. */
  texts?: readonly string[];
  /** Most bytes of such a part. */
  textLimit?: { bytes: number; setting: string };
}

/** A form that has arrived. */
export interface ReceivedForm<T> {
  texts: ReadonlyMap<string, Uint8Array>;
  /** The result of the file; absent when there was none. */
  file?: { taken: T };
  /** The error of the file field when there was no file. */
  missing: ValidationItem;
}

/** Most unknown parts that are skipped; no honest client sends so many. */
const LIMITS = { files: 20, fields: 100, parts: 200 };

/**
 * Reads a form with one file and some texts, in any order. The file is passed to `take` while it
 * arrives, with the texts that came before it; its stream does not end before the form has, and
 * fails with it. When this rejects, `take` has ended before: the caller may undo its effects. No
 * rejection stays unhandled when the client disconnects.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST`, `TOO_LARGE`; ValidationError for a
 * part that came twice; what `take` throws
 */
export async function readMultipart<T>(
  req: IncomingMessage,
  fields: FormFields,
  take: (file: UploadedFile, texts: ReadonlyMap<string, Uint8Array>) => Promise<T>,
): Promise<ReceivedForm<T>> {
  const [name] = fields.file as [string];
  let missing: ValidationItem = { loc: ["body", name], msg: "Field required", type: "missing" };
  const texts = new Map<string, Uint8Array>();
  if (mediaType(req) !== "multipart/form-data") {
    if (
      Number(req.headers["content-length"] ?? 0) === 0 &&
      req.headers["transfer-encoding"] === undefined
    )
      return { texts, missing };
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      `Send the file as multipart/form-data, in the field ${name}.`,
    );
  }
  const { bytes: textLimit, setting } = fields.textLimit ?? { bytes: 1 << 20, setting: "1 MiB" };
  const parser = parserOf(req, textLimit);
  const isText = (field: string) => fields.texts?.includes(field) === true;
  const tooLong = (field: string) =>
    new ServiceError(
      "TOO_LARGE",
      `The field ${field} is larger than ${textLimit} bytes (${setting}).`,
    );
  // Called while bytes arrive: without this the work would not belong to the request in its traces.
  const taking = AsyncResource.bind(take);
  const end = new FormEnd();
  const gaveUp = end.fail;
  let taken: Promise<T> | undefined;
  // A duplicate of a known part is never dropped silently: only the sender knows which of the two
  // is meant.
  const seen = new Set<string>();
  const again = (field: string): boolean => {
    const known = isText(field) ? field : fields.file.includes(field) ? name : undefined;
    if (known === undefined) return false;
    if (seen.has(known)) {
      gaveUp(known === name ? secondFile(field) : twice(field));
      return true;
    }
    seen.add(known);
    return false;
  };

  parser.on("field", (field, value, info) => {
    if (again(field)) return;
    if (isText(field)) {
      texts.set(field, Buffer.from(value));
      return info.valueTruncated ? gaveUp(tooLong(field)) : undefined;
    }
    if (fields.file.includes(field))
      missing = {
        loc: ["body", field],
        msg: "Value error, Expected UploadFile, received: <class 'str'>",
        type: "value_error",
      };
  });
  parser.on("file", (field, stream, info) => {
    // Without a listener an error of a skipped file would crash the process.
    stream.on("error", () => undefined);
    if (again(field)) return void stream.resume();
    if (isText(field))
      return gather(
        stream,
        textLimit,
        (bytes) => texts.set(field, bytes),
        () => gaveUp(tooLong(field)),
      );
    if (!fields.file.includes(field)) return void stream.resume();
    taken = taking(
      { stream: end.hold(stream), name: info.filename ?? "", mediaType: info.mimeType },
      texts,
    );
    // When the consumer gives up (the file is too large) the refusal does not wait for the rest.
    taken.catch(gaveUp);
  });
  const broken = () => {
    const error = new ServiceError(
      "BAD_REQUEST",
      "The upload ended before it was complete: send it again.",
    );
    parser.destroy(error);
    gaveUp(error);
  };
  req.on("aborted", broken).on("error", broken);
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
    parser.on(limit, () =>
      gaveUp(
        new ServiceError(
          "BAD_REQUEST",
          `The multipart form has too many parts: send only the field ${name} and the ` +
            "other fields of this operation.",
        ),
      ),
    );
  parser.on("error", (error) =>
    gaveUp(error instanceof ServiceError ? error : unreadable(error as Error)),
  );
  parser.on("close", end.reach);
  req.pipe(parser);
  await end.reached.catch(async (error) => {
    req.unpipe(parser);
    // The stream of a file that is still arriving does not end by itself any more.
    parser.destroy();
    await taken?.catch(() => undefined);
    throw error;
  });
  return { texts, missing, ...(taken ? { file: { taken: await taken } } : {}) };
}

/**
 * The same for a form that has only a file.
 * @throws also ValidationError at `body.<field>` when there is no file
 */
export async function takeFile<T>(
  req: IncomingMessage,
  file: readonly string[],
  take: (file: UploadedFile) => Promise<T>,
): Promise<T> {
  const form = await readMultipart(req, { file }, take);
  if (!form.file) throw new ValidationError([form.missing]);
  return form.file.taken;
}

const unreadable = (error: Error) =>
  new ServiceError("BAD_REQUEST", `The multipart form cannot be read: ${error.message}.`);

function parserOf(req: IncomingMessage, textLimit: number): busboy.Busboy {
  try {
    return busboy({
      headers: req.headers,
      limits: { ...LIMITS, fieldSize: textLimit },
      defParamCharset: "utf8",
    });
  } catch (error) {
    throw unreadable(error as Error);
  }
}

function gather(
  stream: Readable,
  limit: number,
  done: (bytes: Uint8Array) => void,
  tooLong: () => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else tooLong();
  });
  stream.on("end", () => done(Buffer.concat(chunks)));
}
