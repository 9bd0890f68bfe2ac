import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import type { ItemsObject, PropertyObject, TableProperty } from "../schema/table-schema.js";
import {
  applyRules,
  type Conversion,
  CONVERTED,
  type CheckRule,
  type PropertyCheck,
  type Report,
  type Rule,
  type RuleEnvironment,
  type Scalar,
  VALUE_ERROR,
} from "./check.js";
import { isInteger, isNumber, readBoolean, readInteger, readNumber } from "./numerals.js";
import { listText, valueText } from "./python-text.js";
import {
  BooleanCheck,
  booleanRules,
  IntegerCheck,
  NumberCheck,
  numberRules,
  present,
  StringCheck,
  stringRules,
} from "./scalar.js";

const HAS_QUOTE = ESCAPED | RELAXED;
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
