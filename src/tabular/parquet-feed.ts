import { isUtf8 } from "node:buffer";
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

/** What a Parquet value would be as cells of text. */
function cellTexts(value: unknown): string[] {
  return Array.isArray(value) || ArrayBuffer.isView(value)
    ? Array.from(value as ArrayLike<unknown>, cellText)
    : [cellText(value)];
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object")
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "bigint" ? member.toString() : member,
    );
  // oxlint-disable-next-line typescript/no-base-to-string -- objects were handled above
  return String(value);
}

/** Milliseconds that a `Date` holds. */
const MAX_MILLIS = 8_640_000_000_000_000n;

/**
 * A time as text with all of its digits; beyond the years of `Date` the number that it is stored
 * as.
 * @param digits decimals of a second in one unit of it
 */
function timeText(ticks: bigint, digits: 3 | 6 | 9): string {
  const perSecond = 10n ** BigInt(digits);
  const fraction = ((ticks % perSecond) + perSecond) % perSecond;
  const millis = ((ticks - fraction) / perSecond) * 1000n;
  if (millis > MAX_MILLIS || millis < -MAX_MILLIS) return String(ticks);
  const second = new Date(Number(millis)).toISOString().slice(0, -".000Z".length);
  return `${second}.${String(fraction).padStart(digits, "0")}Z`;
}

const DAY = 86_400_000;
const dateText = (days: number): string =>
  Math.abs(days) * DAY > Number(MAX_MILLIS)
    ? String(days)
    : new Date(days * DAY).toISOString().replace(/T.*/, "");

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

const isRaw = ({ element, children }: SchemaTree): boolean =>
  isDecimal(element) ||
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
  if (isBytes(element)) return bytesText(value as Uint8Array, element);
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

/** Writers of long ago did not say of text that it is text. */
function bytesText(bytes: Uint8Array, { type }: SchemaElement): string {
  if (type === "BYTE_ARRAY" && isUtf8(bytes)) return Buffer.from(bytes).toString();
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** @param value the digits, as a number or as the bytes of a big-endian one with a sign */
function decimalText(value: number | bigint | Uint8Array, scale: number): string {
  const unscaled =
    value instanceof Uint8Array
      ? BigInt.asIntN(value.length * 8, BigInt(`0x0${Buffer.from(value).toString("hex")}`))
      : BigInt(value);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return (
    (unscaled < 0n ? "-" : "") +
    (scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`)
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
const MAX_PAGE = 64 << 20;
/** Values of a row group, in columns that are shown. */
const MAX_VALUES = 5_000_000;

/** The same ways, with an end: a page may claim or contain any number of bytes. */
async function boundedCompressors(): Promise<Compressors> {
  const { snappyUncompress } = await import("hyparquet");
  const { ZSTD, LZ4, LZ4_RAW } = await compressors();
  const bounded =
    (unpack: (input: Uint8Array, most: number) => Uint8Array) =>
    (input: Uint8Array, length: number): Uint8Array => {
      if (length > MAX_PAGE) throw new RangeError(`a page has more than ${MAX_PAGE} bytes`);
      return unpack(input, Math.max(1, length));
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
    const compressors = await boundedCompressors();
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

/** A column as the schema of a Parquet file states it. */
export interface ParquetColumn {
  readonly name: string;
  /** Datatype of its values as text; undefined for lists and structures. */
  readonly type: "boolean" | "integer" | "number" | "string" | undefined;
  /** It may hold null. */
  readonly isOptional: boolean;
}

/**
 * The columns of a Parquet file.
 * @throws TabularError `DATA`
 */
export async function parquetColumns(file: ParquetFile): Promise<ParquetColumn[]> {
  const parquet = await import("hyparquet");
  const metadata = await readable(() => parquet.parquetMetadataAsync(file));
  return parquet.parquetSchema(metadata).children.map(({ element, children }) => ({
    name: element.name,
    type:
      children.length > 0 || element.repetition_type === "REPEATED" ? undefined : typeOf(element),
    isOptional: element.repetition_type === "OPTIONAL",
  }));
}

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

/**
 * Rows of a Parquet file, window by window within each row group; only columns that the schema
 * names are decoded. A list counts as many columns as it has elements, as it would in text; null is
 * an empty cell.
 * @throws TabularError `DATA` for a file that is damaged or packed in a way that cannot be read
 */
export function parquetFeed(file: ParquetFile, schema: TableSchema, limits: TableLimits): RowFeed {
  return async function* (row, each, guard) {
    const parquet = await import("hyparquet");
    const metadata = await readable(() => parquet.parquetMetadataAsync(file));
    const names = parquet.parquetSchema(metadata).children.map(({ element, children }) => ({
      name: element.name,
      nested: children.length > 0,
    }));
    const wanted = wantedColumns(names, schema);
    const places = new Map(wanted.map((name, place) => [name, place]));
    const window = Math.max(1, Math.floor(WINDOW_VALUES / valuesPerRow(metadata, wanted)));
    const unpackers = await compressors();
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
  schema: TableSchema,
): string[] {
  const all = names.map(({ name }) => name);
  if (names.some(({ nested }) => nested)) return all;
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
