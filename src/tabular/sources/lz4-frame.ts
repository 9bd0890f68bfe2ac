/** LZ4 frames, as Arrow packs buffers: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md */

const MAGIC = 0x184d2204;
/** Bytes that each of the frame's optional fields has. */
const CONTENT_SIZE = 8;
const CHECKSUM = 4;
const UNPACKED = 0x80000000;

const damaged = (): never => {
  throw new RangeError("its LZ4 data is damaged");
};

/**
 * Unpacks a frame; checksums are not compared.
 * @param most bytes of the result
 * @throws RangeError
 */
export function unpackLz4Frame(input: Uint8Array, most: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (view.getUint32(0, true) !== MAGIC) damaged();
  const flags = view.getUint8(4);
  if ((flags & 1) !== 0) throw new RangeError("its LZ4 data needs a dictionary");
  const output = new Output(most);
  let at = 7 + ((flags & 8) === 0 ? 0 : CONTENT_SIZE);
  for (;;) {
    const stated = view.getUint32(at, true);
    at += 4;
    if (stated === 0) return output.bytes();
    const size = stated & ~UNPACKED;
    const block = input.subarray(at, at + size);
    if (block.length < size) damaged();
    if ((stated & UNPACKED) === 0) unpackBlock(block, output);
    else output.add(block);
    at += size + ((flags & 16) === 0 ? 0 : CHECKSUM);
  }
}

/** Bytes so far: a match of a block may be in the blocks before. */
class Output {
  #bytes = new Uint8Array(64 << 10);
  #length = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Repeats bytes; they may overlap with what they make. */
  repeat(offset: number, length: number): void {
    if (offset === 0 || offset > this.#length) damaged();
    this.#reserve(length);
    for (let count = 0; count < length; count++, this.#length++)
      this.#bytes[this.#length] = this.#bytes[this.#length - offset]!;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed > this.#most) throw new RangeError(`it unpacks to more than ${this.#most} bytes`);
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.bytes());
    this.#bytes = grown;
  }
}

/** https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md */
function unpackBlock(block: Uint8Array, output: Output): void {
  let at = 0;
  const next = (): number => block[at++] ?? damaged();
  const length = (nibble: number): number => {
    let sum = nibble;
    if (nibble === 15)
      for (let byte = 255; byte === 255;) {
        byte = next();
        sum += byte;
      }
    return sum;
  };
  while (at < block.length) {
    const token = next();
    const literals = length(token >> 4);
    if (at + literals > block.length) damaged();
    output.add(block.subarray(at, at + literals));
    at += literals;
    // The last sequence has no match.
    if (at === block.length) return;
    const offset = next() | (next() << 8);
    output.repeat(offset, 4 + length(token & 15));
  }
}
