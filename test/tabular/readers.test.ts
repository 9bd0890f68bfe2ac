import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/tabular/limits.js";
import { openSource } from "../../src/tabular/reader/open-source.js";
import { type Dialect, separatedBy } from "../../src/tabular/reader/dialect.js";
import { textFeed } from "../../src/tabular/reader/text-feed.js";
import { referenceFeed } from "./reference-feed.js";
import { parts, rowsOf } from "./tables.js";

const scanned = (bytes: Uint8Array, separator: string, part: number) =>
  rowsOf(textFeed(openSource(parts(bytes, part)), separatedBy(separator), DEFAULT_LIMITS));
const reference = (bytes: Uint8Array, separator: string, part = bytes.length + 1) =>
  rowsOf(referenceFeed(openSource(parts(bytes, part)), separator, DEFAULT_LIMITS));
const read = async (text: string, dialect: Partial<Dialect> = {}) =>
  rowsOf(
    textFeed(parts(Buffer.from(text), 3), { ...separatedBy(","), ...dialect }, DEFAULT_LIMITS),
  );

/** Pieces that tables are made of, the awkward ones more often than tables have them. */
const chunk = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '"',
      '""',
      ",",
      ";",
      "\t",
      "\n",
      "\r\n",
      "\r",
      '",',
      ',"',
      '"\n',
      '"\r\n',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "a",
      "1.5",
      " ",
      "é",
      "基",
      "🧬",
      "\uFEFF",
      "long text without anything special in it",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "grapheme", maxLength: 4 }).filter((text) => !text.includes("\0")),
  },
);
const table = fc.array(chunk, { maxLength: 40 }).map((chunks) => chunks.join(""));

describe("the scanner and the reference reader", () => {
  it("return the same rows for any text, wherever the chunks are cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(",", ";", "\t", ",,", ",;", "aé", "é"),
        fc.integer({ min: 1, max: 9 }),
        async (text, separator, part) => {
          const bytes = Buffer.from(text);
          expect(await scanned(bytes, separator, part)).toEqual(await reference(bytes, separator));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("return the same rows for well-formed tables, with a byte order mark or without", async () => {
    const quote = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
    const cell = fc
      .tuple(
        fc.string({ unit: "grapheme", maxLength: 6 }).filter((text) => !text.includes("\0")),
        fc.boolean(),
      )
      .map(([text, quoted]) => (quoted || /["\n\r,]/.test(text) ? quote(text) : text));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 8 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.boolean(),
        fc.integer({ min: 1, max: 40 }),
        async (rows, end, mark, part) => {
          const bytes = Buffer.from(
            (mark ? "\uFEFF" : "") + rows.map((cells) => cells.join(",") + end).join(""),
          );
          expect(await scanned(bytes, ",", part)).toEqual(await reference(bytes, ",", part));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("return the same rows when a table is longer than a block", async () => {
    const text = Array.from(
      { length: 30_000 },
      (_, row) => `${row},"a, ""b"" ${"x".repeat(row % 40)}\n",é${row % 7 === 0 ? "\r\n" : "\n"}`,
    ).join("");
    const [own, other] = [
      await scanned(Buffer.from(text), ",", 70_000),
      await reference(Buffer.from(text), ",", 70_000),
    ];
    expect(own).toHaveLength(30_000);
    expect(own).toEqual(other);
  });

  it("read separators of several characters, and non-ASCII ones", async () => {
    expect(await read('a||"b||c"||d\n1||2\n', { separator: "||" })).toEqual([
      [0, ["a", "b||c", "d"]],
      [1, ["1", "2"]],
    ]);
    expect(await read("a§b\n", { separator: "§" })).toEqual([[0, ["a", "b"]]]);
  });
});

describe("rows", () => {
  it.each([
    ["CRLF, LF and CR end a line, even in one file", "a\r\nb\nc\rd", [["a"], ["b"], ["c"], ["d"]]],
    [
      "trailing blank lines are no rows, one in the middle is",
      "a\n\nb\n\n\r\n",
      [["a"], [""], ["b"]],
    ],
    ["an empty cell in quotes is a row even at the end", 'a\n""\n', [["a"], [""]]],
    [
      "quoted cells hold separators, line breaks and doubled quotes",
      '"a,b","c\nd","e""f"\n',
      [["a,b", "c\nd", 'e"f']],
    ],
    ["a quote within a cell is text", 'a"b,5" pipe\n', [['a"b', '5" pipe']]],
    ["text after a closing quote keeps the quotes", '"a"b,"c""d"e,f\n', [['"a"b', '"c"d"e', "f"]]],
    [
      "a separator at the end begins an empty cell",
      "a,\n,",
      [
        ["a", ""],
        ["", ""],
      ],
    ],
    ["an empty file has no rows", "", []],
  ])("%s", async (_what, text, rows) => {
    expect(await read(text)).toEqual(rows.map((cells, number) => [number, cells]));
  });

  it("may have different numbers of columns", async () => {
    expect(await read("a\nb,c,d\ne,f\n")).toEqual([
      [0, ["a"]],
      [1, ["b", "c", "d"]],
      [2, ["e", "f"]],
    ]);
  });

  it("of an unclosed quote are none: the row is named", async () => {
    for (const separator of [",", "||"])
      expect(await read('a\n"b\nc\n', { separator })).toBe(
        "a quoted cell in row 1  is never closed",
      );
  });
});

describe("rows of other dialects", () => {
  it.each<[string, Partial<Dialect>, string, string[][]]>([
    [
      "comment lines are no rows, quotes in them open no cell",
      { comment: "#" },
      '#it"s\na,b\n#x,"\n1,#2\n#end',
      [
        ["a", "b"],
        ["1", "#2"],
      ],
    ],
    [
      "a comment may begin with several characters",
      { comment: "##" },
      "##x\n#a\n1\n",
      [["#a"], ["1"]],
    ],
    [
      "lines above the table are skipped",
      { skipRows: 2 },
      'Report "1\r\n\r\na\n1\n',
      [["a"], ["1"]],
    ],
    ["other quotes", { quote: "'" }, "'a,''b','c\nd',\"\n", [["a,'b", "c\nd", '"']]],
    [
      "quotes are text where there are none",
      { quote: null },
      '"a,b"\n5"\n',
      [['"a', 'b"'], ['5"']],
    ],
    [
      "a backslash makes the next character text",
      { escape: "\\" },
      '"a\\"b\\\\",c\\,d\n"e",f\n',
      [
        ['a"b\\', "c,d"],
        ["e", "f"],
      ],
    ],
    [
      "blanks around cells are no part of them, quoted or not",
      { trim: "both" },
      'a , "b c" ,  d\n,  ,\n',
      [
        ["a", "b c", "d"],
        ["", "", ""],
      ],
    ],
    ["blanks before cells are no part of them", { trim: "start" }, 'a , "b"\n', [["a ", "b"]]],
    ["blanks behind cells are no part of them", { trim: "end" }, " a ,b\n", [[" a", "b"]]],
  ])("%s", async (_what, dialect, text, rows) => {
    expect(await read(text, dialect)).toEqual(rows.map((cells, number) => [number, cells]));
  });
});
