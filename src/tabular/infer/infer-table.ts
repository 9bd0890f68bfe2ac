import { TabularError } from "../errors.js";
import { DEFAULT_LIMITS, type TableLimits } from "../limits.js";
import { unguarded } from "../reader/feed.js";
import { openSource, type TextOptions } from "../reader/open-source.js";
import { RowGate } from "../reader/row-gate.js";
import { Row } from "../reader/row.js";
import { isScannable } from "../reader/scanner.js";
import { textFeed } from "../reader/text-feed.js";
import type { PropertyObject } from "../schema/document.js";
import { ColumnGuess } from "./column-guess.js";
import { detectHeader, detectSeparator, sampleRows } from "./detect.js";
import { describeColumns } from "./describe-columns.js";
import { Widths } from "./widths.js";

/** What was found out about a table. */
export interface InferredTable {
  separator: string;
  header: boolean;
  rows: number;
  properties: Record<string, PropertyObject>;
  /** Sentences about what the types hide, e.g. numbers with empty cells among them. */
  notes: string[];
}

/** Bytes that are looked at to tell separator and header. */
const HEAD = 256 << 10;

/**
 * Finds out separator, header and the datatype of every column; the whole table is read, so that it conforms to
 * what is said of it. Patterns and bounds are not guessed.
 * @throws TabularError as a check does
 */
export async function inferTable(source: AsyncIterable<Uint8Array>, given: { separator?: string; header?: boolean; limits?: Partial<TableLimits> } & TextOptions = {}): Promise<InferredTable> {
  const limits = { ...DEFAULT_LIMITS, ...given.limits };
  const { head, whole, rest } = await takeHead(openSource(source, given));
  const separator = given.separator ?? detectSeparator(head, whole, limits);
  const header = given.header ?? (isScannable(separator) && detectHeader(sampleRows(head, separator, whole, limits)));
  const guesses: ColumnGuess[] = [];
  let names: string[] = [];
  const widths = new Widths();
  const row = new Row();
  const gate = new RowGate(header, row, () => {
    widths.see(row);
    for (let column = 0; column < row.count; column++) (guesses[column] ??= new ColumnGuess()).see(row, column);
  }, () => (names = row.cells()));
  const feed = await textFeed(joined(head, rest), separator, limits);
  for await (const _ of feed(row, () => gate.pass(), unguarded));
  if (names.length === 0 && guesses.length === 0) throw new TabularError("DATA", "it is empty: there is no column to describe");
  return { separator, header, rows: widths.rows, ...describeColumns(names, guesses, widths) };
}

async function takeHead(text: AsyncGenerator<Uint8Array>): Promise<{ head: Buffer; whole: boolean; rest: AsyncGenerator<Uint8Array> }> {
  let head = Buffer.alloc(0);
  while (head.length < HEAD) {
    const { done, value } = await text.next();
    if (done === true) return { head, whole: true, rest: text };
    head = Buffer.concat([head, value]);
  }
  return { head, whole: false, rest: text };
}

async function* joined(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}
