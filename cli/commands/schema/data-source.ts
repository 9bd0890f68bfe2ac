import { open, stat } from "node:fs/promises";
import { DEFAULT_LIMITS } from "../../../src/tabular/limits.js";
import { parquetFeed, type ParquetFile } from "../../../src/tabular/parquet-feed.js";
import type { TextOptions } from "../../../src/tabular/reader/open-source.js";
import type { TableSchema } from "../../../src/tabular/schema/table-schema.js";
import { type CheckOptions, type TableCheck, validateRows } from "../../../src/tabular/validate.js";
import { Failure } from "../../failure.js";
import { inFile } from "./schema-file.js";

/** The number of bytes of one read. */
const PART = 256 << 10;

/** Data to check: a name for messages, its bytes, and its size where it is known. */
export interface DataSource {
  name: string;
  size: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

const UTF_8 = "utf-8";

/**
 * The options for reading text: in the given encoding, else as UTF-8, with a remark if the text is
 * not UTF-8.
 */
export function textOptions(
  encoding: string | undefined,
  remark: (sentence: string) => void,
): TextOptions {
  if (encoding !== undefined && encoding !== UTF_8) return { encoding };
  return {
    onForeign: ({ byte, offset, word }) => {
      const place = `byte 0x${byte.toString(16).toUpperCase()} at offset ${offset}`;
      remark(
        `it is not UTF-8 (${place}): if it is ` +
          `Latin-1${word === undefined ? "" : ` (“${word}”)`}, give --encoding latin1`,
      );
    },
  };
}

/** Opens a data file; `-` is standard input. @throws Failure, at once when there is no such file */
export async function openData(path: string): Promise<DataSource> {
  if (path === "-") return { name: "standard input", size: undefined, bytes: process.stdin };
  const about = await inFile(path, () => stat(path));
  if (about.isDirectory()) throw new Failure(`${path}: it is a folder, not a file`);
  return { name: path, size: about.isFile() ? about.size : undefined, bytes: fileParts(path) };
}

/**
 * The chunks of a file. The next chunk is read while one is processed; two buffers are used
 * alternately.
 */
async function* fileParts(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    const buffers = [Buffer.allocUnsafeSlow(PART), Buffer.allocUnsafeSlow(PART)] as const;
    let turn = 0;
    let next = file.read(buffers[0], 0, PART, null);
    for (;;) {
      const { bytesRead } = await next;
      if (bytesRead === 0) return;
      const part = buffers[turn % 2]!.subarray(0, bytesRead);
      turn++;
      next = file.read(buffers[turn % 2]!, 0, PART, null);
      // A failure is reported when the read is awaited; if the reader stops early, the read is
      // never awaited.
      next.catch(() => undefined);
      yield part;
    }
  } finally {
    await file.close();
  }
}

/**
 * Checks a Parquet file. Parquet is read from its end, so the data must be a file, not a stream.
 */
export async function validateParquetFile(
  path: string,
  schema: TableSchema,
  options: CheckOptions,
): Promise<TableCheck> {
  const handle = await open(path);
  const { size } = await handle.stat();
  let read = 0;
  const file: ParquetFile = {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let at = 0; at < bytes.length;) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      options.onProgress?.(Math.min(size, (read += bytes.length)));
      return bytes.buffer;
    },
  };
  const feed = parquetFeed(file, schema, { ...DEFAULT_LIMITS, ...options.limits });
  return validateRows(
    async function* (row, each, guard) {
      try {
        yield* feed(row, each, guard);
      } finally {
        await handle.close();
      }
    },
    schema,
    options,
  );
}
