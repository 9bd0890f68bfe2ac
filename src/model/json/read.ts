/**
 * JSON as clients send it: bounded in depth and size before it is parsed, without duplicate
 * members.
 */
import { isUtf8 } from "node:buffer";
import { ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonValue } from "../field.js";
import { step, stepName } from "./pointer.js";
import { measureJson } from "./scan.js";

export interface JsonProblem {
  /**
   * JSON pointer (RFC 6901) of the value; for `json_invalid` of the value being read when the text
   * broke.
   */
  pointer: string;
  code: "json_invalid" | "number_precision" | "duplicate_key" | "string_unicode" | "too_deep";
  /** For `json_invalid` the wording of Python's json module, which existing clients know. */
  message: string;
  /** From 1. */
  line?: number;
  /** From 1, in UTF-16 units. */
  column?: number;
  /** From 0, in UTF-16 units, a byte order mark not counted. */
  offset?: number;
}

/**
 * True when a double preserves the number as written: its shortest decimal form is the same number.
 * `1.0`, `1e2`, `-0` and `0.1` are preserved; `12345678901234567890`, `1e400` and `1e-400` are not.
 * @param literal a number as RFC 8259 §6 writes it
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  const written = decimal(literal);
  const kept = decimal(String(value));
  return (
    written.digits === kept.digits && (written.digits === "" || written.exponent === kept.exponent)
  );
}

/**
 * Significant digits without zeros at either end, and the power of ten of the first; zero has no
 * digits.
 */
function decimal(literal: string): { digits: string; exponent: number } {
  const text = literal.startsWith("-") ? literal.slice(1) : literal;
  const e = text.search(/[eE]/);
  const mantissa = e < 0 ? text : text.slice(0, e);
  const point = mantissa.indexOf(".");
  const whole = point < 0 ? mantissa : mantissa.slice(0, point);
  const all = point < 0 ? mantissa : whole + mantissa.slice(point + 1);
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === 0x30) start++;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === 0x30) end--;
  return {
    digits: all.slice(start, end),
    exponent: (e < 0 ? 0 : Number(text.slice(e + 1))) + whole.length - start,
  };
}

/** More would not help the client, and a hostile text could hold millions. */
const MAX_PROBLEMS = 100;

/** An array or object being read: the name of its current item. */
interface Frame {
  keys: Set<string> | null;
  place: string | number;
}

class Broken extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The thorough check of a text that is not JSON, or not to be trusted: every problem with its
 * pointer and place.
 */
function inspectJson(text: string, maxDepth: number): JsonProblem[] {
  const inspection = new Inspection(text, maxDepth);
  return inspection.run();
}

class Inspection {
  #at = 0;
  readonly #frames: Frame[] = [];
  readonly #problems: JsonProblem[] = [];
  #lines = 1;
  #lineStart = 0;
  #nextBreak: number | undefined;

  readonly #text: string;
  readonly #maxDepth: number;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  run(): JsonProblem[] {
    try {
      this.#document();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      this.#report("json_invalid", error.message, error.at);
    }
    return this.#problems;
  }

  #document(): void {
    // Each iteration reads one value, then closes the arrays and objects that end behind it. The
    // stack is ours, so depth costs no calls.
    for (;;) {
      this.#space();
      if (this.#problems.length >= MAX_PROBLEMS) return;
      const char = this.#text[this.#at];
      if (char === "{" || char === "[") {
        this.#at++;
        this.#frames.push({ keys: char === "{" ? new Set() : null, place: char === "{" ? "" : 0 });
        if (this.#frames.length > this.#maxDepth) {
          this.#frames.pop();
          this.#report(
            "too_deep",
            `nested deeper than MAX_JSON_DEPTH=${this.#maxDepth} allows`,
            this.#at - 1,
          );
          return;
        }
        this.#space();
        const empty = this.#text[this.#at] === (char === "{" ? "}" : "]");
        if (!empty) {
          if (char === "{") this.#key("Expecting property name enclosed in double quotes");
          continue;
        }
      } else this.#scalar();
      if (!this.#close()) return;
    }
  }

  /** After a value or at the end of an empty container; false at the end of the text. */
  #close(): boolean {
    for (;;) {
      this.#space();
      const frame = this.#frames.at(-1);
      if (!frame) {
        if (this.#at < this.#text.length) throw new Broken(this.#at, "Extra data");
        return false;
      }
      const char = this.#text[this.#at];
      if (char === (frame.keys ? "}" : "]")) {
        this.#at++;
        this.#frames.pop();
        continue;
      }
      if (char !== ",") throw new Broken(this.#at, "Expecting ',' delimiter");
      this.#at++;
      if (frame.keys) this.#key("Expecting property name enclosed in double quotes");
      else (frame.place as number)++;
      return true;
    }
  }

  #key(expected: string): void {
    this.#space();
    if (this.#text[this.#at] !== '"') throw new Broken(this.#at, expected);
    const start = this.#at;
    const frame = this.#frames.at(-1);
    if (!frame?.keys) return;
    const key = this.#string();
    frame.place = key;
    if (!isKeepable(key))
      this.#report("string_unicode", "a key holds NUL or half of a surrogate pair", start);
    if (frame.keys.has(key))
      this.#report("duplicate_key", "the key occurs twice in this object", start);
    frame.keys.add(key);
    this.#space();
    if (this.#text[this.#at] !== ":") throw new Broken(this.#at, "Expecting ':' delimiter");
    this.#at++;
  }

  #scalar(): void {
    const start = this.#at;
    if (this.#text[start] === '"') {
      if (!isKeepable(this.#string()))
        this.#report("string_unicode", "the string holds NUL or half of a surrogate pair", start);
      return;
    }
    const word = match(/true|false|null/y, this.#text, start);
    const number = word ?? match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, this.#text, start);
    if (number === undefined) throw new Broken(start, "Expecting value");
    this.#at += number.length;
    if (word === undefined && !isExactNumber(number))
      this.#report(
        "number_precision",
        "the number has more digits or a larger exponent than a double can represent; " +
          "send it as a string",
        start,
      );
  }

  /** Reads a string at its opening quote. */
  #string(): string {
    const start = this.#at;
    let at = start + 1;
    for (;;) {
      const char = this.#text.charCodeAt(at);
      if (Number.isNaN(char)) throw new Broken(start, "Unterminated string starting at");
      if (char === 0x22) break;
      if (char < 0x20) throw new Broken(at, "Invalid control character at");
      if (char !== 0x5c) at++;
      else if (this.#text[at + 1] === "u") {
        if (match(/[0-9a-fA-F]{4}/y, this.#text, at + 2) === undefined)
          throw new Broken(at, "Invalid \\uXXXX escape");
        at += 6;
      } else if ('"\\/bfnrt'.includes(this.#text[at + 1] ?? " ")) at += 2;
      else throw new Broken(at, "Invalid \\escape");
    }
    this.#at = at + 1;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #space(): void {
    for (
      let char = this.#text.charCodeAt(this.#at);
      char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
      char = this.#text.charCodeAt(this.#at)
    )
      this.#at++;
  }

  #report(code: JsonProblem["code"], message: string, offset: number): void {
    // Problems come in rising order, so lines are counted on from the last one.
    this.#nextBreak ??= this.#breakAfter(0);
    while (this.#nextBreak < offset) {
      this.#lines++;
      this.#lineStart = this.#nextBreak + 1;
      this.#nextBreak = this.#breakAfter(this.#lineStart);
    }
    const pointer = this.#frames.map(({ place }) => step(shown(place))).join("");
    this.#problems.push({
      pointer,
      code,
      message,
      line: this.#lines,
      column: offset - this.#lineStart + 1,
      offset,
    });
  }

  #breakAfter(from: number): number {
    const found = this.#text.indexOf("\n", from);
    return found < 0 ? this.#text.length : found;
  }
}

/** A key as pointers show it: one of megabytes would be repeated for each problem below it. */
const shown = (place: string | number): string =>
  typeof place === "string" && place.length > MAX_SHOWN_KEY_CHARS
    ? `${place.slice(0, MAX_SHOWN_KEY_CHARS)}…`
    : String(place);
const MAX_SHOWN_KEY_CHARS = 200;

const isKeepable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

function match(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0];
}

interface StrictJson {
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
// oxlint-disable-next-line complexity -- one pass over characters
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
    .map((segment) => (/^(?:0|[1-9]\d*)$/.test(segment) ? Number(segment) : stepName(segment)));
}

export interface JsonLimits {
  /** Most arrays and objects inside each other; a scalar has depth 0. Bound MAX_JSON_DEPTH. */
  maxDepth: number;
  /** Most keys and values together. Bound MAX_JSON_VALUES. */
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
