import { ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import { mediaTypeOf } from "../crates/files/media-type.js";
import { contentUrlOf } from "../crates/records/document.js";
import type { StagedFile } from "./staged-file.js";

/** What is known of stored bytes. */
export interface Facts { sha256: string; size: number }

/**
 * Compares what a client says of its file with the bytes. A size that is no plain number of bytes ("12 kB") is no
 * claim that could be wrong.
 * @param at where the document is, for `loc`
 * @throws ValidationError with every disagreement
 */
export function assertClaims(document: JsonObject, { sha256, size }: Facts, at: readonly (string | number)[]): void {
  const problems: ValidationItem[] = [];
  const { contentSize, sha256: digest } = document;
  if (typeof contentSize === "string" && /^\s*\d+\s*$/.test(contentSize) && BigInt(contentSize.trim()) !== BigInt(size)) {
    problems.push({ loc: [...at, "contentSize"], msg: `Value error, the file has ${size} bytes`, type: "value_error" });
  }
  if (typeof digest === "string" && digest.trim() !== "" && digest.trim().toLowerCase() !== sha256) {
    problems.push({ loc: [...at, "sha256"], msg: `Value error, the SHA-256 of the file is ${sha256}`, type: "value_error" });
  }
  if (problems.length > 0) throw new ValidationError(problems);
}

/**
 * The document with what the service knows of the stored bytes. Another address that the client gave stays, as
 * `sourceContentUrl`.
 */
export function withFacts(document: JsonObject, ark: string, baseUrl: string, { sha256, size }: Facts, uploadDate: JsonValue): JsonObject {
  const contentUrl = contentUrlOf(baseUrl, "datadownload", ark);
  const said = document["contentUrl"];
  const elsewhere = typeof said === "string" && said !== "" && said !== contentUrl && !Object.hasOwn(document, "sourceContentUrl");
  return { ...document, contentUrl, contentSize: String(size), sha256, uploadDate, ...(elsewhere ? { sourceContentUrl: said } : {}) };
}

/** What forms call a file that they know nothing of. */
const UNKNOWN = "application/octet-stream";

/** How a record refers to a file: the media type is the record's word, else the client's, else read off the name. */
export function contentReference(document: JsonObject, { object, name, mediaType }: StagedFile): ObjectReference {
  const fileName = name === "" ? (typeof document["name"] === "string" ? document["name"] : "content") : name;
  return { sha256: object.sha256, size: object.size, mediaType: mediaTypeOf(fileName, [document["encodingFormat"] ?? "", mediaType === UNKNOWN ? "" : mediaType]), name: fileName, role: "content" };
}
