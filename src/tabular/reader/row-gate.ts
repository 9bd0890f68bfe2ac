import type { Row } from "./row.js";

/**
 * Between a reader and the rules: drops the header, numbers the data rows, and lets blank lines pass only when
 * a row follows them (trailing blank lines are no rows).
 */
export class RowGate {
  private headerPending: boolean;
  private blanks = 0;
  private blankLine = 0;
  /** Columns of the file's first row, header or not. */
  firstCount = -1;

  constructor(header: boolean, private readonly row: Row, private readonly onRow: (row: Row) => void, private readonly onHeader?: (row: Row) => void) {
    this.headerPending = header;
  }

  /** Takes the row that was just read. */
  pass(): void {
    const { row } = this;
    if (this.firstCount < 0) this.firstCount = row.count;
    if (this.headerPending) {
      this.headerPending = false;
      this.onHeader?.(row);
      return;
    }
    if (row.isBlank) {
      if (this.blanks++ === 0) this.blankLine = row.line;
      return;
    }
    if (this.blanks > 0) this.passBlanks();
    this.onRow(row);
    row.number++;
  }

  private passBlanks(): void {
    const { row } = this;
    const { count, line, flags, starts, ends } = row;
    const [flag, start, end] = [flags[0]!, starts[0]!, ends[0]!];
    row.setBlank();
    for (let index = 0; index < this.blanks; index++) {
      row.line = this.blankLine === 0 ? 0 : this.blankLine + index;
      this.onRow(row);
      row.number++;
    }
    this.blanks = 0;
    row.count = count;
    row.line = line;
    [flags[0], starts[0], ends[0]] = [flag, start, end];
  }
}
