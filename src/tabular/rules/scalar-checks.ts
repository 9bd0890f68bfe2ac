import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import { applyRules, CONVERTED, INDEX_ERROR, VALUE_ERROR, type Conversion, type JudgedRule, type PropertyCheck, type Report } from "./check.js";
import { isInteger, isNumber, readBoolean, readInteger, readNumber } from "./numerals.js";

/** A cell with a quote in it is no number and no truth value. */
const HAS_QUOTE = ESCAPED | RELAXED;

/** A column of text: every cell converts. */
export class StringCheck implements PropertyCheck {
  readonly judges: boolean;
  constructor(readonly name: string, readonly column: number, private readonly rules: readonly JudgedRule<string>[]) {
    this.judges = rules.length > 0;
  }

  convert(row: Row): Conversion {
    return this.column < row.count ? CONVERTED : INDEX_ERROR;
  }

  judge(row: Row, report: Report): void {
    const text = row.text(this.column);
    for (const rule of this.rules) {
      // Text of its own: what shares memory with its block would keep the block alive.
      if (!rule.keeps(text)) report.violation(rule.kind, rule.text(row.ownText(this.column)), this.column);
    }
  }
}

/** A column of any numbers. */
export class NumberCheck implements PropertyCheck {
  readonly judges: boolean;
  private value = 0;
  constructor(readonly name: string, readonly column: number, private readonly rules: readonly JudgedRule<number>[]) {
    this.judges = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if ((row.flags[column]! & HAS_QUOTE) !== 0) return VALUE_ERROR;
    if (!this.judges) return isNumber(row.bytes, row.starts[column]!, row.ends[column]!) ? CONVERTED : VALUE_ERROR;
    this.value = readNumber(row.bytes, row.starts[column]!, row.ends[column]!);
    return Number.isNaN(this.value) ? VALUE_ERROR : CONVERTED;
  }

  judge(_row: Row, report: Report): void {
    applyRules(this.rules, this.value, report, this.column);
  }
}

/** A column of whole numbers. */
export class IntegerCheck implements PropertyCheck {
  readonly judges: boolean;
  private value: number | bigint = 0;
  constructor(readonly name: string, readonly column: number, private readonly rules: readonly JudgedRule<number | bigint>[]) {
    this.judges = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if ((row.flags[column]! & HAS_QUOTE) !== 0) return VALUE_ERROR;
    if (!this.judges) return isInteger(row.bytes, row.starts[column]!, row.ends[column]!) ? CONVERTED : VALUE_ERROR;
    const value = readInteger(row.bytes, row.starts[column]!, row.ends[column]!);
    if (value === undefined) return VALUE_ERROR;
    this.value = value;
    return CONVERTED;
  }

  judge(_row: Row, report: Report): void {
    applyRules(this.rules, this.value, report, this.column);
  }
}

/** A column of truth values. */
export class BooleanCheck implements PropertyCheck {
  readonly judges: boolean;
  private value = false;
  constructor(readonly name: string, readonly column: number, private readonly rules: readonly JudgedRule<boolean>[]) {
    this.judges = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if ((row.flags[column]! & HAS_QUOTE) !== 0) return VALUE_ERROR;
    const value = readBoolean(row.bytes, row.starts[column]!, row.ends[column]!);
    if (value === undefined) return VALUE_ERROR;
    this.value = value;
    return CONVERTED;
  }

  judge(_row: Row, report: Report): void {
    applyRules(this.rules, this.value, report, this.column);
  }
}
