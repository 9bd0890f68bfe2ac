import { once } from "node:events";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import type { BucketItem, Client } from "minio";
import {
  assertSize,
  bytesOf,
  type ContentHeaders,
  type ObjectReader,
  type ObjectStore,
  type OpenOptions,
  type StagedObject,
  type StageOptions,
  verified,
} from "../port.js";
import { notStored, openReader, removeFile, StagingFolder } from "../staging.js";
import { clientOf } from "./client.js";
import { asStoreError, codeOf, isMissing, retried } from "./faults.js";
import { Keys, type S3Location } from "./location.js";

/**
 * In none of the keys: the client sends a delimiter in any case, and Swift takes an empty one for
 * the end of every name.
 */
const NO_DELIMITER = "|";

/**
 * Objects in a bucket under their SHA-256. Bytes are received and hashed in a file of this node,
 * then sent to their key: a reader sees a whole object or none.
 */
export async function openS3Objects(location: S3Location): Promise<ObjectStore> {
  const staging = new StagingFolder(location.staging);
  await staging.create();
  return new S3Objects(location, staging);
}

/**
 * Checks whether the bucket can be used, before anything else begins.
 * @param create makes a bucket that is missing
 * @throws ServiceError `STORE_UNAVAILABLE` with one line that names the fault
 */
export async function prepareBucket(location: S3Location, create: boolean): Promise<void> {
  const client = clientOf(location);
  const { bucket, prefix, region } = location;
  const listed = () => client.listObjectsV2Query(bucket, prefix, "", "", 1, "");
  try {
    await retried(listed, location).catch(async (error: unknown) => {
      if (codeOf(error) !== "NoSuchBucket" || !create) throw error;
      await client.makeBucket(bucket, region).catch((fault: unknown) => {
        if (!["BucketAlreadyOwnedByYou", "BucketAlreadyExists"].includes(codeOf(fault)))
          throw fault;
      });
      await listed();
    });
  } catch (error) {
    throw asStoreError(error, location);
  }
}

class S3Objects implements ObjectStore {
  /**
   * Most of the time of a small object is waiting for answers; more at a time would hold too much
   * of large ones.
   */
  readonly parallel = 8;
  readonly #client: Client;
  readonly #bucket: string;
  readonly #keys: Keys;
  readonly #location: S3Location;
  readonly #staging: StagingFolder;

  constructor(location: S3Location, staging: StagingFolder) {
    this.#client = clientOf(location);
    this.#bucket = location.bucket;
    this.#keys = new Keys(location.prefix);
    this.#location = location;
    this.#staging = staging;
  }

  async stage(
    source: Readable | AsyncIterable<Uint8Array>,
    options: StageOptions = {},
  ): Promise<StagedObject> {
    const { path, ...staged } = await this.#staging.stage(source, options);
    return {
      ...staged,
      // Also over an equal object: a damaged one is repaired.
      publish: async () => {
        await this.#call(() => this.#send(path, this.#known(staged.sha256), staged.size));
        await removeFile(path);
      },
      discard: () => removeFile(path),
    };
  }

  async size(sha256: string): Promise<number | undefined> {
    return (await this.#stat(sha256))?.size;
  }

  async version(sha256: string): Promise<string | undefined> {
    const found = await this.#stat(sha256);
    return found && `${found.size}-${found.etag}-${found.lastModified.getTime()}`;
  }

  async open(
    sha256: string,
    range?: { start: number; end: number },
    { size: expected, hash = true }: OpenOptions = {},
  ): Promise<Readable> {
    const key = this.#known(sha256);
    const size = await this.size(sha256);
    if (size === undefined) throw notStored(sha256);
    assertSize(sha256, size, expected);
    const { start, length } = bytesOf(size, range);
    const source = await this.#call(() =>
      range
        ? this.#client.getPartialObject(this.#bucket, key, start, length)
        : this.#client.getObject(this.#bucket, key),
    ).catch((error: unknown) => {
      throw isMissing(error) ? notStored(sha256) : error;
    });
    const bytes = verified(source, sha256, { length, sha256: hash && !range ? sha256 : undefined });
    // Before what hands on the client's own error.
    source.prependListener("error", (error) =>
      bytes.destroy(asStoreError(error, this.#location) as Error),
    );
    return bytes;
  }

  /** Of a copy on this node: an archive is read in tens of thousands of small reads. */
  async reader(sha256: string): Promise<ObjectReader> {
    const { path } = await this.#staging.stage(await this.open(sha256));
    const reader = await openReader(path, sha256);
    return {
      ...reader,
      close: async () => {
        await reader.close();
        await removeFile(path);
      },
    };
  }

  readStaged(place: string): Promise<ObjectReader> {
    return this.#staging.read(place);
  }

  async remove(sha256: string): Promise<void> {
    const key = this.#keys.object(sha256);
    if (key !== undefined) await this.#call(() => this.#client.removeObject(this.#bucket, key));
  }

  async *list(): AsyncIterable<string> {
    try {
      const items = this.#client.listObjectsV2(this.#bucket, this.#keys.objects, true);
      for await (const { name } of items as AsyncIterable<BucketItem>) {
        const sha256 = this.#keys.sha256Of(name ?? "");
        if (sha256 !== undefined) yield sha256;
      }
    } catch (error) {
      throw asStoreError(error, this.#location);
    }
  }

  removeStale(age: number): Promise<number> {
    return this.#staging.removeStale(age);
  }

  abortUploads(age: number): Promise<number> {
    return this.#call(() => this.#abortUploads(this.#keys.objects, Date.now() - age));
  }

  async health(): Promise<void> {
    const { path, size } = await this.#staging.stage(
      (async function* () {
        yield Buffer.from("ok");
      })(),
    );
    try {
      await this.#call(async () => {
        await this.#send(path, this.#keys.health, size);
        await this.#client.removeObject(this.#bucket, this.#keys.health);
      });
    } finally {
      await removeFile(path);
    }
  }

  async address(sha256: string, headers: ContentHeaders): Promise<string | undefined> {
    const { presigned } = this.#location;
    if (presigned === 0) return undefined;
    return this.#client.presignedGetObject(
      this.#bucket,
      this.#known(sha256),
      Math.ceil(presigned / 1000),
      {
        "response-content-type": headers.type,
        "response-content-disposition": headers.disposition,
      },
    );
  }

  /** Sends a file to its key, by the client in parts when it is larger than one. */
  async #send(path: string, key: string, size: number): Promise<void> {
    // The client would wait for ever for a file that cannot be read.
    const file = createReadStream(path);
    const unreadable = once(file, "error").then(([error]) => {
      throw error;
    });
    try {
      await Promise.race([this.#client.putObject(this.#bucket, key, file, size), unreadable]);
    } catch (error) {
      if (size > this.#location.partSize) await this.#abortUploads(key).catch(() => 0);
      throw error;
    } finally {
      file.destroy();
    }
  }

  /**
   * Removes the parts of unfinished uploads under a prefix, as far as the server lists them.
   * @param before when they began (ms)
   * @returns how many uploads
   */
  async #abortUploads(prefix: string, before = Infinity): Promise<number> {
    const { uploads } = await this.#client
      .listIncompleteUploadsQuery(this.#bucket, prefix, "", "", NO_DELIMITER)
      .catch((error: unknown) => {
        if (["NotImplemented", "MethodNotAllowed"].includes(codeOf(error))) return { uploads: [] };
        throw error;
      });
    let aborted = 0;
    for (const { key, uploadId, initiated } of uploads) {
      if (!(new Date(initiated).getTime() <= before)) continue;
      await this.#client
        .abortMultipartUpload(this.#bucket, key, encodeURIComponent(uploadId))
        .catch((error: unknown) => {
          if (codeOf(error) !== "NoSuchUpload" && !isMissing(error)) throw error;
        });
      aborted++;
    }
    return aborted;
  }

  async #stat(sha256: string) {
    const key = this.#keys.object(sha256);
    if (key === undefined) return undefined;
    return this.#call(() =>
      this.#client.statObject(this.#bucket, key).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      }),
    );
  }

  #known(sha256: string): string {
    const key = this.#keys.object(sha256);
    if (key === undefined) throw notStored(sha256);
    return key;
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await retried(call, this.#location);
    } catch (error) {
      throw asStoreError(error, this.#location);
    }
  }
}
