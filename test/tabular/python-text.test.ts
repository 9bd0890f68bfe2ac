import { describe, expect, it } from "vitest";
import { floatText, integerText, quoted, valueText } from "../../src/tabular/rules/notation.js";

// What Python 3 prints for the same values.
describe("values in messages", () => {
  it("strings are quoted as in Python", () => {
    expect(
      [
        "a",
        "it's",
        'say "x"',
        `it's "x"`,
        "a\\d",
        "tab\tline\nend\r",
        "\u0000\u001b\u007f",
        "é基🧬",
        "\u00a0\u200b\u2028",
        "\ud800",
        "\u{e0001}",
        "",
      ].map(quoted),
    ).toEqual([
      "'a'",
      `"it's"`,
      `'say "x"'`,
      `'it\\'s "x"'`,
      "'a\\\\d'",
      "'tab\\tline\\nend\\r'",
      "'\\x00\\x1b\\x7f'",
      "'é基🧬'",
      "'\\xa0\\u200b\\u2028'",
      "'\\ud800'",
      "'\\U000e0001'",
      "''",
    ]);
  });

  it("floats have at least one decimal, and exponents as in Python", () => {
    expect(
      [2, 0, -0, 0.1, 1e15, 1e16, 123456789012345680, 1e-4, 1e-5, 1.5e-7, 1e22, 1e300, -2.5].map(
        floatText,
      ),
    ).toEqual([
      "2.0",
      "0.0",
      "-0.0",
      "0.1",
      "1000000000000000.0",
      "1e+16",
      "1.2345678901234568e+17",
      "0.0001",
      "1e-05",
      "1.5e-07",
      "1e+22",
      "1e+300",
      "-2.5",
    ]);
  });

  it("whole numbers are digits, whatever their size", () => {
    expect([
      integerText(0),
      integerText(-0),
      integerText(1e21),
      integerText(12345678901234567890n),
    ]).toEqual(["0", "0", "1000000000000000000000", "12345678901234567890"]);
  });

  it("values of JSON are written as in Python", () => {
    expect(valueText([1, 2.5, "a", true, null, { b: [] }])).toBe(
      "[1, 2.5, 'a', True, None, {'b': []}]",
    );
  });

  it("long values are cut", () => {
    expect(quoted("x".repeat(5000))).toBe(`'${"x".repeat(1000)}'… (5000 characters)`);
    expect(valueText(Array.from({ length: 200 }, () => 1))).toContain("1, … (200 elements)]");
  });
});
