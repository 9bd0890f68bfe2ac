import { Script } from "node:vm";
import { PATTERN_BYTES_PER_SECOND, type TableLimits, TabularError } from "../limits.js";
import type { Guard } from "../reader/row.js";
import { nativePattern, type TableSchema } from "../schema/table-schema.js";
import type { RuleEnvironment } from "./check.js";
import { XSD_FORMATS } from "./moments.js";

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
  const { RE2JS } = await import("re2js");
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

/** The test of each format, by name. */
export async function loadFormats(): Promise<Map<string, (text: string) => boolean>> {
  const [{ fullFormats }, { internationalFormats }] = await Promise.all([
    import("ajv-formats/dist/formats.js"),
    import("./international-formats.js"),
  ]);
  const tests = new Map<string, (text: string) => boolean>(XSD_FORMATS);
  for (const [name, format] of Object.entries(fullFormats)) {
    const validate =
      typeof format === "object" && format !== null && "validate" in format
        ? format.validate
        : format;
    if (validate instanceof RegExp) tests.set(name, (text) => validate.test(text));
    else if (typeof validate === "function")
      tests.set(name, (text) => (validate as (text: string) => boolean)(text));
  }
  return new Map([...tests, ...internationalFormats(tests)]);
}

// JavaScript's and RE2's patterns are similar but differ in the meaning of a few signs. This writes
// a JavaScript pattern so that RE2 means the same by it; RE2 itself refuses syntax that it does not
// have (look-around, back-references).

const SPACES =
  "\\t\\n\\x{b}\\f\\r " +
  "\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_SPACES =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" +
  "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}" +
  "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const ANY = "[^\\n\\r\\x{2028}\\x{2029}]";
const NOTHING = "[^\\x{0}-\\x{10ffff}]";
const ANYTHING = "[\\x{0}-\\x{10ffff}]";

const code = (hex: string | number): string =>
  `\\x{${typeof hex === "number" ? hex.toString(16) : hex}}`;
/** An escape of a character code: `\x41`, `\u0041`, a pair of surrogates, `\u{1f600}`. */
const CODE =
  /^\\(?:x([0-9a-f]{2})|u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]+)\})/i;

/** The same pattern in the syntax of RE2. */
function linearSyntax(pattern: string): string {
  let out = "";
  let inClass = false;
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    const character = rest.charAt(0);
    if (character === "\\") {
      const [text, length] = escape(rest, inClass);
      out += text;
      at += length;
    } else if (inClass) {
      if (character === "]") inClass = false;
      // RE2 would read `[:` as the beginning of a POSIX class.
      out += character === "[" ? "\\[" : character;
      at++;
    } else if (character === "[") {
      const [empty] = /^\[\^?\]/.exec(rest) ?? [undefined];
      if (empty !== undefined) {
        out += empty === "[]" ? NOTHING : ANYTHING;
        at += empty.length;
      } else {
        inClass = true;
        out += rest.startsWith("[^") ? "[^" : "[";
        at += rest.startsWith("[^") ? 2 : 1;
      }
    } else {
      out +=
        character === "."
          ? ANY
          : character === "{" && !/^\{\d+(,\d*)?\}/.test(rest)
            ? "\\{"
            : character;
      at++;
    }
  }
  return out;
}

/** One escape: its form in RE2, and how many characters it takes. */
function escape(rest: string, inClass: boolean): [text: string, length: number] {
  const match = CODE.exec(rest);
  if (match) {
    const [whole, byte, high, low, unit, point] = match;
    if (high !== undefined && low !== undefined)
      return [
        code(0x10000 + ((parseInt(high, 16) - 0xd800) << 10) + (parseInt(low, 16) - 0xdc00)),
        whole.length,
      ];
    const hex = byte ?? unit ?? point;
    if (hex !== undefined) return [code(hex), whole.length];
  }
  const next = rest[1];
  switch (next) {
    case "s":
      return [inClass ? SPACES : `[${SPACES}]`, 2];
    case "S":
      return [inClass ? NOT_SPACES : `[^${SPACES}]`, 2];
    case "b":
      return [inClass ? "\\x{8}" : "\\b", 2];
    case "0":
      return ["\\x{0}", 2];
    case "v":
      return ["\\x{b}", 2];
    case "c":
      return /^\\c[A-Za-z]/.test(rest) ? [code(rest.charCodeAt(2) % 32), 3] : ["\\\\", 1];
    case undefined:
      return ["\\", 1];
    // Letters and digits that are not escapes of JavaScript stand for themselves there, but may
    // mean something to RE2 (`\A`, `\z`, `\Q`).
    default:
      return [/[a-zA-Z]/.test(next) && !/[dDwWBnrtfpPk]/.test(next) ? next : `\\${next}`, 2];
  }
}

/** The guarded operation, for the message and the budget. */
export interface GuardedWork {
  /** Property whose pattern was last asked. */
  property: string;
  bytes: number;
}

const ENTRY = Symbol.for("arkgraph.guarded");
const entry = globalThis as { [ENTRY]?: (() => void) | undefined };
const script = new Script(`globalThis[Symbol.for("arkgraph.guarded")]()`);

/**
 * Ends work that takes longer than the file's budget. V8 leaves a pattern that backtracks for ever
 * only when its execution is terminated, which is what the time-out of a script does; everything
 * the script calls counts.
 */
export function timeGuard(state: GuardedWork, limits: TableLimits): Guard {
  let spent = 0;
  return (work) => {
    const budget = limits.patternSeconds * 1000 + (state.bytes / PATTERN_BYTES_PER_SECOND) * 1000;
    const began = performance.now();
    const outer = entry[ENTRY];
    entry[ENTRY] = work;
    try {
      script.runInThisContext({ timeout: Math.max(1, Math.ceil(budget - spent)) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw new TabularError(
        "LIMIT",
        `the pattern of property ${state.property} takes too long: make it simpler, or ` +
          `raise ${limits.names.patternSeconds} (now ${limits.patternSeconds})`,
      );
    } finally {
      entry[ENTRY] = outer;
      spent += performance.now() - began;
    }
  };
}
