import type { IncomingMessage } from "node:http";
import { ServiceError, ValidationError, type ValidationItem } from "../errors.js";
import type { JsonObject, JsonValue } from "../model/field.js";
import { parseStrictJson } from "../model/json/strict-json.js";
import type { Config } from "../config.js";

export interface BodyLimits { MAX_BODY_BYTES: Config["MAX_BODY_BYTES"]; MAX_JSON_DEPTH: Config["MAX_JSON_DEPTH"] }

/** The whole body. @throws ServiceError `TOO_LARGE` before more than the limit is read */
export async function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new ServiceError("TOO_LARGE", `The body is larger than ${limit} bytes (MAX_BODY_BYTES).`);
  if (Number(req.headers["content-length"] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
}

export const mediaType = (req: IncomingMessage): string => (req.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();
const isJson = (type: string): boolean => type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);

/**
 * A JSON body; `undefined` when it is empty.
 * @throws ServiceError `UNSUPPORTED_MEDIA_TYPE`, `TOO_LARGE`; ValidationError when it is no JSON, or holds what no document may
 */
export async function readJson(req: IncomingMessage, limits: BodyLimits): Promise<JsonValue | undefined> {
  const type = mediaType(req);
  const empty = req.headers["content-length"] === "0" || (req.headers["content-length"] === undefined && req.headers["transfer-encoding"] === undefined);
  if (empty) return undefined;
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

function pointerSegments(pointer: string): (string | number)[] {
  return pointer.split("/").slice(1).map((segment) => (/^(?:0|[1-9]\d*)$/.test(segment) ? Number(segment) : segment.replaceAll("~1", "/").replaceAll("~0", "~")));
}

/** A form body, or JSON for clients that send that. @throws as {@link readJson} */
export async function readForm(req: IncomingMessage, limits: BodyLimits): Promise<JsonValue | undefined> {
  if (mediaType(req) !== "application/x-www-form-urlencoded") return readJson(req, limits);
  const form: JsonObject = {};
  for (const [name, value] of new URLSearchParams((await readBytes(req, limits.MAX_BODY_BYTES)).toString("utf8"))) if (!Object.hasOwn(form, name)) form[name] = value;
  return form;
}
