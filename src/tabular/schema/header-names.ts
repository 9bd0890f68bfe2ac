import type { TableSchema } from "./table-schema.js";

/** Columns whose names in the header are not those of the schema's properties. */
export interface HeaderDifferences {
  total: number;
  /** The first ones. */
  columns: { column: number; found: string; expected: string }[];
}

/** Differences that are listed. */
const LISTED = 10;

/**
 * Compares a header with the names of a schema. Properties of arrays stand for several columns and
 * are left out, and so are empty names; a number behind a name distinguishes columns of one name.
 */
export function headerDifferences(
  { properties }: TableSchema,
  header: readonly string[],
): HeaderDifferences {
  const differences: HeaderDifferences = { total: 0, columns: [] };
  for (const { name, index } of properties) {
    const found = index.kind === "column" ? header[index.at]?.trim() : undefined;
    if (found === undefined || found === "" || found === name.trim() || isNumbered(name, found))
      continue;
    differences.total++;
    if (differences.columns.length < LISTED)
      differences.columns.push({ column: (index as { at: number }).at, found, expected: name });
  }
  return differences;
}

const isNumbered = (name: string, found: string): boolean =>
  name.startsWith(`${found}_`) && /^\d+$/.test(name.slice(found.length + 1));
