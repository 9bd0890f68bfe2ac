/**
 * The Open Data Contract Standard 3.1 (https://bitol-io.github.io/open-data-contract-standard/): a
 * table of a contract is a schema here. What the standard has no word for is a custom property.
 */
import { parse } from "yaml";
import { TabularError } from "../limits.js";
import { patternedMoments } from "../rules/moments.js";
import {
  dialectKeys,
  type PropertyObject,
  statedDialect,
  type TableProperty,
  type TableSchema,
  type ValueKeywords,
} from "../schema/table-schema.js";
import {
  countOf,
  defined,
  type ImportedTable,
  isJsonObject,
  type Json,
  missingIn,
  type Note,
  noteOthers,
  objectAt,
  type TableKeys,
  textOf,
} from "./exchange.js";

/** Reads a contract from YAML or JSON. @throws TabularError `SCHEMA` */
export function parseOdcs(text: string): unknown {
  try {
    return plain(parse(text, { intAsBigInt: true }));
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new TabularError("SCHEMA", `it is not YAML: ${reason}`, { cause });
  }
}

/** Whole numbers as numbers, where these hold all of their digits. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

export const isOdcs = (document: unknown): document is Json =>
  isJsonObject(document) && document["kind"] === "DataContract";

/** Types of the standard that are texts here, and the format that such texts have by default. */
const MOMENTS: Readonly<Record<string, string>> = {
  date: "xsd:date",
  timestamp: "xsd:dateTime",
  time: "xsd:time",
};

const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;
/** The same bounds of dates and times. */
const MOMENT_BOUNDS = {
  minimum: "formatMinimum",
  maximum: "formatMaximum",
  exclusiveMinimum: "formatExclusiveMinimum",
  exclusiveMaximum: "formatExclusiveMaximum",
} as const;

/** Options of a logical type that are keywords of the same name here. */
const OPTIONS: Readonly<Record<string, readonly (keyof PropertyObject)[]>> = {
  string: ["pattern", "minLength", "maxLength", "format"],
  number: [...BOUNDS, "multipleOf"],
  integer: [...BOUNDS, "multipleOf"],
  array: ["minItems", "maxItems", "uniqueItems"],
};

/** Keywords that only a custom property can carry. */
const CUSTOM = [
  "decimalChar",
  "groupChar",
  "specialValues",
  "trueValues",
  "falseValues",
  "const",
] as const;

const custom = (values: object): Json[] | undefined => {
  const entries = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return entries.length === 0
    ? undefined
    : entries.map(([property, value]) => ({ property, value: value as unknown }));
};

/**
 * The schema as a contract with one table.
 * @param file with the data
 */
export function toOdcs(schema: TableSchema, file: string, note: Note): object {
  const { "@id": id, name = "table", description } = schema.document as Record<string, string>;
  const { separator } = schema.dialect;
  const own = (fields: readonly string[], table: string): string | string[] => {
    const paths = fields.map((field) => `${table}.${field}`);
    if (paths.some((path) => path.split(".").length > 2))
      note(`the foreign key to ${paths.join(", ")} may be misread: a name holds a dot`);
    return paths.length === 1 ? paths[0]! : paths;
  };
  return defined({
    apiVersion: "v3.1.0",
    kind: "DataContract",
    id,
    name,
    version: "1.0.0",
    status: "active",
    schema: [
      defined({
        name,
        physicalName: file,
        physicalType: "file",
        description,
        properties: schema.properties.map((property, at) =>
          odcsProperty(property, at, schema, note),
        ),
        relationships:
          schema.foreignKeys.length === 0
            ? undefined
            : schema.foreignKeys.map(({ fields, reference }) => ({
                type: "foreignKey",
                from: own(fields, name),
                to: own(reference.fields, reference.resource || name),
              })),
        quality: duplicateRules(schema),
        customProperties: custom({
          separator: separator === "" ? undefined : separator,
          header: schema.header,
          ...dialectKeys(schema.dialect),
          missingValues: schema.missingValues,
        }),
      }),
    ],
  });
}

function duplicateRules({ uniqueKeys }: TableSchema): object[] | undefined {
  const keys = uniqueKeys.filter((fields) => fields.length > 1);
  return keys.length === 0
    ? undefined
    : keys.map((properties) => ({
        metric: "duplicateValues",
        arguments: { properties },
        mustBe: 0,
      }));
}

function odcsProperty(
  property: TableProperty,
  at: number,
  schema: TableSchema,
  note: Note,
): object {
  const { name, type, keywords, items, nullable, missingValues } = property;
  const key = schema.primaryKey.indexOf(name);
  const { index } = keywords;
  const required = schema.required.includes(name) && !nullable;
  return defined({
    name,
    ...odcsType(type, keywords, {
      index: String(index) === String(at) ? undefined : index,
      missingValues,
    }),
    description: keywords.description || undefined,
    required: required || undefined,
    unique: keywords.unique === true || undefined,
    primaryKey: key >= 0 || undefined,
    primaryKeyPosition: key >= 0 ? key + 1 : undefined,
    authoritativeDefinitions:
      keywords.valueURL === null || keywords.valueURL === undefined
        ? undefined
        : [{ url: keywords.valueURL, type: "businessDefinition" }],
    items: items && itemsOf(name, items, nullable, note),
  });
}

function itemsOf(
  name: string,
  items: ValueKeywords & { type: string },
  nullable: boolean,
  note: Note,
): object {
  if (nullable && items.type === "string")
    note(`that elements of ${name} may be missing has no counterpart and is left out`);
  return { ...odcsType(items.type, items, {}), required: nullable ? undefined : true };
}

/** The type of a property or of an array's elements, and what its values must be. */
function odcsType(type: string, keywords: ValueKeywords, customs: object): object {
  const { format, formatPattern } = keywords;
  const moment = type === "string" ? momentOf(format, formatPattern) : undefined;
  const options = moment
    ? {
        format: formatPattern ?? undefined,
        ...Object.fromEntries(
          BOUNDS.map((bound) => [bound, keywords[MOMENT_BOUNDS[bound]] ?? undefined]),
        ),
      }
    : Object.fromEntries(
        (OPTIONS[type] ?? []).map((option) => [
          option,
          (keywords as PropertyObject)[option] ?? undefined,
        ]),
      );
  // A pattern of dates has no format of ours unless that is stated too.
  const isDefault = moment !== undefined && formatPattern == null && format === MOMENTS[moment];
  const stated = Object.values(options).some((value) => value !== undefined);
  return defined({
    // A column that is not checked has no type.
    logicalType: type === "null" ? undefined : (moment ?? type),
    logicalTypeOptions: stated ? defined(options) : undefined,
    quality: Array.isArray(keywords.enum)
      ? [{ metric: "invalidValues", arguments: { validValues: keywords.enum }, mustBe: 0 }]
      : undefined,
    customProperties: custom({
      ...customs,
      ...(moment
        ? {
            format: isDefault ? undefined : format,
            ...Object.fromEntries(
              (["pattern", "minLength", "maxLength"] as const).map((key) => [key, keywords[key]]),
            ),
          }
        : { formatPattern }),
      ...Object.fromEntries(CUSTOM.map((key) => [key, keywords[key]])),
    }),
  });
}

/** The type that the standard has for texts of a form; `undefined` for other texts. */
function momentOf(
  format: string | null | undefined,
  pattern: string | null | undefined,
): string | undefined {
  const known = Object.entries(MOMENTS).find(([, name]) => name === format)?.[0];
  if (known !== undefined || typeof pattern !== "string") return known;
  const letters = pattern.replaceAll(/'[^']*'/g, "");
  if (!/[HhmsS]/.test(letters)) return "date";
  return /[yMd]/.test(letters) ? "timestamp" : "time";
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const CARRIED = {
  table: names(
    "id name physicalName physicalType logicalType description properties relationships quality " +
      "customProperties",
  ),
  property: names(
    "id name physicalName physicalType logicalType logicalTypeOptions description required unique " +
      "primaryKey primaryKeyPosition authoritativeDefinitions relationships quality items " +
      "customProperties",
  ),
};

/** A table of a contract. */
export interface OdcsTable {
  name: string;
  /** Its data, where the contract names a file. */
  file: string | undefined;
  table: ImportedTable;
}

/** The tables of a contract. @throws TabularError `SCHEMA` */
export function fromOdcs(document: unknown, note: Note): OdcsTable[] {
  if (!isOdcs(document))
    throw new TabularError("SCHEMA", "it is no data contract: its kind is not DataContract");
  const version = textOf(document["apiVersion"]) ?? "";
  if (!version.startsWith("v3."))
    throw new TabularError(
      "SCHEMA",
      `its apiVersion is ${version || "absent"}: contracts of version 3 are read`,
    );
  const tables = document["schema"];
  if (!Array.isArray(tables)) throw new TabularError("SCHEMA", "its schema has no tables");
  return tables.map((table, at) => {
    if (!isJsonObject(table)) throw new TabularError("SCHEMA", `table ${at} is not an object`);
    return odcsTable(document, table, tables.length === 1, note);
  });
}

function odcsTable(contract: Json, table: Json, isOnly: boolean, note: Note): OdcsTable {
  const name = textOf(table["name"]) ?? "table";
  const named: Note = (sentence) => note(isOnly ? sentence : `${name}: ${sentence}`);
  const customs = customsOf(table);
  noteOthers(table, CARRIED.table, "", named);
  const missing = textsOf(customs["missingValues"]);
  const { properties = [] } = table;
  if (!Array.isArray(properties) || !properties.every(isJsonObject))
    throw new TabularError("SCHEMA", `${name}: its properties must be a list of objects`);
  let column = 0;
  const described: Record<string, PropertyObject> = Object.fromEntries(
    properties.flatMap((property, at) => {
      const read = propertyOf(
        property,
        column,
        at === properties.length - 1,
        missing ?? [""],
        named,
      );
      column = read.next;
      return read.entry ? [read.entry] : [];
    }),
  );
  const physical = textOf(table["physicalName"]);
  return {
    name,
    file: physical !== undefined && /\.\w+$/.test(physical) ? physical : localFile(contract, name),
    table: {
      id: isOnly ? textOf(contract["id"]) : undefined,
      name,
      description: textOf(table["description"]) ?? textOf(contract["description"]),
      separator: textOf(customs["separator"]),
      header: typeof customs["header"] === "boolean" ? customs["header"] : undefined,
      dialect: statedDialect(customs),
      keys: keysOf(name, table, properties, new Set(Object.keys(described)), named),
      ...(missing ? { missingValues: missing } : {}),
      properties: described,
    },
  };
}

/** The file of a server on this machine; it may name the table where the file's name has {model}. */
function localFile({ servers }: Json, name: string): string | undefined {
  const local = Array.isArray(servers)
    ? servers.find((server) => isJsonObject(server) && server["type"] === "local")
    : undefined;
  return textOf((local as Json | undefined)?.["path"])?.replaceAll("{model}", name);
}

const customsOf = ({ customProperties }: Json): Json =>
  Object.fromEntries(
    (Array.isArray(customProperties) ? customProperties : [])
      .filter(isJsonObject)
      .map(({ property, value }) => [textOf(property) ?? "", value]),
  );

const textsOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((text) => typeof text === "string") ? value : undefined;

function propertyOf(
  property: Json,
  column: number,
  isLast: boolean,
  missing: readonly string[],
  note: Note,
): { entry?: [string, PropertyObject]; next: number } {
  const name = textOf(property["name"]) ?? `column_${column}`;
  // Any text conforms to a column without a type.
  const logical = textOf(property["logicalType"]) ?? "string";
  const customs = customsOf(property);
  noteOthers(property, CARRIED.property, `${name}: `, note);
  const stated = countOf(customs["index"]);
  const { index, next } =
    logical === "array"
      ? arrayIndex(property, customs, column, isLast)
      : { index: stated ?? column, next: (stated ?? column) + 1 };
  const elements = logical === "array" ? textOf(objectAt(property, "items")["logicalType"]) : "";
  if ([logical, elements].includes("object") || elements === "array" || index === undefined) {
    note(`${name}: a column of the type ${logical} has no counterpart and is left out`);
    return { next };
  }
  const base = {
    description: textOf(property["description"]) ?? "",
    index,
    valueURL: termOf(property, name, note),
  };
  const own = textsOf(customs["missingValues"]);
  const values =
    logical === "array"
      ? arrayOf(property, name, note)
      : cellsOf(property, name, { own, missing }, note);
  return { entry: [name, { ...base, ...values }], next };
}

function termOf(property: Json, name: string, note: Note): string | null {
  const [definition, ...more] = [property["authoritativeDefinitions"] ?? []].flat();
  if (more.length > 0) note(`${name}: authoritativeDefinitions but the first are left out`);
  return textOf(isJsonObject(definition) ? definition["url"] : undefined) ?? null;
}

/** What the cells of one column hold. */
function cellsOf(
  property: Json,
  name: string,
  texts: { own: string[] | undefined; missing: readonly string[] },
  note: Note,
): Omit<PropertyObject, "description" | "index" | "valueURL"> {
  const rules = rulesOf(property, name, note);
  const { type, keywords } = valuesOf(property, name, rules, note);
  const stated = texts.own ?? rules.missing;
  const { optional } = missingIn(type, rules.required, stated ?? texts.missing, keywords);
  return {
    type: optional === true ? [type, "null"] : type,
    ...(stated ? { missingValues: stated } : {}),
    ...keywords,
  };
}

/** The columns of an array: as stated, or of a number of elements, or to the end of the row. */
function arrayIndex(
  property: Json,
  customs: Json,
  column: number,
  isLast: boolean,
): { index: string | undefined; next: number } {
  const { minItems, maxItems } = objectAt(property, "logicalTypeOptions");
  const stated = textOf(customs["index"]);
  const end = /:(\d+)$/.exec(stated ?? "")?.[1];
  if (stated !== undefined)
    return { index: stated, next: end === undefined ? column : Number(end) };
  if (typeof minItems === "number" && minItems > 0 && minItems === maxItems)
    return { index: `${column}:${column + minItems}`, next: column + minItems };
  return { index: isLast ? `${column}::` : undefined, next: column + 1 };
}

function arrayOf(property: Json, name: string, note: Note): Pick<PropertyObject, "type" | "items"> {
  const { keywords } = valuesOf(property, name, rulesOf(property, name, note), note);
  const items = objectAt(property, "items");
  const elements = valuesOf(items, `${name}: items`, rulesOf(items, name, note), note);
  const isOptional = items["required"] !== true && elements.type !== "string";
  return {
    type: "array",
    ...keywords,
    items: { type: isOptional ? [elements.type, "null"] : elements.type, ...elements.keywords },
  };
}

type SingleType = "string" | "number" | "integer" | "boolean";

/** The type of values, and the keywords that they must meet. */
function valuesOf(
  property: Json,
  name: string,
  rules: Rules,
  note: Note,
): { type: SingleType; keywords: ValueKeywords } {
  const logical = textOf(property["logicalType"]) ?? "string";
  const options = objectAt(property, "logicalTypeOptions");
  const customs = customsOf(property);
  const moment = Object.hasOwn(MOMENTS, logical);
  const known = names((moment ? ["format", ...BOUNDS] : (OPTIONS[logical] ?? [])).join(" "));
  noteOthers(options, known, `${name}: logicalTypeOptions.`, note);
  const carried = Object.fromEntries(
    Object.entries(options).filter(([option]) => known.has(option)),
  );
  const keywords: ValueKeywords = moment
    ? {
        ...momentKeywords(logical, carried, name, note),
        ...pick(customs, ["pattern", "minLength", "maxLength", "format"]),
      }
    : { ...carried, ...pick(customs, ["formatPattern"]) };
  const type = moment || logical === "array" ? "string" : (logical as SingleType);
  return {
    type,
    keywords: {
      ...keywords,
      ...defined({ enum: rules.valid, unique: rules.unique || undefined }),
      ...(rules.pattern === undefined ? {} : { pattern: rules.pattern }),
      ...pick(customs, CUSTOM),
    } as ValueKeywords,
  };
}

const pick = (customs: Json, keys: readonly string[]): Json =>
  Object.fromEntries(
    keys.filter((key) => customs[key] !== undefined).map((key) => [key, customs[key]]),
  );

function momentKeywords(logical: string, options: Json, name: string, note: Note): ValueKeywords {
  const pattern = textOf(options["format"]);
  const isRead = pattern === undefined || patternedMoments(pattern) !== undefined;
  if (!isRead) note(`${name}: the format ${pattern} has no counterpart: its cells are text`);
  if (!isRead) return {};
  return defined({
    ...(pattern === undefined ? { format: MOMENTS[logical] } : { formatPattern: pattern }),
    ...Object.fromEntries(BOUNDS.map((bound) => [MOMENT_BOUNDS[bound], textOf(options[bound])])),
  }) as ValueKeywords;
}

/** What the rules of quality say of a property that a schema can say too. */
interface Rules {
  required: boolean;
  unique: boolean;
  valid?: unknown[];
  pattern?: string;
  missing?: string[];
}

function rulesOf(property: Json, name: string, note: Note): Rules {
  const rules: Rules = {
    required: property["required"] === true || property["primaryKey"] === true,
    unique: property["unique"] === true,
  };
  const { quality = [] } = property;
  for (const rule of (Array.isArray(quality) ? quality : []).filter(isJsonObject)) {
    const stated = objectAt(rule, "arguments");
    const metric = rule["mustBe"] === 0 ? textOf(rule["metric"]) : undefined;
    const { validValues, pattern, missingValues } = stated;
    if (metric === "nullValues") rules.required = true;
    else if (metric === "duplicateValues") rules.unique = true;
    else if (metric === "invalidValues" && Array.isArray(validValues)) rules.valid = validValues;
    else if (metric === "invalidValues" && typeof pattern === "string") rules.pattern = pattern;
    else if (metric === "missingValues" && textsOf(missingValues)) {
      rules.required = true;
      rules.missing = textsOf(missingValues)!;
    } else {
      const called = textOf(rule["metric"]) ?? textOf(rule["name"]) ?? textOf(rule["type"]) ?? "";
      note(`${name}: the rule of quality ${called} has no counterpart and is left out`);
    }
  }
  return rules;
}

function keysOf(
  name: string,
  table: Json,
  properties: readonly Json[],
  known: ReadonlySet<string>,
  note: Note,
): TableKeys {
  const isSound = (fields: readonly string[]): boolean => {
    const isKnown = fields.every((field) => known.has(field));
    if (!isKnown) note(`the key of ${fields.join(", ")} is left out: not all are columns here`);
    return isKnown;
  };
  const primary = properties
    .filter(({ primaryKey }) => primaryKey === true)
    .toSorted((a, b) => Number(a["primaryKeyPosition"] ?? 0) - Number(b["primaryKeyPosition"] ?? 0))
    .map((property) => textOf(property["name"]) ?? "");
  const { quality = [], relationships = [] } = table;
  const unique = (Array.isArray(quality) ? quality : []).filter(isJsonObject).flatMap((rule) => {
    const fields = textsOf(objectAt(rule, "arguments")["properties"]);
    if (rule["metric"] === "duplicateValues" && rule["mustBe"] === 0 && fields) return [fields];
    note(
      `the rule of quality ${textOf(rule["metric"]) ?? textOf(rule["name"]) ?? textOf(rule["type"]) ?? ""} ` +
        "has no counterpart and is left out",
    );
    return [];
  });
  const related = [
    ...properties.flatMap((property) =>
      [property["relationships"] ?? []]
        .flat()
        .filter(isJsonObject)
        .map(({ to }) => ({ from: `${name}.${textOf(property["name"])}`, to })),
    ),
    ...(Array.isArray(relationships) ? relationships : []).filter(isJsonObject),
  ];
  const foreign = related.map(({ from, to }) => {
    const [, fields] = pathOf(from, note);
    const [resource, there] = pathOf(to, note);
    return { fields, reference: { resource: resource === name ? "" : resource, fields: there } };
  });
  const uniqueKeys = unique.filter(isSound);
  const foreignKeys = foreign.filter(({ fields }) => isSound(fields));
  return defined({
    primaryKey: primary.length > 0 && isSound(primary) ? primary : undefined,
    uniqueKeys: uniqueKeys.length > 0 ? uniqueKeys : undefined,
    foreignKeys: foreignKeys.length > 0 ? foreignKeys : undefined,
  }) as TableKeys;
}

/** The table and the columns of paths such as `customers.id`. */
function pathOf(value: unknown, note: Note): [table: string, fields: string[]] {
  const paths = [value].flat().map((path) => /^([^.]+)\.(.+)$/.exec(textOf(path) ?? ""));
  if (paths.includes(null)) note("a relationship that is no path table.column is misread");
  return [paths[0]?.[1] ?? "", paths.map((path) => path?.[2] ?? "")];
}
