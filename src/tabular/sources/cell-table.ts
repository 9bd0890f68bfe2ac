/** Tables that are no separated text: each format is read through this interface. */
import type { TableLimits } from "../limits.js";
import type { RowFeed, TableFinding } from "../reader/row.js";
import type { PropertyObject, TableSchema } from "../schema/table-schema.js";
import { TabularError } from "../limits.js";

/** A column as the format states it. */
export interface TableColumn {
  readonly name: string;
  /** Datatype of its values as text; undefined for lists and structures. */
  readonly type: "boolean" | "integer" | "number" | "string" | undefined;
  /** It may hold null. */
  readonly isOptional: boolean;
}

export interface CellTable {
  /** As messages name it: Parquet, for example. */
  readonly format: string;
  /** Its first row may hold the names of the columns, as the schema says. */
  readonly mayHaveHeader: boolean;
  /** The columns, where the format states them. */
  columns?(): Promise<readonly TableColumn[]>;
  /** The names that rows gave their cells so far, where each row does so. */
  names?(): readonly string[];
  /**
   * The rows; can be read more than once, but for standard input.
   * @param given the schema that they are checked against, and rows above the table
   */
  feed(limits: TableLimits, given: { schema?: TableSchema; skipRows?: number }): RowFeed;
  /** What is wrong with the table as a whole; asked for once all rows were read. */
  findings?(schema: TableSchema): TableFinding[];
}

/** The names of columns that a schema can be compared with: a list moves the columns behind it. */
export const flatNames = (columns: readonly TableColumn[]): string[] =>
  columns.every(({ type }) => type !== undefined) ? columns.map(({ name }) => name) : [];

/**
 * A property for each column, of the type that the format states; a column that may hold null may
 * be empty.
 * @throws TabularError `DATA` for a column of lists or structures, which no single property describes
 */
export function propertiesOf(columns: readonly TableColumn[]): Record<string, PropertyObject> {
  return Object.fromEntries(
    columns.map(({ name, type, isOptional }, index) => {
      if (type === undefined)
        throw new TabularError(
          "DATA",
          `column ${index} (${name}) holds lists or structures, which count as several columns: ` +
            "describe the table with schema create-tabular and schema add-property",
        );
      const described = isOptional && type !== "string" ? [type, "null"] : type;
      return [name, { description: "", index, valueURL: null, type: described } as PropertyObject];
    }),
  );
}
