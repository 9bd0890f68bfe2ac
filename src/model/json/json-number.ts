/**
 * True when a double keeps the number as written: its shortest decimal form is the same number. `1.0`, `1e2`,
 * `-0` and `0.1` are kept; `12345678901234567890`, `1e400` and `1e-400` are not.
 * @param literal a number as RFC 8259 §6 writes it
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  const written = decimal(literal);
  const kept = decimal(String(value));
  return written.digits === kept.digits && (written.digits === "" || written.exponent === kept.exponent);
}

/** Significant digits without zeros at either end, and the power of ten of the first; zero has no digits. */
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
  return { digits: all.slice(start, end), exponent: (e < 0 ? 0 : Number(text.slice(e + 1))) + whole.length - start };
}
