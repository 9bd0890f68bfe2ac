import { TabularError } from "../limits.js";
import { exactJsonText } from "../schema/exact-json.js";
import { type Dialect, PLAIN_DIALECT } from "../reader/dialect.js";
import type { TableSchema, ValueKeywords } from "../schema/table-schema.js";
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
    primaryKey: schema.primaryKey.length > 0 ? schema.primaryKey : undefined,
    uniqueKeys: uniqueKeysOf(schema),
    foreignKeys: schema.foreignKeys.length > 0 ? schema.foreignKeys : undefined,
  });
}

/** Keys of several fields; those of one are constraints of it. */
function uniqueKeysOf({ uniqueKeys }: TableSchema): string[][] | undefined {
  const keys = uniqueKeys.filter((fields) => fields.length > 1);
  return keys.length > 0 ? keys : undefined;
}

function readKeys(schema: Record<string, unknown>, note: Note): TableKeys {
  const { primaryKey, uniqueKeys } = schema;
  return defined({
    primaryKey: primaryKey === undefined ? undefined : [primaryKey].flat(),
    uniqueKeys,
    foreignKeys: soundForeignKeys(schema["foreignKeys"], note)?.map((key) => {
      const reference = objectAt(key, "reference");
      return {
        fields: [key["fields"]].flat(),
        reference: {
          resource: textOf(reference["resource"]) ?? "",
          fields: [reference["fields"]].flat(),
        },
      };
    }),
  }) as TableKeys;
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
  const isText = type === "string";
  const written = formOf(type, keywords);
  for (const keyword of ["multipleOf", "specialValues"] as const)
    if (keywords[keyword] !== undefined && keywords[keyword] !== null)
      note(`${keyword} of property ${name} has no counterpart and is left out`);
  const isUnwritten = isText
    ? (keywords.format ?? keywords.formatPattern ?? undefined) !== undefined &&
      written.type === "string" &&
      written.format === undefined
    : Boolean(keywords.formatPattern);
  if (isUnwritten) note(`the format of property ${name} has no counterpart and is left out`);
  const isSame = missing === undefined || exactJsonText(missing) === exactJsonText(ofSchema);
  const required = optional !== true && type !== "any" && (!isText || (missing?.length ?? 0) > 0);
  const constraints = constraintsOf(type, required, keywords);
  return defined({
    name,
    ...written,
    description: description || undefined,
    rdfType: valueURL ?? undefined,
    missingValues: isSame ? undefined : missing,
    constraints: Object.keys(constraints).length > 0 ? constraints : undefined,
    [ARRAY]: array,
  });
}

/** Formats of texts that are types of Table Schema; the first of each type is that of a default. */
const MOMENTS: readonly (readonly [format: string, type: string])[] = [
  ["xsd:date", "date"],
  ["xsd:time", "time"],
  ["xsd:dateTime", "datetime"],
  ["xsd:gYearMonth", "yearmonth"],
  ["xsd:duration", "duration"],
  ["date", "date"],
  ["time", "time"],
  ["date-time", "datetime"],
  ["xsd:dateTimeStamp", "datetime"],
];

/** What `true` and `false` are here, in any case of letters. */
const TRUE = ["true", "True", "TRUE"];
const FALSE = ["false", "False", "FALSE"];

/** The type of a field, and how its cells are written. */
function formOf(
  type: ExchangedColumn["type"],
  { format, formatPattern, decimalChar, groupChar, trueValues, falseValues }: ValueKeywords,
): { type: string; format?: string | undefined } & Record<string, unknown> {
  switch (type) {
    case "string": {
      const known = MOMENTS.find(([name]) => name === format)?.[1];
      if (typeof formatPattern === "string") {
        const strptime = toStrptime(formatPattern);
        if (strptime === undefined) return { type: "string" };
        const hasTime = /%[HMS]/.test(strptime);
        const moment = hasTime ? (/%[Ymd]/.test(strptime) ? "datetime" : "time") : "date";
        return { type: known ?? moment, format: strptime };
      }
      if (known !== undefined) return { type: known };
      return {
        type,
        format: typeof format === "string" && FORMATS.has(format) ? format : undefined,
      };
    }
    case "boolean":
      return { type, trueValues: trueValues ?? TRUE, falseValues: falseValues ?? FALSE };
    default:
      return { type, decimalChar: decimalChar ?? undefined, groupChar: groupChar ?? undefined };
  }
}

/** Directives of strptime, and the letters of Unicode TR35; strptime reads one digit for two. */
const DIRECTIVES: Readonly<Record<string, string>> = {
  "%Y": "yyyy",
  "%y": "yy",
  "%m": "M",
  "%d": "d",
  "%H": "H",
  "%M": "m",
  "%S": "s",
  "%f": "SSSSSS",
  "%z": "X",
  "%%": "%",
};

/** A form of dates and times as strptime writes it; `undefined` where it has no directive. */
function toStrptime(pattern: string): string | undefined {
  const letters = new Map(
    Object.entries(DIRECTIVES).flatMap(([directive, letter]) => [
      [letter, directive],
      ...(letter.length === 1 ? [[letter + letter, directive] as const] : []),
    ]),
  );
  const parts = [...pattern.matchAll(/'[^']*'|([A-Za-z])\1*|[^]/g)].map(([token]) =>
    token === "T"
      ? token
      : token.startsWith("'")
        ? token.slice(1, -1)
        : /^[A-Za-z%]/.test(token)
          ? letters.get(token)
          : token,
  );
  return parts.includes(undefined) ? undefined : parts.join("");
}

/** The other way; `undefined` for a directive that is not read here. */
function fromStrptime(format: string): string | undefined {
  const parts = (format.match(/%.|[A-Za-z]+|[^]/g) ?? []).map((token) =>
    token.startsWith("%")
      ? DIRECTIVES[token]
      : /^[A-Za-z]/.test(token) && token !== "T"
        ? `'${token}'`
        : token,
  );
  return parts.includes(undefined) ? undefined : parts.join("");
}

/** The keywords of a property as the constraints that its type may have. */
function constraintsOf(
  type: ExchangedColumn["type"],
  required: boolean,
  keywords: ExchangedColumn["keywords"],
): object {
  const { pattern, minLength, maxLength, enum: choices, const: only } = keywords;
  const isNumber = type === "number" || type === "integer";
  const bounds = isNumber
    ? {
        minimum: keywords.minimum,
        maximum: keywords.maximum,
        exclusiveMinimum: keywords.exclusiveMinimum,
        exclusiveMaximum: keywords.exclusiveMaximum,
      }
    : {
        minimum: keywords.formatMinimum,
        maximum: keywords.formatMaximum,
        exclusiveMinimum: keywords.formatExclusiveMinimum,
        exclusiveMaximum: keywords.formatExclusiveMaximum,
      };
  const ofText = {
    pattern: typeof pattern === "string" ? wholePattern(pattern) : undefined,
    minLength,
    maxLength,
  };
  const constraints = {
    required: required || undefined,
    unique: keywords.unique === true || undefined,
    ...(type === "string" ? ofText : {}),
    ...(isNumber || type === "string" ? bounds : {}),
    enum: choices ?? (only === undefined || only === null ? undefined : [only]),
  };
  return Object.fromEntries(
    Object.entries(constraints).filter(([, value]) => value !== undefined && value !== null),
  );
}

const TYPES: Record<string, ExchangedColumn["type"]> = {
  string: "string",
  number: "number",
  integer: "integer",
  boolean: "boolean",
  any: "any",
  year: "integer",
};

/** Members that count in a schema, or in a resource, and nowhere else. */
const MISPLACED: readonly (readonly [name: string, place: string])[] = [
  ...["missingValues", "fields", "primaryKey", "uniqueKeys", "foreignKeys"].map(
    (name) => [name, "the schema of a resource"] as const,
  ),
  ["schema", "a resource"],
  ["dialect", "a resource"],
];

/** Reports members at the top of a Data Package that say nothing about its tables there. */
export function noteMisplaced(document: Record<string, unknown>, note: Note): void {
  for (const [name, place] of MISPLACED)
    if (document[name] !== undefined)
      note(`${name} at the top of the package has no effect: it belongs in ${place}`);
}

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
  if (resource !== document) noteMisplaced(document, note);
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
    keys: readKeys(schema, note),
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
  schema: names(
    "$schema profile name title description dialect fields missingValues primaryKey uniqueKeys " +
      "foreignKeys",
  ),
  dialect: names(
    "$schema delimiter header quoteChar doubleQuote escapeChar commentChar commentRows headerRows " +
      "skipInitialSpace lineTerminator",
  ),
  field: names(
    `name title description type format rdfType constraints missingValues trueValues ` +
      `falseValues decimalChar groupChar ${ARRAY}`,
  ),
  constraints: names(
    "required unique pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum " +
      "enum",
  ),
};

/** Texts of cells without a value; Table Schema 2 lets an entry be an object with its label. */
function textsOf(missing: unknown): string[] | undefined {
  if (!Array.isArray(missing)) return undefined;
  return missing.flatMap((entry) => textOf(isJsonObject(entry) ? entry["value"] : entry) ?? []);
}

/** What of a field no property says. */
function noteLost(
  field: Record<string, unknown>,
  name: string,
  keywords: ValueKeywords,
  note: Note,
): void {
  const { format, type: given = "string" } = field;
  const constraints = objectAt(field, "constraints");
  if (typeof given === "string" && TYPES[given] === undefined && momentOf(given) === undefined)
    note(`${name}: the datatype ${given} has no counterpart: its cells are text`);
  const isCarried = keywords.formatPattern !== undefined || format === keywords.format;
  if (typeof format === "string" && format !== "default" && !isCarried)
    note(`${name}: format has no counterpart and is left out`);
  noteOthers(field, CARRIED.field, `${name}: `, note);
  noteOthers(constraints, CARRIED.constraints, `${name}: constraints.`, note);
}

/** The format of the texts of a type; `undefined` for a type that is no date and no time. */
const momentOf = (type: string): string | undefined =>
  MOMENTS.find(([, name]) => name === type)?.[0];

/** How the cells of a field are written. */
function formKeywords(
  field: Record<string, unknown>,
  type: ExchangedColumn["type"],
): ValueKeywords {
  const format = textOf(field["format"]);
  const text = (key: string): string | undefined => textOf(field[key]);
  switch (type) {
    case "string": {
      const moment = momentOf(textOf(field["type"]) ?? "string");
      if (moment === undefined)
        return format !== undefined && FORMATS.has(format) ? { format } : {};
      if (format === undefined || format === "default") return { format: moment };
      const pattern = fromStrptime(format);
      return format.includes("%") && pattern !== undefined
        ? { format: moment, formatPattern: pattern }
        : {};
    }
    case "boolean": {
      const trueValues = textsOf(field["trueValues"]) ?? [...TRUE, "1"];
      const falseValues = textsOf(field["falseValues"]) ?? [...FALSE, "0"];
      const isPlain = String(trueValues) === String(TRUE) && String(falseValues) === String(FALSE);
      return isPlain ? {} : { trueValues, falseValues };
    }
    default:
      return defined({
        decimalChar: text("decimalChar"),
        groupChar: text("groupChar"),
      }) as ValueKeywords;
  }
}

function column(
  field: unknown,
  at: number,
  missing: readonly string[],
  note: Note,
): ExchangedColumn {
  if (!isJsonObject(field)) throw new TabularError("SCHEMA", `field ${at} is not an object`);
  const constraints = objectAt(field, "constraints");
  const choices = constraints["enum"];
  const pattern = textOf(constraints["pattern"]);
  const name = textOf(field["name"]) ?? `column_${at}`;
  // Dates, durations and the like are text with a form of their own.
  const type = ownValue(TYPES, textOf(field["type"]) ?? "string") ?? "string";
  const form = formKeywords(field, type);
  noteLost(field, name, form, note);
  const bound = (key: string) => (type === "string" ? undefined : numberOf(constraints[key]));
  const moment = (key: string) =>
    typeof form.format !== "string" || FORMATS.has(form.format)
      ? undefined
      : textOf(constraints[key]);
  const keywords = defined({
    pattern: pattern === undefined ? undefined : anchoredPattern(pattern),
    minLength: countOf(constraints["minLength"]),
    maxLength: countOf(constraints["maxLength"]),
    minimum: bound("minimum"),
    maximum: bound("maximum"),
    exclusiveMinimum: bound("exclusiveMinimum"),
    exclusiveMaximum: bound("exclusiveMaximum"),
    formatMinimum: moment("minimum"),
    formatMaximum: moment("maximum"),
    formatExclusiveMinimum: moment("exclusiveMinimum"),
    formatExclusiveMaximum: moment("exclusiveMaximum"),
    enum: Array.isArray(choices) ? choices : undefined,
    unique: constraints["unique"] === true ? true : undefined,
    ...form,
  }) as ExchangedColumn["keywords"];
  return defined({
    name,
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
