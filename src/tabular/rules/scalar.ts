import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import type { ValueKeywords } from "../schema/table-schema.js";
import {
  applyRules,
  type Conversion,
  CONVERTED,
  INDEX_ERROR,
  type CheckRule,
  type PropertyCheck,
  type Report,
  type Rule,
  type RuleEnvironment,
  type Scalar,
  VALUE_ERROR,
} from "./check.js";
import { isInteger, isNumber, readBoolean, readInteger, readNumber } from "./numerals.js";
import { floatText, integerText, quoted, valueText } from "./python-text.js";

/** A cell with a quote in it is no number and no boolean. */
const HAS_QUOTE = ESCAPED | RELAXED;

/** A column of text: every cell converts. */
export class StringCheck implements PropertyCheck {
  readonly checks: boolean;
  readonly #rules: readonly CheckRule<string>[];

  constructor(
    readonly name: string,
    readonly column: number,
    rules: readonly CheckRule<string>[],
  ) {
    this.#rules = rules;

    this.checks = rules.length > 0;
  }

  convert(row: Row): Conversion {
    return this.column < row.count ? CONVERTED : INDEX_ERROR;
  }

  check(row: Row, report: Report): void {
    const text = row.text(this.column);
    for (const rule of this.#rules) {
      // Text of its own: a slice that shares memory with its block would keep the block alive.
      if (!rule.keeps(text))
        report.violation(rule.kind, rule.text(row.ownText(this.column)), this.column);
    }
  }
}

/** A column of any numbers. */
export class NumberCheck implements PropertyCheck {
  readonly checks: boolean;
  #value = 0;
  readonly #rules: readonly CheckRule<number>[];

  constructor(
    readonly name: string,
    readonly column: number,
    rules: readonly CheckRule<number>[],
  ) {
    this.#rules = rules;

    this.checks = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if ((row.flags[column]! & HAS_QUOTE) !== 0) return VALUE_ERROR;
    if (!this.checks)
      return isNumber(row.bytes, row.starts[column]!, row.ends[column]!) ? CONVERTED : VALUE_ERROR;
    this.#value = readNumber(row.bytes, row.starts[column]!, row.ends[column]!);
    return Number.isNaN(this.#value) ? VALUE_ERROR : CONVERTED;
  }

  check(_row: Row, report: Report): void {
    applyRules(this.#rules, this.#value, report, this.column);
  }
}

/** A column of whole numbers. */
export class IntegerCheck implements PropertyCheck {
  readonly checks: boolean;
  #value: number | bigint = 0;
  readonly #rules: readonly CheckRule<number | bigint>[];

  constructor(
    readonly name: string,
    readonly column: number,
    rules: readonly CheckRule<number | bigint>[],
  ) {
    this.#rules = rules;

    this.checks = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if ((row.flags[column]! & HAS_QUOTE) !== 0) return VALUE_ERROR;
    if (!this.checks)
      return isInteger(row.bytes, row.starts[column]!, row.ends[column]!) ? CONVERTED : VALUE_ERROR;
    const value = readInteger(row.bytes, row.starts[column]!, row.ends[column]!);
    if (value === undefined) return VALUE_ERROR;
    this.#value = value;
    return CONVERTED;
  }

  check(_row: Row, report: Report): void {
    applyRules(this.#rules, this.#value, report, this.column);
  }
}

/** A column of booleans. */
export class BooleanCheck implements PropertyCheck {
  readonly checks: boolean;
  #value = false;
  readonly #rules: readonly CheckRule<boolean>[];

  constructor(
    readonly name: string,
    readonly column: number,
    rules: readonly CheckRule<boolean>[],
  ) {
    this.#rules = rules;

    this.checks = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if ((row.flags[column]! & HAS_QUOTE) !== 0) return VALUE_ERROR;
    const value = readBoolean(row.bytes, row.starts[column]!, row.ends[column]!);
    if (value === undefined) return VALUE_ERROR;
    this.#value = value;
    return CONVERTED;
  }

  check(_row: Row, report: Report): void {
    applyRules(this.#rules, this.#value, report, this.column);
  }
}

/**
 * Whether a value is a multiple of a divisor, in decimals: 0.3 is a multiple of 0.1, though the
 * doubles nearest to them do not divide evenly.
 */
function isMultiple(value: number | bigint, divisor: number): boolean {
  if (typeof value === "number" && Number.isSafeInteger(value) && Number.isSafeInteger(divisor))
    return value % divisor === 0;
  const [top, topScale] = decimal(value);
  const [bottom, bottomScale] = decimal(divisor);
  const scale = Math.max(topScale, bottomScale);
  return (
    (top * 10n ** BigInt(scale - topScale)) % (bottom * 10n ** BigInt(scale - bottomScale)) === 0n
  );
}

/**
 * Digits and how many of them are decimals; negative for trailing zeros. At most 309 + 324 digits
 * result.
 */
function decimal(value: number | bigint): [digits: bigint, scale: number] {
  if (typeof value === "bigint") return [value, 0];
  const [mantissa, exponent] = value.toExponential().split("e") as [string, string];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  return [BigInt(whole + fraction), fraction.length - Number(exponent)];
}

/** Number of code points, the length of JSON Schema. */
function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if (
      (text.charCodeAt(index) & 0xfc00) === 0xd800 &&
      (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
    )
      count--;
  }
  return count;
}

/** Rules of a string, in the order they are reported. */
export function stringRules(
  keywords: ValueKeywords,
  property: string,
  environment: RuleEnvironment,
): Rule<string>[] {
  const { pattern, maxLength, minLength, format } = keywords;
  const rules: Rule<string>[] = [];
  if (present(pattern))
    rules.push({
      keyword: "pattern",
      keeps: environment.pattern(pattern, property),
      text: quoted,
      after: ` does not match ${quoted(pattern)}`,
    });
  // Code points are never more than code units, so most texts need no counting.
  if (present(maxLength))
    rules.push({
      keyword: "maxLength",
      keeps: (text) => text.length <= maxLength || codePoints(text) <= maxLength,
      text: quoted,
      after: " is too long",
    });
  if (present(minLength))
    rules.push({
      keyword: "minLength",
      keeps: (text) =>
        text.length >= minLength && (text.length >= minLength * 2 || codePoints(text) >= minLength),
      text: quoted,
      after: " is too short",
    });
  const isOfFormat = present(format) ? environment.format(format) : undefined;
  if (present(format) && isOfFormat)
    rules.push({
      keyword: "format",
      keeps: isOfFormat,
      text: quoted,
      after: ` is not a ${quoted(format)}`,
    });
  return [...rules, ...choiceRules<string>(keywords, quoted, false)];
}

/** Rules of a whole number or of any number, in the order they are reported. */
export function numberRules(
  keywords: ValueKeywords,
  type: "number" | "integer",
): Rule<number | bigint>[] {
  const { maximum, minimum, exclusiveMaximum, exclusiveMinimum, multipleOf } = keywords;
  const floats = type === "number";
  const text = (value: number | bigint): string =>
    floats || (typeof value === "number" && !Number.isInteger(value))
      ? floatText(Number(value))
      : integerText(value);
  const rules: Rule<number | bigint>[] = [];
  if (present(maximum))
    rules.push({
      keyword: "maximum",
      keeps: (value) => value <= maximum,
      text,
      after: ` is greater than the maximum of ${text(maximum)}`,
    });
  if (present(minimum))
    rules.push({
      keyword: "minimum",
      keeps: (value) => value >= minimum,
      text,
      after: ` is less than the minimum of ${text(minimum)}`,
    });
  if (present(exclusiveMaximum))
    rules.push({
      keyword: "exclusiveMaximum",
      keeps: (value) => value < exclusiveMaximum,
      text,
      after: ` is greater than or equal to the maximum of ${text(exclusiveMaximum)}`,
    });
  if (present(exclusiveMinimum))
    rules.push({
      keyword: "exclusiveMinimum",
      keeps: (value) => value > exclusiveMinimum,
      text,
      after: ` is less than or equal to the minimum of ${text(exclusiveMinimum)}`,
    });
  if (present(multipleOf))
    rules.push({
      keyword: "multipleOf",
      keeps: (value) => isMultiple(value, multipleOf),
      text,
      after: ` is not a multiple of ${text(multipleOf)}`,
    });
  return [...rules, ...choiceRules(keywords, text, floats)];
}

/** Rules of a boolean. */
export const booleanRules = (keywords: ValueKeywords): Rule<boolean>[] =>
  choiceRules<boolean>(keywords, (value) => (value ? "True" : "False"), false);

function choiceRules<T extends Scalar>(
  keywords: ValueKeywords,
  text: (value: T) => string,
  floats: boolean,
): Rule<T>[] {
  const { enum: choices, const: only } = keywords;
  const rules: Rule<T>[] = [];
  // `==` lets a whole number beyond 2^53, a bigint, equal the number it is; the types are checked
  // before.
  const equal = (value: T, choice: unknown): boolean =>
    value === choice ||
    (typeof value === "bigint" && typeof choice === "number" && value == (choice as never));
  if (present(choices)) {
    const set = new Set(choices);
    rules.push({
      keyword: "enum",
      keeps: (value) => set.has(value) || choices.some((choice) => equal(value, choice)),
      text,
      after: ` is not one of ${valueText(choices, floats)}`,
    });
  }
  if (present(only))
    rules.push({
      keyword: "const",
      keeps: (value) => equal(value, only),
      text: () => "",
      after: `${valueText(only, floats)} was expected`,
    });
  return rules;
}

/** A keyword that is null counts as absent. */
export function present<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
