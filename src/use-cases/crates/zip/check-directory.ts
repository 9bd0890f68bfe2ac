import { Findings, type Place } from "../findings.js";
import { firstBelow } from "../files/tree.js";
import type { CrateLimits } from "../limits.js";
import type { DirectoryEntry, Member } from "./member.js";
import { visible } from "../visible.js";
import { foldName, shown } from "./member-name.js";

const ENCRYPTED = 0x1 | 0x40 | 0x2000;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;

/**
 * Everything that the central directory alone shows, before a byte is inflated.
 * @param directoryStart offset of the central directory: data ends there
 * @throws CrateError with all that was found
 */
export function checkDirectory(entries: readonly DirectoryEntry[], directoryStart: number, limits: CrateLimits): Member[] {
  const findings = new Findings();
  const members: Member[] = [];
  const ends = endsOf(entries, directoryStart);
  let total = 0;
  for (const entry of entries) {
    const { named } = entry;
    if ("refused" in named) {
      const { raw } = named;
      findings.error("BAD_MEMBER_NAME", `The name of member ${shown(raw)} ${named.refused}; rename it and pack again.`, { file: visible(raw.slice(0, 200)) });
      continue;
    }
    const place = { file: named.name };
    if (entry.fileNameLength > limits.MAX_MEMBER_NAME_BYTES)
      findings.error("MEMBER_NAME_TOO_LONG", `The name has ${entry.fileNameLength} bytes; MAX_MEMBER_NAME_BYTES=${limits.MAX_MEMBER_NAME_BYTES}.`, { file: named.name.slice(0, 200) });
    checkEntry(entry, place, findings);
    const end = ends.get(entry)!;
    if (entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength + entry.compressedSize > end)
      findings.error("MEMBER_OVERLAP", "The member reaches into the next one or into the archive's directory; pack the crate again.", place);
    total += entry.uncompressedSize;
    // Some packers list the folder that they packed.
    if (named.name !== "") members.push({ ...named, size: entry.uncompressedSize, entry, end });
  }
  if (total > limits.MAX_CRATE_INFLATED_BYTES)
    findings.error("INFLATED_TOO_LARGE", `The members together have ${total} bytes; MAX_CRATE_INFLATED_BYTES=${limits.MAX_CRATE_INFLATED_BYTES}.`);
  checkNames(members, findings);
  findings.throwIfErrors();
  return members;
}

function checkEntry(entry: DirectoryEntry, place: Place, findings: Findings): void {
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) findings.error("MEMBER_ENCRYPTED", "The member is encrypted; pack it without a password.", place);
  else if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    findings.error("UNSUPPORTED_COMPRESSION", `Compression method ${entry.compressionMethod} is not read; use deflate or store.`, place);
  if (entry.compressionMethod === 0 && entry.compressedSize !== entry.uncompressedSize && (entry.generalPurposeBitFlag & 1) === 0)
    findings.error("MEMBER_SIZE_MISMATCH", "The member is stored without compression and yet has two sizes.", place);
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
  if (type !== 0 && type !== REGULAR && type !== FOLDER)
    findings.error("SPECIAL_MEMBER", type === LINK ? "The member is a symbolic link; pack the file it points to." : "The member is no regular file.", place);
}

/** For each entry, where the one behind it begins. */
function endsOf(entries: readonly DirectoryEntry[], directoryStart: number): Map<DirectoryEntry, number> {
  const sorted = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  return new Map(sorted.map((entry, index) => [entry, sorted[index + 1]?.relativeOffsetOfLocalHeader ?? directoryStart]));
}

/** Refuses names that cannot lie side by side when the archive is unpacked. */
function checkNames(members: readonly Member[], findings: Findings): void {
  const seen = new Map<string, Member>();
  const files = new Map<string, Member>();
  for (const member of members) {
    const folded = foldName(member.name);
    const other = seen.get(folded);
    if (other) findings.error("DUPLICATE_NAME", `The name equals that of member ${shown(other.name)} after Unicode normalisation and case folding; rename one of them.`, { file: member.name });
    else seen.set(folded, member);
    if (!member.folder) files.set(folded, member);
  }
  const sorted = [...seen.keys()].sort();
  for (const [folded, file] of files) {
    const below = firstBelow(sorted, folded);
    if (below !== undefined) findings.error("DUPLICATE_NAME", `Member ${shown(file.name)} is a file, and a folder that holds ${shown(seen.get(below)!.name)}.`, { file: file.name });
  }
}
