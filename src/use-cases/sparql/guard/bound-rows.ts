import type { Scanned } from "./scan.js";

/** The query with at most so many rows: one more than are shown tells that there are more. */
export function boundRows({ text, limit, values }: Scanned, rows: number): string {
  if (limit) return Number(text.slice(limit.from, limit.to)) <= rows ? text : `${text.slice(0, limit.from)}${rows}${text.slice(limit.to)}`;
  // On a line of its own: the last one may be a comment.
  return values === undefined ? `${text}\nLIMIT ${rows}` : `${text.slice(0, values)}\nLIMIT ${rows}\n${text.slice(values)}`;
}
