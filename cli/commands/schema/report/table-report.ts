import type { TableError, TableSummary } from "../../../../src/tabular/summary.js";
import { displayWidth } from "../../../render/display-width.js";
import { TextTable } from "../../../render/table.js";
import type { Output } from "./output.js";
import { Ordered, type Report } from "./report.js";

const HEAD = ["row", "error_type", "failed_keyword", "message"];
const RED = "\u001b[31m";
const YELLOW = "\u001b[33m";
const GREEN = "\u001b[32m";
const PLAIN = "\u001b[39m";

/** Control characters would move the cursor of a terminal, or break the table. */
const CONTROLS = /\p{Cc}/u;
const visible = (text: string): string => (CONTROLS.test(text) ? text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`) : text);

/** The contract's table; `Validation Success` when there is nothing to put in it. */
export class TableReport implements Report {
  private table = new TextTable(HEAD);
  private ordered = new Ordered();
  private file = "";

  /** @param several true when more than one file is checked: each is named then */
  constructor(private readonly output: Output, private readonly several: boolean, private readonly coloured: boolean) {}

  async begin(file: string): Promise<void> {
    this.file = file;
    this.table = new TextTable(HEAD);
    this.ordered = new Ordered();
  }

  async add(errors: TableError[]): Promise<void> {
    for (const error of errors) {
      this.table.widen(0, String(error.row).length);
      this.table.widen(1, error.type.length);
      if (error.keyword !== null) this.table.widen(2, error.keyword.length);
      this.table.widen(3, displayWidth(visible(error.message)));
      this.ordered.add(error);
    }
  }

  async end(summary: TableSummary): Promise<void> {
    const { output, table } = this;
    const name = this.several ? `${this.file}: ` : "";
    if (summary.errors === 0) {
      await output.write(`${name}${this.paint(GREEN, "Validation Success")}\n`);
    } else {
      if (this.several) await output.write(`${this.file}:\n`);
      await output.write(table.top());
      const paint = this.coloured ? (text: string, column: number): string => (column === 1 ? this.paint(text.includes("P") ? RED : YELLOW, text) : text) : undefined;
      for (const { row, type, keyword, message } of this.ordered.errors()) {
        const full = output.write(table.line([String(row), type, keyword ?? "None", visible(message)], paint));
        if (full) await full;
      }
      await output.write(table.bottom());
    }
    this.ordered.close();
    await output.flush();
  }

  async abandon(): Promise<void> {
    this.ordered.close();
  }

  async finish(): Promise<void> {}

  private paint(colour: string, text: string): string {
    return this.coloured ? `${colour}${text}${PLAIN}` : text;
  }
}
