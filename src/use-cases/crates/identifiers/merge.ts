import type { JsonObject, JsonValue } from "../../../model/field.js";
import { listOf, objectFrom } from "../json-path.js";

/**
 * One entity out of several statements with one identifier, as JSON-LD flattening does (JSON-LD 1.1 API,
 * section 7.2): values of a property are united, equal ones kept once. The first statement's keys and values
 * come first.
 */
export function mergeEntities([first, ...rest]: readonly JsonObject[]): JsonObject {
  let merged = first!;
  for (const next of rest) {
    const entries = new Map(Object.entries(merged));
    for (const [key, value] of Object.entries(next)) {
      if (key === "@id" || key === "@context") continue;
      const before = entries.get(key);
      entries.set(key, before === undefined || before === null ? value : united(before, value));
    }
    merged = objectFrom(entries);
  }
  return merged;
}

function united(before: JsonValue, after: JsonValue): JsonValue {
  const values = listOf(before);
  const seen = new Set(values.map((value) => JSON.stringify(value)));
  const added = listOf(after).filter((value) => {
    const text = JSON.stringify(value);
    return !seen.has(text) && seen.add(text);
  });
  return added.length === 0 ? before : [...values, ...added];
}
