import * as zlib from "node:zlib";
import type { Compressors } from "hyparquet";

/** zlib of Node 22.15 and later has Zstandard. */
const { zstdDecompressSync } = zlib as { zstdDecompressSync?: (input: Uint8Array) => Buffer };

/** Ways to unpack pages besides snappy, which the reader brings along. */
export const COMPRESSORS: Compressors = {
  GZIP: (input) => zlib.gunzipSync(input),
  BROTLI: (input) => zlib.brotliDecompressSync(input),
  ...(zstdDecompressSync ? { ZSTD: (input: Uint8Array) => zstdDecompressSync(input) } : {}),
};
