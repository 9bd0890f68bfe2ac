import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import { applyRules, CONVERTED, VALUE_ERROR, type Conversion, type JudgedRule, type PropertyCheck, type Report } from "./check.js";
import { isInteger, isNumber, readBoolean, readInteger, readNumber } from "./numerals.js";
import type { Scalar } from "./rule.js";

const HAS_QUOTE = ESCAPED | RELAXED;
type ElementType = "string" | "number" | "integer" | "boolean";
type Bytes = [bytes: Buffer, start: number, end: number];

const TESTS: Record<Exclude<ElementType, "string">, (...cell: Bytes) => boolean> = {
  number: isNumber,
  integer: isInteger,
  boolean: (...cell) => readBoolean(...cell) !== undefined,
};

/** Several columns as one array. A slice takes what the row has: too few elements are a matter for `minItems`. */
export class ArrayCheck implements PropertyCheck {
  readonly judges: boolean;
  /** Rules that only count need no values. */
  private readonly needsValues: boolean;

  constructor(
    readonly name: string,
    readonly column: number,
    private readonly to: number | undefined,
    private readonly type: ElementType,
    private readonly rules: readonly JudgedRule<readonly Scalar[]>[],
    private readonly itemRules: readonly JudgedRule<Scalar>[],
    private readonly bounds: { minItems: number; maxItems: number },
  ) {
    this.needsValues = itemRules.length > 0 || rules.some(({ keyword }) => keyword !== "minItems" && keyword !== "maxItems");
    this.judges = rules.length > 0 || itemRules.length > 0;
  }

  private endIn(row: Row): number {
    return this.to === undefined || this.to > row.count ? Math.max(row.count, this.column) : this.to;
  }

  convert(row: Row): Conversion {
    if (this.type === "string") return CONVERTED;
    const { bytes, starts, ends, flags } = row;
    const end = this.endIn(row);
    const test = TESTS[this.type];
    for (let column = this.column; column < end; column++) {
      if ((flags[column]! & HAS_QUOTE) !== 0 || !test(bytes, starts[column]!, ends[column]!)) return VALUE_ERROR;
    }
    return CONVERTED;
  }

  judge(row: Row, report: Report): void {
    const count = this.endIn(row) - this.column;
    if (!this.needsValues && count >= this.bounds.minItems && count <= this.bounds.maxItems) return;
    const values = Array.from({ length: count }, (_, element) => this.element(row, this.column + element));
    applyRules(this.rules, values, report, this.column);
    for (const rule of this.itemRules) {
      // The first element speaks for the others: a thousand wrong ones in a row are one mistake.
      const element = values.findIndex((value) => !rule.keeps(value));
      if (element >= 0) report.violation(rule.kind, `${rule.text(values[element]!)}${rule.after} (element ${element})`, this.column + element);
    }
  }

  private element(row: Row, column: number): Scalar {
    const [start, end] = [row.starts[column]!, row.ends[column]!];
    switch (this.type) {
      case "number": return readNumber(row.bytes, start, end);
      case "integer": return readInteger(row.bytes, start, end)!;
      case "boolean": return readBoolean(row.bytes, start, end)!;
      default: return row.ownText(column);
    }
  }
}
