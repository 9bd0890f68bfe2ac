import { ServiceError } from "../../../errors.js";
import { spendBuffers } from "../../../memory.js";
import type { ObjectReader } from "../port.js";
import type { S3Calls } from "./calls.js";
import { notStored, readRange } from "./download.js";

/** Bytes asked for where reading begins or jumps; four times as many each time it goes on, up to the most. */
const FIRST = 128 * 2 ** 10;
const MOST = 4 * 2 ** 20;
/** Windows kept: several members of an archive are read at a time. */
const KEPT = 6;
/** A gap that is read over rather than jumped. */
const GAP = 64 * 2 ** 10;

interface Window { start: number; end: number; bytes: Promise<Buffer> }

/**
 * Random access with few requests: what is read lies in windows that grow while reading goes on behind them, so that
 * thousands of small reads in a row are a handful of requests; the next window is on its way before it is needed.
 */
export async function openReader(calls: S3Calls, key: string, name: string): Promise<ObjectReader> {
  const size = await calls.head(key);
  if (size === undefined) throw notStored(name);
  return new WindowedReader(size, (start, end) => readRange(calls, key, name, start, end - 1));
}

class WindowedReader implements ObjectReader {
  /** The one used last at the end. */
  private windows: Window[] = [];

  constructor(readonly size: number, private readonly fetch: (start: number, end: number) => Promise<Buffer>) {}

  async read(buffer: Uint8Array, position: number): Promise<number> {
    const wanted = Math.max(0, Math.min(buffer.byteLength, this.size - position));
    for (let done = 0; done < wanted; ) {
      const window = this.at(position + done);
      const bytes = await window.bytes;
      const from = position + done - window.start;
      const piece = bytes.subarray(from, from + wanted - done);
      // Without this a server that gives fewer bytes than it says would be asked for ever.
      if (piece.byteLength === 0) throw new ServiceError("STORE_UNAVAILABLE", `The object store gave fewer bytes of an object than it has (${window.end - window.start} expected); try again.`);
      buffer.set(piece, done);
      done += piece.byteLength;
    }
    return wanted;
  }

  async close(): Promise<void> {
    const closed = this.windows;
    this.windows = [];
    await Promise.allSettled(closed.map(({ bytes }) => bytes));
  }

  private at(position: number): Window {
    let window = this.windows.find(({ start, end }) => position >= start && position < end);
    if (window) {
      this.windows.push(...this.windows.splice(this.windows.indexOf(window), 1));
    } else {
      const before = this.windows.find(({ end }) => position >= end && position <= end + GAP);
      window = before ? this.load(before.end, 4 * (before.end - before.start), position + 1) : this.load(position, FIRST);
    }
    // Reading has gone on for long: the next window comes while this one is read.
    const { start, end } = window;
    if (end - start >= MOST && end < this.size && position - start > MOST / 2 && !this.windows.some((other) => other.start === end)) this.load(end, MOST);
    return window;
  }

  private load(start: number, length: number, least = 0): Window {
    const end = Math.min(this.size, Math.max(least, start + Math.min(MOST, length)));
    const window: Window = { start, end, bytes: this.fetch(start, end) };
    this.windows.push(window);
    while (this.windows.length > KEPT) this.drop(this.windows[0]!);
    // One that failed is asked for again by the next read.
    window.bytes.catch(() => this.drop(window, true));
    return window;
  }

  private drop(window: Window, failed = false): void {
    this.windows = this.windows.filter((other) => other !== window);
    if (!failed) spendBuffers(window.end - window.start);
  }
}
