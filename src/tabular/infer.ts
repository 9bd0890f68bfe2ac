import { ColumnGuess } from "./column-guess.js";
import { detectRows, detectTable, type Head, SAMPLE_ROWS, type SampleRow } from "./detect.js";
import { DEFAULT_LIMITS, type TableLimits, TabularError } from "./limits.js";
import type { Dialect } from "./reader/dialect.js";
import { openSource, type TextOptions } from "./reader/open-source.js";
import { Row, type RowFeed, RowGate, unguarded } from "./reader/row.js";
import { textFeed } from "./reader/text-feed.js";
import type { PropertyObject } from "./schema/table-schema.js";
import type { CellTable } from "./sources/cell-table.js";

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
  const isNumber = ({ datatype }: ColumnGuess): boolean =>
    datatype === "integer" || datatype === "number";
  const start = 1 + guesses.findLastIndex((guess) => !isNumber(guess));
  if (start >= guesses.length || start > least) return undefined;
  const names = header.slice(start);
  if (names.length > 0 && !areNumbered(names)) return undefined;
  return least < most || guesses.length - start >= VECTOR_COLUMNS ? start : undefined;
}

/** `0, 1, 2` or `dim_1, dim_2`: one word with numbers that rise by one. */
function areNumbered(names: readonly string[]): boolean {
  const parts = names.map((name) => /^(?<word>.*?)(?<number>\d+)$/.exec(name.trim())?.groups);
  const [first] = parts;
  return (
    first !== undefined &&
    parts.every(
      (part, place) =>
        part?.["word"] === first["word"] &&
        Number(part?.["number"]) === Number(first["number"]) + place,
    )
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

  /** As if each row had all columns. */
  filled(): Widths {
    this.least = this.most;
    return this;
  }

  /**
   * One sentence where the rows have different numbers of columns, or another one than the header.
   * @param header columns of the header; 0 for none
   */
  remark(header: number): string | undefined {
    if (this.least === this.most)
      return header === 0 || header === this.most
        ? undefined
        : `rows have ${this.most} columns, the header has ${header}`;
    const found = [...this.#found].map(([count, seen]) => ({ count, ...seen }));
    const [usual] = found.toSorted((a, b) => b.times - a.times || a.row - b.row);
    const expected = header === 0 ? usual?.count : header;
    const [first] = found
      .filter(({ count }) => count !== expected)
      .toSorted((a, b) => a.row - b.row);
    if (!usual || !first) return undefined;
    return (
      `rows have ${this.least} to ${this.most} columns, ` +
      `${header === 0 ? `most have ${usual.count}` : `the header has ${header}`}: the first other ` +
      `one is row ${first.row} (line ${first.line})`
    );
  }
}

/** The result of inferring a table's schema. */
interface InferredTable extends DescribedColumns {
  dialect: Dialect;
  header: boolean;
  rows: number;
}

/** Bytes that are read to find separator and header. */
const HEAD = 256 << 10;

/**
 * Finds separator, comments, title lines, header and the datatype of every column; the whole table is read, so that it
 * conforms to the inferred schema. Patterns and bounds are not guessed.
 * @throws TabularError as a check does
 */
export async function inferTable(
  source: AsyncIterable<Uint8Array>,
  given: {
    table?: Partial<Dialect> & { header?: boolean | undefined };
    limits?: Partial<TableLimits>;
  } & TextOptions = {},
): Promise<InferredTable> {
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const { head, rest } = await takeHead(openSource(source, given));
  const { dialect, header } = detectTable(head, given.table ?? {}, limits);
  const feed = textFeed(joined(head.bytes, rest), dialect, limits);
  const { names, ...seen } = await readColumns(feed, header, limits, given.encoding);
  return { dialect, header, ...describedTable(names, seen) };
}

/**
 * Finds header and datatypes of a sheet or of JSON Lines, as {@link inferTable} does.
 * @throws TabularError as a check does
 */
export async function inferCells(
  table: CellTable,
  given: { header?: boolean | undefined; skipRows?: number | undefined },
): Promise<Omit<InferredTable, "dialect"> & { skipRows: number }> {
  const limits = DEFAULT_LIMITS;
  const { header, skipRows } = table.mayHaveHeader
    ? detectRows(await sampleOf(table, given.skipRows ?? 0), given)
    : { header: false, skipRows: 0 };
  const { names, ...seen } = await readColumns(table.feed(limits, { skipRows }), header, limits);
  const stated = table.names?.();
  if (!stated || stated.length === 0) return { header, skipRows, ...describedTable(names, seen) };
  // A member that an object does not have is a cell without a value.
  const { guesses, widths } = seen;
  for (const guess of guesses) guess.addEmpty(widths.rows - guess.cells);
  return { header, skipRows, ...describedTable(stated, { ...seen, widths: widths.filled() }) };
}

async function sampleOf(table: CellTable, skipRows: number): Promise<SampleRow[]> {
  const rows: SampleRow[] = [];
  const row = new Row();
  const take = (): void => {
    if (rows.length < SAMPLE_ROWS && !row.isBlank)
      rows.push({ cells: row.cells(), line: row.line });
  };
  for await (const _ of table.feed(DEFAULT_LIMITS, { skipRows })(row, take, unguarded))
    if (rows.length >= SAMPLE_ROWS) break;
  return rows;
}

interface SeenColumns {
  guesses: ColumnGuess[];
  widths: Widths;
  found: string[];
}

async function readColumns(
  feed: RowFeed,
  header: boolean,
  limits: TableLimits,
  encoding?: string,
): Promise<SeenColumns & { names: readonly string[] }> {
  const guesses: ColumnGuess[] = [];
  let names: readonly string[] = [];
  const widths = new Widths();
  const found: string[] = [];
  const row = new Row();
  const gate = new RowGate(header, row, {
    onRow: () => {
      widths.see(row);
      for (let column = 0; column < row.count; column++)
        (guesses[column] ??= new ColumnGuess()).see(row, column);
    },
    onHeader: (header) => (names = header),
    onFinding: ({ message }) => void found.push(message),
    encoding,
    limits,
  });
  for await (const _ of feed(row, () => gate.pass(), unguarded));
  return { guesses, names, widths, found };
}

function describedTable(
  names: readonly string[],
  { guesses, widths, found }: SeenColumns,
): DescribedColumns & { rows: number } {
  if (names.length === 0 && guesses.length === 0)
    throw new TabularError("DATA", "it is empty: there is no column to describe");
  const described = describeColumns(names, guesses, widths);
  return { rows: widths.rows, ...described, notes: [...found, ...described.notes] };
}

async function takeHead(
  text: AsyncGenerator<Uint8Array>,
): Promise<{ head: Head; rest: AsyncGenerator<Uint8Array> }> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < HEAD) {
    const { done, value } = await text.next();
    if (done === true) return { head: { bytes, isWhole: true }, rest: text };
    bytes = Buffer.concat([bytes, value]);
  }
  return { head: { bytes, isWhole: false }, rest: text };
}

async function* joined(
  head: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}
