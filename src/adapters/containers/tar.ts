/** Archives that are sent to a container engine, and those that it answers with. */
import { Readable } from "node:stream";
import { extract, type Headers, pack, type Pack } from "tar-stream";
import type { TarFile } from "./port.js";

/**
 * Files as an archive, each readable and executable for all users, with an entry for each folder
 * before its content.
 * @throws Error when the size of a file differs from the one given for it
 */
export function writeTar(files: AsyncIterable<TarFile>): AsyncIterable<Uint8Array> {
  const archive = pack();
  fill(archive, files).catch((error: Error) => archive.destroy(error));
  return archive;
}

async function fill(archive: Pack, files: AsyncIterable<TarFile>): Promise<void> {
  const known = new Set<string>();
  for await (const file of files) {
    const parts = file.path.split("/").slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) {
      const folder = `${parts.slice(0, depth).join("/")}/`;
      if (known.has(folder)) continue;
      known.add(folder);
      archive.entry(folderNamed(folder, 0o555));
    }
    await add(archive, file);
  }
  archive.finalize();
}

async function add(archive: Pack, { path, size, open }: TarFile): Promise<void> {
  const content = Readable.from(exactly(await open(), path, size));
  try {
    await new Promise<void>((resolve, reject) => {
      const entry = archive.entry({ name: path, size, mode: 0o555, mtime: EPOCH }, (error) =>
        error ? reject(error) : resolve(),
      );
      content.on("error", (error) => entry.destroy(error)).pipe(entry.on("error", reject));
    });
  } finally {
    content.destroy();
  }
}

async function* exactly(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  size: number,
): AsyncGenerator<Uint8Array> {
  let written = 0;
  for await (const chunk of bytes) {
    written += chunk.byteLength;
    if (written > size) break;
    yield chunk;
  }
  if (written !== size)
    throw new Error(`${path} has another size than the ${size} bytes stated for it`);
}

/** The same archive for the same files. */
const EPOCH = new Date(0);

const folderNamed = (name: string, mode: number): Headers => ({
  name,
  mode,
  type: "directory",
  mtime: EPOCH,
});

/** An archive of empty folders, with their modes. */
export function folders(modes: Readonly<Record<string, number>>): AsyncIterable<Uint8Array> {
  const archive = pack();
  for (const [name, mode] of Object.entries(modes)) archive.entry(folderNamed(name, mode));
  archive.finalize();
  return archive;
}

/** The bytes are no archive, or need more than the reader allows. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/** One entry; its content is read before the next entry is requested, or passed over. */
interface TarEntry {
  /** As it stands there; null when it is no UTF-8. */
  name: string | null;
  type: "file" | "folder" | "link" | "other";
  size: number;
  content(): AsyncIterable<Uint8Array>;
}

/**
 * Most bytes before an entry that are not content: a path has 4096 bytes, extended attributes of a
 * file some more. tar-stream holds them in memory.
 */
const MAX_HEADER_BYTES = 2 ** 20;

/**
 * Reads an archive in constant memory. The entries are untrusted: only their sizes are used, which
 * bound how much is read.
 * @throws TarError, any error of `bytes`
 */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  let expected = MAX_HEADER_BYTES;
  const source = Readable.from(
    (async function* () {
      for await (const chunk of bytes) {
        expected -= chunk.byteLength;
        if (expected < 0)
          throw new TarError(`an extended header has more than ${MAX_HEADER_BYTES} bytes`);
        yield chunk;
      }
    })(),
  );
  const archive = extract();
  const asThrown = (error: unknown): Error => source.errored ?? asTarError(error as Error);
  source.on("error", (error) => archive.destroy(error)).pipe(archive);
  try {
    for await (const entry of archive) {
      const { name, type, size = 0 } = entry.header;
      if (!Number.isSafeInteger(size) || size < 0)
        throw new TarError("a header contains an invalid number, or one that is too large");
      expected = size + MAX_HEADER_BYTES;
      yield {
        // tar-stream puts this character in the place of bytes that are no UTF-8: two names could
        // become one.
        name: name.includes("\uFFFD") ? null : name,
        type: typeOf(type),
        size,
        async *content() {
          try {
            yield* entry;
          } catch (error) {
            throw asThrown(error);
          }
        },
      };
      entry.resume();
    }
  } catch (error) {
    throw asThrown(error);
  } finally {
    source.destroy();
  }
}

const asTarError = (error: Error): TarError =>
  error instanceof TarError
    ? error
    : new TarError(
        `the archive is truncated, or the checksum of a header is wrong: ${error.message}`,
      );

const typeOf = (type: Headers["type"]): TarEntry["type"] =>
  type === "file" || type === "contiguous-file"
    ? "file"
    : type === "directory"
      ? "folder"
      : type === "link" || type === "symlink"
        ? "link"
        : "other";
