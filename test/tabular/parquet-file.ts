// A Parquet file as small as the format allows: plain values, no nulls, several row groups, one
// page each. Thrift's compact protocol is written by hand;
// https://parquet.apache.org/docs/file-format/ names the fields.
import { gzipSync } from "node:zlib";

type Column = { name: string } & (
  | { type: "INT64"; values: bigint[] }
  | { type: "DOUBLE"; values: number[] }
  | { type: "UTF8"; values: string[] }
  | { type: "BYTES"; values: Buffer[] }
  | { type: "BOOLEAN"; values: boolean[] }
  | { type: "TIMESTAMP_MICROS"; values: bigint[] }
  | { type: "INT96"; values: [day: number, nanos: bigint][] }
  | { type: "DATE"; values: number[] }
  /** Of 13 bytes, as 30 digits have them. */
  | { type: "DECIMAL"; scale: number; values: bigint[] }
  | { type: "DECIMAL64"; scale: number; values: bigint[] }
);

const PHYSICAL = {
  BOOLEAN: 0,
  DATE: 1,
  INT64: 2,
  TIMESTAMP_MICROS: 2,
  DECIMAL64: 2,
  INT96: 3,
  DOUBLE: 5,
  UTF8: 6,
  BYTES: 6,
  DECIMAL: 7,
} as const;
const CONVERTED: Readonly<Partial<Record<Column["type"], number>>> = {
  UTF8: 0,
  DECIMAL: 5,
  DECIMAL64: 5,
  DATE: 6,
  TIMESTAMP_MICROS: 10,
};
const DECIMAL_BYTES = 13;
const I32 = 5,
  I64 = 6,
  BINARY = 8,
  LIST = 9,
  STRUCT = 12;

type Field =
  | [id: number, type: typeof I32 | typeof I64, value: number]
  | [id: number, type: typeof BINARY, value: string]
  | [id: number, type: typeof STRUCT, value: Field[]]
  | [id: number, type: typeof LIST, of: number, values: (number | string | Field[])[]];

function varint(value: number): number[] {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return [...bytes, value];
}
const zigzag = (value: number): number[] => varint(value >= 0 ? value * 2 : -value * 2 - 1);
const binary = (text: string): number[] => [
  ...varint(Buffer.byteLength(text)),
  ...Buffer.from(text),
];

function struct(fields: Field[]): number[] {
  let last = 0;
  return [
    ...fields.flatMap((field) => {
      const [id, type] = field;
      const head = [((id - last) << 4) | type];
      last = id;
      if (type === I32 || type === I64) return [...head, ...zigzag(field[2])];
      if (type === BINARY) return [...head, ...binary(field[2])];
      if (type === STRUCT) return [...head, ...struct(field[2])];
      const [, , of, values] = field as Extract<Field, { length: 4 }>;
      const size =
        values.length < 15 ? [(values.length << 4) | of] : [0xf0 | of, ...varint(values.length)];
      return [
        ...head,
        ...size,
        ...values.flatMap((value) =>
          typeof value === "number"
            ? zigzag(value)
            : typeof value === "string"
              ? binary(value)
              : struct(value),
        ),
      ];
    }),
    0,
  ];
}

function plain(column: Column): Buffer {
  switch (column.type) {
    case "INT64":
    case "TIMESTAMP_MICROS":
    case "DECIMAL64":
      return Buffer.from(BigInt64Array.from(column.values).buffer);
    case "DATE":
      return Buffer.from(Int32Array.from(column.values).buffer);
    case "INT96":
      return Buffer.concat(
        column.values.map(([day, nanos]) => {
          const bytes = Buffer.alloc(12);
          bytes.writeBigInt64LE(nanos);
          // Days are Julian.
          bytes.writeInt32LE(day + 2_440_588, 8);
          return bytes;
        }),
      );
    case "DECIMAL":
      return Buffer.concat(
        column.values.map((value) =>
          Buffer.from(
            BigInt.asUintN(DECIMAL_BYTES * 8, value)
              .toString(16)
              .padStart(DECIMAL_BYTES * 2, "0"),
            "hex",
          ),
        ),
      );
    case "DOUBLE":
      return Buffer.from(Float64Array.from(column.values).buffer);
    case "UTF8":
    case "BYTES":
      return Buffer.concat(
        column.values.map((value) => {
          const bytes = Buffer.from(value as string);
          const length = Buffer.alloc(4);
          length.writeUInt32LE(bytes.length);
          return Buffer.concat([length, bytes]);
        }),
      );
    case "BOOLEAN": {
      const bytes = Buffer.alloc(Math.ceil(column.values.length / 8));
      column.values.forEach((value, at) => value && (bytes[at >> 3]! |= 1 << (at & 7)));
      return bytes;
    }
  }
}

/** A frame of Zstandard with one block of stored bytes (RFC 8878, sections 3.1.1.1 and 3.1.1.2). */
function zstd(data: Buffer): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(data.length, 5);
  head.writeUIntLE((data.length << 3) | 1, 9, 3);
  return Buffer.concat([head, data]);
}
/** A block of LZ4 that is one sequence of literals. */
function lz4(data: Buffer): Buffer {
  const length =
    data.length < 15
      ? []
      : [...Array(Math.floor((data.length - 15) / 255)).fill(255), (data.length - 15) % 255];
  return Buffer.concat([Buffer.from([Math.min(data.length, 15) << 4, ...length]), data]);
}
/** Packings of pages, each with its number in the format. */
const CODECS = {
  NONE: [0, (data: Buffer) => data],
  GZIP: [2, (data: Buffer) => gzipSync(data)],
  ZSTD: [6, zstd],
  LZ4_RAW: [7, lz4],
} as const;

export interface ParquetOptions {
  groupRows?: number;
  codec?: keyof typeof CODECS;
  /** Packed bytes of each page, in place of the values. */
  bomb?: Buffer;
}

/**
 * A Parquet file of these columns; `a.b` is the member b of a struct a, which has no other one.
 * @param groupRows rows of a row group
 */
export function parquetFile(
  columns: Column[],
  { groupRows = 1_000_000, codec = "NONE", bomb }: ParquetOptions = {},
): Buffer {
  const rows = columns[0]!.values.length;
  const parts: Buffer[] = [Buffer.from("PAR1")];
  let offset = 4;
  const groups: Field[][] = [];
  for (let start = 0; start < rows; start += groupRows) {
    const count = Math.min(groupRows, rows - start);
    const chunks = columns.map((column): Field[] => {
      const data = plain({
        ...column,
        values: column.values.slice(start, start + count),
      } as Column);
      const packed = bomb ?? CODECS[codec][1](data);
      const header = Buffer.from(
        struct([
          [1, I32, 0],
          [2, I32, data.length],
          [3, I32, packed.length],
          [
            5,
            STRUCT,
            [
              [1, I32, count],
              [2, I32, 0],
              [3, I32, 3],
              [4, I32, 3],
            ],
          ],
        ]),
      );
      const at = offset;
      parts.push(header, packed);
      offset += header.length + packed.length;
      const size = header.length + packed.length;
      return [
        [2, I64, at],
        [
          3,
          STRUCT,
          [
            [1, I32, PHYSICAL[column.type]],
            [2, LIST, I32, [0]],
            [3, LIST, BINARY, column.name.split(".")],
            [4, I32, CODECS[codec][0]],
            [5, I64, count],
            [6, I64, header.length + data.length],
            [7, I64, size],
            [9, I64, at],
          ],
        ],
      ];
    });
    groups.push([
      [1, LIST, STRUCT, chunks],
      [2, I64, offset],
      [3, I64, count],
    ]);
  }
  const elements = columns.flatMap((column): Field[][] => {
    const [name, member] = column.name.split(".") as [string, string?];
    const converted = CONVERTED[column.type];
    const leaf: Field[] = [
      [1, I32, PHYSICAL[column.type]],
      ...(column.type === "DECIMAL" ? [[2, I32, DECIMAL_BYTES] as Field] : []),
      [3, I32, 0],
      [4, BINARY, member ?? name],
      ...(converted === undefined ? [] : [[6, I32, converted] as Field]),
      ...("scale" in column
        ? [[7, I32, column.scale] as Field, [8, I32, column.type === "DECIMAL" ? 30 : 18] as Field]
        : []),
    ];
    const group: Field[] = [
      [3, I32, 0],
      [4, BINARY, name],
      [5, I32, 1],
    ];
    return member === undefined ? [leaf] : [group, leaf];
  });
  const footer = Buffer.from(
    struct([
      [1, I32, 1],
      [
        2,
        LIST,
        STRUCT,
        [
          [
            [4, BINARY, "schema"],
            [5, I32, columns.length],
          ],
          ...elements,
        ],
      ],
      [3, I64, rows],
      [4, LIST, STRUCT, groups],
    ]),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, Buffer.from("PAR1")]);
}
