import { TabularError } from "../limits.js";
import { exactJsonText } from "../schema/exact-json.js";
import { type Dialect, PLAIN_DIALECT } from "../reader/dialect.js";
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
 * Marks the fields that are elements of one array; Table Schema lets descriptors carry members of
 * others.
 */
const ARRAY = "evi:array";
const FORMATS = new Set(["email", "uri", "uuid"]);

/**
 * The schema as a Frictionless Table Schema (https://specs.frictionlessdata.io/table-schema/), with
 * its dialect.
 */
export function toFrictionless(
  schema: TableSchema,
  columns: number | undefined,
  note: (sentence: string) => void,
): object {
  const { name, description } = schema.document as { name?: string; description?: string };
  const missing = schema.missingValues ?? [];
  return defined({
    title: name,
    description,
    dialect: dialectObject(schema, note),
    fields: toColumns(schema, columns, note).map((column) => field(column, missing, note)),
    // An empty cell is text here unless the schema says that it is a missing value.
    missingValues: missing,
  });
}

function dialectObject({ dialect, header }: TableSchema, note: Note): object {
  const { separator, quote, escape, comment, skipRows, trim } = dialect;
  if (quote === null) note("cells without quotes have no counterpart and are left out");
  if (trim === "end" || trim === "both") note(`trim ${trim} has no counterpart and is left out`);
  return defined({
    delimiter: separator,
    header,
    quoteChar: quote === null || quote === PLAIN_DIALECT.quote ? undefined : quote,
    escapeChar: escape ?? undefined,
    doubleQuote: escape === null ? undefined : false,
    commentChar: comment ?? undefined,
    commentRows: skipRows === 0 ? undefined : Array.from({ length: skipRows }, (_, row) => row + 1),
    skipInitialSpace: trim === "start" || trim === "both" ? true : undefined,
  });
}

/** What a dialect says of how a table is written, but for its separator. */
function readDialect(dialect: Record<string, unknown>, note: Note): Partial<Dialect> {
  const { commentRows, headerRows, skipInitialSpace } = dialect;
  const rows = Array.isArray(commentRows) ? commentRows : [];
  if (!rows.every((row, at) => row === at + 1))
    note("dialect.commentRows other than the first have no counterpart and are left out");
  const [headerRow] = Array.isArray(headerRows) ? headerRows : [];
  return defined({
    quote: textOf(dialect["quoteChar"]),
    escape: textOf(dialect["escapeChar"]),
    comment: textOf(dialect["commentChar"]),
    skipRows:
      rows.length > 0 ? rows.length : typeof headerRow === "number" ? headerRow - 1 : undefined,
    trim: skipInitialSpace === true ? "start" : undefined,
  }) as Partial<Dialect>;
}

function field(
  { name, type, description, valueURL, keywords, missing, optional, array }: ExchangedColumn,
  ofSchema: readonly string[],
  note: (sentence: string) => void,
): object {
  const { format } = keywords;
  for (const keyword of ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const)
    if (keywords[keyword] !== undefined && keywords[keyword] !== null)
      note(`${keyword} of property ${name} has no counterpart and is left out`);
  const isText = type === "string";
  const isSame = missing === undefined || exactJsonText(missing) === exactJsonText(ofSchema);
  const required = optional !== true && type !== "any" && (!isText || (missing?.length ?? 0) > 0);
  const constraints = constraintsOf(type, required, keywords);
  return defined({
    name,
    type,
    description: description || undefined,
    rdfType: valueURL ?? undefined,
    format: isText && typeof format === "string" && FORMATS.has(format) ? format : undefined,
    ...(type === "boolean"
      ? { trueValues: ["true", "True", "TRUE"], falseValues: ["false", "False", "FALSE"] }
      : {}),
    missingValues: isSame ? undefined : missing,
    constraints: Object.keys(constraints).length > 0 ? constraints : undefined,
    [ARRAY]: array,
  });
}

/** The keywords of a property as the constraints that its type may have. */
function constraintsOf(
  type: ExchangedColumn["type"],
  required: boolean,
  keywords: ExchangedColumn["keywords"],
): object {
  const { pattern, minLength, maxLength, minimum, maximum, enum: choices, const: only } = keywords;
  const isText = type === "string";
  const isNumber = type === "number" || type === "integer";
  return defined({
    required: required || undefined,
    ...(isText
      ? {
          pattern: pattern === undefined || pattern === null ? undefined : wholePattern(pattern),
          minLength: minLength ?? undefined,
          maxLength: maxLength ?? undefined,
        }
      : {}),
    ...(isNumber ? { minimum: minimum ?? undefined, maximum: maximum ?? undefined } : {}),
    enum: choices ?? (only === undefined || only === null ? undefined : [only]),
  });
}

const TYPES: Record<string, ExchangedColumn["type"]> = {
  string: "string",
  number: "number",
  integer: "integer",
  boolean: "boolean",
  any: "any",
  year: "integer",
};

/**
 * What a Table Schema, a Data Resource or the first resource of a Data Package says.
 * @throws TabularError `SCHEMA`
 */
export function fromFrictionless(document: unknown, note: Note): ImportedTable {
  if (!isJsonObject(document)) throw new TabularError("SCHEMA", "it is not a JSON object");
  const resources = document["resources"];
  const resource = Array.isArray(resources) && isJsonObject(resources[0]) ? resources[0] : document;
  // The statistics of a resource state the number of its fields under the same name.
  const schema = Array.isArray(resource["fields"]) ? resource : objectAt(resource, "schema");
  const fields = schema["fields"];
  if (!Array.isArray(fields))
    throw new TabularError("SCHEMA", "it is not a Frictionless Table Schema: it has no fields");
  const { csv, ...stated } = objectAt(resource, "dialect");
  // Frictionless 5 nests what is about a format.
  const dialect = { ...(isJsonObject(csv) ? csv : {}), ...stated };
  const others = Array.isArray(resources) ? resources.length - 1 : 0;
  if (others > 0)
    note(
      `${others} more ${others === 1 ? "resource" : "resources"} of the package: a schema ` +
        "describes one",
    );
  if (schema !== resource) noteOthers(resource, CARRIED.resource, "", note);
  noteOthers(schema, CARRIED.schema, "", note);
  noteOthers(dialect, CARRIED.dialect, "dialect.", note);
  const missing = textsOf(schema["missingValues"]) ?? [""];
  return {
    id: undefined,
    name: textOf(resource["title"]) ?? textOf(resource["name"]),
    description: textOf(resource["description"]),
    separator: textOf(dialect["delimiter"]),
    header: typeof dialect["header"] === "boolean" ? dialect["header"] : undefined,
    dialect: readDialect(dialect, note),
    properties: fromColumns(fields.map((field, at) => column(field, at, missing, note))),
  };
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const CARRIED = {
  // Where the data are, how much they are, and what profile the file follows, are no part of a
  // schema.
  resource: names(
    "$schema profile name title description path schema dialect format mediatype type scheme " +
      "bytes hash fields rows stats",
  ),
  schema: names("$schema profile name title description dialect fields missingValues"),
  dialect: names(
    "$schema delimiter header quoteChar doubleQuote escapeChar commentChar commentRows headerRows " +
      "skipInitialSpace lineTerminator",
  ),
  field: names(
    `name title description type format rdfType constraints missingValues trueValues ` +
      `falseValues ${ARRAY}`,
  ),
  constraints: names("required pattern minLength maxLength minimum maximum enum"),
};

/** Texts of cells without a value; Table Schema 2 lets an entry be an object with its label. */
function textsOf(missing: unknown): string[] | undefined {
  if (!Array.isArray(missing)) return undefined;
  return missing.flatMap((entry) => textOf(isJsonObject(entry) ? entry["value"] : entry) ?? []);
}

/** What of a field no property says. */
function noteLost(field: Record<string, unknown>, name: string, note: Note): void {
  const { format, type: given = "string" } = field;
  const constraints = objectAt(field, "constraints");
  if (typeof given === "string" && TYPES[given] === undefined)
    note(`${name}: the datatype ${given} has no counterpart: its cells are text`);
  if (typeof format === "string" && format !== "default" && !FORMATS.has(format))
    note(`${name}: format has no counterpart and is left out`);
  noteOthers(field, CARRIED.field, `${name}: `, note);
  noteOthers(constraints, CARRIED.constraints, `${name}: constraints.`, note);
}

function column(
  field: unknown,
  at: number,
  missing: readonly string[],
  note: Note,
): ExchangedColumn {
  if (!isJsonObject(field)) throw new TabularError("SCHEMA", `field ${at} is not an object`);
  const constraints = objectAt(field, "constraints");
  const format = textOf(field["format"]);
  const choices = constraints["enum"];
  const pattern = textOf(constraints["pattern"]);
  const type = ownValue(TYPES, textOf(field["type"]) ?? "string") ?? "string";
  noteLost(field, textOf(field["name"]) ?? `column_${at}`, note);
  const keywords = defined({
    pattern: pattern === undefined ? undefined : anchoredPattern(pattern),
    minLength: countOf(constraints["minLength"]),
    maxLength: countOf(constraints["maxLength"]),
    minimum: numberOf(constraints["minimum"]),
    maximum: numberOf(constraints["maximum"]),
    enum: Array.isArray(choices) ? choices : undefined,
    format: format !== undefined && FORMATS.has(format) ? format : undefined,
  }) as ExchangedColumn["keywords"];
  return defined({
    name: textOf(field["name"]) ?? `column_${at}`,
    // Dates, durations and the like are text with a form of their own.
    type,
    description: textOf(field["description"]) ?? textOf(field["title"]) ?? "",
    valueURL: textOf(field["rdfType"]) ?? null,
    keywords,
    ...missingIn(
      type,
      constraints["required"] === true,
      textsOf(field["missingValues"]) ?? missing,
      keywords,
    ),
    array: textOf(field[ARRAY]),
  }) as ExchangedColumn;
}
