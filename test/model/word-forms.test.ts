import { describe, expect, it } from "vitest";
import { formsOf } from "../../src/model/word-forms.js";

const forms = (word: string): string[] => formsOf(word).map((form) => form.join(" "));

describe("other forms of a word", () => {
  it("are its irregular singular and plural", () => {
    expect(forms("mice")).toContain("mouse");
    expect(forms("nucleus")).toContain("nuclei");
    expect(forms("analyses")).toContain("analysis");
  });

  it("are its British and American spellings, each for the other", () => {
    for (const [british, american] of [
      ["localisation", "localization"],
      ["analysed", "analyzed"],
      ["tumours", "tumors"],
      ["haematology", "hematology"],
      ["oestrogen", "estrogen"],
      ["fibre", "fiber"],
      ["catalogue", "catalog"],
      ["labelled", "labeled"],
      ["programme", "program"],
      ["sulphate", "sulfate"],
    ] as const) {
      expect(forms(british)).toContain(american);
      expect(forms(american)).toContain(british);
    }
  });

  it("are units with either sign for a millionth, and Greek letters by their names", () => {
    expect(forms("um")).toEqual(expect.arrayContaining(["\u00B5m", "\u03BCm"]));
    expect(forms("\u00B5m")).toContain("um");
    expect(forms("\u03B2")).toEqual(["beta"]);
    expect(forms("beta")).toContain("\u03B2");
    expect(forms("tnf\u03B1")).toEqual(["tnfalpha", "tnf alpha", "tnf \u03B1"]);
  });

  it("are letters and digits apart", () => {
    expect(forms("il2")).toEqual(["il 2"]);
    expect(forms("10x")).toEqual(["10 x"]);
    expect(forms("a1b2c3d4")).toEqual([]);
  });

  it("are few, and none of a word longer than people write", () => {
    expect(forms("e".repeat(40)).length).toBeLessThan(20);
    expect(forms("ae".repeat(20)).length).toBeLessThan(40);
    expect(forms("e".repeat(41))).toEqual([]);
  });
});
