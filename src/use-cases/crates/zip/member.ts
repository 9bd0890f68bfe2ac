import type { Entry } from "yauzl";
import { memberName, type NamedMember } from "./member-name.js";

/** What is kept of an entry of the central directory: a tenth of what yauzl holds, which counts where there are 200,000. */
export type DirectoryEntry = Readonly<Pick<Entry,
  | "relativeOffsetOfLocalHeader" | "compressedSize" | "uncompressedSize" | "crc32" | "compressionMethod"
  | "generalPurposeBitFlag" | "externalFileAttributes" | "fileNameLength"
>> & { readonly named: NamedMember };

export function directoryEntry(entry: Entry): DirectoryEntry {
  const { relativeOffsetOfLocalHeader, compressedSize, uncompressedSize, crc32, compressionMethod, generalPurposeBitFlag, externalFileAttributes, fileNameLength } = entry;
  return { relativeOffsetOfLocalHeader, compressedSize, uncompressedSize, crc32, compressionMethod, generalPurposeBitFlag, externalFileAttributes, fileNameLength, named: memberName(entry) };
}

/** A file or folder of an archive, as its central directory describes it (APPNOTE 6.3.10, section 4.3.12). */
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
