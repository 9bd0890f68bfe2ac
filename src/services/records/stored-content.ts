import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { ValidationError, type ValidationItem } from "../../errors.js";
import { arkInPath } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { referencesIn } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StagedObject } from "../../storage/objects/port.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { announce } from "../objects/damage.js";
import { parseDocument } from "./view.js";
import { ownValue } from "../../own.js";

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:\s*;.*)?$/i;

const BY_EXTENSION: Readonly<Record<string, string>> = {
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  htm: "text/html",
  xml: "application/xml",
  json: "application/json",
  jsonld: "application/ld+json",
  ttl: "text/turtle",
  nt: "application/n-triples",
  rdf: "application/rdf+xml",
  yml: "application/yaml",
  yaml: "application/yaml",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  tif: "image/tiff",
  tiff: "image/tiff",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
  zip: "application/zip",
  gz: "application/gzip",
  tar: "application/x-tar",
  py: "text/x-python",
  r: "text/x-r",
  sh: "text/x-sh",
  ipynb: "application/x-ipynb+json",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
};

/** Address of a record's stored content. */
export function contentUrlOf(baseUrl: string, kind: KindName, ark: string): string {
  const inPath = arkInPath(ark);
  if (kind === "datadownload") return `${baseUrl}/datadownload/${inPath}/download`;
  const { path } = KINDS[kind];
  return kind === "dataset" || kind === "software"
    ? `${baseUrl}/${path}/download/${inPath}`
    : `${baseUrl}/download/${inPath}`;
}

/** Media type of a file: the type that its entity states, if valid, else by the extension. */
export function mediaTypeOf(path: string, stated?: JsonValue): string {
  const claimed = referencesIn(stated).find((text) => text.length <= 255 && MEDIA_TYPE.test(text));
  return (
    claimed ??
    ownValue(BY_EXTENSION, path.slice(path.lastIndexOf(".") + 1).toLowerCase()) ??
    "application/octet-stream"
  );
}

/** Facts about stored bytes. */
interface Facts {
  sha256: string;
  size: number;
  /** Name of the file, where it has one. */
  name?: string;
}

/**
 * Compares a client's statements about its file with the bytes. A size that is not a plain number
 * of bytes ("12 kB") is ignored.
 * @param at where the document is, for `loc`
 * @throws ValidationError with every disagreement
 */
export function assertClaims(
  document: JsonObject,
  { sha256, size, name }: Facts,
  at: readonly (string | number)[],
): void {
  const file = name === undefined || name === "" ? "the file" : JSON.stringify(name);
  const problems: ValidationItem[] = [];
  const { contentSize, sha256: digest } = document;
  if (
    typeof contentSize === "string" &&
    /^\s*\d+\s*$/.test(contentSize) &&
    BigInt(contentSize.trim()) !== BigInt(size)
  ) {
    problems.push({
      loc: [...at, "contentSize"],
      msg: `Value error, ${file} has ${size} bytes: send the right file, or correct it`,
      type: "value_error",
    });
  }
  if (
    typeof digest === "string" &&
    digest.trim() !== "" &&
    digest.trim().toLowerCase() !== sha256
  ) {
    problems.push({
      loc: [...at, "sha256"],
      msg: `Value error, the SHA-256 of ${file} is ${sha256}: send the right file, or correct it`,
      type: "value_error",
    });
  }
  if (problems.length > 0) throw new ValidationError(problems);
}

/**
 * The document with the service's facts about the stored bytes. Another address by the client is
 * preserved as `sourceContentUrl`.
 */
export function withFacts(
  document: JsonObject,
  ark: string,
  baseUrl: string,
  { sha256, size }: Facts,
  uploadDate: JsonValue | undefined,
): JsonObject {
  const contentUrl = contentUrlOf(baseUrl, "datadownload", ark);
  const claimed = document["contentUrl"];
  const elsewhere =
    typeof claimed === "string" &&
    claimed !== "" &&
    claimed !== contentUrl &&
    !Object.hasOwn(document, "sourceContentUrl");
  return {
    ...document,
    contentUrl,
    contentSize: String(size),
    sha256,
    ...(uploadDate === undefined ? {} : { uploadDate }),
    ...(elsewhere ? { sourceContentUrl: claimed } : {}),
  };
}

/** Default media type of files in forms. */
const UNKNOWN = "application/octet-stream";

/**
 * A record's reference to a file: the media type is the one that the record states, else the
 * client's, else by the name.
 */
export function contentReference(
  document: JsonObject,
  { object, name, mediaType }: StagedFile,
): ObjectReference {
  const fileName =
    name === "" ? (typeof document["name"] === "string" ? document["name"] : "content") : name;
  return {
    sha256: object.sha256,
    size: object.size,
    mediaType: mediaTypeOf(fileName, [
      document["encodingFormat"] ?? "",
      mediaType === UNKNOWN ? "" : mediaType,
    ]),
    name: fileName,
    role: "content",
  };
}

/**
 * A new document of a file record whose content is stored, with the facts about the bytes; its
 * stated media type applies to them. `undefined` when nothing is stored.
 * @throws ValidationError when the document contradicts the bytes
 */
export async function withStoredContent(
  deps: Deps,
  record: StoredRecord,
  document: JsonObject,
): Promise<{ document: JsonObject; objects: ObjectReference[] } | undefined> {
  const objects = await deps.records.objectsOf(record.ark);
  const content = objects.find(({ role }) => role === "content");
  if (!content) return undefined;
  assertClaims(document, content, ["body"]);
  const before = parseDocument(record.document);
  // An address of the service remains one, also where the service has moved since.
  const claimed =
    document["contentUrl"] === before["contentUrl"] ? { ...document, contentUrl: null } : document;
  const mediaType = mediaTypeOf(content.name, [
    document["encodingFormat"] ?? "",
    content.mediaType,
  ]);
  return {
    document: withFacts(
      claimed,
      record.ark,
      deps.baseUrl(),
      content,
      before["uploadDate"] ?? document["uploadDate"],
    ),
    objects: objects.map((object) => (object === content ? { ...content, mediaType } : object)),
  };
}

/** A file while it arrives. */
export interface IncomingFile {
  stream: Readable;
  /** The client's name for the file. */ name: string;
  mediaType: string;
}

/** A file that has arrived and belongs to no record yet. */
export interface StagedFile {
  object: StagedObject;
  name: string;
  mediaType: string;
}

/** @throws ServiceError `TOO_LARGE`; any error of the stream, and nothing remains stored then */
export async function stageFile(
  deps: Deps,
  { stream, name, mediaType }: IncomingFile,
): Promise<StagedFile> {
  return {
    object: await deps.objects.stage(stream, {
      limit: deps.config.MAX_UPLOAD_BYTES,
      limitName: "MAX_UPLOAD_BYTES",
    }),
    name,
    mediaType,
  };
}

/**
 * Passes the bytes to `use`, which calls `keep` to store them once all checks have passed, and
 * makes a record refer to them. When that fails the bytes are discarded, or left to the sweep.
 */
export async function withStaged<T>(
  deps: Deps,
  { object }: StagedFile,
  use: (keep: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const holder = { kind: "upload" as const, id: randomUUID() };
  let kept: Promise<void> | undefined;
  const keep = () =>
    (kept ??= announce(deps, { ...holder, attempt: 0 }, [object.sha256])
      .then(() => object.publish())
      .then(() => deps.damage.whole(object.sha256)));
  try {
    return await use(keep);
  } finally {
    // An intent that outlived its upload would protect unused bytes for INTENT_LIFETIME; a failure
    // to end it does no more harm than that.
    const stored = await kept?.then(
      () => true,
      () => false,
    );
    if (stored !== true) await object.discard();
    if (kept)
      await deps.records
        .release(holder)
        .catch((err: unknown) => deps.log.warn({ err }, "an intent could not be ended"));
  }
}
