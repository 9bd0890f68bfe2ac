import { sizeText, type TableLimits, TabularError } from "../limits.js";

/** Flags of a cell; 0 is the common case: plain ASCII between separators. */
export const NON_ASCII = 1;
export const QUOTED = 2;
/** Quotes inside are doubled. */
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
    if ((flag & RELAXED) !== 0) return relaxedText(raw);
    return (flag & ESCAPED) === 0 ? raw : raw.replaceAll('""', '"');
  }

  /** All cells as text. */
  cells(): string[] {
    return Array.from({ length: this.count }, (_, column) => this.ownText(column));
  }

  /** True for the row of a blank line: one empty cell without quotes. */
  get isBlank(): boolean {
    return this.count === 1 && this.starts[0] === this.ends[0] && this.flags[0] === 0;
  }

  /** Makes this the row of a blank line. */
  setBlank(): void {
    this.count = 1;
    this.starts[0] = 0;
    this.ends[0] = 0;
    this.flags[0] = 0;
  }
}

/** `"a""b"c` is read as `"a"b"c`: the quotes around stay, doubled ones inside become one. */
function relaxedText(raw: string): string {
  let end = 1;
  while (raw[end] !== '"' || raw[end + 1] === '"') end += raw[end] === '"' ? 2 : 1;
  return `"${raw.slice(1, end).replaceAll('""', '"')}${raw.slice(end)}`;
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

/**
 * Between a reader and the rules: drops the header, numbers the data rows, and lets blank lines
 * pass only when a row follows them (trailing blank lines are no rows).
 */
export class RowGate {
  #headerPending: boolean;
  #blanks = 0;
  #blankLine = 0;
  /** Columns of the file's first row, header or not. */
  firstCount = -1;

  readonly #row: Row;
  readonly #onRow: (row: Row) => void;
  readonly #onHeader: ((row: Row) => void) | undefined;

  constructor(header: boolean, row: Row, onRow: (row: Row) => void, onHeader?: (row: Row) => void) {
    this.#row = row;
    this.#onRow = onRow;
    this.#onHeader = onHeader;

    this.#headerPending = header;
  }

  /** Takes the row that was just read. */
  pass(): void {
    const row = this.#row;
    if (this.firstCount < 0) this.firstCount = row.count;
    if (this.#headerPending) {
      this.#headerPending = false;
      this.#onHeader?.(row);
      return;
    }
    if (row.isBlank) {
      if (this.#blanks++ === 0) this.#blankLine = row.line;
      return;
    }
    if (this.#blanks > 0) this.#passBlanks();
    this.#onRow(row);
    row.number++;
  }

  #passBlanks(): void {
    const row = this.#row;
    const { count, line, flags, starts, ends } = row;
    const [flag, start, end] = [flags[0]!, starts[0]!, ends[0]!];
    row.setBlank();
    for (let index = 0; index < this.#blanks; index++) {
      row.line = this.#blankLine === 0 ? 0 : this.#blankLine + index;
      this.#onRow(row);
      row.number++;
    }
    this.#blanks = 0;
    row.count = count;
    row.line = line;
    [flags[0], starts[0], ends[0]] = [flag, start, end];
  }
}

const place = (row: Row): string => `row ${row.number}${row.line > 0 ? ` (line ${row.line})` : ""}`;

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
