import { isUtf8 } from "node:buffer";
import yauzl, { type Entry } from "yauzl";

/**
 * Control characters, line separators, and characters that change the direction of text (Unicode
 * 16, UAX #9): a name with such a character is displayed as another name.
 */
// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const codePoint = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with such characters as `U+202E`, for messages. */
export const visible = (text: string): string => text.replace(INVISIBLE, codePoint);

/** The text with `_` in place of such characters, for names. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, "_");

/** The first such character of a name, as `U+202E`. */
export function invisibleIn(name: string): string | undefined {
  const at = name.search(INVISIBLE);
  return at < 0 ? undefined : codePoint(name[at]!);
}

/**
 * Name of a member, or the reason why its name cannot be used. The archive's own folder (`./`) has
 * an empty name.
 */
type NamedMember =
  | { name: string; folder: boolean }
  | { refused: string; /** The decoded name; bytes that are not text as Latin-1. */ raw: string };

const UTF8_FLAG = 0x800;

/**
 * Decodes and checks a member's name. Without the UTF-8 flag the standard requires code page 437;
 * archives created on macOS hold UTF-8 nevertheless, so valid UTF-8 is decoded as UTF-8.
 */
function memberName(entry: Entry): NamedMember {
  const raw = entry.fileNameRaw;
  const text = isUtf8(raw);
  if (!text && (entry.generalPurposeBitFlag & UTF8_FLAG) !== 0)
    return { refused: "is not UTF-8 although the archive says so", raw: raw.toString("latin1") };
  const full = yauzl.getFileNameLowLevel(
    entry.generalPurposeBitFlag | (text ? UTF8_FLAG : 0),
    raw,
    entry.extraFields,
    true,
  );
  const refused = refusal(full);
  // A name that is text is shown as text.
  if (refused) return { refused, raw: text ? full : raw.toString("latin1") };
  const parts = full.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 && !/^\.\/+$/.test(full)
    ? { refused: "is empty", raw: raw.toString("latin1") }
    : { name: parts.join("/"), folder: full.endsWith("/") };
}

function refusal(name: string): string | undefined {
  if (name.includes("\0")) return "holds NUL";
  const invisible = invisibleIn(name);
  if (invisible !== undefined)
    return `holds the control or bidirectional character ${invisible}, which hides what it is`;
  if (name.includes("\\")) return "holds a backslash";
  if (name.startsWith("/")) return "is absolute";
  if (/^[a-zA-Z]:/.test(name)) return "begins with a drive letter";
  if (name.split("/").includes("..")) return "leads out of the archive (..)";
  return undefined;
}

/** Equal for names that a common file system treats as one: Unicode NFC and full case folding. */
export function foldName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** Findings show names; a hostile name must not fill the screen. */
export const shown = (name: string): string =>
  JSON.stringify(visible(name.length > 120 ? `${name.slice(0, 120)}…` : name));

/**
 * The stored part of an entry of the central directory: a tenth of yauzl's entry, which matters for
 * 200,000 entries.
 */
export type DirectoryEntry = Readonly<
  Pick<
    Entry,
    | "relativeOffsetOfLocalHeader"
    | "compressedSize"
    | "uncompressedSize"
    | "crc32"
    | "compressionMethod"
    | "generalPurposeBitFlag"
    | "externalFileAttributes"
    | "fileNameLength"
  >
> & { readonly named: NamedMember };

export function directoryEntry(entry: Entry): DirectoryEntry {
  const {
    relativeOffsetOfLocalHeader,
    compressedSize,
    uncompressedSize,
    crc32,
    compressionMethod,
    generalPurposeBitFlag,
    externalFileAttributes,
    fileNameLength,
  } = entry;
  return {
    relativeOffsetOfLocalHeader,
    compressedSize,
    uncompressedSize,
    crc32,
    compressionMethod,
    generalPurposeBitFlag,
    externalFileAttributes,
    fileNameLength,
    named: memberName(entry),
  };
}

/**
 * A file or folder of an archive, as its central directory describes it (APPNOTE 6.3.10, section
 * 4.3.12).
 */
export interface Member {
  /** Path inside the archive: `/` between parts, none at the end, no `.` parts. */
  readonly name: string;
  readonly folder: boolean;
  /** Declared size of the bytes when inflated. */
  readonly size: number;
  readonly entry: DirectoryEntry;
  /** Where the next member, or the directory, begins: data may not reach further. */
  readonly end: number;
}
