import { TabularError } from "../limits.js";
import { type Dialect, TRIMS } from "../reader/dialect.js";
import type { TableSchema } from "../schema/table-schema.js";
import {
  anchoredPattern,
  countOf,
  defined,
  type ExchangedColumn,
  fromColumns,
  type ImportedTable,
  isJsonObject,
  missingIn,
  type Note,
  numberOf,
  objectAt,
  noteOthers,
  textOf,
  toColumns,
  wholePattern,
} from "./exchange.js";
import { ownValue } from "../../own.js";

/**
 * Marks the columns that are elements of one array: a common property, which CSVW lets metadata
 * carry.
 */
const ARRAY = "https://w3id.org/EVI#array";

/**
 * The schema as CSVW metadata of one table (https://www.w3.org/TR/tabular-metadata/).
 * @param url of the data
 */
export function toCsvw(
  schema: TableSchema,
  columns: number | undefined,
  url: string,
  note: (sentence: string) => void,
): object {
  const { name, description } = schema.document as { name?: string; description?: string };
  const described = toColumns(schema, columns, note);
  return defined({
    "@context": "http://www.w3.org/ns/csvw",
    "@type": "Table",
    url,
    "dc:title": name,
    "dc:description": description,
    dialect: dialectObject(schema, note),
    tableSchema: { columns: described.map((column) => columnObject(column, note)) },
  });
}

function dialectObject({ dialect, header }: TableSchema, note: Note): object {
  const { separator, quote, escape, comment, skipRows, trim } = dialect;
  if (escape !== null && escape !== BACKSLASH)
    note(`escapeChar ${JSON.stringify(escape)} has no counterpart and is left out`);
  return {
    delimiter: separator,
    header,
    encoding: "utf-8",
    quoteChar: quote,
    doubleQuote: escape !== BACKSLASH,
    ...(comment === null ? {} : { commentPrefix: comment }),
    ...(skipRows === 0 ? {} : { skipRows }),
    ...(trim === "none" ? {} : { trim: trim === "both" ? true : trim }),
  };
}

/** The escape character where `doubleQuote` is false. */
const BACKSLASH = "\\";

/** What a dialect says of how a table is written, but for its separator. */
function readDialect(dialect: Record<string, unknown>): Partial<Dialect> {
  const { quoteChar, doubleQuote, commentPrefix, skipRows, skipInitialSpace, trim } = dialect;
  const isText = (value: unknown): value is string | null =>
    value === null || typeof value === "string";
  const where =
    trim === undefined || trim === false || trim === "false"
      ? skipInitialSpace === true
        ? "start"
        : undefined
      : trim === true || trim === "true"
        ? "both"
        : trim;
  return defined({
    quote: isText(quoteChar) ? quoteChar : undefined,
    escape: doubleQuote === false ? BACKSLASH : undefined,
    comment: isText(commentPrefix) ? commentPrefix : undefined,
    skipRows: countOf(skipRows),
    trim: TRIMS.find((name) => name === where),
  }) as Partial<Dialect>;
}

/**
 * Names of columns are used in URI templates: characters that templates do not allow are
 * percent-encoded.
 */
const variable = (name: string): string =>
  encodeURIComponent(name)
    .replace(
      /[^A-Za-z0-9_%.]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    )
    .replace(/^_/, "%5F");

function columnObject(
  { name, type, description, valueURL, keywords, missing = [], optional, array }: ExchangedColumn,
  note: (sentence: string) => void,
): object {
  for (const keyword of ["multipleOf", "enum", "const", "format"] as const)
    if (keywords[keyword] !== undefined && keywords[keyword] !== null)
      note(`${keyword} of property ${name} has no counterpart and is left out`);
  return defined({
    name: variable(name),
    titles: name,
    "dc:description": description || undefined,
    propertyUrl: valueURL ?? undefined,
    datatype: datatypeOf(type, keywords),
    required:
      optional !== true && type !== "any" && (type !== "string" || missing.length > 0)
        ? true
        : undefined,
    // An empty cell is text here unless the schema says that it is a missing value.
    null: type === "string" || missing.length > 0 ? missing : undefined,
    suppressOutput: type === "any" ? true : undefined,
    [ARRAY]: array,
  });
}

/** The keywords of a property as the datatype of a column has them. */
function datatypeOf(type: ExchangedColumn["type"], keywords: ExchangedColumn["keywords"]): object {
  const { pattern, minLength, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum } =
    keywords;
  const isNumber = type === "number" || type === "integer";
  return defined({
    base: type === "any" ? "string" : type,
    ...(type === "string"
      ? {
          format: pattern === undefined || pattern === null ? undefined : wholePattern(pattern),
          minLength: minLength ?? undefined,
          maxLength: maxLength ?? undefined,
        }
      : {}),
    ...(isNumber
      ? {
          minimum: minimum ?? undefined,
          maximum: maximum ?? undefined,
          minExclusive: exclusiveMinimum ?? undefined,
          maxExclusive: exclusiveMaximum ?? undefined,
        }
      : {}),
    ...(type === "boolean" ? { format: "true|false" } : {}),
  });
}

const BASES: Record<string, ExchangedColumn["type"]> = {
  number: "number",
  decimal: "number",
  double: "number",
  float: "number",
  boolean: "boolean",
  ...Object.fromEntries(
    [
      "integer",
      "long",
      "int",
      "short",
      "byte",
      "nonNegativeInteger",
      "positiveInteger",
      "nonPositiveInteger",
      "negativeInteger",
      "unsignedLong",
      "unsignedInt",
      "unsignedShort",
      "unsignedByte",
      "gYear",
    ].map((base) => [base, "integer" as const]),
  ),
};
const LEAST: Record<string, number> = {
  nonNegativeInteger: 0,
  positiveInteger: 1,
  unsignedLong: 0,
  unsignedInt: 0,
  unsignedShort: 0,
  unsignedByte: 0,
};
const MAXIMUM_OF_TYPE: Record<string, number> = { nonPositiveInteger: 0, negativeInteger: -1 };

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const CARRIED = {
  // Where the data are, and which vocabulary the file is written in, are no part of a schema.
  table: names("@context @id @type url dc:title dc:description tableSchema dialect"),
  group: names("@context @id @type dc:title dc:description tables dialect"),
  tableSchema: names("@id @type columns"),
  column: names(
    "@id @type name titles dc:description propertyUrl datatype required null suppressOutput " +
      `virtual ${ARRAY}`,
  ),
  datatype: names(
    "@id @type base format length minLength maxLength minimum maximum minInclusive " +
      "maxInclusive minExclusive maxExclusive",
  ),
};
/** Members of a dialect that are read, or are as the reader here has them. */
const READER: Readonly<Record<string, (value: unknown) => boolean>> = {
  "@id": () => true,
  "@type": () => true,
  delimiter: (value) => typeof value === "string",
  header: (value) => typeof value === "boolean",
  encoding: (value) => typeof value === "string" && /^utf-?8$/i.test(value),
  quoteChar: (value) => value === null || typeof value === "string",
  doubleQuote: (value) => typeof value === "boolean",
  commentPrefix: (value) => value === null || typeof value === "string",
  headerRowCount: (value) => value === 0 || value === 1,
  lineTerminators: () => true,
  skipRows: (value) => countOf(value) !== undefined,
  skipColumns: (value) => value === 0,
  skipBlankRows: (value) => value === false,
  skipInitialSpace: (value) => typeof value === "boolean",
  trim: (value) => ["true", "false", "start", "end"].includes(String(value)),
};

/**
 * The CSVW metadata of a table, or of the first of a group.
 * @param note called with each member that has no counterpart here
 * @throws TabularError `SCHEMA`
 */
export function fromCsvw(document: unknown, note: Note): ImportedTable {
  if (!isJsonObject(document)) throw new TabularError("SCHEMA", "it is not a JSON object");
  const tables = document["tables"];
  const table = Array.isArray(tables) && isJsonObject(tables[0]) ? tables[0] : document;
  const tableSchema = objectAt(table, "tableSchema");
  const { columns } = tableSchema;
  if (!Array.isArray(columns))
    throw new TabularError("SCHEMA", "it is not CSVW metadata: it has no tableSchema with columns");
  const dialect = { ...objectAt(document, "dialect"), ...objectAt(table, "dialect") };
  if (table !== document) {
    const others = (tables as unknown[]).length - 1;
    if (others > 0)
      note(
        `${others} more ${others === 1 ? "table" : "tables"} of the group: a schema describes one`,
      );
    noteOthers(document, CARRIED.group, "", note);
  }
  noteOthers(table, CARRIED.table, "", note);
  noteOthers(tableSchema, CARRIED.tableSchema, "", note);
  for (const [name, value] of Object.entries(dialect)) {
    if (ownValue(READER, name)?.(value) !== true)
      note(`dialect.${name} has no counterpart and is left out`);
  }
  return {
    id: textOf(table["@id"]),
    name: textOf(table["dc:title"]) ?? textOf(document["dc:title"]),
    description: textOf(table["dc:description"]) ?? textOf(document["dc:description"]),
    separator: textOf(dialect["delimiter"]),
    header: headerOf(dialect),
    dialect: readDialect(dialect),
    properties: fromColumns(
      columns
        .filter((column) => !isVirtual(column, note))
        .map((column, at) => readColumn(column, at, note)),
    ),
  };
}

function headerOf({ header, headerRowCount }: Record<string, unknown>): boolean | undefined {
  if (typeof header === "boolean") return header;
  return typeof headerRowCount === "number" ? headerRowCount > 0 : undefined;
}

function isVirtual(column: unknown, note: Note): boolean {
  if (!isJsonObject(column) || column["virtual"] !== true) return false;
  note(
    `${textOf(column["titles"]) ?? textOf(column["name"]) ?? "a column"}: a virtual column ` +
      "has no cells and is left out",
  );
  return true;
}

/** The part of a column that no property describes. */
function noteLost(
  column: Record<string, unknown>,
  name: string,
  {
    type,
    base,
    datatype,
  }: { type: ExchangedColumn["type"]; base: string; datatype: Record<string, unknown> },
  note: Note,
): void {
  const { titles } = column;
  const { format } = datatype;
  const titleCount = isJsonObject(titles)
    ? Object.values(titles).flat().length
    : listLength(titles);
  if (titleCount > 1) note(`${name}: its other titles are left out`);
  if (type === "string" && base !== "string")
    note(`${name}: the datatype ${base} has no counterpart: its cells are text`);
  const isCarried =
    type === "string" ? base === "string" : type === "boolean" && format === "true|false";
  if (format !== undefined && !isCarried && type !== "any")
    note(`${name}: datatype.format has no counterpart and is left out`);
  noteOthers(datatype, CARRIED.datatype, `${name}: datatype.`, note);
  noteOthers(column, CARRIED.column, `${name}: `, note);
}

const listLength = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

/** Texts of cells without a value: the empty one where a column states none. */
function missingTexts(stated: unknown): string[] {
  if (stated === undefined) return [""];
  return (Array.isArray(stated) ? stated : [stated]).flatMap((text) => textOf(text) ?? []);
}

function readColumn(column: unknown, at: number, note: Note): ExchangedColumn {
  if (!isJsonObject(column)) throw new TabularError("SCHEMA", `column ${at} is not an object`);
  const given = column["datatype"];
  const datatype = isJsonObject(given) ? given : { base: given };
  const base = textOf(datatype["base"]) ?? "string";
  const type = column["suppressOutput"] === true ? "any" : (ownValue(BASES, base) ?? "string");
  const name = textOf(column["titles"]) ?? textOf(column["name"]) ?? `column_${at}`;
  noteLost(column, name, { type, base, datatype: isJsonObject(given) ? given : {} }, note);
  const keywords = keywordsOf(datatype, base, type);
  return defined({
    name,
    type,
    description: textOf(column["dc:description"]) ?? "",
    valueURL: textOf(column["propertyUrl"]) ?? null,
    keywords,
    ...missingIn(type, column["required"] === true, missingTexts(column["null"]), keywords),
    array: textOf(column[ARRAY]),
  }) as ExchangedColumn;
}

/** A datatype as the keywords of a property have it. */
function keywordsOf(
  datatype: Record<string, unknown>,
  base: string,
  type: ExchangedColumn["type"],
): object {
  const format = type === "string" ? textOf(datatype["format"]) : undefined;
  const length = countOf(datatype["length"]);
  return defined({
    // The format of a date or a duration is no regular expression.
    pattern: format !== undefined && base === "string" ? anchoredPattern(format) : undefined,
    minLength: countOf(datatype["minLength"]) ?? length,
    maxLength: countOf(datatype["maxLength"]) ?? length,
    minimum:
      numberOf(datatype["minimum"]) ?? numberOf(datatype["minInclusive"]) ?? ownValue(LEAST, base),
    maximum:
      numberOf(datatype["maximum"]) ??
      numberOf(datatype["maxInclusive"]) ??
      ownValue(MAXIMUM_OF_TYPE, base),
    exclusiveMinimum: numberOf(datatype["minExclusive"]),
    exclusiveMaximum: numberOf(datatype["maxExclusive"]),
  });
}
