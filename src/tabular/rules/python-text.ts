// Messages show values the way Python prints them: that is how the contract's messages are written.

/** Characters that Python's `str.isprintable` refuses, but for the blank. */
const UNPRINTABLE = /[\p{C}\p{Z}]/u;
const PLAIN = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

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
        : (SHORT[character] ??
          (character !== " " && UNPRINTABLE.test(character) ? escaped(character) : character));
  }
  return out + quote;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Python's `repr` of a float: at least one decimal, exponents of two digits. */
export function floatText(value: number): string {
  const size = Math.abs(value);
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
