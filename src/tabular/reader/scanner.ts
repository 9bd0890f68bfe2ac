import { TabularError } from "../errors.js";
import { sizeText, type TableLimits } from "../limits.js";
import { ESCAPED, NON_ASCII, QUOTED, RELAXED, type Row } from "./row.js";

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** What {@link RowScanner.scan} gives when the bytes end before the row does. */
export const INCOMPLETE = -1;

/** True for separators that {@link RowScanner} reads: one ASCII character that is not part of the syntax. */
export function isScannable(separator: string): boolean {
  const code = separator.charCodeAt(0);
  return separator.length === 1 && code < 0x80 && code !== QUOTE && code !== LF && code !== CR;
}

/**
 * Finds the cells of one row after another (RFC 4180; LF, CRLF and CR end a line). One loop over the bytes, and
 * long for that reason: half the time of a check is spent here.
 */
export class RowScanner {
  /** 1 for the bytes that end a cell without quotes. */
  private readonly stops = new Uint8Array(256);
  private readonly highest: number;
  /** Line breaks inside the cells of the row just scanned. */
  innerLines = 0;
  /** True when the row was incomplete because a quoted cell is open. */
  quoteOpen = false;

  constructor(private readonly separator: number, private readonly limits: TableLimits) {
    for (const byte of [separator, LF, CR]) this.stops[byte] = 1;
    this.highest = Math.max(separator, LF, CR);
  }

  /**
   * Scans the row that begins at `from`, at most to `end`; `final` when nothing follows `end`.
   * @returns where the next row begins, or {@link INCOMPLETE}: then the row is scanned anew with more bytes
   * @throws TabularError `DATA` for a quoted cell that never ends, `LIMIT`
   */
  scan(row: Row, from: number, end: number, final: boolean): number {
    const { bytes } = row;
    const { stops, separator, highest } = this;
    let { starts, ends, flags } = row;
    let count = 0;
    let at = from;
    this.innerLines = 0;
    this.quoteOpen = false;
    for (;;) {
      if (count === starts.length) {
        if (count >= this.limits.maxColumns) throw tooManyColumns(row, this.limits);
        row.grow();
        ({ starts, ends, flags } = row);
      }
      let start = at;
      let seen = 0;
      let byte = -1;
      let flag = 0;
      if (at < end && bytes[at] === QUOTE) {
        at++;
        for (;;) {
          while (at < end && (byte = bytes[at]!) !== QUOTE) {
            seen |= byte;
            if (byte === LF || (byte === CR && bytes[at + 1] !== LF)) this.innerLines++;
            at++;
          }
          if (at >= end) {
            if (final) throw new TabularError("DATA", `a quoted cell in row ${row.number} (line ${row.line}) is never closed`);
            this.quoteOpen = true;
            return INCOMPLETE;
          }
          if (at + 1 >= end && !final) {
            this.quoteOpen = true;
            return INCOMPLETE;
          }
          if (at + 1 >= end || bytes[at + 1] !== QUOTE) break;
          flag |= ESCAPED;
          at += 2;
        }
        const close = at++;
        byte = at < end ? bytes[at]! : -1;
        flag |= QUOTED;
        if (byte === -1 || stops[byte] !== 0) {
          starts[count] = start + 1;
          ends[count] = close;
        } else {
          flag |= RELAXED;
          while (at < end && stops[(byte = bytes[at]!)] === 0) {
            seen |= byte;
            at++;
          }
          starts[count] = start;
          ends[count] = at;
        }
      } else {
        // Most bytes are above every separator, and comparing is quicker than looking up.
        while (at < end && ((byte = bytes[at]!) > highest || stops[byte] === 0)) {
          seen |= byte;
          at++;
        }
        starts[count] = start;
        ends[count] = at;
      }
      flags[count++] = seen >= 0x80 ? flag | NON_ASCII : flag;
      if (at >= end) {
        if (!final) return INCOMPLETE;
        break;
      }
      if (byte === separator) {
        at++;
        continue;
      }
      at++;
      if (byte === CR) {
        if (at >= end) {
          if (!final) return INCOMPLETE;
        } else if (bytes[at] === LF) at++;
      }
      break;
    }
    if (count > this.limits.maxColumns) throw tooManyColumns(row, this.limits);
    row.count = count;
    if (at - from > this.limits.maxCell) this.checkCells(row);
    return at;
  }

  private checkCells(row: Row): void {
    for (let column = 0; column < row.count; column++) {
      if (row.ends[column]! - row.starts[column]! > this.limits.maxCell) throw cellTooLong(row, column, this.limits);
    }
  }
}

const place = (row: Row): string => `row ${row.number}${row.line > 0 ? ` (line ${row.line})` : ""}`;

export function tooManyColumns(row: Row, { maxColumns, names }: TableLimits): TabularError {
  return new TabularError("LIMIT", `${place(row)} has more than ${maxColumns} columns: raise ${names.maxColumns} if it should`);
}

export function cellTooLong(row: Row, column: number, { maxCell, names }: TableLimits): TabularError {
  return new TabularError("LIMIT", `column ${column} of ${place(row)} is longer than ${sizeText(maxCell)}: raise ${names.maxCell} if it should be`);
}

/** @param open true when it is a quoted cell that makes the row so long */
export function rowTooLong(row: Row, open: boolean, { maxRow, names }: TableLimits): TabularError {
  const size = sizeText(maxRow);
  return new TabularError("LIMIT", open
    ? `a quoted cell in ${place(row)} is not closed within ${size}: close it, or raise ${names.maxRow} if the row is that long`
    : `${place(row)} is longer than ${size}: raise ${names.maxRow} if it should be`);
}
