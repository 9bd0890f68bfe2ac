import fc from "fast-check";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { yamlText } from "../../../src/services/formats/yaml.js";

const MISREAD = [
  "no",
  "on",
  "Yes",
  "y",
  "n",
  "off",
  "TRUE",
  "~",
  "null",
  "=",
  "<<",
  "1:30",
  "12:30:45",
  "1:30.5",
  "190:20:30",
  "2024-01-01",
  "2024-1-1",
  "2001-12-14t21:59:43.10-05:00",
  "0o7",
  "017",
  "08",
  "1e3",
  "1e+3",
  "1_000",
  "0b11",
  "0x1F",
  ".5",
  "1.",
  "-.inf",
  ".NaN",
  "+1",
  "685.230_15e+03",
  "\u0003a",
  "a\u0085b",
  "a\u2028b",
  "\ufeffx",
  "a: b",
  "- x",
  "#x",
  "!x",
  "%x",
];

describe("text in YAML", () => {
  it.each(MISREAD)("%j is text for readers of YAML 1.1 and 1.2", (text) => {
    const written = yamlText({ text, list: [text] });
    for (const version of ["1.1", "1.2"] as const)
      expect(parse(written, { version })).toEqual({ text, list: [text] });
    expect(written).not.toMatch(/[\u0085\u2028\u2029\ufeff]/);
  });

  it("comes back as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const whole = text.toWellFormed();
        for (const version of ["1.1", "1.2"] as const)
          expect(parse(yamlText({ whole }), { version })).toEqual({ whole });
      }),
    );
  });
});
