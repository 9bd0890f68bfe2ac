import { isUtf8 } from "node:buffer";
import { type TableLimits, TabularError } from "../limits.js";
import type { Dialect } from "./dialect.js";
import {
  cellTooLong,
  completeEnd,
  ESCAPED,
  NON_ASCII,
  QUOTED,
  RELAXED,
  type Row,
  type RowFeed,
  rowTooLong,
  tooManyColumns,
} from "./row.js";

const SPACE = 0x20;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;

/** What a scan gives when the bytes end before the row or line does. */
export const INCOMPLETE = -1;
/** No byte: the dialect has no such character. */
const NONE = -1;

/**
 * Finds the cells of one row after another (RFC 4180; LF, CRLF and CR end a line). One loop over
 * the bytes, and long for that reason: half the time of a check is spent here. It is own code
 * because it reads a table nine times faster than csv-parse.
 */
export class RowScanner {
  /** 1 for the bytes that may end a cell without quotes, or escape the next character. */
  readonly #stops = new Uint8Array(256);
  readonly #highest: number;
  /** Line breaks inside the cells of the row just scanned. */
  innerLines = 0;
  /** True when the row was incomplete because a quoted cell is open. */
  quoteOpen = false;

  readonly #separator: Buffer;
  readonly #quote: number;
  /** In place of a second quote. */
  readonly #escape: number;
  readonly #comment: Buffer;
  readonly #trimsStart: boolean;
  readonly #trimsEnd: boolean;
  readonly #marks: Row["marks"];
  readonly #limits: TableLimits;

  constructor(dialect: Dialect, limits: TableLimits) {
    const { separator, quote, escape, comment, trim } = dialect;
    this.#separator = Buffer.from(separator);
    this.#quote = quote === null ? NONE : quote.charCodeAt(0);
    this.#escape = escape === null || escape === quote ? NONE : escape.charCodeAt(0);
    this.#comment = Buffer.from(comment ?? "");
    this.#trimsStart = trim === "start" || trim === "both";
    this.#trimsEnd = trim === "end" || trim === "both";
    this.#marks = { quote: quote ?? "", escape: this.#escape === NONE ? null : escape };
    this.#limits = limits;

    const stops = [this.#separator[0]!, LF, CR].concat(this.#escape === NONE ? [] : this.#escape);
    for (const byte of stops) this.#stops[byte] = 1;
    this.#highest = stops.reduce((most, byte) => Math.max(most, byte));
  }

  /** Whether the line that begins at `from` is a comment. */
  isComment(bytes: Buffer, from: number, end: number): boolean {
    const comment = this.#comment;
    return (
      comment.length > 0 &&
      bytes[from] === comment[0] &&
      from + comment.length <= end &&
      bytes.compare(comment, 0, comment.length, from, from + comment.length) === 0
    );
  }

  /**
   * Scans the row that begins at `from`, at most to `end`; `final` when nothing follows `end`.
   * @returns where the next row begins, or {@link INCOMPLETE}: then the row is scanned anew with
   * more bytes
   * @throws TabularError `DATA` for a quoted cell that never ends, `LIMIT`
   */
  // oxlint-disable-next-line complexity, max-lines-per-function -- one pass over bytes
  scan(row: Row, from: number, end: number, final: boolean): number {
    const { bytes } = row;
    const stops = this.#stops;
    const first = this.#separator[0]!;
    const width = this.#separator.length;
    const highest = this.#highest;
    const quote = this.#quote;
    const escape = this.#escape;
    // Then every stop ends a cell.
    const isSimple = width === 1 && escape === NONE;
    const trimsStart = this.#trimsStart;
    const trimsEnd = this.#trimsEnd;
    let { starts, ends, flags } = row;
    let count = 0;
    let at = from;
    this.innerLines = 0;
    this.quoteOpen = false;
    row.stray = -1;
    row.marks = this.#marks;
    for (;;) {
      if (count === starts.length) {
        if (count >= this.#limits.maxColumns) throw tooManyColumns(row, this.#limits);
        row.grow();
        ({ starts, ends, flags } = row);
      }
      if (trimsStart) while (at < end && this.#isBlank(bytes[at]!)) at++;
      let start = at;
      let seen = 0;
      let byte = -1;
      let flag = 0;
      // Where the cell ends, once that is known.
      let close = -1;
      if (at < end && bytes[at] === quote) {
        at++;
        for (;;) {
          while (at < end && (byte = bytes[at]!) !== quote && byte !== escape) {
            seen |= byte;
            if (byte === LF || (byte === CR && bytes[at + 1] !== LF)) this.innerLines++;
            at++;
          }
          if (at >= end) {
            if (final)
              throw new TabularError(
                "DATA",
                `a quoted cell in row ${row.number} (line ${row.line}) is never closed`,
              );
            this.quoteOpen = true;
            return INCOMPLETE;
          }
          if (at + 1 >= end && !final) {
            this.quoteOpen = true;
            return INCOMPLETE;
          }
          if (byte !== escape && (escape !== NONE || at + 1 >= end || bytes[at + 1] !== quote))
            break;
          flag |= ESCAPED;
          at += 2;
        }
        close = at++;
        flag |= QUOTED;
        start++;
        if (trimsEnd) while (at < end && this.#isBlank(bytes[at]!)) at++;
      }
      const cut = at;
      for (;;) {
        // Most bytes are above every separator, and comparing is quicker than looking up.
        while (at < end && ((byte = bytes[at]!) > highest || stops[byte] === 0)) {
          seen |= byte;
          at++;
        }
        if (isSimple || at >= end || byte === LF || byte === CR) break;
        if (at + Math.max(width, 2) > end && !final) return INCOMPLETE;
        if (byte === escape) {
          flag |= ESCAPED;
          at = Math.min(at + 2, end);
          continue;
        }
        if (byte === first && this.#isSeparator(bytes, at, end)) break;
        seen |= byte;
        at++;
      }
      if (close < 0 || at > cut) {
        if (close >= 0) {
          flag |= RELAXED;
          if (row.stray < 0) row.stray = count;
          start--;
        }
        close = at;
        if (trimsEnd) while (close > start && this.#isBlank(bytes[close - 1]!)) close--;
      }
      starts[count] = start;
      ends[count] = close;
      flags[count++] = seen >= 0x80 ? flag | NON_ASCII : flag;
      if (at >= end) {
        if (!final) return INCOMPLETE;
        break;
      }
      if (byte === first) {
        at += width;
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
    if (count > this.#limits.maxColumns) throw tooManyColumns(row, this.#limits);
    row.count = count;
    if (at - from > this.#limits.maxCell) this.#checkCells(row);
    return at;
  }

  #isBlank(byte: number): boolean {
    return byte === SPACE || (byte === TAB && this.#separator[0] !== TAB);
  }

  #isSeparator(bytes: Buffer, at: number, end: number): boolean {
    const separator = this.#separator;
    if (at + separator.length > end) return false;
    for (let index = 0; index < separator.length; index++)
      if (bytes[at + index] !== separator[index]) return false;
    return true;
  }

  #checkCells(row: Row): void {
    for (let column = 0; column < row.count; column++) {
      if (row.ends[column]! - row.starts[column]! > this.#limits.maxCell)
        throw cellTooLong(row, column, this.#limits);
    }
  }
}

/** Where the line after the one at `from` begins, or {@link INCOMPLETE}. */
export function nextLine(bytes: Buffer, from: number, end: number, final: boolean): number {
  let at = from;
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++;
  if (at >= end || (bytes[at] === CR && at + 1 >= end)) return final ? end : INCOMPLETE;
  return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1;
}

/** Bytes read in one step. */
const BLOCK = 64 << 10;
/**
 * Bytes checked under one guard, between which errors are handed on and others may run. A guard
 * costs as much as checking fifty rows.
 */
const GUARDED = 256 << 10;

/**
 * Rows of separated text.
 * @param onSkipped called with each line above the table that is no row
 */
export function textFeed(
  source: AsyncIterable<Uint8Array>,
  dialect: Dialect,
  limits: TableLimits,
  onSkipped?: (line: Buffer) => void,
): RowFeed {
  const scanner = new RowScanner(dialect, limits);
  return async function* (row, each, guard) {
    let skipRows = dialect.skipRows;
    let buffer = Buffer.allocUnsafe(BLOCK * 2);
    let used = 0;
    // A row longer than the buffer is scanned anew only when twice as much has come: otherwise it
    // would be quadratic.
    let enough = 0;
    const step = (final: boolean): void => {
      row.setBlock(buffer, used);
      // One look at the block is quick; only where it fails is each row looked at.
      const isSound = isUtf8(buffer.subarray(0, final ? used : completeEnd(buffer, used)));
      row.foreign = undefined;
      let from = 0;
      while (from < used) {
        if (skipRows > 0 || scanner.isComment(buffer, from, used)) {
          const next = nextLine(buffer, from, used, final);
          if (next === INCOMPLETE) break;
          if (skipRows > 0) {
            skipRows--;
            onSkipped?.(buffer.subarray(from, next));
          }
          row.line++;
          from = next;
          continue;
        }
        const next = scanner.scan(row, from, used, final);
        if (next === INCOMPLETE) break;
        if (!isSound) row.findForeign();
        row.rawStart = from;
        row.rawEnd = next;
        each();
        row.line += 1 + scanner.innerLines;
        from = next;
      }
      if (used - from > limits.maxRow) throw rowTooLong(row, scanner.quoteOpen, limits);
      enough = from === 0 ? used * 2 : 0;
      buffer.copyWithin(0, from, used);
      used -= from;
    };
    const take = (chunk: Uint8Array): void => {
      for (let offset = 0; offset < chunk.length; offset += BLOCK) {
        const part = chunk.subarray(offset, offset + BLOCK);
        if (part.indexOf(0) >= 0)
          throw new TabularError(
            "DATA",
            `it holds a NUL byte after row ${row.number}: it is not a text table`,
          );
        if (used + part.length > buffer.length) buffer = larger(buffer, used, used + part.length);
        buffer.set(part, used);
        used += part.length;
        if (used >= Math.min(enough, limits.maxRow + 1)) step(false);
      }
    };
    for await (const chunk of source)
      for (let offset = 0; offset < chunk.length; offset += GUARDED) {
        guard(() => take(chunk.subarray(offset, offset + GUARDED)));
        yield;
      }
    guard(() => step(true));
    yield;
  };
}

function larger(buffer: Buffer, used: number, needed: number): Buffer<ArrayBuffer> {
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  buffer.copy(grown, 0, 0, used);
  return grown;
}
