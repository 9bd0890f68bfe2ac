/** The sheets of a workbook as tables. */
import { type TableLimits, TabularError } from "../limits.js";
import { cellTooLong, Row, setCells } from "../reader/row.js";
import type { CellTable } from "./cell-table.js";

/** Rows of a sheet that hold the same cells, empty ones at the end left out. */
export interface SheetRow {
  /** The first of them, from 1. */
  line: number;
  times: number;
  cells: string[];
}

export interface Sheet {
  name: string;
  /** True when the workbook does not show it. */
  isHidden: boolean;
  rows(limits: TableLimits): AsyncGenerator<SheetRow[]>;
}

/** The last row of the largest sheets that programs read. */
const MAX_ROWS = 1 << 24;

/**
 * The sheet that is asked for: by its name, or by its place, from 1; else the only one that is shown.
 * @throws TabularError `DATA`
 */
export function chosenSheet(sheets: readonly Sheet[], asked: string | undefined): Sheet {
  const list = namesText(sheets.map(({ name }) => name));
  if (asked !== undefined) {
    const found = sheets.find(({ name }) => name === asked) ?? sheets[Number(asked) - 1];
    if (!found) throw new TabularError("DATA", `it has no sheet ${asked}, but ${list}`);
    return found;
  }
  const [only, ...others] = sheets.filter(({ isHidden }) => !isHidden);
  if (!only) throw new TabularError("DATA", "it has no sheet");
  if (others.length > 0)
    throw new TabularError(
      "DATA",
      `it has ${others.length + 1} sheets: name one with --sheet: ${list}`,
    );
  return only;
}

/** Names that are listed. */
const LISTED = 10;

export const namesText = (names: readonly string[]): string =>
  names.slice(0, LISTED).join(", ") +
  (names.length > LISTED ? ` and ${names.length - LISTED} more` : "");

/**
 * A sheet as a table. Rows above the first that holds something, and below the last one, are no
 * rows; a row has at least as many cells as the first, which may be empty.
 */
export function sheetTable(format: string, sheet: Sheet): CellTable {
  return {
    format,
    mayHaveHeader: true,
    feed: (limits, { schema, skipRows = schema?.dialect.skipRows ?? 0 }) =>
      async function* (row, each, guard) {
        let next = 0;
        let width = 0;
        const put = (cells: readonly string[], line: number): void => {
          row.line = line;
          next = line + 1;
          setCells(row, cells, cells.length > 1 || cells[0] !== "", limits);
          each();
        };
        for await (const batch of sheet.rows(limits)) {
          guard(() => {
            for (const { line, times, cells } of batch) {
              const last = line + times - 1;
              if (last > MAX_ROWS)
                throw new TabularError("LIMIT", `it has more than ${MAX_ROWS} rows`);
              if (cells.length === 0 || last <= skipRows) continue;
              const first = Math.max(line, skipRows + 1);
              if (width === 0) {
                width = cells.length;
                next = first;
              }
              for (; next < first;) put([""], next);
              while (cells.length < width) cells.push("");
              for (let at = first; at <= last; at++) put(cells, at);
            }
          });
          yield;
        }
      },
  };
}

/** Collects the cells of one row after another, within the limits. */
export class SheetRows {
  #rows: SheetRow[] = [];
  #cells: string[] = [];
  #column = 0;
  #line = 0;
  /** For messages. */
  readonly #place = new Row();
  readonly #limits: TableLimits;

  constructor(limits: TableLimits) {
    this.#limits = limits;
  }

  /** @param line of the row; the next one when absent */
  begin(line = this.#line + 1): void {
    if (!Number.isSafeInteger(line) || line <= this.#line)
      throw new TabularError("DATA", `its row ${line} comes after row ${this.#line}`);
    this.#line = line;
    this.#cells = [];
    this.#column = 0;
  }

  /** @param column where the cell is; the next one when absent */
  put(text: string, column = this.#column, times = 1): void {
    this.#column = column + times;
    // Cells that are not there are empty too.
    if (text === "") return;
    this.checkText(text);
    const { maxColumns, names } = this.#limits;
    if (this.#column > maxColumns)
      throw new TabularError(
        "LIMIT",
        `row ${this.#line} has more than ${maxColumns} columns: raise ${names.maxColumns} if it should`,
      );
    while (this.#cells.length < column) this.#cells.push("");
    for (let at = 0; at < times; at++) this.#cells.push(text);
  }

  /** @throws TabularError `LIMIT` for text of a cell that is too long */
  checkText(text: string): void {
    if (text.length <= this.#limits.maxCell) return;
    this.#place.number = this.#line;
    throw cellTooLong(this.#place, this.#column, this.#limits);
  }

  end(times = 1): void {
    this.#rows.push({ line: this.#line, times, cells: this.#cells });
    this.#line += times - 1;
  }

  take(): SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}
