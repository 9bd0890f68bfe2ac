import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { tableFromArrays, tableToIPC } from "apache-arrow";
import { describe, expect, it } from "vitest";
import type { TableOptions } from "../../cli/commands/schema/open-table.js";
import type { TableLimits } from "../../src/tabular/limits.js";
import { odsOf, xlsxOf, zipOf } from "../tabular/workbook.js";
import { rowsOfFile } from "./table-rows.js";
import { useFolder } from "./terminal.js";

const { write, path, run } = useFolder();

/** The rows of a file with this content. */
async function rowsOf(
  content: Buffer | string,
  {
    name = "table",
    limits = {},
    ...options
  }: TableOptions & { name?: string; limits?: Partial<TableLimits> } = {},
): Promise<[number, ...string[]][]> {
  await write(name, content);
  return rowsOfFile(join(path(), name), options, limits);
}

const CSV = [
  [1, "a", "b"],
  [2, "1", "x"],
];

describe("packed text", () => {
  it.each([
    ["gzip", "H4sIAAAAAAAAA0vUSeIy1KngAgD0oAEACAAAAA=="],
    ["Zstandard", "KLUv/QRYQQAAYSxiCjEseApmAzAf"],
    ["bzip2", "QlpoOTFBWSZTWdR78W4AAALZgAAQAAQgADAAAEAgACGmmaDAKBULC7kinChIaj34twA="],
    [
      "xz",
      "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAHYSxiCjEseAoAe4okWw8zy8YAASAIuxnZux+2830BAAAAAARZWg==",
    ],
  ])("is recognised by its bytes: %s", async (_name, packed) => {
    expect(await rowsOf(Buffer.from(packed, "base64"))).toEqual(CSV);
    await expect(rowsOf(Buffer.from(packed, "base64").subarray(0, -9))).rejects.toThrow(
      "damaged or cut short",
    );
  });

  it("in an archive is the only file, or the one that is named", async () => {
    const only = await zipOf({ "t.csv": "a,b\n1,x\n", "__MACOSX/._t.csv": "x" });
    expect(await rowsOf(only)).toEqual(CSV);
    const two = await zipOf({ "t.csv": "a,b\n1,x\n", "folder/u.jsonl": '{"c":1}\n' });
    await expect(rowsOf(two)).rejects.toThrow(
      "it has 2 members: name one with --member: t.csv, folder/u.jsonl",
    );
    expect(await rowsOf(two, { member: "folder/u.jsonl" })).toEqual([[1, "1"]]);
    await expect(rowsOf(two, { member: "none" })).rejects.toThrow(
      "it has no member none, but t.csv",
    );
    await expect(rowsOf("a\n", { member: "none" })).rejects.toThrow("it is no zip archive");
  });

  it("that is another than the archive says is refused", async () => {
    const zip = await zipOf({ "t.csv": "a,b\n".repeat(1000) });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(4000);
    const lying = Buffer.from(zip);
    lying.writeUInt32LE(100, lying.lastIndexOf(size));
    await expect(rowsOf(lying)).rejects.toThrow(/t\.csv: too many bytes/);
    const other = Buffer.from(zip);
    const at = other.indexOf(deflateRawSync("a,b\n".repeat(1000)));
    other[at + 3]! ^= 1;
    await expect(rowsOf(other)).rejects.toThrow("its zip archive cannot be read: t.csv: ");
  });
});

describe("a format that is not read is named", () => {
  it.each([
    ["Avro", "Obj\x01xxxx", "it is Avro, which is not read"],
    ["xls", "\xd0\xcf\x11\xe0\xa1", "it is an old or encrypted workbook"],
    ["HDF5", "\x89HDF\r\n", "it is HDF5"],
    ["LZ4", "\x04\x22\x4d\x18", "it is packed with LZ4"],
    ["Feather 1", "FEA1\0\0", "it is Feather 1"],
  ])("%s", async (_name, content, message) => {
    await expect(rowsOf(Buffer.from(content, "latin1"))).rejects.toThrow(message);
  });
});

const text = (value: string): string => `<si><t>${value}</t></si>`;

describe("a sheet", () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd&quot;T&quot;hh:mm:ss"/>' +
    '<numFmt numFmtId="165" formatCode="0.0&quot; days&quot;;[Red]\\-0.0"/></numFmts>' +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>' +
    '<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="46"/></cellXfs>';

  it("of xlsx has values as text, by their form", async () => {
    const cells =
      '<c r="A2" t="s"><v>1</v></c><c r="B2"><v>0.30000000000000004</v></c><c r="C2" s="1"><v>45351</v></c>' +
      '<c r="D2" s="2"><v>45351.5</v></c><c r="E2" s="3"><v>2.5</v></c><c r="F2" s="4"><v>1.25</v></c>' +
      '<c r="G2" t="b"><v>1</v></c><c r="H2" t="e"><v>#N/A</v></c>' +
      '<c r="I2" t="inlineStr"><is><r><t>a&amp;</t></r><r><t>b</t></r><rPh><t>x</t></rPh></is></c>' +
      '<c r="J2" t="str"><f>A1</f><v>c_x000A_d</v></c>';
    const book = await xlsxOf(
      { One: `<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2">${cells}</row>` },
      { texts: text("head") + "<si><r><t>rich </t></r><r><t>text</t></r></si>", styles },
    );
    expect(await rowsOf(book)).toEqual([
      [1, "head"],
      [
        2,
        "rich text",
        "0.30000000000000004",
        "2024-02-29",
        "2024-02-29T12:00:00",
        "2.5",
        "30:00:00",
        "true",
        "#N/A",
        "a&b",
        "c\nd",
      ],
    ]);
  });

  it("of a workbook that counts days from 1904", async () => {
    const book = await xlsxOf(
      { One: '<row><c s="1"><v>0</v></c><c s="1"><v>1</v></c></row>' },
      { styles, properties: '<workbookPr date1904="1"/>' },
    );
    expect(await rowsOf(book)).toEqual([[1, "00:00:00", "1904-01-02"]]);
  });

  it("has blank rows only between others, and cells up to the first row's last", async () => {
    const book = await xlsxOf({
      One:
        '<row r="3"><c r="A3"><v>1</v></c><c r="B3"><v>2</v></c></row><row r="4"/>' +
        '<row r="6"><c r="A6"><v>3</v></c></row><row r="1000000"/><row r="1048576"/>',
    });
    expect(await rowsOf(book)).toEqual([
      [3, "1", "2"],
      [4, ""],
      [5, ""],
      [6, "3", ""],
    ]);
  });

  it("of several is named, by name or number", async () => {
    const row = (value: number): string => `<row><c><v>${value}</v></c></row>`;
    const book = await xlsxOf({ One: row(1), Two: row(2) });
    await expect(rowsOf(book)).rejects.toThrow("it has 2 sheets: name one with --sheet: One, Two");
    expect(await rowsOf(book, { sheet: "Two" })).toEqual([[1, "2"]]);
    expect(await rowsOf(book, { sheet: "1" })).toEqual([[1, "1"]]);
    await expect(rowsOf(book, { sheet: "3" })).rejects.toThrow("it has no sheet 3, but One, Two");
    await expect(rowsOf("a\n", { sheet: "3" })).rejects.toThrow("it is no workbook");
  });

  it("of OpenDocument has values as text, by their type", async () => {
    const cells =
      '<table:table-cell office:value-type="float" office:value="3.0"><text:p>3,00</text:p></table:table-cell>' +
      '<table:table-cell office:value-type="date" office:date-value="2024-02-29T00:00:00"/>' +
      '<table:table-cell office:value-type="time" office:time-value="PT08H05M00S"/>' +
      '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>' +
      '<table:table-cell table:number-columns-repeated="2"/>' +
      '<table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p></office:annotation>' +
      '<text:p>a<text:s text:c="2"/>b</text:p><text:p>c</text:p></table:table-cell>' +
      '<table:table-cell table:number-columns-repeated="16377"/>';
    const book = await odsOf(
      `<table:table table:name="One"><table:table-row table:number-rows-repeated="2">${cells}</table:table-row>` +
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row></table:table>' +
        '<table:table table:name="Two"/>',
    );
    const row = ["3", "2024-02-29", "08:05:00", "true", "", "", "a  b\nc"];
    expect(await rowsOf(book, { sheet: "One" })).toEqual([
      [1, ...row],
      [2, ...row],
    ]);
    expect(await rowsOf(book, { sheet: "Two" })).toEqual([]);
  });

  it("is refused where it says what cannot be, with the limit's name", async () => {
    const refused = async (rows: string, limits: Partial<TableLimits> = {}): Promise<string> =>
      rowsOf(await xlsxOf({ One: rows }, { texts: text("x".repeat(1000)) }), { limits }).then(
        String,
        (error: unknown) => (error as Error).message,
      );
    const long = '<row><c t="str"><v>abcdef</v></c></row>';
    expect(await refused(long, { maxCell: 5 })).toContain("--max-cell");
    expect(await refused('<row><c r="XFD1"><v>1</v></c></row>', { maxColumns: 100 })).toContain(
      "--max-columns",
    );
    expect(await refused(long, { maxPart: 500 })).toContain("--max-part");
    expect(await refused('<row r="99999999"><c><v>1</v></c></row>')).toContain(
      "more than 16777216",
    );
    expect(await refused('<row r="2"/><row r="1"/>')).toContain("row 1 comes after row 2");
    expect(await refused('<row r="1"><c r="A1"><f>1+1</f></c></row>')).toContain(
      "cell A1 holds a formula without its value",
    );
    expect(await refused("<row>")).toContain("sheet1.xml cannot be read");
    expect(await refused("<a>".repeat(200))).toContain("more than 100 deep");
  });
});

describe("JSON Lines", () => {
  it("have values as text, each under the name of the first object that has it", async () => {
    expect(
      await rowsOf(
        '{"a":1.50,"b":"x"}\n\n{"b":null,"c":true,"a":12345678901234567890}\r\n{"__proto__":"p"}',
      ),
    ).toEqual([
      [1, "1.5", "x"],
      [3, "12345678901234567890", "", "true"],
      [4, "", "", "", "p"],
    ]);
  });

  it.each([
    ['{"a":1}\n{"a":\n', "line 2: it is not JSON"],
    ['{"a":1}\n3\n', "line 2: it is neither an object nor a list"],
    ['{"a":1}\n{"a":[1]}\n', "line 2: a holds a list or an object"],
  ])("%j is refused", async (content, message) => {
    await expect(rowsOf(content)).rejects.toThrow(message);
  });

  it("conform to a schema by the names of their members", async () => {
    await write(
      "s.json",
      JSON.stringify({
        properties: {
          id: { description: "d", index: 0, type: "integer" },
          vector: { description: "d", index: "1::", type: "array", items: { type: "number" } },
        },
        required: [],
      }),
    );
    await write("good.jsonl", '{"other":{"x":1},"vector":[1,2.5],"id":1}\n{"id":2}\n');
    expect(await run("schema validate --data good.jsonl --schema s.json")).toMatchObject({
      status: 0,
    });
    await write("bad.jsonl", '{"idd":1,"vector":["x"]}\n');
    const { stdout, stderr } = await run(
      "schema validate --data bad.jsonl --schema s.json --format ndjson",
    );
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { row?: number; property?: string }).property),
    ).toEqual(["id", "vector", undefined]);
    expect(stderr).toContain("no row has a member id, which the schema describes (HEADER_DIFFERS)");
  });

  it("describe themselves to schema infer, and conform to that schema", async () => {
    await write("rows.jsonl", '{"a":1,"b":"x"}\n{"b":"y","c":0.5}\n');
    expect(await run("schema infer rows.jsonl rows.json")).toMatchObject({ status: 0 });
    expect(await run("schema validate --data rows.jsonl --schema rows.json")).toMatchObject({
      status: 0,
      stderr: "",
    });
  });
});

describe("Arrow", () => {
  const table = tableFromArrays({
    i: Int32Array.from([1, 2]),
    b: [1n, 2n ** 60n],
    s: ["é", null],
    f: Float64Array.from([0.5, 1]),
  });

  it.each(["file", "stream"] as const)("is read as %s, packed or not", async (kind) => {
    const rows = [
      [0, "1", "1", "é", "0.5"],
      [0, "2", "1152921504606846976", "", "1"],
    ];
    const bytes = Buffer.from(tableToIPC(table, kind));
    expect(await rowsOf(bytes)).toEqual(rows);
    expect(await rowsOf(await zipOf({ "t.arrow": bytes }))).toEqual(rows);
    await expect(rowsOf(bytes.subarray(0, bytes.length - 150))).rejects.toThrow(
      "its Arrow data cannot be read",
    );
  });

  it("describes itself to schema infer, and conforms to that schema", async () => {
    await write("t.arrow", tableToIPC(table, "file"));
    expect(await run("schema infer t.arrow t.json")).toMatchObject({ status: 0 });
    expect(await run("schema validate --data t.arrow --schema t.json --strict")).toMatchObject({
      status: 0,
      stdout: "Validation Success\n",
    });
  });
});

describe("schema infer of a sheet", () => {
  it("finds rows above the header, and what it wrote conforms", async () => {
    const book = await xlsxOf({
      One:
        '<row r="1"><c t="str"><v>A title</v></c></row><row r="2"><c t="str"><v>id</v></c>' +
        '<c t="str"><v>score</v></c></row><row r="3"><c t="str"><v>a</v></c><c><v>1</v></c></row>' +
        '<row r="4"><c t="str"><v>b</v></c><c/></row><row r="5"><c t="str"><v>c</v></c><c><v>2.5</v></c></row>',
    });
    await write("book.xlsx", book);
    const { stderr } = await run("schema infer book.xlsx book.json");
    expect(stderr).toContain("detected: xlsx, a header, 1 row above the table, 3 rows");
    expect(await run("schema validate --data book.xlsx --schema book.json --strict")).toMatchObject(
      { status: 0, stdout: "Validation Success\n" },
    );
    expect((await run("schema check book.json --data book.xlsx")).stdout).toContain(
      "Schema is valid",
    );
  });
});
