import { describe, expect, it } from "vitest";
import {
  booleanValue,
  countValue,
  numberValue,
  sizeValue,
} from "../../cli/commands/schema/edit.js";
import { centred, displayWidth, textTable } from "../../cli/terminal.js";

describe("values of options", () => {
  it("true and false may be written in six ways and any case", () => {
    for (const word of ["true", "T", "Yes", "y", "ON", "1"]) expect(booleanValue(word)).toBe(true);
    for (const word of ["false", "F", "No", "n", "OFF", "0"])
      expect(booleanValue(word)).toBe(false);
    for (const word of ["", "maybe", "2", "tru"])
      expect(() => booleanValue(word)).toThrow("true or false");
  });

  it("numbers, counts and sizes are read strictly", () => {
    expect([numberValue("-1.5"), numberValue("+2"), numberValue("1e3"), numberValue(".5")]).toEqual(
      [-1.5, 2, 1000, 0.5],
    );
    for (const text of ["", "nan", "1_0", "1e999", "0x10", " 1"])
      expect(() => numberValue(text)).toThrow();
    for (const text of ["", "-1", "1.0", "99999999999999999999"])
      expect(() => countValue(text)).toThrow();
    expect([sizeValue("1"), sizeValue("64M"), sizeValue("2 KiB"), sizeValue("1G")]).toEqual([
      1,
      64 << 20,
      2048,
      1 << 30,
    ]);
    for (const text of ["0", "2G", "M", "1T"]) expect(() => sizeValue(text)).toThrow();
  });
});

describe("a table of text", () => {
  it("puts an odd space left in a column of odd width, else right", () => {
    expect(centred("ab", 5)).toBe("  ab ");
    expect(centred("a", 4)).toBe(" a  ");
    expect(centred("a", 5)).toBe("  a  ");
    expect(centred("abc", 3)).toBe("abc");
  });

  it("measures text as a terminal shows it", () => {
    expect(["abc", "é", "e\u0301", "基因", "Ａ", "🧬", "한"].map(displayWidth)).toEqual([
      3, 1, 1, 4, 2, 2, 2,
    ]);
    expect(textTable(["x"], [["基因"], ["ab"]])).toBe(
      "+------+\n|  x   |\n+------+\n| 基因 |\n|  ab  |\n+------+\n",
    );
  });
});
