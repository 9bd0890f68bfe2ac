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
export function inspectJson(text: string, maxDepth: number): JsonProblem[] {
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
    const frame = this.#frames.at(-1)!;
    const key = this.#string();
    frame.place = key;
    if (!isKeepable(key))
      this.#report("string_unicode", "a key holds NUL or half of a surrogate pair", start);
    if (frame.keys!.has(key))
      this.#report("duplicate_key", "the key occurs twice in this object", start);
    frame.keys!.add(key);
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
    const pointer = this.#frames
      .map(({ place }) => `/${shown(place).replaceAll("~", "~0").replaceAll("/", "~1")}`)
      .join("");
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
  typeof place === "string" && place.length > LONGEST_KEY
    ? `${place.slice(0, LONGEST_KEY)}…`
    : String(place);
const LONGEST_KEY = 200;

const isKeepable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

function match(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0];
}
