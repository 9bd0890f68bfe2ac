import { DEFAULT_LIMITS, type TableLimits, TabularError } from "../../tabular/limits.js";
import { parquetHead } from "../../tabular/parquet-feed.js";
import { Row, type RowFeed, unguarded } from "../../tabular/reader/row.js";
import { setCells } from "../../tabular/reader/reference-feed.js";
import { textFeed } from "../../tabular/reader/text-feed.js";
import {
  readSchema,
  type TableSchema,
  unescapeSeparator,
} from "../../tabular/schema/table-schema.js";
import { type TableCheck, validateRows, validateTable } from "../../tabular/validate.js";
import { shortened } from "./text.js";
import type { CellError, PreviewInput, PreviewLimits, TablePreview } from "./types.js";

/** Characters of a cell, and of a message. */
const CELL = 500;
/** Errors of the rows that are shown. */
const MOST_ERRORS = 1_000;

const limitsOf = (bytes: number): TableLimits => ({
  ...DEFAULT_LIMITS,
  maxText: bytes,
  maxCell: bytes,
  maxRow: bytes,
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Parts = Pick<PreviewInput, "schema" | "limits"> & { cut: boolean };

/** The first rows of separated text. */
export async function textTable(
  text: string,
  separator: string | undefined,
  { schema, limits, cut }: Parts,
): Promise<TablePreview> {
  const applied = appliedSchema(schema);
  const stated = applied.schema && unescapeSeparator(applied.schema.separator);
  const by = stated === undefined || stated === "" ? (separator ?? likelySeparator(text)) : stated;
  // A row that is cut would look like another row; a text of one line is shown as far as it goes.
  const lines = text.search(/[\r\n]/) >= 0;
  const whole =
    cut && lines
      ? text.slice(0, Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1)
      : text;
  const bytes = Buffer.from(whole);
  const tableLimits = limitsOf(bytes.length + 1);
  const header = applied.schema?.header ?? true;
  const wanted = limits.rows + (header ? 1 : 0);
  const { rows, more, problem } = await rowsOf(
    await textFeed(once(bytes), by, tableLimits),
    wanted,
  );
  return shownTable({
    columns: header ? (rows[0] ?? []) : [],
    rows: header ? rows.slice(1) : rows,
    moreRows: more || (cut && lines),
    // A quoted cell that is cut is no fault of the table.
    problem: cut ? null : problem,
    applied,
    limits,
    check: (table) =>
      validateTable(once(bytes), table, {
        patterns: "linear",
        maxErrors: MOST_ERRORS,
        limits: tableLimits,
      }),
  });
}

/** The first rows of a Parquet file. */
export async function parquetTable(
  bytes: Uint8Array,
  { schema, limits }: Parts,
): Promise<TablePreview> {
  const applied = appliedSchema(schema);
  const copy = Uint8Array.from(bytes);
  const { columns, rows, total } = await parquetHead(copy.buffer, limits);
  return shownTable({
    columns,
    rows,
    moreRows: total > rows.length,
    problem: null,
    applied,
    limits,
    isPart: columns.length > limits.columns,
    check: (table) =>
      validateRows(feedOf(rows), table, { patterns: "linear", maxErrors: MOST_ERRORS }),
  });
}

interface Applied {
  ark: string | null;
  schema?: TableSchema;
  problem: string | null;
}

function appliedSchema(stated: PreviewInput["schema"]): Applied {
  if (!stated) return { ark: null, problem: null };
  try {
    return { ark: stated.ark, schema: readSchema(stated.document), problem: null };
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    return { ark: stated.ark, problem: `It was not checked: ${error.message}.` };
  }
}

async function shownTable({
  columns,
  rows,
  moreRows,
  problem,
  applied,
  limits,
  isPart = false,
  check,
}: Pick<TablePreview, "columns" | "rows" | "moreRows" | "problem"> & {
  applied: Applied;
  limits: PreviewLimits;
  /** Rows are without their last columns. */
  isPart?: boolean;
  check: (schema: TableSchema) => TableCheck;
}): Promise<TablePreview> {
  const widest = rows.reduce((most, { length }) => Math.max(most, length), columns.length);
  const errors: CellError[] = [];
  let unchecked = applied.problem;
  try {
    if (applied.schema && isPart)
      unchecked = `It was not checked: it has more than ${limits.columns} columns.`;
    else if (applied.schema)
      for await (const { row, column, kind, message } of check(applied.schema)) {
        if (row >= rows.length) break;
        errors.push({
          row,
          column: column < 0 ? null : column,
          keyword: kind.keyword,
          message: shortened(message, CELL),
        });
      }
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    unchecked = `It was not checked to the end: ${error.message}.`;
  }
  const cells = (row: readonly string[]): string[] =>
    row.slice(0, limits.columns).map((cell) => shortened(cell, CELL));
  return {
    form: "table",
    columns: cells(columns),
    rows: rows.map(cells),
    errors,
    moreRows,
    moreColumns: widest > limits.columns,
    schema: applied.ark,
    problem: problem ?? unchecked,
  };
}

/** The first rows of a feed as text; `problem`: why there are no more. */
async function rowsOf(
  feed: RowFeed,
  most: number,
): Promise<{ rows: string[][]; more: boolean; problem: string | null }> {
  const rows: string[][] = [];
  let more = false;
  const row = new Row();
  // Blank lines at the end are no rows.
  let blanks = 0;
  const each = (): void => {
    if (row.isBlank) {
      blanks++;
      return;
    }
    for (; blanks > 0 && rows.length < most; blanks--) rows.push([""]);
    if (rows.length < most) rows.push(row.cells());
    else more = true;
  };
  try {
    for await (const _ of feed(row, each, unguarded)) if (more) break;
    return { rows, more, problem: null };
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    return { rows, more: true, problem: `It was not read to the end: ${error.message}.` };
  }
}

const feedOf = (rows: readonly (readonly string[])[]): RowFeed =>
  async function* (row, each, guard) {
    row.line = 0;
    guard(() => {
      for (const cells of rows) {
        setCells(row, cells, true, DEFAULT_LIMITS);
        each();
      }
    });
    yield;
  };

/** The separator that occurs most often in the first line. */
function likelySeparator(text: string): string {
  const line = /^[^\r\n]{0,10000}/.exec(text)![0];
  const counted = [",", "\t", ";", "|"].map((separator) => ({
    separator,
    count: line.split(separator).length,
  }));
  return counted.reduce((best, each) => (each.count > best.count ? each : best)).separator;
}
