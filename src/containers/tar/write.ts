/** A file to put into an archive. */
export interface TarFile {
  /** Relative, with `/` between its parts. */
  path: string;
  size: number;
  /** Exactly `size` bytes. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

const BLOCK = 512;
/** What eleven octal digits hold; larger sizes stand in an extended header. */
const LARGEST = 0o77777777777;

/**
 * Files as an archive in the pax interchange format (POSIX.1-2017, pax, "EXTENDED DESCRIPTION"), each readable and
 * executable for everybody, with an entry for each folder before what is in it.
 * @throws Error when a file has another size than it said
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
    if (written !== size) throw new Error(`${path} has not the ${size} bytes that it is said to have`);
    yield new Uint8Array(padding(size));
  }
  yield new Uint8Array(2 * BLOCK);
}

/** An archive of empty folders, with their modes. */
export function folders(modes: Readonly<Record<string, number>>): Uint8Array {
  return Buffer.concat([...Object.entries(modes).map(([name, mode]) => header(name, 0, "5", mode)), new Uint8Array(2 * BLOCK)]);
}

export const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function* entry(path: string, size: number, type: "0" | "5"): Generator<Uint8Array> {
  const records = [...(Buffer.byteLength(path) > 100 || /[^ -~]/.test(path) ? [paxRecord("path", path)] : []), ...(size > LARGEST ? [paxRecord("size", String(size))] : [])].join("");
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
  const octal = (value: number, at: number, length: number) => block.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  block.write(name, 0, 100, "latin1");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.write(" ".repeat(8), 148, "latin1");
  block.write(type, 156, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  octal(block.reduce((sum, byte) => sum + byte, 0), 148, 7);
  return block;
}
