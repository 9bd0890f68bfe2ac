import { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import { spendBuffers } from "../../../memory.js";
import type { ObjectReader } from "../port.js";
import type { S3Calls } from "./calls.js";
import { asStoreError, type Body, CutShort, mayPass, pause, Silence } from "./faults.js";

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
