import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { cutAtSentence, plainLine, plainText, textOf, wholeTextOf } from "../../src/model/texts.js";
import { cpuTimeOf } from "../support/cpu.js";

describe("the text of a value", () => {
  it.each([
    ["a text", "Cells", "Cells"],
    ["a list of one", ["Cells"], "Cells"],
    ["a text with its language", { "@value": "Zellen", "@language": "de" }, "Zellen"],
    [
      "the English one of several languages",
      [
        { "@value": "Zellen", "@language": "de" },
        { "@value": "Cells", "@language": "en-GB" },
      ],
      "Cells",
    ],
    ["the one of a language map", { de: "Zellen", en: "Cells" }, "Cells"],
    ["a name", { "@id": "#a", name: ["Cells"] }, "Cells"],
    ["a container", { "@list": ["Cells", "more"] }, "Cells"],
    ["a number", 3, "3"],
    ["nothing of a reference", { "@id": "#a" }, null],
    ["nothing of blank text", ["  ", null], null],
    ["nothing of an identifier", { id: "x" }, null],
  ])("is that of %s", (_, value, text) => {
    expect(textOf(value)).toBe(text);
  });

  it("is in the reader's language where that is stated", () => {
    const name = [
      { "@value": "Cells", "@language": "en" },
      { "@value": "Zellen", "@language": "de" },
    ];
    expect(textOf(name, ["de-AT", "de"])).toBe("Zellen");
    expect(textOf(name, ["fr"])).toBe("Cells");
  });

  it("is whole where a description is in parts", () => {
    expect(wholeTextOf(["One.", "Two."])).toBe("One.\n\nTwo.");
    expect(wholeTextOf([{ "@value": "Eins", "@language": "de" }, "One."])).toBe("Eins");
  });
});

describe("plain text", () => {
  it.each([
    ["p<0.05 & n>3", "p<0.05 & n>3"],
    ["a < b and c > d, a<b and c>d", "a < b and c > d, a<b and c>d"],
    ["List<String> and std::vector<int>", "List<String> and std::vector<int>"],
    ["R&D at AT&T; ?a=1&copy=2&para=3", "R&D at AT&T; ?a=1&copy=2&para=3"],
    ["p&lt;0.05 &amp; n&gt;3", "p<0.05 & n>3"],
    ["<p>Measured <strong>three</strong> beads &amp; noted</p>", "Measured three beads & noted"],
    ["&lt;p&gt;Escaped <b>twice</b>&lt;/p&gt;", "Escaped twice"],
    ["one<br>two<br/>three", "one\ntwo\nthree"],
    ['x <a href="https://a.example">y</a> z', "x y z"],
    ["<script>alert(1)</script>a<style>b{}</style><!-- c -->d", "a d"],
    ["<jats:p>Abstract</jats:p>", "Abstract"],
    [
      "[![Build](https://img.shields.io/x.svg)](https://ci.example/x)\n# Tools\nDo `x`.",
      "Tools\nDo x.",
    ],
    ["![logo](logo.png) Text", "Text"],
    ["See [the paper](https://doi.org/10.1/x_(y)) and [1].", "See the paper and [1]."],
    [
      "*E. coli* and **bold** but 2*3*4, a_b_c, __init__.py",
      "E. coli and bold but 2*3*4, a_b_c, __init__.py",
    ],
    ["5 * 3 * 2", "5 * 3 * 2"],
    ["caf&eacute; &#8211; &#x3b1; &nbsp;x", "café – α x"],
    ["#1 of 2\n> 5 mm", "#1 of 2\n> 5 mm"],
    ["A\r\n\r\n\r\nB\rC", "A\n\nB\nC"],
  ])("of %j is %j", (markup, text) => {
    expect(plainText(markup)).toBe(text);
  });

  it("of a name is one line", () => {
    expect(plainLine("<i>Homo</i>\n sapiens")).toBe("Homo sapiens");
  });

  it("of text without markup is the text", () => {
    const word = fc.stringMatching(/^[A-Za-z0-9.,;:%+=()'"-]{1,12}$/);
    const operator = fc.constantFrom(" < ", " > ", " & ", "<0.", ">1 ", " ", " | ", "=");
    fc.assert(
      fc.property(fc.array(fc.tuple(word, operator), { maxLength: 12 }), (parts) => {
        const text = parts.flat().join("").replace(/ +/g, " ").trim();
        expect(plainText(text)).toBe(text);
      }),
    );
  });

  it.each(["<svg>", "<!--", "*a ", "[![", "![a](", '<a x="', "# ", "&", "`", "[a](b/", "\\"])(
    "of %j, repeated, takes linear time",
    async (part) => {
      const text = part.repeat(200_000 / part.length);
      expect(await cpuTimeOf(() => plainText(text))).toBeLessThan(15_000);
    },
  );
});

describe("a long text", () => {
  it("is cut at the end of a sentence", () => {
    const text = "One sentence, e.g. this. ".repeat(300).trim();
    const cut = cutAtSentence(text, 5000);
    expect(cut.length).toBeLessThanOrEqual(5000);
    expect(cut.length).toBeGreaterThan(4900);
    expect(cut).toMatch(/this\.$/);
    expect(cutAtSentence("short", 5000)).toBe("short");
  });

  it("is cut at a space where no sentence ends", () => {
    const cut = cutAtSentence("word ".repeat(2000), 5000);
    expect(cut.length).toBeLessThanOrEqual(5000);
    expect(cut).toMatch(/word…$/);
    expect(cutAtSentence("x".repeat(6000), 5000).length).toBe(5000);
  });
});
