import { patternProblem } from "../rules/native-pattern.js";

type Kind = "number" | "positive" | "count" | "text" | "truth" | "list" | "pattern" | "any";

/** The JSON Schema keywords that judge cells: what each is given, and the types it applies to. */
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
  uniqueItems: { kind: "truth", types: ["array"] },
  enum: { kind: "list", types: ["string", "number", "integer", "array", "boolean"] },
  const: { kind: "any", types: ["string", "number", "integer", "array", "boolean"] },
};

const EXPECTED: Record<Kind, string> = {
  number: "a number", positive: "a number above 0", count: "a whole number from 0", text: "text", truth: "true or false", list: "an array of values", pattern: "a regular expression", any: "a value",
};

const fits: Record<Kind, (value: unknown) => boolean> = {
  number: (value) => typeof value === "number" && Number.isFinite(value),
  positive: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  text: (value) => typeof value === "string",
  truth: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value) && value.length > 0,
  pattern: (value) => typeof value === "string",
  any: () => true,
};

const BOUNDS = [["minimum", "maximum"], ["minLength", "maxLength"], ["minItems", "maxItems"]] as const;

/** What is wrong with the keywords of a property or of an array's items; null equals absence. */
export function keywordProblem(object: Record<string, unknown>, type: string): string | undefined {
  for (const [keyword, { kind, types }] of Object.entries(KEYWORDS)) {
    const value = object[keyword];
    // A keyword of another type judges nothing (JSON Schema, section 6); `schema check` points at it.
    if (value === undefined || value === null || !types.includes(type)) continue;
    if (!fits[kind](value)) return `its ${keyword} must be ${EXPECTED[kind]}, not ${JSON.stringify(value)}`;
    const bad = kind === "pattern" ? patternProblem(value as string) : undefined;
    if (bad !== undefined) return bad;
  }
  for (const [low, high] of BOUNDS) {
    const [least, most] = [object[low], object[high]];
    if (KEYWORDS[low]!.types.includes(type) && typeof least === "number" && typeof most === "number" && least > most) return `its ${low} ${least} is above its ${high} ${most}`;
  }
  return undefined;
}
