/** How a table is written, from its first rows: separator, comments, title lines, header. */
import { ColumnGuess } from "./column-guess.js";
import { type TableLimits, TabularError } from "./limits.js";
import { type Dialect, separatedBy } from "./reader/dialect.js";
import { Row } from "./reader/row.js";
import { INCOMPLETE, nextLine, RowScanner } from "./reader/text-feed.js";

/** The beginning of a table. */
export interface Head {
  bytes: Buffer;
  /** Nothing follows. */
  isWhole: boolean;
}

/** What is known of a table, or was detected. */
export interface DetectedTable {
  dialect: Dialect;
  header: boolean;
}

/**
 * Finds how a table is written where that is not given.
 * @throws TabularError `DATA` for JSON
 */
export function detectTable(
  head: Head,
  given: Partial<Dialect> & { header?: boolean | undefined },
  limits: TableLimits,
): DetectedTable {
  const { header: givenHeader, ...stated } = given;
  if (stated.separator === undefined) assertSeparated(head.bytes);
  const dialect = { ...separatedBy(stated.separator ?? ","), ...stated };
  const notes = stated.comment === undefined && stated.skipRows === undefined ? notesOf(head) : [];
  // Notes have commas of their own.
  const body = { ...head, bytes: head.bytes.subarray(notes.at(-1)?.end ?? 0) };
  dialect.separator = stated.separator ?? detectSeparator(body, dialect, limits);
  Object.assign(dialect, readNotes(notes, sampleRows(body, dialect, limits)[0], dialect));
  if (stated.skipRows === undefined)
    dialect.skipRows ||= titleLines(sampleRows(head, dialect, limits), givenHeader);
  const rows = sampleRows(head, dialect, limits).map(({ cells }) => cells);
  return { dialect, header: givenHeader ?? detectHeader(rows) };
}

/** @throws TabularError `DATA` for JSON, whose lines would be read as rows of text */
function assertSeparated(head: Buffer): void {
  const line = head.toString("utf8").trimStart().replace(/\n.*/s, "");
  if (!/^[[{]/.test(line)) return;
  try {
    JSON.parse(line);
  } catch {
    if (!/^(?:\[|\{\s*("[^"]*"\s*:.*)?)\s*$/.test(line)) return;
  }
  throw new TabularError(
    "DATA",
    "it is JSON, not a table of separated text: write each row on a line of its own (JSON Lines), or " +
      "name the separator",
  );
}

/** A line above the table that begins with #. */
interface NoteLine {
  text: string;
  /** Where the next line begins. */
  end: number;
}

const NOTE = 0x23;

/** The lines before the first that does not begin with #; none where all of them do. */
function notesOf({ bytes, isWhole }: Head): NoteLine[] {
  const notes: NoteLine[] = [];
  for (let at = 0; bytes[at] === NOTE;) {
    const end = nextLine(bytes, at, bytes.length, isWhole);
    if (end === INCOMPLETE || end >= bytes.length) return [];
    notes.push({ text: bytes.toString("utf8", at, end).trimEnd(), end });
    at = end;
  }
  return notes;
}

/**
 * Lines that begin with # are comments; but the last of them is the header where it has as many
 * names as the rows below have cells, as in a VCF file.
 */
function readNotes(
  notes: readonly NoteLine[],
  below: SampleRow | undefined,
  { separator }: Dialect,
): Partial<Dialect> {
  const last = notes.at(-1);
  if (!last) return {};
  const columns = last.text.split(separator).length;
  if (columns < 2 || columns !== below?.cells.length) return { comment: "#" };
  const before = notes.slice(0, -1);
  if (before.length > 0 && before.every(({ text }) => text.startsWith("##")))
    return { comment: "##" };
  return { skipRows: before.length };
}

/** Lines above the header that are looked for. */
const MOST_TITLES = 20;
/** Rows below a title that have the same number of columns, of all of them. */
const TITLED_SHARE = 0.9;

/**
 * How many lines are above the header: rows with fewer cells than nearly all others, before a row
 * that is a header.
 */
function titleLines(rows: readonly SampleRow[], header: boolean | undefined): number {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [columns] = [...counts].toSorted((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [1];
  const first = rows.findIndex(({ cells }) => cells.length === columns);
  if (columns < 2 || first < 1 || first > MOST_TITLES || header === false) return 0;
  const below = rows.slice(first);
  const same = below.filter(({ cells }) => cells.length === columns).length;
  const isTitle = ({ cells }: SampleRow): boolean => cells.length <= Math.max(1, columns / 2);
  if (same < 2 || same < below.length * TITLED_SHARE || !rows.slice(0, first).every(isTitle))
    return 0;
  const [top] = below;
  return top && detectHeader(below.map(({ cells }) => cells)) ? top.line - 1 : 0;
}

/** Finds the header of rows that are no text, and the rows above it. */
export function detectRows(
  rows: readonly SampleRow[],
  given: { header?: boolean | undefined; skipRows?: number | undefined },
): { header: boolean; skipRows: number } {
  // In a sheet, cells at the end of a row that are empty are not there.
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const top = rows.findIndex(({ cells }) => cells.length === width);
  const filled = rows.map(({ cells, line }, at) => ({
    line,
    cells: at < top ? cells : Array.from({ length: width }, (_, column) => cells[column] ?? ""),
  }));
  const skipRows = given.skipRows ?? titleLines(filled, given.header);
  const below = filled.filter(({ line }) => line > skipRows).map(({ cells }) => cells);
  return { skipRows, header: given.header ?? detectHeader(below) };
}

const CANDIDATES = [",", "\t", ";", "|"] as const;
/** Rows that are read to find separator and header. */
export const SAMPLE_ROWS = 200;

export interface SampleRow {
  cells: string[];
  /** Line that it begins in, from 1. */
  line: number;
}

/** The first rows of a table as text. */
function sampleRows({ bytes, isWhole }: Head, dialect: Dialect, limits: TableLimits): SampleRow[] {
  const scanner = new RowScanner(dialect, limits);
  const row = new Row();
  row.setBlock(bytes, bytes.length);
  const rows: SampleRow[] = [];
  try {
    for (let at = 0; at < bytes.length && rows.length < SAMPLE_ROWS; row.number++) {
      const isSkipped = row.line <= dialect.skipRows || scanner.isComment(bytes, at, bytes.length);
      const next = isSkipped
        ? nextLine(bytes, at, bytes.length, isWhole)
        : scanner.scan(row, at, bytes.length, isWhole);
      if (next === INCOMPLETE) break;
      if (!isSkipped && !row.isBlank) rows.push({ cells: row.cells(), line: row.line });
      row.line += 1 + (isSkipped ? 0 : scanner.innerLines);
      at = next;
    }
  } catch {
    // A quote that never closes with this separator; the rows before it still count.
  }
  return rows;
}

/**
 * The separator that gives most rows the same number of columns; when several do, the one with the
 * most columns.
 */
function detectSeparator(head: Head, dialect: Dialect, limits: TableLimits): string {
  let best = { separator: ",", share: 0, columns: 1 };
  for (const separator of CANDIDATES) {
    const counts = new Map<number, number>();
    const rows = sampleRows(head, { ...dialect, separator }, limits);
    for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
    const [columns, times] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [1, 0];
    const share = times / Math.max(1, rows.length);
    if (columns > 1 && (share > best.share || (share === best.share && columns > best.columns)))
      best = { separator, share, columns };
  }
  return best.separator;
}

/** The form of a column's name; one that begins with a digit, as `639-1` does, is a name too. */
const NAME = /^ ?[\p{L}\p{N}_][\p{L}\p{N}_ .,:()/%#&+-]{0,80}$/u;
const BEGINS_AS_WORD = /^ ?[\p{L}_]/u;

/**
 * Whether the first row names the columns. Where columns hold numbers or booleans below, their first
 * cells decide; elsewhere the first row has the form of names, which differ and come nowhere below.
 */
function detectHeader(rows: readonly string[][]): boolean {
  const [first, ...others] = rows;
  if (!first) return false;
  const { typed, named } = typedColumns(first, others);
  if (typed > 0) return named > 0 || areYears(first, others);
  // Spreadsheets write empty columns at the end.
  const columns = first.slice(0, 1 + first.findLastIndex((cell) => cell !== ""));
  return (
    columns.length > 0 &&
    new Set(columns).size === columns.length &&
    // Of codes such as `1a` a row of names has at most as many as of words.
    columns.filter((cell) => BEGINS_AS_WORD.test(cell)).length * 2 >= columns.length &&
    columns.every((cell, column) => NAME.test(cell) && !others.some((row) => row[column] === cell))
  );
}

/** Whether the numbers of the first row are years that rise by one, and those below are not. */
function areYears(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  const isYears = (row: readonly string[]): boolean => {
    const years = row.filter((cell) => /^(?:1[5-9]|20|21)\d\d$/.test(cell)).map(Number);
    const start = row.length - years.length;
    const [earliest] = years;
    return (
      earliest !== undefined &&
      years.length > 1 &&
      start > 0 &&
      years.every((year, place) => year === earliest + place && Number(row[start + place]) === year)
    );
  };
  return isYears(first) && !others.some(isYears);
}

/** How many columns are not text below the first row, and how many of these are text in it. */
function typedColumns(
  first: readonly string[],
  others: readonly (readonly string[])[],
): { typed: number; named: number } {
  const typed = [...first.entries()].filter(
    ([column]) => kindOf(others.map((row) => row[column] ?? "")) !== "string",
  );
  return {
    typed: typed.length,
    named: typed.filter(([, cell]) => kindOf([cell]) === "string").length,
  };
}

/** Whether the first row is data and no header: it has numbers wherever the rows below have them. */
export function beginsWithData([first, ...others]: readonly string[][]): boolean {
  if (!first) return false;
  const { typed, named } = typedColumns(first, others);
  return typed > 0 && named === 0;
}

function kindOf(cells: readonly string[]): string {
  const guess = new ColumnGuess();
  const row = new Row();
  for (const cell of cells) {
    const bytes = Buffer.from(cell);
    row.setBlock(bytes, bytes.length);
    row.ends[0] = bytes.length;
    guess.see(row, 0);
  }
  return guess.filled;
}
