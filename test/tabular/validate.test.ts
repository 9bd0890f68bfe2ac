import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parseColumnIndex, readSchema } from "../../src/tabular/schema/table-schema.js";
import { validateTable } from "../../src/tabular/validate.js";
import { check, lines, parts, schemaWith } from "./tables.js";

const schema = schemaWith({ a: { type: "integer", index: 0, minimum: 1 } }, { header: true });

describe("validateTable", () => {
  it("numbers data rows from zero and reports the line of the file", async () => {
    const { errors } = await check('h\n1\nx\n"\n0\n"\n0\n', schema);
    expect(errors.map(({ row, line }) => [row, line])).toEqual([
      [1, 3],
      [2, 4],
      [3, 7],
    ]);
  });

  it.each(["", "h\n", "h", "\uFEFFh\n", "h\n\n\n"])("an empty table conforms: %j", async (text) => {
    expect((await check(text, schema)).summary).toMatchObject({ errors: 0, rows: 0 });
  });

  it(
    "returns the same errors for gzip and plain text, chunks of any length, a byte order " +
      "mark or CRLF",
    async () => {
      const text = "h\n1\nx\n0\n3\n";
      const expected = lines((await check(text, schema)).errors);
      expect(expected).toHaveLength(2);
      for (const bytes of [
        gzipSync(text),
        Buffer.from(`\uFEFF${text}`),
        Buffer.from(text.replaceAll("\n", "\r\n")),
        Buffer.from(text.replaceAll("\n", "\r")),
        gzipSync(`\uFEFF${text}`),
      ]) {
        for (const part of [1, 2, 5000])
          expect(lines((await check(bytes, schema, { part })).errors)).toEqual(expected);
      }
    },
  );

  it("accepts sources that reuse their buffer", async () => {
    const text = Buffer.from(
      `h\n${Array.from({ length: 20_000 }, (_, row) => `${row}\n`).join("")}`,
    );
    for (const [separator, packed] of [
      [",", text],
      ["||", text],
      [",", gzipSync(text)],
    ] as const) {
      const reused = async function* () {
        const buffer = Buffer.alloc(777);
        for (let at = 0; at < packed.length; at += 777)
          yield buffer.subarray(0, packed.copy(buffer, 0, at, at + 777));
      };
      const summary = await validateTable(
        reused(),
        schemaWith(
          { a: { type: "integer", index: 0, minimum: 1 } },
          { header: true, seperator: separator },
        ),
      ).summary();
      expect(summary).toMatchObject({ rows: 20_000, errors: 1 });
    }
  });

  it("summarizes its findings", async () => {
    const { summary } = await check("h\n1\nx\n0\n-1\n\n4\n", schema);
    expect(summary).toEqual({
      rows: 6,
      columns: 1,
      errors: 4,
      parsingErrors: 2,
      validationErrors: 2,
      rowsWithErrors: 4,
      stopped: false,
      counts: [
        { property: "a", keyword: "minimum", count: 2 },
        { property: "a", keyword: null, count: 2 },
      ],
    });
  });

  it("ends after maxErrors without reading on", async () => {
    let read = 0;
    const endless = async function* () {
      for (; read < 10_000; read++) yield Buffer.from("x\n".repeat(1000));
    };
    const summary = await validateTable(endless(), schema, { maxErrors: 3 }).summary();
    expect(summary).toMatchObject({ errors: 3, stopped: true });
    expect(read).toBeLessThan(100);
  });

  it("may be stopped before its end", async () => {
    const run = validateTable(parts(Buffer.from("h\nx\ny\n")), schema);
    const rows: number[] = [];
    for await (const error of run) {
      rows.push(error.row);
      break;
    }
    expect(rows).toEqual([0]);
  });

  it("passes on the error of the source", async () => {
    const broken = async function* () {
      yield Buffer.from("h\n1\n".padEnd(9000, "1"));
      throw new Error("the disk is gone");
    };
    for (const separator of [",", "||"])
      await expect(
        validateTable(broken(), schemaWith({}, { seperator: separator })).summary(),
      ).rejects.toThrow("the disk is gone");
  });

  it("uses constant memory while a table of 60 MB is read", async () => {
    const block = Buffer.from("12,some text that is long enough,x\n".repeat(1000));
    const source = async function* () {
      for (let index = 0; index < 1700; index++) yield block;
    };
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const run = validateTable(
      source(),
      schemaWith({
        a: { type: "integer", index: 0 },
        b: { type: "string", index: 1, pattern: "^some" },
      }),
      { onProgress: () => (most = Math.max(most, process.memoryUsage().arrayBuffers)) },
    );
    expect((await run.summary()).rows).toBe(1_700_000);
    expect(most - before).toBeLessThan(20 << 20);
  });
});

describe("a schema", () => {
  it("names the place of columns: a number, or a slice whose end is not included", () => {
    expect(parseColumnIndex(3, false)).toEqual({ kind: "column", at: 3 });
    expect(parseColumnIndex("6", false)).toEqual({ kind: "column", at: 6 });
    expect([
      parseColumnIndex("2::", true),
      parseColumnIndex("::2", true),
      parseColumnIndex("2:4", true),
    ]).toEqual([
      { kind: "slice", from: 2, to: undefined },
      { kind: "slice", from: 0, to: 2 },
      { kind: "slice", from: 2, to: 4 },
    ]);
    for (const slice of [
      "1:",
      ":1",
      "::",
      "-1::",
      "::-1",
      "2:2",
      "3:1",
      "::0",
      "a::",
      "1",
      "",
      "1:2:3",
      1,
      null,
      undefined,
      "99999999999::",
    ])
      expect(typeof parseColumnIndex(slice, true)).toBe("string");
    for (const index of [-1, 1.5, "1::", "a", "", null, undefined, 1e12])
      expect(typeof parseColumnIndex(index, false)).toBe("string");
  });

  it("is read with either spelling of separator", () => {
    expect([
      readSchema({ seperator: ";" }).dialect.separator,
      readSchema({ separator: "\t" }).dialect.separator,
      readSchema({}).dialect.separator,
    ]).toEqual([";", "\t", ""]);
  });

  it.each([
    [null, "not a JSON object"],
    [{ properties: [] }, "properties must be"],
    [{ properties: { a: 1 } }, "property a: it must be an object"],
    [{ required: "a" }, "required must be"],
    [{ header: "yes" }, "header must be"],
    [{ separator: 1 }, "seperator must be"],
  ])("that is %j is refused", (document, message) => {
    expect(() => readSchema(document)).toThrow(message);
  });
});
