import * as zlib from "node:zlib";
import type {
  AsyncBuffer,
  Compressors,
  FileMetaData,
  ParquetParsers,
  SchemaElement,
  SchemaTree,
} from "hyparquet";
import { type TableLimits, TabularError } from "./limits.js";
import { type RowFeed, setCells } from "./reader/row.js";
import type { TableSchema } from "./schema/table-schema.js";
import type { CellTable, TableColumn } from "./sources/cell-table.js";
import {
  bytesText,
  cellText,
  cellTexts,
  clockText,
  dateText,
  decimalText,
  timeText,
} from "./sources/cell-text.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const utf8Text = (bytes: Uint8Array | undefined): string | undefined => {
  try {
    return bytes && utf8.decode(bytes);
  } catch (cause) {
    throw new RangeError("it holds text that is not UTF-8", { cause });
  }
};

/** Values as text that keeps every digit. */
const PARSERS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (millis) => timeText(millis, 3),
  timestampFromMicroseconds: (micros) => timeText(micros, 6),
  timestampFromNanoseconds: (nanos) => timeText(nanos, 9),
  dateFromDays: dateText,
  stringFromBytes: utf8Text,
  // As it is written: reading it would round its numbers.
  jsonFromBytes: utf8Text,
  // Stands for raw values, see `exactly`.
  geographyFromBytes: (bytes) => bytes,
};

/**
 * The schema in a form by which the reader leaves decimals and bytes as they are stored: it would
 * make doubles and text of them. What they are is read from the tree of the first schema.
 */
function withRawValues(metadata: FileMetaData): FileMetaData {
  return {
    ...metadata,
    schema: metadata.schema.map((element) => {
      const { converted_type: _decimal, logical_type, ...rest } = element;
      if (isDecimal(element) || isBytes(element))
        return { ...rest, logical_type: { type: "GEOGRAPHY" } };
      return logical_type?.type === "GEOGRAPHY"
        ? { ...element, logical_type: { type: "GEOMETRY" } }
        : element;
    }),
  };
}

const isDecimal = ({ converted_type, logical_type }: SchemaElement): boolean =>
  converted_type === "DECIMAL" || logical_type?.type === "DECIMAL";

/** Bytes that are not said to be text, or anything else. */
const isBytes = ({ type, converted_type, logical_type }: SchemaElement): boolean =>
  (type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY") &&
  converted_type === undefined &&
  logical_type === undefined;

/** Decimals of a second in one tick of a time of day; `undefined` for other values. */
function clockDigits({ converted_type, logical_type }: SchemaElement): 3 | 6 | 9 | undefined {
  if (logical_type?.type === "TIME")
    return { MILLIS: 3, MICROS: 6, NANOS: 9 }[logical_type.unit] as 3 | 6 | 9;
  if (converted_type === "TIME_MILLIS") return 3;
  return converted_type === "TIME_MICROS" ? 6 : undefined;
}

const isRaw = ({ element, children }: SchemaTree): boolean =>
  isDecimal(element) ||
  clockDigits(element) !== undefined ||
  isBytes(element) ||
  // The reader decodes the bytes of a variant itself.
  (element.logical_type?.type !== "VARIANT" && children.some(isRaw));

/** The value of a column with its decimals and bytes as text. */
function exactly(value: unknown, tree: SchemaTree): unknown {
  const { element, children } = tree;
  if (value === null || value === undefined || !isRaw(tree)) return value;
  if (Array.isArray(value)) {
    const [inner] = children;
    const items =
      element.converted_type !== "LIST" || !inner
        ? tree
        : inner.children.length === 1
          ? inner.children[0]!
          : inner;
    return value.map((item) => exactly(item, items));
  }
  // Writers of long ago did not say of text that it is text.
  if (isBytes(element)) return bytesText(value as Uint8Array, element.type === "BYTE_ARRAY");
  const digits = clockDigits(element);
  if (digits !== undefined) return clockText(BigInt(value as number | bigint), digits);
  if (children.length === 0)
    return decimalText(value as number | bigint | Uint8Array, element.scale ?? 0);
  const entry = element.converted_type === "MAP" ? children[0] : undefined;
  const key = entry?.children[0];
  if (key && isRaw(key))
    throw new Error("the keys of its maps are decimals or bytes, which cannot be read");
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const child = entry ? entry.children[1] : children.find((each) => each.element.name === name);
      return [name, child ? exactly(member, child) : member];
    }),
  );
}

/** Rows of some columns, with every digit of their values. @throws TabularError `DATA` */
async function readRows(
  metadata: FileMetaData,
  options: {
    file: AsyncBuffer;
    columns: string[];
    rowStart: number;
    rowEnd: number;
    compressors: Compressors;
  },
): Promise<unknown[][]> {
  const { parquetRead, parquetSchema } = await import("hyparquet");
  const read = async (columns: string[]): Promise<unknown[][]> => {
    let rows: unknown[][] = [];
    await parquetRead({
      ...options,
      columns,
      metadata: withRawValues(metadata),
      useOffsetIndex: true,
      parsers: PARSERS,
      onComplete: (found) => void (rows = found as unknown[][]),
    });
    return rows;
  };
  const { columns } = options;
  const rows = await read(columns).catch(async (cause: unknown) => {
    if (isSystemError(cause)) throw cause;
    // One column after the other, to name the one that cannot be read.
    for (const column of columns) {
      await read([column]).catch((error: unknown) => {
        throw new Error(`column ${column}: ${(error as Error).message}`, { cause: error });
      });
    }
    throw cause;
  });
  const { children } = parquetSchema(metadata);
  for (const [place, column] of columns.entries()) {
    const tree = children.find(({ element }) => element.name === column);
    if (!tree || !isRaw(tree)) continue;
    try {
      for (const row of rows) row[place] = exactly(row[place], tree);
    } catch (error) {
      throw new Error(`column ${column}: ${(error as Error).message}`, { cause: error });
    }
  }
  return rows;
}

const isSystemError = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).syscall !== undefined;

/** zlib of Node 22.15 and later has Zstandard. */
const { zstdDecompressSync } = zlib as {
  zstdDecompressSync?: (input: Uint8Array, options?: zlib.ZlibOptions) => Buffer;
};

/** Ways to unpack pages besides snappy, which the reader brings along: zlib's where it has them. */
async function compressors(): Promise<
  Required<Pick<Compressors, "GZIP" | "BROTLI" | "ZSTD" | "LZ4" | "LZ4_RAW">>
> {
  const { decompressLz4, decompressLz4Raw, decompressZstd } = await import("hyparquet-compressors");
  const zstd = (input: Uint8Array, length: number): Uint8Array =>
    zstdDecompressSync
      ? zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) })
      : decompressZstd(input, new Uint8Array(length));
  return {
    GZIP: (input) => zlib.gunzipSync(input),
    BROTLI: (input) => zlib.brotliDecompressSync(input),
    ZSTD: zstd,
    LZ4: decompressLz4,
    LZ4_RAW: decompressLz4Raw,
  };
}

/** Bytes of one page, unpacked, in {@link parquetHead}: pages of writers have about one MiB. */
const SHOWN_PAGE = 64 << 20;
/** Values of a row group, in columns that are shown. */
const MAX_VALUES = 5_000_000;

/** The same ways, with an end: a page may claim or contain any number of bytes. */
async function boundedCompressors(most: number, limit = ""): Promise<Compressors> {
  const { snappyUncompress } = await import("hyparquet");
  const { ZSTD, LZ4, LZ4_RAW } = await compressors();
  const bounded =
    (unpack: (input: Uint8Array, most: number) => Uint8Array) =>
    (input: Uint8Array, length: number): Uint8Array => {
      if (length > most)
        throw new RangeError(
          `a page has more than ${most} bytes${limit === "" ? "" : ` (${limit})`}`,
        );
      // A column without any value has a page of no bytes, which is no stream of its codec.
      return length === 0 ? new Uint8Array() : unpack(input, length);
    };
  return {
    SNAPPY: bounded((input, most) => {
      const output = new Uint8Array(most);
      snappyUncompress(input, output);
      return output;
    }),
    GZIP: bounded((input, maxOutputLength) => zlib.gunzipSync(input, { maxOutputLength })),
    BROTLI: bounded((input, maxOutputLength) =>
      zlib.brotliDecompressSync(input, { maxOutputLength }),
    ),
    // These write no more than the length that the page claims.
    ZSTD: bounded(ZSTD),
    LZ4: bounded(LZ4),
    LZ4_RAW: bounded(LZ4_RAW),
  };
}

/**
 * The first rows of a Parquet file in memory, as cells of text; lists and objects are one cell, as
 * JSON. Needs memory for one row group of the columns that are shown.
 * @throws TabularError `DATA`, `LIMIT`
 */
export async function parquetHead(
  file: ArrayBuffer,
  { rows: most, columns: widest }: { rows: number; columns: number },
): Promise<{ columns: string[]; rows: string[][]; total: number }> {
  const parquet = await import("hyparquet");
  return readable(async () => {
    const metadata = parquet.parquetMetadata(file);
    const columns = parquet.parquetSchema(metadata).children.map(({ element }) => element.name);
    const wanted = columns.slice(0, widest);
    const total = Number(metadata.num_rows);
    const shown = new Set<string | undefined>(wanted);
    const compressors = await boundedCompressors(SHOWN_PAGE);
    const rows: string[][] = [];
    let start = 0;
    for (const { num_rows: size, columns: parts } of metadata.row_groups) {
      if (rows.length >= most || wanted.length === 0) break;
      const values = parts.reduce(
        (sum, { meta_data }) =>
          sum +
          (meta_data && shown.has(meta_data.path_in_schema[0]) ? Number(meta_data.num_values) : 0),
        0,
      );
      const end = start + Number(size);
      if (values > MAX_VALUES && rows.length > 0) break;
      if (values > MAX_VALUES)
        throw new RangeError(`its first row group has more than ${MAX_VALUES} values`);
      const read = await readRows(metadata, {
        file: { byteLength: file.byteLength, slice: (from, to) => file.slice(from, to) },
        columns: wanted,
        rowStart: start,
        rowEnd: Math.min(end, start + most - rows.length),
        compressors,
      });
      for (const row of read) rows.push(row.map(cellText));
      start = end;
    }
    return {
      // More than are shown: the caller sees that some are left out.
      columns: columns.slice(0, widest + 1),
      rows,
      total,
    };
  });
}

/** Values decoded at a time: a row group may hold a million rows, and memory must not. */
const WINDOW_VALUES = 400_000;

/** A file that can be read from anywhere in it. */
export type ParquetFile = AsyncBuffer;

/**
 * The columns of a Parquet file.
 * @throws TabularError `DATA`
 */
async function parquetColumns(file: ParquetFile): Promise<TableColumn[]> {
  const parquet = await import("hyparquet");
  const metadata = await readable(() => parquet.parquetMetadataAsync(file));
  return parquet.parquetSchema(metadata).children.map(({ element, children }) => ({
    name: element.name,
    type:
      children.length > 0 || element.repetition_type === "REPEATED" ? undefined : typeOf(element),
    isOptional: element.repetition_type === "OPTIONAL",
  }));
}

/** A Parquet file as a table. */
export const parquetTable = (file: ParquetFile): CellTable => ({
  format: "Parquet",
  mayHaveHeader: false,
  columns: () => parquetColumns(file),
  feed: (limits, { schema }) => parquetFeed(file, schema, limits),
});

/** Types whose values are whole numbers, where nothing else is stated about them. */
const INTEGER = /^(?:U?INT_(?:8|16|32|64)|INTEGER)$/;

function typeOf({
  type,
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): "boolean" | "integer" | "number" | "string" {
  const stated = logical?.type ?? converted;
  if (type === "BOOLEAN") return "boolean";
  if (type === "FLOAT" || type === "DOUBLE") return "number";
  if (stated === "DECIMAL" || stated === "FLOAT16") return "number";
  const isWhole = stated === undefined || INTEGER.test(stated);
  return (type === "INT32" || type === "INT64") && isWhole ? "integer" : "string";
}

/** Rows of a group that is said to have none or fewer would be missing without a word. */
function assertRowCounts({ num_rows, row_groups }: FileMetaData): void {
  const counts = row_groups.map((group) => group.num_rows);
  const total = counts.reduce((sum, count) => sum + count, 0n);
  if (total !== num_rows || counts.some((count) => count < 0n))
    throw new TabularError(
      "DATA",
      `its Parquet data are damaged: the file states ${num_rows} rows, its row groups ` +
        counts.join(", "),
    );
}

/**
 * Rows of a Parquet file, window by window within each row group; only columns that the schema
 * names are decoded. A list counts as many columns as it has elements, as it would in text; null is
 * an empty cell.
 * @throws TabularError `DATA` for a file that is damaged or packed in a way that cannot be read
 */
function parquetFeed(
  file: ParquetFile,
  schema: TableSchema | undefined,
  limits: TableLimits,
): RowFeed {
  return async function* (row, each, guard) {
    const parquet = await import("hyparquet");
    const metadata = await readable(() => parquet.parquetMetadataAsync(file));
    assertRowCounts(metadata);
    const names = parquet.parquetSchema(metadata).children.map(({ element, children }) => ({
      name: element.name,
      nested: children.length > 0,
    }));
    const wanted = wantedColumns(names, schema);
    const places = new Map(wanted.map((name, place) => [name, place]));
    const window = Math.max(1, Math.floor(WINDOW_VALUES / valuesPerRow(metadata, wanted)));
    const unpackers = await boundedCompressors(limits.maxPart, limits.names.maxPart);
    row.line = 0;
    for (const [start, end] of windows(metadata, window)) {
      const rows = await readable(() =>
        readRows(metadata, {
          file,
          columns: wanted,
          rowStart: start,
          rowEnd: end,
          compressors: unpackers,
        }),
      );
      guard(() => {
        for (const values of rows) {
          const cells = names.flatMap(({ name }) => {
            const place = places.get(name);
            return place === undefined ? [""] : cellTexts(values[place]);
          });
          // A row of one empty cell is a row here: there are no blank lines.
          setCells(row, cells, true, limits);
          each();
        }
      });
      yield;
    }
  };
}

/**
 * All columns when some are lists, since a list moves the columns after it; else those that
 * properties point at.
 */
function wantedColumns(
  names: readonly { name: string; nested: boolean }[],
  schema: TableSchema | undefined,
): string[] {
  const all = names.map(({ name }) => name);
  if (!schema || names.some(({ nested }) => nested)) return all;
  const wanted = all.filter((_, column) =>
    schema.properties.some(
      ({ type, index }) =>
        type !== "null" &&
        (index.kind === "column"
          ? index.at === column
          : index.from <= column && column < (index.to ?? Infinity)),
    ),
  );
  return wanted.length > 0 ? wanted : all.slice(0, 1);
}

function valuesPerRow({ num_rows, row_groups }: FileMetaData, wanted: readonly string[]): number {
  const names = new Set<string | undefined>(wanted);
  let values = 0;
  for (const { columns } of row_groups)
    for (const { meta_data } of columns)
      if (meta_data && names.has(meta_data.path_in_schema[0]))
        values += Number(meta_data.num_values);
  return Math.max(1, values / Math.max(1, Number(num_rows)));
}

/** Ranges of rows, none across two row groups. */
function* windows(
  { row_groups }: FileMetaData,
  size: number,
): Generator<[start: number, end: number]> {
  let begin = 0;
  for (const { num_rows } of row_groups) {
    const end = begin + Number(num_rows);
    for (let start = begin; start < end; start += size) yield [start, Math.min(start + size, end)];
    begin = end;
  }
}

async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isSystemError(cause)) throw cause;
    throw new TabularError("DATA", `its Parquet data cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
