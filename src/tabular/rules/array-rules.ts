import type { PropertyObject } from "../schema/document.js";
import { listText, valueText } from "./python-text.js";
import type { Rule, Scalar } from "./rule.js";
import { present } from "./scalar-rules.js";

/** Rules of an array as a whole, in the order they are reported. */
export function arrayRules(keywords: PropertyObject, floats: boolean): Rule<readonly Scalar[]>[] {
  const { maxItems, minItems, uniqueItems, enum: choices, const: only } = keywords;
  const text = (values: readonly Scalar[]): string => listText(values, (value) => valueText(value, floats));
  const rules: Rule<readonly Scalar[]>[] = [];
  if (present(maxItems)) rules.push({ keyword: "maxItems", keeps: (values) => values.length <= maxItems, text, after: ` is too long` });
  if (present(minItems)) rules.push({ keyword: "minItems", keeps: (values) => values.length >= minItems, text: (values) => `${text(values)} ${values.length === 0 && minItems === 1 ? "should be non-empty" : "is too short"}`, after: "" });
  if (uniqueItems === true) rules.push({ keyword: "uniqueItems", keeps: (values) => new Set(values).size === values.length, text, after: ` has non-unique elements` });
  if (present(choices)) rules.push({ keyword: "enum", keeps: (values) => choices.some((choice) => sameList(values, choice)), text, after: ` is not one of ${valueText(choices, floats)}` });
  if (present(only)) rules.push({ keyword: "const", keeps: (values) => sameList(values, only), text: () => "", after: `${valueText(only, floats)} was expected` });
  return rules;
}

const sameList = (values: readonly Scalar[], other: unknown): boolean => Array.isArray(other) && other.length === values.length && values.every((value, index) => value === other[index] || (typeof value === "bigint" && value == other[index]));
