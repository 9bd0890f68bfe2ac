import { createHash, randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import {
  assertSize,
  type ContentHeaders,
  type ObjectReader,
  type ObjectStore,
  type OpenOptions,
  type StagedObject,
  verified,
} from "../port.js";
import { S3Calls } from "./calls.js";
import { Keys, type S3Location } from "./location.js";
import { notStored, openDownload, openReader, stageS3 } from "./transfers.js";

/**
 * Removes the remains of a process that died: staged bytes, and unfinished multipart uploads. Time
 * is the server's, so that a wrong local clock removes nothing too early.
 * @param age in ms
 * @returns how many were removed
 */
async function removeStale(calls: S3Calls, keys: Keys, age: number): Promise<number> {
  let removed = 0;
  const marked = new Set<string>();
  for await (const { key, changed } of calls.list(keys.staging)) {
    const staged = keys.read(key);
    if (staged.kind === "upload") marked.add(staged.uploadId);
    // Bytes written less than `age` ago are still being written.
    if (changed > calls.now() - age) continue;
    if (staged.kind === "upload") await calls.abort(staged.target, staged.uploadId);
    await calls.remove(key);
    removed++;
  }
  // A process may die before it can mark its upload; servers that list uploads by prefix show that
  // one too.
  for (const prefix of [keys.staging, keys.objects]) {
    for (const { key, uploadId, begun } of await calls.uploads(prefix)) {
      if (marked.has(uploadId) || !(begun <= calls.now() - age)) continue;
      await calls.abort(key, uploadId);
      removed++;
    }
  }
  return removed;
}

/**
 * Objects in a bucket under their SHA-256. Bytes are uploaded under a key of their own and copied
 * to their key inside the server: a reader sees a whole object or none.
 */
export function openS3Objects(location: S3Location): ObjectStore {
  return new S3Objects(location);
}

/**
 * Checks whether the bucket can be used, before anything else begins.
 * @param create makes a bucket that is missing
 * @throws ServiceError `STORE_UNAVAILABLE` with one line that names the fault
 */
export async function prepareBucket(location: S3Location, create: boolean): Promise<void> {
  const calls = new S3Calls(location);
  try {
    await calls.probe();
  } catch (error) {
    const missing = error instanceof ServiceError && error.message.includes("has no bucket");
    if (!missing || !create) throw error;
    await calls.makeBucket();
    await calls.probe();
  }
}

class S3Objects implements ObjectStore {
  /**
   * Most of the time of a small object is waiting for answers; more at a time would hold too much
   * of large ones.
   */
  readonly parallel = 8;
  readonly #calls: S3Calls;
  readonly #keys: Keys;
  readonly #stagings = new Set<Promise<StagedObject>>();

  constructor(location: S3Location) {
    this.#calls = new S3Calls(location);
    this.#keys = new Keys(location.prefix);
  }

  stage(
    source: Readable | AsyncIterable<Uint8Array>,
    options: Parameters<ObjectStore["stage"]>[1] = {},
  ): Promise<StagedObject> {
    const staged = stageS3(this.#calls, this.#keys, source, options);
    this.#stagings.add(staged);
    const over = () => this.#stagings.delete(staged);
    staged.then(over, over);
    return staged;
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#stagings);
  }

  async size(sha256: string): Promise<number | undefined> {
    const key = this.#keys.object(sha256);
    return key === undefined ? undefined : this.#calls.head(key);
  }

  async version(sha256: string): Promise<string | undefined> {
    const key = this.#keys.object(sha256);
    return key === undefined ? undefined : this.#calls.version(key);
  }

  async open(
    sha256: string,
    range?: { start: number; end: number },
    { size, hash = true }: OpenOptions = {},
  ): Promise<Readable> {
    const { stream, length, total } = await openDownload(
      this.#calls,
      this.#known(sha256),
      sha256,
      range,
    );
    try {
      assertSize(sha256, total, size);
    } catch (error) {
      stream.destroy();
      throw error;
    }
    return verified(stream, sha256, { length, sha256: hash && !range ? sha256 : undefined });
  }

  async reader(sha256: string): Promise<ObjectReader> {
    return openReader(this.#calls, this.#known(sha256), sha256);
  }

  async readStaged(place: string): Promise<ObjectReader> {
    const key = this.#keys.staged(place);
    if (key === undefined) throw notStored(place);
    return openReader(this.#calls, key, place);
  }

  async remove(sha256: string): Promise<void> {
    const key = this.#keys.object(sha256);
    if (key !== undefined) await this.#calls.remove(key);
  }

  async *list(): AsyncIterable<string> {
    for await (const { key } of this.#calls.list(this.#keys.objects)) {
      const sha256 = this.#keys.sha256Of(key);
      if (sha256 !== undefined) yield sha256;
    }
  }

  removeStale(age: number): Promise<number> {
    return removeStale(this.#calls, this.#keys, age);
  }

  async health(): Promise<void> {
    const key = this.#keys.staged(randomUUID())!;
    const bytes = Buffer.from("ok");
    // The caller asks again at intervals, so it gets the fault at once.
    await this.#calls.put(key, bytes, createHash("sha256").update(bytes).digest("hex"), {
      retries: 0,
    });
    await this.#calls.remove(key, { retries: 0 });
  }

  async address(sha256: string, headers: ContentHeaders): Promise<string | undefined> {
    if (this.#calls.location.presigned === 0) return undefined;
    return this.#calls.address(this.#known(sha256), {
      "response-content-type": headers.type,
      "response-content-disposition": headers.disposition,
    });
  }

  #known(sha256: string): string {
    const key = this.#keys.object(sha256);
    if (key === undefined) throw notStored(sha256);
    return key;
  }
}
