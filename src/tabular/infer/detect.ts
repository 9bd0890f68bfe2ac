import type { TableLimits } from "../limits.js";
import { Row } from "../reader/row.js";
import { INCOMPLETE, RowScanner } from "../reader/scanner.js";
import { ColumnGuess } from "./column-guess.js";

const CANDIDATES = [",", "\t", ";", "|"] as const;
/** Rows that are looked at to tell separator and header. */
const SAMPLE_ROWS = 200;

/** The first rows of a table as text. */
export function sampleRows(head: Buffer, separator: string, whole: boolean, limits: TableLimits): string[][] {
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
    // A quote that never closes with this separator; the rows before it still tell something.
  }
  return rows;
}

/** The separator that gives most rows the same number of columns, and of those that give the same the most columns. */
export function detectSeparator(head: Buffer, whole: boolean, limits: TableLimits): string {
  let best = { separator: ",", share: 0, columns: 1 };
  for (const separator of CANDIDATES) {
    const counts = new Map<number, number>();
    const rows = sampleRows(head, separator, whole, limits);
    for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
    const [columns, times] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [1, 0];
    const share = times / Math.max(1, rows.length);
    if (columns > 1 && (share > best.share || (share === best.share && columns > best.columns))) best = { separator, share, columns };
  }
  return best.separator;
}

const NAME = /^[\p{L}_][\p{L}\p{N}_ .:()/%#&+-]{0,80}$/u;

/** Whether the first row names the columns: its cells look like names, differ, and are of another kind than those below. */
export function detectHeader(rows: readonly string[][]): boolean {
  const [first, ...others] = rows;
  if (!first || others.length === 0) return false;
  if (new Set(first).size !== first.length || first.some((cell) => cell === "")) return false;
  const kinds = first.map((_, column) => kindOf(others.map((row) => row[column] ?? "")));
  const own = first.map((cell) => kindOf([cell]));
  if (kinds.some((kind, column) => kind !== "string" && own[column] === "string")) return true;
  if (kinds.some((kind) => kind !== "string")) return false;
  return first.every((cell, column) => NAME.test(cell) && !others.some((row) => row[column] === cell));
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
