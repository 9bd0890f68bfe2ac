/** What documents state of files: digests, sizes and media types, and which of it is none. */
import type { JsonValue } from "./field.js";
import { textOf } from "./texts.js";

/** Hexadecimal digits of each digest. */
export const DIGESTS = { md5: 32, sha256: 64, sha512: 128 } as const;
export type DigestName = keyof typeof DIGESTS;

/**
 * The digest that a value states, in lower-case hex; undefined where it is none, such as a
 * placeholder or one of several. `sha256:` before it is left out.
 */
export function digestIn(name: DigestName, value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value) && value.length > 1) return undefined;
  const text = textOf(value)?.toLowerCase() ?? "";
  const [, prefix, hex = ""] = /^(?:(md5|sha-?256|sha-?512)[:-])?([0-9a-f]+)$/.exec(text) ?? [];
  if (prefix !== undefined && prefix.replace("-", "") !== name) return undefined;
  return hex.length === DIGESTS[name] ? hex : undefined;
}

/** `text/csv` of `text/csv; charset=utf-8`; undefined where a text is no media type. */
export const mediaTypeIn = (text: string): string | undefined =>
  /^\s*([\w.+-]+\/[\w.+-]+)\s*(?:;|$)/.exec(text)?.[1];

/** Where a file is, which says nothing of its format. */
const PROTOCOL =
  /^(?:https?|ftps?|sftp|ssh|s3|gs|gcs|abfss?|hdfs|file|url|uri|web|download|api|git|rsync|globus)(?::\/*)?$/i;

const MEDIA_TYPE_TREE = new RegExp(
  "^(?:application|audio|chemical|example|font|haptics|image|inode|message|model|multipart|text|" +
    String.raw`video|x-[\w-]+|x-epoc|biosequence|gemini)/`,
  "i",
);

/**
 * Whether a text can state a format: a media type, the address of a format, its name or file name
 * extension.
 */
export const isFormat = (text: string): boolean =>
  mediaTypeIn(text) !== undefined
    ? MEDIA_TYPE_TREE.test(text.trim())
    : /\p{L}/u.test(text) && !PROTOCOL.test(text.trim());

/** Whether a text can state a size: `17`, `17 B`, `1.2 MB`. */
export const isSize = (text: string): boolean =>
  /^\s*\d[\d.,  ' ]*\s*(?:[kmgtpe]?i?b(?:ytes?)?|bytes?|octets?)?\s*$/i.test(text);
