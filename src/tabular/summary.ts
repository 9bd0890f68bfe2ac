/**
 * What the errors of one property and keyword have in common; made once, when the schema is
 * compiled.
 */
export class ErrorKind {
  count = 0;

  /**
   * @param id position among the kinds of the check
   * @param keyword the violated keyword; null for rows that could not be converted
   * @param property null for a fault of the row as a whole
   * @param before the text of the message before the detail that differs from row to row
   * @param after the text of the message after it
   */
  constructor(
    readonly id: number,
    readonly keyword: string | null,
    readonly property: string | null,
    readonly before: string,
    readonly after: string,
  ) {}

  get type(): "ParsingError" | "ValidationError" {
    return this.keyword === null ? "ParsingError" : "ValidationError";
  }
}

/** One thing wrong with one row. */
export class TableError {
  constructor(
    readonly kind: ErrorKind,
    /** Position among the data rows, from 0. */
    readonly row: number,
    /** Line of the file the row begins in, from 1; 0 where there are no lines. */
    readonly line: number,
    /** Zero-based column of the value; -1 where there is none. */
    readonly column: number,
    /** The value, or the row: printable, without line breaks. */
    readonly detail: string,
  ) {}

  /** The sentence of the contract. */
  get message(): string {
    return this.kind.before + this.detail + this.kind.after;
  }

  /** With the column names of the contract's table, and where it is. */
  toJSON(): Record<string, unknown> {
    const { kind, row, line, column, message } = this;
    return {
      row,
      error_type: kind.type,
      failed_keyword: kind.keyword,
      message,
      property: kind.property,
      column: column < 0 ? null : column,
      ...(line > 0 ? { line } : {}),
    };
  }
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
  /** Errors by property and keyword. */
  counts: { property: string | null; keyword: string | null; count: number }[];
  /** True when the check ended early because `maxErrors` was reached. */
  stopped: boolean;
}
