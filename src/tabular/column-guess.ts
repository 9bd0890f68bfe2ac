import { ESCAPED, RELAXED, type Row } from "./reader/row.js";
import { isCode, isInteger, isNumber, readBoolean } from "./rules/notation.js";

/** Texts of cells without a value, where the other cells of the column are no text. */
const MISSING = new Set(["", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"]);
const LONGEST_MISSING = 4;

/** The types that fit all cells of one column so far. */
export class ColumnGuess {
  #integer = true;
  #number = true;
  #boolean = true;
  /** A cell is a numeral of which a number would lose a part: a leading zero, for example. */
  #hasCode = false;
  cells = 0;
  /** Cells whose text may stand for a missing value, by that text. */
  readonly missing = new Map<string, number>();

  see(row: Row, column: number): void {
    this.cells++;
    const [start, end] = [row.starts[column]!, row.ends[column]!];
    if (end - start <= LONGEST_MISSING) {
      const text = row.text(column);
      if (MISSING.has(text)) {
        this.missing.set(text, (this.missing.get(text) ?? 0) + 1);
        return;
      }
    }
    const quote = (row.flags[column]! & (ESCAPED | RELAXED)) !== 0;
    if (this.#integer) this.#integer = !quote && isInteger(row.bytes, start, end);
    if (this.#number) this.#number = !quote && (this.#integer || isNumber(row.bytes, start, end));
    if (this.#number) this.#hasCode ||= isCode(row.bytes, start, end);
    if (this.#boolean) this.#boolean = !quote && readBoolean(row.bytes, start, end) !== undefined;
  }

  /** Counts cells that are not there. */
  addEmpty(count: number): void {
    if (count === 0) return;
    this.cells += count;
    this.missing.set("", (this.missing.get("") ?? 0) + count);
  }

  /** Cells that may have no value. */
  get gaps(): number {
    return [...this.missing.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The form of the cells that have a value. */
  get filled(): "integer" | "number" | "boolean" | "string" {
    if (this.cells === this.gaps) return "string";
    return this.#integer
      ? "integer"
      : this.#number
        ? "number"
        : this.#boolean
          ? "boolean"
          : "string";
  }

  /** The cells are codes in the form of numbers. */
  get isCodes(): boolean {
    return this.#hasCode && (this.filled === "integer" || this.filled === "number");
  }

  /** The datatype of the cells that have a value, in which none loses a part: a code is text. */
  get datatype(): "integer" | "number" | "boolean" | "string" {
    return this.isCodes ? "string" : this.filled;
  }
}
