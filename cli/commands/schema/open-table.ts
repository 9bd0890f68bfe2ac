/** Data files of the schema commands, in any format that is read: recognised by their first bytes. */
import { type FileHandle, open } from "node:fs/promises";
import { TabularError } from "../../../src/tabular/limits.js";
import { parquetTable } from "../../../src/tabular/parquet-feed.js";
import type { CellTable } from "../../../src/tabular/sources/cell-table.js";
import { chosenSheet, namesText, sheetTable } from "../../../src/tabular/sources/sheet.js";
import { isPacked, peek, startsWith, unpacked } from "../../../src/tabular/sources/unpack.js";
import { type DataSource, inFile, openData, STDIN } from "./inputs.js";

/** Which part of a file is the table, where it may hold several. */
export interface TableOptions {
  sheet?: string;
  member?: string;
}

/** A table that was opened: separated text, or cells. */
export interface OpenTable extends DataSource {
  cells?: CellTable;
  /** Called with the number of bytes of the file that were read, where cells are read from it. */
  onRead?: (bytes: number) => void;
  close(): Promise<void>;
}

const ascii = (text: string): number[] => [...Buffer.from(text, "latin1")];
const PARQUET = ascii("PAR1");
const ZIP = ascii("PK\x03\x04");

/** Formats that are not read, by their first bytes. */
const NOT_READ: readonly (readonly [magic: number[], name: string, advice: string])[] = [
  [ascii("\xd0\xcf\x11\xe0"), "an old or encrypted workbook (xls)", "save it as xlsx"],
  [ascii("FEA1"), "Feather 1", "write it as Feather 2 (Arrow) or Parquet"],
  [ascii("PARE"), "encrypted Parquet", "write it without encryption"],
  [ascii("ORC"), "ORC", "convert it to Parquet"],
  [ascii("Obj\x01"), "Avro", "convert it to Parquet or JSON Lines"],
  [ascii("\x89HDF"), "HDF5", "convert it to CSV or Parquet"],
  [ascii("SQLite format 3\0"), "an SQLite database", "export the table as CSV"],
  [ascii("$FL2"), "an SPSS file", "export it as CSV"],
  [ascii("<stata_dta>"), "a Stata file", "export it as CSV"],
  [ascii("RDX"), "an R file", "export it as CSV"],
  [ascii("\x04\x22\x4d\x18"), "packed with LZ4", "pack it with gzip, zstd, bzip2 or xz"],
  [ascii("LZIP"), "packed with lzip", "pack it with gzip, zstd, bzip2 or xz"],
  [ascii("\x1f\x9d"), "packed with compress", "pack it with gzip, zstd, bzip2 or xz"],
  [ascii("7z\xbc\xaf\x27\x1c"), "a 7z archive", "unpack it first"],
  [ascii("Rar!"), "a RAR archive", "unpack it first"],
];

function refuseUnread(head: Uint8Array): void {
  const found = NOT_READ.find(([magic]) => startsWith(head, magic));
  if (found) throw new TabularError("DATA", `it is ${found[1]}, which is not read: ${found[2]}`);
}

/** Bytes by which a format is recognised. */
const HEAD = 4096;

/** Opens a data file; `-` is standard input. @throws Failure, TabularError */
export async function openTable(path: string, options: TableOptions): Promise<OpenTable> {
  const source = await openData(path);
  return inFile(source.name, async () => {
    // A pipe is not looked into: what is read from it is gone.
    const isFile = path !== STDIN && source.size !== undefined;
    const head = isFile ? await headOf(path) : new Uint8Array();
    if (isFile && (path.toLowerCase().endsWith(".parquet") || startsWith(head, PARQUET)))
      return openParquet(path, source);
    if (startsWith(head, ZIP)) return openArchive(path, source, options);
    refuseOther(options, "sheet", "it is no workbook");
    refuseOther(options, "member", "it is no zip archive");
    return openBytes(
      source,
      isFile ? { path, bytes: async () => (await openData(path)).bytes } : undefined,
    );
  });
}

function refuseOther(options: TableOptions, option: "sheet" | "member", reason: string): void {
  if (options[option] !== undefined)
    throw new TabularError("DATA", `--${option} names no part of it: ${reason}`);
}

async function headOf(path: string): Promise<Uint8Array> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Bytes that can be read more than once. */
interface Again {
  bytes(): Promise<AsyncIterable<Uint8Array>>;
  /** The file that they are as they are; none for a member of an archive. */
  path?: string;
}

/**
 * A table that is read from its begin to its end.
 * @param again the same bytes, where they can be read more than once
 */
async function openBytes(source: DataSource, again?: Again): Promise<OpenTable> {
  const opened: AsyncIterator<Uint8Array>[] = [];
  const closable = (bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => {
    const iterator = bytes[Symbol.asyncIterator]();
    opened.push(iterator);
    return { [Symbol.asyncIterator]: () => iterator };
  };
  const handles: FileHandle[] = [];
  const packed = await peek(closable(source.bytes), HEAD);
  const { head, bytes } = await peek(unpacked(packed.bytes), HEAD);
  refuseUnread(head);
  let isRead = false;
  const read = async function* (): AsyncGenerator<Uint8Array> {
    if (isRead && again) yield* unpacked(closable(await again.bytes()));
    else {
      isRead = true;
      yield* bytes;
    }
  };
  const path = isPacked(packed.head) ? undefined : again?.path;
  const [{ isArrow, arrowTable }, { isJsonLines, jsonLinesTable }] = await Promise.all([
    import("../../../src/tabular/sources/arrow.js"),
    import("../../../src/tabular/sources/json-lines.js"),
  ]);
  const fileOrBytes = async (): Promise<FileHandle | AsyncIterable<Uint8Array>> => {
    if (path === undefined) return read();
    const handle = await open(path);
    handles.push(handle);
    return handle;
  };
  const cells = isArrow(head)
    ? arrowTable(fileOrBytes)
    : isJsonLines(head, head.length < HEAD)
      ? jsonLinesTable(read)
      : undefined;
  return {
    ...source,
    // How far the file was read is not known where its bytes are unpacked.
    size: isPacked(packed.head) ? undefined : source.size,
    bytes,
    ...(cells ? { cells } : {}),
    async close() {
      for (const iterator of opened) await iterator.return?.();
      for (const handle of handles) await handle.close();
    },
  };
}

async function openParquet(path: string, source: DataSource): Promise<OpenTable> {
  const handle = await open(path);
  const { size } = await handle.stat();
  let read = 0;
  const opened: OpenTable = {
    ...source,
    cells: parquetTable({
      byteLength: size,
      async slice(start, end = size) {
        const bytes = await sliceOf(handle, start, end);
        opened.onRead?.(Math.min(size, (read += bytes.byteLength)));
        return bytes;
      },
    }),
    close: () => handle.close(),
  };
  return opened;
}

async function sliceOf(handle: FileHandle, start: number, end: number): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(0, end - start));
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.buffer;
}

/** A workbook, or an archive with a table in it. */
async function openArchive(
  path: string,
  source: DataSource,
  options: TableOptions,
): Promise<OpenTable> {
  const [{ openZip }, { isXlsx, xlsxSheets }, { isOpenDocument, odsSheets }] = await Promise.all([
    import("../../../src/tabular/sources/zip.js"),
    import("../../../src/tabular/sources/xlsx.js"),
    import("../../../src/tabular/sources/ods.js"),
  ]);
  const zip = await openZip(path);
  const close = async (): Promise<void> => zip.close();
  try {
    const isBook = isXlsx(zip) || isOpenDocument(zip);
    if (isBook) {
      refuseOther(options, "member", "it is a workbook: give --sheet");
      const [format, sheets] = isXlsx(zip)
        ? ["xlsx", await xlsxSheets(zip)]
        : ["ODS", await odsSheets(zip)];
      return { ...source, cells: sheetTable(format, chosenSheet(sheets, options.sheet)), close };
    }
    refuseOther(options, "sheet", "it is no workbook");
    const members = zip.members.filter(({ name }) => !/^__MACOSX\/|(?:^|\/)\./.test(name));
    const [only, ...others] =
      options.member === undefined
        ? members
        : members.filter(({ name }) => name === options.member);
    const names = namesText(members.map(({ name }) => name));
    if (!only)
      throw new TabularError(
        "DATA",
        members.length === 0
          ? "it is an archive without files"
          : `it has no member ${options.member}, but ${names}`,
      );
    if (others.length > 0)
      throw new TabularError(
        "DATA",
        `it has ${members.length} members: name one with --member: ${names}`,
      );
    const { head } = await peek(only.bytes(), HEAD);
    if (startsWith(head, PARQUET) || startsWith(head, ZIP))
      throw new TabularError("DATA", `${only.name} is Parquet or an archive: unpack it first`);
    const opened = await openBytes(
      { ...source, size: undefined, bytes: only.bytes() },
      { bytes: async () => only.bytes() },
    );
    return { ...opened, close: () => opened.close().finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}
