import { TabularError } from "../limits.js";
import { type Dialect, TRIMS } from "../reader/dialect.js";
import { assertCsvw } from "./csvw-rules.js";
import { momentsOf, patternedMoments, XSD_FORMATS } from "../rules/moments.js";
import { parseNumberPattern } from "../rules/numerals.js";
import type { TableSchema, ValueKeywords } from "../schema/table-schema.js";
import {
  anchoredPattern,
  countOf,
  defined,
  type ExchangedColumn,
  fromColumns,
  type ImportedTable,
  isExpression,
  isJsonObject,
  type Json,
  missingIn,
  type Note,
  type TableKeys,
  numberOf,
  objectAt,
  noteOthers,
  textOf,
  soundForeignKeys,
  toColumns,
  wholePattern,
} from "./exchange.js";
import { ownValue } from "../../own.js";

/**
 * Marks the columns that are elements of one array: a common property, which CSVW lets metadata
 * carry.
 */
const CSVW = "http://www.w3.org/ns/csvw";
const ARRAY = "https://w3id.org/EVI#array";

/** Marks a column of numbers that are all finite: a common property too. */
const FINITE = "https://w3id.org/EVI#finite";

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
    "@context": CSVW,
    "@type": "Table",
    url,
    "dc:title": name,
    "dc:description": description,
    dialect: dialectObject(schema, note),
    tableSchema: defined({
      columns: described.map((column) => columnObject(column, note)),
      primaryKey: schema.primaryKey.length > 0 ? schema.primaryKey.map(variable) : undefined,
      foreignKeys: foreignKeysOf(schema),
    }),
  });
}

const foreignKeysOf = ({ foreignKeys }: TableSchema): object[] | undefined =>
  foreignKeys.length === 0
    ? undefined
    : foreignKeys.map(({ fields, reference: { resource, fields: there } }) => ({
        columnReference: fields.map(variable),
        reference: { resource, columnReference: there.map(variable) },
      }));

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

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

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
    skipRows: isCount(skipRows) ? skipRows : undefined,
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
  const { base, format } = formatObject(type, keywords);
  if (typeof keywords.format === "string" && base === "string")
    note(`format of property ${name} has no counterpart and is left out`);
  for (const keyword of ["multipleOf", "enum", "const", "unique"] as const)
    if (keywords[keyword] !== undefined && keywords[keyword] !== null)
      note(`${keyword} of property ${name} has no counterpart and is left out`);
  return defined({
    name: variable(name),
    titles: name,
    "dc:description": description || undefined,
    propertyUrl: valueURL ?? undefined,
    datatype: datatypeOf(type, base, format, keywords),
    required:
      optional !== true && type !== "any" && (type !== "string" || missing.length > 0)
        ? true
        : undefined,
    // An empty cell is text here unless the schema says that it is a missing value.
    null: type === "string" || missing.length > 0 ? missing : undefined,
    suppressOutput: type === "any" ? true : undefined,
    [ARRAY]: array,
    [FINITE]: type === "number" && !keywords.specialValues ? true : undefined,
  });
}

/** A date without a zone, which a date of CSVW may have. */
const RFC_DATE = "yyyy-MM-dd";

/** The formats of texts that are datatypes of CSVW. */
const DATATYPES: Readonly<Record<string, string>> = {
  date: "date",
  "date-time": "dateTimeStamp",
  ...Object.fromEntries([...XSD_FORMATS.keys()].map((name) => [name, name.slice("xsd:".length)])),
};

/** The datatype of a column, and how its cells are written. */
function formatObject(
  type: ExchangedColumn["type"],
  keywords: ExchangedColumn["keywords"],
): { base: string; format: unknown } {
  const { pattern, formatPattern, decimalChar, groupChar } = keywords;
  const { trueValues, falseValues } = keywords;
  const expression = pattern === undefined || pattern === null ? undefined : wholePattern(pattern);
  switch (type) {
    case "string": {
      const base =
        ownValue(DATATYPES, keywords.format ?? "") ?? (formatPattern ? "dateTime" : "string");
      const plain = keywords.format === "date" ? RFC_DATE : undefined;
      return { base, format: formatPattern ?? expression ?? plain };
    }
    case "number":
    case "integer": {
      const object = defined({
        pattern: formatPattern ?? undefined,
        decimalChar: decimalChar ?? undefined,
        groupChar: groupChar ?? undefined,
      });
      return {
        base: type,
        format: Object.keys(object).length > 0 ? object : undefined,
      };
    }
    case "boolean":
      return {
        base: type,
        format: trueValues && falseValues ? `${trueValues[0]}|${falseValues[0]}` : "true|false",
      };
    default:
      return { base: "string", format: undefined };
  }
}

/** The keywords of a property as the datatype of a column has them. */
function datatypeOf(
  type: ExchangedColumn["type"],
  base: string,
  format: unknown,
  keywords: ExchangedColumn["keywords"],
): object {
  const isText = type === "string";
  return defined({
    base,
    format,
    minLength: (isText ? keywords.minLength : undefined) ?? undefined,
    maxLength: (isText ? keywords.maxLength : undefined) ?? undefined,
    minimum: (isText ? keywords.formatMinimum : keywords.minimum) ?? undefined,
    maximum: (isText ? keywords.formatMaximum : keywords.maximum) ?? undefined,
    minExclusive:
      (isText ? keywords.formatExclusiveMinimum : keywords.exclusiveMinimum) ?? undefined,
    maxExclusive:
      (isText ? keywords.formatExclusiveMaximum : keywords.exclusiveMaximum) ?? undefined,
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
    ].map((base) => [base, "integer" as const]),
  ),
};
/** The least and the largest value of a datatype. */
const RANGES: Readonly<Record<string, readonly [number | bigint | undefined, (number | bigint)?]>> =
  {
    nonNegativeInteger: [0],
    positiveInteger: [1],
    nonPositiveInteger: [undefined, 0],
    negativeInteger: [undefined, -1],
    long: [-(2n ** 63n), 2n ** 63n - 1n],
    int: [-(2 ** 31), 2 ** 31 - 1],
    short: [-(2 ** 15), 2 ** 15 - 1],
    byte: [-128, 127],
    unsignedLong: [0, 2n ** 64n - 1n],
    unsignedInt: [0, 2 ** 32 - 1],
    unsignedShort: [0, 2 ** 16 - 1],
    unsignedByte: [0, 255],
  };

/** Texts of floating-point values that are no finite numbers. */
const SPECIAL = ["NaN", "INF", "-INF"];
const FLOATS: ReadonlySet<string> = new Set(["number", "double", "float"]);

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const CARRIED = {
  // Where the data are, and which vocabulary the file is written in, are no part of a schema.
  table: names("@context @id @type url dc:title dc:description tableSchema dialect"),
  group: names("@context @id @type dc:title dc:description tables dialect"),
  tableSchema: names("@id @type columns primaryKey foreignKeys"),
  column: names(
    "@id @type name titles dc:description propertyUrl datatype required null suppressOutput " +
      `virtual ${ARRAY} ${FINITE}`,
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
  skipRows: (value) => isCount(value),
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
  assertCsvw(document);
  const tables = document["tables"];
  const table = Array.isArray(tables) && isJsonObject(tables[0]) ? tables[0] : document;
  const tableSchema = objectAt(table, "tableSchema");
  if (tableSchema["columns"] === undefined && textOf(document["@context"]) !== CSVW)
    throw new TabularError("SCHEMA", "it is not CSVW metadata: it has no tableSchema with columns");
  const columns = columnsOf(tableSchema, note);
  const dialect = { ...dialectIn(document, note), ...dialectIn(table, note) };
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
  const keys = readKeys(tableSchema, columns, textOf(table["url"]) ?? "", note);
  const keyed = new Set([
    ...(keys.primaryKey ?? []),
    ...(keys.foreignKeys ?? []).flatMap(({ fields }) => fields),
  ]);
  return {
    id: textOf(table["@id"]),
    name: textOf(table["dc:title"]) ?? textOf(document["dc:title"]),
    description: textOf(table["dc:description"]) ?? textOf(document["dc:description"]),
    separator: textOf(dialect["delimiter"]),
    header: headerOf(dialect),
    dialect: readDialect(dialect),
    keys,
    names: propertyNames(columns),
    properties: fromColumns(
      columns
        .filter((column) => !isVirtual(column, note))
        .map((column, at) => readColumn(column, at, keyed, note)),
    ),
  };
}

/** The keys of a table; they name columns, and a schema its properties. */
function readKeys(
  tableSchema: Record<string, unknown>,
  columns: readonly Record<string, unknown>[],
  url: string,
  note: Note,
): TableKeys {
  const properties = propertyNames(columns);
  const named = (value: unknown, of: ReadonlyMap<string, string>): string[] =>
    [value].flat().flatMap((name) => (typeof name === "string" ? [of.get(name) ?? name] : []));
  const { primaryKey } = tableSchema;
  return defined({
    primaryKey: primaryKey === undefined ? undefined : named(primaryKey, properties),
    foreignKeys: soundForeignKeys(tableSchema["foreignKeys"], note)?.map((key) => {
      const reference = objectAt(key, "reference");
      const resource = textOf(reference["resource"]) ?? textOf(reference["schemaReference"]) ?? "";
      const isHere = resource === url;
      return {
        fields: named(key["columnReference"], properties),
        reference: {
          resource: isHere ? "" : resource,
          fields: named(reference["columnReference"], isHere ? properties : new Map()),
        },
      };
    }),
  }) as TableKeys;
}

/** By the name of a column, that of its property. */
const propertyNames = (columns: readonly Json[]): Map<string, string> =>
  new Map(
    columns.map((column, at) => [textOf(column["name"]) ?? nameOf(column, at), nameOf(column, at)]),
  );

/** The name of a property for a column. */
const nameOf = (column: Record<string, unknown>, at: number): string =>
  textOf(column["titles"]) ?? textOf(column["name"]) ?? `column_${at}`;

function headerOf({ header, headerRowCount }: Record<string, unknown>): boolean | undefined {
  if (typeof header === "boolean") return header;
  return typeof headerRowCount === "number" ? headerRowCount > 0 : undefined;
}

/** The descriptions of columns; others are ignored, as CSVW says. */
function columnsOf(
  { columns = [] }: Record<string, unknown>,
  note: Note,
): Record<string, unknown>[] {
  if (!Array.isArray(columns)) throw new TabularError("SCHEMA", "columns must be an array");
  return columns.filter((column, at): column is Record<string, unknown> => {
    if (isJsonObject(column)) return true;
    note(`column ${at} is not an object and is left out`);
    return false;
  });
}

function dialectIn(description: Record<string, unknown>, note: Note): Record<string, unknown> {
  const { dialect = {} } = description;
  if (isJsonObject(dialect)) return dialect;
  note("dialect is not an object and is left out");
  return {};
}

function isVirtual(column: Record<string, unknown>, note: Note): boolean {
  if (column["virtual"] !== true) return false;
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
    isCarried,
  }: {
    type: ExchangedColumn["type"];
    base: string;
    datatype: Record<string, unknown>;
    /** Its format is that of the property. */
    isCarried: boolean;
  },
  note: Note,
): void {
  const { titles } = column;
  const { format } = datatype;
  const titleCount = isJsonObject(titles)
    ? Object.values(titles).flat().length
    : listLength(titles);
  if (titleCount > 1) note(`${name}: its other titles are left out`);
  if (type === "string" && !TEXTS.has(base) && !XSD_FORMATS.has(`xsd:${base}`))
    note(`${name}: the datatype ${base} has no counterpart: its cells are text`);
  if (format !== undefined && !isCarried)
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

function readColumn(
  column: Record<string, unknown>,
  at: number,
  keyed: ReadonlySet<string>,
  note: Note,
): ExchangedColumn {
  const given = column["datatype"];
  const datatype = isJsonObject(given) ? given : { base: given };
  const base = textOf(datatype["base"]) ?? "string";
  const name = nameOf(column, at);
  // A column of no type is written so; one that is part of a key has a type.
  const isUntyped = column["suppressOutput"] === true && !keyed.has(name);
  const separator = textOf(column["separator"]);
  const type = isUntyped
    ? "any"
    : separator === undefined
      ? (ownValue(BASES, base) ?? "string")
      : "string";
  const written = formatKeywords(datatype["format"], base, type, column[FINITE] === true);
  noteLost(
    column,
    name,
    {
      type,
      base,
      datatype: isJsonObject(given) ? given : {},
      isCarried: isCarried(datatype["format"], written),
    },
    note,
  );
  const bounds = boundsOf(datatype, base, type);
  const keywords =
    separator === undefined ? { ...bounds, ...written } : listKeywords(bounds, separator);
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

/** Datatypes of texts without a form of their own. */
const TEXTS: ReadonlySet<string> = new Set(["string", "anyAtomicType", "any"]);

/** How cells are written, as the keywords of a property say it; other formats are ignored. */
function formatKeywords(
  format: unknown,
  base: string,
  type: ExchangedColumn["type"],
  isFinite: boolean,
): ValueKeywords {
  const pattern = isJsonObject(format) ? textOf(format["pattern"]) : textOf(format);
  switch (type) {
    case "number":
    case "integer": {
      const form = isJsonObject(format) ? format : {};
      const isKnown = pattern !== undefined && parseNumberPattern(pattern) !== undefined;
      return defined({
        formatPattern: isKnown ? pattern : undefined,
        decimalChar: textOf(form["decimalChar"]),
        groupChar: textOf(form["groupChar"]),
        specialValues: FLOATS.has(base) && !isFinite ? SPECIAL : undefined,
      }) as ValueKeywords;
    }
    case "boolean": {
      // What the reader here takes anyway.
      if (pattern === "true|false") return {};
      const [yes, no, ...more] = pattern?.split("|") ?? [];
      return yes && no && more.length === 0
        ? { trueValues: [yes], falseValues: [no] }
        : { trueValues: ["true", "1"], falseValues: ["false", "0"] };
    }
    case "string":
      return textKeywords(pattern, base);
    default:
      return {};
  }
}

function textKeywords(pattern: string | undefined, base: string): ValueKeywords {
  const name = `xsd:${base === "datetime" ? "dateTime" : base}`;
  const format = XSD_FORMATS.has(name) ? name : undefined;
  if (format !== undefined && momentsOf(format)) {
    if (format === "xsd:date" && pattern === RFC_DATE) return { format: "date" };
    const isKnown = pattern !== undefined && !/(?<!y)yy(?!y)/.test(pattern);
    return isKnown && patternedMoments(pattern) ? { format, formatPattern: pattern } : { format };
  }
  const expression = pattern === undefined ? undefined : anchoredPattern(pattern);
  return defined({
    format,
    pattern: expression !== undefined && isExpression(expression) ? expression : undefined,
  }) as ValueKeywords;
}

/** Whether a property says how cells are written as a column's datatype does. */
function isCarried(format: unknown, keywords: ValueKeywords): boolean {
  if (format === undefined || format === "true|false") return true;
  const { formatPattern, decimalChar, groupChar, trueValues, pattern } = keywords;
  const stated = isJsonObject(format) ? format["pattern"] : format;
  const isBoolean =
    trueValues !== undefined && [trueValues].flat()[0] === String(stated).split("|")[0];
  return (
    isBoolean ||
    (stated === undefined
      ? decimalChar !== undefined || groupChar !== undefined
      : formatPattern !== undefined || pattern !== undefined)
  );
}

/** The keywords of a cell that is a list: each element has the length that the datatype says. */
function listKeywords({ minLength, maxLength }: ValueKeywords, separator: string): ValueKeywords {
  const hasLength = minLength !== undefined || maxLength !== undefined;
  if (!hasLength || [...separator].length !== 1) return {};
  const mark = `\\u{${Number(separator.codePointAt(0)).toString(16)}}`;
  const element = `[^${mark}]{${minLength ?? 0},${maxLength ?? ""}}`;
  return { pattern: anchoredPattern(`(?:${element}(?:${mark}${element})*)?`) };
}

/** Characters of the text of binary data, from its bytes. */
const CHARACTERS: Readonly<Record<string, (bytes: number) => number>> = {
  hexBinary: (bytes) => bytes * 2,
  base64Binary: (bytes) => Math.ceil(bytes / 3) * 4,
};

/** The bounds of a datatype as the keywords of a property have them. */
function boundsOf(
  datatype: Record<string, unknown>,
  base: string,
  type: ExchangedColumn["type"],
): ValueKeywords {
  const lengthOf = (key: string): number | undefined => {
    const length = countOf(datatype[key]) ?? countOf(datatype["length"]);
    return length === undefined ? undefined : (ownValue(CHARACTERS, base)?.(length) ?? length);
  };
  const least = datatype["minimum"] ?? datatype["minInclusive"];
  const most = datatype["maximum"] ?? datatype["maxInclusive"];
  const [above, below] = [datatype["minExclusive"], datatype["maxExclusive"]];
  if (type === "string")
    return defined({
      minLength: lengthOf("minLength"),
      maxLength: lengthOf("maxLength"),
      formatMinimum: textOf(least),
      formatMaximum: textOf(most),
      formatExclusiveMinimum: textOf(above),
      formatExclusiveMaximum: textOf(below),
    }) as ValueKeywords;
  const [lowest, highest] = ownValue(RANGES, base) ?? [];
  return defined({
    minimum: numberOf(least) ?? lowest,
    maximum: numberOf(most) ?? highest,
    exclusiveMinimum: numberOf(above),
    exclusiveMaximum: numberOf(below),
  }) as ValueKeywords;
}
