/** The schema of a table: its keywords, how it is read, and its inspection for mistakes. */
import { TabularError } from "../limits.js";
import {
  type Dialect,
  dialectProblem,
  PLAIN_DIALECT,
  separatedBy,
  type Trim,
  TRIMS,
} from "../reader/dialect.js";
import { patternedMoments } from "../rules/moments.js";
import { parseNumberPattern } from "../rules/numerals.js";
import { exactJsonText, parseExactJson } from "./exact-json.js";

type Kind =
  | "number"
  | "positive"
  | "count"
  | "text"
  | "texts"
  | "character"
  | "boolean"
  | "list"
  | "pattern"
  | "any";

/** The JSON Schema keywords that validate cells: the value of each, and the types it applies to. */
const KEYWORDS: Readonly<Record<string, { kind: Kind; types: readonly string[] }>> = {
  pattern: { kind: "pattern", types: ["string"] },
  minLength: { kind: "count", types: ["string"] },
  maxLength: { kind: "count", types: ["string"] },
  format: { kind: "text", types: ["string"] },
  formatPattern: { kind: "text", types: ["string", "number", "integer"] },
  formatMinimum: { kind: "text", types: ["string"] },
  formatMaximum: { kind: "text", types: ["string"] },
  formatExclusiveMinimum: { kind: "text", types: ["string"] },
  formatExclusiveMaximum: { kind: "text", types: ["string"] },
  decimalChar: { kind: "character", types: ["number", "integer"] },
  groupChar: { kind: "character", types: ["number", "integer"] },
  specialValues: { kind: "texts", types: ["number"] },
  trueValues: { kind: "texts", types: ["boolean"] },
  falseValues: { kind: "texts", types: ["boolean"] },
  minimum: { kind: "number", types: ["number", "integer"] },
  maximum: { kind: "number", types: ["number", "integer"] },
  exclusiveMinimum: { kind: "number", types: ["number", "integer"] },
  exclusiveMaximum: { kind: "number", types: ["number", "integer"] },
  multipleOf: { kind: "positive", types: ["number", "integer"] },
  minItems: { kind: "count", types: ["array"] },
  maxItems: { kind: "count", types: ["array"] },
  unique: { kind: "boolean", types: ["string", "number", "integer", "boolean"] },
  uniqueItems: { kind: "boolean", types: ["array"] },
  enum: { kind: "list", types: ["string", "number", "integer", "array", "boolean"] },
  const: { kind: "any", types: ["string", "number", "integer", "array", "boolean"] },
};

const EXPECTED: Record<Kind, string> = {
  number: "a number",
  positive: "a number above 0",
  count: "a whole number from 0",
  text: "text",
  texts: "an array of texts",
  character: "one character",
  boolean: "true or false",
  list: "an array of values",
  pattern: "a regular expression",
  any: "a value",
};

/** A number of JSON; whole ones that no double is are bigints. */
const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value));

const fits: Record<Kind, (value: unknown) => boolean> = {
  number: (value) => isNumeric(value),
  positive: (value) => isNumeric(value) && value > 0,
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  text: (value) => typeof value === "string",
  texts: (value) => Array.isArray(value) && value.every((text) => typeof text === "string"),
  character: (value) => typeof value === "string" && [...value].length === 1,
  boolean: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value) && value.length > 0,
  pattern: (value) => typeof value === "string",
  any: () => true,
};

const BOUNDS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
] as const;

/** The faults of the keywords of a property or of an array's items; null equals absence. */
function keywordProblem(object: Record<string, unknown>, type: string): string | undefined {
  for (const [keyword, { kind, types }] of Object.entries(KEYWORDS)) {
    const value = object[keyword];
    // A keyword of another type validates nothing (JSON Schema, section 6); `schema check` points
    // at it.
    if (value === undefined || value === null || !types.includes(type)) continue;
    if (!fits[kind](value))
      return `its ${keyword} must be ${EXPECTED[kind]}, not ${exactJsonText(value)}`;
    const bad =
      kind === "pattern"
        ? patternProblem(value as string)
        : keyword === "formatPattern"
          ? formatProblem(value as string, type)
          : undefined;
    if (bad !== undefined) return bad;
  }
  for (const [low, high] of BOUNDS) {
    const [least, most] = [object[low], object[high]];
    const applies = KEYWORDS[low]?.types.includes(type) === true;
    if (applies && isNumeric(least) && isNumeric(most) && least > most)
      return `its ${low} ${least} is above its ${high} ${most}`;
  }
  return undefined;
}

/**
 * Where a property's cells are: one column, or for an array the columns `from` up to `to`, which is
 * not included.
 */
type ColumnIndex =
  { kind: "column"; at: number } | { kind: "slice"; from: number; to: number | undefined };

const OPEN_END = /^(\d+)::$/;
const OPEN_START = /^::(\d+)$/;
const CLOSED = /^(\d+):(\d+)$/;

/** Above this an index cannot be meant: no table has so many columns. */
const LARGEST = 1_000_000_000;

/**
 * Reads the index of a property: a zero-based number, or for an array `i::`, `::i` or `i:j`.
 * Returns a sentence about the fault as text.
 */
export function parseColumnIndex(value: unknown, isArray: boolean): ColumnIndex | string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string")
    return (
      `its index must be ${isArray ? "a slice" : "a number"}, not ` +
      (value === undefined ? "absent" : exactJsonText(value))
    );
  if (isArray) return parseSlice(text);
  if (/^\d+$/.test(text) && Number(text) <= LARGEST) return { kind: "column", at: Number(text) };
  if (text.includes(":"))
    return (
      `its index ${text} is a slice, which only an array can have: give the number of one ` +
      "column"
    );
  return `its index ${text} is not a column: columns are counted from 0`;
}

function parseSlice(text: string): ColumnIndex | string {
  const sense =
    "write i:: (from column i to the end), ::i (up to column i, which is not included) or i:j";
  let match = OPEN_END.exec(text);
  if (match && Number(match[1]) <= LARGEST)
    return { kind: "slice", from: Number(match[1]), to: undefined };
  match = OPEN_START.exec(text) ?? CLOSED.exec(text);
  if (!match) return `its index ${text} is not a slice: ${sense}`;
  const from = match.length === 3 ? Number(match[1]) : 0;
  const to = Number(match.at(-1));
  if (to > LARGEST || from >= to) return `its slice ${text} holds no column: ${sense}`;
  return { kind: "slice", from, to };
}

/**
 * Compiles a pattern for V8: by code points where it can be, else as older patterns with idle
 * escapes need it.
 */
export function nativePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    // `\-` and `\_` outside a class are errors under `u`, and common in patterns written for other
    // languages.
    return new RegExp(pattern);
  }
}

/** Why a pattern is no regular expression. */
function patternProblem(pattern: string): string | undefined {
  try {
    nativePattern(pattern);
    return undefined;
  } catch (error) {
    const reason = (error as Error).message.replace(/^.*: /s, "");
    return `its pattern ${pattern} is not a regular expression: ${reason}`;
  }
}

/** Why a pattern is none of dates, times or numbers. */
function formatProblem(pattern: string, type: string): string | undefined {
  const read = type === "string" ? patternedMoments(pattern) : parseNumberPattern(pattern);
  if (read !== undefined) return undefined;
  return type === "string"
    ? `its formatPattern ${pattern} is not of dates or times: write e.g. dd.MM.yyyy HH:mm`
    : `its formatPattern ${pattern} is not of numbers: write e.g. #,##0.00`;
}

/** A property that is sound: its index read, its keywords of the right kind. */
export interface TableProperty {
  name: string;
  type: Datatype | "null";
  index: ColumnIndex;
  keywords: PropertyObject;
  /** True when its type allows null, for a cell without a value. */
  nullable: boolean;
  /** Texts of cells without a value; those of the schema where it states none itself. */
  missingValues: readonly string[] | undefined;
  /** Of an array's elements. */
  items: ItemsObject | undefined;
}

/** Texts of the cells of a property that have no value; an empty cell where null may be one. */
export const missingTexts = (
  { missingValues, nullable }: TableProperty,
  schema: Pick<TableSchema, "missingValues">,
): readonly string[] => missingValues ?? schema.missingValues ?? (nullable ? [""] : []);

/** A schema that is sound and can be compiled. */
export interface TableSchema {
  /** The document it was read from. */
  document: Record<string, unknown>;
  /** In the order of the document. */
  properties: TableProperty[];
  required: string[];
  /** Texts of cells without a value; `undefined` when the schema states none. */
  missingValues: readonly string[] | undefined;
  /**
   * How its tables are written. The separator is empty when the schema gives none: such a schema can
   * be shown but not applied to text.
   */
  dialect: Dialect;
  header: boolean;
  /** Properties whose values name a row; empty for none. */
  primaryKey: string[];
  /** Properties whose values together differ from row to row. */
  uniqueKeys: string[][];
  foreignKeys: ForeignKey[];
}

/** Properties whose values are those of a key of another table, as Table Schema writes it. */
export interface ForeignKey {
  fields: string[];
  /** The resource is empty for the table itself. */
  reference: { resource: string; fields: string[] };
}

const TYPES = new Set(["string", "number", "integer", "array", "boolean", "null"]);
const ITEM_TYPES = new Set(["string", "number", "integer", "boolean"]);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const refuse = (message: string): never => {
  throw new TabularError("SCHEMA", message);
};

/** Reads a schema from its text. @throws TabularError `SCHEMA` */
export function parseSchemaText(text: string): TableSchema {
  let document: unknown;
  try {
    document = parseExactJson(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new TabularError(
      "SCHEMA",
      `the schema is not JSON: ${(cause as Error).message.replaceAll(/\s+/g, " ")}`,
      { cause },
    );
  }
  return readSchema(document);
}

/** Reads a schema from its JSON document. @throws TabularError `SCHEMA`, naming the property */
export function readSchema(document: unknown): TableSchema {
  if (!isObject(document)) return refuse("the schema is not a JSON object");
  const { properties = {}, required, header } = document;
  if (!isObject(properties))
    return refuse("the schema's properties must be an object of property name and property");
  if (
    required !== undefined &&
    required !== null &&
    !(Array.isArray(required) && required.every((name) => typeof name === "string"))
  )
    return refuse("the schema's required must be an array of property names");
  if (header !== undefined && header !== null && typeof header !== "boolean")
    return refuse("the schema's header must be true or false");
  return {
    document,
    properties: Object.entries(properties).map(([name, property]) => readProperty(name, property)),
    required: (required as string[] | undefined) ?? [],
    missingValues: missingValuesOf(document, () =>
      refuse("the schema's missingValues must be an array of texts"),
    ),
    dialect: readDialect(document),
    ...readKeys(document, properties),
    header: header === true,
  };
}

/** In place of the keys of a schema whose properties are left out. */
export const NO_KEYS = { primaryKey: null, uniqueKeys: null, foreignKeys: null };

/** Names of properties: one, or several. */
const namesOf = (value: unknown): string[] | undefined => {
  const names = typeof value === "string" ? [value] : value;
  return Array.isArray(names) && names.every((name) => typeof name === "string")
    ? names
    : undefined;
};

function readKeys(
  { primaryKey, uniqueKeys, foreignKeys }: Record<string, unknown>,
  properties: Record<string, unknown>,
): Pick<TableSchema, "primaryKey" | "uniqueKeys" | "foreignKeys"> {
  const fieldsOf = (key: string, value: unknown): string[] => {
    const fields = namesOf(value);
    if (!fields) return refuse(`the schema's ${key} must be names of properties`);
    for (const name of fields) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!isObject(property))
        return refuse(`the schema's ${key} names ${name}, which is no property`);
      if (property["type"] === "array")
        return refuse(`the schema's ${key} names ${name}, which is an array: name single columns`);
    }
    return fields;
  };
  const list = (key: string, value: unknown): unknown[] => {
    if (isAbsent(value)) return [];
    return Array.isArray(value) ? value : refuse(`the schema's ${key} must be an array`);
  };
  return {
    primaryKey: isAbsent(primaryKey) ? [] : fieldsOf("primaryKey", primaryKey),
    uniqueKeys: [
      ...Object.entries(properties).flatMap(([name, property]) =>
        isObject(property) && property["unique"] === true ? [fieldsOf("unique", name)] : [],
      ),
      ...list("uniqueKeys", uniqueKeys).map((key) => fieldsOf("uniqueKeys", key)),
    ],
    foreignKeys: list("foreignKeys", foreignKeys).map((key) => {
      const reference = isObject(key) ? key["reference"] : undefined;
      const there = isObject(reference) ? namesOf(reference["fields"]) : undefined;
      const { resource = "" } = isObject(reference) ? reference : {};
      const fields = fieldsOf("foreignKeys", (key as Record<string, unknown> | null)?.["fields"]);
      if (!there || typeof resource !== "string" || there.length !== fields.length)
        return refuse("each of the schema's foreignKeys needs fields and a reference with as many");
      return { fields, reference: { resource, fields: there } };
    }),
  };
}

function missingValuesOf(
  { missingValues }: Record<string, unknown>,
  wrong: () => never,
): string[] | undefined {
  if (missingValues === undefined || missingValues === null) return undefined;
  return Array.isArray(missingValues) && missingValues.every((text) => typeof text === "string")
    ? missingValues
    : wrong();
}

/** A type as it is written: `["number", "null"]` is a number that may be missing. */
export function typeOf(written: unknown): { type: unknown; nullable: boolean } {
  if (!Array.isArray(written) || written.length !== 2 || !written.includes("null"))
    return { type: written, nullable: false };
  return { type: written.find((type) => type !== "null"), nullable: true };
}

/** Keys of a schema, and options of commands, that say how a table is written. */
interface DialectKeys {
  separator?: string | undefined;
  commentPrefix?: string | null | undefined;
  skipRows?: number | null | undefined;
  quoteChar?: string | null | undefined;
  escapeChar?: string | null | undefined;
  trim?: Trim | null | undefined;
}

/** What a schema says of how its tables are written. @throws TabularError `SCHEMA` */
export function statedDialect(document: DialectKeys & { seperator?: unknown }): Partial<Dialect> {
  const character = (
    key: "quoteChar" | "escapeChar" | "commentPrefix",
  ): string | null | undefined => {
    const value: unknown = document[key];
    if (value === undefined || typeof value === "string") return value === "" ? null : value;
    return value === null ? null : refuse(`the schema's ${key} must be text`);
  };
  const { skipRows, trim } = document;
  const separator = document.seperator ?? document.separator ?? undefined;
  if (separator !== undefined && typeof separator !== "string")
    return refuse("the schema's seperator must be text");
  if (!isAbsent(skipRows) && !fits.count(skipRows))
    return refuse(`the schema's skipRows must be ${EXPECTED.count}`);
  if (!isAbsent(trim) && !TRIMS.includes(trim))
    return refuse(`the schema's trim must be one of ${TRIMS.join(", ")}`);
  const stated = {
    separator: separator === undefined ? undefined : unescapeSeparator(separator),
    quote: character("quoteChar"),
    escape: character("escapeChar"),
    comment: character("commentPrefix"),
    skipRows: skipRows ?? undefined,
    trim: trim ?? undefined,
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

const isAbsent = (value: unknown): value is null | undefined =>
  value === undefined || value === null;

function readDialect(document: Record<string, unknown>): Dialect {
  const dialect = { ...separatedBy(""), ...statedDialect(document) };
  const problem = dialectProblem(dialect);
  return problem === undefined ? dialect : refuse(`the schema cannot be applied: ${problem}`);
}

/** The keys of a schema that say how a table is written, where that is not as RFC 4180 says. */
export function dialectKeys({
  quote,
  escape,
  comment,
  skipRows,
  trim,
}: Dialect): Omit<DialectKeys, "separator"> {
  return {
    ...(comment === null ? {} : { commentPrefix: comment }),
    ...(skipRows === 0 ? {} : { skipRows }),
    ...(quote === PLAIN_DIALECT.quote ? {} : { quoteChar: quote }),
    ...(escape === null ? {} : { escapeChar: escape }),
    ...(trim === "none" ? {} : { trim }),
  };
}

/** Reads one property. @throws TabularError `SCHEMA` */
export function readProperty(name: string, value: unknown): TableProperty {
  const wrong = (problem: string): never => refuse(`property ${name}: ${problem}`);
  if (!isObject(value)) return wrong("it must be an object");
  const { type, nullable } = typeOf(value["type"]);
  if (typeof type !== "string" || !TYPES.has(type) || (nullable && type === "array"))
    return wrong(
      "its type must be string, number, integer, array or boolean, or one of these but array " +
        'with "null", not ' +
        (value["type"] === undefined ? "absent" : exactJsonText(value["type"])),
    );
  const index = parseColumnIndex(value["index"], type === "array");
  if (typeof index === "string") return wrong(index);
  const problem = keywordProblem(value, type);
  if (problem !== undefined) return wrong(problem);
  return {
    name,
    type: type as TableProperty["type"],
    index,
    keywords: value as unknown as PropertyObject,
    nullable: nullable || (isObject(value["items"]) && typeOf(value["items"]["type"]).nullable),
    missingValues: missingValuesOf(value, () =>
      wrong("its missingValues must be an array of texts"),
    ),
    items: type === "array" ? readItems(value["items"], wrong) : undefined,
  };
}

function readItems(items: unknown, wrong: (problem: string) => never): ItemsObject {
  if (!isObject(items)) return wrong("an array needs items with the type of its elements");
  const { type } = typeOf(items["type"]);
  if (typeof type !== "string" || !ITEM_TYPES.has(type))
    return wrong(
      "the type of its items must be string, number, integer or boolean, not " +
        (items["type"] === undefined ? "absent" : exactJsonText(items["type"])),
    );
  const problem = keywordProblem(items, type);
  if (problem !== undefined) return wrong(`items: ${problem}`);
  return { ...items, type: type as ItemsObject["type"] };
}

/**
 * Datatypes of a column that a schema may be given; packaged schemas also know `null`: a column
 * that is not checked.
 */
const DATATYPES = ["string", "number", "integer", "array", "boolean"] as const;
export type Datatype = (typeof DATATYPES)[number];

/** JSON Schema keywords that validate a single value. A key that is null counts as absent. */
export interface ValueKeywords {
  pattern?: string | null;
  minLength?: number | null;
  maxLength?: number | null;
  format?: string | null;
  /** How dates, times or numbers are written, as Unicode TR35 says: `dd.MM.yyyy`, `#,##0.00`. */
  formatPattern?: string | null;
  formatMinimum?: string | null;
  formatMaximum?: string | null;
  formatExclusiveMinimum?: string | null;
  formatExclusiveMaximum?: string | null;
  decimalChar?: string | null;
  groupChar?: string | null;
  /** Texts of values that are no finite numbers. */
  specialValues?: string[] | null;
  /** No two rows have the same value. */
  unique?: boolean | null;
  trueValues?: string[] | null;
  falseValues?: string[] | null;
  minimum?: number | bigint | null;
  maximum?: number | bigint | null;
  exclusiveMinimum?: number | bigint | null;
  exclusiveMaximum?: number | bigint | null;
  multipleOf?: number | bigint | null;
  enum?: unknown[] | null;
  const?: unknown;
}

/** Datatype and constraints of the elements of an array. */
export interface ItemsObject extends ValueKeywords {
  type: Exclude<Datatype, "array">;
}

/** One entry of `properties`, as it is written. */
export interface PropertyObject extends ValueKeywords {
  description: string;
  index: number | string;
  valueURL: string | null;
  type: Datatype | "null" | [Datatype, "null"];
  missingValues?: string[] | null;
  minItems?: number | null;
  maxItems?: number | null;
  uniqueItems?: boolean | null;
  items?: (Omit<ItemsObject, "type"> & { type: Datatype | [Datatype, "null"] }) | null;
}

/**
 * The schema of a table, as it is written. `seperator` is spelt as the contract spells it; other
 * clients read `separator`.
 */
export interface SchemaDocument {
  "@context": Record<string, string>;
  "@id": string;
  "@type": string;
  name: string;
  description: string;
  properties: Record<string, PropertyObject>;
  type: "object";
  additionalProperties: boolean;
  required: string[];
  seperator: string;
  separator: string;
  header: boolean;
  examples: unknown[];
}

/** A new schema without properties, its keys in the contract's order. */
export function newSchemaDocument(given: {
  id: string;
  name: string;
  description: string;
  dialect: Dialect;
  header: boolean;
}): SchemaDocument & Omit<DialectKeys, "separator"> {
  return {
    "@context": { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
    "@id": given.id,
    "@type": "EVI:Schema",
    name: given.name,
    description: given.description,
    properties: {},
    type: "object",
    additionalProperties: true,
    required: [],
    seperator: given.dialect.separator,
    separator: given.dialect.separator,
    ...dialectKeys(given.dialect),
    header: given.header,
    examples: [],
  };
}

/** The document with one more property, named in `required` as well. */
export function withProperty<
  T extends { properties: Record<string, PropertyObject>; required?: string[] },
>(document: T, name: string, property: PropertyObject): T {
  // `fromEntries` because assigning `__proto__` would not make a key.
  const properties = Object.fromEntries([...Object.entries(document.properties), [name, property]]);
  return { ...document, properties, required: [...(document.required ?? []), name] };
}

/** A separator as typed or written: `\t` as two characters means a tab. */
export const unescapeSeparator = (text: string): string => text.replaceAll("\\t", "\t");

/**
 * A finding about a schema. An error prevents its use, or gives it a meaning that cannot be
 * intended.
 */
export interface SchemaRemark {
  /** Stable, for programs. */
  code: RemarkCode;
  level: "error" | "warning";
  message: string;
}

type RemarkCode =
  | "ARRAY_OVERLAPS"
  | "COLUMNS_OVERLAP"
  | "COLUMN_OUT_OF_RANGE"
  | "DESCRIPTION_EMPTY"
  | "FORMAT_UNKNOWN"
  | "KEY_DUPLICATE"
  | "KEYWORD_UNKNOWN"
  | "KEYWORD_WITHOUT_EFFECT"
  | "NO_COLUMN"
  | "NO_SEPARATOR"
  | "PATTERN_OF_PYTHON"
  | "PROPERTY_INVALID"
  | "REQUIRED_UNKNOWN"
  | "SEPARATORS_DIFFER";

/** Takes a remark of one level. */
type Remark = (code: RemarkCode, message: string) => void;

/** The ends of a text in Python's patterns, after an even number of backslashes; and here. */
const PYTHON = /(?<!\\)(?:\\\\)*(\\[ZA])/;
const HERE: Readonly<Record<string, string>> = { "\\Z": "$", "\\A": "^" };

const KNOWN_KEYS = new Set([
  "description",
  "index",
  "valueURL",
  "type",
  "items",
  "missingValues",
  ...Object.keys(KEYWORDS),
]);

/**
 * Checks a schema as a whole: is each property sound, do two describe the same column, is there a
 * keyword that validates nothing?
 * @param columns of the table it is for, where known
 * @param formats names of formats that are checked
 */
export function inspectSchema(
  document: unknown,
  columns: number | undefined,
  formats: ReadonlySet<string>,
): SchemaRemark[] {
  const remarks: SchemaRemark[] = [];
  const error: Remark = (code, message) => void remarks.push({ code, level: "error", message });
  const warn: Remark = (code, message) => void remarks.push({ code, level: "warning", message });
  const shell = document as Record<string, unknown>;
  const sound: TableProperty[] = [];
  const given = shell?.["properties"];
  // Each property by itself, so that one that is not sound does not hide the others.
  const properties =
    typeof given === "object" && given !== null && !Array.isArray(given)
      ? Object.entries(given)
      : undefined;
  const schema = attempt(
    () => readSchema(properties ? { ...shell, ...NO_KEYS, properties: {} } : document),
    error,
  );
  for (const [name, property] of properties ?? []) {
    const read = attempt(() => readProperty(name, property), error);
    if (!read) continue;
    sound.push(read);
    keywordRemarks(name, property as Record<string, unknown>, read, formats, warn);
  }
  if (schema) {
    shellRemarks(shell, schema, new Set((properties ?? []).map(([name]) => name)), error, warn);
    if (properties?.length === 0) warn("NO_COLUMN", "the schema describes no column");
  }
  if (schema && properties) attempt(() => readKeys(shell, given as Record<string, unknown>), error);
  overlaps(sound, error);
  if (columns !== undefined)
    for (const { name, index } of sound) checkLastColumn(name, index, columns, error);
  return remarks;
}

/** What a schema says beside its properties. */
function shellRemarks(
  shell: Record<string, unknown>,
  schema: TableSchema,
  names: ReadonlySet<string>,
  error: Remark,
  warn: Remark,
): void {
  const { seperator, separator } = shell;
  if (typeof seperator === "string" && typeof separator === "string" && seperator !== separator)
    error(
      "SEPARATORS_DIFFER",
      `its keys seperator (${JSON.stringify(seperator)}) and separator ` +
        `(${JSON.stringify(separator)}) differ: the first is used here, the second by other ` +
        "clients; give both the same value",
    );
  if (schema.dialect.separator === "")
    warn("NO_SEPARATOR", "the schema gives no separator: no separated text can be checked with it");
  for (const name of schema.required)
    if (!names.has(name))
      error(
        "REQUIRED_UNKNOWN",
        `required names ${name}, which is not a property: no row can conform`,
      );
}

function attempt<T>(work: () => T, error: Remark): T | undefined {
  try {
    return work();
  } catch (problem) {
    if (!(problem instanceof TabularError)) throw problem;
    error("PROPERTY_INVALID", problem.message);
    return undefined;
  }
}

function keywordRemarks(
  name: string,
  object: Record<string, unknown>,
  { type, items }: TableProperty,
  formats: ReadonlySet<string>,
  warn: Remark,
): void {
  const places: { place: string; keys: Record<string, unknown>; evaluated: string }[] = [
    { place: name, keys: object, evaluated: type },
  ];
  if (items) places.push({ place: `${name}: items`, keys: { ...items }, evaluated: items.type });
  for (const { place, keys, evaluated } of places) {
    for (const [key, value] of Object.entries(keys)) {
      const keyword = KEYWORDS[key];
      if (!KNOWN_KEYS.has(key))
        warn("KEYWORD_UNKNOWN", `property ${place}: ${key} is not a keyword: it has no effect`);
      else if (keyword && value !== null && !keyword.types.includes(evaluated))
        warn(
          "KEYWORD_WITHOUT_EFFECT",
          `property ${place}: ${key} has no effect in a column of type ${evaluated}`,
        );
    }
    if (evaluated === "string") patternRemark(place, keys["pattern"], warn);
    const format = keys["format"];
    if (typeof format === "string" && evaluated === "string" && !formats.has(format))
      warn(
        "FORMAT_UNKNOWN",
        `property ${place}: the format ${format} is not known: it has no effect`,
      );
    if (typeof keys["description"] === "string" && keys["description"].trim() === "")
      warn("DESCRIPTION_EMPTY", `property ${place}: its description is empty`);
  }
}

function patternRemark(place: string, pattern: unknown, warn: Remark): void {
  const [, foreign] = (typeof pattern === "string" && PYTHON.exec(pattern)) || [];
  if (foreign !== undefined)
    warn(
      "PATTERN_OF_PYTHON",
      `property ${place}: ${foreign} in its pattern is syntax of Python, and the letter ` +
        `${foreign.slice(1)} here: write ${HERE[foreign]}`,
    );
}

const end = (index: ColumnIndex): number =>
  index.kind === "column" ? index.at + 1 : (index.to ?? Infinity);
const start = (index: ColumnIndex): number => (index.kind === "column" ? index.at : index.from);

function overlaps(properties: readonly TableProperty[], error: Remark): void {
  const [first, ...others] = properties.toSorted((a, b) => start(a.index) - start(b.index));
  if (!first) return;
  let widest = first;
  for (const property of others) {
    if (start(property.index) < end(widest.index))
      error(
        widest.index.kind === "column" && property.index.kind === "column"
          ? "COLUMNS_OVERLAP"
          : "ARRAY_OVERLAPS",
        `properties ${widest.name} and ${property.name} both describe column ` +
          `${start(property.index)}`,
      );
    if (end(property.index) > end(widest.index)) widest = property;
  }
}

function checkLastColumn(name: string, index: ColumnIndex, columns: number, error: Remark): void {
  const last = index.kind === "slice" && index.to === undefined ? index.from : end(index) - 1;
  if (last >= columns)
    error(
      "COLUMN_OUT_OF_RANGE",
      `property ${name}: column ${last} is out of range: the first row of the data has ` +
        `${columns} columns, 0 to ${columns - 1}`,
    );
}
