import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import { isInteger, isNumber, readBoolean } from "../rules/numerals.js";

/** What all cells of one column seen so far could be. */
export class ColumnGuess {
  private integer = true;
  private number = true;
  private boolean = true;
  /** Cells seen, and how many of them were empty. */
  cells = 0;
  empty = 0;

  see(row: Row, column: number): void {
    this.cells++;
    const [start, end] = [row.starts[column]!, row.ends[column]!];
    if (start === end) {
      this.empty++;
      return;
    }
    const quote = (row.flags[column]! & (ESCAPED | RELAXED)) !== 0;
    if (this.integer) this.integer = !quote && isInteger(row.bytes, start, end);
    if (this.number) this.number = !quote && (this.integer || isNumber(row.bytes, start, end));
    if (this.boolean) this.boolean = !quote && readBoolean(row.bytes, start, end) !== undefined;
  }

  /** What the cells that are not empty are. */
  get filled(): "integer" | "number" | "boolean" | "string" {
    if (this.cells === this.empty) return "string";
    return this.integer ? "integer" : this.number ? "number" : this.boolean ? "boolean" : "string";
  }

  /** The datatype that all cells conform to: an empty cell is text and nothing else. */
  get datatype(): "integer" | "number" | "boolean" | "string" {
    return this.empty > 0 ? "string" : this.filled;
  }
}
