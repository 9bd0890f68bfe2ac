/** A schema becomes functions that check the values of a row. */
import { ESCAPED, RELAXED, type Row } from "../reader/row.js";
import {
  type ItemsObject,
  missingTexts,
  type PropertyObject,
  type TableProperty,
  type TableSchema,
  type ValueKeywords,
} from "../schema/table-schema.js";
import {
  applyRules,
  type CheckRule,
  CONVERTED,
  type Conversion,
  type ErrorKind,
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
  statedText,
  readBoolean,
  readInteger,
  readNumber,
  valueText,
} from "./notation.js";
import { momentsOf, patternedMoments, type ReadMoment } from "./moments.js";
import { numeralReader } from "./numerals.js";

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

/** How the cells of a datatype are read. */
interface CellForm<T extends Scalar> {
  is(row: Row, column: number): boolean;
  read(row: Row, column: number): T | undefined;
}

/** A form whose cells are read from their bytes. */
const plainForm = <T extends Scalar>(
  is: (bytes: Buffer, start: number, end: number) => boolean,
  read: (bytes: Buffer, start: number, end: number) => T | undefined,
): CellForm<T> => ({
  is: (row, column) =>
    (row.flags[column]! & HAS_QUOTE) === 0 && is(row.bytes, row.starts[column]!, row.ends[column]!),
  read: (row, column) =>
    (row.flags[column]! & HAS_QUOTE) === 0
      ? read(row.bytes, row.starts[column]!, row.ends[column]!)
      : undefined,
});

/** A form whose cells are read from their text. */
const textForm = <T extends Scalar>(read: (text: string) => T | undefined): CellForm<T> => ({
  is: (row, column) => read(row.text(column)) !== undefined,
  read: (row, column) => read(row.text(column)),
});

const NUMBER = plainForm<number>(isNumber, (bytes, start, end) => {
  const value = readNumber(bytes, start, end);
  return Number.isNaN(value) ? undefined : value;
});
const INTEGER = plainForm<number | bigint>(isInteger, readInteger);
const BOOLEAN = plainForm<boolean>(
  (bytes, start, end) => readBoolean(bytes, start, end) !== undefined,
  readBoolean,
);

/** The numbers of a column; those of other forms than JSON's come from their text. */
function numberForm(
  keywords: ValueKeywords,
  type: "number" | "integer",
): CellForm<number | bigint> {
  const read = numeralReader(keywords, type);
  if (read) return textForm(read);
  return type === "integer" ? INTEGER : NUMBER;
}

function booleanForm({ trueValues, falseValues }: ValueKeywords): CellForm<boolean> {
  if (!present(trueValues) && !present(falseValues)) return BOOLEAN;
  const words = new Map<string, boolean>([
    ...(falseValues ?? []).map((word) => [word, false] as const),
    ...(trueValues ?? []).map((word) => [word, true] as const),
  ]);
  return textForm((text) => words.get(text));
}

/** The form of a column's cells; text is as it is. */
function formOf(type: ElementType, keywords: ValueKeywords): CellForm<Scalar> | undefined {
  if (type === "string") return undefined;
  return type === "boolean" ? booleanForm(keywords) : numberForm(keywords, type);
}

/** A column of numbers or booleans. */
class ValueCheck<T extends Scalar> implements PropertyCheck {
  readonly checks: boolean;
  #value: T | undefined;
  readonly #form: CellForm<T>;
  readonly #rules: readonly CheckRule<T>[];

  constructor(
    readonly name: string,
    readonly column: number,
    form: CellForm<T>,
    rules: readonly CheckRule<T>[],
  ) {
    this.#form = form;
    this.#rules = rules;

    this.checks = rules.length > 0;
  }

  convert(row: Row): Conversion {
    const { column } = this;
    if (column >= row.count) return INDEX_ERROR;
    if (!this.checks) return this.#form.is(row, column) ? CONVERTED : VALUE_ERROR;
    this.#value = this.#form.read(row, column);
    return this.#value === undefined ? VALUE_ERROR : CONVERTED;
  }

  check(_row: Row, report: Report): void {
    applyRules(this.#rules, this.#value!, report, this.column);
  }
}

/** Whether a cell has no value: what it says is a text that stands for a missing one. */
export class MissingCells {
  readonly #texts: ReadonlySet<string>;
  /** Bytes of the longest text: most cells are longer, and need no text. */
  readonly #longest: number;

  /** @param trims blanks around the text do not count, as around a number */
  constructor(
    texts: readonly string[],
    readonly trims: boolean,
  ) {
    this.#texts = new Set(texts);
    this.#longest = texts.reduce((most, text) => Math.max(most, Buffer.byteLength(text)), -1);
  }

  has(row: Row, column: number): boolean {
    if (!this.trims && row.ends[column]! - row.starts[column]! > this.#longest) return false;
    const text = row.text(column);
    return this.#texts.has(this.trims ? text.trim() : text);
  }
}

/** A column some of whose cells may have no value; the other cells are those of the inner check. */
class OptionalCheck implements PropertyCheck {
  readonly name: string;
  readonly column: number;
  readonly checks: boolean;
  #isMissing = false;

  /** @param required the error that a missing value is; `undefined` where it may be missing */
  constructor(
    readonly inner: PropertyCheck,
    readonly missing: MissingCells,
    readonly required: ErrorKind | undefined,
  ) {
    this.name = inner.name;
    this.column = inner.column;
    this.checks = inner.checks || required !== undefined;
  }

  convert(row: Row): Conversion {
    this.#isMissing = this.column < row.count && this.missing.has(row, this.column);
    return this.#isMissing ? CONVERTED : this.inner.convert(row);
  }

  check(row: Row, report: Report): void {
    if (!this.#isMissing) this.inner.check(row, report);
    else if (this.required) report.violation(this.required, "", this.column);
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
  const { pattern, maxLength, minLength, format, formatPattern } = keywords;
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
  const patterned = present(formatPattern) ? patternedMoments(formatPattern) : undefined;
  const formatRule = (stated: string, keeps: (text: string) => boolean): Rule<string> => ({
    keyword: "format",
    keeps,
    text: quoted,
    after: ` is not a ${quoted(stated)}`,
    expected: stated,
  });
  if (present(formatPattern) && patterned)
    rules.push(formatRule(formatPattern, (text) => patterned(text) !== undefined));
  else if (present(format)) {
    const isOfFormat = environment.format(format);
    if (isOfFormat) rules.push(formatRule(format, isOfFormat));
  }
  const moments = patterned ?? (present(format) ? momentsOf(format) : undefined);
  return [
    ...rules,
    ...momentRules(keywords, moments),
    ...choiceRules<string>(keywords, quoted, false),
  ];
}

/** Bounds of a date or time; texts that are none are a matter for its format. */
function momentRules(keywords: ValueKeywords, read: ReadMoment | undefined): Rule<string>[] {
  const rule = (
    keyword:
      "formatMaximum" | "formatMinimum" | "formatExclusiveMaximum" | "formatExclusiveMinimum",
    keeps: (value: number, bound: number) => boolean,
    relation: string,
  ): Rule<string>[] => {
    const bound = keywords[keyword];
    if (!present(bound) || !read) return [];
    const limit = read(bound);
    if (limit === undefined) return [];
    return [
      {
        keyword,
        keeps: (text) => {
          const value = read(text);
          return value === undefined || keeps(value, limit);
        },
        text: quoted,
        after: ` is ${relation} ${quoted(bound)}`,
      },
    ];
  };
  return [
    ...rule("formatMaximum", (value, bound) => value <= bound, "after the maximum of"),
    ...rule("formatMinimum", (value, bound) => value >= bound, "before the minimum of"),
    ...rule("formatExclusiveMaximum", (value, bound) => value < bound, "not before"),
    ...rule("formatExclusiveMinimum", (value, bound) => value > bound, "not after"),
  ];
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

/** An element of an array; null for a cell without a value. */
type Element = Scalar | null;
type ElementType = ItemsObject["type"];

/**
 * Several columns as one array. A slice takes what the row has: too few elements are a matter for
 * `minItems`.
 */
class ArrayCheck implements PropertyCheck {
  readonly checks: boolean;
  failedColumn = 0;
  /** Rules that only count need no values. */
  readonly #needsValues: boolean;

  readonly #to: number | undefined;
  /** None for text. */
  readonly #form: CellForm<Scalar> | undefined;
  readonly #rules: readonly CheckRule<readonly Element[]>[];
  readonly #itemRules: readonly CheckRule<Scalar>[];
  readonly #bounds: { minItems: number; maxItems: number };
  /** Which elements may be null; `undefined` for none. */
  readonly #missing: MissingCells | undefined;

  constructor(
    readonly name: string,
    readonly column: number,
    to: number | undefined,
    form: CellForm<Scalar> | undefined,
    rules: readonly CheckRule<readonly Element[]>[],
    itemRules: readonly CheckRule<Scalar>[],
    bounds: { minItems: number; maxItems: number },
    missing: MissingCells | undefined,
  ) {
    this.#to = to;
    this.#form = form;
    this.#rules = rules;
    this.#itemRules = itemRules;
    this.#bounds = bounds;
    this.#missing = missing;

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
    const form = this.#form;
    if (!form) return CONVERTED;
    const end = this.#endIn(row);
    for (let column = this.column; column < end; column++) {
      if (this.#missing?.has(row, column) === true) continue;
      if (form.is(row, column)) continue;
      this.failedColumn = column;
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
    applyRules(this.#rules, values, report, this.column, statedText);
    for (const rule of this.#itemRules) {
      // The first element speaks for the others: a thousand wrong ones in a row are one mistake.
      const element = values.findIndex((value) => value !== null && !rule.keeps(value));
      if (element >= 0)
        report.violation(
          rule.kind,
          `${rule.text(values[element] as Scalar)}${rule.after} (element ${element})`,
          this.column + element,
        );
    }
  }

  #element(row: Row, column: number): Element {
    if (this.#missing?.has(row, column) === true) return null;
    return this.#form ? this.#form.read(row, column)! : row.ownText(column);
  }
}

/** Rules of an array as a whole, in the order they are reported. */
function arrayRules(keywords: PropertyObject, floats: boolean): Rule<readonly Element[]>[] {
  const { maxItems, minItems, uniqueItems, enum: choices, const: only } = keywords;
  const text = (values: readonly Element[]): string =>
    listText(values, (value) => valueText(value, floats));
  const rules: Rule<readonly Element[]>[] = [];
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
      // Cells without a value do not repeat each other.
      keeps: (values) => {
        const present = values.filter((value) => value !== null);
        return new Set(present).size === present.length;
      },
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

const sameList = (values: readonly Element[], other: unknown): boolean =>
  Array.isArray(other) &&
  other.length === values.length &&
  values.every(
    (value, index) =>
      value === other[index] || (typeof value === "bigint" && value == other[index]),
  );

/**
 * Turns a property into its check; a column of type `null` has none.
 * @param schema what it says of missing values, and which of them are errors
 */
export function compileProperty(
  property: TableProperty,
  schema: Pick<TableSchema, "required" | "missingValues">,
  environment: RuleEnvironment,
): PropertyCheck | undefined {
  const { name, type, index, nullable } = property;
  const texts = missingTexts(property, schema);
  const missing =
    texts.length > 0
      ? new MissingCells(texts, (property.items?.type ?? type) !== "string")
      : undefined;
  if (index.kind === "slice")
    return arrayCheck(property, index, nullable ? missing : undefined, environment);
  const inner = cellCheck(property, index.at, environment);
  if (!inner || !missing) return inner;
  const required =
    !nullable && schema.required.includes(name)
      ? environment.kind("required", name, `${quoted(name)} is a required property`, "", "a value")
      : undefined;
  return new OptionalCheck(inner, missing, required);
}

const withKinds = <T>(
  rules: Rule<T>[],
  keywords: ValueKeywords,
  property: string,
  environment: RuleEnvironment,
): CheckRule<T>[] =>
  rules.map((rule) => ({
    ...rule,
    kind: environment.kind(rule.keyword, property, "", rule.after, expectedOf(rule, keywords)),
  }));

const expectedOf = ({ keyword, expected }: Rule<never>, keywords: ValueKeywords): string =>
  statedText(expected ?? (keywords as Record<string, unknown>)[keyword]);

/** The datatype of a property, for a cell that is none. */
export const datatypeText = ({ type, items }: TableProperty): string =>
  items ? `array of ${items.type}` : type;

function arrayCheck(
  { name, keywords, items }: TableProperty,
  { from, to }: { from: number; to: number | undefined },
  missing: MissingCells | undefined,
  environment: RuleEnvironment,
): PropertyCheck {
  const bounds = {
    minItems: present(keywords.minItems) ? keywords.minItems : 0,
    maxItems: present(keywords.maxItems) ? keywords.maxItems : Infinity,
  };
  const ofItems = itemRules(items!, name, environment).map((rule) => ({
    ...rule,
    kind: environment.kind(rule.keyword, name, "", "", expectedOf(rule, items!)),
  }));
  const rules = withKinds(
    arrayRules(keywords, items!.type === "number"),
    keywords,
    name,
    environment,
  );
  return new ArrayCheck(
    name,
    from,
    to,
    formOf(items!.type, items!),
    rules,
    ofItems,
    bounds,
    missing,
  );
}

function cellCheck(
  { name, type, keywords }: TableProperty,
  column: number,
  environment: RuleEnvironment,
): PropertyCheck | undefined {
  const evaluated = <T>(rules: Rule<T>[]): CheckRule<T>[] =>
    withKinds(rules, keywords, name, environment);
  switch (type) {
    case "string":
      return new StringCheck(name, column, evaluated(stringRules(keywords, name, environment)));
    case "number":
    case "integer":
      return new ValueCheck(
        name,
        column,
        numberForm(keywords, type),
        evaluated(numberRules(keywords, type)),
      );
    case "boolean":
      return new ValueCheck(name, column, booleanForm(keywords), evaluated(booleanRules(keywords)));
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
