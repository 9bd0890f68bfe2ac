/** JSON Lines: an object or a list on each line. */
import { type TableLimits, TabularError } from "../limits.js";
import { Row, rowTooLong, setCells, type TableFinding } from "../reader/row.js";
import { INCOMPLETE, nextLine } from "../reader/text-feed.js";
import { parseExactJson } from "../schema/exact-json.js";
import type { TableSchema } from "../schema/table-schema.js";
import type { CellTable } from "./cell-table.js";
import { cellText } from "./cell-text.js";

/** Whether text is JSON Lines: its first line is an object. */
export function isJsonLines(head: Uint8Array, isWhole: boolean): boolean {
  const text = Buffer.from(head)
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (!text.startsWith("{")) return false;
  const [line = "", ...more] = text.split("\n");
  if (more.length === 0 && !isWhole) return /^\{\s*"(?:[^"\\]|\\.)*"\s*:/.test(text);
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

interface Line {
  number: number;
  text: string;
}

/** The lines of a text that hold something. @throws TabularError `DATA`, `LIMIT` */
async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  limits: TableLimits,
): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  // A line that is not whole is looked through again only when twice as much has come.
  let enough = 0;
  const take = (isLast: boolean): Line[] => {
    const lines: Line[] = [];
    let from = 0;
    for (let next; from < rest.length; from = next) {
      next = nextLine(rest, from, rest.length, isLast);
      if (next === INCOMPLETE) break;
      number++;
      let text: string;
      try {
        text = decoder.decode(rest.subarray(from, next)).trim();
      } catch (cause) {
        throw new TabularError("DATA", `line ${number}: it is not UTF-8`, { cause });
      }
      if (text !== "") lines.push({ number, text });
    }
    rest = rest.subarray(from);
    if (rest.length > limits.maxRow) {
      const row = new Row();
      row.number = number;
      throw rowTooLong(row, false, limits);
    }
    enough = from === 0 ? rest.length * 2 : 0;
    return lines;
  };
  for await (const part of bytes) {
    rest = Buffer.concat([rest, part]);
    if (rest.length >= Math.min(enough, limits.maxRow + 1)) yield take(false);
  }
  yield take(true);
}

/** @throws TabularError `DATA` */
function parsed({ number, text }: Line): Readonly<Record<string, unknown>> | readonly unknown[] {
  let value: unknown;
  try {
    // Only numerals of so many digits can lose some.
    value = /\d{16}/.test(text) ? parseExactJson(text) : JSON.parse(text);
  } catch (cause) {
    throw new TabularError("DATA", `line ${number}: it is not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
  if (typeof value !== "object" || value === null)
    throw new TabularError("DATA", `line ${number}: it is neither an object nor a list`);
  return value as Record<string, unknown>;
}

/**
 * A table whose rows are objects, or lists. The members of an object are found by the names of the
 * schema's properties, in any order; one that is absent or null is an empty cell.
 */
export function jsonLinesTable(read: () => AsyncIterable<Uint8Array>): CellTable {
  const seen = new Map<string, number>();
  let isWhole = false;
  return {
    format: "JSON Lines",
    mayHaveHeader: false,
    names: () => [...seen.keys()],
    findings: (schema) => (isWhole ? unseen(schema, seen) : []),
    feed: (limits, { schema }) =>
      async function* (row, each, guard) {
        for await (const lines of linesOf(read(), limits)) {
          guard(() => {
            for (const line of lines) {
              const value = parsed(line);
              row.line = line.number;
              const cells = Array.isArray(value)
                ? value.map(cellText)
                : schema
                  ? cellsFor(schema, value as Record<string, unknown>, line, seen)
                  : cellsOf(value as Record<string, unknown>, line, seen);
              setCells(row, cells, true, limits);
              each();
            }
          });
          yield;
        }
        isWhole = true;
      },
  };
}

/** The members of an object, each in the column of the first object that has it. */
function cellsOf(
  value: Record<string, unknown>,
  { number }: Line,
  seen: Map<string, number>,
): string[] {
  for (const name of Object.keys(value)) if (!seen.has(name)) seen.set(name, seen.size);
  const cells = Array.from({ length: seen.size }, () => "");
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === "object" && member !== null)
      throw new TabularError(
        "DATA",
        `line ${number}: ${name} holds a list or an object: describe the table with schema ` +
          "create-tabular and schema add-property",
      );
    cells[seen.get(name)!] = cellText(member);
  }
  return cells;
}

/** The members of an object, each where the schema has the property of its name. */
function cellsFor(
  { properties }: TableSchema,
  value: Record<string, unknown>,
  { number }: Line,
  seen: Map<string, number>,
): string[] {
  const cells: string[] = [];
  for (const { name, index } of properties) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (member !== undefined) seen.set(name, 0);
    if (index.kind === "column") {
      cells[index.at] = Array.isArray(member) ? JSON.stringify(member) : cellText(member);
      continue;
    }
    const elements = member === undefined || member === null ? [] : [member].flat();
    const most = (index.to ?? Infinity) - index.from;
    if (elements.length > most)
      throw new TabularError(
        "DATA",
        `line ${number}: ${name} has ${elements.length} elements, and ${most} columns in the schema`,
      );
    for (const [at, element] of elements.entries()) cells[index.from + at] = cellText(element);
  }
  return Array.from(cells, (cell) => cell ?? "");
}

/** Properties that no row has: their names are misspelt, here or there. */
function unseen({ properties }: TableSchema, seen: ReadonlyMap<string, number>): TableFinding[] {
  const names = properties.map(({ name }) => name).filter((name) => !seen.has(name));
  return names.length === 0
    ? []
    : [
        {
          code: "HEADER_DIFFERS",
          message: `no row has a member ${names.slice(0, 10).join(", ")}, which the schema describes`,
        },
      ];
}
