const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
/** 0x30 to 0x39, in one comparison. */
const isDigit = (byte: number): boolean => (byte ^ 0x30) < 10;
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09;

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
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
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
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
  if (bytes[start] === PLUS || bytes[start] === MINUS) start++;
  if (start >= end) return false;
  for (let index = start; index < end; index++) if (!isDigit(bytes[index]!)) return false;
  return true;
}

/**
 * A decimal number with or without exponent; blanks around do not count. NaN when the cell is none,
 * or is beyond a double.
 */
export function readNumber(bytes: Buffer, start: number, end: number): number {
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
  const first = bytes[start];
  const from = first === PLUS || first === MINUS ? start + 1 : start;
  let mantissa = 0;
  let digits = 0;
  let decimals = 0;
  let at = from;
  for (; at < end && isDigit(bytes[at]!); at++) mantissa = mantissa * 10 + (bytes[at]! - 0x30);
  digits = at - from;
  if (at < end && bytes[at] === DOT) {
    const point = ++at;
    for (; at < end && isDigit(bytes[at]!); at++) mantissa = mantissa * 10 + (bytes[at]! - 0x30);
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
  while (start < end && isBlank(bytes[start]!)) start++;
  while (end > start && isBlank(bytes[end - 1]!)) end--;
  const first = bytes[start];
  let at = first === PLUS || first === MINUS ? start + 1 : start;
  const from = at;
  while (at < end && isDigit(bytes[at]!)) at++;
  let digits = at - from;
  if (at < end && bytes[at] === DOT) {
    const point = ++at;
    while (at < end && isDigit(bytes[at]!)) at++;
    digits += at - point;
  }
  if (digits === 0) return false;
  if (at === end && digits < SAFE_LENGTH) return true;
  return (
    (at === end || isExponent(bytes, at, end)) &&
    Number.isFinite(Number(bytes.toString("latin1", start, end)))
  );
}

function isExponent(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return false;
  at++;
  if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
  if (at >= end) return false;
  for (; at < end; at++) if (!isDigit(bytes[at]!)) return false;
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
