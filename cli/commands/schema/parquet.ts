/** Parquet files as data of the schema commands. */
import { type FileHandle, open } from "node:fs/promises";
import { DEFAULT_LIMITS } from "../../../src/tabular/limits.js";
import {
  type ParquetColumn,
  type ParquetFile,
  parquetColumns,
  parquetFeed,
} from "../../../src/tabular/parquet-feed.js";
import type { PropertyObject, TableSchema } from "../../../src/tabular/schema/table-schema.js";
import { type CheckOptions, type TableCheck, validateRows } from "../../../src/tabular/validate.js";
import { Failure } from "../../terminal.js";

/** The first bytes of every Parquet file. */
const MAGIC = "PAR1";

/**
 * Whether a file is Parquet, by its name or its first bytes. A pipe is not looked into: what is read
 * from it is gone.
 */
export async function isParquet(path: string): Promise<boolean> {
  if (path === "-") return false;
  if (path.toLowerCase().endsWith(".parquet")) return true;
  return withFile(path, async (handle) => {
    if (!(await handle.stat()).isFile()) return false;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.toString("latin1", 0, bytesRead) === MAGIC;
  }).catch(() => false);
}

async function withFile<T>(path: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

async function parquetFile(
  handle: FileHandle,
  onProgress?: (bytes: number) => void,
): Promise<ParquetFile> {
  const { size } = await handle.stat();
  let read = 0;
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let at = 0; at < bytes.length;) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      onProgress?.(Math.min(size, (read += bytes.length)));
      return bytes.buffer;
    },
  };
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
  const file = await parquetFile(handle, options.onProgress);
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
    async () => {
      const columns = await parquetColumns(file);
      // A list moves the columns behind it.
      const isFlat = columns.every(({ type }) => type !== undefined);
      return isFlat ? columns.map(({ name }) => name) : [];
    },
  );
}

/** The columns of a Parquet file. @throws TabularError `DATA` */
export const columnsOfParquet = (path: string): Promise<ParquetColumn[]> =>
  withFile(path, async (handle) => parquetColumns(await parquetFile(handle)));

/**
 * A property for each column, of the type that the file states; a column that may hold null may be
 * empty.
 * @throws Failure for a column of lists or structures, which no single property describes
 */
export function propertiesOfParquet(
  columns: readonly ParquetColumn[],
): Record<string, PropertyObject> {
  return Object.fromEntries(
    columns.map(({ name, type, isOptional }, index) => {
      if (type === undefined)
        throw new Failure(
          `column ${index} (${name}) holds lists or structures, which count as several columns: ` +
            "describe the table with schema create-tabular and schema add-property",
        );
      const described = isOptional && type !== "string" ? [type, "null"] : type;
      return [name, { description: "", index, valueURL: null, type: described } as PropertyObject];
    }),
  );
}
