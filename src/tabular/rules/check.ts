import type { Row } from "../reader/row.js";
import type { ErrorKind } from "../summary.js";

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
   */
  violation(kind: ErrorKind, detail: string, column: number): void;
}

/** A property compiled: converts its cells, then validates the value. Both run for every row. */
export interface PropertyCheck {
  readonly name: string;
  /** Its first column. */
  readonly column: number;
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

/** Reports every rule that a value breaks. */
export function applyRules<T>(
  rules: readonly CheckRule<T>[],
  value: T,
  report: Report,
  column: number,
): void {
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!;
    if (!rule.keeps(value)) report.violation(rule.kind, rule.text(value), column);
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
  kind(keyword: string | null, property: string | null, before: string, after: string): ErrorKind;
  /** The test of a format, or `undefined` for an unknown one: then it validates nothing. */
  format(name: string): ((text: string) => boolean) | undefined;
}
