type Kind = "number" | "positive" | "count" | "text" | "boolean" | "list" | "pattern" | "any";

/** The JSON Schema keywords that validate cells: the value of each, and the types it applies to. */
export const KEYWORDS: Readonly<Record<string, { kind: Kind; types: readonly string[] }>> = {
  pattern: { kind: "pattern", types: ["string"] },
  minLength: { kind: "count", types: ["string"] },
  maxLength: { kind: "count", types: ["string"] },
  format: { kind: "text", types: ["string"] },
  minimum: { kind: "number", types: ["number", "integer"] },
  maximum: { kind: "number", types: ["number", "integer"] },
  exclusiveMinimum: { kind: "number", types: ["number", "integer"] },
  exclusiveMaximum: { kind: "number", types: ["number", "integer"] },
  multipleOf: { kind: "positive", types: ["number", "integer"] },
  minItems: { kind: "count", types: ["array"] },
  maxItems: { kind: "count", types: ["array"] },
  uniqueItems: { kind: "boolean", types: ["array"] },
  enum: { kind: "list", types: ["string", "number", "integer", "array", "boolean"] },
  const: { kind: "any", types: ["string", "number", "integer", "array", "boolean"] },
};

const EXPECTED: Record<Kind, string> = {
  number: "a number",
  positive: "a number above 0",
  count: "a whole number from 0",
  text: "text",
  boolean: "true or false",
  list: "an array of values",
  pattern: "a regular expression",
  any: "a value",
};

const fits: Record<Kind, (value: unknown) => boolean> = {
  number: (value) => typeof value === "number" && Number.isFinite(value),
  positive: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  text: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value) && value.length > 0,
  pattern: (value) => typeof value === "string",
  any: () => true,
};

const BOUNDS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
] as const;

/** The faults of the keywords of a property or of an array's items; null equals absence. */
export function keywordProblem(object: Record<string, unknown>, type: string): string | undefined {
  for (const [keyword, { kind, types }] of Object.entries(KEYWORDS)) {
    const value = object[keyword];
    // A keyword of another type validates nothing (JSON Schema, section 6); `schema check` points
    // at it.
    if (value === undefined || value === null || !types.includes(type)) continue;
    if (!fits[kind](value))
      return `its ${keyword} must be ${EXPECTED[kind]}, not ${JSON.stringify(value)}`;
    const bad = kind === "pattern" ? patternProblem(value as string) : undefined;
    if (bad !== undefined) return bad;
  }
  for (const [low, high] of BOUNDS) {
    const [least, most] = [object[low], object[high]];
    if (
      KEYWORDS[low]!.types.includes(type) &&
      typeof least === "number" &&
      typeof most === "number" &&
      least > most
    )
      return `its ${low} ${least} is above its ${high} ${most}`;
  }
  return undefined;
}

/**
 * Where a property's cells are: one column, or for an array the columns `from` up to `to`, which is
 * not included.
 */
export type ColumnIndex =
  { kind: "column"; at: number } | { kind: "slice"; from: number; to: number | undefined };

const OPEN_END = /^(\d+)::$/;
const OPEN_START = /^::(\d+)$/;
const CLOSED = /^(\d+):(\d+)$/;

/** Above this an index cannot be meant: no table has so many columns. */
const LARGEST = 1_000_000_000;

/**
 * Reads the index of a property: a zero-based number, or for an array `i::`, `::i` or `i:j`.
 * Returns a sentence about the fault as text.
 */
export function parseColumnIndex(value: unknown, isArray: boolean): ColumnIndex | string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string")
    return (
      `its index must be ${isArray ? "a slice" : "a number"}, not ` +
      (JSON.stringify(value) ?? "absent")
    );
  if (isArray) return parseSlice(text);
  if (/^\d+$/.test(text) && Number(text) <= LARGEST) return { kind: "column", at: Number(text) };
  if (text.includes(":"))
    return (
      `its index ${text} is a slice, which only an array can have: give the number of one ` +
      "column"
    );
  return `its index ${text} is not a column: columns are counted from 0`;
}

function parseSlice(text: string): ColumnIndex | string {
  const sense =
    "write i:: (from column i to the end), ::i (up to column i, which is not included) or i:j";
  let match = OPEN_END.exec(text);
  if (match && Number(match[1]) <= LARGEST)
    return { kind: "slice", from: Number(match[1]), to: undefined };
  match = OPEN_START.exec(text) ?? CLOSED.exec(text);
  if (!match) return `its index ${text} is not a slice: ${sense}`;
  const from = match.length === 3 ? Number(match[1]) : 0;
  const to = Number(match.at(-1));
  if (to > LARGEST || from >= to) return `its slice ${text} holds no column: ${sense}`;
  return { kind: "slice", from, to };
}

/**
 * Compiles a pattern for V8: by code points where it can be, else as older patterns with idle
 * escapes need it.
 */
export function nativePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    // `\-` and `\_` outside a class are errors under `u`, and common in patterns written for other
    // languages.
    return new RegExp(pattern);
  }
}

/** Why a pattern is no regular expression. */
function patternProblem(pattern: string): string | undefined {
  try {
    nativePattern(pattern);
    return undefined;
  } catch (error) {
    const reason = (error as Error).message.split(": ").at(-1)!;
    return `its pattern ${pattern} is not a regular expression: ${reason}`;
  }
}
