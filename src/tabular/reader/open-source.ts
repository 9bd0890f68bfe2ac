import { TabularError } from "../errors.js";
import { decoded, watched, type ForeignBytes } from "./encoding.js";
import { natureOf, sniff, SNIFFED, withoutMark } from "./sniff.js";

/** How the bytes of a text are read. */
export interface TextOptions {
  /** Encoding of the text, by a label of the Encoding standard; default UTF-8. */
  encoding?: string;
  /** Told the first bytes of a text that should be UTF-8 and are not. */
  onForeign?: (found: ForeignBytes) => void;
}

/**
 * The text of a source: gzip is unpacked, a byte order mark dropped, UTF-16 and binary refused, another encoding that
 * is named made UTF-8.
 * @throws TabularError `DATA`, when the first part is asked for
 */
export async function* openSource(source: AsyncIterable<Uint8Array>, { encoding, onForeign }: TextOptions = {}): AsyncGenerator<Uint8Array> {
  if (encoding !== undefined && encoding !== "utf-8") return yield* decoded(unpackedText(source, natureOf), encoding);
  const text = unpackedText(source, sniff);
  if (!onForeign) return yield* withoutMarkOf(text);
  yield* watched(withoutMarkOf(text), 0, onForeign);
}

async function* withoutMarkOf(text: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const part of text) {
    yield isFirst ? withoutMark(part) : part;
    isFirst = false;
  }
}

async function* unpackedText(source: AsyncIterable<Uint8Array>, judge: typeof sniff): AsyncGenerator<Uint8Array> {
  const { head, rest } = await peek(source);
  const nature = judge(head.subarray(0, SNIFFED));
  if (nature === "parquet") throw new TabularError("DATA", "it is Parquet, which cannot be read as a stream: arkgraph schema validate reads it from a file whose name ends in .parquet");
  if (nature === "text") {
    yield head;
    yield* rest;
    return;
  }
  const unpacked = await peek(gunzip(head, rest));
  if (judge(unpacked.head.subarray(0, SNIFFED)) !== "text") throw new TabularError("DATA", "what is compressed in it is not a text table");
  yield unpacked.head;
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
