import { randomUUID } from "node:crypto";
import { mkdir, open, opendir, readdir, rename, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  assertSize,
  bytesOf,
  type ObjectReader,
  type ObjectStore,
  type OpenOptions,
  type StagedObject,
  type StageOptions,
  verified,
} from "../port.js";
import {
  asDiskError,
  codeOf,
  openFile,
  openReader,
  removeFile,
  StagingFolder,
} from "../staging.js";

/** Folder of temporary names; on the same filesystem as the objects, so that a rename is atomic. */
const STAGING = "staging";
const isKey = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** Two levels of 256 folders each keep folders small up to many millions of objects. */
function fanOut(folder: string, sha256: string): { outer: string; inner: string; file: string } {
  const outer = join(folder, sha256.slice(0, 2));
  const inner = join(outer, sha256.slice(2, 4));
  return { outer, inner, file: join(inner, sha256) };
}

async function publish(folder: string, path: string, sha256: string): Promise<void> {
  const { outer, inner, file } = fanOut(folder, sha256);
  try {
    // Over an equal object: same bytes, and a damaged one is healed.
    await replaceFile(path, file).catch(async (error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
      await mkdir(inner, { recursive: true, mode: 0o700 });
      await syncFolder(folder);
      await syncFolder(outer);
      await replaceFile(path, file);
    });
    await syncFolder(inner);
  } catch (error) {
    throw asDiskError(error);
  }
}

/** Codes of Windows for a file that is open elsewhere. */
const OPEN_ELSEWHERE = new Set(["EPERM", "EACCES", "EBUSY"]);
const HELD_TRIES = 20;
const HELD_PAUSE = 100;

/**
 * Renames a staged file into its place. Windows refuses that while a reader has the equal object
 * open, or a virus scanner the new file. After two seconds an existing object stays as it is: its
 * bytes are the same.
 */
export async function replaceFile(
  from: string,
  to: string,
  { platform = process.platform, move = rename, pause = HELD_PAUSE } = {},
): Promise<void> {
  for (let left = HELD_TRIES; ; left--) {
    try {
      return await move(from, to);
    } catch (error) {
      if (platform !== "win32" || !OPEN_ELSEWHERE.has(codeOf(error) ?? "")) throw error;
      if (left > 0) await sleep(pause);
      else if ((await stat(to).catch(() => undefined)) === undefined) throw error;
      else return removeFile(from);
    }
  }
}

/**
 * Makes names in a folder durable; where a folder cannot be opened for that (Windows) the system
 * does it.
 */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Objects as files under their SHA-256. Bytes are written under a temporary name and made durable,
 * then renamed into place and the folder made durable: a reader sees a whole object or none, also
 * after a loss of power.
 * @param folder is made when it does not exist
 */
export async function openFileObjects(folder: string): Promise<ObjectStore> {
  const staging = new StagingFolder(join(folder, STAGING));
  await staging.create();
  return new FileObjects(folder, staging);
}

class FileObjects implements ObjectStore {
  readonly #folder: string;
  readonly #staging: StagingFolder;

  constructor(folder: string, staging: StagingFolder) {
    this.#folder = folder;
    this.#staging = staging;
  }

  async stage(
    source: Readable | AsyncIterable<Uint8Array>,
    options: StageOptions = {},
  ): Promise<StagedObject> {
    const { path, ...staged } = await this.#staging.stage(source, { ...options, durable: true });
    return {
      ...staged,
      publish: () => publish(this.#folder, path, staged.sha256),
      discard: () => removeFile(path),
    };
  }

  async size(sha256: string): Promise<number | undefined> {
    if (!isKey(sha256)) return undefined;
    try {
      return (await stat(fanOut(this.#folder, sha256).file)).size;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw asDiskError(error);
    }
  }

  async version(sha256: string): Promise<string | undefined> {
    if (!isKey(sha256)) return undefined;
    try {
      const { size, mtimeNs, ino } = await stat(fanOut(this.#folder, sha256).file, {
        bigint: true,
      });
      return `${size}-${mtimeNs}-${ino}`;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw asDiskError(error);
    }
  }

  async open(
    sha256: string,
    range?: { start: number; end: number },
    { size: expected, hash = true }: OpenOptions = {},
  ): Promise<Readable> {
    const file = await openFile(this.#path(sha256), sha256);
    try {
      const { size } = await file.stat();
      assertSize(sha256, size, expected);
      const { start, length } = bytesOf(size, range);
      const source = file.createReadStream(range && { start, end: start + length - 1 });
      return verified(source, sha256, { length, sha256: hash && !range ? sha256 : undefined });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  reader(sha256: string): Promise<ObjectReader> {
    return openReader(this.#path(sha256), sha256);
  }

  readStaged(place: string): Promise<ObjectReader> {
    return this.#staging.read(place);
  }

  async remove(sha256: string): Promise<void> {
    if (!isKey(sha256)) return;
    await unlink(fanOut(this.#folder, sha256).file).catch((error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw asDiskError(error);
    });
  }

  async *list(): AsyncIterable<string> {
    for (const outer of await foldersOf(this.#folder)) {
      for (const inner of await foldersOf(join(this.#folder, outer))) {
        for await (const entry of await opendir(join(this.#folder, outer, inner)))
          if (isKey(entry.name)) yield entry.name;
      }
    }
  }

  removeStale(age: number): Promise<number> {
    return this.#staging.removeStale(age);
  }

  async health(): Promise<void> {
    const path = join(this.#folder, STAGING, `health-${randomUUID()}`);
    try {
      await writeFile(path, "ok", { flag: "wx", mode: 0o600 });
    } catch (error) {
      throw asDiskError(error);
    } finally {
      await unlink(path).catch(() => {});
    }
  }

  #path(sha256: string): string | undefined {
    return isKey(sha256) ? fanOut(this.#folder, sha256).file : undefined;
  }
}

async function foldersOf(path: string): Promise<string[]> {
  return (await readdir(path)).filter((name) => /^[0-9a-f]{2}$/.test(name));
}
