/** Values of formats that have types, as the text that their cells would be. */
import { isUtf8 } from "node:buffer";

/** A value as cells of text: a list is as many cells as it has elements. */
export function cellTexts(value: unknown): string[] {
  return Array.isArray(value) || ArrayBuffer.isView(value)
    ? Array.from(value as ArrayLike<unknown>, cellText)
    : [cellText(value)];
}

/** A value as one cell of text; null is an empty cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object")
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "bigint" ? member.toString() : member,
    );
  // oxlint-disable-next-line typescript/no-base-to-string -- objects were handled above
  return String(value);
}

/** Milliseconds that a `Date` holds. */
const MAX_MILLIS = 8_640_000_000_000_000n;

/**
 * A time as text with all of its digits; beyond the years of `Date` the number that it is stored
 * as.
 * @param digits decimals of a second in one unit of it
 */
export function timeText(ticks: bigint, digits: 0 | 3 | 6 | 9): string {
  const perSecond = 10n ** BigInt(digits);
  const fraction = ((ticks % perSecond) + perSecond) % perSecond;
  const millis = ((ticks - fraction) / perSecond) * 1000n;
  if (millis > MAX_MILLIS || millis < -MAX_MILLIS) return String(ticks);
  const second = new Date(Number(millis)).toISOString().slice(0, -".000Z".length);
  if (digits === 0) return `${second}Z`;
  return `${second}.${String(fraction).padStart(digits, "0")}Z`;
}

const DAY = 86_400_000;
/** A day, counted from 1970-01-01. */
export const dateText = (days: number): string =>
  Math.abs(days) * DAY > Number(MAX_MILLIS)
    ? String(days)
    : new Date(days * DAY).toISOString().replace(/T.*/, "");

/** Bytes: the text that they are, or hexadecimal digits. */
export function bytesText(bytes: Uint8Array, mayBeText: boolean): string {
  if (mayBeText && isUtf8(bytes)) return Buffer.from(bytes).toString();
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/**
 * A decimal number with all of its digits.
 * @param value the digits, as a number or as the bytes of a big-endian one with a sign
 */
export function decimalText(value: number | bigint | Uint8Array, scale: number): string {
  const unscaled =
    value instanceof Uint8Array
      ? BigInt.asIntN(value.length * 8, BigInt(`0x0${Buffer.from(value).toString("hex")}`))
      : BigInt(value);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return (
    (unscaled < 0n ? "-" : "") +
    (scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`)
  );
}

/** A time of day as text with all of its digits. @param digits decimals of a second in one tick */
export function clockText(ticks: bigint, digits: 0 | 3 | 6 | 9): string {
  const perSecond = 10n ** BigInt(digits);
  const seconds = ticks / perSecond;
  const [hour, minute, second] = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(
    (part) => String(part).padStart(2, "0"),
  );
  const fraction = digits === 0 ? "" : `.${String(ticks % perSecond).padStart(digits, "0")}`;
  return `${hour}:${minute}:${second}${fraction}`;
}
