/** GraphQL multipart requests: an operation, and a file that arrives while the operation runs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import Upload from "graphql-upload/Upload.mjs";
import { ServiceError } from "../errors.js";
import {
  checkedJson,
  endedEarly,
  readMultipart,
  secondFile,
  type UploadedFile,
} from "../http/body.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { placed } from "./resolvers/types/inputs.js";
import { authenticated, type Caller } from "../services/access/rules.js";
import type { Deps } from "../services/deps.js";

/**
 * Headers that a page of another origin cannot send without a preflight request (CORS); any value
 * is accepted.
 */
const PREFLIGHT = ["apollo-require-preflight", "x-apollo-operation-name"];

/**
 * The operation of a GraphQL multipart request, its file in place. The file arrives while the
 * operation runs.
 * @throws ServiceError `BAD_REQUEST` without a preflight header, for a malformed form, or a map that
 * does not lead to a variable; `NOT_AUTHENTICATED`, `TOO_LARGE`; ValidationError for a part that came
 * twice, and as {@link checkedJson}
 */
export function readUpload(
  req: IncomingMessage,
  res: ServerResponse,
  caller: Caller | null,
  deps: Pick<Deps, "config" | "documents">,
): Promise<JsonValue> {
  const { MAX_UPLOAD_BYTES, GRAPHQL_MAX_MESSAGE_BYTES } = deps.config;
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
  const fields = {
    texts: ["operations", "map"],
    textLimit: { bytes: GRAPHQL_MAX_MESSAGE_BYTES, setting: "GRAPHQL_MAX_MESSAGE_BYTES" },
  };
  const read = new Promise<JsonValue>((resolve, reject) => {
    const take = async ({ field, stream, name, mediaType: type }: UploadedFile, texts: Texts) => {
      const upload = new Upload();
      const body = await operationIn(texts, deps, { field, upload });
      // Nothing reads it after the answer; then the rest of the form is skipped.
      res.once("close", () => stream.destroy(endedEarly()));
      const file: Omit<FileUpload, "capacitor"> = {
        filename: name,
        mimetype: type,
        encoding: "",
        createReadStream: () => stream,
      };
      upload.resolve(file);
      resolve(body);
      await finished(stream).catch(() => undefined);
    };
    readMultipart(req, fields, take)
      .then(async ({ texts, file }) => file ?? resolve(await operationIn(texts, deps)))
      .catch(reject);
  });
  return placed(["form"], () => read);
}

type Texts = ReadonlyMap<string, Uint8Array>;

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
const shown = (name: string): string => JSON.stringify(cut(name));

const malformedForm = (message: string): ServiceError =>
  new ServiceError(
    "BAD_REQUEST",
    `${message} See https://github.com/jaydenseric/graphql-multipart-request-spec.`,
  );

/**
 * The JSON of the field `operations`, with the file where `map` says.
 * @throws ServiceError `BAD_REQUEST`, `TOO_LARGE`; ValidationError
 */
async function operationIn(
  texts: Texts,
  deps: Pick<Deps, "config" | "documents">,
  file?: { field: string; upload: Upload },
): Promise<JsonValue> {
  const read = async (name: string): Promise<JsonObject> => {
    const text = texts.get(name);
    if (!text)
      throw malformedForm(
        `The form has no field ${name}${file ? " before its file" : ""}: send operations, map ` +
          "and then the file.",
      );
    const value = await checkedJson(new Uint8Array(text), deps, ["body", name]);
    if (value === null || typeof value !== "object" || Array.isArray(value))
      throw malformedForm(`The field ${name} must be a JSON object.`);
    return value;
  };
  const operations = await read("operations");
  const entries = Object.entries(await read("map"));
  if (entries.length > 1) throw secondFile("map");
  const other = entries.find(([name]) => name !== file?.field)?.[0];
  if (other !== undefined)
    throw malformedForm(
      `The map has the entry ${shown(other)}, but the form has no file of that name` +
        `${file ? `: its file is ${shown(file.field)}` : ""}.`,
    );
  if (!file) return operations;
  const places = entries[0]?.[1];
  if (!Array.isArray(places) || places.length === 0)
    throw malformedForm(
      `The map must have an entry ${shown(file.field)} with a list of variables, such as ` +
        `{${JSON.stringify(file.field.slice(0, 40))}: ["variables.file"]}.`,
    );
  for (const place of places) put(operations, place, file);
  return operations;
}

/** Replaces a variable that is null, and is named by a path such as `variables.file`, by the file. */
function put(
  operations: JsonObject,
  place: JsonValue,
  { field, upload }: { field: string; upload: Upload },
): void {
  const steps = typeof place === "string" ? place.split(".") : [];
  const last = steps.pop() ?? "";
  let holder: JsonValue | undefined = operations;
  for (const step of steps) holder = memberOf(holder, step);
  if (steps[0] !== "variables" || memberOf(holder, last) !== null)
    throw malformedForm(
      `The entry ${shown(field)} of the map names ${cut(JSON.stringify(place))}, where the field ` +
        "operations has no variable with the value null: name one, such as variables.file.",
    );
  Object.defineProperty(holder, last, { value: upload });
}

const memberOf = (holder: JsonValue | undefined, name: string): JsonValue | undefined =>
  holder !== null && typeof holder === "object" && Object.hasOwn(holder, name)
    ? (holder as JsonObject)[name]
    : undefined;
