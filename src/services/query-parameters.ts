import type { ValidationItem } from "../errors.js";

/** The parameters of a query string. */
export type QueryStrings = Readonly<Record<string, string | undefined>>;

/** Commas separate several values of one parameter. */
export const listOf = (raw: string | undefined): string[] | undefined =>
  raw
    ?.split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");

/** The allowed values in a sentence: `'a', 'b' or 'c'`. */
export const expectedOf = (allowed: readonly string[]): string =>
  allowed
    .map((each) => `'${each}'`)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");

/** Notes a problem unless the value is allowed. */
export function checkOneOf(
  problems: ValidationItem[],
  name: string,
  value: string,
  allowed: readonly string[],
): void {
  if (allowed.includes(value)) return;
  const expected = expectedOf(allowed);
  problems.push({
    loc: ["query", name],
    msg: `Input should be ${expected}`,
    type: "literal_error",
    ctx: { expected },
  });
}

/** Reads a whole number; notes a problem for other text, and for one out of the range. */
export function wholeNumber(
  problems: ValidationItem[],
  name: string,
  raw: string,
  { least = -Infinity, most = Infinity }: { least?: number; most?: number } = {},
): number | undefined {
  const value = Number(raw);
  const problem = (msg: string, type: string, ctx?: ValidationItem["ctx"]): undefined =>
    void problems.push({ loc: ["query", name], msg, type, ...(ctx ? { ctx } : {}) });
  if (!/^[+-]?\d+$/.test(raw))
    return problem(
      "Input should be a valid integer, unable to parse string as an integer",
      "int_parsing",
    );
  if (value < least)
    return problem(`Input should be greater than or equal to ${least}`, "greater_than_equal", {
      ge: least,
    });
  if (value > most)
    return problem(`Input should be less than or equal to ${most}`, "less_than_equal", {
      le: most,
    });
  return value;
}

/** Items of one page where the caller names no number, and most of them. */
const USUAL_PAGE = 100;
const MAX_PER_PAGE = 1000;

/** Reads `limit` of a list. */
export const limitOf = (problems: ValidationItem[], { limit }: QueryStrings): number =>
  limit === undefined
    ? USUAL_PAGE
    : (wholeNumber(problems, "limit", limit, { least: 1, most: MAX_PER_PAGE }) ?? USUAL_PAGE);
