import { TabularError, UTF_8 } from "../limits.js";
import { peek, startsWith as starts, unpack } from "../sources/unpack.js";

/** A byte that is no part of UTF-8, for what cannot be decoded: the reader then finds its place. */
const FOREIGN = Buffer.of(0xff);

/**
 * Text in another encoding, as UTF-8; what is not in that encoding becomes {@link FOREIGN}.
 * @param encoding a label of the Encoding standard, `latin1` for example
 */
async function* decoded(
  text: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  // Some encodings can write the replacement character itself; this one says whether it was.
  let strict: TextDecoder | undefined = new TextDecoder(encoding, { fatal: true });
  const step = (part?: Uint8Array): Uint8Array => {
    const options = { stream: part !== undefined };
    const characters = decoder.decode(part, options);
    try {
      strict?.decode(part, options);
    } catch {
      strict = undefined;
    }
    if (strict) return Buffer.from(characters);
    return Buffer.concat(
      characters
        .split("\ufffd")
        .flatMap((piece, index) => (index === 0 ? [] : [FOREIGN]).concat(Buffer.from(piece))),
    );
  };
  for await (const part of text) yield step(part);
  yield step();
}

/** What the first bytes of a source say it is. */
type Nature = "text" | "gzip" | "parquet";

/** Bytes that are inspected before reading. */
const SNIFFED = 4096;

/** Control characters among the first bytes, from which on a file without NUL is no text either. */
const CONTROL_SHARE = 0.1;

/** What the beginning of a source says of text in any encoding. */
function natureOf(head: Uint8Array): Nature {
  if (starts(head, [0x1f, 0x8b])) return "gzip";
  return starts(head, [0x50, 0x41, 0x52, 0x31]) ? "parquet" : "text";
}

/**
 * Inspects the beginning of a source.
 * @throws TabularError `DATA` for UTF-16 and for bytes that are no text
 */
function sniff(head: Uint8Array): Nature {
  const nature = natureOf(head);
  if (nature !== "text") return nature;
  if (starts(head, [0xff, 0xfe]) || starts(head, [0xfe, 0xff]) || isBareUtf16(head))
    throw new TabularError(
      "DATA",
      "it is UTF-16 text: convert it to UTF-8 first, e.g. iconv -f UTF-16 -t UTF-8",
    );
  if (starts(head, [0x50, 0x4b, 3, 4]))
    throw new TabularError(
      "DATA",
      "it is a zip archive or a workbook, which cannot be read as a stream: the schema commands read it " +
        "from a file",
    );
  if (head.includes(0)) throw new TabularError("DATA", "it is binary, not a text table");
  let controls = 0;
  for (const byte of head)
    if (byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b) controls++;
  if (controls > head.length * CONTROL_SHARE)
    throw new TabularError("DATA", "it is binary, not a text table");
  return "text";
}

/** Latin letters in UTF-16 have a NUL at every other byte, at most a few characters apart. */
function isBareUtf16(head: Uint8Array): boolean {
  if (head.length < 4) return false;
  let even = 0;
  let odd = 0;
  for (let index = 0; index < head.length; index += 2) {
    if (head[index] === 0) even++;
    if (head[index + 1] === 0) odd++;
  }
  const half = head.length / 2;
  return (even > half * 0.7 && odd < half * 0.1) || (odd > half * 0.7 && even < half * 0.1);
}

const BOM = [0xef, 0xbb, 0xbf] as const;

/** The bytes without a byte order mark of UTF-8. */
const withoutMark = (head: Uint8Array): Uint8Array =>
  starts(head, BOM) ? head.subarray(BOM.length) : head;

/** How the bytes of a text are read. */
export interface TextOptions {
  /** Encoding of the text, by a label of the Encoding standard; default UTF-8. */
  encoding?: string;
}

/**
 * The text of a source: gzip is unpacked, a byte order mark dropped, UTF-16 and binary refused,
 * another encoding that is named made UTF-8. Bytes that are not in the encoding are left for the
 * reader, which knows their row and column.
 * @throws TabularError `DATA`, when the first part is asked for
 */
export async function* openSource(
  source: AsyncIterable<Uint8Array>,
  { encoding }: TextOptions = {},
): AsyncGenerator<Uint8Array> {
  if (encoding === undefined || encoding === UTF_8)
    return yield* withoutMarkOf(unpackedText(source, sniff));
  yield* decoded(withoutMarkOf(unpackedText(source, natureOf)), encoding);
}

async function* withoutMarkOf(text: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const part of text) {
    yield isFirst ? withoutMark(part) : part;
    isFirst = false;
  }
}

async function* unpackedText(
  source: AsyncIterable<Uint8Array>,
  check: typeof sniff,
): AsyncGenerator<Uint8Array> {
  const { head, rest, bytes } = await peek(source, SNIFFED);
  const nature = check(head.subarray(0, SNIFFED));
  if (nature === "parquet")
    throw new TabularError(
      "DATA",
      "it is Parquet, which cannot be read as a stream: the schema commands read it from a file",
    );
  if (nature === "text") {
    yield head;
    yield* rest;
    return;
  }
  const unpacked = await peek(unpack("gzip", bytes), SNIFFED);
  if (check(unpacked.head.subarray(0, SNIFFED)) !== "text")
    throw new TabularError("DATA", "what is compressed in it is not a text table");
  yield unpacked.head;
  yield* unpacked.rest;
}
