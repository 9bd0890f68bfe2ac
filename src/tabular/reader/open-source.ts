import { TabularError } from "../errors.js";
import { sniff, SNIFFED, withoutMark } from "./sniff.js";

/**
 * The text of a source: gzip is unpacked, a byte order mark dropped, UTF-16 and binary refused.
 * @throws TabularError `DATA`, when the first part is asked for
 */
export async function* openSource(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { head, rest } = await peek(source);
  const nature = sniff(head.subarray(0, SNIFFED));
  if (nature === "parquet") throw new TabularError("DATA", "it is Parquet, which cannot be read as a stream: arkgraph schema validate reads it from a file whose name ends in .parquet");
  if (nature === "text") {
    yield withoutMark(head);
    yield* rest;
    return;
  }
  const unpacked = await peek(gunzip(head, rest));
  if (sniff(unpacked.head.subarray(0, SNIFFED)) !== "text") throw new TabularError("DATA", "what is compressed in it is not a text table");
  yield withoutMark(unpacked.head);
  yield* unpacked.rest;
}

/** Reads until there is enough to judge; what was read stays part of `head`. */
async function peek(source: AsyncIterable<Uint8Array>): Promise<{ head: Uint8Array; rest: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < SNIFFED) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    // A copy: a source may fill its buffer anew for the next part.
    head = Buffer.concat([head, value]);
  }
  return { head, rest: { [Symbol.asyncIterator]: () => iterator } };
}

async function* gunzip(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [{ createGunzip }, { Readable }] = await Promise.all([import("node:zlib"), import("node:stream")]);
  const input = Readable.from(chained(head, rest));
  const unpacked = createGunzip({ chunkSize: 256 << 10 });
  input.on("error", (error) => unpacked.destroy(error));
  input.pipe(unpacked);
  try {
    yield* unpacked;
  } catch (cause) {
    if (!String((cause as NodeJS.ErrnoException).code).startsWith("Z_")) throw cause;
    throw new TabularError("DATA", `its gzip data is damaged or cut short (${(cause as Error).message})`, { cause });
  } finally {
    input.destroy();
  }
}

async function* chained(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  // Copies, because the stream reads ahead and a source may reuse its buffer.
  for await (const part of rest) yield Buffer.from(part);
}
