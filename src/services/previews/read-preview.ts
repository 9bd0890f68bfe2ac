/** Bytes become a preview: text, tables, notebooks and images. */
import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { measureJson } from "../../model/json/scan.js";
import { beginsWithData } from "../../tabular/detect.js";
import { DEFAULT_LIMITS, type TableLimits, TabularError } from "../../tabular/limits.js";
import { parquetHead } from "../../tabular/parquet-feed.js";
import { separatedBy } from "../../tabular/reader/dialect.js";
import { completeEnd, Row, type RowFeed, setCells, unguarded } from "../../tabular/reader/row.js";
import { textFeed } from "../../tabular/reader/text-feed.js";
import { readSchema, type TableSchema } from "../../tabular/schema/table-schema.js";
import { type TableCheck, validateCells, validateTable } from "../../tabular/validate.js";
import {
  type CellError,
  type Decoded,
  decodedText,
  type NotebookCell,
  type NotebookPreview,
  none,
  type PreviewInput,
  type PreviewLimits,
  type ReadPreview,
  shortened,
  type TablePreview,
} from "./types.js";

/** Characters of a cell, and of a message. */
const TABLE_CELL = 500;
/** Errors of the rows that are shown. */
const MAX_ERRORS = 1_000;

const limitsOf = (bytes: number): TableLimits => ({
  ...DEFAULT_LIMITS,
  maxText: bytes,
  maxCell: bytes,
  maxRow: bytes,
  names: { ...DEFAULT_LIMITS.names, encoding: undefined },
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Parts = Pick<PreviewInput, "schema" | "limits"> & { cut: boolean };

/**
 * The first rows of separated text.
 * @param raw the bytes of the text: those that are not UTF-8 are shown in a likely encoding, and
 * make a problem as in a check
 */
async function textTable(
  raw: Buffer,
  text: string,
  separator: string | undefined,
  { schema, limits, cut }: Parts,
): Promise<TablePreview> {
  const applied = appliedSchema(schema);
  const stated = applied.schema?.dialect;
  const dialect =
    stated === undefined || stated.separator === ""
      ? separatedBy(separator ?? likelySeparator(text))
      : stated;
  // A row that is cut would look like another row; a text of one line is shown as far as it goes.
  const lines = text.search(/[\r\n]/) >= 0;
  const whole =
    cut && lines
      ? text.slice(0, Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1)
      : text;
  const bytes = Buffer.from(whole);
  const stored = cut ? raw.subarray(0, wholeLines(raw)) : raw;
  const tableLimits = limitsOf(Math.max(bytes.length, stored.length) + 1);
  const { rows, more, problem } = await rowsOf(
    textFeed(once(bytes), dialect, tableLimits),
    limits.rows + 1,
  );
  const header = applied.schema?.header ?? !beginsWithData(rows);
  const shown = rows.slice(header ? 1 : 0).slice(0, limits.rows);
  return shownTable({
    columns: header ? (rows[0] ?? []) : [],
    rows: shown,
    moreRows: more || rows.length > shown.length + (header ? 1 : 0) || (cut && lines),
    // A quoted cell that is cut is no fault of the table.
    problem: cut ? null : problem,
    applied,
    limits,
    otherwise: isUtf8(stored) ? undefined : { ...NO_COLUMNS, dialect, header },
    check: (table) =>
      validateTable(once(stored), table, {
        patterns: "linear",
        maxErrors: MAX_ERRORS,
        limits: tableLimits,
      }),
  });
}

/** Applied to a table without a schema whose bytes are not sound. */
const NO_COLUMNS: TableSchema = readSchema({ properties: {} });

/** Bytes up to the end of the last line, else of the last character. */
function wholeLines(bytes: Buffer): number {
  const end = Math.max(bytes.lastIndexOf("\n"), bytes.lastIndexOf("\r")) + 1;
  return end > 0 ? end : completeEnd(bytes, bytes.length);
}

/** The first rows of a Parquet file. */
async function parquetTable(bytes: Uint8Array, { schema, limits }: Parts): Promise<TablePreview> {
  const applied = appliedSchema(schema);
  const copy = Uint8Array.from(bytes);
  const { columns, rows, total } = await parquetHead(copy.buffer, limits);
  return shownTable({
    columns,
    rows,
    moreRows: total > rows.length,
    problem: null,
    applied,
    limits,
    isPart: columns.length > limits.columns,
    check: (table) =>
      validateCells({ mayHaveHeader: false, feed: () => feedOf(rows) }, table, {
        patterns: "linear",
        maxErrors: MAX_ERRORS,
      }),
  });
}

interface Applied {
  ark: string | null;
  schema?: TableSchema;
  problem: string | null;
}

function appliedSchema(stated: PreviewInput["schema"]): Applied {
  if (!stated) return { ark: null, problem: null };
  try {
    return { ark: stated.ark, schema: readSchema(stated.document), problem: null };
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    return { ark: stated.ark, problem: `It was not checked: ${error.message}.` };
  }
}

async function shownTable({
  columns,
  rows,
  moreRows,
  problem,
  applied,
  limits,
  isPart = false,
  otherwise,
  check,
}: Pick<TablePreview, "columns" | "rows" | "moreRows" | "problem"> & {
  applied: Applied;
  limits: PreviewLimits;
  /** Rows are without their last columns. */
  isPart?: boolean;
  /** What is checked where there is no schema. */
  otherwise?: TableSchema | undefined;
  check: (schema: TableSchema) => TableCheck;
}): Promise<TablePreview> {
  const widest = rows.reduce((most, { length }) => Math.max(most, length), columns.length);
  const errors: CellError[] = [];
  let unchecked = applied.problem;
  const against = applied.schema ?? otherwise;
  try {
    if (applied.schema && isPart)
      unchecked = `It was not checked: it has more than ${limits.columns} columns.`;
    else if (against)
      for await (const { row, column, kind, message } of check(against)) {
        if (row >= rows.length) break;
        errors.push({
          row,
          column: column < 0 ? null : column,
          keyword: kind.keyword,
          message: shortened(message, TABLE_CELL),
        });
      }
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    unchecked = `It was not ${applied.schema ? "checked" : "read"} to the end: ${error.message}.`;
  }
  const cells = (row: readonly string[]): string[] =>
    row.slice(0, limits.columns).map((cell) => shortened(cell, TABLE_CELL));
  return {
    form: "table",
    columns: cells(columns),
    rows: rows.map(cells),
    errors,
    moreRows,
    moreColumns: widest > limits.columns,
    schema: applied.ark,
    problem: problem ?? unchecked,
  };
}

/** The first rows of a feed as text; `problem`: why there are no more. */
async function rowsOf(
  feed: RowFeed,
  most: number,
): Promise<{ rows: string[][]; more: boolean; problem: string | null }> {
  const rows: string[][] = [];
  let more = false;
  const row = new Row();
  // Blank lines at the end are no rows.
  let blanks = 0;
  const each = (): void => {
    if (row.isBlank) {
      blanks++;
      return;
    }
    for (; blanks > 0 && rows.length < most; blanks--) rows.push([""]);
    if (rows.length < most) rows.push(row.cells());
    else more = true;
  };
  try {
    for await (const _ of feed(row, each, unguarded)) if (more) break;
    return { rows, more, problem: null };
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    return { rows, more: true, problem: `It was not read to the end: ${error.message}.` };
  }
}

/** Rows that were read, once more. */
export const feedOf = (rows: readonly (readonly string[])[]): RowFeed =>
  async function* (row, each, guard) {
    row.line = 0;
    guard(() => {
      for (const cells of rows) {
        setCells(row, cells, true, DEFAULT_LIMITS);
        each();
      }
    });
    yield;
  };

/** The separator that occurs most often in the first line. */
function likelySeparator(text: string): string {
  const line = text.slice(0, 10_000).replace(/[\r\n].*/s, "");
  const counted = [",", "\t", ";", "|"].map((separator) => ({
    separator,
    count: line.split(separator).length,
  }));
  return counted.reduce((best, each) => (each.count > best.count ? each : best)).separator;
}

interface ImageFacts {
  mediaType: string;
  width: number | null;
  height: number | null;
}

/** Formats that every browser shows, by their first bytes; never SVG, which may hold scripts. */
function imageOf(bytes: Buffer): ImageFacts | undefined {
  const ascii = (from: number, to: number): string => bytes.toString("latin1", from, to);
  const facts = (mediaType: string, size?: [width: number, height: number]): ImageFacts => ({
    mediaType,
    width: size?.[0] ?? null,
    height: size?.[1] ?? null,
  });
  if (ascii(0, 8) === "\u0089PNG\r\n\u001a\n")
    return facts(
      "image/png",
      bytes.length >= 24 ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : undefined,
    );
  if (/^GIF8[79]a$/.test(ascii(0, 6)))
    return facts(
      "image/gif",
      bytes.length >= 10 ? [bytes.readUInt16LE(6), bytes.readUInt16LE(8)] : undefined,
    );
  if (ascii(0, 3) === "\u00ff\u00d8\u00ff") return facts("image/jpeg", jpegSize(bytes));
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP")
    return facts("image/webp", webpSize(bytes));
  return ascii(4, 12) === "ftypavif" ? facts("image/avif") : undefined;
}

/** From the first frame header; segments before it say how long they are. */
function jpegSize(bytes: Buffer): [number, number] | undefined {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): [number, number] | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1];
    }
    default:
      return undefined;
  }
}

/** Characters of one cell or output. */
const NOTEBOOK_CELL = 20_000;
/** Characters of one picture among the outputs, and of all of a notebook. */
const [MAX_PICTURE, MAX_PICTURES] = [1_500_000, 6_000_000];
const OUTPUTS = 20;
/** Deepest JSON that is indented: each of its lines has as many indents as it is deep. */
const INDENTED_DEPTH = 50;

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Text of a notebook is a string or a list of lines. */
const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value)
      ? value.filter((line) => typeof line === "string").join("")
      : "";

/** Cells as text (nbformat 3 and 4); `undefined` for JSON that is no notebook. Nothing is run. */
function notebookOf(json: unknown, limits: PreviewLimits): NotebookPreview | undefined {
  if (!isObject(json)) return undefined;
  const [sheet] = Array.isArray(json["worksheets"]) ? (json["worksheets"] as unknown[]) : [];
  const cells = json["cells"] ?? (isObject(sheet) ? sheet["cells"] : undefined);
  if (!Array.isArray(cells)) return undefined;
  const metadata = isObject(json["metadata"]) ? json["metadata"] : {};
  const language = [metadata["language_info"], metadata["kernelspec"]]
    .filter(isObject)
    .flatMap(({ name, language: stated }) => [stated, name])
    .find((name) => typeof name === "string");
  let room = limits.text;
  const pictures = { left: MAX_PICTURES };
  const shown: NotebookCell[] = [];
  for (const cell of cells.filter(isObject)) {
    if (shown.length === limits.rows || room <= 0) break;
    const made = cellOf(cell, pictures);
    const texts = made.outputs.filter((output) => !output.startsWith(PICTURE));
    room -= made.text.length + texts.reduce((sum, { length }) => sum + length, 0);
    shown.push(made);
  }
  return {
    form: "notebook",
    language: typeof language === "string" ? shortened(language, 100) : "txt",
    cells: shown,
    truncated: shown.length < cells.length,
  };
}

function cellOf(cell: Json, pictures: { left: number }): NotebookCell {
  const type = cell["cell_type"];
  const outputs = Array.isArray(cell["outputs"]) ? (cell["outputs"] as unknown[]) : [];
  return {
    kind: type === "code" || type === "markdown" ? type : "raw",
    text: shortened(textOf(cell["source"] ?? cell["input"]), NOTEBOOK_CELL),
    outputs: outputs
      .filter(isObject)
      .slice(0, OUTPUTS)
      .flatMap((output) => outputsOf(output, pictures)),
  };
}

const PICTURE = "data:image/";

/** An output as text, and its picture as an address: PNG and JPEG hold nothing that runs. */
function outputsOf(output: Json, pictures: { left: number }): string[] {
  const data = isObject(output["data"]) ? output["data"] : output;
  const type = ["image/png", "image/jpeg"].find((each) => Object.hasOwn(data, each));
  const bytes = type === undefined ? "" : textOf(data[type]).replace(/\s/g, "");
  const fits = bytes.length <= Math.min(MAX_PICTURE, pictures.left);
  if (type === undefined || !fits || !/^[A-Za-z0-9+/]+={0,2}$/.test(bytes))
    return [outputOf(output)];
  pictures.left -= bytes.length;
  const { [type]: _picture, ...rest } = data;
  const text = outputOf({ ...output, data: rest });
  return [...(text === "" ? [] : [text]), `data:${type};base64,${bytes}`];
}

/** Text as it is; of anything else what it is: HTML and images of a notebook may hold scripts. */
function outputOf(output: Json): string {
  const data = isObject(output["data"]) ? output["data"] : output;
  const text = textOf(data["text/plain"] ?? data["text"]);
  const error = typeof output["ename"] === "string" ? `${output["ename"]}: ` : "";
  const value = typeof output["evalue"] === "string" ? output["evalue"] : "";
  const kinds = Object.keys(data).filter((type) => /^(?:image|video|audio)\//.test(type));
  const parts = [error + value, text, ...kinds.map((type) => `[${shortened(type, 60)}]`)].filter(
    (part) => part !== "",
  );
  return shortened(parts.join("\n"), NOTEBOOK_CELL);
}

/** What a file is, by its first bytes before its name and the type that somebody stated. */
export type Nature =
  "image" | "document" | "parquet" | "gzip" | "archive" | "notebook" | "json" | "table" | "text";

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
const TABLE_TYPE = /^text\/(?:csv|tab-separated-values|tsv)\b/i;
/** First characters of archives and packed files. */
const PACKED = ["PK\u0003\u0004", "7z\u00bc\u00af", "BZh", "\u00fd7zXZ", "Rar!", "(\u00b5/\u00fd"];

/** Extension in lower case, also of a compressed file. */
const extensionOf = (name: string): string =>
  /\.([a-z0-9]{1,12})(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase() ?? "";

/** @param head some hundred bytes, or more */
export function natureOf(head: Buffer, name: string, mediaType: string): Nature {
  const magic = head.toString("latin1", 0, 8);
  if (imageOf(head)) return "image";
  if (magic.startsWith("%PDF-")) return "document";
  if (magic.startsWith("PAR1")) return "parquet";
  if (magic.startsWith("\u001f\u008b")) return "gzip";
  if (PACKED.some((start) => magic.startsWith(start))) return "archive";
  const extension = extensionOf(name);
  if (extension === "ipynb") return "notebook";
  if (["json", "jsonld", "geojson"].includes(extension) || JSON_TYPE.test(mediaType)) return "json";
  if (["csv", "tsv", "tab"].includes(extension) || TABLE_TYPE.test(mediaType)) return "table";
  return "text";
}

/**
 * The preview of a file. Markup is text here: nothing of a file is ever interpreted as HTML or SVG.
 */
export async function readPreview(input: PreviewInput): Promise<ReadPreview> {
  const bytes = Buffer.from(input.bytes.buffer, input.bytes.byteOffset, input.bytes.byteLength);
  const { size, name, mediaType, limits } = input;
  const cut = bytes.length < size;
  const nature = natureOf(bytes, name, mediaType);
  switch (nature) {
    case "image":
      return { form: "image", ...imageOf(bytes)! };
    case "document":
      return { form: "document", mediaType: "application/pdf" };
    case "archive":
      return none("BINARY", "It is an archive or a packed file: download it.");
    case "parquet":
      if (cut) return none("TOO_LARGE", `Parquet is shown up to ${limits.whole} bytes.`);
      try {
        return await parquetTable(bytes, { ...input, cut });
      } catch (error) {
        if (!(error instanceof TabularError)) throw error;
        return none("DAMAGED", `It cannot be shown: ${error.message}.`);
      }
    case "gzip":
      return readUnpacked(input, bytes, cut);
    default:
      return readText(nature, bytes, cut, input);
  }
}

async function readUnpacked(
  input: PreviewInput,
  bytes: Buffer,
  cut: boolean,
): Promise<ReadPreview> {
  const { text, more } = await unpacked(bytes, input.limits.text);
  const nature = natureOf(text, input.name, input.mediaType);
  if (text.length === 0 || !["notebook", "json", "table", "text"].includes(nature))
    return none("BINARY", "What is packed in it is no text: download it.");
  return readText(nature, text, cut || more, input);
}

/** The first bytes of gzip data; unpacking ends with them, however much is packed. */
async function unpacked(bytes: Buffer, most: number): Promise<{ text: Buffer; more: boolean }> {
  const gunzip = createGunzip({ chunkSize: 64 << 10 });
  const input = Readable.from([bytes]);
  input.pipe(gunzip);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      parts.push(part);
      if ((size += part.length) > most) break;
    }
  } catch {
    // Cut short, or damaged: what came before is shown.
    return { text: Buffer.concat(parts).subarray(0, most), more: true };
  } finally {
    input.destroy();
    gunzip.destroy();
  }
  return { text: Buffer.concat(parts).subarray(0, most), more: size > most };
}

async function readText(
  nature: Nature,
  bytes: Buffer,
  cut: boolean,
  input: PreviewInput,
): Promise<ReadPreview> {
  const decoded = decodedText(bytes, cut);
  if (!decoded) return none("BINARY", "It is no text: download it.");
  const { name, mediaType, limits } = input;
  if (nature === "table") {
    const isTabs = /^(?:tsv|tab)$/.test(extensionOf(name)) || /tab-sep/i.test(mediaType);
    return textTable(bytes, decoded.text, isTabs ? "\t" : undefined, { ...input, cut });
  }
  if ((nature === "json" || nature === "notebook") && !cut) {
    const json = parsed(decoded.text);
    const notebook = nature === "notebook" ? notebookOf(json, limits) : undefined;
    if (notebook) return notebook;
    const pretty = json === undefined ? undefined : printed(json);
    return shown({ ...decoded, text: pretty ?? decoded.text }, "json", cut, limits.text);
  }
  return shown(decoded, nature === "text" ? extensionOf(name) || "txt" : "json", cut, limits.text);
}

function shown(
  { text, charset }: Decoded,
  language: string,
  cut: boolean,
  most: number,
): ReadPreview {
  return {
    form: "text",
    text: text.slice(0, most).toWellFormed(),
    charset,
    language,
    truncated: cut || text.length > most,
  };
}

/** The value; `undefined` for what is no JSON, or nests too deeply to be indented. */
function parsed(text: string): unknown {
  if (
    measureJson(Buffer.from(text), Number.POSITIVE_INFINITY, INDENTED_DEPTH).tooDeep !== undefined
  )
    return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function printed(json: unknown): string | undefined {
  try {
    return JSON.stringify(json, null, 2);
  } catch {
    // Longer than a string may be.
    return undefined;
  }
}
