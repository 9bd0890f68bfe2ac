/** What a check finds, one by one and summed up. */
import type { Row } from "../reader/row.js";

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
   * @param expected the datatype, or what the violated keyword states
   */
  constructor(
    readonly id: number,
    readonly keyword: string | null,
    readonly property: string | null,
    readonly before: string,
    readonly after: string,
    readonly expected: string,
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
    /** The value as the message has it, or the row: printable, without line breaks. */
    readonly detail: string,
    /** The value as it is in the file, cut when it is long; null where there is none. */
    readonly value: string | null,
  ) {}

  /** The sentence of the contract. */
  get message(): string {
    return this.kind.before + this.detail + this.kind.after;
  }

  /** With the column names of the contract's table, and where it is. */
  toJSON(): Record<string, unknown> {
    const { kind, row, line, column, message, value } = this;
    return {
      row,
      error_type: kind.type,
      failed_keyword: kind.keyword,
      message,
      property: kind.property,
      column: column < 0 ? null : column,
      ...(line > 0 ? { line } : {}),
      value,
      expected: kind.expected,
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

/** Whether a property's cells became a value. */
export const CONVERTED = 0;
/** A cell is not what the datatype says. */
export const VALUE_ERROR = 1;
/** The row ends before the column. */
export const INDEX_ERROR = 2;
export type Conversion = typeof CONVERTED | typeof VALUE_ERROR | typeof INDEX_ERROR;

/** Takes what a rule found. */
export interface Report {
  /**
   * @param detail the part that is special to the row
   * @param column where the value is; -1 where there is none
   * @param value where it is not the cell of that column
   */
  violation(kind: ErrorKind, detail: string, column: number, value?: string): void;
}

/** A property compiled: converts its cells, then validates the value. Both run for every row. */
export interface PropertyCheck {
  readonly name: string;
  /** Its first column. */
  readonly column: number;
  /** Where the cell is that did not convert, if it is not the first column. */
  readonly failedColumn?: number;
  /** False when any value that converts conforms. */
  readonly checks: boolean;
  convert(row: Row): Conversion;
  /** Only after {@link convert} gave {@link CONVERTED} for the same row. */
  check(row: Row, report: Report): void;
}

/** A rule with the kind of error that breaking it is. */
export interface CheckRule<T> extends Rule<T> {
  kind: ErrorKind;
}

/**
 * Reports every rule that a value breaks.
 * @param asWritten the value as it is in the file, where it is not one cell
 */
export function applyRules<T>(
  rules: readonly CheckRule<T>[],
  value: T,
  report: Report,
  column: number,
  asWritten?: (value: T) => string,
): void {
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!;
    if (!rule.keeps(value))
      report.violation(rule.kind, rule.text(value), column, asWritten?.(value));
  }
}

/** One keyword of a schema, ready to validate a converted value. */
export interface Rule<T> {
  keyword: string;
  /** True when the value conforms to it. */
  keeps(value: T): boolean;
  /** The contract's sentence about a value that does not: the value as text… */
  text(value: T): string;
  /** …and the message about it. */
  after: string;
  /** What the rule asks for, where that is not the value of the keyword. */
  expected?: string;
}

/** The types a value of a column can have once converted; whole numbers beyond 2^53 stay exact. */
export type Scalar = string | number | bigint | boolean;

/** What rules need beyond the schema, loaded once before the first row. */
export interface RuleEnvironment {
  /**
   * Compiles a pattern for the chosen engine.
   * @throws TabularError `SCHEMA` when the engine does not know it
   */
  pattern(pattern: string, property: string): (text: string) => boolean;
  /** Makes the kind of error that breaking a rule is. */
  kind(
    keyword: string | null,
    property: string | null,
    before: string,
    after: string,
    expected: string,
  ): ErrorKind;
  /** The test of a format, or `undefined` for an unknown one: then it validates nothing. */
  format(name: string): ((text: string) => boolean) | undefined;
}
