/** Received bytes in temporary files of this node, before an object store has them. */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { ServiceError } from "../../errors.js";
import {
  giveUp,
  type ObjectReader,
  receive,
  type StagedObject,
  type StageOptions,
} from "./port.js";

const PLACE = /^[0-9a-f-]{36}$/;

export const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | null)?.code;

/**
 * Codes of a disk that is full, gone or closed to us; worth trying again once an operator has fixed
 * it.
 */
const UNAVAILABLE = new Set([
  "ENOENT",
  "ENOSPC",
  "EDQUOT",
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
  "EMFILE",
  "ENFILE",
  "ENOTDIR",
]);

/**
 * Converts a fault of the disk into the error that every store gives; other errors stay unchanged.
 */
export function asDiskError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined || !UNAVAILABLE.has(code)) return error;
  return new ServiceError(
    "STORE_UNAVAILABLE",
    `The object store cannot be used (${code}); check the disk and the permissions of ` +
      "DATA_DIR, then try again.",
  );
}

/** A file that holds all bytes of a source. */
type StagedFile = Pick<StagedObject, "sha256" | "size" | "digests" | "place"> & { path: string };

/** A folder of temporary files, which one process uses with its threads. */
export class StagingFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async create(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      throw asDiskError(error);
    });
  }

  /**
   * Writes a source into a file of its own while hashing. When that fails, no file remains.
   * @param options.durable resolves only when the bytes survive a loss of power
   */
  async stage(
    source: Readable | AsyncIterable<Uint8Array>,
    { durable = false, ...options }: StageOptions & { durable?: boolean } = {},
  ): Promise<StagedFile> {
    const place = randomUUID();
    const path = join(this.#folder, place);
    let file: FileHandle | undefined;
    try {
      const made = (file = await open(path, "wx", 0o600).catch((error: unknown) => {
        throw asDiskError(error);
      }));
      const received = await receive(source, options, async (bytes) => {
        for (let done = 0; done < bytes.byteLength;)
          done += (await made.write(bytes, done)).bytesWritten;
      });
      if (durable) await file.sync();
      await file.close();
      return { ...received, place, path };
    } catch (error) {
      giveUp(source);
      await file?.close().catch(() => {});
      await removeFile(path);
      throw asDiskError(error);
    }
  }

  /** @throws ServiceError `NOT_FOUND` */
  read(place: string): Promise<ObjectReader> {
    return openReader(PLACE.test(place) ? join(this.#folder, place) : undefined, place);
  }

  /** Removes files that were written to more than `age` ms ago. Returns how many. */
  async removeStale(age: number): Promise<number> {
    const before = Date.now() - age;
    let removed = 0;
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      try {
        // A file written to less than `age` ago is still being written.
        if ((await stat(path)).mtimeMs > before) continue;
        await unlink(path);
        removed++;
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw asDiskError(error);
      }
    }
    return removed;
  }
}

/** Also where there is no such file. */
export async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw asDiskError(error);
  });
}

/**
 * @param path `undefined` for a name that no file has
 * @throws ServiceError `NOT_FOUND`
 */
export async function openFile(path: string | undefined, name: string): Promise<FileHandle> {
  try {
    if (path !== undefined) return await open(path, "r");
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw asDiskError(error);
  }
  throw notStored(name);
}

export function notStored(name: string): ServiceError {
  return new ServiceError("NOT_FOUND", `No object ${name.slice(0, 64)} is stored.`);
}

/** As {@link openFile}, for reading at any position. */
export async function openReader(path: string | undefined, name: string): Promise<ObjectReader> {
  const file = await openFile(path, name);
  const { size } = await file.stat();
  return {
    size,
    async read(buffer, position) {
      let done = 0;
      while (done < buffer.byteLength) {
        const { bytesRead } = await file.read(
          buffer,
          done,
          buffer.byteLength - done,
          position + done,
        );
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    },
    close: () => file.close(),
  };
}
