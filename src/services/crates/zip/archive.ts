import yauzl, { type ZipFile } from "yauzl";
import { visible } from "../../../model/strings.js";
import type { ObjectReader } from "../../../storage/objects/port.js";
import { firstBelow } from "../files/match-files.js";
import { CrateError, crateError, Findings, type Place } from "../findings.js";
import type { CrateLimits } from "../upload.js";
import {
  type DirectoryEntry,
  directoryEntry,
  foldName,
  inflateMember,
  type Member,
  ObjectAccess,
  shown,
} from "./members.js";

const ENCRYPTED = 0x1 | 0x40 | 0x2000;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;

/**
 * Checks everything that the central directory alone shows, before a byte is inflated.
 * @param directoryStart offset of the central directory: data ends there
 * @throws CrateError with all findings
 */
function checkDirectory(
  entries: readonly DirectoryEntry[],
  directoryStart: number,
  limits: CrateLimits,
): Member[] {
  const findings = new Findings();
  const members: Member[] = [];
  const ends = endsOf(entries, directoryStart);
  let total = 0;
  for (const entry of entries) {
    const { named } = entry;
    if ("refused" in named) {
      const { raw } = named;
      findings.error(
        "BAD_MEMBER_NAME",
        `The name of member ${shown(raw)} ${named.refused}; rename it and pack again.`,
        { file: visible(raw.slice(0, 200)) },
      );
      continue;
    }
    const place = { file: named.name };
    if (entry.fileNameLength > limits.MAX_MEMBER_NAME_BYTES)
      findings.error(
        "MEMBER_NAME_TOO_LONG",
        `The name has ${entry.fileNameLength} bytes; ` +
          `MAX_MEMBER_NAME_BYTES=${limits.MAX_MEMBER_NAME_BYTES}.`,
        { file: named.name.slice(0, 200) },
      );
    checkEntry(entry, place, findings);
    const end = ends.get(entry) ?? directoryStart;
    if (entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength + entry.compressedSize > end)
      findings.error(
        "MEMBER_OVERLAP",
        "The member reaches into the next one or into the archive's directory; pack the " +
          "crate again.",
        place,
      );
    total += entry.uncompressedSize;
    // Some packers list the folder that they packed.
    if (named.name !== "") members.push({ ...named, size: entry.uncompressedSize, entry, end });
  }
  if (total > limits.MAX_CRATE_INFLATED_BYTES)
    findings.error(
      "INFLATED_TOO_LARGE",
      `The members together have ${total} bytes; ` +
        `MAX_CRATE_INFLATED_BYTES=${limits.MAX_CRATE_INFLATED_BYTES}.`,
    );
  checkNames(members, findings);
  findings.throwIfErrors();
  return members;
}

function checkEntry(entry: DirectoryEntry, place: Place, findings: Findings): void {
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0)
    findings.error(
      "MEMBER_ENCRYPTED",
      "The member is encrypted; pack it without a password.",
      place,
    );
  else if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    findings.error(
      "UNSUPPORTED_COMPRESSION",
      `Compression method ${entry.compressionMethod} is not supported; use deflate or store.`,
      place,
    );
  if (
    entry.compressionMethod === 0 &&
    entry.compressedSize !== entry.uncompressedSize &&
    (entry.generalPurposeBitFlag & 1) === 0
  )
    findings.error(
      "MEMBER_SIZE_MISMATCH",
      "The member is stored without compression and yet has two sizes.",
      place,
    );
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
  if (type !== 0 && type !== REGULAR && type !== FOLDER)
    findings.error(
      "SPECIAL_MEMBER",
      type === LINK
        ? "The member is a symbolic link; pack the file it points to."
        : "The member is not a regular file.",
      place,
    );
}

/** For each entry, where the next entry begins. */
function endsOf(
  entries: readonly DirectoryEntry[],
  directoryStart: number,
): Map<DirectoryEntry, number> {
  const sorted = entries.toSorted(
    (a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader,
  );
  return new Map(
    sorted.map((entry, index) => [
      entry,
      sorted[index + 1]?.relativeOffsetOfLocalHeader ?? directoryStart,
    ]),
  );
}

/** Refuses names that collide when the archive is unpacked. */
function checkNames(members: readonly Member[], findings: Findings): void {
  const seen = new Map<string, Member>();
  const files = new Map<string, Member>();
  for (const member of members) {
    const folded = foldName(member.name);
    const other = seen.get(folded);
    if (other)
      findings.error(
        "DUPLICATE_NAME",
        `The name equals that of member ${shown(other.name)} after Unicode normalisation ` +
          "and case folding; rename one of them.",
        { file: member.name },
      );
    else seen.set(folded, member);
    if (!member.folder) files.set(folded, member);
  }
  const sorted = [...seen.keys()].sort();
  for (const [folded, file] of files) {
    const below = firstBelow(sorted, folded);
    if (below !== undefined)
      findings.error(
        "DUPLICATE_NAME",
        `Member ${shown(file.name)} is a file, and a folder that holds ` +
          `${shown(seen.get(below)?.name ?? below)}.`,
        { file: file.name },
      );
  }
}

// APPNOTE 6.3.10, sections 4.3.14 to 4.3.16: fixed parts and their signatures.
const END = { signature: 0x06054b50, size: 22 };
const LOCATOR = { signature: 0x07064b50, size: 20 };
const END64 = { signature: 0x06064b50, size: 56 };
const HEADER = 0x02014b50;
const LONGEST_COMMENT = 0xffff;
/**
 * Most candidates for the end record that are examined: each costs reads anywhere in the archive,
 * which may be on another machine.
 */
const MAX_CANDIDATES = 16;

/**
 * The end of central directory record that is used to read an archive, and the end of its
 * directory.
 */
interface EndRecord {
  readonly at: number;
  readonly directoryEnd: number;
}

/** A record, or bytes that resemble one. */
interface Candidate {
  at: number;
  entries: number;
  size: number;
  offset: number;
  comment: number;
}

/**
 * Finds the record whose comment reaches to the end of the file and whose directory ends where it
 * begins. The comment may hold the record's signature, where other tools stop searching: they must
 * not find a directory there, or the archive would have other contents for them than for this
 * registry.
 * @throws CrateError `NOT_A_ZIP`, `CORRUPT_ARCHIVE`, `AMBIGUOUS_ARCHIVE`
 */
async function findEndRecord(access: ObjectAccess, fileSize: number): Promise<EndRecord> {
  const candidates = await candidatesOf(access, fileSize);
  if (candidates.length === 0) throw await noArchive(access);
  if (candidates.length > MAX_CANDIDATES) throw ambiguous();
  const whole = candidates.filter(({ at, comment }) => at + END.size + comment === fileSize);
  if (whole.length === 0)
    throw crateError(
      "CORRUPT_ARCHIVE",
      "The archive cannot be read: its comment is longer or shorter than its end says. Are " +
        "there extra bytes at its end? Pack the crate again.",
    );
  const fitting: EndRecord[] = [];
  for (const candidate of whole) {
    const directoryEnd = await fits(access, candidate);
    if (directoryEnd !== undefined) fitting.push({ at: candidate.at, directoryEnd });
  }
  const [found, other] = fitting;
  if (!found)
    throw crateError(
      "CORRUPT_ARCHIVE",
      "The archive's directory is not where its end says; pack the crate again.",
    );
  for (const { at, size, offset, entries } of candidates) {
    if (at <= found.at) continue;
    const read =
      other !== undefined ||
      entries === 0 ||
      size === 0 ||
      (await isAt(access, at - size, HEADER)) ||
      (await isAt(access, offset, HEADER)) ||
      (await isAt(access, at - LOCATOR.size, LOCATOR.signature));
    if (read) throw ambiguous();
  }
  return found;
}

const ambiguous = (): Error =>
  crateError(
    "AMBIGUOUS_ARCHIVE",
    "The archive's comment holds the end of another archive, so that tools differ in what " +
      "they unpack; pack the crate again without that comment.",
  );

async function candidatesOf(access: ObjectAccess, fileSize: number): Promise<Candidate[]> {
  const from = Math.max(0, fileSize - END.size - LONGEST_COMMENT);
  const tail = await access.bytes(from, fileSize - from);
  const found: Candidate[] = [];
  for (
    let at = tail.indexOf("PK\x05\x06", 0, "latin1");
    at >= 0 && at + END.size <= tail.byteLength;
    at = tail.indexOf("PK\x05\x06", at + 1, "latin1")
  ) {
    found.push({
      at: from + at,
      entries: tail.readUInt16LE(at + 10),
      size: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
      comment: tail.readUInt16LE(at + 20),
    });
  }
  return found;
}

/**
 * Where the record's directory ends, when all offsets and sizes agree. Some tools use the offset,
 * others search backwards by size.
 */
async function fits(
  access: ObjectAccess,
  { at, entries, size, offset }: Candidate,
): Promise<number | undefined> {
  if (!(await isAt(access, at - LOCATOR.size, LOCATOR.signature)))
    return offset + size === at ? at : undefined;
  const locator = await access.bytes(at - LOCATOR.size, LOCATOR.size);
  const at64 = Number(locator.readBigUInt64LE(8));
  if (!(await isAt(access, at64, END64.signature))) return undefined;
  const record = await access.bytes(at64, END64.size);
  if (record.byteLength < END64.size) return undefined;
  const [length, entries64, size64, offset64] = [4, 32, 40, 48].map((place) =>
    Number(record.readBigUInt64LE(place)),
  ) as [number, number, number, number];
  // Values too large for the older record are all ones there; tools that read the older record must
  // find the same directory.
  const same =
    (entries === 0xffff || entries === entries64) &&
    (size === 0xffffffff || size === size64) &&
    (offset === 0xffffffff || offset === offset64);
  return same && offset64 + size64 === at64 && at64 + 12 + length === at - LOCATOR.size
    ? at64
    : undefined;
}

async function isAt(access: ObjectAccess, position: number, signature: number): Promise<boolean> {
  if (position < 0) return false;
  const bytes = await access.bytes(position, 4);
  return bytes.byteLength === 4 && bytes.readUInt32LE(0) === signature;
}

async function noArchive(access: ObjectAccess): Promise<Error> {
  const begins = await isAt(access, 0, 0x04034b50);
  return crateError(
    "NOT_A_ZIP",
    begins
      ? "The archive is truncated: it begins like a zip and its end is missing; send it again."
      : "The upload is not a zip archive.",
  );
}

/** A zip archive whose directory has been checked. Closing it closes the reader. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #access: ObjectAccess;
  readonly #reader: ObjectReader;
  readonly #limits: CrateLimits;

  private constructor(
    zip: ZipFile,
    access: ObjectAccess,
    reader: ObjectReader,
    readonly members: readonly Member[],
    limits: CrateLimits,
  ) {
    this.#zip = zip;
    this.#access = access;
    this.#reader = reader;
    this.#limits = limits;
  }

  /**
   * @throws CrateError for a file that is not a zip archive, is damaged, or breaks a rule or limit
   */
  static async open(reader: ObjectReader, limits: CrateLimits): Promise<Archive> {
    const access = new ObjectAccess(reader);
    // yauzl closes its reader with the last reference; this reference keeps it open as long as the
    // archive.
    (access as unknown as { ref(): void }).ref();
    const { at, directoryEnd } = await findEndRecord(access, reader.size);
    const zip = await openZip(access, access.endAt(at));
    if (zip.entryCount > limits.MAX_CRATE_ENTRIES)
      throw crateError(
        "TOO_MANY_ENTRIES",
        `The archive has ${zip.entryCount} members; MAX_CRATE_ENTRIES=${limits.MAX_CRATE_ENTRIES}.`,
      );
    const directoryStart = Number(zip.readEntryCursor);
    const entries: DirectoryEntry[] = [];
    try {
      for await (const entry of zip.eachEntry()) entries.push(directoryEntry(entry));
    } catch (error) {
      throw crateError(
        "CORRUPT_ARCHIVE",
        `The archive's directory cannot be read: ${(error as Error).message}.`,
      );
    }
    // Some tools read as many members as the record counts, others all members.
    if (Number(zip.readEntryCursor) !== directoryEnd)
      throw crateError(
        "CORRUPT_ARCHIVE",
        `The archive's directory holds more, or less, than the ${zip.entryCount} members ` +
          "that its end counts; pack the crate again.",
      );
    return new Archive(
      zip,
      access,
      reader,
      checkDirectory(entries, directoryStart, limits),
      limits,
    );
  }

  /**
   * The bytes of a member, checked while they are read: size, ratio, checksum. No member has more
   * than its declared size, so all together stay within the total that was checked before.
   * @throws CrateError while being read
   */
  read(member: Member): AsyncGenerator<Buffer> {
    return inflateMember(this.#zip, this.#access, member, this.#limits);
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }
}

async function openZip(access: ObjectAccess, size: number): Promise<ZipFile> {
  try {
    return await yauzl.fromRandomAccessReaderPromise(access, size, {
      autoClose: false,
      decodeStrings: false,
      validateEntrySizes: false,
    });
  } catch (error) {
    if (error instanceof CrateError) throw error;
    throw crateError("CORRUPT_ARCHIVE", `The archive cannot be read: ${(error as Error).message}`);
  }
}
