import type { ValueKeywords } from "../schema/document.js";
import { isMultiple } from "./multiple.js";
import { floatText, integerText, quoted, valueText } from "./python-text.js";
import type { Rule, RuleEnvironment, Scalar } from "./rule.js";

/** Number of code points, the length of JSON Schema. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/** Rules of a string, in the order they are reported. */
export function stringRules(keywords: ValueKeywords, property: string, environment: RuleEnvironment): Rule<string>[] {
  const { pattern, maxLength, minLength, format } = keywords;
  const rules: Rule<string>[] = [];
  if (present(pattern)) rules.push({ keyword: "pattern", keeps: environment.pattern(pattern, property), text: quoted, after: ` does not match ${quoted(pattern)}` });
  // Code points are never more than code units, so most texts need no counting.
  if (present(maxLength)) rules.push({ keyword: "maxLength", keeps: (text) => text.length <= maxLength || codePoints(text) <= maxLength, text: quoted, after: " is too long" });
  if (present(minLength)) rules.push({ keyword: "minLength", keeps: (text) => text.length >= minLength && (text.length >= minLength * 2 || codePoints(text) >= minLength), text: quoted, after: " is too short" });
  const isOfFormat = present(format) ? environment.format(format) : undefined;
  if (present(format) && isOfFormat) rules.push({ keyword: "format", keeps: isOfFormat, text: quoted, after: ` is not a ${quoted(format)}` });
  return [...rules, ...choiceRules<string>(keywords, quoted, false)];
}

/** Rules of a whole number or of any number, in the order they are reported. */
export function numberRules(keywords: ValueKeywords, type: "number" | "integer"): Rule<number | bigint>[] {
  const { maximum, minimum, exclusiveMaximum, exclusiveMinimum, multipleOf } = keywords;
  const floats = type === "number";
  const text = (value: number | bigint): string => (floats || (typeof value === "number" && !Number.isInteger(value)) ? floatText(Number(value)) : integerText(value));
  const rules: Rule<number | bigint>[] = [];
  if (present(maximum)) rules.push({ keyword: "maximum", keeps: (value) => value <= maximum, text, after: ` is greater than the maximum of ${text(maximum)}` });
  if (present(minimum)) rules.push({ keyword: "minimum", keeps: (value) => value >= minimum, text, after: ` is less than the minimum of ${text(minimum)}` });
  if (present(exclusiveMaximum)) rules.push({ keyword: "exclusiveMaximum", keeps: (value) => value < exclusiveMaximum, text, after: ` is greater than or equal to the maximum of ${text(exclusiveMaximum)}` });
  if (present(exclusiveMinimum)) rules.push({ keyword: "exclusiveMinimum", keeps: (value) => value > exclusiveMinimum, text, after: ` is less than or equal to the minimum of ${text(exclusiveMinimum)}` });
  if (present(multipleOf)) rules.push({ keyword: "multipleOf", keeps: (value) => isMultiple(value, multipleOf), text, after: ` is not a multiple of ${text(multipleOf)}` });
  return [...rules, ...choiceRules(keywords, text, floats)];
}

/** Rules of a truth value. */
export const booleanRules = (keywords: ValueKeywords): Rule<boolean>[] => choiceRules<boolean>(keywords, (value) => (value ? "True" : "False"), false);

function choiceRules<T extends Scalar>(keywords: ValueKeywords, text: (value: T) => string, floats: boolean): Rule<T>[] {
  const { enum: choices, const: only } = keywords;
  const rules: Rule<T>[] = [];
  // `==` lets a whole number beyond 2^53, a bigint, equal the number it is; the types are looked at before.
  const equal = (value: T, choice: unknown): boolean => value === choice || (typeof value === "bigint" && typeof choice === "number" && value == (choice as never));
  if (present(choices)) {
    const set = new Set(choices);
    rules.push({ keyword: "enum", keeps: (value) => set.has(value) || choices.some((choice) => equal(value, choice)), text, after: ` is not one of ${valueText(choices, floats)}` });
  }
  if (present(only)) rules.push({ keyword: "const", keeps: (value) => equal(value, only), text: () => "", after: `${valueText(only, floats)} was expected` });
  return rules;
}

/** A keyword that is null counts as absent. */
export function present<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
