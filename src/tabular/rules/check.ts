import type { Row } from "../reader/row.js";
import type { Rule } from "./rule.js";

/** Whether a property's cells became a value. */
export const CONVERTED = 0;
/** A cell is not what the datatype says. */
export const VALUE_ERROR = 1;
/** The row ends before the column. */
export const INDEX_ERROR = 2;
export type Conversion = typeof CONVERTED | typeof VALUE_ERROR | typeof INDEX_ERROR;

/** Takes what a rule found. */
export interface Report {
  /** @param column where the value is @param element its place in an array */
  violation(property: string, keyword: string, message: string, column: number, element?: number): void;
}

/** A property compiled: converts its cells, then judges the value. Both run for every row. */
export interface PropertyCheck {
  readonly name: string;
  /** Its first column. */
  readonly column: number;
  /** False when any value that converts conforms. */
  readonly judges: boolean;
  convert(row: Row): Conversion;
  /** Only after {@link convert} gave {@link CONVERTED} for the same row. */
  judge(row: Row, report: Report): void;
}

/** Reports every rule that a value breaks. */
export function applyRules<T>(rules: readonly Rule<T>[], value: T, report: Report, property: string, column: number): void {
  for (const rule of rules) {
    if (!rule.keeps(value)) report.violation(property, rule.keyword, rule.message(value), column);
  }
}
