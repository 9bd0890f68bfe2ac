/** Arrow: the IPC formats for files (Feather 2) and streams. */
import type { FileHandle } from "node:fs/promises";
import type {
  Data,
  DataType,
  Decimal,
  Dictionary,
  RecordBatch,
  RecordBatchReader,
  Struct,
  Vector,
} from "apache-arrow";
import { DEFAULT_LIMITS, sizeText, type TableLimits, TabularError } from "../limits.js";
import { setCells } from "../reader/row.js";
import type { CellTable, TableColumn } from "./cell-table.js";
import { bytesText, cellTexts, clockText, dateText, decimalText, timeText } from "./cell-text.js";
import { unpackLz4Frame } from "./lz4-frame.js";
import { peek, startsWith, unzstdWhole } from "./unpack.js";

const FILE = [...Buffer.from("ARROW1\0\0")];
/** How a message of a stream begins. */
const CONTINUATION = [0xff, 0xff, 0xff, 0xff];

export const isArrow = (head: Uint8Array): boolean =>
  startsWith(head, FILE) || startsWith(head, CONTINUATION);

type Arrow = typeof import("apache-arrow");

/** A file that can be read from anywhere in it, or bytes that come one after the other. */
type ArrowSource = FileHandle | AsyncIterable<Uint8Array>;

/** A table of record batches, read one after the other: each is in memory as a whole. */
export function arrowTable(read: () => Promise<ArrowSource>): CellTable {
  return {
    format: "Arrow",
    mayHaveHeader: false,
    columns: async () => {
      const arrow = await import("apache-arrow");
      const reader = await opened(arrow, await read(), DEFAULT_LIMITS);
      try {
        return reader.schema.fields.map(({ name, type, nullable }) => ({
          name,
          type: columnType(arrow, type),
          isOptional: nullable,
        }));
      } finally {
        await reader.cancel();
      }
    },
    feed: (limits) =>
      async function* (row, each, guard) {
        const arrow = await import("apache-arrow");
        row.line = 0;
        const batches = await opened(arrow, await read(), limits);
        const rows = batches[Symbol.asyncIterator]();
        for (;;) {
          const batch = await readable(() => rows.next());
          if (batch.done === true) return;
          const columns = columnsOf(arrow, batch.value);
          guard(() => {
            for (let at = 0; at < batch.value.numRows; at++) {
              setCells(
                row,
                columns.flatMap((cells) => cells(at)),
                true,
                limits,
              );
              each();
            }
          });
          yield;
        }
      },
  };
}

async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof TabularError || (cause as NodeJS.ErrnoException).syscall !== undefined)
      throw cause;
    // The library reads on where something is not there.
    const reason =
      cause instanceof TypeError ? "it is damaged or cut short" : (cause as Error).message;
    throw new TabularError("DATA", `its Arrow data cannot be read: ${reason}`, { cause });
  }
}

async function opened(
  arrow: Arrow,
  source: ArrowSource,
  { maxPart, names }: TableLimits,
): Promise<RecordBatchReader> {
  const { CompressionType, compressionRegistry, RecordBatchReader } = arrow;
  const bounded = (unpack: (packed: Uint8Array, most: number) => Uint8Array) => ({
    decode(packed: Uint8Array): Uint8Array {
      try {
        return unpack(packed, maxPart);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new RangeError(
          `a column of one batch: ${error.message}; ${names.maxPart} is ${sizeText(maxPart)}`,
          { cause: error },
        );
      }
    },
  });
  compressionRegistry.set(CompressionType.LZ4_FRAME, bounded(unpackLz4Frame));
  compressionRegistry.set(CompressionType.ZSTD, bounded(unzstdWhole));
  return readable(async () => {
    const isFile = !(Symbol.asyncIterator in source);
    const stated = isFile ? source : await streamOrFile(source, maxPart, names.maxPart);
    return (await RecordBatchReader.from(stated as FileHandle)).open();
  });
}

/** A stream as it is. A file is read from its end: as a stream it must be in memory as a whole. */
async function streamOrFile(
  source: AsyncIterable<Uint8Array>,
  most: number,
  limit: string,
): Promise<AsyncIterable<Uint8Array> | Uint8Array> {
  const { head, bytes } = await peek(source, FILE.length);
  if (!startsWith(head, FILE)) return bytes;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of bytes) {
    if ((size += part.length) > most)
      throw new TabularError(
        "LIMIT",
        `it is an Arrow file of more than ${sizeText(most)} (${limit}) that is packed or comes from ` +
          "standard input: unpack it into a file",
      );
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function columnType({ Type }: Arrow, type: DataType): TableColumn["type"] {
  switch (type.typeId) {
    case Type.Dictionary:
      return columnType({ Type } as Arrow, (type as { dictionary?: DataType }).dictionary!);
    case Type.Int:
      return "integer";
    case Type.Float:
    case Type.Decimal:
      return "number";
    case Type.Bool:
      return "boolean";
    case Type.List:
    case Type.FixedSizeList:
    case Type.Struct:
    case Type.Map:
    case Type.Union:
      return undefined;
    default:
      return "string";
  }
}

/** For each column of a batch, the cells that a row has in it. */
function columnsOf(arrow: Arrow, batch: RecordBatch): ((row: number) => string[])[] {
  const reader = new ValueReader(arrow);
  return batch.data.children.map((column) => (row) => cellTexts(reader.value(column, row)));
}

/** Decimals of a second in one tick, by unit. */
const DIGITS = [0, 3, 6, 9] as const;
const DAY = 86_400_000;

/** Reads values with every digit: the vectors of the library make milliseconds of times. */
class ValueReader {
  readonly #arrow: Arrow;
  readonly #vectors = new Map<Data, Vector>();

  constructor(arrow: Arrow) {
    this.#arrow = arrow;
  }

  value(data: Data, row: number): unknown {
    if (!data.getValid(row)) return null;
    const { Type } = this.#arrow;
    const { children, stride, type } = data;
    const list = (from: number, to: number): unknown[] =>
      Array.from({ length: to - from }, (_, at) => this.value(children[0]!, from + at));
    switch (type.typeId) {
      case Type.Dictionary:
        return this.#entry(data as Data<Dictionary>, row);
      case Type.List:
        return list(Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1]));
      case Type.FixedSizeList:
        return list(row * stride, (row + 1) * stride);
      case Type.Struct: {
        const names = (type as Struct).children.map(({ name }) => name);
        return Object.fromEntries(children.map((child, at) => [names[at], this.value(child, row)]));
      }
      default:
        return this.#single(data, row);
    }
  }

  #entry({ dictionary, values }: Data<Dictionary>, row: number): unknown {
    let at = Number(values[row]);
    for (const part of dictionary?.data ?? []) {
      if (at < part.length) return this.value(part, at);
      at -= part.length;
    }
    throw new Error("a value is not in its dictionary");
  }

  #single(data: Data, row: number): unknown {
    const { Type } = this.#arrow;
    const { type } = data;
    const ticks = (): bigint => BigInt((data.values as BigInt64Array | Int32Array)[row] ?? 0);
    const { unit = 0 } = type as { unit?: 0 | 1 | 2 | 3 };
    switch (type.typeId) {
      case Type.Timestamp:
        return timeText(ticks(), DIGITS[unit]);
      case Type.Time:
        return clockText(ticks(), DIGITS[unit]);
      case Type.Date:
        return dateText(unit === 0 ? Number(ticks()) : Math.floor(Number(ticks()) / DAY));
      case Type.Duration:
        return ticks();
      case Type.Decimal: {
        const { scale, bitWidth } = type as Decimal;
        const { buffer, byteOffset } = data.values as Uint32Array;
        const size = bitWidth / 8;
        return decimalText(
          new Uint8Array(buffer, byteOffset + row * size, size).toReversed(),
          scale,
        );
      }
      case Type.Binary:
      case Type.LargeBinary:
      case Type.BinaryView:
      case Type.FixedSizeBinary:
        return bytesText(this.#plain(data, row) as Uint8Array, false);
      case Type.Map:
      case Type.Union:
      case Type.Interval:
        throw new Error(`a column is of the type ${Type[type.typeId]}, which is not read`);
      default:
        return this.#plain(data, row);
    }
  }

  #plain(data: Data, row: number): unknown {
    let vector = this.#vectors.get(data);
    if (!vector) this.#vectors.set(data, (vector = new this.#arrow.Vector([data])));
    return vector.get(row);
  }
}
