/** Where a property's cells are: one column, or for an array the columns `from` up to `to`, which is not included. */
export type ColumnIndex = { kind: "column"; at: number } | { kind: "slice"; from: number; to: number | undefined };

const OPEN_END = /^(\d+)::$/;
const OPEN_START = /^::(\d+)$/;
const CLOSED = /^(\d+):(\d+)$/;

/** Above this an index cannot be meant: no table has so many columns. */
const LARGEST = 1_000_000_000;

/**
 * Reads the index of a property: a zero-based number, or for an array `i::`, `::i` or `i:j`.
 * A sentence about what is wrong with it comes back as text.
 */
export function parseColumnIndex(value: unknown, isArray: boolean): ColumnIndex | string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return `its index must be ${isArray ? "a slice" : "a number"}, not ${JSON.stringify(value) ?? "absent"}`;
  if (isArray) return parseSlice(text);
  if (/^\d+$/.test(text) && Number(text) <= LARGEST) return { kind: "column", at: Number(text) };
  if (text.includes(":")) return `its index ${text} is a slice, which only an array can have: give the number of one column`;
  return `its index ${text} is not a column: columns are counted from 0`;
}

function parseSlice(text: string): ColumnIndex | string {
  const sense = "write i:: (from column i to the end), ::i (up to column i, which is not included) or i:j";
  let match = OPEN_END.exec(text);
  if (match && Number(match[1]) <= LARGEST) return { kind: "slice", from: Number(match[1]), to: undefined };
  match = OPEN_START.exec(text) ?? CLOSED.exec(text);
  if (!match) return `its index ${text} is not a slice: ${sense}`;
  const from = match.length === 3 ? Number(match[1]) : 0;
  const to = Number(match.at(-1));
  if (to > LARGEST || from >= to) return `its slice ${text} holds no column: ${sense}`;
  return { kind: "slice", from, to };
}
