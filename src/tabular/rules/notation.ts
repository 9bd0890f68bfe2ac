/** Numbers and values as text: what numerals mean, and values as messages show them. */
import { exactJsonText } from "../schema/exact-json.js";

const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
/** 0x30 to 0x39, in one comparison. */
const isDigit = (byte: number | undefined): boolean => byte !== undefined && (byte ^ 0x30) < 10;
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/** Digits that a double holds exactly, whatever they are. */
const EXACT_DIGITS = 15;
/** Powers of ten that a double holds exactly: 10^0 to 10^22. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Longer numerals may be beyond a double's range without an exponent. */
const SAFE_LENGTH = 300;

/**
 * A whole number: a sign or none, digits; blanks around do not count. `undefined` when the cell is
 * none.
 */
export function readInteger(
  bytes: Buffer,
  start: number,
  end: number,
): number | bigint | undefined {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  const first = bytes[start];
  const at = first === PLUS || first === MINUS ? start + 1 : start;
  if (at >= end) return undefined;
  let value = 0;
  for (let index = at; index < end; index++) {
    const byte = bytes[index]!;
    if (!isDigit(byte)) return undefined;
    value = value * 10 + (byte - 0x30);
  }
  if (end - at > EXACT_DIGITS)
    return BigInt(bytes.toString("latin1", first === PLUS ? at : start, end));
  return first === MINUS ? 0 - value : value;
}

/** True for a whole number. */
export function isInteger(bytes: Buffer, start: number, end: number): boolean {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  if (bytes[start] === PLUS || bytes[start] === MINUS) start++;
  if (start >= end) return false;
  for (let index = start; index < end; index++) if (!isDigit(bytes[index])) return false;
  return true;
}

/**
 * A decimal number with or without exponent; blanks around do not count. NaN when the cell is none,
 * or is beyond a double.
 */
export function readNumber(bytes: Buffer, start: number, end: number): number {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  const first = bytes[start];
  const from = first === PLUS || first === MINUS ? start + 1 : start;
  let mantissa = 0;
  let digits = 0;
  let decimals = 0;
  let at = from;
  for (; at < end && isDigit(bytes[at]); at++) mantissa = mantissa * 10 + (bytes[at]! - 0x30);
  digits = at - from;
  if (at < end && bytes[at] === DOT) {
    const point = ++at;
    for (; at < end && isDigit(bytes[at]); at++) mantissa = mantissa * 10 + (bytes[at]! - 0x30);
    decimals = at - point;
    digits += decimals;
  }
  if (digits === 0) return Number.NaN;
  // Both operands exact, so the quotient is the nearest double (Clinger 1990).
  if (at === end && digits <= EXACT_DIGITS)
    return first === MINUS ? -(mantissa / POWERS[decimals]!) : mantissa / POWERS[decimals]!;
  if (at < end && !isExponent(bytes, at, end)) return Number.NaN;
  const value = Number(bytes.toString("latin1", start, end));
  return Number.isFinite(value) ? value : Number.NaN;
}

/** True for what {@link readNumber} reads, without making the number. */
export function isNumber(bytes: Buffer, start: number, end: number): boolean {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  const first = bytes[start];
  let at = first === PLUS || first === MINUS ? start + 1 : start;
  const from = at;
  while (at < end && isDigit(bytes[at])) at++;
  let digits = at - from;
  if (at < end && bytes[at] === DOT) {
    const point = ++at;
    while (at < end && isDigit(bytes[at])) at++;
    digits += at - point;
  }
  if (digits === 0) return false;
  if (at === end && digits < SAFE_LENGTH) return true;
  return (
    (at === end || isExponent(bytes, at, end)) &&
    Number.isFinite(Number(bytes.toString("latin1", start, end)))
  );
}

/** Digits that a 64-bit integer may have. */
const LONG_DIGITS = 19;
/** Digits from which on a number with a plus sign is a telephone number. */
const PHONE_DIGITS = 7;
/** `2310009E13` is an identifier; programs write the exponents of numbers with a sign. */
const EXPONENT_CODE = /^\d+[eE]\d+$/;

/**
 * True for a numeral that is likely a code, of which a number would lose a part: it begins with a
 * zero before another digit, is beyond 64 bits, or has the form of a telephone number or of an
 * identifier with an E.
 * @param start of what {@link isNumber} finds a number
 */
export function isCode(bytes: Buffer, start: number, end: number): boolean {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  const first = bytes[start];
  const from = first === PLUS || first === MINUS ? start + 1 : start;
  if (bytes[from] === ZERO && from + 1 < end && isDigit(bytes[from + 1])) return true;
  let at = from;
  while (at < end && isDigit(bytes[at])) at++;
  if (at < end) return EXPONENT_CODE.test(bytes.toString("latin1", from, end));
  if (first === PLUS && at - from >= PHONE_DIGITS) return true;
  if (at - from < LONG_DIGITS) return false;
  const value = BigInt(bytes.toString("latin1", first === PLUS ? from : start, end));
  return BigInt.asIntN(64, value) !== value;
}

function isExponent(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return false;
  at++;
  if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
  if (at >= end) return false;
  for (; at < end; at++) if (!isDigit(bytes[at])) return false;
  return true;
}

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");

/** `true` or `false` in any case; `undefined` when the cell is neither. */
export function readBoolean(bytes: Buffer, start: number, end: number): boolean | undefined {
  const word = end - start === 4 ? TRUE : FALSE;
  if (end - start !== word.length) return undefined;
  // Bit 0x20 makes ASCII letters lower case; no other byte becomes one of these letters by it.
  for (let index = 0; index < word.length; index++)
    if ((bytes[start + index]! | 0x20) !== word[index]) return undefined;
  return word === TRUE;
}

// Messages show values the way Python prints them: that is how the contract's messages are written.

/** Characters that Python's `str.isprintable` refuses, but for the blank. */
const UNPRINTABLE = /[\p{C}\p{Z}]/u;
const PLAIN = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;
const ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

/** Longer values are cut in messages: a cell may hold megabytes. */
const SHOWN_CHARACTERS = 1000;
const SHOWN_ELEMENTS = 100;

/** Python's `repr` of a string. */
export function quoted(text: string): string {
  if (PLAIN.test(text) && text.length <= SHOWN_CHARACTERS) return `'${text}'`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  let shown = 0;
  for (const character of text) {
    if (shown++ === SHOWN_CHARACTERS) return `${out}${quote}… (${text.length} characters)`;
    out +=
      character === quote
        ? `\\${quote}`
        : (ESCAPES[character] ??
          (character !== " " && UNPRINTABLE.test(character) ? escaped(character) : character));
  }
  return out + quote;
}

/** Characters of a value in the fields of an error. */
const FIELD_CHARACTERS = 200;

/** A value as a field of an error: as it is, cut when it is long. */
export function fieldText(text: string): string {
  if (text.length <= FIELD_CHARACTERS) return text;
  // Not half of a character; and text of its own: a slice would hold the whole text in memory.
  const start = text.slice(0, FIELD_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, "");
  return Buffer.from(`${start}…`).toString();
}

/** What a keyword of a schema states, as a field of an error. */
export const statedText = (value: unknown): string =>
  fieldText(typeof value === "string" ? value : exactJsonText(value));

function escaped(character: string): string {
  const code = Number(character.codePointAt(0));
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Python's `repr` of a float: at least one decimal, exponents of two digits. */
export function floatText(value: number): string {
  const size = Math.abs(value);
  if (Number.isNaN(value)) return "nan";
  if (size === Infinity) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (size >= 1e-4 && size < 1e16) {
    const text = String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  const [mantissa, exponent] = value.toExponential().split("e") as [string, string];
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** Digits of a whole number. */
export const integerText = (value: number | bigint): string =>
  typeof value === "number" && Math.abs(value) >= 1e21
    ? BigInt(value).toString()
    : String(value === 0 ? 0 : value);

/**
 * Python's `repr` of a value from JSON; whole numbers as digits unless their column holds floats.
 */
export function valueText(value: unknown, floats = false): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "bigint":
      return integerText(value);
    case "number":
      return floats || !Number.isInteger(value) ? floatText(value) : integerText(value);
    case "boolean":
      return value ? "True" : "False";
    default:
      if (Array.isArray(value)) return listText(value, (element) => valueText(element, floats));
      if (value === null || value === undefined) return "None";
      return `{${Object.entries(value)
        .map(([key, member]) => `${quoted(key)}: ${valueText(member, floats)}`)
        .join(", ")}}`;
  }
}

/** A list in brackets, cut when it is long. */
export function listText<T>(values: readonly T[], text: (value: T) => string): string {
  if (values.length <= SHOWN_ELEMENTS) return `[${values.map(text).join(", ")}]`;
  return `[${values.slice(0, SHOWN_ELEMENTS).map(text).join(", ")}, … (${values.length} elements)]`;
}
