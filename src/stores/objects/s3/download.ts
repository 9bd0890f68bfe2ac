import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import { pause, type Body, type S3Calls } from "./calls.js";
import { asStoreError, CutShort, mayPass, Silence } from "./faults.js";

/** Bytes that wait to be read: what a connection brings while the reader is busy. */
const AHEAD = 256 * 2 ** 10;

/**
 * Streams an object, or a range of it. Where the server cuts an answer short the rest is asked for by range; the stream
 * ends well only when every byte was delivered, once.
 * @param end inclusive
 * @throws ServiceError `NOT_FOUND`, `RANGE_NOT_SATISFIABLE`, `STORE_UNAVAILABLE`
 */
export async function download(calls: S3Calls, key: string, name: string, range?: { start: number; end: number }): Promise<Readable> {
  if (range && (range.start > range.end || range.start < 0)) throw outside(await calls.head(key), name);
  const first = await calls.get(key, range?.start, range?.end);
  if (first === "outside") throw outside(await calls.head(key), name);
  if (!first) throw notStored(name);
  let current = first;
  const again = async (from: number): Promise<Body> => {
    const body = await calls.get(key, from, (range?.start ?? 0) + first.length - 1);
    if (!body || body === "outside") throw notStored(name);
    return (current = body);
  };
  const stream = Readable.from(delivered(calls, first, range?.start ?? 0, again), { objectMode: false, highWaterMark: AHEAD });
  // Also when nothing of it was read.
  stream.once("close", () => current.stream.destroy());
  return stream;
}

async function* delivered(calls: S3Calls, first: Body, start: number, again: (from: number) => Promise<Body>): AsyncGenerator<Buffer> {
  const { retries, timeout } = calls.location;
  let body = first;
  let done = 0;
  for (let failures = 0; done < first.length; ) {
    try {
      for await (const chunk of heard(body.stream, timeout)) {
        if (done + chunk.byteLength > first.length) throw new CutShort(done + chunk.byteLength, first.length);
        done += chunk.byteLength;
        failures = 0;
        yield chunk;
      }
      if (done < first.length) throw new CutShort(done, first.length);
    } catch (error) {
      if (!mayPass(error) || failures >= retries) throw asStoreError(error, calls.location);
      await pause(failures++);
      body = await again(start + done);
    }
  }
}

/** Chunks as they come; ends with {@link Silence} when the server does not send what somebody waits for. */
async function* heard(stream: IncomingMessage, patience: number): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const timer = setTimeout(() => stream.destroy(new Silence(patience)), patience);
      const { done, value } = await chunks.next().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}

/** Bytes `start` to `end` (inclusive) as one buffer; fewer at the end of the object. */
export async function readRange(calls: S3Calls, key: string, name: string, start: number, end: number): Promise<Buffer> {
  const stream = await download(calls, key, name, { start, end });
  const bytes = Buffer.allocUnsafe(end - start + 1);
  let done = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) done += chunk.copy(bytes, done);
  return bytes.subarray(0, done);
}

export function notStored(name: string): ServiceError {
  return new ServiceError("NOT_FOUND", `No object ${name.slice(0, 64)} is stored.`);
}

function outside(size: number | undefined, name: string): ServiceError {
  return size === undefined ? notStored(name) : new ServiceError("RANGE_NOT_SATISFIABLE", `The content has ${size} bytes; ask for a range inside it.`, { size });
}
