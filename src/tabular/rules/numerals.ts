/** Numbers that are not written as JSON writes them: other marks, groups, patterns. */
import { readInteger, readNumber } from "./notation.js";

/** How the numbers of a column are written. */
export interface NumeralForm {
  decimalChar?: string | null;
  groupChar?: string | null;
  /** A number pattern of Unicode TR35, e.g. `#,##0.00`. */
  formatPattern?: string | null;
  /** Texts of values that are no finite numbers: `NaN`, `INF`, `-INF`. */
  specialValues?: readonly string[] | null;
}

/** What a number pattern says. */
interface NumberPattern {
  /** Digits of the groups, from the decimal mark on; 0 for none. */
  primary: number;
  secondary: number;
  least: number;
  leastDecimals: number;
  mostDecimals: number;
  decimalGroup: number;
  hasExponent: boolean;
}

/** `undefined` for a text that is no number pattern. */
export function parseNumberPattern(pattern: string): NumberPattern | undefined {
  const match = /^[+-]?[%‰]?([#,]*[0,]*)(?:\.([0,]*[#,]*))?(E[+]?#*0+)?[%‰]?$/.exec(pattern);
  const [, whole = "", decimals = "", exponent] = match ?? [];
  if (!match || whole + decimals === "") return undefined;
  const [last, secondLast] = whole.split(",").slice(1).toReversed();
  const primary = last?.length ?? 0;
  const count = (text: string, sign: string): number => text.split(sign).length - 1;
  return {
    primary,
    secondary: secondLast?.length ?? primary,
    least: count(whole, "0"),
    leastDecimals: count(decimals, "0"),
    mostDecimals: count(decimals, "0") + count(decimals, "#"),
    decimalGroup: decimals.includes(",") ? decimals.indexOf(",") : 0,
    hasExponent: exponent !== undefined,
  };
}

/** Digits with their groups, counted from the end. */
function grouped(digits: string, mark: string, primary: number, secondary: number): string {
  if (primary === 0 || digits.length <= primary) return digits;
  const parts = [digits.slice(-primary)];
  for (let end = digits.length - primary; end > 0; end -= secondary)
    parts.unshift(digits.slice(Math.max(0, end - secondary), end));
  return parts.join(mark);
}

function fits(pattern: NumberPattern, mark: string, [whole, decimals]: [string, string]): boolean {
  const digits = whole.replaceAll(mark, "");
  const places = decimals.replaceAll(mark, "");
  const size = pattern.decimalGroup;
  const groups =
    size === 0 ? places : places.replaceAll(new RegExp(`.{${size}}(?=.)`, "g"), `$&${mark}`);
  return (
    digits.length >= pattern.least &&
    whole === grouped(digits, mark, pattern.primary, pattern.secondary) &&
    places.length >= pattern.leastDecimals &&
    places.length <= pattern.mostDecimals &&
    decimals === groups
  );
}

const SPECIAL: Readonly<Record<string, number>> = { INF: Infinity, "-INF": -Infinity };
const FACTORS: Readonly<Record<string, number>> = { "%": 100, "‰": 1000 };

/**
 * Reads the numbers of a column; `undefined` where they are written as JSON writes them.
 * @returns what gives `undefined` for a text that is no number of this form
 */
export function numeralReader(
  form: NumeralForm,
  type: "number" | "integer",
): ((text: string) => number | bigint | undefined) | undefined {
  const { decimalChar, groupChar, formatPattern, specialValues } = form;
  if ([decimalChar, groupChar, formatPattern, specialValues].every((value) => value == null))
    return undefined;
  const point = decimalChar ?? ".";
  const pattern = formatPattern == null ? undefined : parseNumberPattern(formatPattern);
  const mark = groupChar ?? (pattern === undefined || point === "," ? "" : ",");
  const special = new Map(specialValues?.map((text) => [text, SPECIAL[text] ?? Number.NaN]));
  const plainOf = (numeral: Numeral): string | undefined => {
    const [whole = "", decimals = "", ...more] = numeral.digits.split(point);
    if (more.length > 0 || (mark !== "" && !areGrouped(whole, decimals, mark))) return undefined;
    if (pattern && !fits(pattern, mark, [whole, decimals])) return undefined;
    if (pattern && pattern.hasExponent !== (numeral.exponent !== "")) return undefined;
    const [front, back] = [whole, decimals].map((part) =>
      mark === "" ? part : part.replaceAll(mark, ""),
    ) as [string, string];
    if (/\D/.test(front + back)) return undefined;
    return numeral.sign + front + (decimals === "" ? "" : `.${back}`) + numeral.exponent;
  };
  return (text) => {
    const trimmed = text.trim();
    if (special.has(trimmed)) return special.get(trimmed);
    const numeral = partsOf(trimmed);
    if (!numeral) return undefined;
    const plain = plainOf(numeral);
    if (plain === undefined) return undefined;
    const bytes = Buffer.from(plain);
    const value =
      type === "integer"
        ? readInteger(bytes, 0, bytes.length)
        : finite(readNumber(bytes, 0, bytes.length));
    const factor = FACTORS[numeral.unit];
    return factor === undefined || value === undefined ? value : Number(value) / factor;
  };
}

interface Numeral {
  sign: string;
  digits: string;
  exponent: string;
  /** Per cent or per mille. */
  unit: string;
}

function partsOf(text: string): Numeral | undefined {
  const [, before = "", sign = "", digits, exponent = "", behind = ""] =
    /^([%‰]?)([+-]?)([^eE%‰]+)([eE][+-]?\d+)?([%‰]?)$/.exec(text) ?? [];
  if (digits === undefined || (before !== "" && behind !== "")) return undefined;
  return { sign, digits, exponent, unit: before + behind };
}

/** Each mark is between two digits. */
const areGrouped = (whole: string, decimals: string, mark: string): boolean =>
  [whole, decimals].every(
    (part) => !part.includes(mark) || part.split(mark).every((group) => group !== ""),
  );

const finite = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value);
