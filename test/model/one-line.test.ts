import { describe, expect, it } from "vitest";
import { oneLine } from "../../src/model/texts.js";

describe("a text in one line", () => {
  it("has one space for each run of white space, and no other white space", () => {
    for (const [text, line] of [
      ["a b", "a b"],
      ["a  b", "a b"],
      ["a\nb", "a b"],
      ["a \n b", "a b"],
      ["a\r\n\tb\u00a0c\u2028d", "a b c d"],
      [" a\n", " a "],
      ["", ""],
    ] as const)
      expect(oneLine(text)).toBe(line);
  });

  it("is what replacing every run makes of it, for all texts of five of these characters", () => {
    const characters = ["a", " ", "\n", "\u00a0"];
    let texts = [""];
    for (let length = 0; length < 5; length++)
      texts = texts.flatMap((text) => characters.map((character) => text + character));
    expect(texts).toHaveLength(1024);
    expect(texts.filter((text) => oneLine(text) !== text.replace(/\s+/g, " "))).toEqual([]);
  });
});
