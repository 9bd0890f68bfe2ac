import type { IncomingMessage, ServerResponse } from "node:http";
import busboy from "busboy";
import Upload from "graphql-upload/Upload.mjs";
import processRequest, { type FileUpload } from "graphql-upload/processRequest.mjs";
import type { Config } from "../config/config.js";
import { ServiceError, ValidationError } from "../errors.js";
import { FormEnd, secondFile, twice } from "../http/body.js";
import type { JsonValue } from "../model/field.js";
import { findBadString } from "../model/strings.js";
import { authenticated, type Caller } from "../services/access/rules.js";

/**
 * Checks the parts of a multipart request while another parser reads them: that parser silently
 * drops a second file, and a second `operations` or `map`.
 */
function watchParts(req: IncomingMessage): FormEnd {
  const end = new FormEnd();
  const seen = new Set<string>();
  let parser: busboy.Busboy;
  try {
    parser = busboy({ headers: req.headers, limits: { fieldSize: 1 }, defParamCharset: "utf8" });
  } catch {
    // The other parser reports the error.
    end.reach();
    return end;
  }
  parser.on("field", (field) => {
    if (seen.has(field)) end.fail(twice(field));
    seen.add(field);
  });
  let files = 0;
  parser.on("file", (field, stream) => {
    stream.on("error", () => undefined).resume();
    files += 1;
    if (files > 1) end.fail(secondFile(field));
  });
  parser.on("error", () =>
    end.fail(new ServiceError("BAD_REQUEST", "The multipart form cannot be read.")),
  );
  parser.on("close", end.reach);
  req.once("close", () => {
    if (!req.readableEnded)
      end.fail(
        new ServiceError("BAD_REQUEST", "The upload ended before it was complete: send it again."),
      );
  });
  req.pipe(parser);
  return end;
}

/**
 * Headers that a page of another origin cannot send without a preflight request (CORS); any value
 * is accepted.
 */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];

/**
 * The operation of a GraphQL multipart request, its file in place. The file arrives while the
 * operation runs.
 * @throws ServiceError `BAD_REQUEST` without a preflight header or for a malformed form,
 * `NOT_AUTHENTICATED`, `TOO_LARGE`; ValidationError for a part that came twice
 */
export async function readUpload(
  req: IncomingMessage,
  res: ServerResponse,
  caller: Caller | null,
  { MAX_UPLOAD_BYTES, MAX_JSON_DEPTH, MAX_JSON_VALUES, GRAPHQL_MAX_MESSAGE_BYTES }: Config,
): Promise<JsonValue> {
  if (!PREFLIGHT.some((name) => name in req.headers)) {
    throw new ServiceError(
      "BAD_REQUEST",
      `A multipart request needs the header ${PREFLIGHT[0]}: true, which shows that no page ` +
        "of another origin sent it.",
    );
  }
  authenticated(caller);
  if (Number(req.headers["content-length"] ?? 0) > MAX_UPLOAD_BYTES + 2 * GRAPHQL_MAX_MESSAGE_BYTES)
    throw new ServiceError(
      "TOO_LARGE",
      `The upload is larger than ${MAX_UPLOAD_BYTES} bytes (MAX_UPLOAD_BYTES).`,
    );
  const end = watchParts(req);
  let body: JsonValue;
  try {
    const read = processRequest(req, res, {
      maxFileSize: MAX_UPLOAD_BYTES,
      maxFiles: 1,
      maxFieldSize: GRAPHQL_MAX_MESSAGE_BYTES,
    });
    body = (await first(end, read)) as JsonValue;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { status, message } = error as { status?: number; message: string };
    // Only the map shows which limit was exceeded; the parser has one status for all of them.
    if (status === 413 && message.includes("max file uploads")) throw secondFile("map");
    throw new ServiceError(
      status === 413 ? "TOO_LARGE" : "BAD_REQUEST",
      status === undefined ? "The multipart form cannot be read." : message,
    );
  }
  assertStorable(body, MAX_JSON_DEPTH, MAX_JSON_VALUES);
  holdFiles(body, end);
  return body;
}

/** The result of the form parser, unless the form is refused before. */
function first<T>(end: FormEnd, parsed: Promise<T>): Promise<T> {
  return Promise.race([parsed, end.reached.then(() => parsed)]).catch((error) => {
    // Both read the same bytes; the parser's refusal may come first, and is less precise.
    throw end.failure ?? error;
  });
}

/**
 * An operation must not see the end of its file, and do its work, before the whole form has been
 * read.
 */
function holdFiles(value: unknown, end: FormEnd): void {
  if (value instanceof Upload) {
    const file: Promise<FileUpload> = first(end, value.promise).then((file) => ({
      ...file,
      createReadStream: (options) => end.hold(file.createReadStream(options)),
    }));
    file.catch(() => undefined);
    value.promise = file;
  } else if (value !== null && typeof value === "object") {
    for (const item of Object.values(value)) holdFiles(item, end);
  }
}

/**
 * The form's JSON was parsed leniently; values that no document may hold are refused as in a JSON
 * body. Without recursion: the client chooses the depth.
 * @throws ServiceError `TOO_LARGE` past MAX_JSON_VALUES; ValidationError
 */
function assertStorable(body: unknown, maxDepth: number, maxValues: number): void {
  const open: { value: unknown; loc: (string | number)[] }[] = [{ value: body, loc: ["body"] }];
  let values = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, loc } = next;
    if (++values > maxValues)
      throw new ServiceError(
        "TOO_LARGE",
        `The field operations holds more than MAX_JSON_VALUES=${maxValues} keys and values. ` +
          "Send fewer.",
      );
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw new ValidationError([
        {
          loc,
          msg: "Input should be a number that a double holds exactly",
          type: "number_precision",
        },
      ]);
    if (
      !Array.isArray(value) &&
      (value === null ||
        typeof value !== "object" ||
        Object.getPrototypeOf(value) !== Object.prototype)
    )
      continue;
    if (loc.length > maxDepth)
      throw new ValidationError([
        { loc, msg: "Input is nested too deep (MAX_JSON_DEPTH)", type: "too_deep" },
      ]);
    for (const [name, member] of Object.entries(value))
      open.push({ value: member, loc: [...loc, Array.isArray(value) ? Number(name) : name] });
    if (!Array.isArray(value)) values += Object.keys(value).length;
  }
  const bad = findBadString(body);
  if (bad)
    throw new ValidationError([
      {
        loc: ["body", ...bad],
        msg: "Input should be a valid string without NUL or lone surrogates",
        type: "string_unicode",
      },
    ]);
}
