import type { JsonObject, JsonValue } from "../../../model/field.js";
import { listOf, objectFrom } from "../json-path.js";

/**
 * One entity out of several statements with one identifier, as JSON-LD flattening does (JSON-LD 1.1 API,
 * section 7.2): values of a property are united, equal ones kept once. The first statement's keys and values
 * come first.
 */
export function mergeEntities([first, ...rest]: readonly JsonObject[]): JsonObject {
  if (rest.length === 0) return first!;
  const merged = new Map(Object.entries(first!));
  const united = new Map<string, United>();
  // One pass: a hostile crate describes one entity a hundred thousand times.
  for (const next of rest) {
    for (const [key, value] of Object.entries(next)) {
      if (key === "@id" || key === "@context") continue;
      const before = merged.get(key);
      if (before === undefined || before === null) merged.set(key, value);
      else {
        let values = united.get(key);
        if (!values) united.set(key, (values = new United(before)));
        values.add(value);
      }
    }
  }
  for (const [key, values] of united) merged.set(key, values.value());
  return objectFrom(merged);
}

/** The values of a property, each once. */
class United {
  private readonly values: JsonValue[];
  private readonly seen: Set<string>;
  private grew = false;

  constructor(private readonly first: JsonValue) {
    this.values = [...listOf(first)];
    this.seen = new Set(this.values.map((value) => JSON.stringify(value)));
  }

  add(more: JsonValue): void {
    for (const value of listOf(more)) {
      const text = JSON.stringify(value);
      if (this.seen.has(text)) continue;
      this.seen.add(text);
      this.values.push(value);
      this.grew = true;
    }
  }

  /** As it was written where nothing came to it. */
  value(): JsonValue {
    return this.grew ? this.values : this.first;
  }
}
