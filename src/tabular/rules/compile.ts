/** A schema becomes functions that check the values of a row. */
import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import type {
  ItemsObject,
  PropertyObject,
  TableProperty,
  ValueKeywords,
} from "../schema/table-schema.js";
import {
  applyRules,
  type CheckRule,
  CONVERTED,
  type Conversion,
  INDEX_ERROR,
  type PropertyCheck,
  type Report,
  type Rule,
  type RuleEnvironment,
  type Scalar,
  VALUE_ERROR,
} from "./check.js";
import {
  floatText,
  integerText,
  isInteger,
  isNumber,
  listText,
  quoted,
  readBoolean,
  readInteger,
  readNumber,
  valueText,
} from "./notation.js";

/** A cell with a quote in it is no number and no boolean. */
const HAS_QUOTE = ESCAPED | RELAXED;

/** A column of text: every cell converts. */
class StringCheck implements PropertyCheck {
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
class NumberCheck implements PropertyCheck {
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
class IntegerCheck implements PropertyCheck {
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
class BooleanCheck implements PropertyCheck {
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
function isMultiple(value: number | bigint, divisor: number | bigint): boolean {
  if (
    typeof value === "number" &&
    typeof divisor === "number" &&
    Number.isSafeInteger(value) &&
    Number.isSafeInteger(divisor)
  )
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
function stringRules(
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
function numberRules(keywords: ValueKeywords, type: "number" | "integer"): Rule<number | bigint>[] {
  const floats = type === "number";
  // Cells of any numbers are doubles, and so are the bounds for them.
  const bound = (value: number | bigint | null | undefined): number | bigint | null | undefined =>
    floats && typeof value === "bigint" ? Number(value) : value;
  const [maximum, minimum, exclusiveMaximum, exclusiveMinimum, multipleOf] = [
    keywords.maximum,
    keywords.minimum,
    keywords.exclusiveMaximum,
    keywords.exclusiveMinimum,
    keywords.multipleOf,
  ].map(bound);
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
const booleanRules = (keywords: ValueKeywords): Rule<boolean>[] =>
  choiceRules<boolean>(keywords, (value) => (value ? "True" : "False"), false);

function choiceRules<T extends Scalar>(
  keywords: ValueKeywords,
  text: (value: T) => string,
  floats: boolean,
): Rule<T>[] {
  const asCell = (choice: unknown): unknown =>
    floats && typeof choice === "bigint" ? Number(choice) : choice;
  const choices = keywords.enum?.map(asCell);
  const only = asCell(keywords.const);
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
function present<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

type ElementType = "string" | "number" | "integer" | "boolean";
type Bytes = [bytes: Buffer, start: number, end: number];

const TESTS: Record<Exclude<ElementType, "string">, (...cell: Bytes) => boolean> = {
  number: isNumber,
  integer: isInteger,
  boolean: (...cell) => readBoolean(...cell) !== undefined,
};

/**
 * Several columns as one array. A slice takes what the row has: too few elements are a matter for
 * `minItems`.
 */
class ArrayCheck implements PropertyCheck {
  readonly checks: boolean;
  /** Rules that only count need no values. */
  readonly #needsValues: boolean;

  readonly #to: number | undefined;
  readonly #type: ElementType;
  readonly #rules: readonly CheckRule<readonly Scalar[]>[];
  readonly #itemRules: readonly CheckRule<Scalar>[];
  readonly #bounds: { minItems: number; maxItems: number };

  constructor(
    readonly name: string,
    readonly column: number,
    to: number | undefined,
    type: ElementType,
    rules: readonly CheckRule<readonly Scalar[]>[],
    itemRules: readonly CheckRule<Scalar>[],
    bounds: { minItems: number; maxItems: number },
  ) {
    this.#to = to;
    this.#type = type;
    this.#rules = rules;
    this.#itemRules = itemRules;
    this.#bounds = bounds;

    this.#needsValues =
      itemRules.length > 0 ||
      rules.some(({ keyword }) => keyword !== "minItems" && keyword !== "maxItems");
    this.checks = rules.length > 0 || itemRules.length > 0;
  }

  #endIn(row: Row): number {
    return this.#to === undefined || this.#to > row.count
      ? Math.max(row.count, this.column)
      : this.#to;
  }

  convert(row: Row): Conversion {
    if (this.#type === "string") return CONVERTED;
    const { bytes, starts, ends, flags } = row;
    const end = this.#endIn(row);
    const test = TESTS[this.#type];
    for (let column = this.column; column < end; column++) {
      if ((flags[column]! & HAS_QUOTE) !== 0 || !test(bytes, starts[column]!, ends[column]!))
        return VALUE_ERROR;
    }
    return CONVERTED;
  }

  check(row: Row, report: Report): void {
    const count = this.#endIn(row) - this.column;
    if (!this.#needsValues && count >= this.#bounds.minItems && count <= this.#bounds.maxItems)
      return;
    const values = Array.from({ length: count }, (_, element) =>
      this.#element(row, this.column + element),
    );
    applyRules(this.#rules, values, report, this.column);
    for (const rule of this.#itemRules) {
      // The first element speaks for the others: a thousand wrong ones in a row are one mistake.
      const element = values.findIndex((value) => !rule.keeps(value));
      if (element >= 0)
        report.violation(
          rule.kind,
          `${rule.text(values[element]!)}${rule.after} (element ${element})`,
          this.column + element,
        );
    }
  }

  #element(row: Row, column: number): Scalar {
    const [start, end] = [row.starts[column]!, row.ends[column]!];
    switch (this.#type) {
      case "number":
        return readNumber(row.bytes, start, end);
      case "integer":
        return readInteger(row.bytes, start, end)!;
      case "boolean":
        return readBoolean(row.bytes, start, end)!;
      default:
        return row.ownText(column);
    }
  }
}

/** Rules of an array as a whole, in the order they are reported. */
function arrayRules(keywords: PropertyObject, floats: boolean): Rule<readonly Scalar[]>[] {
  const { maxItems, minItems, uniqueItems, enum: choices, const: only } = keywords;
  const text = (values: readonly Scalar[]): string =>
    listText(values, (value) => valueText(value, floats));
  const rules: Rule<readonly Scalar[]>[] = [];
  if (present(maxItems))
    rules.push({
      keyword: "maxItems",
      keeps: (values) => values.length <= maxItems,
      text,
      after: ` is too long`,
    });
  if (present(minItems))
    rules.push({
      keyword: "minItems",
      keeps: (values) => values.length >= minItems,
      text: (values) =>
        `${text(values)} ` +
        (values.length === 0 && minItems === 1 ? "should be non-empty" : "is too short"),
      after: "",
    });
  if (uniqueItems === true)
    rules.push({
      keyword: "uniqueItems",
      keeps: (values) => new Set(values).size === values.length,
      text,
      after: ` has non-unique elements`,
    });
  if (present(choices))
    rules.push({
      keyword: "enum",
      keeps: (values) => choices.some((choice) => sameList(values, choice)),
      text,
      after: ` is not one of ${valueText(choices, floats)}`,
    });
  if (present(only))
    rules.push({
      keyword: "const",
      keeps: (values) => sameList(values, only),
      text: () => "",
      after: `${valueText(only, floats)} was expected`,
    });
  return rules;
}

const sameList = (values: readonly Scalar[], other: unknown): boolean =>
  Array.isArray(other) &&
  other.length === values.length &&
  values.every(
    (value, index) =>
      value === other[index] || (typeof value === "bigint" && value == other[index]),
  );

/** Turns a property into its check; a column of type `null` has none. */
export function compileProperty(
  { name, type, index, keywords, items }: TableProperty,
  environment: RuleEnvironment,
): PropertyCheck | undefined {
  const evaluated = <T>(rules: Rule<T>[]): CheckRule<T>[] =>
    rules.map((rule) => ({ ...rule, kind: environment.kind(rule.keyword, name, "", rule.after) }));
  if (index.kind === "slice") {
    const bounds = {
      minItems: present(keywords.minItems) ? keywords.minItems : 0,
      maxItems: present(keywords.maxItems) ? keywords.maxItems : Infinity,
    };
    const ofItems = itemRules(items!, name, environment).map((rule) => ({
      ...rule,
      kind: environment.kind(rule.keyword, name, "", ""),
    }));
    return new ArrayCheck(
      name,
      index.from,
      index.to,
      items!.type,
      evaluated(arrayRules(keywords, items!.type === "number")),
      ofItems,
      bounds,
    );
  }
  switch (type) {
    case "string":
      return new StringCheck(name, index.at, evaluated(stringRules(keywords, name, environment)));
    case "number":
      return new NumberCheck(name, index.at, evaluated(numberRules(keywords, type)));
    case "integer":
      return new IntegerCheck(name, index.at, evaluated(numberRules(keywords, type)));
    case "boolean":
      return new BooleanCheck(name, index.at, evaluated(booleanRules(keywords)));
    default:
      return undefined;
  }
}

function itemRules(
  items: ItemsObject,
  property: string,
  environment: RuleEnvironment,
): Rule<Scalar>[] {
  switch (items.type) {
    case "string":
      return stringRules(items, property, environment);
    case "boolean":
      return booleanRules(items);
    default:
      return numberRules(items, items.type);
  }
}
