import { ServiceError } from "../../../errors.js";

/** Line and column of a place in a text, both counted from 1; columns in UTF-16 units, as editors count them. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** `QUERY_SYNTAX` with the place, in the sentence and as members. */
export function syntaxError(what: string, place?: { line: number; column: number }): ServiceError {
  if (!place) return new ServiceError("QUERY_SYNTAX", `The query is malformed: ${what}.`);
  return new ServiceError("QUERY_SYNTAX", `The query is malformed at line ${place.line}, column ${place.column}: ${what}.`, { ...place });
}
