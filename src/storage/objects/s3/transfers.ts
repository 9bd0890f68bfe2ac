/** Objects to and from a bucket: in parts, checked against their hashes. */
import { createHash, type Hash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import { spendBuffers } from "../../../memory.js";
import {
  giveUp,
  type ObjectReader,
  receive,
  type StagedObject,
  type StageOptions,
} from "../port.js";
import type { Part, S3Calls } from "./calls.js";
import { asStoreError, type Body, CutShort, mayPass, pause, Silence } from "./faults.js";
import type { Keys } from "./location.js";

/** Bytes that wait to be read: those that a connection brings while the reader is busy. */
const AHEAD = 256 * 2 ** 10;

/** Bytes on their way: how many come, and how many the whole object has. */
interface Download {
  stream: Readable;
  length: number;
  total: number;
}

/**
 * Streams an object, or a range of it. Where the server cuts an answer short, the rest is requested
 * by range; the stream ends well only when every byte was delivered, once.
 * @param range both ends included
 * @throws ServiceError `NOT_FOUND`, `RANGE_NOT_SATISFIABLE`, `STORE_UNAVAILABLE`
 */
export async function openDownload(
  calls: S3Calls,
  key: string,
  name: string,
  range?: { start: number; end: number },
): Promise<Download> {
  if (range && (range.start > range.end || range.start < 0))
    throw outside(await calls.head(key), name);
  const first = await calls.get(key, range?.start, range?.end);
  if (first === "outside") throw outside(await calls.head(key), name);
  if (!first) throw notStored(name);
  const start = range?.start ?? 0;
  const stream = new Delivery(calls, first, async (done) => {
    const body = await calls.get(key, start + done, start + first.length - 1);
    if (!body || body === "outside") throw notStored(name);
    return body;
  });
  return { stream, length: first.length, total: first.total };
}

/** Bytes of one object on their way, from one answer after the other where need be. */
class Delivery extends Readable {
  readonly #length: number;
  #body: Body | undefined;
  #done = 0;
  #failures = 0;
  /**
   * When (ms) the reader began to wait; undefined while it does not wait: a slow reader is no
   * silent server.
   */
  #waiting: number | undefined;
  readonly #clock: NodeJS.Timeout;

  readonly #calls: S3Calls;
  readonly #again: (done: number) => Promise<Body>;

  /** @param again requests the bytes after those that have arrived */
  constructor(calls: S3Calls, first: Body, again: (done: number) => Promise<Body>) {
    super({ highWaterMark: AHEAD });
    this.#calls = calls;
    this.#again = again;
    this.#length = first.length;
    const { timeout } = calls.location;
    // One clock for the whole object: a timer for each chunk would take longer than the chunk.
    this.#clock = setInterval(
      () => {
        if (this.#waiting !== undefined && Date.now() - this.#waiting >= timeout)
          this.#body?.stream.destroy(new Silence(timeout));
      },
      Math.max(20, timeout / 8),
    );
    this.#hearFrom(first);
  }

  override _read(): void {
    this.#waiting ??= Date.now();
    this.#body?.stream.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#clock);
    this.#body?.stream.destroy();
    callback(error);
  }

  #hearFrom(body: Body): void {
    const { stream } = body;
    this.#body = body;
    const broken = (error: Error) => {
      if (this.#body === body) this.#goOn(error);
    };
    stream.on("data", (chunk: Buffer) => {
      this.#done += chunk.byteLength;
      this.#failures = 0;
      if (this.push(chunk)) {
        this.#waiting = Date.now();
      } else {
        this.#waiting = undefined;
        stream.pause();
      }
    });
    stream.on("error", broken);
    stream.on("close", () => {
      if (this.#done < this.#length) broken(new CutShort(this.#done, this.#length));
    });
    stream.on("end", () => {
      if (this.#done === this.#length) this.push(null);
    });
    if (this.#waiting === undefined) stream.pause();
    else this.#waiting = Date.now();
  }

  /** Requests the rest, after a while, or gives up. */
  #goOn(error: unknown): void {
    this.#body = undefined;
    if (this.destroyed) return;
    if (!mayPass(error) || this.#failures >= this.#calls.location.retries)
      return void this.destroy(asStoreError(error, this.#calls.location) as Error);
    pause(this.#failures++)
      .then(() => this.#again(this.#done))
      .then((body) => {
        if (this.destroyed) body.stream.destroy();
        else if (body.length === this.#length - this.#done) this.#hearFrom(body);
        else {
          body.stream.destroy();
          this.#goOn(new CutShort(this.#done + body.length, this.#length));
        }
      })
      .catch((reason: Error) => this.destroy(reason));
  }
}

/** Bytes `start` to `end` (inclusive) as one buffer; fewer at the end of the object. */
async function readRange(
  calls: S3Calls,
  key: string,
  name: string,
  start: number,
  end: number,
): Promise<Buffer> {
  const { stream } = await openDownload(calls, key, name, { start, end });
  const bytes = Buffer.allocUnsafe(end - start + 1);
  let done = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) done += chunk.copy(bytes, done);
  return bytes.subarray(0, done);
}

export function notStored(name: string): ServiceError {
  return new ServiceError("NOT_FOUND", `No object ${name.slice(0, 64)} is stored.`);
}

function outside(size: number | undefined, name: string): ServiceError {
  return size === undefined
    ? notStored(name)
    : new ServiceError(
        "RANGE_NOT_SATISFIABLE",
        `The content has ${size} bytes; ask for a range inside it.`,
        { size },
      );
}

/**
 * Bytes requested where reading begins or jumps; four times as many each time it goes on, up to the
 * most.
 */
const FIRST = 128 * 2 ** 10;
const MOST = 4 * 2 ** 20;
/** Number of cached windows: several members of an archive are read at a time. */
const KEPT = 6;
/** A gap that is read over rather than jumped. */
const GAP = 64 * 2 ** 10;

interface Window {
  start: number;
  end: number;
  bytes: Promise<Buffer>;
}

/**
 * Random access with few requests: reads are served from windows that grow while reading goes on
 * behind them, so that thousands of small reads in a row are a handful of requests; the next window
 * is requested before it is needed.
 */
export async function openReader(calls: S3Calls, key: string, name: string): Promise<ObjectReader> {
  const size = await calls.head(key);
  if (size === undefined) throw notStored(name);
  return new WindowedReader(size, (start, end) => readRange(calls, key, name, start, end - 1));
}

class WindowedReader implements ObjectReader {
  /** The one used last at the end. */
  #windows: Window[] = [];

  readonly #fetch: (start: number, end: number) => Promise<Buffer>;

  constructor(
    readonly size: number,
    fetch: (start: number, end: number) => Promise<Buffer>,
  ) {
    this.#fetch = fetch;
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    const wanted = Math.max(0, Math.min(buffer.byteLength, this.size - position));
    for (let done = 0; done < wanted;) {
      const window = this.#at(position + done);
      const bytes = await window.bytes;
      const from = position + done - window.start;
      const part = bytes.subarray(from, from + wanted - done);
      // Without this, a server that sends fewer bytes than announced would be asked for ever.
      if (part.byteLength === 0)
        throw new ServiceError(
          "STORE_UNAVAILABLE",
          "The object store returned fewer bytes of an object than expected " +
            `(${window.end - window.start}); try again.`,
        );
      buffer.set(part, done);
      done += part.byteLength;
    }
    return wanted;
  }

  async close(): Promise<void> {
    const closed = this.#windows;
    this.#windows = [];
    await Promise.allSettled(closed.map(({ bytes }) => bytes));
  }

  #at(position: number): Window {
    let window = this.#windows.find(({ start, end }) => position >= start && position < end);
    if (window) {
      this.#windows.push(...this.#windows.splice(this.#windows.indexOf(window), 1));
    } else {
      const before = this.#windows.find(({ end }) => position >= end && position <= end + GAP);
      window = before
        ? this.#load(before.end, 4 * (before.end - before.start), position + 1)
        : this.#load(position, FIRST);
    }
    // Reading has gone on for long: the next window comes while this one is read.
    const { start, end } = window;
    if (
      end - start >= MOST &&
      end < this.size &&
      position - start > MOST / 2 &&
      !this.#windows.some((other) => other.start === end)
    )
      this.#load(end, MOST);
    return window;
  }

  #load(start: number, length: number, least = 0): Window {
    const end = Math.min(this.size, Math.max(least, start + Math.min(MOST, length)));
    const window: Window = { start, end, bytes: this.#fetch(start, end) };
    this.#windows.push(window);
    while (this.#windows.length > KEPT) this.#drop(this.#windows[0]!);
    // A window that failed is requested again by the next read.
    window.bytes.catch(() => this.#drop(window, true));
    return window;
  }

  #drop(window: Window, failed = false): void {
    this.#windows = this.#windows.filter((other) => other !== window);
    if (!failed) spendBuffers(window.end - window.start);
  }
}

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
