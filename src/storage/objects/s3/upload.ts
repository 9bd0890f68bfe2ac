import { createHash, type Hash, randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import { giveUp, receive, type StageOptions } from "../hashing.js";
import type { StagedObject } from "../port.js";
import type { Part, S3Calls } from "./calls.js";
import type { Keys } from "./location.js";

/** S3's own limit. */
const MOST_PARTS = 10_000;
/** Memory an upload begins with; most objects are small. */
const FIRST_BYTES = 64 * 2 ** 10;
/** How often (ms) an active upload renews its marker. */
const REPORT_EVERY = 60_000;

/**
 * Bytes of unknown number on their way to one key: in one call when they fit into a part, otherwise
 * in parts, one of which is sent while the next is gathered. The object exists when {@link finish}
 * resolves, and not before.
 */
class Upload {
  #buffer: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #spare: Buffer | undefined;
  #filled = 0;
  #hash: Hash | undefined;
  #uploadId: string | undefined;
  #marker = "";
  #reported = 0;
  readonly #parts: Part[] = [];
  #begun = 0;
  #sending: Promise<void> | undefined;
  #put = false;
  #size = 0;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;

  readonly #calls: S3Calls;
  readonly #keys: Keys;
  readonly #place: string;
  readonly #key: string;

  constructor(calls: S3Calls, keys: Keys, place: string, key: string, signal?: AbortSignal) {
    this.#calls = calls;
    this.#keys = keys;
    this.#place = place;
    this.#key = key;

    this.#signal = signal ? AbortSignal.any([signal, this.#ending.signal]) : this.#ending.signal;
    if (calls.signsBodies) this.#hash = createHash("sha256");
  }

  /**
   * Resolves when the bytes may be overwritten.
   * @throws ServiceError `TOO_LARGE`, `STORE_UNAVAILABLE`
   */
  async write(bytes: Uint8Array): Promise<void> {
    const { partSize } = this.#calls.location;
    for (let at = 0; at < bytes.byteLength;) {
      if (this.#filled === partSize) await this.#sendPart();
      const chunk = bytes.subarray(at, at + partSize - this.#filled);
      this.#makeRoom(this.#filled + chunk.byteLength, partSize);
      this.#buffer.set(chunk, this.#filled);
      this.#hash?.update(chunk);
      this.#filled += chunk.byteLength;
      at += chunk.byteLength;
    }
    this.#size += bytes.byteLength;
  }

  /**
   * Returns the ETag of an upload in one call, and nothing for an upload in parts.
   * @param sha256 of all bytes
   */
  async finish(sha256: string): Promise<string | undefined> {
    const signal = this.#signal;
    if (this.#uploadId === undefined) {
      this.#put = true;
      const etag = await this.#calls.put(
        this.#key,
        this.#buffer.subarray(0, this.#filled),
        sha256,
        {
          signal,
        },
      );
      this.#release();
      return etag;
    }
    await this.#sendPart();
    await this.#sending;
    this.#release();
    await this.#calls.complete(this.#key, this.#uploadId, this.#parts, this.#size, { signal });
    // An upload that is done and still marked costs the sweep a call, nothing more.
    await this.#calls.remove(this.#marker).catch(() => {});
    return undefined;
  }

  /** Ends it and removes all its data; the sweep removes data that cannot be removed now. */
  async abandon(): Promise<void> {
    this.#ending.abort(new Error("given up"));
    await this.#sending?.catch(() => {});
    const once = { retries: Math.min(1, this.#calls.location.retries) };
    try {
      if (this.#uploadId !== undefined) await this.#calls.abort(this.#key, this.#uploadId, once);
      // Its answer may have been lost.
      if (this.#put || this.#uploadId !== undefined) await this.#calls.remove(this.#key, once);
      if (this.#uploadId !== undefined) await this.#calls.remove(this.#marker, once);
    } catch {
      // The sweep finds the upload by its marker.
    }
  }

  /** Frees the buffers: a staged object may wait, with many others, for its announcement. */
  #release(): void {
    this.#buffer = Buffer.alloc(0);
    this.#spare = undefined;
  }

  async #sendPart(): Promise<void> {
    const calls = this.#calls;
    const key = this.#key;
    const buffer = this.#buffer;
    const filled = this.#filled;
    const signal = this.#signal;
    const part = ++this.#begun;
    if (part > MOST_PARTS)
      throw new ServiceError(
        "TOO_LARGE",
        `The content is larger than ${MOST_PARTS} parts of ` +
          `S3_PART_SIZE=${calls.location.partSize} bytes; ask for the setting to be raised.`,
        { setting: "S3_PART_SIZE" },
      );
    const uploadId = (this.#uploadId ??= await calls.startUpload(key, { signal }));
    await this.#mark(uploadId);
    // One at a time: two parts are in memory, whatever the size.
    await this.#sending;
    const sha256 = this.#hash?.digest("hex") ?? "";
    this.#sending = calls
      .putPart(key, uploadId, part, buffer.subarray(0, filled), sha256, { signal })
      .then((sent) => void this.#parts.push(sent));
    this.#sending.catch(() => {});
    [this.#buffer, this.#spare] = [
      this.#spare ?? Buffer.allocUnsafe(calls.location.partSize),
      buffer,
    ];
    this.#filled = 0;
    if (this.#hash) this.#hash = createHash("sha256");
  }

  /** Marks the upload as active for other processes. */
  async #mark(uploadId: string): Promise<void> {
    if (Date.now() - this.#reported < REPORT_EVERY) return;
    this.#marker = this.#keys.marker(this.#place, this.#key, uploadId);
    await this.#calls.put(this.#marker, Buffer.alloc(0), EMPTY, { signal: this.#signal });
    this.#reported = Date.now();
  }

  #makeRoom(wanted: number, most: number): void {
    if (wanted <= this.#buffer.byteLength) return;
    const larger = Buffer.allocUnsafe(
      Math.min(most, Math.max(wanted, 2 * this.#buffer.byteLength)),
    );
    larger.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = larger;
  }
}

/** SHA-256 of zero bytes. */
const EMPTY = createHash("sha256").digest("hex");

/** S3's own limit of one copy; more is copied in parts. */
const COPY_LIMIT = 5 * 2 ** 30;

/** Streams a source to a key of its own under the staging prefix, while hashing. */
export async function stageS3(
  calls: S3Calls,
  keys: Keys,
  source: Readable | AsyncIterable<Uint8Array>,
  options: StageOptions,
): Promise<StagedObject> {
  const place = randomUUID();
  const key = keys.staged(place)!;
  const upload = new Upload(calls, keys, place, key, options.signal);
  try {
    const { sha256, size, digests } = await receive(source, options, (bytes) =>
      upload.write(bytes),
    );
    const etag = await upload.finish(sha256);
    return {
      sha256,
      size,
      digests,
      place,
      publish: () => publish(calls, keys, { place, sha256, size, etag }),
      discard: () => calls.remove(key),
    };
  } catch (error) {
    giveUp(source);
    await upload.abandon();
    throw error;
  }
}

interface Uploaded {
  place: string;
  sha256: string;
  size: number;
  etag: string | undefined;
}

/**
 * Copies the staged bytes to their key, inside the server, checks the copy, and removes the staged
 * bytes.
 */
async function publish(
  calls: S3Calls,
  keys: Keys,
  { place, sha256, size, etag }: Uploaded,
): Promise<void> {
  const from = keys.staged(place)!;
  const to = keys.object(sha256)!;
  // Also over an equal object: a damaged one is healed.
  const copied =
    size <= (calls.location.copyPart ?? COPY_LIMIT)
      ? await calls.copy(from, to, size)
      : await copyInParts(calls, keys, place, to, size);
  // The same ETag on both sides proves more than the size; not every server sends it, and none does
  // for parts.
  const arrived =
    copied !== undefined && copied !== "" && copied === etag ? size : await calls.head(to);
  if (arrived !== size) {
    if (copied !== undefined) await calls.remove(to);
    throw new ServiceError(
      "STORE_UNAVAILABLE",
      `The object store did not store ${sha256}: ` +
        (copied === undefined
          ? "its staged bytes are missing"
          : `${arrived ?? "none"} of its ${size} bytes arrived`) +
        "; send it again.",
    );
  }
  await calls.remove(from);
}

async function copyInParts(
  calls: S3Calls,
  keys: Keys,
  place: string,
  to: string,
  size: number,
): Promise<string | undefined> {
  const from = keys.staged(place)!;
  if ((await calls.head(from)) === undefined) return undefined;
  const step = calls.location.copyPart ?? COPY_LIMIT;
  const uploadId = await calls.startUpload(to);
  const marker = keys.marker(place, to, uploadId);
  try {
    await calls.put(marker, Buffer.alloc(0), EMPTY);
    const parts: Part[] = [];
    for (let start = 0; start < size; start += step)
      parts.push(
        await calls.copyPart(
          from,
          to,
          uploadId,
          parts.length + 1,
          start,
          Math.min(start + step, size) - 1,
        ),
      );
    await calls.complete(to, uploadId, parts, size);
  } catch (error) {
    // Where that fails too, the sweep finds the upload by its marker.
    await calls
      .abort(to, uploadId)
      .then(() => calls.remove(marker))
      .catch(() => {});
    throw error;
  }
  await calls.remove(marker).catch(() => {});
  return "";
}
