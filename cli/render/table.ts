import { displayWidth } from "./display-width.js";

/** Text in the middle of a cell; an odd spare blank goes left when the column is odd, else right. */
export function centred(text: string, width: number): string {
  const spare = width - displayWidth(text);
  const left = spare % 2 === 0 || width % 2 === 0 ? Math.floor(spare / 2) : Math.floor(spare / 2) + 1;
  return " ".repeat(left) + text + " ".repeat(spare - left);
}

/** A table whose columns are as wide as they were told: it is printed line by line, so it may be of any length. */
export class TextTable {
  private readonly widths: number[];

  constructor(private readonly head: readonly string[]) {
    this.widths = head.map(displayWidth);
  }

  /** Makes a column at least this wide. */
  widen(column: number, width: number): void {
    if (width > this.widths[column]!) this.widths[column] = width;
  }

  get rule(): string {
    return `+${this.widths.map((width) => "-".repeat(width + 2)).join("+")}+`;
  }

  /** The lines above the rows. */
  top(): string {
    return `${this.rule}\n${this.line(this.head)}${this.rule}\n`;
  }

  /** @param paint puts colours around a cell after it was centred */
  line(cells: readonly string[], paint: (text: string, column: number) => string = (text) => text): string {
    let out = "|";
    for (let column = 0; column < cells.length; column++) out += ` ${paint(centred(cells[column]!, this.widths[column]!), column)} |`;
    return `${out}\n`;
  }

  bottom(): string {
    return `${this.rule}\n`;
  }
}

/** A short table at once. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new TextTable(head);
  for (const row of rows) row.forEach((cell, column) => table.widen(column, displayWidth(cell)));
  return table.top() + rows.map((row) => table.line(row)).join("") + table.bottom();
}
