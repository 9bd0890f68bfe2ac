import { ByteSource } from "./byte-source.js";
import { padding } from "./write.js";

/** The archive is none, or asks for more than a reader gives. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/** One entry; its content is read before the next entry is asked for, or passed over. */
export interface TarEntry {
  /** As it stands there; null when it is no UTF-8. */
  name: string | null;
  type: "file" | "folder" | "link" | "other";
  size: number;
  content(): AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** Longest extended header: a path has 4096 bytes at most, extended attributes of a file some more. */
const LONGEST_HEADER = 2 ** 20;

/** What extended headers say of the next entry. */
interface Extended { path?: string | null; size?: number }

/**
 * Reads an archive in ustar, pax or GNU format in constant memory. The entries are a stranger's: nothing of them is
 * believed but their sizes, which bound what is read.
 * @throws TarError
 */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = new ByteSource(bytes, () => new TarError("the archive ends in the middle"));
  let extended: Extended = {};
  try {
    for (;;) {
      const block = await source.take(BLOCK);
      if (block.every((byte) => byte === 0)) return;
      const { name, size, type } = readHeader(block);
      if (type === "x" || type === "L" || type === "K" || type === "g") {
        if (size > LONGEST_HEADER) throw new TarError(`an extended header has ${size} bytes`);
        const body = await source.take(size);
        await source.skip(padding(size));
        if (type === "x") extended = { ...extended, ...readPax(body) };
        if (type === "L") extended.path = textOf(untilNul(body));
        continue;
      }
      const actual = extended.size ?? size;
      const left = source.limited(actual);
      yield { name: extended.path !== undefined ? extended.path : name, type: typeOf(type), size: actual, content: () => left.chunks() };
      await source.skip(left.remaining + padding(actual));
      extended = {};
    }
  } finally {
    await source.close();
  }
}

function readHeader(block: Uint8Array): { name: string | null; size: number; type: string } {
  let sum = 8 * 0x20;
  for (let index = 0; index < BLOCK; index++) if (index < 148 || index >= 156) sum += block[index]!;
  if (numberAt(block, 148, 8) !== sum) throw new TarError("a header's checksum is wrong");
  const short = textOf(untilNul(block.subarray(0, 100)));
  const isPosix = Buffer.from(block.subarray(257, 263)).toString("latin1") === "ustar\0";
  const prefix = isPosix ? textOf(untilNul(block.subarray(345, 500))) : "";
  const name = short === null || prefix === null ? null : prefix === "" ? short : `${prefix}/${short}`;
  return { name, size: numberAt(block, 124, 12), type: String.fromCharCode(block[156]!) };
}

/** Octal digits, or GNU's base 256 where the first bit is set. */
function numberAt(block: Uint8Array, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  let value: number;
  if (field[0]! & 0x80) value = field.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 0x7f : byte), 0);
  else {
    const digits = Buffer.from(untilNul(field)).toString("latin1").trim();
    if (!/^[0-7]*$/.test(digits)) throw new TarError("a number of a header is none");
    value = digits === "" ? 0 : Number.parseInt(digits, 8);
  }
  if (!Number.isSafeInteger(value)) throw new TarError("a number of a header is too large");
  return value;
}

function readPax(body: Uint8Array): Extended {
  const found: Extended = {};
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(Buffer.from(body.subarray(at, space)).toString("latin1"));
    if (!Number.isSafeInteger(length) || length <= space - at || at + length > body.length) throw new TarError("an extended header is malformed");
    const record = body.subarray(space + 1, at + length - 1);
    const equals = record.indexOf(0x3d);
    const key = Buffer.from(record.subarray(0, Math.max(0, equals))).toString("latin1");
    const value = record.subarray(equals + 1);
    if (key === "path") found.path = textOf(value);
    if (key === "size") {
      found.size = Number(Buffer.from(value).toString("latin1"));
      if (!Number.isSafeInteger(found.size) || found.size < 0) throw new TarError("a size of an extended header is none");
    }
    at += length;
  }
  return found;
}

const typeOf = (type: string): TarEntry["type"] => (type === "0" || type === "\0" || type === "7" ? "file" : type === "5" ? "folder" : type === "1" || type === "2" ? "link" : "other");

function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
