import type { IncomingMessage, ServerResponse } from "node:http";
import processRequest from "graphql-upload/processRequest.mjs";
import type { Config } from "../config.js";
import { ServiceError, ValidationError } from "../errors.js";
import type { JsonValue } from "../model/field.js";
import { authenticated, type Caller } from "../use-cases/access/caller.js";

/** Headers that a page of another origin cannot send without asking first (CORS); any value will do. */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];
/** Largest `operations` or `map` field of the form. */
const MOST_FIELD_BYTES = 1 << 20;

/**
 * The operation of a GraphQL multipart request, its file in place. The file arrives while the operation runs.
 * @throws ServiceError `BAD_REQUEST` without a preflight header or for a malformed form, `NOT_AUTHENTICATED`, `TOO_LARGE`
 */
export async function readUpload(req: IncomingMessage, res: ServerResponse, caller: Caller | null, { MAX_UPLOAD_BYTES, MAX_JSON_DEPTH }: Config): Promise<JsonValue> {
  if (!PREFLIGHT.some((name) => name in req.headers)) {
    throw new ServiceError("BAD_REQUEST", `A multipart request needs the header ${PREFLIGHT[0]}: true, which shows that no page of another origin sent it.`);
  }
  authenticated(caller);
  if (Number(req.headers["content-length"] ?? 0) > MAX_UPLOAD_BYTES + 2 * MOST_FIELD_BYTES) throw new ServiceError("TOO_LARGE", `The upload is larger than ${MAX_UPLOAD_BYTES} bytes (MAX_UPLOAD_BYTES).`);
  let body: JsonValue;
  try {
    body = await processRequest(req, res, { maxFileSize: MAX_UPLOAD_BYTES, maxFiles: 1, maxFieldSize: MOST_FIELD_BYTES }) as JsonValue;
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    throw new ServiceError(status === 413 ? "TOO_LARGE" : "BAD_REQUEST", status === undefined ? "The multipart form cannot be read." : message);
  }
  assertStorable(body, MAX_JSON_DEPTH);
  return body;
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
