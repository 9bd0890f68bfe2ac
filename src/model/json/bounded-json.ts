import { parseStrictJson, type StrictJson } from "./strict-json.js";

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a,
];
const [NOTHING, MEMBER, CLOSE, STRING] = [0, 1, 2, 3];
/** The meaning of each byte outside a string. */
const MEANING = new Uint8Array(256);
for (const byte of [COMMA, COLON, OPEN_OBJECT, OPEN_ARRAY]) MEANING[byte] = MEMBER;
for (const byte of [CLOSE_OBJECT, CLOSE_ARRAY]) MEANING[byte] = CLOSE;
MEANING[QUOTE] = STRING;
/** Bytes of a string that are read one by one before the native search for its end takes over. */
const SHORT = 32;

/** Keys and values of a text, and where a bracket is one too many inside each other. */
interface Measured {
  values: number;
  /** Offset of the bracket; what stands behind it was not counted. */ tooDeep?: number;
}

/**
 * Counts the keys and values of a JSON text before it is parsed: a value takes ten times the memory
 * and time of its text. One pass over the bytes, which ends as soon as there are too many, or they
 * nest too deep. The text need not be JSON; the parser decides that.
 * @param most where to stop; `values` is `most + 1` or more when there are too many
 */
export function measureJson(bytes: Uint8Array, most: number, maxDepth = Infinity): Measured {
  // A member follows each comma and each bracket, unless the bracket closes at once.
  let count = 1;
  let depth = 0;
  const { length } = bytes;
  for (let at = 0; at < length; at++) {
    const meaning = MEANING[bytes[at]!]!;
    if (meaning === NOTHING) continue;
    if (meaning === STRING) at = closingQuote(bytes, at);
    else if (meaning === CLOSE) {
      depth--;
      count -= isEmpty(bytes, at) ? 1 : 0;
    } else {
      const byte = bytes[at];
      if ((byte === OPEN_ARRAY || byte === OPEN_OBJECT) && ++depth > maxDepth)
        return { values: count, tooDeep: at };
      if (++count > most) break;
    }
  }
  return { values: count };
}

/** {@link measureJson} where the depth does not matter. */
export const countValues = (bytes: Uint8Array, most: number): number =>
  measureJson(bytes, most).values;

/** Offset of the quote that ends the string begun at `start`, or the end of the text. */
function closingQuote(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (;;) {
    for (const far = at + SHORT; at < far; at++) {
      const byte = bytes[at];
      if (byte === QUOTE || byte === undefined) return at;
      if (byte === BACKSLASH) at++;
    }
    // Long ones are searched natively; where the quote found is escaped, the loop above goes on
    // behind it.
    const found = bytes.indexOf(QUOTE, at);
    if (found < 0) return bytes.length;
    let escapes = 0;
    while (found - 1 - escapes >= at && bytes[found - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return found;
    at = found + 1;
  }
}

/** Whether nothing but space stands between a closing bracket and an opening one before it. */
function isEmpty(bytes: Uint8Array, close: number): boolean {
  let at = close - 1;
  for (
    let byte = bytes[at];
    byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    byte = bytes[at]
  )
    at--;
  return bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_ARRAY;
}

export interface JsonLimits {
  /** Most arrays and objects inside each other; a scalar has depth 0. Setting MAX_JSON_DEPTH. */
  maxDepth: number;
  /** Most keys and values together. Setting MAX_JSON_VALUES. */
  maxValues: number;
}
interface BoundedJson extends StrictJson {
  /** There are more than `maxValues`: nothing was read. */ tooMany: boolean;
}

/**
 * {@link parseStrictJson} of a text whose size a client chooses: its values are counted before it
 * is parsed.
 */
export function parseBoundedJson(
  bytes: Uint8Array,
  { maxDepth, maxValues }: JsonLimits,
): BoundedJson {
  const { values, tooDeep } = measureJson(bytes, maxValues, maxDepth);
  if (values > maxValues) return { value: undefined, problems: [], tooMany: true };
  // Cut behind the bracket that is one too many: the error does not depend on the rest.
  return {
    ...parseStrictJson(tooDeep === undefined ? bytes : bytes.subarray(0, tooDeep + 1), {
      maxDepth,
    }),
    tooMany: false,
  };
}
