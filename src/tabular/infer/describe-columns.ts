import type { PropertyObject } from "../schema/document.js";
import type { ColumnGuess } from "./column-guess.js";
import type { Widths } from "./widths.js";

/** So many number columns at the end of the rows are one vector, not properties of their own. */
const VECTOR_COLUMNS = 16;

/** Properties for the columns of a table: one each, and one array for a vector at the end. */
export function describeColumns(header: readonly string[], guesses: readonly ColumnGuess[], widths: Widths): { properties: Record<string, PropertyObject>; notes: string[] } {
  const notes: string[] = [];
  const { least, most } = widths;
  const properties = new Map<string, PropertyObject>();
  const name = (column: number): string => uniqueName((header[column] ?? "").trim() || `column_${column}`, properties);
  const vector = vectorStart(header, guesses, least, most);
  // Without rows the header alone says which columns there are; what is in them nobody knows: text.
  const single = vector ?? (guesses.length === 0 ? header.length : least);
  for (let column = 0; column < single; column++) {
    const guess = guesses[column];
    const key = name(column);
    properties.set(key, { description: "", index: column, valueURL: null, type: guess?.datatype ?? "string" });
    if (guess && guess.empty > 0 && guess.filled !== "string") notes.push(`column ${column} (${key}) holds values of type ${guess.filled}, but ${guess.empty} of its cells are empty: it is described as string`);
  }
  if (vector !== undefined) {
    const isInteger = guesses.slice(vector).every(({ datatype }) => datatype === "integer");
    properties.set(uniqueName("values", properties), {
      description: "", index: `${vector}::`, valueURL: null, type: "array", minItems: least - vector, ...(least === most ? { maxItems: most - vector } : {}), items: { type: isInteger ? "integer" : "number" },
    });
  }
  const ragged = widths.remark(header.length);
  if (ragged !== undefined) notes.push(`${ragged}${least < most && vector === undefined ? `; columns from ${least} on are not described` : ""}`);
  return { properties: Object.fromEntries(properties), notes };
}

/** Where a vector begins that runs to the end of the rows. */
function vectorStart(header: readonly string[], guesses: readonly ColumnGuess[], least: number, most: number): number | undefined {
  let start = guesses.length;
  while (start > 0 && (guesses[start - 1]!.datatype === "integer" || guesses[start - 1]!.datatype === "number")) start--;
  if (start >= guesses.length || start > least) return undefined;
  const names = header.slice(start);
  if (names.length > 0 && !areNumbered(names)) return undefined;
  return least < most || guesses.length - start >= VECTOR_COLUMNS ? start : undefined;
}

/** `0, 1, 2` or `dim_1, dim_2`: one word with numbers that rise by one. */
function areNumbered(names: readonly string[]): boolean {
  const parts = names.map((name) => /^(.*?)(\d+)$/.exec(name.trim()));
  return parts.every((part, place) => part !== null && part[1] === parts[0]![1] && Number(part[2]) === Number(parts[0]![2]) + place);
}

function uniqueName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  return name;
}
