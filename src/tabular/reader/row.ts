import { isUtf8 } from "node:buffer";
import { sizeText, type TableLimits, TabularError, UTF_8 } from "../limits.js";

/** Flags of a cell; 0 is the common case: plain ASCII between separators. */
export const NON_ASCII = 1;
export const QUOTED = 2;
/** Quotes inside are doubled, or characters inside are escaped. */
export const ESCAPED = 4;
/** Text follows the closing quote: the cell stays as it is, as in the reference reader. */
export const RELAXED = 8;

const EMPTY = Buffer.alloc(0);

/**
 * The row under the reader, reused for every row: cells are places in a block of bytes and become
 * text only when a rule asks. It is only valid until the next row is read.
 */
export class Row {
  bytes: Buffer = EMPTY;
  /** Where the block's valid bytes end. */
  blockEnd = 0;
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  flags = new Uint8Array(64);
  /** Number of cells. */
  count = 0;
  /** Position among the data rows, from 0. */
  number = 0;
  /** Line of the file the row begins in, from 1; 0 where there are no lines. */
  line = 1;
  /** The first cell whose bytes are not UTF-8, and the first such byte in it. */
  foreign: { column: number; byte: number; word?: string | undefined } | undefined;
  /** The first cell with text behind its closing quote; -1 for none. */
  stray = -1;
  /** Where the bytes of the row are in the block, with its line break; the same for none. */
  rawStart = 0;
  rawEnd = 0;
  /** The bytes of a blank line, which is a row only once another one follows. */
  #blank: Buffer | undefined;
  /** The characters that {@link ESCAPED} and {@link RELAXED} cells were written with. */
  marks: { quote: string; escape: string | null } = { quote: '"', escape: null };
  #blockText: string | undefined;

  /** Points at other bytes, or at the same bytes with other content. */
  setBlock(bytes: Buffer, end: number): void {
    this.bytes = bytes;
    this.blockEnd = end;
    this.#blockText = undefined;
  }

  /** Doubles the number of cells that fit. */
  grow(): void {
    const size = this.starts.length * 2;
    const [starts, ends, flags] = [
      new Int32Array(size),
      new Int32Array(size),
      new Uint8Array(size),
    ];
    starts.set(this.starts);
    ends.set(this.ends);
    flags.set(this.flags);
    [this.starts, this.ends, this.flags] = [starts, ends, flags];
  }

  /** The row as it is in the text, with its line break; valid until the next row is read. */
  get raw(): Buffer {
    return this.#blank ?? this.bytes.subarray(this.rawStart, this.rawEnd);
  }

  /** A cell's text for looking at now; it may share memory with its block. */
  text(column: number): string {
    const flag = this.flags[column]!;
    if ((flag & ~QUOTED) !== 0) return this.ownText(column);
    this.#blockText ??= this.bytes.toString("latin1", 0, this.blockEnd);
    return this.#blockText.slice(this.starts[column], this.ends[column]);
  }

  /** A cell's text for keeping. */
  ownText(column: number): string {
    const [start, end, flag] = [this.starts[column]!, this.ends[column]!, this.flags[column]!];
    const raw = this.bytes.toString((flag & NON_ASCII) === 0 ? "latin1" : "utf8", start, end);
    if ((flag & RELAXED) !== 0 && this.marks.escape === null)
      return relaxedText(raw, this.marks.quote);
    return (flag & ESCAPED) === 0 ? raw : this.#unescaped(raw);
  }

  #unescaped(raw: string): string {
    const { quote, escape } = this.marks;
    if (escape === null) return raw.replaceAll(quote + quote, quote);
    let text = "";
    for (let at = 0; at < raw.length; at++)
      text += raw[at] === escape ? (raw[++at] ?? "") : raw[at]!;
    return text;
  }

  /** Finds the first cell whose bytes are not UTF-8. */
  findForeign(): void {
    this.foreign = undefined;
    for (let column = 0; column < this.count; column++) {
      const [start, end, flag] = [this.starts[column]!, this.ends[column]!, this.flags[column]!];
      if ((flag & NON_ASCII) === 0) continue;
      const cell = this.bytes.subarray(start, end);
      if (isUtf8(cell)) continue;
      const at = soundLength(cell);
      this.foreign = { column, byte: cell[at]!, word: wordAround(cell, at) };
      return;
    }
  }

  /** All cells as text. */
  cells(): string[] {
    return Array.from({ length: this.count }, (_, column) => this.ownText(column));
  }

  /** True for the row of a blank line: one empty cell without quotes. */
  get isBlank(): boolean {
    return this.count === 1 && this.starts[0] === this.ends[0] && this.flags[0] === 0;
  }

  /** Runs work while this is the row of a blank line, and is what it was afterwards. */
  whileBlank(raw: Buffer, work: () => void): void {
    const { count, line, flags, starts, ends } = this;
    const [flag, start, end] = [flags[0]!, starts[0]!, ends[0]!];
    this.#blank = raw;
    this.count = 1;
    [flags[0], starts[0], ends[0]] = [0, 0, 0];
    work();
    this.#blank = undefined;
    this.count = count;
    this.line = line;
    [flags[0], starts[0], ends[0]] = [flag, start, end];
  }
}

/** `"a""b"c` is read as `"a"b"c`: the quotes around stay, doubled ones inside become one. */
function relaxedText(raw: string, quote: string): string {
  let end = 1;
  while (raw[end] !== quote || raw[end + 1] === quote) end += raw[end] === quote ? 2 : 1;
  return quote + raw.slice(1, end).replaceAll(quote + quote, quote) + raw.slice(end);
}

/** How many bytes come before the first that is not UTF-8. */
export function soundLength(bytes: Uint8Array): number {
  // Of all beginnings those up to the place are UTF-8, and the longer ones are not.
  let [good, bad] = [0, bytes.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isUtf8(bytes.subarray(0, completeEnd(bytes, middle)))) good = middle;
    else bad = middle;
  }
  return completeEnd(bytes, good);
}

/** Where the last whole character of the first `length` bytes ends. */
export function completeEnd(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? length - back : length;
  }
  return length;
}

/** Characters shown on either side. */
const AROUND = 20;

/** The word around a byte, read as Latin-1; `undefined` where that is no word either. */
function wordAround(bytes: Buffer, at: number): string | undefined {
  const isLetter = (byte: number | undefined) =>
    byte !== undefined &&
    (byte >= 0xa1 || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a));
  if (!isLetter(bytes[at])) return undefined;
  let [from, to] = [at, at + 1];
  while (from > 0 && at - from < AROUND && isLetter(bytes[from - 1])) from--;
  while (to < bytes.length && to - at < AROUND && isLetter(bytes[to])) to++;
  return bytes.toString("latin1", from, to);
}

/** Puts cells that are text already into the row. */
export function setCells(
  row: Row,
  cells: readonly string[],
  quotes: boolean,
  limits: TableLimits,
): void {
  if (cells.length > limits.maxColumns) throw tooManyColumns(row, limits);
  while (row.starts.length < cells.length) row.grow();
  const bytes = Buffer.from(cells.join(""));
  row.setBlock(bytes, bytes.length);
  row.count = cells.length;
  let at = 0;
  for (let column = 0; column < cells.length; column++) {
    const cell = cells[column]!;
    const length = Buffer.byteLength(cell);
    row.starts[column] = at;
    row.ends[column] = at += length;
    row.flags[column] = (length === cell.length ? 0 : NON_ASCII) | (quotes ? QUOTED : 0);
    if (length > limits.maxCell) throw cellTooLong(row, column, limits);
  }
}

/** Runs work that must not take too long; see `timeGuard`. */
export type Guard = (work: () => void) => void;

/**
 * A source of rows. It calls back for each row, many in one step of the generator: a promise for
 * every row would cost more than reading it. After each step the caller may read the collected
 * results, or stop.
 */
export type RowFeed = (row: Row, each: () => void, guard: Guard) => AsyncGenerator<void, void>;

/** Without a limit of time. */
export const unguarded: Guard = (work) => work();

/** Something about a table that is no error of a row, and that its author did not intend. */
export interface TableFinding {
  /** Stable, for programs. */
  code: "HEADER_DIFFERS" | "HEADER_MISSING" | "STRAY_QUOTE";
  message: string;
  /** Line of the file, from 1, where there is one. */
  line?: number;
}

/** Stray quotes that are named one by one. */
const LISTED_QUOTES = 10;

/** What takes the rows of a {@link RowGate}, and what its errors name. */
interface RowHandlers {
  onFinding?: ((finding: TableFinding) => void) | undefined;
  onRow: (row: Row) => void;
  onHeader?: ((names: readonly string[]) => void) | undefined;
  /** The name of a column where it is not the header's. */
  nameOf?: (column: number) => string | undefined;
  /** As the text is stated to be. */
  encoding: string | undefined;
  limits: TableLimits;
}

/**
 * Between a reader and the rules: drops the header, numbers the data rows, and lets blank lines
 * pass only when a row follows them (trailing blank lines are no rows).
 */
export class RowGate {
  #headerPending: boolean;
  #blanks = 0;
  #blankLine = 0;
  /** The first of the blank lines; it stands for the others. */
  #blankRaw = EMPTY;
  /** Columns of the file's first row, header or not. */
  firstCount = -1;

  #strayQuotes = 0;

  /** The text of the header. */
  #names: readonly string[] = [];

  readonly #row: Row;
  readonly #handlers: RowHandlers;

  constructor(header: boolean, row: Row, handlers: RowHandlers) {
    this.#row = row;
    this.#handlers = handlers;

    this.#headerPending = header;
  }

  /** Takes the row that was just read. @throws TabularError `DATA` for one in another encoding */
  pass(): void {
    const row = this.#row;
    const { onRow, onHeader, nameOf, encoding, limits } = this.#handlers;
    if (row.foreign) {
      const { column } = row.foreign;
      const name = this.#headerPending ? undefined : (nameOf?.(column) ?? this.#names[column]);
      throw foreignText(row, { isHeader: this.#headerPending, name, encoding }, limits);
    }
    if (row.stray >= 0) this.#noteStray(row);
    if (this.firstCount < 0) this.firstCount = row.count;
    if (this.#headerPending) {
      this.#headerPending = false;
      this.#names = row.cells();
      onHeader?.(this.#names);
      return;
    }
    if (row.isBlank) {
      if (this.#blanks++ === 0) {
        this.#blankLine = row.line;
        this.#blankRaw = Buffer.from(row.raw);
      }
      return;
    }
    if (this.#blanks > 0) this.#passBlanks();
    onRow(row);
    row.number++;
  }

  /** A quote that closes too early or too late may have swallowed the rows between. */
  #noteStray({ line, stray }: Row): void {
    if (++this.#strayQuotes > LISTED_QUOTES) return;
    const where = this.#headerPending ? `the header (line ${line})` : place(this.#row);
    this.#handlers.onFinding?.({
      code: "STRAY_QUOTE",
      message:
        `${where}, column ${stray}: text follows a closing quote, so rows may be read as one ` +
        "cell: double the quotes inside a cell" +
        (this.#strayQuotes === LISTED_QUOTES ? "; further ones are not listed" : ""),
      ...(line > 0 ? { line } : {}),
    });
  }

  #passBlanks(): void {
    const row = this.#row;
    row.whileBlank(this.#blankRaw, () => {
      for (let index = 0; index < this.#blanks; index++) {
        row.line = this.#blankLine === 0 ? 0 : this.#blankLine + index;
        this.#handlers.onRow(row);
        row.number++;
      }
    });
    this.#blanks = 0;
  }
}

const place = (row: Row): string => `row ${row.number}${row.line > 0 ? ` (line ${row.line})` : ""}`;

/** Characters of a column's name in a message. */
const SHOWN_NAME = 100;

/** @param about where the cell is, and the encoding that the text was said to have */
export function foreignText(
  row: Row,
  about: { isHeader: boolean; name: string | undefined; encoding: string | undefined },
  { names }: TableLimits,
): TabularError {
  const { column, byte, word } = row.foreign!;
  const name = about.name?.slice(0, SHOWN_NAME).replace(/\p{C}/gu, "?") ?? "";
  const where =
    (about.isHeader ? `the header (line ${row.line})` : place(row)) +
    `, column ${column}${name === "" ? "" : ` (${name})`}`;
  const option = names.encoding;
  const fault = (message: string): TabularError => new TabularError("DATA", where + message);
  if (about.encoding !== undefined && about.encoding !== UTF_8)
    return fault(`: it is not ${about.encoding}: give the encoding that the text has`);
  const advice =
    option === undefined
      ? "convert the file to UTF-8, e.g. iconv -f LATIN1 -t UTF-8"
      : `give ${option} latin1`;
  return fault(
    `: byte 0x${byte.toString(16).toUpperCase().padStart(2, "0")} is not UTF-8: if it is Latin-1` +
      `${word === undefined ? "" : ` (“${word}”)`}, ${advice}`,
  );
}

export function tooManyColumns(row: Row, { maxColumns, names }: TableLimits): TabularError {
  return new TabularError(
    "LIMIT",
    `${place(row)} has more than ${maxColumns} columns: raise ${names.maxColumns} if it should`,
  );
}

export function cellTooLong(
  row: Row,
  column: number,
  { maxCell, names }: TableLimits,
): TabularError {
  return new TabularError(
    "LIMIT",
    `column ${column} of ${place(row)} is longer than ${sizeText(maxCell)}: raise ` +
      `${names.maxCell} if it should be`,
  );
}

/** @param open true when it is a quoted cell that makes the row so long */
export function rowTooLong(row: Row, open: boolean, { maxRow, names }: TableLimits): TabularError {
  const size = sizeText(maxRow);
  return new TabularError(
    "LIMIT",
    open
      ? `a quoted cell in ${place(row)} is not closed within ${size}: close it, or raise ` +
          `${names.maxRow} if the row is that long`
      : `${place(row)} is longer than ${size}: raise ${names.maxRow} if it should be`,
  );
}
