import { crateError } from "../findings.js";
import type { ObjectAccess } from "./object-access.js";

// APPNOTE 6.3.10, sections 4.3.14 to 4.3.16: fixed parts and their signatures.
const END = { signature: 0x06054b50, size: 22 };
const LOCATOR = { signature: 0x07064b50, size: 20 };
const END64 = { signature: 0x06064b50, size: 56 };
const HEADER = 0x02014b50;
const LONGEST_COMMENT = 0xffff;
/** Records, or what looks like them, that are looked into: each costs reads anywhere in the archive, which may lie in another machine. */
const MOST_CANDIDATES = 16;

/** The end of central directory record by which an archive is read, and where its directory ends. */
export interface EndRecord { readonly at: number; readonly directoryEnd: number }

/** A record, or what looks like one. */
interface Candidate { at: number; entries: number; size: number; offset: number; comment: number }

/**
 * Finds the record whose comment reaches to the end of the file and whose directory ends where it begins. The
 * comment may hold its signature, at which others stop: they must not find a directory there, or the archive would
 * be one for us and another for whoever unpacks it.
 * @throws CrateError `NOT_A_ZIP`, `CORRUPT_ARCHIVE`, `AMBIGUOUS_ARCHIVE`
 */
export async function findEndRecord(access: ObjectAccess, fileSize: number): Promise<EndRecord> {
  const candidates = await candidatesOf(access, fileSize);
  if (candidates.length === 0) throw await noArchive(access);
  if (candidates.length > MOST_CANDIDATES) throw ambiguous();
  const whole = candidates.filter(({ at, comment }) => at + END.size + comment === fileSize);
  if (whole.length === 0) throw crateError("CORRUPT_ARCHIVE", "The archive cannot be read: its comment is longer or shorter than its end says. Are there extra bytes at its end? Pack the crate again.");
  const fitting: EndRecord[] = [];
  for (const candidate of whole) {
    const directoryEnd = await fits(access, candidate);
    if (directoryEnd !== undefined) fitting.push({ at: candidate.at, directoryEnd });
  }
  const [found, other] = fitting;
  if (!found) throw crateError("CORRUPT_ARCHIVE", "The archive's directory is not where its end says; pack the crate again.");
  for (const { at, size, offset, entries } of candidates) {
    if (at <= found.at) continue;
    const read = other !== undefined || entries === 0 || size === 0 || await isAt(access, at - size, HEADER) || await isAt(access, offset, HEADER) || await isAt(access, at - LOCATOR.size, LOCATOR.signature);
    if (read) throw ambiguous();
  }
  return found;
}

const ambiguous = (): Error => crateError("AMBIGUOUS_ARCHIVE", "The archive's comment holds the end of another archive, so that tools differ in what they unpack; pack the crate again without that comment.");

async function candidatesOf(access: ObjectAccess, fileSize: number): Promise<Candidate[]> {
  const from = Math.max(0, fileSize - END.size - LONGEST_COMMENT);
  const tail = await access.bytes(from, fileSize - from);
  const found: Candidate[] = [];
  for (let at = tail.indexOf("PK\x05\x06", 0, "latin1"); at >= 0 && at + END.size <= tail.byteLength; at = tail.indexOf("PK\x05\x06", at + 1, "latin1")) {
    found.push({ at: from + at, entries: tail.readUInt16LE(at + 10), size: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16), comment: tail.readUInt16LE(at + 20) });
  }
  return found;
}

/** Where the record's directory ends, when all that leads there agrees. Some tools go by offset, others backwards by size. */
async function fits(access: ObjectAccess, { at, entries, size, offset }: Candidate): Promise<number | undefined> {
  if (!(await isAt(access, at - LOCATOR.size, LOCATOR.signature))) return offset + size === at ? at : undefined;
  const locator = await access.bytes(at - LOCATOR.size, LOCATOR.size);
  const at64 = Number(locator.readBigUInt64LE(8));
  if (!(await isAt(access, at64, END64.signature))) return undefined;
  const record = await access.bytes(at64, END64.size);
  if (record.byteLength < END64.size) return undefined;
  const [length, entries64, size64, offset64] = [4, 32, 40, 48].map((place) => Number(record.readBigUInt64LE(place))) as [number, number, number, number];
  // What is too large for the older record is all ones there; tools that read that one must be led to the same directory.
  const same = (entries === 0xffff || entries === entries64) && (size === 0xffffffff || size === size64) && (offset === 0xffffffff || offset === offset64);
  return same && offset64 + size64 === at64 && at64 + 12 + length === at - LOCATOR.size ? at64 : undefined;
}

async function isAt(access: ObjectAccess, position: number, signature: number): Promise<boolean> {
  if (position < 0) return false;
  const bytes = await access.bytes(position, 4);
  return bytes.byteLength === 4 && bytes.readUInt32LE(0) === signature;
}

async function noArchive(access: ObjectAccess): Promise<Error> {
  const begins = await isAt(access, 0, 0x04034b50);
  return crateError("NOT_A_ZIP", begins ? "The archive is truncated: it begins like a zip and its end is missing; send it again." : "The upload is no zip archive.");
}
