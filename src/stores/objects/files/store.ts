import { mkdir, open, opendir, readdir, stat, unlink, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { randomUUID } from "node:crypto";
import { ServiceError } from "../../../errors.js";
import type { ObjectReader, ObjectStore, OpenOptions, StagedObject } from "../port.js";
import { assertSize, verified } from "../verified.js";
import { STAGING, asStoreError, codeOf, fanOut, isKey } from "./layout.js";
import { stageFile } from "./staging.js";

/**
 * Objects as files under their SHA-256. Bytes are written under a temporary name and made durable, then
 * renamed into place and the folder made durable: a reader sees a whole object or none, also after a loss
 * of power.
 * @param folder is made when it does not exist
 */
export async function openFileObjects(folder: string): Promise<ObjectStore> {
  await mkdir(join(folder, STAGING), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw asStoreError(error);
  });
  return new FileObjects(folder);
}

class FileObjects implements ObjectStore {
  constructor(private readonly folder: string) {}

  stage(source: Readable | AsyncIterable<Uint8Array>, options: Parameters<ObjectStore["stage"]>[1] = {}): Promise<StagedObject> {
    return stageFile(this.folder, source, options);
  }

  async size(sha256: string): Promise<number | undefined> {
    if (!isKey(sha256)) return undefined;
    try {
      return (await stat(fanOut(this.folder, sha256).file)).size;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw asStoreError(error);
    }
  }

  async version(sha256: string): Promise<string | undefined> {
    if (!isKey(sha256)) return undefined;
    try {
      const { size, mtimeNs, ino } = await stat(fanOut(this.folder, sha256).file, { bigint: true });
      return `${size}-${mtimeNs}-${ino}`;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw asStoreError(error);
    }
  }

  async open(sha256: string, range?: { start: number; end: number }, { size: expected, hash = true }: OpenOptions = {}): Promise<Readable> {
    const file = await this.file(sha256);
    const { size } = await file.stat();
    try {
      assertSize(sha256, size, expected);
    } catch (error) {
      await file.close();
      throw error;
    }
    if (range && (range.start >= size || range.start > range.end || range.start < 0)) {
      await file.close();
      throw new ServiceError("RANGE_NOT_SATISFIABLE", `The content has ${size} bytes; ask for a range inside it.`, { size });
    }
    if (!range) return verified(file.createReadStream(), sha256, { length: size, sha256: hash ? sha256 : undefined });
    const end = Math.min(range.end, size - 1);
    return verified(file.createReadStream({ start: range.start, end }), sha256, { length: end - range.start + 1 });
  }

  async reader(sha256: string): Promise<ObjectReader> {
    return readerOf(await this.file(sha256));
  }

  async readStaged(place: string): Promise<ObjectReader> {
    return readerOf(await this.opened(/^[0-9a-f-]{36}$/.test(place) ? join(this.folder, STAGING, place) : undefined, place));
  }

  async remove(sha256: string): Promise<void> {
    if (!isKey(sha256)) return;
    await unlink(fanOut(this.folder, sha256).file).catch((error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw asStoreError(error);
    });
  }

  async *list(): AsyncIterable<string> {
    for (const outer of await foldersOf(this.folder)) {
      for (const inner of await foldersOf(join(this.folder, outer))) {
        for await (const entry of await opendir(join(this.folder, outer, inner))) if (isKey(entry.name)) yield entry.name;
      }
    }
  }

  async removeStale(age: number): Promise<number> {
    const before = Date.now() - age;
    let removed = 0;
    for (const name of await readdir(join(this.folder, STAGING))) {
      const path = join(this.folder, STAGING, name);
      try {
        // Written to less than `age` ago means that somebody is still at it.
        if ((await stat(path)).mtimeMs > before) continue;
        await unlink(path);
        removed++;
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw asStoreError(error);
      }
    }
    return removed;
  }

  async health(): Promise<void> {
    const path = join(this.folder, STAGING, `health-${randomUUID()}`);
    try {
      await writeFile(path, "ok", { flag: "wx", mode: 0o600 });
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await unlink(path).catch(() => {});
    }
  }

  private file(sha256: string): Promise<FileHandle> {
    return this.opened(isKey(sha256) ? fanOut(this.folder, sha256).file : undefined, sha256);
  }

  private async opened(path: string | undefined, name: string): Promise<FileHandle> {
    try {
      if (path !== undefined) return await open(path, "r");
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw asStoreError(error);
    }
    throw new ServiceError("NOT_FOUND", `No object ${name.slice(0, 64)} is stored.`);
  }
}

async function readerOf(file: FileHandle): Promise<ObjectReader> {
  const { size } = await file.stat();
  return {
    size,
    async read(buffer, position) {
      let done = 0;
      while (done < buffer.byteLength) {
        const { bytesRead } = await file.read(buffer, done, buffer.byteLength - done, position + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    },
    close: () => file.close(),
  };
}

async function foldersOf(path: string): Promise<string[]> {
  return (await readdir(path)).filter((name) => /^[0-9a-f]{2}$/.test(name));
}
