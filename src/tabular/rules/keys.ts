/** Keys of a table: columns whose values differ from row to row, or are in another table. */
import { type TableLimits, TabularError } from "../limits.js";
import type { Row } from "../reader/row.js";
import { missingTexts, type TableProperty, type TableSchema } from "../schema/table-schema.js";
import type { ErrorKind, Report, RuleEnvironment } from "./check.js";
import { MissingCells } from "./compile.js";
import { fieldText, quoted } from "./notation.js";

/** One column of a key. */
interface KeyColumn {
  column: number;
  missing: MissingCells | undefined;
}

/** The columns of the properties that a key names. */
export function keyColumns(schema: TableSchema, fields: readonly string[]): KeyColumn[] {
  return fields.flatMap((name) => {
    const property = schema.properties.find((each) => each.name === name);
    return property?.index.kind === "column"
      ? [{ column: property.index.at, missing: missingOf(property, schema) }]
      : [];
  });
}

function missingOf(property: TableProperty, schema: TableSchema): MissingCells | undefined {
  const texts = missingTexts(property, schema);
  return texts.length > 0 ? new MissingCells(texts, property.type !== "string") : undefined;
}

/** The cells of a key as one text; `undefined` where one of them has no value. */
export function keyText(row: Row, columns: readonly KeyColumn[]): string | undefined {
  const isMissing = columns.some(
    ({ column, missing }) => column >= row.count || missing?.has(row, column) === true,
  );
  if (isMissing) return undefined;
  const only = columns.length === 1 ? columns[0] : undefined;
  if (only) return row.ownText(only.column);
  return JSON.stringify(columns.map(({ column }) => row.ownText(column)));
}

/** Checks the key of one row after another. */
export type KeyCheck = (row: Row, report: Report) => void;

/**
 * Remembers the values of a key, and the row of each.
 * @param absent the error that a missing value is; `undefined` where it may be missing
 */
function uniqueCheck(
  columns: readonly KeyColumn[],
  kind: ErrorKind,
  absent: ErrorKind | undefined,
  limits: TableLimits,
): KeyCheck {
  const rows = new Map<string, number>();
  const { column } = columns[0]!;
  return (row, report) => {
    const text = keyText(row, columns);
    const first = text === undefined ? undefined : rows.get(text);
    if (text === undefined) {
      if (absent) report.violation(absent, "", column);
    } else if (first !== undefined)
      report.violation(kind, `${quoted(text)} is in row ${first} too`, column, text);
    else if (rows.size >= limits.maxKeys) throw tooManyKeys(limits);
    else rows.set(text, row.number);
  };
}

export const tooManyKeys = ({ maxKeys, names }: TableLimits): TabularError =>
  new TabularError(
    "LIMIT",
    `a key has more than ${maxKeys} values: raise ${names.maxKeys} if there is memory for more`,
  );

/** @param known the values of the key of another table */
const referenceCheck =
  (columns: readonly KeyColumn[], kind: ErrorKind, known: ReadonlySet<string>): KeyCheck =>
  (row, report) => {
    const text = keyText(row, columns);
    if (text !== undefined && !known.has(text))
      report.violation(kind, quoted(text), columns[0]!.column, text);
  };

/**
 * The checks of a schema's keys.
 * @param references by foreign key, the values that it may have; keys without any are not checked
 */
export function compileKeys(
  schema: TableSchema,
  references: ReadonlyMap<object, ReadonlySet<string>>,
  kind: RuleEnvironment["kind"],
  limits: TableLimits,
): KeyCheck[] {
  const { primaryKey, uniqueKeys, foreignKeys } = schema;
  const property = ([first, ...more]: readonly string[]): string | null =>
    first === undefined || more.length > 0 ? null : first;
  return [
    ...uniqueKeys.map((fields) =>
      uniqueCheck(
        keyColumns(schema, fields),
        kind("unique", property(fields), "", "", "no value twice"),
        undefined,
        limits,
      ),
    ),
    ...(primaryKey.length === 0
      ? []
      : [
          uniqueCheck(
            keyColumns(schema, primaryKey),
            kind("primaryKey", property(primaryKey), "", "", "no value twice"),
            kind(
              "primaryKey",
              property(primaryKey),
              "a cell of the primary key has no value",
              "",
              "a value",
            ),
            limits,
          ),
        ]),
    ...foreignKeys.flatMap((key) => {
      const known = references.get(key);
      if (!known) return [];
      const { fields, reference } = key;
      const target = reference.resource === "" ? "the table" : reference.resource;
      const place = `in ${reference.fields.join(", ")} of ${target}`;
      return [
        referenceCheck(
          keyColumns(schema, fields),
          kind(
            "foreignKeys",
            property(fields),
            "",
            ` is not ${place}`,
            fieldText(`a value ${place}`),
          ),
          known,
        ),
      ];
    }),
  ];
}
