import { TabularError } from "../limits.js";
import { nativePattern } from "../schema/keywords.js";
import type { TableSchema } from "../schema/table-schema.js";
import type { RuleEnvironment } from "./check.js";
import type { GuardedWork } from "./time-guard.js";

/**
 * The engine that runs patterns. `native`: V8, fast, may backtrack for ever, so it runs under a
 * time budget. `linear`: RE2, slower, in time proportional to the text whatever the pattern; it
 * knows no look-around and no back-references.
 */
export type PatternEngine = "native" | "linear";

/**
 * Loads what the schema's rules need.
 * @throws TabularError `SCHEMA` for a pattern that the engine does not know
 */
export async function loadEnvironment(
  schema: TableSchema,
  engine: PatternEngine,
  state: GuardedWork,
): Promise<Omit<RuleEnvironment, "kind">> {
  const objects = schema.properties.flatMap(({ keywords, items }) =>
    items === undefined ? [keywords] : [keywords, items],
  );
  const formats = objects.some(({ format }) => typeof format === "string")
    ? await loadFormats()
    : undefined;
  const hasPatterns = objects.some(({ pattern }) => typeof pattern === "string");
  const pattern =
    engine === "linear" && hasPatterns ? await linearPatterns() : nativePatterns(state);
  return { pattern, format: (name) => formats?.get(name) };
}

/** True when V8 will run patterns. */
export const runsPatterns = (schema: TableSchema): boolean =>
  schema.properties.some(
    ({ keywords, items }) =>
      typeof keywords.pattern === "string" || typeof items?.pattern === "string",
  );

function nativePatterns(state: GuardedWork): RuleEnvironment["pattern"] {
  return (pattern, property) => {
    const expression = nativePattern(pattern);
    return (text) => {
      state.property = property;
      return expression.test(text);
    };
  };
}

async function linearPatterns(): Promise<RuleEnvironment["pattern"]> {
  const [{ RE2JS }, { linearSyntax }] = await Promise.all([
    import("re2js"),
    import("./linear-syntax.js"),
  ]);
  return (pattern, property) => {
    try {
      const expression = RE2JS.compile(linearSyntax(pattern));
      return (text) => expression.matcher(text).find();
    } catch (cause) {
      throw new TabularError(
        "SCHEMA",
        `property ${property}: its pattern ${pattern} uses syntax that the linear-time ` +
          `engine does not support (${(cause as Error).message}): look-around and ` +
          "back-references are not available here",
        { cause },
      );
    }
  };
}

async function loadFormats(): Promise<Map<string, (text: string) => boolean>> {
  const { fullFormats } = await import("ajv-formats/dist/formats.js");
  const tests = new Map<string, (text: string) => boolean>();
  for (const [name, format] of Object.entries(fullFormats)) {
    const validate =
      typeof format === "object" && format !== null && "validate" in format
        ? format.validate
        : format;
    if (validate instanceof RegExp) tests.set(name, (text) => validate.test(text));
    else if (typeof validate === "function")
      tests.set(name, (text) => (validate as (text: string) => boolean)(text));
  }
  return tests;
}
