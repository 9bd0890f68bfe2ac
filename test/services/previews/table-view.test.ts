import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  readTableView,
  type TableQuestion,
  type TableView,
  VIEW_ROWS,
} from "../../../src/services/previews/table-view.js";
import { parquetFile } from "../../tabular/parquet-file.js";

const LIMITS = { text: 16 << 20, rows: 50_000, columns: 100, whole: 16 << 20 };
const SCHEMA = {
  ark: "ark:99999/schema",
  document: {
    separator: ",",
    header: true,
    required: [],
    properties: {
      well: { type: "string", index: 0, description: "Well" },
      cells: { type: "integer", index: 1, description: "Cells" },
    },
  },
};

async function view(
  content: string | Uint8Array,
  question: TableQuestion = {},
  more: { name?: string; schema?: typeof SCHEMA | null; rows?: number } = {},
): Promise<TableView> {
  const bytes = Buffer.from(content as string);
  const { name = "a.csv", schema = null, rows = LIMITS.rows } = more;
  const made = await readTableView({
    bytes,
    size: bytes.length,
    name,
    mediaType: "text/plain",
    schema,
    limits: { ...LIMITS, rows },
    question,
  });
  return made!;
}
const numbersOf = ({ rows }: TableView) => rows.map(({ number }) => number);

const TABLE = "well,cells\nA1,20\nB2,3\nC3,\nD4,100\nA5,3\n";

describe("a view of a table", () => {
  it("counts all rows, and describes each column by type, gaps and bars", async () => {
    const { total, moreRows, columns, chosen } = await view(TABLE);
    expect({ total, moreRows, chosen }).toEqual({ total: 5, moreRows: false, chosen: 5 });
    expect(columns.map(({ name, type, gaps }) => [name, type, gaps])).toEqual([
      ["well", "string", 0],
      ["cells", "integer", 1],
    ]);
    // Every well is another; of the cells two are alike.
    expect(columns[0]!.chart).toEqual({ bars: [], distinct: 5 });
    const { bars, distinct } = columns[1]!.chart;
    expect([bars.length, bars[0]!.count, bars.at(-1)!.count, distinct]).toEqual([12, 2, 1, 3]);
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  });

  it("shows the most frequent texts first", async () => {
    const { columns } = await view("drug\ncontrol\nA\nA\n\ncontrol\nA\n");
    expect(columns[0]!.chart.bars).toEqual([
      { label: "A", count: 3 },
      { label: "control", count: 2 },
    ]);
  });

  it("sorts numbers by size and texts by words, with what is no number last", async () => {
    expect(numbersOf(await view(TABLE, { sort: 1 }))).toEqual([1, 4, 0, 3, 2]);
    expect(numbersOf(await view(TABLE, { sort: 1, descending: true }))).toEqual([3, 0, 1, 4, 2]);
    expect(numbersOf(await view(TABLE, { sort: 0, descending: true }))).toEqual([3, 2, 1, 4, 0]);
    expect(numbersOf(await view(TABLE, { sort: 99 }))).toEqual([0, 1, 2, 3, 4]);
  });

  it("finds words in any column or in one, and numbers within a bound", async () => {
    const found = async (question: TableQuestion) => numbersOf(await view(TABLE, question));
    expect(await found({ find: "a" })).toEqual([0, 4]);
    expect(await found({ find: "3" })).toEqual([1, 2, 4]);
    expect(await found({ find: "3", column: 1 })).toEqual([1, 4]);
    expect(await found({ find: ">3", column: 1 })).toEqual([0, 3]);
    expect(await found({ find: "<= 20", column: 1 })).toEqual([0, 1, 4]);
    expect(await found({ find: "=3" })).toEqual([1, 4]);
    expect(await found({ find: "=A1" })).toEqual([0]);
    expect(await found({ find: "> many" })).toEqual([]);
    expect(await found({ find: "a", column: 99 })).toEqual([]);
  });

  it("takes types from the schema, counts its errors, and shows only rows with one", async () => {
    const wrong = TABLE.replace("100", "many");
    const all = await view(wrong, {}, { schema: SCHEMA });
    expect(all.columns[1]!.type).toBe("integer");
    expect([all.errorCount, all.errors[0]]).toMatchObject([
      all.errors.length,
      { row: 2, column: 1 },
    ]);
    const only = await view(wrong, { wrong: true, sort: 0 }, { schema: SCHEMA });
    expect(numbersOf(only)).toEqual([2, 3]);
    expect(only.errorCount).toBe(all.errorCount);
  });

  it("shows the page of a row, however the rows are ordered, and says where it begins", async () => {
    const rows = Array.from({ length: 1_000 }, (_, row) => `${999 - row},x`).join("\n");
    const table = `n,x\n${rows}\n`;
    expect(await view(table, { row: 250 })).toMatchObject({ from: 200, total: 1_000 });
    const sorted = await view(table, { row: 250, sort: 0 });
    expect([sorted.from, numbersOf(sorted).includes(250)]).toEqual([700, true]);
    expect((await view(table, { from: 950 })).rows).toHaveLength(50);
    expect(await view(table, { from: 5_000 })).toMatchObject({ from: 999 });
    expect((await view(table)).rows).toHaveLength(VIEW_ROWS);
    expect(await view(table, {}, { rows: 600 })).toMatchObject({ total: 600, moreRows: true });
  });

  it("reads every row of Parquet, of all row groups", async () => {
    const column = { name: "n", type: "INT64", values: [3n, 1n, 2n] } as const;
    const file = parquetFile([{ ...column, values: [...column.values] }], { groupRows: 2 });
    const { total, columns, rows } = await view(file, { sort: 0 }, { name: "a.parquet" });
    expect([total, columns[0]!.type, rows.map(({ cells }) => cells[0])]).toEqual([
      3,
      "integer",
      ["1", "2", "3"],
    ]);
  });

  it("is undefined for what is no table", async () => {
    expect(await view("# A text", {}, { name: "a.md" })).toBeUndefined();
  });

  it("has every row once and in one order, whatever the cells are", async () => {
    const cell = fc.oneof(
      fc.constantFrom("", "NA", "1e999", "-0", "9007199254740993", "=1+1", '"', "\u0000"),
      fc.string({ unit: "binary", maxLength: 10 }),
      fc.double().map(String),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 20 }),
        fc.nat(4),
        async (rows, sort) => {
          const text = rows
            .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(","))
            .join("\n");
          const sorted = await view(text, { sort });
          if (!sorted) return;
          expect(numbersOf(sorted).toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: sorted.total }, (_, number) => number),
          );
          for (const { chart } of sorted.columns)
            for (const { count } of chart.bars) expect(Number.isInteger(count)).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});
