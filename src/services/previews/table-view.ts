/** A part of a table, chosen, sorted and counted over all rows that are read of it. */
import { ColumnGuess } from "../../tabular/column-guess.js";
import { TabularError } from "../../tabular/limits.js";
import { Row, unguarded } from "../../tabular/reader/row.js";
import { readSchema } from "../../tabular/schema/table-schema.js";
import { feedOf, readPreview } from "./read-preview.js";
import type { CellError, PreviewInput, TablePreview } from "./types.js";

/** What a reader asks of a table. */
export interface TableQuestion {
  /** Column to sort by, from 0; rows are as in the file without it. */
  sort?: number;
  descending?: boolean;
  /** Words that a row has, or a bound such as `>5`; in any column without `column`. */
  find?: string;
  column?: number;
  /** Rows with an error only. */
  wrong?: boolean;
  /** Shows the page with this row, from 0, of the rows that are chosen. */
  row?: number;
  /** The first row of the page, of those that are chosen. */
  from?: number;
}

/** How the values of a column are distributed. */
export interface ColumnChart {
  /** Rows in each bar, of which the longest is the most frequent. */
  bars: { label: string; count: number }[];
  /** Different values; null where there are too many to count. */
  distinct: number | null;
}

export interface ViewedColumn {
  name: string;
  type: ColumnType;
  /** Cells without a value. */
  gaps: number;
  chart: ColumnChart;
}

export interface TableView {
  columns: ViewedColumn[];
  /** Rows that were read, and whether the file has more. */
  total: number;
  moreRows: boolean;
  moreColumns: boolean;
  /** Rows that are chosen, and the place of the first that is shown among them. */
  chosen: number;
  from: number;
  rows: { number: number; cells: string[] }[];
  /** Errors of all rows, up to a limit; those of the rows that are shown. */
  errorCount: number;
  errors: CellError[];
  schema: string | null;
  problem: string | null;
}

/** Rows on a page. */
export const VIEW_ROWS = 100;
const BARS = 12;
/** Different values of a column that are counted. */
const MAX_DISTINCT = 10_000;
/** Characters of a label. */
const LABEL = 60;

/** The view of a file; undefined for what is no table that can be read. */
export async function readTableView(
  input: PreviewInput & { question: TableQuestion },
): Promise<TableView | undefined> {
  const table = await readPreview(input);
  if (table.form !== "table") return undefined;
  return viewTable(table, input.question, statedTypes(input.schema?.document));
}

type ColumnType = ColumnGuess["datatype"];

/** The types that a schema states, by column. */
function statedTypes(schema: unknown): ReadonlyMap<number, ColumnType> {
  if (schema === undefined) return new Map();
  try {
    return new Map(
      readSchema(schema).properties.flatMap(({ index, type }) =>
        index.kind === "column" && isColumnType(type) ? [[index.at, type] as const] : [],
      ),
    );
  } catch (error) {
    // The table says that its schema is not sound.
    if (!(error instanceof TabularError)) throw error;
    return new Map();
  }
}

const isColumnType = (type: string): type is ColumnType =>
  ["integer", "number", "boolean", "string"].includes(type);

async function viewTable(
  table: TablePreview,
  question: TableQuestion,
  stated: ReadonlyMap<number, ColumnType>,
): Promise<TableView> {
  const guesses = await guessesOf(table);
  const types = guesses.map(({ datatype }, column) => stated.get(column) ?? datatype);
  const chosen = chosenRows(table, question, types);
  const at = question.row === undefined ? -1 : chosen.indexOf(question.row);
  const first = at >= 0 ? at - (at % VIEW_ROWS) : (question.from ?? 0);
  const from = Math.max(0, Math.min(first, chosen.length - 1));
  const shown = chosen.slice(from, from + VIEW_ROWS);
  const isShown = new Set(shown);
  return {
    columns: guesses.map(({ missing }, column) => {
      const type = types[column] ?? "string";
      const cells = table.rows.flatMap((row) => {
        const cell = row[column];
        return cell === undefined || missing.has(cell) ? [] : [cell];
      });
      return {
        name: table.columns[column] ?? "",
        type,
        gaps: table.rows.length - cells.length,
        chart: isNumeric(type) ? numberChart(cells) : valueChart(cells),
      };
    }),
    total: table.rows.length,
    moreRows: table.moreRows,
    moreColumns: table.moreColumns,
    chosen: chosen.length,
    from,
    rows: shown.map((number) => ({
      number,
      cells: guesses.map((_, column) => table.rows[number]?.[column] ?? ""),
    })),
    errorCount: table.errors.length,
    errors: table.errors.filter(({ row }) => isShown.has(row)),
    schema: table.schema,
    problem: table.problem,
  };
}

/** The types of the columns, as the command line infers them. */
async function guessesOf({ columns, rows }: TablePreview): Promise<ColumnGuess[]> {
  const guesses = columns.map(() => new ColumnGuess());
  const row = new Row();
  const see = (): void => {
    for (let column = 0; column < row.count; column++)
      (guesses[column] ??= new ColumnGuess()).see(row, column);
  };
  for await (const _ of feedOf(rows)(row, see, unguarded));
  return guesses;
}

const isNumeric = (type: ColumnType | undefined): boolean =>
  type === "integer" || type === "number";

/** A cell as a number; NaN without one. */
const numberOf = (cell: string | undefined): number =>
  cell === undefined || cell.trim() === "" ? NaN : Number(cell);

/** The numbers of the rows that a question asks for, in its order. */
function chosenRows(
  { rows, errors }: TablePreview,
  { sort, descending = false, find = "", column, wrong = false }: TableQuestion,
  types: readonly ColumnType[],
): number[] {
  const matches = matcher(find);
  const wrongRows = new Set(errors.map(({ row }) => row));
  const chosen: number[] = [];
  for (const [number, cells] of rows.entries()) {
    if (wrong && !wrongRows.has(number)) continue;
    const asked = column === undefined ? cells : cells.slice(column, column + 1);
    if (asked.some(matches)) chosen.push(number);
  }
  if (sort === undefined || sort >= types.length) return chosen;
  const direction = descending ? -1 : 1;
  if (isNumeric(types[sort])) {
    const values = rows.map((cells) => numberOf(cells[sort]));
    // What is no number comes last, whatever the direction.
    return chosen.toSorted((a, b) => {
      const [one, other] = [values[a]!, values[b]!];
      if (Number.isNaN(one) || Number.isNaN(other))
        return Number(Number.isNaN(one)) - Number(Number.isNaN(other)) || a - b;
      return direction * (one - other) || a - b;
    });
  }
  const { compare } = new Intl.Collator("en", { numeric: true });
  return chosen.toSorted(
    (a, b) => direction * compare(rows[a]![sort] ?? "", rows[b]![sort] ?? "") || a - b,
  );
}

const BOUNDS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
};
const BOUND = /^\s*(<=|>=|<|>|=)\s*(\S.*?)\s*$/;

/** Whether a cell has words, or a number within a bound such as `>= 5`. */
function matcher(find: string): (cell: string) => boolean {
  const [, operator, operand = ""] = BOUND.exec(find) ?? [];
  const bound = numberOf(operand);
  if (operator === "=") return (cell) => cell === operand || numberOf(cell) === bound;
  const holds = operator === undefined ? undefined : BOUNDS[operator];
  if (holds && !Number.isNaN(bound)) return (cell) => holds(numberOf(cell), bound);
  const words = find.trim().toLowerCase();
  return (cell) => words === "" || cell.toLowerCase().includes(words);
}

/** Bars of equal width between the least and the largest number. */
function numberChart(cells: readonly string[]): ColumnChart {
  const values = cells.map(numberOf).filter(Number.isFinite);
  const [least, most] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  if (!(least < most)) return valueChart(cells);
  const width = (most - least) / BARS;
  // Two numbers may be further apart than a number can say.
  if (!Number.isFinite(width) || width === 0) return { bars: [], distinct: null };
  const counts = Array.from({ length: BARS }, () => 0);
  for (const value of values) counts[Math.min(BARS - 1, Math.floor((value - least) / width))]! += 1;
  return {
    bars: counts.map((count, bar) => ({
      label: `${rounded(least + bar * width)} to ${rounded(least + (bar + 1) * width)}`,
      count,
    })),
    distinct: distinctIn(cells)?.size ?? null,
  };
}

const rounded = (value: number): string => String(Number(value.toPrecision(4)));

/** The most frequent values; none where every value is another. */
function valueChart(cells: readonly string[]): ColumnChart {
  const counts = distinctIn(cells);
  if (!counts) return { bars: [], distinct: null };
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, BARS);
  const repeats = counts.size < cells.length || counts.size === 1;
  return {
    bars: repeats
      ? frequent.map(([value, count]) => ({ label: value.slice(0, LABEL).toWellFormed(), count }))
      : [],
    distinct: counts.size,
  };
}

function distinctIn(cells: readonly string[]): Map<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const cell of cells) {
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
    if (counts.size > MAX_DISTINCT) return undefined;
  }
  return counts;
}
