/** Errors of a table, by the cell that they are about. */
import { getOrInsert } from "../../../get-or-insert.js";
import { shortened } from "../../words.js";

interface ErrorOfCell {
  row: number;
  column: number | null;
  message: string;
}

/** The message of the table check without the number of the row, which counts from 0. */
export const sentenceOf = (message: string): string =>
  message.startsWith("ValueError: Failed to Parse Attribute")
    ? "This is not of the type that the schema states."
    : shortened(message, 200);

/** @param width columns that are shown; an error in another one is one of its row */
export function errorsAt(
  errors: readonly ErrorOfCell[],
  width: number,
): (row: number, column: number | "row") => string[] | undefined {
  const found = new Map<string, string[]>();
  for (const { row, column, message } of errors) {
    const place = `${row} ${column !== null && column < width ? column : "row"}`;
    getOrInsert(found, place, () => []).push(message);
  }
  return (row, column) => found.get(`${row} ${column}`);
}
