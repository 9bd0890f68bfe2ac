/** Parts of `unbzip2-stream` that unpack one block; the package has no types for them. */
declare module "unbzip2-stream/lib/bit_iterator.js" {
  interface Bits {
    (count: number | null): number;
    bytesRead: number;
  }
  /** @param next the next bytes, when those before are used up */
  export default function bitIterator(next: () => Uint8Array): Bits;
}

declare module "unbzip2-stream/lib/bzip2.js" {
  import type bitIterator from "unbzip2-stream/lib/bit_iterator.js";

  type Bits = ReturnType<typeof bitIterator>;
  const bzip2: {
    /** Reads the header of a stream: hundreds of kB in a block. */
    header(bits: Bits): number;
    /** Unpacks the next block. Returns the checksum up to it; null at the end of the stream. */
    decompress(
      bits: Bits,
      put: (byte: number) => void,
      block: Int32Array,
      size: number,
      crc: number,
    ): number | null;
  };
  export default bzip2;
}
