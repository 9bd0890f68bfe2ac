import type { ValidationItem } from "../../errors.js";
import { Findings } from "../../model/findings.js";
import { TabularError } from "../../tabular/limits.js";
import { readProperty } from "../../tabular/schema/table-schema.js";

/**
 * Errors that prevent the properties of a table's schema from being applied, each with its place.
 * The rules are those that check tables, and those by which `arkgraph schema` accepts a property.
 * @param at where the properties are, for `loc`
 */
export function propertyProblems(
  properties: Readonly<Record<string, unknown>>,
  at: readonly (string | number)[],
): ValidationItem[] {
  const findings = new Findings(at);
  for (const [name, property] of Object.entries(properties)) {
    if (findings.full) break;
    if (typeof property !== "object" || property === null || Array.isArray(property)) {
      findings.add([name], "dict_type", "Input should be a valid dictionary");
      continue;
    }
    try {
      readProperty(name, property);
    } catch (error) {
      if (!(error instanceof TabularError)) throw error;
      findings.add([name], "value_error", `Value error, ${error.message}`);
    }
  }
  return findings.items;
}
