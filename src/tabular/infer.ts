import { DEFAULT_LIMITS, type TableLimits, TabularError } from "./limits.js";
import { openSource, type TextOptions } from "./reader/open-source.js";
import { ESCAPED, RELAXED, Row, RowGate, unguarded } from "./reader/row.js";
import { INCOMPLETE, isScannable, RowScanner, textFeed } from "./reader/text-feed.js";
import { isCode, isInteger, isNumber, readBoolean } from "./rules/notation.js";
import type { PropertyObject } from "./schema/table-schema.js";

/** Texts of cells without a value, where the other cells of the column are no text. */
const MISSING = new Set(["", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"]);
const LONGEST_MISSING = 4;

/** The types that fit all cells of one column so far. */
class ColumnGuess {
  #integer = true;
  #number = true;
  #boolean = true;
  /** A cell is a numeral of which a number would lose a part: a leading zero, for example. */
  #hasCode = false;
  cells = 0;
  /** Cells whose text may stand for a missing value, by that text. */
  readonly missing = new Map<string, number>();

  see(row: Row, column: number): void {
    this.cells++;
    const [start, end] = [row.starts[column]!, row.ends[column]!];
    if (end - start <= LONGEST_MISSING) {
      const text = row.text(column);
      if (MISSING.has(text)) {
        this.missing.set(text, (this.missing.get(text) ?? 0) + 1);
        return;
      }
    }
    const quote = (row.flags[column]! & (ESCAPED | RELAXED)) !== 0;
    if (this.#integer) this.#integer = !quote && isInteger(row.bytes, start, end);
    if (this.#number) this.#number = !quote && (this.#integer || isNumber(row.bytes, start, end));
    if (this.#number) this.#hasCode ||= isCode(row.bytes, start, end);
    if (this.#boolean) this.#boolean = !quote && readBoolean(row.bytes, start, end) !== undefined;
  }

  /** Cells that may have no value. */
  get gaps(): number {
    return [...this.missing.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The form of the cells that have a value. */
  get filled(): "integer" | "number" | "boolean" | "string" {
    if (this.cells === this.gaps) return "string";
    return this.#integer
      ? "integer"
      : this.#number
        ? "number"
        : this.#boolean
          ? "boolean"
          : "string";
  }

  /** The cells are codes in the form of numbers. */
  get isCodes(): boolean {
    return this.#hasCode && (this.filled === "integer" || this.filled === "number");
  }

  /** The datatype of the cells that have a value, in which none loses a part: a code is text. */
  get datatype(): "integer" | "number" | "boolean" | "string" {
    return this.isCodes ? "string" : this.filled;
  }
}

/** @throws TabularError `DATA` for JSON, whose lines would be read as rows of text */
function assertSeparated(head: Buffer): void {
  const [line] = head.toString("utf8").trimStart().split("\n", 1);
  if (!/^[[{]/.test(line!)) return;
  try {
    JSON.parse(line!);
  } catch {
    if (!/^(?:\[|\{\s*("[^"]*"\s*:.*)?)\s*$/.test(line!)) return;
  }
  throw new TabularError(
    "DATA",
    "it is JSON, not a table of separated text: convert it to CSV or Parquet, or name the separator",
  );
}

const CANDIDATES = [",", "\t", ";", "|"] as const;
/** Rows that are read to find separator and header. */
const SAMPLE_ROWS = 200;

/** The first rows of a table as text. */
function sampleRows(
  head: Buffer,
  separator: string,
  whole: boolean,
  limits: TableLimits,
): string[][] {
  const scanner = new RowScanner(separator.charCodeAt(0), limits);
  const row = new Row();
  row.setBlock(head, head.length);
  const rows: string[][] = [];
  try {
    for (let at = 0; at < head.length && rows.length < SAMPLE_ROWS; row.number++) {
      const next = scanner.scan(row, at, head.length, whole);
      if (next === INCOMPLETE) break;
      if (!row.isBlank) rows.push(row.cells());
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
function detectSeparator(head: Buffer, whole: boolean, limits: TableLimits): string {
  let best = { separator: ",", share: 0, columns: 1 };
  for (const separator of CANDIDATES) {
    const counts = new Map<number, number>();
    const rows = sampleRows(head, separator, whole, limits);
    for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
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
    return (
      years.length > 1 &&
      start > 0 &&
      years.every(
        (year, place) => year === years[0]! + place && Number(row[start + place]) === year,
      )
    );
  };
  return isYears(first) && !others.some(isYears);
}

/** How many columns are not text below the first row, and how many of these are text in it. */
function typedColumns(
  first: readonly string[],
  others: readonly (readonly string[])[],
): { typed: number; named: number } {
  const typed = [...first.keys()].filter(
    (column) => kindOf(others.map((row) => row[column] ?? "")) !== "string",
  );
  return {
    typed: typed.length,
    named: typed.filter((column) => kindOf([first[column]!]) === "string").length,
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

/** So many number columns at the end of the rows are one vector, not properties of their own. */
const VECTOR_COLUMNS = 16;

interface DescribedColumns {
  properties: Record<string, PropertyObject>;
  /** Properties of which every cell has a value. */
  required: string[];
  /** Texts of cells without a value; none where no column needs it. */
  missingValues: string[];
  /** Sentences about what the types hide, e.g. cells without a value. */
  notes: string[];
}

/** Properties for the columns of a table: one each, and one array for a vector at the end. */
function describeColumns(
  header: readonly string[],
  guesses: readonly ColumnGuess[],
  widths: Widths,
): DescribedColumns {
  const notes: string[] = [];
  const missing = new Set(
    guesses
      .filter(({ datatype }) => datatype !== "string")
      .flatMap((guess) => [...guess.missing.keys()]),
  );
  const hasGaps = (guess: ColumnGuess | undefined): boolean =>
    guess !== undefined && [...guess.missing.keys()].some((text) => missing.has(text));
  const required: string[] = [];
  const { least, most } = widths;
  const properties = new Map<string, PropertyObject>();
  const name = (column: number): string =>
    uniqueName((header[column] ?? "").trim() || `column_${column}`, properties);
  const vector = vectorStart(header, guesses, least, most);
  // Without rows only the header names the columns; their content is unknown, so they are text.
  const single = vector ?? (guesses.length === 0 ? header.length : least);
  for (let column = 0; column < single; column++) {
    const guess = guesses[column];
    const key = name(column);
    properties.set(key, {
      description: "",
      index: column,
      valueURL: null,
      type: guess?.datatype ?? "string",
    });
    if (!hasGaps(guess)) required.push(key);
    if (guess?.isCodes)
      notes.push(
        `column ${column} (${key}) holds numerals with leading zeros, or others of which a number ` +
          "would lose a part: it is described as string",
      );
    else if (guess && guess.gaps > 0 && guess.filled !== "string")
      notes.push(
        `column ${column} (${key}) is described as ${guess.filled}; ${guess.gaps} of its cells ` +
          `${guess.gaps === 1 ? "has" : "have"} no value ` +
          `(${[...guess.missing.keys()].map((text) => JSON.stringify(text)).join(", ")})`,
      );
  }
  if (vector !== undefined) {
    const elements = guesses.slice(vector);
    const isInteger = elements.every(({ datatype }) => datatype === "integer");
    const type = isInteger ? "integer" : "number";
    const key = uniqueName("values", properties);
    required.push(key);
    properties.set(key, {
      description: "",
      index: `${vector}::`,
      valueURL: null,
      type: "array",
      minItems: least - vector,
      ...(least === most ? { maxItems: most - vector } : {}),
      items: { type: elements.some(hasGaps) ? [type, "null"] : type },
    });
  }
  const ragged = widths.remark(header.length);
  if (ragged !== undefined)
    notes.push(
      `${ragged}${least < most && vector === undefined ? `; columns from ${least} on are not described` : ""}`,
    );
  return {
    properties: Object.fromEntries(properties),
    required,
    missingValues: [...missing].toSorted(),
    notes,
  };
}

/** Where a vector begins that runs to the end of the rows. */
function vectorStart(
  header: readonly string[],
  guesses: readonly ColumnGuess[],
  least: number,
  most: number,
): number | undefined {
  let start = guesses.length;
  while (
    start > 0 &&
    (guesses[start - 1]!.datatype === "integer" || guesses[start - 1]!.datatype === "number")
  )
    start--;
  if (start >= guesses.length || start > least) return undefined;
  const names = header.slice(start);
  if (names.length > 0 && !areNumbered(names)) return undefined;
  return least < most || guesses.length - start >= VECTOR_COLUMNS ? start : undefined;
}

/** `0, 1, 2` or `dim_1, dim_2`: one word with numbers that rise by one. */
function areNumbered(names: readonly string[]): boolean {
  const parts = names.map((name) => /^(.*?)(\d+)$/.exec(name.trim()));
  return parts.every(
    (part, place) =>
      part !== null && part[1] === parts[0]![1] && Number(part[2]) === Number(parts[0]![2]) + place,
  );
}

function uniqueName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  return name;
}

/** How many columns the rows of a table have. */
class Widths {
  rows = 0;
  least = Infinity;
  most = 0;
  /** By number of columns: how many rows, and where the first of them is. */
  readonly #found = new Map<number, { times: number; row: number; line: number }>();

  see({ count, number, line }: Row): void {
    this.rows++;
    if (count < this.least) this.least = count;
    if (count > this.most) this.most = count;
    const found = this.#found.get(count);
    if (found) found.times++;
    else this.#found.set(count, { times: 1, row: number, line });
  }

  /**
   * One sentence where the rows have different numbers of columns, or another one than the header.
   * @param header columns of the header; 0 for none
   */
  remark(header: number): string | undefined {
    if (this.rows === 0) return undefined;
    if (this.least === this.most)
      return header === 0 || header === this.most
        ? undefined
        : `rows have ${this.most} columns, the header has ${header}`;
    const [usual] = [...this.#found].toSorted(
      ([, a], [, b]) => b.times - a.times || a.row - b.row,
    )[0]!;
    const expected = header === 0 ? usual : header;
    const first = [...this.#found]
      .filter(([count]) => count !== expected)
      .toSorted(([, a], [, b]) => a.row - b.row)[0]![1];
    return (
      `rows have ${this.least} to ${this.most} columns, ` +
      `${header === 0 ? `most have ${usual}` : `the header has ${header}`}: the first other ` +
      `one is row ${first.row} (line ${first.line})`
    );
  }
}

/** The result of inferring a table's schema. */
interface InferredTable extends DescribedColumns {
  separator: string;
  header: boolean;
  rows: number;
}

/** Bytes that are read to find separator and header. */
const HEAD = 256 << 10;

/**
 * Finds separator, header and the datatype of every column; the whole table is read, so that it
 * conforms to the inferred schema. Patterns and bounds are not guessed.
 * @throws TabularError as a check does
 */
export async function inferTable(
  source: AsyncIterable<Uint8Array>,
  given: { separator?: string; header?: boolean; limits?: Partial<TableLimits> } & TextOptions = {},
): Promise<InferredTable> {
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const { head, whole, rest } = await takeHead(openSource(source, given));
  if (given.separator === undefined) assertSeparated(head);
  const separator = given.separator ?? detectSeparator(head, whole, limits);
  const header =
    given.header ??
    (isScannable(separator) && detectHeader(sampleRows(head, separator, whole, limits)));
  const guesses: ColumnGuess[] = [];
  let names: readonly string[] = [];
  const widths = new Widths();
  const found: string[] = [];
  if (head[0] === 0x23 && !separator.includes("#"))
    found.push(
      "the first line begins with #: where it is a comment, remove it and infer again, " +
        "since every line counts as a row",
    );
  const row = new Row();
  const gate = new RowGate(header, row, {
    onRow: () => {
      widths.see(row);
      for (let column = 0; column < row.count; column++)
        (guesses[column] ??= new ColumnGuess()).see(row, column);
    },
    onHeader: (header) => (names = header),
    onFinding: ({ message }) => void found.push(message),
    encoding: given.encoding,
    limits,
  });
  const feed = await textFeed(joined(head, rest), separator, limits);
  for await (const _ of feed(row, () => gate.pass(), unguarded));
  if (names.length === 0 && guesses.length === 0)
    throw new TabularError("DATA", "it is empty: there is no column to describe");
  const described = describeColumns(names, guesses, widths);
  return {
    separator,
    header,
    rows: widths.rows,
    ...described,
    notes: [...found, ...described.notes],
  };
}

async function takeHead(
  text: AsyncGenerator<Uint8Array>,
): Promise<{ head: Buffer; whole: boolean; rest: AsyncGenerator<Uint8Array> }> {
  let head = Buffer.alloc(0);
  while (head.length < HEAD) {
    const { done, value } = await text.next();
    if (done === true) return { head, whole: true, rest: text };
    head = Buffer.concat([head, value]);
  }
  return { head, whole: false, rest: text };
}

async function* joined(
  head: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}
