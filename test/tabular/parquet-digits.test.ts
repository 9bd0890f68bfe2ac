import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parquetHead, parquetTable } from "../../src/tabular/parquet-feed.js";
import { exactInteger } from "../../src/tabular/schema/exact-json.js";
import { validateCells } from "../../src/tabular/validate.js";
import { parquetFile } from "./parquet-file.js";
import { schemaWith } from "./tables.js";

const bufferOf = (columns: Parameters<typeof parquetFile>[0]): ArrayBuffer =>
  Uint8Array.from(parquetFile(columns)).buffer;
const shown = async (columns: Parameters<typeof parquetFile>[0]): Promise<string[][]> =>
  (await parquetHead(bufferOf(columns), { rows: 100, columns: 100 })).rows;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
/** A decimal as its digits say it. */
const numeral = (unscaled: bigint, scale: number): string => {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

describe("a Parquet value", () => {
  it("keeps its microseconds and nanoseconds, in structs too", async () => {
    const values = [1_767_225_600_000_299n, -1n];
    expect(
      await shown([
        { name: "us", type: "TIMESTAMP_MICROS", values },
        { name: "in.us", type: "TIMESTAMP_MICROS", values },
        {
          name: "old",
          type: "INT96",
          values: [
            [20_454, 123n],
            [-1, 86_399_999_999_999n],
          ],
        },
      ]),
    ).toEqual([
      [
        "2026-01-01T00:00:00.000299Z",
        '{"us":"2026-01-01T00:00:00.000299Z"}',
        "2026-01-01T00:00:00.000000123Z",
      ],
      [
        "1969-12-31T23:59:59.999999Z",
        '{"us":"1969-12-31T23:59:59.999999Z"}',
        "1969-12-31T23:59:59.999999999Z",
      ],
    ]);
  });

  it("is a date without a time where its column holds dates", async () => {
    expect(await shown([{ name: "day", type: "DATE", values: [20_454, -1, 2 ** 31 - 1] }])).toEqual(
      [
        ["2026-01-01"],
        ["1969-12-31"],
        // Beyond the years that can be written: the number of days.
        ["2147483647"],
      ],
    );
  });

  it("keeps every digit of a decimal, zeros at its end among them", async () => {
    expect(
      await shown([
        {
          name: "d",
          type: "DECIMAL",
          scale: 2,
          values: [110n, 123456789012345678901234567890n, -1n],
        },
        { name: "in.d", type: "DECIMAL64", scale: 2, values: [110n, 30n, -1n] },
        { name: "whole", type: "DECIMAL64", scale: 0, values: [7n, 0n, -5n] },
      ]),
    ).toEqual([
      ["1.10", '{"d":"1.10"}', "7"],
      ["1234567890123456789012345678.90", '{"d":"0.30"}', "0"],
      ["-0.01", '{"d":"-0.01"}', "-5"],
    ]);
  });

  it("is the same for a preview and a check, whatever it is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            long: fc.bigInt(INT64),
            decimal: fc.bigInt({ min: -(10n ** 30n) + 1n, max: 10n ** 30n - 1n }),
            time: fc.bigInt(INT64),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        async (values) => {
          const columns: Parameters<typeof parquetFile>[0] = [
            { name: "long", type: "INT64", values: values.map(({ long }) => long) },
            { name: "d", type: "DECIMAL", scale: 4, values: values.map(({ decimal }) => decimal) },
            { name: "t", type: "TIMESTAMP_MICROS", values: values.map(({ time }) => time) },
          ];
          const rows = await shown(columns);
          expect(rows.map(([long, decimal]) => [long, decimal])).toEqual(
            values.map(({ long, decimal }) => [String(long), numeral(decimal, 4)]),
          );
          expect(new Set(rows.map(([, , time]) => time)).size).toBe(
            new Set(values.map(({ time }) => time)).size,
          );
          const file = bufferOf(columns);
          const schema = schemaWith({
            long: {
              index: 0,
              type: "integer",
              description: "",
              enum: values.map(({ long }) => exactInteger(String(long))),
            },
            d: {
              index: 1,
              type: "string",
              description: "",
              enum: rows.map(([, decimal]) => decimal),
            },
            t: { index: 2, type: "string", description: "", enum: rows.map(([, , time]) => time) },
          });
          const check = validateCells(
            parquetTable({
              byteLength: file.byteLength,
              slice: (start, end) => file.slice(start, end),
            }),
            schema,
          );
          expect((await check.summary()).errors).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("is shown as bytes where its column does not say that it is text, and it is none", async () => {
    expect(
      await shown([
        { name: "b", type: "BYTES", values: [Buffer.from("Köln"), Buffer.of(0xff, 0)] },
        { name: "n", type: "INT64", values: [1n, 2n] },
      ]),
    ).toEqual([
      ["Köln", "1"],
      ["0xff00", "2"],
    ]);
  });

  it("names its column where its text is not UTF-8", async () => {
    const file = parquetFile([
      { name: "id", type: "INT64", values: [1n] },
      { name: "place", type: "UTF8", values: ["StraXe"] },
    ]);
    file[file.indexOf("StraXe") + 4] = 0xdf;
    await expect(
      parquetHead(Uint8Array.from(file).buffer, { rows: 9, columns: 9 }),
    ).rejects.toThrow(
      "its Parquet data cannot be read: column place: it holds text that is not UTF-8",
    );
  });
});
