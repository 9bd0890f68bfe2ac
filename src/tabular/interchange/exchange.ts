import { TabularError } from "../limits.js";
import type { Dialect } from "../reader/dialect.js";
import { exactInteger } from "../schema/exact-json.js";
import {
  missingTexts,
  nativePattern,
  type PropertyObject,
  type TableSchema,
  type ValueKeywords,
} from "../schema/table-schema.js";

/** The keys of a table, as a schema states them. */
export type TableKeys = Partial<Pick<TableSchema, "primaryKey" | "uniqueKeys" | "foreignKeys">>;

/** Another format's description of a table, from which a schema is made. */
export interface ImportedTable {
  id: string | undefined;
  name: string | undefined;
  description: string | undefined;
  separator: string | undefined;
  header: boolean | undefined;
  /** What else it says of how the table is written. */
  dialect: Partial<Dialect>;
  /** Its keys, as a schema states them. */
  keys: TableKeys;
  /** Texts of cells without a value, in all columns that state none themselves. */
  missingValues?: readonly string[];
  /** By the name that foreign keys of other tables use, that of a property; where they differ. */
  names?: ReadonlyMap<string, string>;
  properties: Record<string, PropertyObject>;
}

export type Json = Record<string, unknown>;

/** Called with one sentence for each member that has no counterpart here. */
export type Note = (sentence: string) => void;

/**
 * Reports every member that is not known to be carried over.
 * @param place put before the name of the member, with the separator of the two
 */
export function noteOthers(
  object: Json,
  carried: ReadonlySet<string>,
  place: string,
  note: Note,
): void {
  for (const name of Object.keys(object))
    if (!carried.has(name)) note(`${place}${name} has no counterpart and is left out`);
}

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member that must be an object, if it is there. */
export function objectAt(parent: Json, key: string): Json {
  const value = parent[key];
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new TabularError("SCHEMA", `${key} must be an object`);
  return value;
}

/** Text, or the text of `{"@value":…}`, or the first of several. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return textOf(value[0]);
  if (!isJsonObject(value)) return undefined;
  return "@value" in value ? textOf(value["@value"]) : textOf(Object.values(value)[0]);
}

/** A number, or text that is one: bounds are written either way. */
export function numberOf(value: unknown): number | bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value))
    return exactInteger(value.trim().replace("+", ""));
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A whole number that a double holds, such as a length. */
export function countOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return typeof number === "number" ? number : undefined;
}

/** The object without members that are undefined. */
export const defined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;

/** One column of a table, the way other formats describe tables. */
export interface ExchangedColumn {
  name: string;
  /** `any` for a column that is not checked. */
  type: "string" | "number" | "integer" | "boolean" | "any";
  description: string;
  valueURL: string | null;
  keywords: ValueKeywords;
  /** Texts of cells without a value; none where every cell is a value. */
  missing?: readonly string[];
  /** True when a cell may have no value. */
  optional?: boolean;
  /** The array property it is an element of. */
  array?: string;
}

/**
 * The columns from the first to the last that the schema describes; undescribed columns between
 * them are of any type.
 * @param count columns of the table, which an array that runs to the end of the row needs
 * @param note called with each member that has no counterpart
 */
export function toColumns(
  schema: TableSchema,
  count: number | undefined,
  note: (sentence: string) => void,
): ExchangedColumn[] {
  const columns: ExchangedColumn[] = [];
  for (const property of schema.properties) {
    const { name, type, index, keywords, items, nullable } = property;
    const texts = missingTexts(property, schema);
    if (index.kind === "column") {
      put(
        columns,
        index.at,
        {
          name,
          type: type === "null" ? "any" : (type as "string"),
          description: keywords.description ?? "",
          valueURL: keywords.valueURL ?? null,
          keywords,
          missing: texts,
          optional: texts.length > 0 && (nullable || !schema.required.includes(name)),
        },
        name,
      );
      continue;
    }
    const end = index.to ?? count;
    if (end === undefined)
      throw new TabularError(
        "SCHEMA",
        `property ${name} runs to the end of the row, which has no counterpart: give the ` +
          "number of columns of the data with --columns",
      );
    for (const keyword of ["minItems", "maxItems", "uniqueItems", "enum", "const"] as const)
      if (keywords[keyword] !== undefined && keywords[keyword] !== null)
        note(`${keyword} of property ${name} has no counterpart and is left out`);
    for (let column = index.from; column < end; column++) {
      put(
        columns,
        column,
        {
          name: `${name}_${column - index.from}`,
          type: items!.type,
          description: keywords.description ?? "",
          valueURL: keywords.valueURL ?? null,
          keywords: items!,
          missing: nullable ? texts : [],
          optional: nullable,
          array: name,
        },
        name,
      );
    }
  }
  return Array.from(
    { length: Math.max(columns.length, count ?? 0) },
    (_, column) =>
      columns[column] ?? {
        name: `column_${column}`,
        type: "any",
        description: "",
        valueURL: null,
        keywords: {},
        optional: true,
      },
  );
}

function put(
  columns: ExchangedColumn[],
  at: number,
  column: ExchangedColumn,
  property: string,
): void {
  if (columns[at])
    throw new TabularError(
      "SCHEMA",
      `properties ${columns[at].array ?? columns[at].name} and ${property} both describe ` +
        `column ${at}: other formats describe each column once`,
    );
  columns[at] = column;
}

const COLUMN_KEYWORDS = [
  "pattern",
  "minLength",
  "maxLength",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "formatPattern",
  "formatMinimum",
  "formatMaximum",
  "formatExclusiveMinimum",
  "formatExclusiveMaximum",
  "decimalChar",
  "groupChar",
  "specialValues",
  "trueValues",
  "falseValues",
  "unique",
  "enum",
  "const",
] as const;

/**
 * Properties of a schema from the columns of another format; neighbours that are described as
 * elements of one array become one property.
 */
export function fromColumns(columns: readonly ExchangedColumn[]): Record<string, PropertyObject> {
  const properties = new Map<string, PropertyObject>();
  let end = 0;
  for (const [at, column] of columns.entries()) {
    const { name, type: datatype, description, valueURL, keywords, array } = column;
    // The columns of an array are one property.
    if (at < end || datatype === "any") continue;
    const { missing, optional } = column;
    const type: PropertyObject["type"] = optional === true ? [datatype, "null"] : datatype;
    const evaluated = Object.fromEntries(
      COLUMN_KEYWORDS.filter((keyword) => keywords[keyword] !== undefined).map((keyword) => [
        keyword,
        keywords[keyword],
      ]),
    ) as ValueKeywords;
    end = at + 1;
    while (array !== undefined && columns[end]?.array === array) end++;
    const key = array ?? name;
    if (properties.has(key))
      throw new TabularError("SCHEMA", `two columns are named ${key}: names are unique`);
    if (array === undefined)
      properties.set(key, {
        description,
        index: at,
        valueURL,
        type,
        ...stated(missing, optional === true),
        ...evaluated,
      });
    else
      properties.set(key, {
        description,
        index: `${at}:${end}`,
        valueURL,
        type: "array",
        ...stated(missing, optional === true),
        minItems: end - at,
        items: { type: optional === true ? [datatype, "null"] : datatype, ...evaluated },
      });
  }
  return Object.fromEntries(properties);
}

/** Missing values that a property must state: those of a type with null are empty cells anyway. */
const stated = (
  missing: readonly string[] | undefined,
  nullable: boolean,
): Pick<PropertyObject, "missingValues"> =>
  missing === undefined || missing.length === 0 || (nullable && isEmptyOnly(missing))
    ? {}
    : { missingValues: [...missing] };

const isEmptyOnly = (texts: readonly string[]): boolean => texts.every((text) => text === "");

/**
 * Which cells of a column may have no value, from what another format says of it.
 * @param texts that stand for a missing value there
 */
export function missingIn(
  type: ExchangedColumn["type"],
  required: boolean,
  texts: readonly string[],
  keywords: ValueKeywords,
): Pick<ExchangedColumn, "missing" | "optional"> {
  if (texts.length === 0 || type === "any") return {};
  // No number is written like a missing value, so a required one needs no list of them.
  if (required) return type === "string" ? { missing: texts } : {};
  // Text that no rule applies to conforms, missing or not.
  if (type === "string" && isEmptyOnly(texts) && Object.keys(keywords).length === 0) return {};
  return { missing: texts, optional: true };
}

/** A pattern that must match the whole value where ours is found anywhere in it. */
export function wholePattern(pattern: string): string {
  const [, anchored] = /^\^\(\?:(.*)\)\$$/s.exec(pattern) ?? [];
  // `^(?:a)|(?:b)$` only begins and ends like an anchored pattern.
  if (anchored !== undefined && isExpression(anchored)) return anchored;
  return /^\^[^|]*\$$/.test(pattern) ? pattern.slice(1, -1) : `.*(?:${pattern}).*`;
}

export function isExpression(pattern: string): boolean {
  try {
    nativePattern(pattern);
    return true;
  } catch {
    return false;
  }
}

/** Foreign keys that say which table they are about. */
export function soundForeignKeys(keys: unknown, note: Note): Json[] | undefined {
  if (!Array.isArray(keys)) return undefined;
  const sound = keys.filter(
    (key): key is Json => isJsonObject(key) && isJsonObject(key["reference"]),
  );
  if (sound.length < keys.length)
    note("foreignKeys without a reference have no counterpart and are left out");
  return sound.length > 0 ? sound : undefined;
}

/** Our pattern for one that must match the whole value. */
export const anchoredPattern = (pattern: string): string => `^(?:${pattern})$`;
