/** Members of an archive: their names, and their bytes within the limits. */
import { isUtf8 } from "node:buffer";
import { Readable, type TransformOptions } from "node:stream";
import { constants, crc32, createInflateRaw, inflateRawSync, type ZlibOptions } from "node:zlib";
import yauzl, { type Entry, type ZipFile } from "yauzl";
import { spendBuffers } from "../../../memory.js";
import { invisibleIn, visible } from "../../../model/strings.js";
import type { ObjectReader } from "../../../storage/objects/port.js";
import { CrateError, crateError } from "../findings.js";
import type { CrateLimits } from "../upload.js";

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

/** A ratio means little for small members; a bomb exceeds it beyond this size. */
export const RATIO_FROM = 16 * 2 ** 20;
/**
 * Members up to this size are inflated in one step, which is several times faster than a stream.
 */
const MAX_BYTES_INFLATED_AT_ONCE = 2 ** 20;

/** Chunk size of inflated data, and how many bytes of it are buffered. */
const AHEAD: ZlibOptions & TransformOptions = {
  chunkSize: 2 ** 16,
  readableHighWaterMark: 2 ** 20,
};

/** Inflates one member; the output is checked before it is passed on. */
export async function* inflateMember(
  zip: ZipFile,
  access: ObjectAccess,
  member: Member,
  limits: CrateLimits,
): AsyncGenerator<Buffer> {
  const { entry, name, size } = member;
  const start = await dataStart(zip, member);
  const end = start + entry.compressedSize;
  let out = 0;
  let sum = 0;
  for await (const chunk of raw(access, member, start, end)) {
    out += chunk.byteLength;
    if (out > size) throw sizeMismatch(member, `more than the ${size}`);
    if (out > RATIO_FROM && out > entry.compressedSize * limits.MAX_CRATE_RATIO)
      throw crateError(
        "RATIO_TOO_HIGH",
        `The member inflates to more than MAX_CRATE_RATIO=${limits.MAX_CRATE_RATIO} times ` +
          "its compressed size.",
        { file: name },
      );
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (out < size) throw sizeMismatch(member, `${out} bytes instead of the ${size}`);
  if (sum !== entry.crc32)
    throw crateError(
      "CORRUPT_MEMBER",
      "The member's checksum (CRC-32) is not the one in the archive's directory; pack the " +
        "crate again.",
      { file: name },
    );
}

async function* raw(
  access: ObjectAccess,
  member: Member,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  const { entry, name, size } = member;
  try {
    if (entry.compressionMethod === 0) return yield* access.chunks(start, end);
    if (size <= MAX_BYTES_INFLATED_AT_ONCE && end - start <= MAX_BYTES_INFLATED_AT_ONCE) {
      const bytes = await access.bytes(start, end - start);
      // One byte more than declared, so that a wrong size is detected; and a single chunk for the
      // output, which need not be concatenated.
      return yield inflateRawSync(bytes, {
        maxOutputLength: size + 1,
        chunkSize: Math.max(constants.Z_MIN_CHUNK, size + 1),
      });
    }
    yield* inflated(access.chunks(start, end, Buffer.allocUnsafe(2 ** 17)));
  } catch (error) {
    if (error instanceof CrateError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ERR_BUFFER_TOO_LARGE") throw sizeMismatch(member, `more than the ${size}`);
    if (code?.startsWith("Z_"))
      throw crateError(
        "CORRUPT_MEMBER",
        `The member cannot be inflated (${code}); pack the crate again.`,
        { file: name },
      );
    throw error;
  }
}

/**
 * Inflates in the thread pool, up to a MiB ahead of the consumer, which hashes and writes the
 * output.
 */
async function* inflated(deflated: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw(AHEAD);
  // One chunk after the other: they share one buffer.
  const feeding = (async () => {
    for await (const part of deflated)
      await new Promise<void>((resolve, reject) =>
        inflate.write(part, (error) => (error ? reject(error) : resolve())),
      );
    inflate.end();
  })();
  feeding.catch((error: Error) => inflate.destroy(error));
  try {
    yield* inflate as AsyncIterable<Buffer>;
  } finally {
    inflate.destroy();
  }
}

async function dataStart(zip: ZipFile, { entry, name, end }: Member): Promise<number> {
  let start: number;
  try {
    start = (
      await zip.readLocalFileHeaderPromise(
        entry as Pick<Entry, keyof DirectoryEntry & keyof Entry> as Entry,
        { minimal: true },
      )
    ).fileDataStart;
  } catch (error) {
    throw crateError(
      "CORRUPT_ARCHIVE",
      `The member's header cannot be read: ${(error as Error).message}`,
      { file: name },
    );
  }
  if (start + entry.compressedSize > end)
    throw crateError(
      "MEMBER_OVERLAP",
      "The member reaches into the next one or into the archive's directory; pack the crate again.",
      { file: name },
    );
  return start;
}

function sizeMismatch({ name }: Member, found: string): CrateError {
  return crateError(
    "MEMBER_SIZE_MISMATCH",
    `The member has ${found} bytes that the archive's directory says; pack the crate again.`,
    { file: name },
  );
}

/** Read ahead: a directory of 200,000 members is read in small steps. */
const WINDOW = 256 * 1024;
/** Random access reads little ahead. */
const JUMP = 8 * 1024;

/** A stored object as yauzl reads it. Small reads are served from one moving window. */
export class ObjectAccess extends yauzl.RandomAccessReader {
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;
  #commentLengthAt = -1;

  readonly #reader: ObjectReader;

  constructor(reader: ObjectReader) {
    super();
    this.#reader = reader;
  }

  /**
   * Shows yauzl the archive without its comment, in which yauzl would stop at the first signature.
   * @param record where the end record is
   * @returns the visible size
   */
  endAt(record: number): number {
    this.#commentLengthAt = record + 20;
    return record + 22;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.bytes(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        for (const at of [this.#commentLengthAt, this.#commentLengthAt + 1])
          if (this.#commentLengthAt >= 0 && at >= position && at < position + length)
            buffer[offset + at - position] = 0;
        callback(null, bytes.byteLength);
      },
      (error: Error) => callback(error),
    );
  }

  /** At most `length` bytes from `position`; fewer at the end of the object. */
  async bytes(position: number, length: number): Promise<Buffer> {
    const inWindow = position - this.#windowStart;
    if (inWindow >= 0 && inWindow + length <= this.#window.byteLength)
      return this.#window.subarray(inWindow, inWindow + length);
    if (length > WINDOW) {
      const large = Buffer.allocUnsafe(length);
      return large.subarray(0, await this.#reader.read(large, position));
    }
    const goesOn = inWindow >= 0 && inWindow <= this.#window.byteLength + JUMP;
    const window = Buffer.allocUnsafe(goesOn ? WINDOW : Math.max(length, JUMP));
    const read = await this.#reader.read(window, position);
    this.#window = window.subarray(0, read);
    this.#windowStart = position;
    // The previous window is garbage.
    spendBuffers(window.byteLength);
    return this.#window.subarray(0, Math.min(length, read));
  }

  /** Bytes `start` to `end` (exclusive) in chunks. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.chunks(start, end), { objectMode: false });
  }

  /**
   * @param within every chunk is in this buffer, and is invalid when the next is requested;
   * otherwise each has its own buffer
   */
  async *chunks(start: number, end: number, within?: Buffer): AsyncGenerator<Buffer> {
    for (let at = start; at < end;) {
      const chunk = within
        ? within.subarray(0, end - at)
        : Buffer.allocUnsafe(Math.min(WINDOW, end - at));
      const read = await this.#reader.read(chunk, at);
      if (read === 0) return;
      yield chunk.subarray(0, read);
      at += read;
    }
  }

  /** The archive closes the reader, once. */
  override close(callback: (error: Error | null) => void): void {
    setImmediate(callback, null);
  }
}
