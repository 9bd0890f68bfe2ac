import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../model/field.js";

/** JSON pointers (RFC 6901) of the members that differ between two documents, at the first level. */
export function changedPointers(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => Object.hasOwn(before, name) !== Object.hasOwn(after, name) || !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}
