import type { TransformOptions } from "node:stream";
import { constants, crc32, createInflateRaw, inflateRawSync, type ZlibOptions } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { CrateError, crateError } from "../findings.js";
import type { CrateLimits } from "../limits.js";
import type { DirectoryEntry, Member } from "./member.js";
import type { ObjectAccess } from "./object-access.js";

/** A ratio means little for small members; a bomb exceeds it beyond this size. */
export const RATIO_FROM = 16 * 2 ** 20;
/**
 * Members up to this size are inflated in one step, which is several times faster than a stream.
 */
const AT_ONCE = 2 ** 20;

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
    if (size <= AT_ONCE && end - start <= AT_ONCE) {
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
