import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCharacter, isMinted, mintArk, parseArk, slug } from "../../src/identifiers/ark.js";
import { KIND_NAMES } from "../../src/model/kind.js";

/** Last segments of paths that are operations. */
const OPERATIONS = [
  "history",
  "download",
  "upload",
  "addUser",
  "rmUser",
  "validate",
  "metadata",
  "view",
  "rescore",
  "execute",
];

describe("a minted identifier", () => {
  it("is known by its kind, form and check character", () => {
    const ark = mintArk("99999", "rocrate", "A name").stored;
    const changed = `${ark.slice(0, -1)}${ark.endsWith("0") ? "1" : "0"}`;
    expect(
      [
        ark,
        mintArk("59852", "rocrate", null).stored,
        mintArk("99999", "dataset", null).stored,
        changed,
        "ark:59852/rocrate-mine",
        "ark:99999/x",
      ].map((each) => isMinted(each, "rocrate")),
    ).toEqual([true, true, false, false, false, false]);
  });

  it("is its own stored form, names the kind, and ends in its check character", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KIND_NAMES),
        fc.option(fc.string({ unit: "binary", maxLength: 80 })),
        (kind, name) => {
          const ark = mintArk("99999", kind, name).stored;
          expect(parseArk(ark)?.stored).toBe(ark);
          expect(ark).toMatch(
            new RegExp(`^ark:99999/${kind}-(?:[a-z0-9]+-)*[0-9bcdfghjkmnpqrstvwxz]{10}$`),
          );
          expect(checkCharacter(ark.slice("ark:".length, -1))).toBe(ark.at(-1));
        },
      ),
    );
  });
  it("never ends in the name of an operation", () => {
    for (const word of OPERATIONS)
      for (let round = 0; round < 50; round++)
        expect(
          mintArk("99999", "dataset", word).stored.toLowerCase().endsWith(word.toLowerCase()),
        ).toBe(false);
  });
  it("has a unique key", () => {
    const keys = new Set(
      Array.from({ length: 20_000 }, () => mintArk("99999", "dataset", "One name").key),
    );
    expect(keys.size).toBe(20_000);
  });
});

describe("the check character", () => {
  it("is the one that NOID computes", () => expect(checkCharacter("13030/xf93gt2")).toBe("q"));
  it("detects any mistyped character and any two swapped neighbours", () => {
    const text = "99999/dataset-9bcdfg";
    const good = checkCharacter(text);
    for (let at = 0; at < text.length; at++) {
      if (!/[0-9bcdfghjkmnpqrstvwxz]/.test(text[at]!)) continue;
      const wrong = text.slice(0, at) + (text[at] === "7" ? "8" : "7") + text.slice(at + 1);
      expect(checkCharacter(wrong), wrong).not.toBe(good);
    }
    expect(checkCharacter("99999/dataset-b9cdfg")).not.toBe(good);
  });
});

describe("a slug", () => {
  it.each([
    ["Élan vital: 3 cells", "elan-vital-3-cells"],
    ["漢字", ""],
    ["--a--b--", "a-b"],
    ["x".repeat(60), "x".repeat(48)],
    [`${"x".repeat(47)} y`, "x".repeat(47)],
  ])("of %j is %j", (text, words) => expect(slug(text)).toBe(words));
});
