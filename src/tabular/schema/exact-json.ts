/** JSON whose whole numbers keep all of their digits: those that no double is are bigints. */

/** Strings, so that digits in them are passed over, and numerals. */
const STRING_OR_NUMERAL = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE = /^-?(?:0|[1-9]\d*)$/;

const ESCAPE = /\\u([0-9a-fA-F]{4})/g;
const character = (code: string): string => String.fromCharCode(Number.parseInt(code, 16));

/** A whole number from its digits; a bigint only where a double would be another number. */
export function exactInteger(digits: string): number | bigint {
  const value = BigInt(digits);
  const double = Number(value);
  return Number.isFinite(double) && BigInt(double) === value ? double : value;
}

/** @throws SyntaxError as `JSON.parse` does */
export function parseExactJson(text: string): unknown {
  const mark = markFor(text + text.replaceAll(ESCAPE, (_, code: string) => character(code)));
  let found = false;
  const marked = text.replaceAll(STRING_OR_NUMERAL, (token) => {
    if (!WHOLE.test(token) || typeof exactInteger(token) === "number") return token;
    found = true;
    return `"${mark}${token}"`;
  });
  // Positions in an error are those of the text as it was given.
  if (!found) return JSON.parse(text);
  try {
    return JSON.parse(marked, (_key, value: unknown) =>
      typeof value === "string" && value.startsWith(mark)
        ? BigInt(value.slice(mark.length))
        : value,
    );
  } catch (error) {
    JSON.parse(text);
    throw error;
  }
}

/** The JSON text of a value that may hold bigints. */
export function exactJsonText(value: unknown, space?: number): string {
  const mark = markFor(JSON.stringify(value, withoutBigints));
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === "bigint" ? mark + String(member) : member),
    space,
  ).replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

const withoutBigints = (_key: string, member: unknown): unknown =>
  typeof member === "bigint" ? null : member;

/** Characters that the text does not hold. */
function markFor(text: string): string {
  let mark = "#";
  while (text.includes(mark)) mark += "#";
  return mark;
}
