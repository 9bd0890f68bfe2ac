import { Readable } from "node:stream";
import yauzl from "yauzl";
import { spendBuffers } from "../../../memory.js";
import type { ObjectReader } from "../../../storage/objects/port.js";

/** Read ahead: a directory of 200,000 members is read in small steps. */
const WINDOW = 256 * 1024;
/** Random access reads little ahead. */
const JUMP = 8 * 1024;

/** A stored object as yauzl reads it. Small reads are served from one moving window. */
export class ObjectAccess extends yauzl.RandomAccessReader {
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;
  #commentLengthAt = -1;

  readonly #reader: ObjectReader;

  constructor(reader: ObjectReader) {
    super();
    this.#reader = reader;
  }

  /**
   * Shows yauzl the archive without its comment, in which yauzl would stop at the first signature.
   * @param record where the end record is
   * @returns the visible size
   */
  endAt(record: number): number {
    this.#commentLengthAt = record + 20;
    return record + 22;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.bytes(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        for (const at of [this.#commentLengthAt, this.#commentLengthAt + 1])
          if (this.#commentLengthAt >= 0 && at >= position && at < position + length)
            buffer[offset + at - position] = 0;
        callback(null, bytes.byteLength);
      },
      (error: Error) => callback(error),
    );
  }

  /** At most `length` bytes from `position`; fewer at the end of the object. */
  async bytes(position: number, length: number): Promise<Buffer> {
    const inWindow = position - this.#windowStart;
    if (inWindow >= 0 && inWindow + length <= this.#window.byteLength)
      return this.#window.subarray(inWindow, inWindow + length);
    if (length > WINDOW) {
      const large = Buffer.allocUnsafe(length);
      return large.subarray(0, await this.#reader.read(large, position));
    }
    const goesOn = inWindow >= 0 && inWindow <= this.#window.byteLength + JUMP;
    const window = Buffer.allocUnsafe(goesOn ? WINDOW : Math.max(length, JUMP));
    const read = await this.#reader.read(window, position);
    this.#window = window.subarray(0, read);
    this.#windowStart = position;
    // The previous window is garbage.
    spendBuffers(window.byteLength);
    return this.#window.subarray(0, Math.min(length, read));
  }

  /** Bytes `start` to `end` (exclusive) in chunks. */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.chunks(start, end), { objectMode: false });
  }

  /**
   * @param within every chunk is in this buffer, and is invalid when the next is requested;
   * otherwise each has its own buffer
   */
  async *chunks(start: number, end: number, within?: Buffer): AsyncGenerator<Buffer> {
    for (let at = start; at < end;) {
      const chunk = within
        ? within.subarray(0, end - at)
        : Buffer.allocUnsafe(Math.min(WINDOW, end - at));
      const read = await this.#reader.read(chunk, at);
      if (read === 0) return;
      yield chunk.subarray(0, read);
      at += read;
    }
  }

  /** The archive closes the reader, once. */
  override close(callback: (error: Error | null) => void): void {
    setImmediate(callback, null);
  }
}
