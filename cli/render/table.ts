import { displayWidth } from "./display-width.js";

const blanks: string[] = [];
const blank = (count: number): string => (blanks[count] ??= " ".repeat(count));

/** Text in the middle of a cell; an odd spare blank goes left when the column is odd, else right. */
export function centred(text: string, width: number, textWidth = displayWidth(text)): string {
  const spare = width - textWidth;
  const left = spare % 2 === 0 || width % 2 === 0 ? spare >> 1 : (spare >> 1) + 1;
  return blank(left) + text + blank(spare - left);
}

/** The frame of a table whose columns are as wide as they were told: its rows are printed one by one. */
export class TextTable {
  readonly widths: number[];

  constructor(private readonly head: readonly string[]) {
    this.widths = head.map((cell) => displayWidth(cell));
  }

  /** Makes a column at least this wide. */
  widen(column: number, width: number): void {
    if (width > this.widths[column]!) this.widths[column] = width;
  }

  private rule(): string {
    return `+${this.widths.map((width) => "-".repeat(width + 2)).join("+")}+\n`;
  }

  /** The lines above the rows. */
  top(): string {
    return `${this.rule()}${this.line(this.head)}${this.rule()}`;
  }

  line(cells: readonly string[]): string {
    return `| ${cells.map((cell, column) => centred(cell, this.widths[column]!)).join(" | ")} |\n`;
  }

  bottom(): string {
    return this.rule();
  }
}

/** A short table at once. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new TextTable(head);
  for (const row of rows) row.forEach((cell, column) => table.widen(column, displayWidth(cell)));
  return table.top() + rows.map((row) => table.line(row)).join("") + table.bottom();
}
