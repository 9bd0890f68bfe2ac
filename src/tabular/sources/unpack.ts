/** Packed bytes, unpacked part by part: gzip, Zstandard, bzip2 and xz. */
import type { ReadableStream } from "node:stream/web";
import { Decompress } from "fzstd";
import { TabularError } from "../limits.js";

/** A way to pack bytes, as messages name it. */
type Packing = "gzip" | "Zstandard" | "bzip2" | "xz";

type Bytes = AsyncIterable<Uint8Array>;

const MAGIC: readonly (readonly [Packing, readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["Zstandard", [0x28, 0xb5, 0x2f, 0xfd]],
  ["bzip2", [0x42, 0x5a, 0x68]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
];

export const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, at) => bytes[at] === byte);

/** How bytes are packed, by the first of them; `undefined` for bytes that are not. */
const packingOf = (head: Uint8Array): Packing | undefined =>
  MAGIC.find(([, magic]) => startsWith(head, magic))?.[0];

export const isPacked = (head: Uint8Array): boolean => packingOf(head) !== undefined;

/** Reads at least `size` bytes, where there are so many; they stay part of `bytes`. */
export async function peek(
  source: Bytes,
  size: number,
): Promise<{ head: Uint8Array; rest: Bytes; bytes: Bytes }> {
  const iterator = source[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < size) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    // A copy: a source may fill its buffer anew for the next part.
    head = Buffer.concat([head, value]);
  }
  const rest: Bytes = { [Symbol.asyncIterator]: () => iterator };
  return { head, rest, bytes: chained(head, rest) };
}

async function* chained(head: Uint8Array, rest: Bytes): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}

/**
 * The bytes of a source, unpacked where they are packed.
 * @throws TabularError `DATA`, when read, for bytes that are damaged or cut short
 */
export async function* unpacked(source: Bytes): AsyncGenerator<Uint8Array> {
  const { head, bytes } = await peek(source, 6);
  const packing = packingOf(head);
  yield* packing === undefined ? bytes : unpack(packing, bytes);
}

/** @throws TabularError `DATA` */
export async function* unpack(packing: Packing, bytes: Bytes): AsyncGenerator<Uint8Array> {
  let systemError: unknown;
  const read = async function* (): AsyncGenerator<Uint8Array> {
    try {
      // Copies, because streams read ahead and a source may use its buffer again.
      for await (const part of bytes) yield Buffer.from(part);
    } catch (error) {
      systemError = error;
      throw error;
    }
  };
  try {
    yield* UNPACKERS[packing](read());
  } catch (cause) {
    if (systemError !== undefined) throw systemError;
    const reason = (cause as Error).message;
    throw new TabularError("DATA", `its ${packing} data is damaged or cut short (${reason})`, {
      cause,
    });
  }
}

const UNPACKERS: Record<Packing, (bytes: AsyncGenerator<Uint8Array>) => Bytes> = {
  gzip: gunzip,
  Zstandard: unzstd,
  bzip2: bunzip2,
  xz: unxz,
};

async function* gunzip(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const [{ createGunzip }, { Readable }] = await Promise.all([
    import("node:zlib"),
    import("node:stream"),
  ]);
  const input = Readable.from(bytes);
  const output = createGunzip({ chunkSize: 256 << 10 });
  input.on("error", (error) => output.destroy(error));
  input.pipe(output);
  try {
    yield* output;
  } finally {
    input.destroy();
  }
}

/** Four bytes may stand for a block of 128 KiB, and all blocks of a part are unpacked at once. */
const ZSTD_PART = 512;

/** Bytes that must be in memory to unpack what follows; `zstd` accepts no more by default. */
const MAX_WINDOW = 128 << 20;

async function* unzstd(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const { head, bytes: all } = await peek(bytes, ZSTD_HEAD);
  const unpack = zstdParts(head);
  for await (const part of all) yield* unpack(part, false);
  yield* unpack(new Uint8Array(), true);
}

/** Unpacks bytes that are in memory. @throws RangeError for more than `most` of them */
export function unzstdWhole(packed: Uint8Array, most: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (const part of zstdParts(packed)(packed, true)) {
    if ((size += part.length) > most) throw new RangeError(`it unpacks to more than ${most} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Unpacks part by part. @param head the first bytes */
function zstdParts(head: Uint8Array): (part: Uint8Array, isLast: boolean) => Generator<Uint8Array> {
  if (zstdWindow(head) > MAX_WINDOW)
    throw new Error(`it needs a window of more than ${MAX_WINDOW >> 20} MiB`);
  const found: Uint8Array[] = [];
  const stream = new Decompress((part) => found.push(part));
  return function* (part, isLast) {
    for (let at = 0; at < part.length; at += ZSTD_PART) {
      stream.push(part.subarray(at, at + ZSTD_PART));
      yield* found.splice(0);
    }
    if (isLast) stream.push(new Uint8Array(), true);
    yield* found.splice(0);
  };
}

/** Bytes that the header of a frame has at most. */
const ZSTD_HEAD = 18;

/** The size of the window that a frame asks for (RFC 8878, section 3.1.1.1). */
function zstdWindow(head: Uint8Array): number {
  if (head.length < ZSTD_HEAD) return 0;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const descriptor = view.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  if (!isSingle) {
    const window = view.getUint8(5);
    const base = 2 ** (10 + (window >> 3));
    return base + (base / 8) * (window & 7);
  }
  const at = 5 + [0, 1, 2, 4][descriptor & 3]!;
  switch (descriptor >> 6) {
    case 0:
      return view.getUint8(at);
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

async function* unxz(bytes: Bytes): AsyncGenerator<Uint8Array> {
  const [{ default: xz }, { Readable }] = await Promise.all([
    import("xz-decompress"),
    import("node:stream"),
  ]);
  const packed: ReadableStream = Readable.toWeb(Readable.from(bytes));
  yield* new xz.XzReadableStream(packed as globalThis.ReadableStream) as ReadableStream<Uint8Array>;
}

/** A packed block of bzip2 has at most so many bytes: 900 kB that could not be made smaller. */
const BZIP2_BLOCK = 1 << 20;
/** Bytes of one part. */
const PART = 64 << 10;

/**
 * Block by block: the stream of this package unpacks all blocks of a part at once, and 40 bytes may
 * be a block of 46 MB.
 */
async function* bunzip2(bytes: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [{ default: bzip2 }, { default: bitIterator }] = await Promise.all([
    import("unbzip2-stream/lib/bzip2.js"),
    import("unbzip2-stream/lib/bit_iterator.js"),
  ]);
  const pending: Uint8Array[] = [];
  let received = 0;
  let isWhole = false;
  const fill = async (until: number): Promise<void> => {
    while (!isWhole && received < until) {
      const { done, value } = await bytes.next();
      isWhole = done === true;
      if (value === undefined) continue;
      pending.push(value);
      received += value.length;
    }
  };
  await fill(BZIP2_BLOCK);
  const bits = bitIterator(() => pending.shift() ?? endOfData());
  while (bits.bytesRead < received) {
    const size = 100_000 * bzip2.header(bits);
    const block = new Int32Array(size);
    for (let crc: number | null = 0; crc !== null;) {
      await fill(bits.bytesRead + BZIP2_BLOCK);
      const parts: Buffer[] = [];
      let part = Buffer.allocUnsafe(PART);
      let used = 0;
      const put = (byte: number): void => {
        if (used === PART) {
          parts.push(part);
          part = Buffer.allocUnsafe(PART);
          used = 0;
        }
        part[used++] = byte;
      };
      crc = bzip2.decompress(bits, put, block, size, crc);
      yield* parts;
      yield part.subarray(0, used);
    }
    await fill(bits.bytesRead + BZIP2_BLOCK);
  }
}

const endOfData = (): never => {
  throw new Error("unexpected end of file");
};
