import { isUtf8 } from "node:buffer";
import { ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonValue } from "../field.js";
import { inspectJson, isExactNumber, type JsonProblem } from "./inspect-json.js";

export interface StrictJson {
  /** `undefined` when the text is not JSON (RFC 8259) or nests too deep to be walked safely. */
  value: JsonValue | undefined;
  problems: JsonProblem[];
}

/**
 * Reads JSON without changing anything silently: values that `JSON.parse` would round (numbers),
 * drop (the first of two equal keys) or let through (NUL, lone surrogates: no store can hold them)
 * are problems with their place. Linear in the length of the text, and without recursion. At most
 * 100 problems are reported.
 *
 * A key `__proto__` is an ordinary own key of the value; copy objects with spread or
 * `Object.fromEntries`, never by assignment.
 *
 * @param input UTF-8 bytes (a byte order mark is dropped) or text
 * @param limits maxDepth: most arrays and objects inside each other; a scalar has depth 0
 */
export function parseStrictJson(
  input: Uint8Array | string,
  limits: { maxDepth: number },
): StrictJson {
  if (typeof input !== "string" && !isUtf8(input))
    return { value: undefined, problems: [notUtf8(input)] };
  // ignoreBOM false (the default) means that the mark is taken off.
  const text =
    typeof input !== "string"
      ? new TextDecoder().decode(input)
      : input.charCodeAt(0) === 0xfeff
        ? input.slice(1)
        : input;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    const problems = inspectJson(text, limits.maxDepth);
    if (problems.some(({ code }) => code === "json_invalid" || code === "too_deep"))
      return { value: undefined, problems };
    return {
      value: undefined,
      problems: [...problems, { pointer: "", code: "json_invalid", message: "Expecting value" }],
    };
  }
  const keys = countKeys(text, limits.maxDepth);
  if (keys >= 0 && keys === countOwnKeys(value)) return { value, problems: [] };
  const problems = inspectJson(text, limits.maxDepth);
  return { value: problems.some(({ code }) => code === "too_deep") ? undefined : value, problems };
}

/**
 * The cheap check of a text that is known to be JSON: how many keys it writes, or -1 when something
 * in it needs the thorough check (depth, an inexact number, a doubtful string).
 */
function countKeys(text: string, maxDepth: number): number {
  if (!text.isWellFormed()) return -1;
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      for (at++; text.charCodeAt(at) !== 0x22; at++) {
        if (text.charCodeAt(at) !== 0x5c) continue;
        at++;
        if (text.charCodeAt(at) !== 0x75) continue;
        const units = escapedUnits(text, at + 1);
        if (units === 0) return -1;
        at += units === 1 ? 4 : 10;
      }
    } else if (char === 0x3a) keys++;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > maxDepth) return -1;
    } else if (char === 0x7d || char === 0x5d) depth--;
    else if (char >= 0x30 && char <= 0x39) {
      const start = at;
      let plain = true;
      for (;;) {
        const next = text.charCodeAt(at + 1);
        if (next >= 0x30 && next <= 0x39) at++;
        else if (next === 0x2e || next === 0x2b || next === 0x2d || (next | 0x20) === 0x65) {
          if (next !== 0x2e) plain = false;
          at++;
        } else break;
      }
      // Fifteen digits always survive a double.
      if ((!plain || at - start >= 15) && !isExactNumber(text.slice(start, at + 1))) return -1;
    }
  }
  return keys;
}

/**
 * How many UTF-16 units the escape with its hex digits at `at` stands for, its pair included; 0 for
 * NUL or half of a pair.
 */
function escapedUnits(text: string, at: number): 0 | 1 | 2 {
  const unit = Number.parseInt(text.slice(at, at + 4), 16);
  if (unit === 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return 0;
  if (unit < 0xd800 || unit > 0xdfff) return 1;
  if (!text.startsWith("\\u", at + 4)) return 0;
  const low = Number.parseInt(text.slice(at + 6, at + 10), 16);
  return low >= 0xdc00 && low <= 0xdfff ? 2 : 0;
}

/** Keys that survived parsing; fewer than were written means duplicates. */
function countOwnKeys(value: JsonValue): number {
  let keys = 0;
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const inner = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) keys += inner.length;
    for (const item of inner) if (typeof item === "object" && item !== null) open.push(item);
  }
  return keys;
}

function notUtf8(bytes: Uint8Array): JsonProblem {
  // Halving: the longest valid prefix ends within the part that is not valid. Each step checks half
  // of the last.
  let from = 0;
  let to = bytes.length;
  while (to - from > 4) {
    let middle = (from + to) >>> 1;
    // Back to the start of a character, else a valid one would be cut.
    for (let back = 0; back < 3 && middle > from && (bytes[middle]! & 0xc0) === 0x80; back++)
      middle--;
    if (middle === from) break;
    if (isUtf8(bytes.subarray(from, middle))) from = middle;
    else to = middle;
  }
  const before = new TextDecoder().decode(bytes.subarray(0, from));
  const line = before.split("\n").length;
  return {
    pointer: "",
    code: "json_invalid",
    message: "Invalid UTF-8",
    line,
    column: before.length - before.lastIndexOf("\n"),
    offset: before.length,
  };
}

/**
 * The error for a text that is no JSON, or holds something that no document may.
 * @param at where the JSON is in the request; in a whole body the offset of the fault is part of
 * its place
 */
export function jsonRefusal(
  problems: readonly JsonProblem[],
  at: readonly (string | number)[],
): ValidationError {
  return new ValidationError(
    problems.map((problem): ValidationItem => {
      if (problem.code === "json_invalid")
        return {
          loc: at.length > 1 ? [...at] : [...at, problem.offset ?? 0],
          msg: "JSON decode error",
          type: "json_invalid",
          ctx: { error: problem.message },
        };
      return {
        loc: [...at, ...pointerSegments(problem.pointer)],
        msg: problem.message,
        type: problem.code,
      };
    }),
  );
}

/** The steps of a JSON pointer; a step in the form of an index is one. */
export function pointerSegments(pointer: string): (string | number)[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) =>
      /^(?:0|[1-9]\d*)$/.test(segment)
        ? Number(segment)
        : segment.replaceAll("~1", "/").replaceAll("~0", "~"),
    );
}
