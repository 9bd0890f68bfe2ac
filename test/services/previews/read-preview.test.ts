import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { readPreview } from "../../../src/services/previews/read-preview.js";
import type {
  NotebookPreview,
  PreviewInput,
  TablePreview,
  TextPreview,
} from "../../../src/services/previews/types.js";
import { parquetFile } from "../../tabular/parquet-file.js";

const LIMITS = { text: 256 << 10, rows: 100, columns: 100, whole: 16 << 20 };
const preview = async <T = unknown>(
  name: string,
  content: string | Uint8Array,
  more: Partial<PreviewInput> = {},
): Promise<T> => {
  const all = Buffer.from(content as string);
  return (await readPreview({
    bytes: all.subarray(0, LIMITS.text),
    size: all.length,
    name,
    mediaType: "application/octet-stream",
    schema: null,
    limits: LIMITS,
    ...more,
  })) as T;
};
const schema = (properties: object, more: object = {}) => ({
  ark: "ark:99999/schema",
  document: { separator: ",", header: true, required: [], properties, ...more },
});

describe("the preview of a table", () => {
  it("has its header, its rows, and schema errors at their cells", async () => {
    const table = await preview<TablePreview>("data/a.csv", 'id,x\n1,"a, b"\nzwei,c\n\n', {
      schema: schema({
        id: { type: "integer", index: 0, description: "Number" },
        x: { type: "string", index: 1, description: "Text" },
      }),
    });
    expect(table).toMatchObject({
      form: "table",
      columns: ["id", "x"],
      rows: [
        ["1", "a, b"],
        ["zwei", "c"],
      ],
      errors: [
        { row: 1, column: 0, message: "ValueError: Failed to Parse Attribute id for Row 1" },
      ],
      moreRows: false,
      moreColumns: false,
      schema: "ark:99999/schema",
      problem: null,
    });
  });

  it("does not take the first row of a table of numbers for its header", async () => {
    const bare = await preview<TablePreview>("bare.csv", "g1,1,2.5\ng2,2,3.5\ng3,4,1\n");
    expect([bare.columns, bare.rows.length]).toEqual([[], 3]);
    const named = await preview<TablePreview>("named.csv", "gene,n,2019\ng1,1,2.5\n");
    expect([named.columns, named.rows]).toEqual([["gene", "n", "2019"], [["g1", "1", "2.5"]]]);
    const text = await preview<TablePreview>("text.csv", "gene,note\ng1,a\n");
    expect(text.columns).toEqual(["gene", "note"]);
    const stated = await preview<TablePreview>("stated.csv", "1,2\n3,4\n", { schema: schema({}) });
    expect([stated.columns, stated.rows]).toEqual([["1", "2"], [["3", "4"]]]);
    const long = await preview<TablePreview>("long.csv", "1,2\n".repeat(101));
    expect([long.columns, long.rows.length, long.moreRows]).toEqual([[], 100, true]);
  });

  it("ends after so many rows and columns, and says that there are more", async () => {
    const wide = Array.from({ length: 10_000 }, (_, i) => `c${i}`).join("\t");
    const table = await preview<TablePreview>("wide.tsv", `${wide}\n`.repeat(300));
    expect([table.columns.length, table.rows[0]!.length]).toEqual([100, 100]);
    expect(table).toMatchObject({ moreRows: true, moreColumns: true, problem: null });
    const long = await preview<TablePreview>("long.csv", "a,b\n" + "1,2\n".repeat(500_000));
    expect([long.rows.length, long.moreRows]).toEqual([100, true]);
    // The last row is whole although the bytes end within one.
    const few = await preview<TablePreview>("few.csv", `a\n${"x".repeat(200_000)}\n`.repeat(3));
    expect(few.rows.map(([cell]) => cell!.length)).toEqual([500, 1]);
  });

  it("shows a line without an end as far as it was read", async () => {
    const line = await preview<TablePreview>("line.csv", "x".repeat(1 << 20));
    expect([line.columns[0]!.length, line.rows, line.problem]).toEqual([500, [], null]);
    const quote = await preview<TablePreview>("quote.csv", `a,b\n1,2\n3,"${"y\n".repeat(300_000)}`);
    expect([quote.rows, quote.problem]).toEqual([[["1", "2"]], null]);
    expect((await preview<TablePreview>("open.csv", 'a,b\n1,"2\n')).problem).toMatch(
      /^It was not read to the end: a quoted cell in row \d+ \(line 2\) is never closed\.$/,
    );
  });

  it("finds its separator and its encoding", async () => {
    expect((await preview<TablePreview>("a.csv", "a;b;c\n1;2;3\n")).rows).toEqual([
      ["1", "2", "3"],
    ]);
    const bytes = Buffer.from("n\xe4me,x\n1,2\n", "latin1");
    expect((await preview<TablePreview>("a.csv", bytes)).columns).toEqual(["näme", "x"]);
    const utf16 = Buffer.from("\ufeffname,x\r\n1,2\r\n", "utf16le");
    expect((await preview<TablePreview>("a.csv", utf16)).columns).toEqual(["name", "x"]);
    const packed = gzipSync("a,b\n1,2\n");
    expect((await preview<TablePreview>("a.csv.gz", packed)).rows).toEqual([["1", "2"]]);
  });

  it("says why a schema could not be applied", async () => {
    const table = await preview<TablePreview>("a.csv", "a\n1\n", {
      schema: schema({ a: { type: "colour", index: 0, description: "?" } }),
    });
    expect(table.rows).toEqual([["1"]]);
    expect(table.problem).toMatch(/^It was not checked: /);
  });

  it("reads the first rows of Parquet, and refuses pages that unpack into more than they say", async () => {
    const columns = [
      {
        name: "id",
        type: "INT64" as const,
        values: Array.from({ length: 500 }, (_, i) => BigInt(i)),
      },
      {
        name: "name",
        type: "UTF8" as const,
        values: Array.from({ length: 500 }, (_, i) => `n${i}`),
      },
    ];
    const table = await preview<TablePreview>(
      "a.parquet",
      parquetFile(columns, { codec: "GZIP" }),
      {
        schema: schema({
          id: { type: "integer", index: 0, description: "Number", maximum: 3 },
          name: { type: "string", index: 1, description: "Name" },
        }),
      },
    );
    expect([table.columns, table.rows.length, table.rows[99], table.moreRows]).toEqual([
      ["id", "name"],
      100,
      ["99", "n99"],
      true,
    ]);
    expect(table.errors[0]).toMatchObject({ row: 4, column: 0, keyword: "maximum" });
    const bomb = parquetFile(columns, { codec: "GZIP", bomb: gzipSync(Buffer.alloc(256 << 20)) });
    const before = process.memoryUsage().rss;
    const all = { bytes: bomb };
    expect(await preview("bomb.parquet", bomb, all)).toMatchObject({
      form: "none",
      reason: "DAMAGED",
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20);
    expect(await preview("cut.parquet", bomb.subarray(0, 100), { size: 1e9 })).toMatchObject({
      reason: "TOO_LARGE",
    });
  });
});

describe("the preview of text", () => {
  it("never is anything but text, whatever its name says", async () => {
    const markup = "<script>alert(1)</script>";
    for (const name of ["a.html", "a.svg", "a.png", "a.pdf", "a.py", "a"])
      expect(await preview(name, markup)).toMatchObject({ form: "text", text: markup });
    expect(await preview("a.txt", Buffer.from([0x61, 0, 0x62, 1, 2]))).toMatchObject({
      form: "none",
      reason: "BINARY",
    });
    expect(await preview("a.csv", Buffer.from("PK\u0003\u0004"))).toMatchObject({
      reason: "BINARY",
    });
  });

  it("is indented where it is JSON, and shown as it is where it is none, or is deep", async () => {
    expect((await preview<TextPreview>("a.json", '{"a":[1]}')).text).toBe(
      '{\n  "a": [\n    1\n  ]\n}',
    );
    expect((await preview<TextPreview>("a.json", "{a:")).text).toBe("{a:");
    for (const depth of [1000, 100_000]) {
      const deep = "[".repeat(depth) + "]".repeat(depth);
      expect(await preview<TextPreview>("a.json", deep)).toMatchObject({
        form: "text",
        language: "json",
        text: deep,
      });
    }
  });

  it("is not parsed where it nests deeply, as a notebook too", async () => {
    const parse = vi.spyOn(JSON, "parse");
    try {
      for (const name of ["a.json", "a.ipynb"])
        for (const text of ["[".repeat(60_000), '{"a":'.repeat(10_000)])
          expect(await preview<TextPreview>(name, text)).toMatchObject({ form: "text", text });
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  it("ends with a whole character, and unpacks no more than it shows", async () => {
    const long = await preview<TextPreview>("a.md", "ä".repeat(200_000) + "b");
    expect([long.charset, long.truncated, long.text.length]).toEqual(["utf-8", true, 131_072]);
    const odd = await preview<TextPreview>("a.md", `x${"ä".repeat(200_000)}`);
    expect([odd.charset, odd.text.endsWith("ä")]).toEqual(["utf-8", true]);
    const bomb = gzipSync(Buffer.alloc(512 << 20, 97));
    const before = process.memoryUsage().rss;
    expect(await preview<TextPreview>("a.txt.gz", bomb)).toMatchObject({
      form: "text",
      truncated: true,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20);
  });
});

describe("the preview of other files", () => {
  it("is an image by its first bytes, with its size", async () => {
    const png = Buffer.concat([
      Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"),
      Buffer.from([0, 0, 2, 128, 0, 0, 1, 224]),
    ]);
    expect(await preview("a.txt", png)).toEqual({
      form: "image",
      mediaType: "image/png",
      width: 640,
      height: 480,
    });
    const jpeg = Buffer.from("ffd8ffe000040102ffc0000b08006400c801011100", "hex");
    expect(await preview("a", jpeg)).toMatchObject({
      mediaType: "image/jpeg",
      width: 200,
      height: 100,
    });
    expect(await preview("a", Buffer.from("%PDF-1.7\n\xff\0", "latin1"))).toEqual({
      form: "document",
      mediaType: "application/pdf",
    });
  });

  it("is the cells of a notebook, without its HTML", async () => {
    const notebook = {
      metadata: { kernelspec: { language: "python" } },
      cells: [
        { cell_type: "markdown", source: ["# Title\n", "text"] },
        {
          cell_type: "code",
          source: "1+1",
          outputs: [
            { output_type: "stream", text: ["out\n"] },
            {
              output_type: "display_data",
              data: { "text/html": "<script>x</script>", "text/plain": "2", "image/png": "AAAA" },
            },
            { output_type: "error", ename: "ValueError", evalue: "no" },
          ],
        },
        "no cell",
      ],
    };
    expect(await preview<NotebookPreview>("a.ipynb", JSON.stringify(notebook))).toEqual({
      form: "notebook",
      language: "python",
      cells: [
        { kind: "markdown", text: "# Title\ntext", outputs: [] },
        {
          kind: "code",
          text: "1+1",
          outputs: ["out\n", "2", "data:image/png;base64,AAAA", "ValueError: no"],
        },
      ],
      truncated: true,
    });
    expect(await preview("a.ipynb", '{"cells": 1}')).toMatchObject({ form: "text" });
  });

  it("names a picture of a notebook that is large or no PNG or JPEG", async () => {
    const outputOf = async (data: object): Promise<string[]> => {
      const notebook = { cells: [{ cell_type: "code", source: "", outputs: [{ data }] }] };
      const text = JSON.stringify(notebook);
      const bytes = Buffer.from(text);
      const made = await preview<NotebookPreview>("a.ipynb", text, { bytes });
      return made.cells[0]!.outputs;
    };
    expect(await outputOf({ "image/svg+xml": "<svg onload='x'/>" })).toEqual(["[image/svg+xml]"]);
    expect(await outputOf({ "image/png": '"><script>' })).toEqual(["[image/png]"]);
    expect(await outputOf({ "image/png": "A".repeat(2_000_000) })).toEqual(["[image/png]"]);
    expect(await outputOf({ "image/jpeg": ["AA\n", "AA\n"] })).toEqual([
      "data:image/jpeg;base64,AAAA",
    ]);
  });

  it("exists for any bytes under any name, within its limits", async () => {
    const heads = [
      "",
      "PAR1",
      "\x1f\x8b\x08",
      "\x89PNG\r\n\x1a\n",
      "\xff\xd8\xff\xe0",
      "RIFF....WEBP",
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("a.csv", "a.tsv", "a.json", "a.ipynb", "a.parquet", "a.gz", "a"),
        fc.constantFrom(...heads),
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }),
          fc.string({ unit: "binary", maxLength: 300 }).map((text) => Buffer.from(text)),
          fc.json().map((text) => Buffer.from(text)),
        ),
        fc.boolean(),
        async (name, head, tail, cut) => {
          const bytes = Buffer.concat([Buffer.from(head, "latin1"), tail]);
          const made = await preview<{ form: string }>(name, bytes, {
            limits: { text: 100, rows: 3, columns: 3, whole: 1000 },
            ...(cut && { size: bytes.length + 1 }),
          });
          expect(made.form).toMatch(/^(?:table|text|image|notebook|document|none)$/);
          if (made.form === "table") expect((made as TablePreview).rows.length).toBeLessThan(4);
          if (made.form === "text") expect((made as TextPreview).text.length).toBeLessThan(101);
        },
      ),
      { numRuns: 500 },
    );
  });
});
