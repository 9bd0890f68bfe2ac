import type { ItemsObject } from "../schema/document.js";
import type { TableProperty } from "../schema/table-schema.js";
import { ArrayCheck } from "./array-check.js";
import { arrayRules } from "./array-rules.js";
import type { JudgedRule, PropertyCheck } from "./check.js";
import type { Rule, RuleEnvironment, Scalar } from "./rule.js";
import { BooleanCheck, IntegerCheck, NumberCheck, StringCheck } from "./scalar-checks.js";
import { booleanRules, numberRules, present, stringRules } from "./scalar-rules.js";

/** Turns a property into its check; a column of type `null` has none. */
export function compileProperty({ name, type, index, keywords, items }: TableProperty, environment: RuleEnvironment): PropertyCheck | undefined {
  const judged = <T>(rules: Rule<T>[]): JudgedRule<T>[] => rules.map((rule) => ({ ...rule, kind: environment.kind(rule.keyword, name, "", rule.after) }));
  if (index.kind === "slice") {
    const bounds = { minItems: present(keywords.minItems) ? keywords.minItems : 0, maxItems: present(keywords.maxItems) ? keywords.maxItems : Infinity };
    const ofItems = itemRules(items!, name, environment).map((rule) => ({ ...rule, kind: environment.kind(rule.keyword, name, "", "") }));
    return new ArrayCheck(name, index.from, index.to, items!.type, judged(arrayRules(keywords, items!.type === "number")), ofItems, bounds);
  }
  switch (type) {
    case "string": return new StringCheck(name, index.at, judged(stringRules(keywords, name, environment)));
    case "number": return new NumberCheck(name, index.at, judged(numberRules(keywords, type)));
    case "integer": return new IntegerCheck(name, index.at, judged(numberRules(keywords, type)));
    case "boolean": return new BooleanCheck(name, index.at, judged(booleanRules(keywords)));
    default: return undefined;
  }
}

function itemRules(items: ItemsObject, property: string, environment: RuleEnvironment): Rule<Scalar>[] {
  switch (items.type) {
    case "string": return stringRules(items, property, environment) as Rule<Scalar>[];
    case "boolean": return booleanRules(items) as Rule<Scalar>[];
    default: return numberRules(items, items.type) as Rule<Scalar>[];
  }
}
