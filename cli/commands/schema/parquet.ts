import { open } from "node:fs/promises";
import { DEFAULT_LIMITS } from "../../../src/tabular/limits.js";
import { parquetFeed, type ParquetFile } from "../../../src/tabular/parquet/parquet-feed.js";
import type { TableSchema } from "../../../src/tabular/schema/table-schema.js";
import { validateRows, type CheckOptions, type TableCheck } from "../../../src/tabular/validate.js";

/** Checks a Parquet file, which is read from its end: from a file only. */
export async function validateParquetFile(path: string, schema: TableSchema, options: CheckOptions): Promise<TableCheck> {
  const handle = await open(path);
  const { size } = await handle.stat();
  let read = 0;
  const file: ParquetFile = {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      options.onProgress?.(Math.min(size, (read += bytes.length)));
      return bytes.buffer;
    },
  };
  const feed = parquetFeed(file, schema, { ...DEFAULT_LIMITS, ...options.limits });
  return validateRows(async function* (row, each, guard) {
    try {
      yield* feed(row, each, guard);
    } finally {
      await handle.close();
    }
  }, schema, options);
}
