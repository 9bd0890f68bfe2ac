/**
 * Bytes that arrive in chunks of any size, read in the sizes that the reader wants. Archives are
 * read by own code because tar-stream accepts malformed headers and changes names that are not
 * UTF-8; the archive is that of an untrusted run (decision 35).
 */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  readonly #early: () => Error;

  /** @param early makes the error for a source that ends while more is wanted */
  constructor(source: AsyncIterable<Uint8Array>, early: () => Error) {
    this.#early = early;

    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Exactly so many, as one chunk. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count;) {
      const part = await this.#some(count - at);
      bytes.set(part, at);
      at += part.byteLength;
    }
    return bytes;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) left -= (await this.#some(left)).byteLength;
  }

  /**
   * The next bytes, so many at most, handed out as they come; `remaining` counts the bytes that
   * were not read.
   */
  limited(count: number): { readonly remaining: number; chunks(): AsyncIterable<Uint8Array> } {
    let remaining = count;
    const some = (most: number) => this.#some(most);
    return {
      get remaining() {
        return remaining;
      },
      async *chunks() {
        while (remaining > 0) {
          const part = await some(remaining);
          remaining -= part.byteLength;
          yield part;
        }
      },
    };
  }

  /** Tells the sender that the reader has stopped. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #some(most: number): Promise<Uint8Array> {
    while (this.#held.byteLength === 0) {
      const next = await this.#chunks.next();
      if (next.done) throw this.#early();
      this.#held = next.value;
    }
    const part = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(part.byteLength);
    return part;
  }
}

/** A file to put into an archive. */
export interface TarFile {
  /** Relative, with `/` between its parts. */
  path: string;
  size: number;
  /** Exactly `size` bytes. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

const BLOCK = 512;
/** Largest size in eleven octal digits; larger sizes stand in an extended header. */
const LARGEST = 0o77777777777;

/**
 * Files as an archive in the pax interchange format (POSIX.1-2017, pax, "EXTENDED DESCRIPTION"),
 * each readable and executable for all users, with an entry for each folder before its content.
 * @throws Error when the size of a file differs from the one given for it
 */
export async function* writeTar(files: AsyncIterable<TarFile>): AsyncGenerator<Uint8Array> {
  const known = new Set<string>();
  for await (const { path, size, open } of files) {
    const parts = path.split("/").slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) {
      const folder = `${parts.slice(0, depth).join("/")}/`;
      if (known.has(folder)) continue;
      known.add(folder);
      yield* entry(folder, 0, "5");
    }
    yield* entry(path, size, "0");
    let written = 0;
    for await (const chunk of await open()) {
      written += chunk.byteLength;
      if (written > size) break;
      yield chunk;
    }
    if (written !== size)
      throw new Error(`${path} has another size than the ${size} bytes stated for it`);
    yield new Uint8Array(padding(size));
  }
  yield new Uint8Array(2 * BLOCK);
}

/** An archive of empty folders, with their modes. */
export function folders(modes: Readonly<Record<string, number>>): Uint8Array {
  return Buffer.concat([
    ...Object.entries(modes).map(([name, mode]) => header(name, 0, "5", mode)),
    new Uint8Array(2 * BLOCK),
  ]);
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function* entry(path: string, size: number, type: "0" | "5"): Generator<Uint8Array> {
  const records = [
    ...(Buffer.byteLength(path) > 100 || /[^ -~]/.test(path) ? [paxRecord("path", path)] : []),
    ...(size > LARGEST ? [paxRecord("size", String(size))] : []),
  ].join("");
  if (records !== "") {
    const bytes = Buffer.from(records);
    yield header("pax", bytes.byteLength, "x", 0o444);
    yield bytes;
    yield new Uint8Array(padding(bytes.byteLength));
  }
  yield header(records === "" ? path : "long", size > LARGEST ? 0 : size, type, 0o555);
}

/** Its own length stands before it, and counts as well. */
function paxRecord(name: string, value: string): string {
  const rest = Buffer.byteLength(` ${name}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length !== String(rest).length) length = rest + String(length).length;
  return `${length} ${name}=${value}\n`;
}

function header(name: string, size: number, type: string, mode: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  block.write(name, 0, 100, "latin1");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.write(" ".repeat(8), 148, "latin1");
  block.write(type, 156, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

/** The bytes are no archive, or need more than the reader allows. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/** One entry; its content is read before the next entry is requested, or passed over. */
interface TarEntry {
  /** As it stands there; null when it is no UTF-8. */
  name: string | null;
  type: "file" | "folder" | "link" | "other";
  size: number;
  content(): AsyncIterable<Uint8Array>;
}

const READ_BLOCK = 512;
/**
 * Longest extended header: a path has 4096 bytes at most, extended attributes of a file some more.
 */
const LONGEST_HEADER = 2 ** 20;

/** The values of extended headers for the next entry. */
interface Extended {
  path?: string | null;
  size?: number;
}

/**
 * Reads an archive in ustar, pax or GNU format in constant memory. The entries are untrusted: only
 * their sizes are used, which bound how much is read.
 * @throws TarError
 */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = new ByteSource(bytes, () => new TarError("the archive is truncated"));
  let extended: Extended = {};
  try {
    for (;;) {
      const block = await source.take(READ_BLOCK);
      if (block.every((byte) => byte === 0)) return;
      const { name, size, type } = readHeader(block);
      if (type === "x" || type === "L" || type === "K" || type === "g") {
        if (size > LONGEST_HEADER)
          throw new TarError(`an extended header has ${size} bytes, more than ${LONGEST_HEADER}`);
        const body = await source.take(size);
        await source.skip(padding(size));
        if (type === "x") extended = { ...extended, ...readPax(body) };
        if (type === "L") extended.path = textOf(untilNul(body));
        continue;
      }
      const actual = extended.size ?? size;
      const left = source.limited(actual);
      yield {
        name: extended.path !== undefined ? extended.path : name,
        type: typeOf(type),
        size: actual,
        content: () => left.chunks(),
      };
      await source.skip(left.remaining + padding(actual));
      extended = {};
    }
  } finally {
    await source.close();
  }
}

function readHeader(block: Uint8Array): { name: string | null; size: number; type: string } {
  let sum = 8 * 0x20;
  for (let index = 0; index < READ_BLOCK; index++)
    if (index < 148 || index >= 156) sum += block[index]!;
  if (numberAt(block, 148, 8) !== sum) throw new TarError("the checksum of a header is wrong");
  const short = textOf(untilNul(block.subarray(0, 100)));
  const isPosix = Buffer.from(block.subarray(257, 263)).toString("latin1") === "ustar\0";
  const prefix = isPosix ? textOf(untilNul(block.subarray(345, 500))) : "";
  const name =
    short === null || prefix === null ? null : prefix === "" ? short : `${prefix}/${short}`;
  return { name, size: numberAt(block, 124, 12), type: String.fromCharCode(block[156]!) };
}

/** Octal digits, or GNU's base 256 where the first bit is set. */
function numberAt(block: Uint8Array, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  let value: number;
  if (field[0]! & 0x80)
    value = field.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 0x7f : byte), 0);
  else {
    const digits = Buffer.from(untilNul(field)).toString("latin1").trim();
    if (!/^[0-7]*$/.test(digits)) throw new TarError("a header contains an invalid number");
    value = digits === "" ? 0 : Number.parseInt(digits, 8);
  }
  if (!Number.isSafeInteger(value))
    throw new TarError("a header contains a number that is too large");
  return value;
}

function readPax(body: Uint8Array): Extended {
  const found: Extended = {};
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at);
    const length =
      space < 0 ? Number.NaN : Number(Buffer.from(body.subarray(at, space)).toString("latin1"));
    if (!Number.isSafeInteger(length) || length <= space - at || at + length > body.length)
      throw new TarError("an extended header is malformed");
    const record = body.subarray(space + 1, at + length - 1);
    const equals = record.indexOf(0x3d);
    const key = Buffer.from(record.subarray(0, Math.max(0, equals))).toString("latin1");
    const value = record.subarray(equals + 1);
    if (key === "path") found.path = textOf(value);
    if (key === "size") {
      found.size = Number(Buffer.from(value).toString("latin1"));
      if (!Number.isSafeInteger(found.size) || found.size < 0)
        throw new TarError("an extended header contains an invalid size");
    }
    at += length;
  }
  return found;
}

const typeOf = (type: string): TarEntry["type"] =>
  type === "0" || type === "\0" || type === "7"
    ? "file"
    : type === "5"
      ? "folder"
      : type === "1" || type === "2"
        ? "link"
        : "other";

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
