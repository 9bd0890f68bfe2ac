import { measureJson } from "./count-values.js";
import { parseStrictJson, type StrictJson } from "./strict-json.js";

export interface JsonLimits {
  /** Most arrays and objects inside each other; a scalar has depth 0. Setting MAX_JSON_DEPTH. */
  maxDepth: number;
  /** Most keys and values together. Setting MAX_JSON_VALUES. */
  maxValues: number;
}
export interface BoundedJson extends StrictJson { /** There are more than `maxValues`: nothing was read. */ tooMany: boolean }

/** {@link parseStrictJson} of a text whose size is a client's choice: it is counted before anything is made of it. */
export function parseBoundedJson(bytes: Uint8Array, { maxDepth, maxValues }: JsonLimits): BoundedJson {
  const { values, tooDeep } = measureJson(bytes, maxValues, maxDepth);
  if (values > maxValues) return { value: undefined, problems: [], tooMany: true };
  // Cut behind the bracket that is one too many: nothing behind it needs to be read to say so.
  return { ...parseStrictJson(tooDeep === undefined ? bytes : bytes.subarray(0, tooDeep + 1), { maxDepth }), tooMany: false };
}
