/** Bodies of requests within their limits: bytes, JSON and multipart forms. */
import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable, Transform } from "node:stream";
import busboy from "busboy";
import { eventLoop } from "../event-loop-budget.js";
import type { Config } from "../config/config.js";
import { invalid, ServiceError, ValidationError, type ValidationItem } from "../errors.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { jsonRefusal, parseBoundedJson } from "../model/json/read.js";
import { badStringItem, findBadString, withoutInvisible } from "../model/strings.js";
import type { Deps } from "../services/deps.js";

/**
 * The end of a multipart form, which the end of its file waits for. A part behind the file can
 * still cause the form to be refused; had the file ended by then, the consumer would have stored
 * it.
 */
class FormEnd {
  readonly reached: Promise<void>;
  reach!: () => void;
  fail!: (error: unknown) => void;
  /** The error of the refused form. */
  failure: unknown;

  constructor() {
    this.reached = new Promise((resolve, reject) => {
      this.reach = resolve;
      this.fail = (error) => {
        this.failure ??= error;
        reject(error);
      };
    });
    // A form may fail when nobody waits for it any more.
    this.reached.catch(() => undefined);
  }

  /**
   * The stream, ended only after the form; it fails with the form. If the consumer ends it early,
   * the rest is skipped.
   */
  hold(stream: Readable): Readable {
    const held = new Transform({
      transform: (chunk, _encoding, done) => done(null, chunk),
      flush: (done) => void this.reached.then(() => done(), done),
    });
    // Also while the file is arriving: a source that its parser ended may emit no event.
    this.reached.catch((error: Error) => held.destroy(error));
    stream.on("error", (error) => held.destroy(unreadable(error)));
    held.on("error", () => undefined).once("close", () => stream.unpipe(held).resume());
    return stream.pipe(held);
  }
}

/** A form with two files, where the operation accepts one. */
export const secondFile = (field: string): ValidationError =>
  invalid(
    ["body", field],
    "Value error, A request may contain only one file: send each file in a request of its own",
  );
/** The error for a part that came twice and may come only once. */
export const twice = (field: string): ValidationError =>
  invalid(["body", field], "Value error, The field occurs twice: send it once");

/** Dependencies of reading a body: its limits, and the thread for large bodies. */
type BodyReader = Pick<Deps, "config" | "documents">;

/**
 * The form of an operation's body; `either` is a file in a multipart form, or JSON. The media type
 * of a `patch` says what its JSON means; plain JSON is a merge patch.
 */
type BodyForm = "json" | "form" | "multipart" | "either" | "sparql" | "patch";
/** What bounds a JSON body. */
export type BodyLimit = "MAX_BODY_BYTES" | "MAX_METADATA_BYTES" | "MAX_LOGIN_BYTES";
interface ExpectedBody {
  form: BodyForm;
  /** `MAX_BODY_BYTES` unless the contract names another. */ limit: BodyLimit;
}

/**
 * The meaning of the contract's request body.
 * @param types its media types
 */
export function expectedBody(
  types: readonly string[],
  limit: BodyLimit = "MAX_BODY_BYTES",
): ExpectedBody | undefined {
  if (types.length === 0) return undefined;
  return { form: formOf(types), limit };
}

function formOf(types: readonly string[]): BodyForm {
  if (types.includes(FORM_DATA)) return types.some(isJson) ? "either" : "multipart";
  if (types.includes(SPARQL_QUERY)) return "sparql";
  if (types.includes(MERGE_PATCH)) return "patch";
  return types.includes(URL_ENCODED) ? "form" : "json";
}

export const hasBody = (req: IncomingMessage): boolean =>
  Number(req.headers["content-length"] ?? 0) > 0 || req.headers["transfer-encoding"] !== undefined;

/**
 * Refuses a compressed body: bytes are read as they were sent, and nothing is inflated before its
 * limits are checked.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE` with `Accept-Encoding` (RFC 9110, section 15.5.16)
 */
function checkEncoding(req: IncomingMessage): void {
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || !hasBody(req) || /^[\s,]*(?:identity[\s,]*)*$/i.test(encoding))
    return;
  const message =
    `The body has the Content-Encoding ${encoding.slice(0, 40)}, which is not supported: ` +
    "send it uncompressed, without Content-Encoding.";
  throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", message, {}, { "Accept-Encoding": "identity" });
}

/**
 * Refuses text in another charset than UTF-8 (RFC 8259, section 8.1): read as UTF-8, its letters
 * would become others. ASCII is UTF-8 too.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`
 */
function checkCharset(req: IncomingMessage): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(req.headers["content-type"] ?? "")?.[1];
  if (charset === undefined || /^(?:utf-?8|(?:us-)?ascii)?$/i.test(charset)) return;
  throw new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    `The body is in the charset ${charset.slice(0, 40)}, which is not supported: send it in UTF-8.`,
  );
}

/**
 * Refuses a body of another type than the operation reads; the functions that read it rely on that.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`
 */
export function checkBodyType(req: IncomingMessage, form: BodyForm): void {
  if (!hasBody(req)) return;
  checkEncoding(req);
  const type = mediaType(req);
  if (!reads(form, type))
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      `This operation reads ${FORMS[form]}, not ` +
        `${type === "" ? "a body without Content-Type" : type.slice(0, 100)}.`,
      {},
      form === "patch" ? { "Accept-Patch": ACCEPT_PATCH } : {},
    );
  if (type !== FORM_DATA) checkCharset(req);
}

/**
 * Checks what the headers alone state about a body. This check precedes the token: it is cheap, and
 * a client with a wrong type or size gets that error without having to log in.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`, `TOO_LARGE`
 */
export function checkBodyHeaders(
  req: IncomingMessage,
  { form, limit: jsonLimit }: ExpectedBody,
  limits: Pick<Config, "MAX_UPLOAD_BYTES" | BodyLimit>,
): void {
  if (!hasBody(req)) return;
  checkBodyType(req, form);
  // A form adds a record and less than a mebibyte more to the file; a longer body cannot hold a
  // file within the limit.
  const [limit, space, name] =
    mediaType(req) === FORM_DATA
      ? [limits.MAX_UPLOAD_BYTES, limits.MAX_BODY_BYTES + 2 ** 20, "MAX_UPLOAD_BYTES"]
      : [limits[jsonLimit], 0, jsonLimit];
  if (Number(req.headers["content-length"] ?? 0) > limit + space)
    throw new ServiceError("TOO_LARGE", `The body is larger than ${limit} bytes (${name}).`);
}

/**
 * The body as it arrives, for a consumer that stores it. The stream fails when the client
 * disconnects; when the consumer ends it early, the request still needs an answer.
 */
export function bodyStream(req: IncomingMessage): Readable {
  const stream = new PassThrough();
  const broken = () => void stream.destroy(endedEarly());
  // Without a listener an error on an abandoned stream would crash the process.
  stream.on("error", () => undefined).once("close", () => req.unpipe(stream));
  req.once("aborted", broken).once("error", broken);
  return req.pipe(stream);
}

/**
 * The whole body.
 * @param name of the limit
 * @throws ServiceError `TOO_LARGE` before more than the limit is read
 */
export async function readBytes(
  req: IncomingMessage,
  limit: number,
  name: keyof Config = "MAX_BODY_BYTES",
): Promise<Buffer> {
  const tooLarge = () =>
    new ServiceError("TOO_LARGE", `The body is larger than ${limit} bytes (${name}).`);
  if (Number(req.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Listeners: for a small body an iterator of the request would cost more than parsing.
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      req.off("data", take);
      reject(tooLarge());
    };
    // Every request emits `close`: the error is created only for requests that closed before their
    // end.
    req
      .on("data", take)
      .once("end", resolve)
      .once("error", reject)
      .once("close", () => {
        if (!req.readableEnded) reject(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
      });
  });
  const [first] = chunks;
  return first && chunks.length === 1 ? first : Buffer.concat(chunks, size);
}

export const mediaType = (req: IncomingMessage): string =>
  (req.headers["content-type"] ?? "").replace(/;.*/s, "").trim().toLowerCase();
const URL_ENCODED = "application/x-www-form-urlencoded";
const FORM_DATA = "multipart/form-data";
const SPARQL_QUERY = "application/sparql-query";
/** RFC 7396 and RFC 6902. */
const MERGE_PATCH = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
/** The media types of patches, as the header of that name lists them (RFC 5789, section 3.1). */
export const ACCEPT_PATCH = `${MERGE_PATCH}, ${JSON_PATCH}, application/json`;
const FORMS: Readonly<Record<BodyForm, string>> = {
  json: "application/json",
  form: `${URL_ENCODED} or application/json`,
  multipart: FORM_DATA,
  either: `${FORM_DATA}, application/json or application/ld+json`,
  sparql: `queries only, as ${URL_ENCODED} or ${SPARQL_QUERY}`,
  patch: `${MERGE_PATCH} (RFC 7396), application/json as the same, or ${JSON_PATCH} (RFC 6902)`,
};
const isJson = (type: string): boolean =>
  type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);

/** Whether a body of this media type is one of the form. */
function reads(form: BodyForm, type: string): boolean {
  if (type === FORM_DATA) return form === "multipart" || form === "either";
  if (form === "patch") return ACCEPT_PATCH.split(", ").includes(type);
  if (form === "sparql") return type === SPARQL_QUERY || type === URL_ENCODED;
  return form !== "multipart" && (isJson(type) || (form === "form" && type === URL_ENCODED));
}

/**
 * Bytes of JSON that are checked on the serving thread; a larger body goes through the thread for
 * large documents.
 */
const MAX_BYTES_ON_SERVING_THREAD = 64 * 2 ** 10;

/**
 * A JSON body; `undefined` when it is empty.
 * @param limit setting that bounds it
 * @throws ServiceError `TOO_LARGE`; ValidationError when it is not JSON,
 * or holds values that no document may hold
 */
export async function readJson(
  req: IncomingMessage,
  reader: BodyReader,
  limit: BodyLimit = "MAX_BODY_BYTES",
): Promise<JsonValue | undefined> {
  const bytes = await readJsonBytes(req, reader.config, limit);
  return bytes && checkedJson(bytes, reader);
}

/**
 * The bytes of a JSON body, for a caller that parses them in another thread.
 * @throws ServiceError `TOO_LARGE`
 */
export async function readJsonBytes(
  req: IncomingMessage,
  config: Config,
  limit: BodyLimit = "MAX_BODY_BYTES",
): Promise<Uint8Array | undefined> {
  if (!hasBody(req)) return undefined;
  const bytes = await readBytes(req, config[limit], limit);
  return bytes.length === 0 ? undefined : bytes;
}

/**
 * @param at where the JSON is in the request; for a whole body the error also names the offset of
 * invalid JSON
 * @throws ServiceError `TOO_LARGE` past MAX_JSON_VALUES; ValidationError with every problem and its
 * place
 */
export async function checkedJson(
  bytes: Uint8Array,
  { config, documents }: BodyReader,
  at: readonly (string | number)[] = ["body"],
): Promise<JsonValue> {
  const limits = { maxDepth: config.MAX_JSON_DEPTH, maxValues: config.MAX_JSON_VALUES };
  const tooMany = () =>
    new ServiceError(
      "TOO_LARGE",
      `${at.length > 1 ? `The field ${at.slice(1).join(".")}` : "The body"} holds more than ` +
        `MAX_JSON_VALUES=${limits.maxValues} keys and values. Send fewer, or a file.`,
    );
  if (bytes.length <= MAX_BYTES_ON_SERVING_THREAD) {
    const read = parseBoundedJson(bytes, limits);
    if (read.tooMany) throw tooMany();
    if (read.problems.length > 0) throw jsonRefusal(read.problems, at);
    return read.value!;
  }
  // Node's own buffers may share memory with others; only a buffer that owns all of its memory can
  // be transferred.
  const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
  const {
    bytes: checked,
    problems,
    tooMany: exceeds,
  } = await documents.ask("check", { bytes: whole, limits }, [whole]);
  if (exceeds) throw tooMany();
  if (problems.length > 0) throw jsonRefusal(problems, at);
  // A valid body is parsed again rather than sent: copying an object between threads takes longer.
  const text = new TextDecoder().decode(checked);
  await eventLoop.nextTurn();
  return JSON.parse(text) as JsonValue;
}

/**
 * A form body, or JSON for clients that send that.
 * @throws as {@link readJson}; ValidationError for a field that came twice (RFC 6749, section 3.2)
 */
export async function readForm(
  req: IncomingMessage,
  reader: BodyReader,
  limit: BodyLimit,
): Promise<JsonValue | undefined> {
  if (mediaType(req) !== URL_ENCODED) return readJson(req, reader, limit);
  const form: JsonObject = {};
  for (const [name, value] of formFields(
    (await readBytes(req, reader.config[limit], limit)).toString("utf8"),
    reader.config,
  )) {
    if (Object.hasOwn(form, name)) throw twice(name);
    form[name] = value;
  }
  const bad = findBadString(form);
  if (bad) throw new ValidationError([badStringItem(["body", ...bad])]);
  return form;
}

/**
 * Fields of a form, or parameters of a query string.
 * @throws ServiceError `TOO_LARGE` past MAX_FORM_FIELDS, before any is read
 */
export function formFields(
  encoded: string,
  { MAX_FORM_FIELDS: most }: Pick<Config, "MAX_FORM_FIELDS">,
): URLSearchParams {
  let fields = 1;
  for (let at = encoded.indexOf("&"); at >= 0; at = encoded.indexOf("&", at + 1)) {
    if (++fields > most)
      throw new ServiceError(
        "TOO_LARGE",
        `The form or query string has more than MAX_FORM_FIELDS=${most} fields. Send fewer.`,
      );
  }
  return new URLSearchParams(encoded);
}

/** A file of a multipart form while it arrives. */
export interface UploadedFile {
  /** The name of its part. */
  field: string;
  stream: Readable;
  name: string;
  mediaType: string;
}

interface FormFields {
  /** Accepted names of the file part, any when absent; errors show the first. */
  file?: readonly string[];
  /** Names of parts that are read into memory, as text or as a file of any type. */
  texts?: readonly string[];
  /** Most bytes of such a part. */
  textLimit?: { bytes: number; setting: string };
}

/** A form that has arrived. */
interface ReceivedForm<T> {
  texts: ReadonlyMap<string, Uint8Array>;
  /** The result of the file; absent when there was none. */
  file?: { taken: T };
  /** The error of the file field when there was no file. */
  missing: ValidationItem;
}

/** Bytes of a form in which the header of its first part lies. */
const HEADER = 4096;
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
  const [name = "file"] = fields.file ?? [];
  const isText = (field: string) => fields.texts?.includes(field) === true;
  const isFile = (field: string) => fields.file?.includes(field) ?? !isText(field);
  let missing: ValidationItem = { loc: ["body", name], msg: "Field required", type: "missing" };
  const texts = new Map<string, Uint8Array>();
  if (!isForm(req, name)) return { texts, missing };
  const { bytes: textLimit, setting } = fields.textLimit ?? { bytes: 1 << 20, setting: "1 MiB" };
  const parser = parserOf(req, textLimit);
  const tooLong = (field: string) =>
    new ServiceError(
      "TOO_LARGE",
      `The field ${field} is larger than ${textLimit} bytes (${setting}).`,
    );
  // Called while bytes arrive: without this the work would not belong to the request in its traces.
  // What it throws before its first wait is a rejection as well.
  const taking = AsyncResource.bind(async (...args: Parameters<typeof take>) => take(...args));
  const end = new FormEnd();
  const gaveUp = end.fail;
  let taken: Promise<T> | undefined;
  // A duplicate of a known part is never dropped silently: only the sender knows which of the two
  // is meant.
  const seen = new Set<string>();
  const again = (field: string): boolean => {
    const known = isText(field) ? field : isFile(field) ? name : undefined;
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
    if (isFile(field)) missing = textForFile(field);
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
    if (!isFile(field)) return void stream.resume();
    // What cannot be seen makes a name look like another.
    const name = withoutInvisible(info.filename ?? "");
    taken = taking({ field, stream: end.hold(stream), name, mediaType: info.mimeType }, texts);
    // When the consumer gives up (the file is too large) the refusal does not wait for the rest.
    taken.catch(gaveUp);
  });
  endForm(req, parser, end, name);
  // The parser skips a part whose Content-Disposition it cannot read, without an event.
  let begin: Buffer | undefined;
  req.once("data", (chunk: Buffer) => (begin = chunk));
  req.pipe(parser);
  await end.reached.catch(async (error) => {
    req.unpipe(parser);
    // The stream of a file that is still arriving does not end by itself any more.
    parser.destroy();
    await taken?.catch(() => undefined);
    throw error;
  });
  if (!taken && begin?.subarray(0, HEADER).includes("filename*=")) missing = unreadableName(name);
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

/** Ends the form with its last part, and with an error where it cannot be read to there. */
function endForm(req: IncomingMessage, parser: busboy.Busboy, end: FormEnd, file: string): void {
  const broken = () => {
    const error = endedEarly();
    parser.destroy(error);
    end.fail(error);
  };
  req.on("aborted", broken).on("error", broken);
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
    parser.on(limit, () => end.fail(tooManyParts(file)));
  parser.on("error", (error) => end.fail(unreadable(error as Error)));
  parser.on("close", end.reach);
}

/**
 * Whether the request has a form.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE` for another body
 */
function isForm(req: IncomingMessage, file: string): boolean {
  if (mediaType(req) === "multipart/form-data") return true;
  const { "content-length": length = 0, "transfer-encoding": encoding } = req.headers;
  if (Number(length) === 0 && encoding === undefined) return false;
  throw new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    `Send the file as multipart/form-data, in the field ${file}.`,
  );
}

const textForFile = (field: string): ValidationItem => ({
  loc: ["body", field],
  msg: "Value error, Expected UploadFile, received: <class 'str'>",
  type: "value_error",
});

const unreadableName = (field: string): ValidationItem => ({
  loc: ["body", field],
  msg:
    "Value error, the file's name cannot be read: send it as filename only, without filename* " +
    "(RFC 7578, section 4.2)",
  type: "value_error",
});

const tooManyParts = (file: string): ServiceError =>
  new ServiceError(
    "BAD_REQUEST",
    `The multipart form has too many parts: send only the field ${file} and the ` +
      "other fields of this operation.",
  );

const unreadable = (error: Error) =>
  error instanceof ServiceError
    ? error
    : new ServiceError("BAD_REQUEST", `The multipart form cannot be read: ${error.message}.`);

export const endedEarly = (): ServiceError =>
  new ServiceError("BAD_REQUEST", "The upload ended before it was complete: send it again.");

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
