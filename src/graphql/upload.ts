import type { IncomingMessage, ServerResponse } from "node:http";
import processRequest, { type FileUpload } from "graphql-upload/processRequest.mjs";
import Upload from "graphql-upload/Upload.mjs";
import type { Config } from "../config.js";
import { ServiceError, ValidationError } from "../errors.js";
import type { JsonValue } from "../model/field.js";
import { secondFile, type FormEnd } from "../rest/form-end.js";
import { authenticated, type Caller } from "../use-cases/access/caller.js";
import { watchParts } from "./form-parts.js";

/** Headers that a page of another origin cannot send without asking first (CORS); any value will do. */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];
/** Largest `operations` or `map` field of the form. */
const MOST_FIELD_BYTES = 1 << 20;

/**
 * The operation of a GraphQL multipart request, its file in place. The file arrives while the operation runs.
 * @throws ServiceError `BAD_REQUEST` without a preflight header or for a malformed form, `NOT_AUTHENTICATED`, `TOO_LARGE`; ValidationError for a part that came twice
 */
export async function readUpload(req: IncomingMessage, res: ServerResponse, caller: Caller | null, { MAX_UPLOAD_BYTES, MAX_JSON_DEPTH }: Config): Promise<JsonValue> {
  if (!PREFLIGHT.some((name) => name in req.headers)) {
    throw new ServiceError("BAD_REQUEST", `A multipart request needs the header ${PREFLIGHT[0]}: true, which shows that no page of another origin sent it.`);
  }
  authenticated(caller);
  if (Number(req.headers["content-length"] ?? 0) > MAX_UPLOAD_BYTES + 2 * MOST_FIELD_BYTES) throw new ServiceError("TOO_LARGE", `The upload is larger than ${MAX_UPLOAD_BYTES} bytes (MAX_UPLOAD_BYTES).`);
  const end = watchParts(req);
  let body: JsonValue;
  try {
    const read = processRequest(req, res, { maxFileSize: MAX_UPLOAD_BYTES, maxFiles: 1, maxFieldSize: MOST_FIELD_BYTES });
    body = await first(end, read) as JsonValue;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { status, message } = error as { status?: number; message: string };
    // The map alone may show it; the parser has one status for all that is too much.
    if (status === 413 && message.includes("max file uploads")) throw secondFile("map");
    throw new ServiceError(status === 413 ? "TOO_LARGE" : "BAD_REQUEST", status === undefined ? "The multipart form cannot be read." : message);
  }
  assertStorable(body, MAX_JSON_DEPTH);
  holdFiles(body, end);
  return body;
}

/** What the form's parser makes of it, unless the form is refused before. */
function first<T>(end: FormEnd, parsed: Promise<T>): Promise<T> {
  return Promise.race([parsed, end.reached.then(() => parsed)]).catch((error) => {
    // Both see the same bytes; the parser's refusal may be heard first, and knows less.
    throw end.failure ?? error;
  });
}

/** An operation must not see its file end, and do its work, before the form has been read to the end. */
function holdFiles(value: unknown, end: FormEnd): void {
  if (value instanceof Upload) {
    const file: Promise<FileUpload> = first(end, value.promise).then((file) => ({ ...file, createReadStream: (options) => end.hold(file.createReadStream(options)) }));
    file.catch(() => undefined);
    value.promise = file;
  } else if (value !== null && typeof value === "object") {
    for (const item of Object.values(value)) holdFiles(item, end);
  }
}

/** The form's JSON was read leniently; what no document may hold is refused as in a JSON body. @throws ValidationError */
function assertStorable(value: unknown, depth: number, loc: (string | number)[] = ["body"]): void {
  if (depth < 0) throw new ValidationError([{ loc, msg: "Input is nested too deep (MAX_JSON_DEPTH)", type: "too_deep" }]);
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed())) throw new ValidationError([{ loc, msg: "Input should be a valid string without NUL or lone surrogates", type: "string_unicode" }]);
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new ValidationError([{ loc, msg: "Input should be a number that a double holds exactly", type: "number_precision" }]);
  if (Array.isArray(value)) for (const [index, item] of value.entries()) assertStorable(item, depth - 1, [...loc, index]);
  else if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    for (const [name, item] of Object.entries(value)) assertStorable(item, depth - 1, [...loc, name]);
  }
}
