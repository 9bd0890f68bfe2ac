/** One thing wrong with one row. */
export interface TableError {
  /** Position among the data rows, from 0. */
  row: number;
  /** Line of the file the row begins in, from 1; 0 where there are no lines. */
  line: number;
  type: "ParsingError" | "ValidationError";
  /** The violated keyword; null for a row that could not be converted. */
  keyword: string | null;
  /** Null for what is wrong with the row as a whole. */
  property: string | null;
  /** Zero-based column of the value, where there is one. */
  column: number | null;
  message: string;
}

/** What a check came to. */
export interface TableSummary {
  rows: number;
  /** Columns of the first row; 0 for an empty table. */
  columns: number;
  errors: number;
  parsingErrors: number;
  validationErrors: number;
  /** Rows with at least one error. */
  rowsWithErrors: number;
  /** Errors by property and keyword, in the order they first came up. */
  counts: { property: string | null; keyword: string | null; count: number }[];
  /** True when the check ended early because `maxErrors` was reached. */
  stopped: boolean;
}

/** Counts errors as they come. */
export class Tally {
  parsingErrors = 0;
  validationErrors = 0;
  rowsWithErrors = 0;
  private lastRow = -1;
  private readonly counts = new Map<string | null, Map<string | null, number>>();

  add({ row, type, property, keyword }: TableError): void {
    if (type === "ParsingError") this.parsingErrors++;
    else this.validationErrors++;
    if (row !== this.lastRow) this.rowsWithErrors++;
    this.lastRow = row;
    let keywords = this.counts.get(property);
    if (!keywords) this.counts.set(property, (keywords = new Map()));
    keywords.set(keyword, (keywords.get(keyword) ?? 0) + 1);
  }

  get errors(): number {
    return this.parsingErrors + this.validationErrors;
  }

  summary(rows: number, columns: number, stopped: boolean): TableSummary {
    const counts = [...this.counts].flatMap(([property, keywords]) => [...keywords].map(([keyword, count]) => ({ property, keyword, count })));
    const { errors, parsingErrors, validationErrors, rowsWithErrors } = this;
    return { rows, columns, errors, parsingErrors, validationErrors, rowsWithErrors, counts, stopped };
  }
}
