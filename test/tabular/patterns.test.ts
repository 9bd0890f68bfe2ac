import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PACKAGED_SCHEMAS } from "../../src/tabular/schema/packaged.js";
import { readSchema } from "../../src/tabular/schema/table-schema.js";
import { check, judge, schemaWith } from "./tables.js";

/** Whether each text has the pattern, by one engine. */
async function verdicts(
  patterns: "native" | "linear",
  pattern: string,
  texts: readonly string[],
): Promise<boolean[]> {
  const table = texts.map((text) => `"${text.replaceAll('"', '""')}",.\n`).join("");
  const { errors } = await check(table, schemaWith({ v: { type: "string", index: 0, pattern } }), {
    patterns,
  });
  const failed = new Set(errors.map(({ row }) => row));
  return texts.map((_, row) => !failed.has(row));
}

const TEXTS = [
  "",
  "a",
  "A",
  "abc",
  "ABC-1",
  "a b",
  " ",
  "\t",
  "\n",
  "a\nb",
  "\r",
  "\u000b",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "é",
  "É",
  "基",
  "🧬",
  "a🧬c",
  "0",
  "123",
  "_",
  "-",
  "]",
  "[",
  "[:alpha:]",
  "a.b",
  "\\",
  "\\z",
  "{1}",
  "x{2",
  "ſ",
  "K",
  "k",
];

const PATTERNS = [
  "",
  "a",
  "^a$",
  "^[A-Za-z0-9/-]*$",
  "^[^a]$",
  "\\d+",
  "\\D",
  "\\w",
  "\\W",
  "\\s",
  "\\S",
  "[\\s]",
  "[\\S]",
  "[^\\s]",
  "[^\\S]",
  "[\\d-]",
  "^.$",
  "^..$",
  "a.b",
  "[.]",
  "\\bb",
  "\\Bb",
  "[\\b]",
  "(a|b)c",
  "(?:ab)+",
  "a{2}",
  "^a{1,2}",
  "x{2",
  "a+?",
  "(?<x>a)",
  "\\x41",
  "\\u0041",
  "\\u{1F9EC}",
  "\\ud83e\\uddec",
  "\\cI",
  "\\0",
  "\\v",
  "\\/",
  "\\-",
  "\\_",
  "[\\]]",
  "[[]",
  "[[:alpha:]]",
  "[]",
  "[^]",
  "\\.",
  "\\\\",
  "\\A",
  "\\z",
  "\\Q",
  "^$",
  "^|b$",
  "[🧬]",
  "^[^🧬]$",
  "[a-c]{3}",
  "$^",
];

describe("the two engines for patterns", () => {
  it.each(PATTERNS)("agree on %j", async (pattern) => {
    expect(await verdicts("linear", pattern, TEXTS)).toEqual(
      await verdicts("native", pattern, TEXTS),
    );
  });

  it("agree on random patterns of the common subset", async () => {
    const atom = fc.oneof(
      fc.constantFrom(
        "a",
        "b",
        "é",
        "🧬",
        ".",
        "\\d",
        "\\w",
        "\\s",
        "\\S",
        "[a-c]",
        "[^a]",
        "[\\s\\d]",
        "(?:ab|c)",
        "(b)",
        "\\.",
        "\\u00e9",
      ),
    );
    const quantified = fc
      .tuple(atom, fc.constantFrom("", "*", "+", "?", "{1,2}", "*?"))
      .map(([one, count]) => one + count);
    const pattern = fc
      .tuple(
        fc.constantFrom("", "^"),
        fc.array(quantified, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("", "$"),
      )
      .map(([start, parts, end]) => start + parts.join("") + end);
    const texts = fc.array(
      fc.string({
        unit: fc.constantFrom("a", "b", "c", "1", " ", "é", "🧬", ".", "\n", "\u00a0"),
        maxLength: 6,
      }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(pattern, texts, async (one, some) => {
        expect(await verdicts("linear", one, some)).toEqual(await verdicts("native", one, some));
      }),
      { numRuns: 300 },
    );
  });

  it("both support the patterns of all packaged schemas", async () => {
    const schemas = PACKAGED_SCHEMAS.filter(({ separator }) => separator !== "");
    expect(schemas.length).toBeGreaterThan(5);
    for (const schema of schemas)
      await expect(check("", readSchema(schema), { patterns: "linear" })).resolves.toMatchObject({
        errors: [],
      });
  });

  it.each(["(?=a)", "(a)\\1", "(?<!a)b"])(
    "differ in features: the linear one refuses %s before the first row",
    async (pattern) => {
      await expect(
        check("b\n", schemaWith({ v: { type: "string", index: 0, pattern } }), {
          patterns: "linear",
        }),
      ).rejects.toMatchObject({
        code: "SCHEMA",
        message: expect.stringContaining(
          `property v: its pattern ${pattern} uses syntax that the linear-time engine does not support`,
        ),
      });
      await expect(
        check("b\n", schemaWith({ v: { type: "string", index: 0, pattern } })),
      ).resolves.toBeDefined();
    },
  );

  it(
    "differ in time: a pattern that backtracks exponentially is ended, or takes no time " +
      "at all",
    async () => {
      const schema = schemaWith({ v: { type: "string", index: 0, pattern: "^(a+)+$" } });
      const text = `${"a".repeat(60)}!\n`;
      await expect(check(text, schema, { limits: { patternSeconds: 0.2 } })).rejects.toMatchObject({
        code: "LIMIT",
        message:
          "the pattern of property v takes too long: make it simpler, or raise " +
          "--pattern-seconds (now 0.2)",
      });
      expect((await check(text, schema, { patterns: "linear" })).errors).toHaveLength(1);
    },
  );

  it("accept old escapes that the Unicode mode of JavaScript refuses", async () => {
    expect(await judge({ type: "string", pattern: "^a\\-b\\_c$" }, "a-b_c", "ab")).toHaveLength(1);
  });
});
