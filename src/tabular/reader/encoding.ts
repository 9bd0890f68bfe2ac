import { isUtf8 } from "node:buffer";

/** The first bytes of a text that are not UTF-8. */
export interface ForeignBytes {
  byte: number;
  /** Position in the text, after unpacking. */
  offset: number;
  /** The word around it, read as Latin-1; absent where that is no word either. */
  word?: string;
}

/** Text in another encoding, as UTF-8. @param encoding a label of the Encoding standard, `latin1` for example */
export async function* decoded(text: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  for await (const part of text) {
    const characters = decoder.decode(part, { stream: true });
    if (characters !== "") yield Buffer.from(characters);
  }
  const last = decoder.decode();
  if (last !== "") yield Buffer.from(last);
}

/** Passes the text on, and reports the first bytes in it that are not UTF-8. @param offset of the text in its source */
export async function* watched(text: AsyncIterable<Uint8Array>, offset: number, report: (found: ForeignBytes) => void): AsyncGenerator<Uint8Array> {
  let start = offset;
  // The beginning of a character that goes on in the next part.
  let carried = Buffer.alloc(0);
  let found: ForeignBytes | undefined;
  for await (const part of text) {
    if (!found) {
      const bytes = carried.length === 0 ? Buffer.from(part.buffer, part.byteOffset, part.byteLength) : Buffer.concat([carried, part]);
      const end = completeEnd(bytes, bytes.length);
      if (isUtf8(bytes.subarray(0, end))) {
        carried = Buffer.from(bytes.subarray(end));
        start += end;
      } else report((found = foreignIn(bytes, start)));
    }
    yield part;
  }
  if (!found && carried.length > 0) report({ byte: carried[0]!, offset: start });
}

/** Where the last whole character of the first `length` bytes ends. */
function completeEnd(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? length - back : length;
  }
  return length;
}

function foreignIn(bytes: Buffer, start: number): ForeignBytes {
  // Of all beginnings those up to the place are UTF-8, and the longer ones are not.
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isUtf8(bytes.subarray(0, completeEnd(bytes, middle)))) good = middle;
    else bad = middle;
  }
  const at = completeEnd(bytes, good);
  const word = wordAround(bytes, at);
  return { byte: bytes[at]!, offset: start + at, ...(word === undefined ? {} : { word }) };
}

/** Characters shown on either side. */
const AROUND = 20;

function wordAround(bytes: Buffer, at: number): string | undefined {
  const isLetter = (byte: number | undefined) => byte !== undefined && (byte >= 0xa0 || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a));
  if (!isLetter(bytes[at])) return undefined;
  let [from, to] = [at, at + 1];
  while (from > 0 && at - from < AROUND && isLetter(bytes[from - 1])) from--;
  while (to < bytes.length && to - at < AROUND && isLetter(bytes[to])) to++;
  return bytes.toString("latin1", from, to);
}
