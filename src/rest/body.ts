import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { ServiceError, ValidationError, type ValidationItem } from "../errors.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { badStringItem, findBadString } from "../model/strings.js";
import { parseStrictJson } from "../model/json/strict-json.js";
import type { Config, SettingName } from "../config.js";
import { twice } from "./form-end.js";

export interface BodyLimits { MAX_BODY_BYTES: Config["MAX_BODY_BYTES"]; MAX_JSON_DEPTH: Config["MAX_JSON_DEPTH"] }

/** The form of an operation's body; `either` is a file in a multipart form, or JSON. */
export type BodyForm = "json" | "form" | "multipart" | "either" | "sparql";
/** Settings that bound a JSON body. */
export type BodyLimit = Extract<SettingName, "MAX_BODY_BYTES" | "MAX_METADATA_BYTES">;
export interface ExpectedBody { form: BodyForm; /** `MAX_BODY_BYTES` unless the contract names another. */ limit: BodyLimit }

/**
 * What the contract's request body stands for.
 * @param types its media types
 */
export function expectedBody(types: readonly string[], limit: BodyLimit = "MAX_BODY_BYTES"): ExpectedBody | undefined {
  if (types.length === 0) return undefined;
  return { form: formOf(types), limit };
}

function formOf(types: readonly string[]): BodyForm {
  if (types.includes(FORM_DATA)) return types.some(isJson) ? "either" : "multipart";
  if (types.includes(SPARQL_QUERY)) return "sparql";
  return types.includes(URL_ENCODED) ? "form" : "json";
}

export const hasBody = (req: IncomingMessage): boolean => Number(req.headers["content-length"] ?? 0) > 0 || req.headers["transfer-encoding"] !== undefined;

/**
 * What the headers alone tell of a body. It is looked at before the token: it costs nothing, and a client that is
 * told of a wrong type or size first need not log in for it.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`, `TOO_LARGE`
 */
export function checkBodyHeaders(req: IncomingMessage, { form, limit: jsonLimit }: ExpectedBody, limits: BodyLimits & Pick<Config, "MAX_UPLOAD_BYTES" | BodyLimit>): void {
  if (!hasBody(req)) return;
  const type = mediaType(req);
  if (!reads(form, type)) {
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `This operation reads ${FORMS[form]}, not ${type === "" ? "a body without Content-Type" : type.slice(0, 100)}.`);
  }
  // A form adds a record and less than a mebibyte more to the file; a longer body cannot hold a file that is small enough.
  const [limit, room, setting] = type === FORM_DATA ? [limits.MAX_UPLOAD_BYTES, limits.MAX_BODY_BYTES + 2 ** 20, "MAX_UPLOAD_BYTES"] : [limits[jsonLimit], 0, jsonLimit];
  if (Number(req.headers["content-length"] ?? 0) > limit + room) throw new ServiceError("TOO_LARGE", `The body is larger than ${limit} bytes (${setting}).`);
}

/** The body as it arrives, for whoever stores it. It fails when the client hangs up; ending it early leaves the request to be answered. */
export function bodyStream(req: IncomingMessage): Readable {
  const stream = new PassThrough();
  const broken = () => void stream.destroy(new ServiceError("BAD_REQUEST", "The upload broke off before its end: send it again."));
  // Without a listener an error that nobody reads any more would end the process.
  stream.on("error", () => undefined).once("close", () => req.unpipe(stream));
  req.once("aborted", broken).once("error", broken);
  return req.pipe(stream);
}

/** The whole body. @throws ServiceError `TOO_LARGE` before more than the limit is read */
export async function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new ServiceError("TOO_LARGE", `The body is larger than ${limit} bytes (MAX_BODY_BYTES).`);
  if (Number(req.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Listeners: an iterator of the request would cost a small body more than its parsing.
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      req.off("data", take);
      reject(tooLarge());
    };
    // Every request closes: the error is made for those only that did so before their end.
    req.on("data", take).once("end", resolve).once("error", reject).once("close", () => {
      if (!req.readableEnded) reject(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
    });
  });
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
}

export const mediaType = (req: IncomingMessage): string => (req.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();
const URL_ENCODED = "application/x-www-form-urlencoded";
const FORM_DATA = "multipart/form-data";
const SPARQL_QUERY = "application/sparql-query";
const FORMS: Readonly<Record<BodyForm, string>> = {
  json: "application/json", form: `${URL_ENCODED} or application/json`, multipart: FORM_DATA, either: `${FORM_DATA}, application/json or application/ld+json`,
  sparql: `queries only, as ${URL_ENCODED} or ${SPARQL_QUERY}`,
};
const isJson = (type: string): boolean => type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);

/** Whether a body of this media type is one of the form. */
function reads(form: BodyForm, type: string): boolean {
  if (type === FORM_DATA) return form === "multipart" || form === "either";
  if (form === "sparql") return type === SPARQL_QUERY || type === URL_ENCODED;
  return form !== "multipart" && (isJson(type) || (form === "form" && type === URL_ENCODED));
}

/**
 * A JSON body; `undefined` when it is empty.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`, `TOO_LARGE`; ValidationError when it is no JSON, or holds what no document may
 */
export async function readJson(req: IncomingMessage, limits: BodyLimits): Promise<JsonValue | undefined> {
  const type = mediaType(req);
  if (!hasBody(req)) return undefined;
  if (!isJson(type)) throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `This operation reads application/json, not ${type === "" ? "a body without Content-Type" : type.slice(0, 100)}.`);
  const bytes = await readBytes(req, limits.MAX_BODY_BYTES);
  return bytes.length === 0 ? undefined : checkedJson(bytes, limits.MAX_JSON_DEPTH);
}

/**
 * @param at where the JSON is in the request; in a whole body the offset of what is no JSON is told too
 * @throws ValidationError with every problem and its place
 */
export function checkedJson(bytes: Uint8Array, maxDepth: number, at: readonly (string | number)[] = ["body"]): JsonValue {
  const { value, problems } = parseStrictJson(bytes, { maxDepth });
  if (problems.length === 0) return value as JsonValue;
  throw new ValidationError(problems.map((problem): ValidationItem => {
    if (problem.code === "json_invalid") return { loc: at.length > 1 ? [...at] : [...at, problem.offset ?? 0], msg: "JSON decode error", type: "json_invalid", ctx: { error: problem.message } };
    return { loc: [...at, ...pointerSegments(problem.pointer)], msg: problem.message, type: problem.code };
  }));
}

/** The steps of a JSON pointer; what looks like an index is one. */
export function pointerSegments(pointer: string): (string | number)[] {
  return pointer.split("/").slice(1).map((segment) => (/^(?:0|[1-9]\d*)$/.test(segment) ? Number(segment) : segment.replaceAll("~1", "/").replaceAll("~0", "~")));
}

/** A form body, or JSON for clients that send that. @throws as {@link readJson}; ValidationError for a field that came twice (RFC 6749, section 3.2) */
export async function readForm(req: IncomingMessage, limits: BodyLimits): Promise<JsonValue | undefined> {
  if (mediaType(req) !== URL_ENCODED) return readJson(req, limits);
  const form: JsonObject = {};
  for (const [name, value] of new URLSearchParams((await readBytes(req, limits.MAX_BODY_BYTES)).toString("utf8"))) {
    if (Object.hasOwn(form, name)) throw twice(name);
    form[name] = value;
  }
  const bad = findBadString(form);
  if (bad) throw new ValidationError([badStringItem(["body", ...bad])]);
  return form;
}
